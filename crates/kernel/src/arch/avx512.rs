//! Four lanes: AVX-512 with VBMI and GFNI.

use std::arch::asm;
use std::arch::x86_64::*;

pub(crate) type V = __m512i;
/// Bytes of a vector.
pub(crate) const BYTES: usize = 64;

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn zero() -> V {
    _mm512_setzero_si512()
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn load(bytes: &[u8; BYTES]) -> V {
    // SAFETY: the reference covers the 64 bytes; the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn store(v: V, bytes: &mut [u8; BYTES]) {
    // SAFETY: the reference covers the 64 bytes; the store needs no alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), v) }
}

/// Like [`store`]; with `past`, an aligned store bypasses the caches. Call [`fence`](super::fence) before another
/// thread reads it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn put(v: V, bytes: &mut [u8; BYTES], past: bool) {
    let place = bytes.as_mut_ptr();
    if past && place.addr().is_multiple_of(BYTES) {
        // SAFETY: the reference covers the 64 bytes, which start at a multiple of 64.
        unsafe { _mm512_stream_si512(place.cast(), v) }
    } else {
        store(v, bytes);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn load_lane(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the reference covers the 16 bytes; the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Makes a vector of these lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn join_lanes(lanes: [&[u8; 16]; 4]) -> V {
    let v = _mm512_castsi128_si512(load_lane(lanes[0]));
    let v = _mm512_inserti32x4::<1>(v, load_lane(lanes[1]));
    let v = _mm512_inserti32x4::<2>(v, load_lane(lanes[2]));
    _mm512_inserti32x4::<3>(v, load_lane(lanes[3]))
}

/// Writes lane `L`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn store_lane<const L: i32>(v: V, bytes: &mut [u8; 16]) {
    let lane = _mm512_extracti32x4_epi32::<L>(v);
    // SAFETY: the reference covers the 16 bytes; the store needs no alignment.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), lane) }
}

/// Interleaves the first halves of the lanes, byte by byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn low(a: V, b: V) -> V {
    _mm512_unpacklo_epi8(a, b)
}

/// Interleaves the second halves of the lanes, byte by byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn high(a: V, b: V) -> V {
    _mm512_unpackhi_epi8(a, b)
}

/// Transposes every eight bytes as a matrix of 8 × 8 bits: bit `c` of byte `r` becomes bit `r` of byte `c`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn transpose_bits(v: V) -> V {
    // The product of the unit matrix with `v` has bit `7 - r` where bit `r` is wanted: the second one turns the bits.
    let unit = _mm512_set1_epi64(0x8040_2010_0804_0201_u64.cast_signed());
    let turned = _mm512_gf2p8affine_epi64_epi8::<0>(unit, v);
    _mm512_gf2p8affine_epi64_epi8::<0>(turned, unit)
}

/// Adds byte by byte, modulo 256.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn add(a: V, b: V) -> V {
    _mm512_add_epi8(a, b)
}

/// Moves every lane one place up; the first becomes zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn lanes_up(v: V) -> V {
    _mm512_maskz_shuffle_i64x2::<0b10_01_00_00>(0b1111_1100, v, v)
}

/// Prefix sums: byte `i` becomes the sum of the bytes 0 to `i`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn sums(v: V) -> V {
    let v = _mm512_add_epi8(v, _mm512_bslli_epi128::<1>(v));
    let v = _mm512_add_epi8(v, _mm512_bslli_epi128::<2>(v));
    let v = _mm512_add_epi8(v, _mm512_bslli_epi128::<4>(v));
    let v = _mm512_add_epi8(v, _mm512_bslli_epi128::<8>(v));
    let one = lanes_up(_mm512_shuffle_epi8(v, _mm512_set1_epi8(15)));
    let two = lanes_up(one);
    let three = lanes_up(two);
    _mm512_add_epi8(_mm512_add_epi8(v, one), _mm512_add_epi8(two, three))
}

/// Copies the last byte to every place.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn last(v: V) -> V {
    _mm512_permutexvar_epi8(_mm512_set1_epi8(63), v)
}

/// Byte `i` becomes byte `places[i]` of `v`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn permute(v: V, places: V) -> V {
    _mm512_permutexvar_epi8(places, v)
}

/// Like [`permute`], from three vectors: places are counted over all of them, those in the third have their bit in `third`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn permute_three(v: [V; 3], places: V, third: u64) -> V {
    let two = _mm512_permutex2var_epi8(v[0], places, v[1]);
    _mm512_mask_permutexvar_epi8(two, third, places, v[2])
}

/// Blends 4-byte words: word `i` comes from `b` if bit `n` of `i` is set, else from `a`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn choose_words(n: usize, a: V, b: V) -> V {
    let mut theirs: u16 = match n {
        1 => 0xaaaa,
        2 => 0xcccc,
        4 => 0xf0f0,
        _ => 0xff00,
    };
    // Hides the mask: the compiler would replace some blends by permutes, which only one execution unit can do.
    // SAFETY: the assembly has no instructions.
    unsafe { asm!("/* {} */", inout(kreg) theirs, options(pure, nomem, nostack, preserves_flags)) };
    _mm512_mask_blend_epi32(theirs, a, b)
}
