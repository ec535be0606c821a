//! Differences of neighbouring bytes, modulo 256, and their running sum. One stream of bytes at a time; knows nothing of
//! how a block is cut into streams.

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
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "calls of functions for instructions that a token proves")]
mod sse2;

use crate::cpu::{Level, Tier};

/// `dst[i] = src[i] - src[i-1]` modulo 256; the first byte is copied.
///
/// # Panics
/// When the two lengths differ.
pub fn encode(level: Level, src: &[u8], dst: &mut [u8]) {
    // The compiler finds the vectors of this one by itself.
    let _ = level;
    assert_eq!(src.len(), dst.len(), "differences keep the length");
    if let (Some(first), Some(out)) = (src.first(), dst.first_mut()) {
        *out = *first;
        for ((out, byte), before) in dst[1..].iter_mut().zip(&src[1..]).zip(src) {
            *out = byte.wrapping_sub(*before);
        }
    }
}

/// The inverse of [`encode`], in place: a running sum modulo 256.
pub fn decode(level: Level, data: &mut [u8]) {
    match level.tier() {
        Tier::Scalar => sum(0, data),
        #[cfg(target_arch = "x86_64")]
        Tier::Sse2(token) => sse2::decode(token, data),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2(token) => avx2::decode(token, data),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512(token) => avx512::decode(token, data),
        #[cfg(target_arch = "aarch64")]
        Tier::Neon(token) => neon::decode(token, data),
    }
}

/// The running sum of what follows `before`.
fn sum(before: u8, data: &mut [u8]) {
    let mut last = before;
    for byte in data {
        last = last.wrapping_add(*byte);
        *byte = last;
    }
}
