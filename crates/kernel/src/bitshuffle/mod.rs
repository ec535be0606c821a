//! Bit shuffle: the transpose of a matrix of items × bits, in whole groups of eight items. Knows nothing of blocks.

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "calls of functions for instructions that a token proves")]
mod avx2;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "calls of functions for instructions that a token proves")]
mod avx512;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod lanes;
#[cfg(target_arch = "aarch64")]
#[expect(unsafe_code, reason = "calls of functions for instructions that a token proves")]
mod neon;
mod scalar;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "calls of functions for instructions that a token proves")]
mod sse2;

use crate::cpu::{Level, Tier};

/// Gathers bit `b` of byte `j` of every item: with `k` items (rounded down to a multiple of eight), bit `i % 8` of byte
/// `(8*j + b) * k/8 + i/8` of `dst` is bit `b` of byte `i*width + j` of `src`. The remaining bytes are copied.
///
/// # Panics
/// When the two lengths differ or `width` is 0.
pub fn shuffle(level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    let whole = copy_rest(width, src, dst);
    let (src, dst) = (&src[..whole], &mut dst[..whole]);
    match level.tier() {
        _ if whole == 0 => {}
        Tier::Scalar => scalar::shuffle(width, src, dst),
        #[cfg(target_arch = "x86_64")]
        Tier::Sse2(token) => sse2::shuffle(token, width, src, dst),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2(token) => avx2::shuffle(token, width, src, dst),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512(token) => avx512::shuffle(token, width, src, dst),
        #[cfg(target_arch = "aarch64")]
        Tier::Neon(token) => neon::shuffle(token, width, src, dst),
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
        #[cfg(target_arch = "x86_64")]
        Tier::Sse2(token) => sse2::unshuffle(token, width, src, dst),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2(token) => avx2::unshuffle(token, width, src, dst),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512(token) => avx512::unshuffle(token, width, src, dst),
        #[cfg(target_arch = "aarch64")]
        Tier::Neon(token) => neon::unshuffle(token, width, src, dst),
    }
}

/// Copies the tail that is not shuffled, and returns the length of the part before it: whole groups of eight items.
fn copy_rest(width: usize, src: &[u8], dst: &mut [u8]) -> usize {
    assert_eq!(src.len(), dst.len(), "a shuffle keeps the length");
    assert_ne!(width, 0, "an item has at least one byte");
    let items = src.len() / width;
    let whole = (items - items % 8) * width;
    dst[whole..].copy_from_slice(&src[whole..]);
    whole
}
