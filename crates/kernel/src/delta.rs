//! Delta by XOR: against the item before (first block of a chunk) or against a reference block.
//!
//! XOR has no carries, so the unit only says how far back the item before lies and where the tail begins.

use crate::cpu::Level;

/// `dst[i] = src[i] ^ src[i-1]` in units of `unit` bytes (1, 2, 4 or 8); unit 0 and the tail are copied.
///
/// # Panics
/// When the two lengths differ.
pub fn encode_first(level: Level, unit: usize, src: &[u8], dst: &mut [u8]) {
    let _ = level;
    dst.copy_from_slice(src);
    let whole = whole(unit, src.len());
    if whole > 0 {
        xor(&mut dst[unit..whole], &src[..whole - unit]);
    }
}

/// The inverse of [`encode_first`], in place: a running XOR.
pub fn decode_first(level: Level, unit: usize, data: &mut [u8]) {
    let _ = level;
    let whole = whole(unit, data.len());
    for i in unit..whole {
        data[i] ^= data[i - unit];
    }
}

/// `data[i] ^= reference[i]` for whole units of `unit` bytes; the tail stays. Its own inverse.
///
/// # Panics
/// When `reference` is shorter than `data`.
pub fn xor_reference(level: Level, unit: usize, data: &mut [u8], reference: &[u8]) {
    let _ = level;
    let reference = &reference[..data.len()];
    let whole = whole(unit, data.len());
    xor(&mut data[..whole], &reference[..whole]);
}

/// The length of the whole units; 0 for unit 0.
fn whole(unit: usize, len: usize) -> usize {
    len - len.checked_rem(unit).unwrap_or(len)
}

fn xor(data: &mut [u8], other: &[u8]) {
    for (byte, other) in data.iter_mut().zip(other) {
        *byte ^= other;
    }
}
