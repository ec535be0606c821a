//! Byte shuffle: the transpose of a matrix of items × bytes. Knows nothing of blocks or pipelines.

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "calls of functions for instructions that a token proves")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "calls of functions for instructions that a token proves")]
pub(crate) mod avx512;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod lanes;
#[cfg(target_arch = "aarch64")]
#[expect(unsafe_code, reason = "calls of functions for instructions that a token proves")]
pub(crate) mod neon;
#[cfg(target_arch = "x86_64")]
pub(crate) mod pieces;
mod scalar;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "calls of functions for instructions that a token proves")]
pub(crate) mod sse2;

use crate::cpu::{Level, Tier};
use std::ops::Range;

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

/// Unshuffles only the items of `wanted`, ranges of item numbers, and writes them one after another to `dst`.
///
/// For few items this is less work than [`unshuffle`]; [`take_cost`] estimates it.
///
/// ```
/// use b2nd_kernel::cpu::Level;
/// use b2nd_kernel::shuffle::take;
/// let mut items = [0; 6];
/// take(Level::detect(), 2, b"acegbdfh", &mut items, &[1..2, 2..4]);
/// assert_eq!(&items, b"cdefgh");
/// ```
///
/// # Panics
/// When `width` is 0, an item is out of range, or the length of `dst` is not that of the wanted items.
pub fn take(level: Level, width: usize, src: &[u8], dst: &mut [u8], wanted: &[Range<u32>]) {
    assert_ne!(width, 0, "an item has at least one byte");
    let items = src.len() / width;
    let there = |run: &Range<u32>| run.start <= run.end && run.end as usize <= items;
    assert!(wanted.iter().all(there), "what is wanted is there");
    let total = wanted.iter().map(ExactSizeIterator::len).sum::<usize>();
    assert_eq!(dst.len(), total * width, "there is room for what is wanted, and not for more");
    let src = &src[..items * width];
    match level.tier() {
        _ if dst.is_empty() => {}
        Tier::Scalar => scalar::take(width, src, dst, wanted),
        #[cfg(target_arch = "x86_64")]
        Tier::Sse2(token) => sse2::take(token, width, src, dst, wanted),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2(token) => avx2::take(token, width, src, dst, wanted),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512(token) => avx512::take(token, width, src, dst, wanted),
        #[cfg(target_arch = "aarch64")]
        Tier::Neon(token) => neon::take(token, width, src, dst, wanted),
    }
}

/// Cost of [`take`] for a run of `items` items of `width` bytes, as the number of bytes that [`unshuffle`] writes in
/// that time; `None` for widths without vector code, which go byte by byte.
///
/// Measured with AVX-512, where few items take 3 to 4 ns each and a longer run 10 to 16 beside its bytes, at 42 bytes in a
/// nanosecond; other vectors need about as long, and unshuffle more slowly.
///
/// ```
/// use b2nd_kernel::cpu::Level;
/// use b2nd_kernel::shuffle::take_cost;
/// assert_eq!(take_cost(Level::Scalar, 8, 1), None);
/// if let Some(cost) = take_cost(Level::detect(), 8, 1) {
///     assert!(cost > 8);
/// }
/// ```
pub fn take_cost(level: Level, width: usize, items: usize) -> Option<usize> {
    let vectors = match level.tier() {
        Tier::Scalar => false,
        #[cfg(target_arch = "x86_64")]
        Tier::Sse2(_) => sse2::takes(width),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2(_) => avx2::takes(width),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512(_) => avx512::takes(width),
        #[cfg(target_arch = "aarch64")]
        Tier::Neon(_) => neon::takes(width),
    };
    // Few items are taken byte by byte; items of a longer run are written twice.
    let single = 90 + 12 * width;
    vectors.then(|| if items <= FEW { items * single } else { 500 + items * width / 4 * 5 })
}

/// Runs of at most this many items are taken one by one: a vector step costs about as much.
const FEW: usize = 4;

/// Copies the tail that is not shuffled, and returns the length of the part before it: whole items, or 0 for width 1.
fn copy_rest(width: usize, src: &[u8], dst: &mut [u8]) -> usize {
    assert_eq!(src.len(), dst.len(), "a shuffle keeps the length");
    assert_ne!(width, 0, "an item has at least one byte");
    let whole = if width == 1 { 0 } else { src.len() - src.len() % width };
    dst[whole..].copy_from_slice(&src[whole..]);
    whole
}
