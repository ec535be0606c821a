//! Repeats a few bytes, for matches whose offset is shorter than a vector.

#[cfg(target_arch = "x86_64")]
use crate::cpu::Avx2;

/// Bytes of a pattern.
pub(crate) const PATTERN: usize = 32;

/// Row `n` has the indices 0 to `n - 1`, repeated. Row 0 is never used.
static PLACES: [[u8; PATTERN]; 17] = {
    let mut rows = [[0; PATTERN]; 17];
    let mut n = 1;
    while n < rows.len() {
        let mut i = 0;
        while i < PATTERN {
            rows[n][i] = (i % n) as u8;
            i += 1;
        }
        n += 1;
    }
    rows
};

/// An instruction set that repeats bytes.
pub(crate) trait Repeat: Copy {
    /// Repeats the first `n` of `bytes`, 1 to 16.
    fn repeat(self, bytes: [u8; 16], n: usize) -> [u8; PATTERN];
}

/// Plain Rust.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

impl Repeat for Plain {
    #[inline(always)]
    fn repeat(self, bytes: [u8; 16], n: usize) -> [u8; PATTERN] {
        PLACES[n].map(|place| bytes[usize::from(place % 16)])
    }
}

#[cfg(target_arch = "x86_64")]
impl Repeat for Avx2 {
    #[inline(always)]
    fn repeat(self, bytes: [u8; 16], n: usize) -> [u8; PATTERN] {
        // SAFETY: the token proves that the machine has these instructions.
        unsafe { shuffled(bytes, &PLACES[n]) }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn shuffled(bytes: [u8; 16], places: &[u8; PATTERN]) -> [u8; PATTERN] {
    use crate::arch::{avx2, sse2};
    use std::arch::x86_64::{_mm256_broadcastsi128_si256, _mm256_shuffle_epi8};
    let twice = _mm256_broadcastsi128_si256(sse2::load(&bytes));
    let mut repeated = [0; PATTERN];
    avx2::store(_mm256_shuffle_epi8(twice, avx2::load(places)), &mut repeated);
    repeated
}
