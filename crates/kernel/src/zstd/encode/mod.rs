//! Encoding of frames: one block each, by a quick search, as the reference does at level 1.
//!
//! Of a frame of some KiB the reference spends more than half of its time in statistics: trees, tables, and counts of bytes. What they
//! are for is the same here, but lengths of codes come from logarithms, not from a tree, costs are estimated before anything is
//! built, and what is done for each byte or symbol is done without jumps where that is possible.

mod bits;
mod fse;
mod huffman;
mod literals;
#[expect(unsafe_code, reason = "words read and written where the room was checked")]
mod search;
mod sequences;
mod tally;
#[cfg(test)]
mod tests;
mod tree;

#[cfg(target_arch = "x86_64")]
use super::isa;
use crate::cpu::Level;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Tier;
use search::{BlockParts, Places};

/// An encoder of Zstandard frames: its tables, and room for what a block becomes, to be used again and again.
///
/// ```
/// use b2nd_kernel::{cpu::Level, zstd::{Decoder, Encoder}};
/// let (text, mut frame) = ("again and ".repeat(50), [0; 100]);
/// let len = Encoder::new().encode(Level::detect(), text.as_bytes(), &mut frame).unwrap();
/// let mut back = [0; 500];
/// Decoder::new().decode(Level::detect(), &frame[..len], &mut back)?;
/// assert_eq!(back, text.as_bytes());
/// # Ok::<(), b2nd_kernel::zstd::Refusal>(())
/// ```
#[derive(Debug)]
pub struct Encoder {
    places: Places,
    parts: BlockParts,
    tables: Box<sequences::EncodeTables>,
    block: Vec<u8>,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder {
    /// The most bytes that a frame of this encoder stands for.
    pub const MOST: usize = 64 << 10;

    /// An encoder that has encoded nothing yet.
    pub fn new() -> Self {
        Encoder {
            places: Places::new(),
            parts: BlockParts::default(),
            tables: Box::new(sequences::EncodeTables::new()),
            block: vec![],
        }
    }

    /// Encodes `src`, of at most [`MOST`](Self::MOST) bytes, as a frame in `dst`, and returns its length; `None` where it does not
    /// fit, `src` is longer, or there is no memory for what it becomes (less than a MiB, kept for the next call).
    ///
    /// The result depends on nothing but `src` and the length of `dst`: not on the level, nor on what was encoded before.
    pub fn encode(&mut self, level: Level, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        match level.tier() {
            // Its wider registers cost more here than they give.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512(token) => isa::encode_with_avx2(self, token.into(), src, dst),
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2(token) => isa::encode_with_avx2(self, token, src, dst),
            _ => self.frame(src, dst),
        }
    }

    #[inline(always)]
    pub(super) fn frame(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        if src.len() > Self::MOST {
            return None;
        }
        // One segment, and the length in one byte, or from 256 on in two.
        let (flags, len, width) = match src.len().checked_sub(256) {
            None => (0x20, src.len(), 1),
            Some(len) => (0x60, len, 2),
        };
        let at = 5 + width;
        let header = dst.get_mut(..at + 3)?;
        header[..4].copy_from_slice(&0xfd2f_b528_u32.to_le_bytes());
        header[4] = flags;
        header[5..at].copy_from_slice(&len.to_le_bytes()[..width]);
        let place = at + 3;
        let (kind, size, end);
        if let [first, rest @ ..] = src
            && rest.len() > 2
            && rest.iter().all(|byte| byte == first)
        {
            (kind, size, end) = (1, src.len(), place + 1);
            *dst.get_mut(place)? = *first;
        } else if let Some(len) = self.block(src) {
            (kind, size, end) = (2, len, place + len);
            dst.get_mut(place..end)?.copy_from_slice(&self.block[..len]);
        } else {
            (kind, size, end) = (0, src.len(), place + src.len());
            dst.get_mut(place..end)?.copy_from_slice(src);
        }
        // The last block.
        let header = 1 | kind << 1 | size << 3;
        dst.get_mut(at..place)?.copy_from_slice(&header.to_le_bytes()[..3]);
        Some(end)
    }

    /// Encodes a block into `self.block`, and returns its length; `None` where that gains too little.
    #[inline(always)]
    fn block(&mut self, src: &[u8]) -> Option<usize> {
        search::divide(src, &mut self.places, &mut self.parts)?;
        let BlockParts { sequences, .. } = &self.parts;
        // A code for literals takes less than they do; a sequence 10 bytes at most, with tables of 200 and what is written at once.
        grow(&mut self.block, src.len() + 10 * sequences.len() + 1024)?;
        let most = src.len().checked_sub((src.len() >> 6) + 2)?;
        let at = literals::write(self.parts.literals(), &mut self.block, 0).filter(|end| *end < most)?;
        self.tables.write(sequences, &mut self.block, at).filter(|end| *end < most)
    }
}

/// Makes `room` as long as `len`, if it is shorter. `None` where there is no memory.
fn grow(room: &mut Vec<u8>, len: usize) -> Option<()> {
    if room.len() < len {
        room.try_reserve_exact(len - room.len()).ok()?;
        room.resize(len, 0);
    }
    Some(())
}
