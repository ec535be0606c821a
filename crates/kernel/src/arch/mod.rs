//! Vectors as the kernels see them: checked loads and stores, and the few operations that the transposes are made of.
//!
//! A vector is a row of 16-byte lanes. Every file has the same names (AVX-512 has others for what it does without lanes), so
//! that an algorithm is written once (as a macro) and compiled for each. Loads and stores take slices and array
//! references, so that callers need no `unsafe`.

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "typed loads and stores")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "typed loads and stores, and a constant that is hidden from the compiler")]
pub(crate) mod avx512;
#[cfg(target_arch = "aarch64")]
#[expect(unsafe_code, reason = "typed loads and stores")]
pub(crate) mod neon;
#[expect(unsafe_code, reason = "parts of a slice that are looked at once, together")]
mod parts;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "typed loads and stores")]
pub(crate) mod sse2;

#[cfg(target_arch = "aarch64")]
pub(crate) use neon::{fence, fetch_lines};
pub(crate) use parts::{Parts, PartsMut};
#[cfg(target_arch = "x86_64")]
pub(crate) use sse2::{fence, fetch_lines};

/// Bytes of a line of the caches.
pub(crate) const LINE: usize = 64;

/// The `N` bytes of `bytes` from `at` on.
///
/// # Panics
/// When `bytes` is too short.
#[inline(always)]
pub(crate) fn part<const N: usize>(bytes: &[u8], at: usize) -> &[u8; N] {
    match bytes[at..].first_chunk() {
        Some(part) => part,
        None => outside(),
    }
}

/// The `N` bytes of `bytes` from `at` on, to be written.
///
/// # Panics
/// When `bytes` is too short.
#[inline(always)]
pub(crate) fn part_mut<const N: usize>(bytes: &mut [u8], at: usize) -> &mut [u8; N] {
    match bytes[at..].first_chunk_mut() {
        Some(part) => part,
        None => outside(),
    }
}

/// Panics for a kernel that reaches over the end of its slices.
#[cold]
#[inline(never)]
#[expect(clippy::panic, reason = "a bug of this crate, never of its input")]
fn outside() -> ! {
    panic!("a vector reached over the end of its slice")
}
