//! Copies of literals and matches, with as few jumps that depend on their lengths as the machine allows.

use super::Result;
use super::sequences::{self, Coded};
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512};
use crate::matches::{Plain, Repeat, copy, copy_match};
#[cfg(target_arch = "x86_64")]
use crate::matches::{read, write};
use std::hint::cold_path;

/// How far behind its end a copy may read and write.
pub(super) const ROOM: usize = 64;

/// Copies with one instruction set.
pub(super) trait Moves: Copy {
    /// How it copies the last matches.
    type Exactly: Repeat;
    fn exactly(self) -> Self::Exactly;

    /// The lowest bits of `word`, as many as the lowest byte of `width` says, 31 at most.
    fn low_bits(self, word: u64, width: u32) -> u64;

    /// Decodes sequences; see [`sequences::decode`].
    fn sequences<const START: bool>(
        self,
        coded: Coded<'_>,
        literals: &[u8],
        repeats: &mut [usize; 3],
        dst: &mut [u8],
        out: usize,
    ) -> Result<usize>;

    /// Copies `n` bytes from `i` on to `o` on.
    ///
    /// # Safety
    /// `i + n + ROOM` bytes can be read at `from`, `o + n + ROOM` be written at `to`, and they do not overlap.
    unsafe fn literals(self, from: *const u8, i: usize, to: *mut u8, o: usize, n: usize);

    /// Writes `len` bytes from `at` on, each of which is the one `offset` before it.
    ///
    /// # Safety
    /// `offset` is 1 to `at`; `at + len + ROOM` bytes from `to` on are a slice that is borrowed mutably.
    unsafe fn matched(self, to: *mut u8, at: usize, offset: usize, len: usize);
}

#[inline(always)]
unsafe fn literals<const N: usize>(from: *const u8, i: usize, to: *mut u8, o: usize, n: usize) {
    // SAFETY: `N` is not more than the room that the caller promises.
    unsafe { copy::<N>(from, i, to, o) };
    if n > N {
        cold_path();
        let mut k = N;
        while k < n {
            // SAFETY: as above.
            unsafe { copy::<N>(from, i + k, to, o + k) };
            k += N;
        }
    }
}

impl Moves for Plain {
    type Exactly = Self;

    #[inline(always)]
    fn exactly(self) -> Self {
        self
    }

    #[inline(always)]
    fn low_bits(self, word: u64, width: u32) -> u64 {
        word & !(u64::MAX << (width & 63))
    }

    fn sequences<const START: bool>(
        self,
        coded: Coded<'_>,
        literals: &[u8],
        repeats: &mut [usize; 3],
        dst: &mut [u8],
        out: usize,
    ) -> Result<usize> {
        sequences::decode::<_, START>(self, coded, literals, repeats, dst, out)
    }

    #[inline(always)]
    unsafe fn literals(self, from: *const u8, i: usize, to: *mut u8, o: usize, n: usize) {
        // SAFETY: promised by the caller.
        unsafe { literals::<16>(from, i, to, o, n) };
    }

    #[inline(always)]
    unsafe fn matched(self, to: *mut u8, at: usize, offset: usize, len: usize) {
        // SAFETY: promised by the caller.
        unsafe { copy_match(self, to, at, offset, len) };
    }
}

#[cfg(target_arch = "x86_64")]
impl Moves for Avx2 {
    type Exactly = Self;

    #[inline(always)]
    fn exactly(self) -> Self {
        self
    }

    #[inline(always)]
    fn low_bits(self, word: u64, width: u32) -> u64 {
        // SAFETY: the token proves that the machine has these instructions.
        unsafe { bits_below(word, width) }
    }

    fn sequences<const START: bool>(
        self,
        coded: Coded<'_>,
        literals: &[u8],
        repeats: &mut [usize; 3],
        dst: &mut [u8],
        out: usize,
    ) -> Result<usize> {
        // SAFETY: the token proves that the machine has these instructions.
        unsafe { by_avx2::<START>(self, coded, literals, repeats, dst, out) }
    }

    #[inline(always)]
    unsafe fn literals(self, from: *const u8, i: usize, to: *mut u8, o: usize, n: usize) {
        // SAFETY: promised by the caller.
        unsafe { literals::<32>(from, i, to, o, n) };
    }

