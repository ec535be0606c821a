//! Huffman codes: a table of codes, and bytes decoded by it.

use super::bits::BitReader;
use super::weights::{LONGEST, Weights};
use super::{Refusal, Result};
use crate::wide;

/// What the next bits stand for: in the lower byte the length of the code, in the upper one the byte.
type Entry = u16;

/// The codes of a frame.
#[derive(Debug)]
pub(super) struct HuffmanTable {
    /// And room to write a few more.
    entries: [Entry; (1 << LONGEST) + 32],
    /// The length of the longest code; `None` before the first code of a frame.
    pub(super) log: Option<u32>,
}

impl HuffmanTable {
    pub(super) fn new() -> Self {
        HuffmanTable { entries: [0; (1 << LONGEST) + 32], log: None }
    }

    /// The table of the code with these weights.
    #[inline(always)]
    pub(super) fn build(&mut self, weights: &Weights) {
        // The bytes by weight.
        let mut starts = [0_u8; 16];
        let mut sum = 0_u32;
        for (start, count) in starts.iter_mut().zip(weights.ranks) {
            *start = sum as u8;
            sum += count;
        }
        let mut sorted = [0_u8; 256];
        for byte in &weights.bytes[..weights.len] {
            let start = &mut starts[usize::from(weights.weights[usize::from(*byte)] & 15)];
            sorted[usize::from(*start)] = *byte;
            *start = start.wrapping_add(1);
        }
        let mut bytes = sorted.iter();
        let mut at = 0;
        for (weight, count) in (1..=weights.log).zip(&weights.ranks[1..]) {
            let width = weights.log + 1 - weight;
            let len = 1_usize << (weight - 1);
            for byte in bytes.by_ref().take(*count as usize) {
                let entry = u16::from(*byte) << 8 | width as u16;
                let mut n = 0;
                while n < len {
                    if let Some(place) = self.entries.get_mut(at + n..).and_then(<[_]>::first_chunk_mut::<32>)
                    {
                        *place = [entry; 32];
                    }
                    n += 32;
                }
                at += len;
            }
        }
        self.log = Some(weights.log);
    }
}

/// How many codes a word has for certain: 5 of 11 bits in 56.
const IN_A_WORD: usize = 5;

const BROKEN: Refusal = Refusal::new("a Huffman stream does not end at its last bit");

impl HuffmanTable {
    /// Decodes a stream into all of `out`.
    #[inline(always)]
    pub(super) fn decode(&self, bits: BitReader<'_>, out: &mut [u8]) -> Result<()> {
        self.decode_rest(bits, out, 0)
    }

    /// Decodes four streams into quarters of `out`, as long as the last one needs not be longer than the others.
    #[inline(always)]
    pub(super) fn decode_four(&self, mut bits: [BitReader<'_>; 4], out: &mut [u8]) -> Result<()> {
        let quarter = out.len().div_ceil(4);
        let starts = [0, quarter, 2 * quarter, 3 * quarter];
        let last = out.len().checked_sub(starts[3]).ok_or(BROKEN)?;
        let shift = 64 - self.log.unwrap_or(LONGEST);
        let frame = bits[0].frame();
        let mut n = 0;
        while n + IN_A_WORD <= last && bits.iter().all(BitReader::is_sound) {
            let mut words = [0; 4];
            for (word, it) in words.iter_mut().zip(&bits) {
                // SAFETY: a stream begins 8 bytes into the frame at least, and `at` lies in its bytes.
                let bytes = unsafe { wide::word(frame, (it.at >> 3) - 7) };
                *word = bytes << (8 - (it.at & 7));
            }
            let mut used = [0_u32; 4];
            for i in 0..IN_A_WORD {
                for k in 0..4 {
                    // SAFETY: the table has 2048 entries at least, and the index 11 bits at most.
                    let entry = unsafe { *self.entries.get_unchecked((words[k] >> shift) as usize) };
                    words[k] <<= entry & 63;
                    used[k] += u32::from(entry);
                    // SAFETY: there is room for so many in the last quarter, which is not longer than the others.
                    let place = unsafe { out.get_unchecked_mut(starts[k] + n + i) };
                    *place = (entry >> 8) as u8;
                }
            }
            for (it, used) in bits.iter_mut().zip(used) {
                it.at -= (used & 0xff) as usize;
            }
            n += IN_A_WORD;
        }
        let mut out = out;
        for it in bits {
            let (quarter, rest) = out.split_at_mut(quarter.min(out.len()));
            self.decode_rest(it, quarter, n)?;
            out = rest;
        }
        Ok(())
    }

    /// Decodes what a stream has for `out` from `n` on. Bits before its beginning are read as any others; that there were too few
    /// shows at the end.
    #[inline(always)]
    fn decode_rest(&self, mut bits: BitReader<'_>, out: &mut [u8], mut n: usize) -> Result<()> {
        let shift = 64 - self.log.unwrap_or(LONGEST);
        while n < out.len() && bits.is_sound() {
            let (word, valid) = bits.word();
            let mut word = word << (64 - valid);
            let mut used = 0_u32;
            let end = out.len().min(n + IN_A_WORD);
            for place in &mut out[n..end] {
                // SAFETY: the table has 2048 entries at least, and the index 11 bits at most.
                let entry = unsafe { *self.entries.get_unchecked((word >> shift) as usize) };
                word <<= entry & 63;
                used += u32::from(entry);
                *place = (entry >> 8) as u8;
            }
            bits.at -= (used & 0xff) as usize;
            n = end;
        }
        if bits.is_finished() { Ok(()) } else { Err(BROKEN) }
    }
}
