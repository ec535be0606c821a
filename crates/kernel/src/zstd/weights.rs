//! The description of a Huffman code: a weight for each byte.

use super::bits::BitReader;
use super::{Refusal, Result, counts, fse};

/// The longest code, in bits. (The reference takes 12 too, which the format forbids.)
pub(super) const LONGEST: u32 = 11;

/// The weights of the bytes from 0 on; a weight of 0 is that of a byte without a code, each step up halves the code's length.
pub(super) struct Weights {
    pub(super) weights: [u8; 256],
    /// The bytes that have a code, and how many they are.
    pub(super) bytes: [u8; 256 + 8],
    pub(super) len: usize,
    /// How many bytes have each weight.
    pub(super) ranks: [u32; 16],
    /// The length of the longest code.
    pub(super) log: u32,
}

const BROKEN: Refusal = Refusal::new("the code lengths of a Huffman code are invalid");

/// Reads the weights that are described in `frame` from `begin` to `end` at most, and where the description ends.
#[inline(always)]
pub(super) fn read(frame: &[u8], begin: usize, end: usize) -> Result<(Weights, usize)> {
    let mut found = Weights { weights: [0; 256], bytes: [0; 256 + 8], len: 0, ranks: [0; 16], log: 0 };
    let cut = Refusal::new("the description of a Huffman code is cut off");
    let src = frame.get(..end).ok_or(cut)?;
    let first = usize::from(*src.get(begin).ok_or(cut)?);
    let begin = begin + 1;
    let (end, len);
    if first >= 128 {
        len = first - 127;
        end = begin + len.div_ceil(2);
        let bytes = src.get(begin..end).ok_or(cut)?;
        for (pair, byte) in found.weights.chunks_exact_mut(2).zip(bytes) {
            pair.copy_from_slice(&[byte >> 4, byte & 15]);
        }
        // Of an odd count, half a byte is nothing.
        found.weights[len] = 0;
    } else {
        end = begin + first;
        len = compressed(&mut found.weights, src.get(..end).ok_or(cut)?, begin)?;
    }
    complete(&mut found, len)?;
    Ok((found, end))
}

/// Adds the last weight, that of byte `last`, which makes a power of two of the sum.
#[inline(always)]
fn complete(found: &mut Weights, last: usize) -> Result<()> {
    list(found);
    // Two counts of each, so that one needs not wait for the other.
    let mut ranks = [[0_u32; 16]; 2];
    for (n, byte) in found.bytes[..found.len].iter().enumerate() {
        ranks[n & 1][usize::from(found.weights[usize::from(*byte)] & 15)] += 1;
    }
    for (rank, n) in found.ranks.iter_mut().zip(0..) {
        *rank = ranks[0][n] + ranks[1][n];
    }
    let sum: u32 = (1..16).map(|weight| found.ranks[weight] << weight >> 1).sum();
    if sum == 0 {
        return Err(BROKEN);
    }
    found.log = 32 - sum.leading_zeros();
    let rest = (1 << found.log) - sum;
    if found.log > LONGEST || !rest.is_power_of_two() {
        return Err(BROKEN);
    }
    let weight = rest.trailing_zeros() + 1;
    found.weights[last] = weight as u8;
    found.ranks[weight as usize] += 1;
    found.bytes[found.len] = last as u8;
    found.len += 1;
    // Codes of the greatest length come in pairs.
    if found.ranks[1] < 2 || found.ranks[1] % 2 == 1 { Err(BROKEN) } else { Ok(()) }
}

/// Lists the bytes that have a weight, eight at a time.
#[inline(always)]
fn list(found: &mut Weights) {
    let mut len = 0;
    for (n, weights) in found.weights.as_chunks::<8>().0.iter().enumerate() {
        // No weight has the highest bit of its byte, until those get it that are not 0.
        let mut rest = (u64::from_le_bytes(*weights) + 0x7f7f_7f7f_7f7f_7f7f) & 0x8080_8080_8080_8080;
        while rest != 0 {
            found.bytes[len] = (n * 8) as u8 + (rest.trailing_zeros() >> 3) as u8;
            len += 1;
            rest &= rest - 1;
        }
    }
    found.len = len;
}

/// Weights that are compressed themselves: two states, turn and turn about, until the bits are at their end.
#[inline(always)]
fn compressed(weights: &mut [u8; 256], src: &[u8], begin: usize) -> Result<usize> {
    let (counts, used) = counts::read(&src[begin..], 6, 12)?;
    static VALUES: [fse::Entry; 12] = {
        let mut values = [fse::Entry::code(0, 0); 12];
        let mut n = 0;
        while n < values.len() {
            values[n] = fse::Entry::code(n as u32, 0);
            n += 1;
        }
        values
    };
    let mut table = [fse::Entry::default(); 64];
    fse::build(&mut table, &counts, &VALUES);
    let mut bits = BitReader::new(src, begin + used, src.len())?;
    let mut one = bits.take(counts.log)?;
    let mut other = bits.take(counts.log)?;
    let mut n = 0;
    loop {
        // Each step takes 6 bits at most, of a word of 56.
        let (word, mut valid) = bits.word();
        for _ in 0..8 {
            // One for this, one for the last, and one that is not described.
            if n + 3 > weights.len() {
                return Err(BROKEN);
            }
            let entry = table[one as usize & 63];
            weights[n] = entry.base as u8;
            n += 1;
            let width = entry.widths >> 8 & 0xff;
            if bits.at < bits.start + width as usize {
                weights[n] = table[other as usize & 63].base as u8;
                return Ok(n + 1);
            }
            bits.at -= width as usize;
            valid -= width;
            one = u64::from(entry.widths >> 16) + (word >> valid & !(u64::MAX << width));
            (one, other) = (other, one);
        }
    }
}
