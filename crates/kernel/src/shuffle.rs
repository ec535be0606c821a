//! Byte shuffle.
use crate::cpu::Level;

/// Gathers byte `j` of every item of `width` bytes: `dst[j*k + i] = src[i*width + j]`, `k = len / width`; the tail is copied.
///
/// # Panics
/// When the two lengths differ or `width` is 0.
pub fn shuffle(level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    let _ = (level, width, src, dst);
    todo!()
}
/// The inverse of [`shuffle`].
///
/// # Panics
/// When the two lengths differ or `width` is 0.
pub fn unshuffle(level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    let _ = (level, width, src, dst);
    todo!()
}
