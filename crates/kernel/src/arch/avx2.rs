//! Two lanes: AVX2.

use super::{part, part_mut};
use std::arch::x86_64::*;

pub(crate) type V = __m256i;
/// Bytes of a vector.
pub(crate) const BYTES: usize = 32;

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn zero() -> V {
    _mm256_setzero_si256()
}

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load(bytes: &[u8; BYTES]) -> V {
    // SAFETY: the reference covers the 32 bytes; the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn store(v: V, bytes: &mut [u8; BYTES]) {
    // SAFETY: the reference covers the 32 bytes; the store needs no alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), v) }
}

/// Like [`store`]; with `past`, an aligned store bypasses the caches. Call [`fence`](super::fence) before another
/// thread reads it.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn put(v: V, bytes: &mut [u8; BYTES], past: bool) {
    let place = bytes.as_mut_ptr();
    if past && place.addr().is_multiple_of(BYTES) {
        // SAFETY: the reference covers the 32 bytes, which start at a multiple of 32.
        unsafe { _mm256_stream_si256(place.cast(), v) }
    } else {
        store(v, bytes);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_lane(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the reference covers the 16 bytes; the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Makes a vector of these lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn join_lanes(lanes: [&[u8; 16]; 2]) -> V {
    let v = _mm256_castsi128_si256(load_lane(lanes[0]));
    _mm256_inserti128_si256::<1>(v, load_lane(lanes[1]))
}

/// Lane `l` from the 16 bytes at `at + l * step`.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load_lanes(bytes: &[u8], at: usize, step: usize) -> V {
    join_lanes([part(bytes, at), part(bytes, at + step)])
}

/// Writes lane `L`.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn store_lane<const L: i32>(v: V, bytes: &mut [u8; 16]) {
    let lane = _mm256_extracti128_si256::<L>(v);
    // SAFETY: the reference covers the 16 bytes; the store needs no alignment.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), lane) }
}

/// Writes lane `l` to the 16 bytes at `at + l * step`.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn store_lanes(v: V, bytes: &mut [u8], at: usize, step: usize) {
    store_lane::<0>(v, part_mut(bytes, at));
    store_lane::<1>(v, part_mut(bytes, at + step));
}

/// Interleaves the first halves of the lanes, byte by byte.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn low(a: V, b: V) -> V {
    _mm256_unpacklo_epi8(a, b)
}

/// Interleaves the second halves of the lanes, byte by byte.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn high(a: V, b: V) -> V {
    _mm256_unpackhi_epi8(a, b)
}

/// Swaps the bits `mask << S` of the bytes of `a` with the bits `mask` of the bytes of `b`.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn swap_bits<const S: i32>(mask: u8, a: V, b: V) -> (V, V) {
    let mask = _mm256_set1_epi8(mask.cast_signed());
    let t = _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi64::<S>(a), b), mask);
    (_mm256_xor_si256(a, _mm256_slli_epi64::<S>(t)), _mm256_xor_si256(b, t))
}

/// Adds byte by byte, modulo 256.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn add(a: V, b: V) -> V {
    _mm256_add_epi8(a, b)
}

/// Copies the last byte of each lane to all places of the lane.
#[inline]
#[target_feature(enable = "avx2")]
fn last_of_lanes(v: V) -> V {
    _mm256_shuffle_epi8(v, _mm256_set1_epi8(15))
}

/// Prefix sums: byte `i` becomes the sum of the bytes 0 to `i`.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn sums(v: V) -> V {
    let v = _mm256_add_epi8(v, _mm256_slli_si256::<1>(v));
    let v = _mm256_add_epi8(v, _mm256_slli_si256::<2>(v));
    let v = _mm256_add_epi8(v, _mm256_slli_si256::<4>(v));
    let v = _mm256_add_epi8(v, _mm256_slli_si256::<8>(v));
    // What each lane has to add: zero for the first, the sum of the first lane for the second.
    let before = last_of_lanes(v);
    _mm256_add_epi8(v, _mm256_permute2x128_si256::<0x08>(before, before))
}

/// Copies the last byte to every place.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn last(v: V) -> V {
    _mm256_permute4x64_epi64::<0xFF>(last_of_lanes(v))
}
