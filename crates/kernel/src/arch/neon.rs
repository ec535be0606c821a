//! One lane: AArch64 NEON.

use super::{part, part_mut};
use std::arch::aarch64::*;

pub(crate) type V = uint8x16_t;
/// Bytes of a vector.
pub(crate) const BYTES: usize = 16;

#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn zero() -> V {
    vdupq_n_u8(0)
}

#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn load(bytes: &[u8; BYTES]) -> V {
    // SAFETY: the reference covers the 16 bytes; the load needs no alignment.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn store(v: V, bytes: &mut [u8; BYTES]) {
    // SAFETY: the reference covers the 16 bytes; the store needs no alignment.
    unsafe { vst1q_u8(bytes.as_mut_ptr(), v) }
}

/// Like [`store`]: no store that bypasses the caches is known to be faster here.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn put(v: V, bytes: &mut [u8; BYTES], _past: bool) {
    store(v, bytes);
}

/// Does nothing: prefetching is left to the processor.
#[inline]
pub(crate) fn fetch_lines(_bytes: &[u8], _at: usize, _lines: usize) {}

/// Does nothing: no store bypasses the caches.
pub(crate) fn fence() {}

/// Makes a vector of these lanes.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn join_lanes(lanes: [&[u8; 16]; 1]) -> V {
    load(lanes[0])
}

/// Lane `l` from the 16 bytes at `at + l * step`.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn load_lanes(bytes: &[u8], at: usize, _step: usize) -> V {
    load(part(bytes, at))
}

/// Writes lane `L`.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn store_lane<const L: i32>(v: V, bytes: &mut [u8; 16]) {
    store(v, bytes);
}

/// Writes lane `l` to the 16 bytes at `at + l * step`.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn store_lanes(v: V, bytes: &mut [u8], at: usize, _step: usize) {
    store(v, part_mut(bytes, at));
}

/// Interleaves the first halves of the lanes, byte by byte.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn low(a: V, b: V) -> V {
    vzip1q_u8(a, b)
}

/// Interleaves the second halves of the lanes, byte by byte.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn high(a: V, b: V) -> V {
    vzip2q_u8(a, b)
}

/// Swaps the bits `mask << S` of the bytes of `a` with the bits `mask` of the bytes of `b`.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn swap_bits<const S: i32>(mask: u8, a: V, b: V) -> (V, V) {
    let t = vandq_u8(veorq_u8(vshrq_n_u8::<S>(a), b), vdupq_n_u8(mask));
    (veorq_u8(a, vshlq_n_u8::<S>(t)), veorq_u8(b, t))
}

/// Adds byte by byte, modulo 256.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn add(a: V, b: V) -> V {
    vaddq_u8(a, b)
}

/// Prefix sums: byte `i` becomes the sum of the bytes 0 to `i`.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn sums(v: V) -> V {
    let v = vaddq_u8(v, vextq_u8::<15>(zero(), v));
    let v = vaddq_u8(v, vextq_u8::<14>(zero(), v));
    let v = vaddq_u8(v, vextq_u8::<12>(zero(), v));
    vaddq_u8(v, vextq_u8::<8>(zero(), v))
}

/// Copies the last byte to every place.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn last(v: V) -> V {
    vdupq_laneq_u8::<15>(v)
}
