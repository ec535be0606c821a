//! Delta by XOR: against the item before (first block of a chunk) or against a reference block.
//!
//! XOR has no carries, so the unit only sets the distance to the item before and the start of the tail.

use crate::cpu::Level;

/// Words of eight bytes per step of the running XOR: enough for instruction-level parallelism.
const WORDS: usize = 8;

/// `dst[i] = src[i] ^ src[i-1]` in units of `unit` bytes (1, 2, 4 or 8); unit 0 and the tail are copied.
///
/// # Panics
/// When the two lengths differ.
pub fn encode_first(level: Level, unit: usize, src: &[u8], dst: &mut [u8]) {
    let _ = level;
    assert_eq!(src.len(), dst.len(), "a delta keeps the length");
    let whole = whole(unit, src.len());
    let head = unit.min(whole);
    dst[..head].copy_from_slice(&src[..head]);
    dst[whole..].copy_from_slice(&src[whole..]);
    for ((out, byte), before) in dst[head..whole].iter_mut().zip(&src[head..whole]).zip(src) {
        *out = byte ^ before;
    }
}

/// The inverse of [`encode_first`], in place: a running XOR.
pub fn decode_first(level: Level, unit: usize, data: &mut [u8]) {
    let _ = level;
    let whole = whole(unit, data.len());
    let data = &mut data[..whole];
    match unit {
        1 => run::<1>(data),
        2 => run::<2>(data),
        4 => run::<4>(data),
        8 => run::<8>(data),
        _ => run_slowly(unit, 0, data),
    }
}

/// The running XOR over units of `U` bytes, a divisor of eight.
///
/// Inside a word the units before are added by shifts; between words only the last unit is handed on, one XOR per
/// word, and is spread over the next word off that chain.
fn run<const U: usize>(data: &mut [u8]) {
    let ones = u64::MAX / (u64::MAX >> (64 - 8 * U));
    let mut last = 0;
    let steps = data.as_chunks_mut::<{ 8 * WORDS }>().0;
    for step in &mut *steps {
        for bytes in step.as_chunks_mut::<8>().0 {
            let mut word = u64::from_le_bytes(*bytes);
            let mut shift = 8 * U;
            while shift < 64 {
                word ^= word << shift;
                shift *= 2;
            }
            *bytes = (word ^ (last * ones)).to_le_bytes();
            last ^= word >> (64 - 8 * U);
        }
    }
    let done = steps.len() * 8 * WORDS;
    run_slowly(U, done, data);
}

/// The running XOR from byte `first` on.
fn run_slowly(unit: usize, first: usize, data: &mut [u8]) {
    for i in first.max(unit)..data.len() {
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
