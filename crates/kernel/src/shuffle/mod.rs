//! Byte shuffle: the transpose of a matrix of items × bytes. Knows nothing of blocks or pipelines.

mod scalar;

use crate::cpu::{Level, Tier};

/// Gathers byte `j` of every item of `width` bytes: `dst[j*k + i] = src[i*width + j]`, `k = len / width`; the tail is
/// copied.
///
/// # Panics
/// When the two lengths differ or `width` is 0.
pub fn shuffle(level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    let whole = copy_rest(width, src, dst);
    let (src, dst) = (&src[..whole], &mut dst[..whole]);
    match level.tier() {
        _ if whole == 0 => {}
        Tier::Scalar => scalar::shuffle(width, src, dst),
        _ => scalar::shuffle(width, src, dst),
    }
}

/// The inverse of [`shuffle`].
///
/// # Panics
/// When the two lengths differ or `width` is 0.
pub fn unshuffle(level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    let whole = copy_rest(width, src, dst);
    let (src, dst) = (&src[..whole], &mut dst[..whole]);
    match level.tier() {
        _ if whole == 0 => {}
        Tier::Scalar => scalar::unshuffle(width, src, dst),
        _ => scalar::unshuffle(width, src, dst),
    }
}

/// Copies what is not shuffled and returns the length of the rest: a whole number of items, none of width 1.
fn copy_rest(width: usize, src: &[u8], dst: &mut [u8]) -> usize {
    assert_eq!(src.len(), dst.len(), "a shuffle keeps the length");
    assert_ne!(width, 0, "an item has at least one byte");
    let whole = if width == 1 { 0 } else { src.len() - src.len() % width };
    dst[whole..].copy_from_slice(&src[whole..]);
    whole
}