    #[inline(always)]
    unsafe fn matched(self, to: *mut u8, at: usize, offset: usize, len: usize) {
        // SAFETY: promised by the caller.
        unsafe { copy_match(self, to, at, offset, len) };
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "bmi2")]
fn bits_below(word: u64, width: u32) -> u64 {
    std::arch::x86_64::_bzhi_u64(word, width)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn by_avx2<const START: bool>(
    token: Avx2,
    coded: Coded<'_>,
    literals: &[u8],
    repeats: &mut [usize; 3],
    dst: &mut [u8],
    out: usize,
) -> Result<usize> {
    sequences::decode::<_, START>(token, coded, literals, repeats, dst, out)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni,bmi1,bmi2,lzcnt")]
fn by_avx512<const START: bool>(
    token: Avx512,
    coded: Coded<'_>,
    literals: &[u8],
    repeats: &mut [usize; 3],
    dst: &mut [u8],
    out: usize,
) -> Result<usize> {
    sequences::decode::<_, START>(token, coded, literals, repeats, dst, out)
}

/// Row `n`: which of 32 bytes come one after another where `n` of them are repeated. Row 0 is never used.
#[cfg(target_arch = "x86_64")]
static PLACES: [[u8; 32]; 33] = {
    let mut rows = [[0; 32]; 33];
    let mut n = 1;
    while n < rows.len() {
        let mut i = 0;
        while i < 32 {
            rows[n][i] = (i % n) as u8;
            i += 1;
        }
        n += 1;
    }
    rows
};

#[cfg(target_arch = "x86_64")]
impl Moves for Avx512 {
    type Exactly = Avx2;

    #[inline(always)]
    fn exactly(self) -> Avx2 {
        self.into()
    }

    #[inline(always)]
    fn low_bits(self, word: u64, width: u32) -> u64 {
        // SAFETY: the token proves that the machine has these instructions.
        unsafe { bits_below(word, width) }
    }

    fn sequences<const START: bool>(
        self,
        coded: Coded<'_>,
        literals: &[u8],
        repeats: &mut [usize; 3],
        dst: &mut [u8],
        out: usize,
    ) -> Result<usize> {
        // SAFETY: the token proves that the machine has these instructions.
        unsafe { by_avx512::<START>(self, coded, literals, repeats, dst, out) }
    }

    #[inline(always)]
    unsafe fn literals(self, from: *const u8, i: usize, to: *mut u8, o: usize, n: usize) {
        // SAFETY: promised by the caller.
        unsafe { literals::<32>(from, i, to, o, n) };
    }

    /// One load, one permutation and one store for any offset and up to 32 bytes.
    #[inline(always)]
    unsafe fn matched(self, to: *mut u8, at: usize, offset: usize, len: usize) {
        // SAFETY: 32 bytes from before `at` on end within the room.
        let bytes = unsafe { read::<32>(to, at - offset) };
        // SAFETY: the token proves that the machine has these instructions.
        let bytes = unsafe { permuted(bytes, &PLACES[offset.min(32)]) };
        // SAFETY: there is room for 32 bytes.
        unsafe { write(to, at, bytes) };
        if len > 32 {
            cold_path();
            let end = at + len;
            if offset >= 32 {
                let mut o = at + 32;
                while o < end {
                    // SAFETY: 32 bytes from before `end` on end within the room; those that are read lie before them.
                    unsafe { copy::<32>(to, o - offset, to, o) };
                    o += 32;
                }
            } else {
                let step = 32 - 32 % offset;
                let mut o = at + step;
                while o < end {
                    // SAFETY: 32 bytes from before `end` on end within the room.
                    unsafe { write(to, o, bytes) };
                    o += step;
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn permuted(bytes: [u8; 32], places: &[u8; 32]) -> [u8; 32] {
    use crate::arch::avx2::{load, store};
    use std::arch::x86_64::_mm256_permutexvar_epi8;
    let mut found = [0; 32];
    store(_mm256_permutexvar_epi8(load(places), load(&bytes)), &mut found);
    found
}
