//! One lane: SSE2.

use super::{LINE, part, part_mut};
use std::arch::x86_64::*;

pub(crate) type V = __m128i;
/// Bytes of a vector.
pub(crate) const BYTES: usize = 16;

#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn zero() -> V {
    _mm_setzero_si128()
}

#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn load(bytes: &[u8; BYTES]) -> V {
    // SAFETY: the reference covers the 16 bytes; the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn store(v: V, bytes: &mut [u8; BYTES]) {
    // SAFETY: the reference covers the 16 bytes; the store needs no alignment.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), v) }
}

/// Like [`store`]; with `past`, an aligned store bypasses the caches. Call [`fence`](super::fence) before another
/// thread reads it.
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn put(v: V, bytes: &mut [u8; BYTES], past: bool) {
    let place = bytes.as_mut_ptr();
    if past && place.addr().is_multiple_of(BYTES) {
        // SAFETY: the reference covers the 16 bytes, which start at a multiple of 16.
        unsafe { _mm_stream_si128(place.cast(), v) }
    } else {
        store(v, bytes);
    }
}

/// Prefetches cache lines; lines past the end are skipped.
#[inline]
pub(crate) fn fetch_lines(bytes: &[u8], at: usize, lines: usize) {
    for line in bytes.get(at..).unwrap_or_default().chunks(LINE).take(lines) {
        // SAFETY: a prefetch is only a hint, and the address is inside a slice.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()) }
    }
}

/// Orders stores that bypass the caches before later stores, so that other threads see them.
pub(crate) fn fence() {
    // SAFETY: every x86-64 has SSE.
    unsafe { _mm_sfence() }
}

/// Makes a vector of these lanes.
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn join_lanes(lanes: [&[u8; 16]; 1]) -> V {
    load(lanes[0])
}

/// Lane `l` from the 16 bytes at `at + l * step`.
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn load_lanes(bytes: &[u8], at: usize, _step: usize) -> V {
    load(part(bytes, at))
}

/// Writes lane `L`.
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn store_lane<const L: i32>(v: V, bytes: &mut [u8; 16]) {
    store(v, bytes);
}

/// Writes lane `l` to the 16 bytes at `at + l * step`.
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn store_lanes(v: V, bytes: &mut [u8], at: usize, _step: usize) {
    store(v, part_mut(bytes, at));
}

/// Interleaves the first halves of the lanes, byte by byte.
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn low(a: V, b: V) -> V {
    _mm_unpacklo_epi8(a, b)
}

/// Interleaves the second halves of the lanes, byte by byte.
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn high(a: V, b: V) -> V {
    _mm_unpackhi_epi8(a, b)
}

/// Swaps the bits `mask << S` of the bytes of `a` with the bits `mask` of the bytes of `b`.
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn swap_bits<const S: i32>(mask: u8, a: V, b: V) -> (V, V) {
    let mask = _mm_set1_epi8(mask.cast_signed());
    let t = _mm_and_si128(_mm_xor_si128(_mm_srli_epi64::<S>(a), b), mask);
    (_mm_xor_si128(a, _mm_slli_epi64::<S>(t)), _mm_xor_si128(b, t))
}

/// Adds byte by byte, modulo 256.
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn add(a: V, b: V) -> V {
    _mm_add_epi8(a, b)
}

/// Prefix sums: byte `i` becomes the sum of the bytes 0 to `i`.
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn sums(v: V) -> V {
    let v = _mm_add_epi8(v, _mm_slli_si128::<1>(v));
    let v = _mm_add_epi8(v, _mm_slli_si128::<2>(v));
    let v = _mm_add_epi8(v, _mm_slli_si128::<4>(v));
    _mm_add_epi8(v, _mm_slli_si128::<8>(v))
}

/// Copies the last byte to every place.
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn last(v: V) -> V {
    let v = _mm_unpackhi_epi8(v, v);
    let v = _mm_shufflehi_epi16::<0xFF>(v);
    _mm_unpackhi_epi64(v, v)
}
