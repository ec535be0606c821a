//! Delta by XOR: against the item before (first block of a chunk) or against a reference block.
use crate::cpu::Level;

/// `dst[i] = src[i] ^ src[i-1]` in units of `unit` bytes (1, 2, 4 or 8); unit 0 and the tail are copied.
pub fn encode_first(level: Level, unit: usize, src: &[u8], dst: &mut [u8]) {
    let _ = (level, unit, src, dst);
    todo!()
}
/// The inverse of [`encode_first`], in place: a running XOR.
pub fn decode_first(level: Level, unit: usize, data: &mut [u8]) {
    let _ = (level, unit, data);
    todo!()
}
/// `data[i] ^= reference[i]` for whole units of `unit` bytes; the tail stays. Its own inverse.
///
/// # Panics
/// When `reference` is shorter than `data`.
pub fn xor_reference(level: Level, unit: usize, data: &mut [u8], reference: &[u8]) {
    let _ = (level, unit, data, reference);
    todo!()
}
