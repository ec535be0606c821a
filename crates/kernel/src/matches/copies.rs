//! Copies within the decoded output, where source and destination may overlap.

use super::pattern::{PATTERN, Repeat};

/// The most bytes that a copy may write past its end.
pub(crate) const SPILL: usize = 64;

/// Reads the `N` bytes from `at` on.
///
/// # Safety
/// These bytes are readable, in the allocation of `from`.
#[inline(always)]
pub(crate) unsafe fn read<const N: usize>(from: *const u8, at: usize) -> [u8; N] {
    // SAFETY: promised by the caller.
    let place = unsafe { from.add(at) };
    // SAFETY: promised by the caller; an array of bytes needs no alignment.
    unsafe { place.cast::<[u8; N]>().read() }
}

/// Writes `N` bytes from `at` on.
///
/// # Safety
/// These bytes are writable, in the allocation of `to`.
#[inline(always)]
pub(crate) unsafe fn write<const N: usize>(to: *mut u8, at: usize, bytes: [u8; N]) {
    // SAFETY: promised by the caller.
    let place = unsafe { to.add(at) };
    // SAFETY: promised by the caller; an array of bytes needs no alignment.
    unsafe { place.cast::<[u8; N]>().write(bytes) }
}

/// Reads all `N` bytes from `i` on, then writes them from `o` on.
///
/// # Safety
/// As for [`read`] and [`write`].
#[inline(always)]
pub(crate) unsafe fn copy<const N: usize>(from: *const u8, i: usize, to: *mut u8, o: usize) {
    // SAFETY: promised by the caller.
    let bytes = unsafe { read::<N>(from, i) };
    // SAFETY: promised by the caller.
    unsafe { write(to, o, bytes) };
}

/// Writes `len` bytes from `at` on, each a copy of the byte `offset` before it; may overwrite [`SPILL`] bytes past the end.
///
/// # Safety
/// `offset` is 1 to `at`; `at + len + SPILL` bytes from `to` on are a slice that is borrowed mutably.
#[inline(always)]
pub(crate) unsafe fn copy_match<R: Repeat>(repeat: R, to: *mut u8, at: usize, offset: usize, len: usize) {
    let (from, end) = (at - offset, at + len);
    let mut o = at;
    if offset >= 64 {
        while o < end {
            // SAFETY: 64 bytes from before `end` on end within the spill; those that are read lie before them.
            unsafe { copy::<64>(to, o - offset, to, o) };
            o += 64;
        }
    } else if offset > 16 {
        // SAFETY: 64 bytes from before `at` on end within the spill.
        let bytes = unsafe { read::<64>(to, from) };
        while o < end {
            // Bytes after the match are overwritten by the next write, or lie within the spill.
            // SAFETY: 64 bytes from before `end` on end within the spill.
            unsafe { write(to, o, bytes) };
            o += offset;
        }
    } else {
        // SAFETY: 16 bytes from before `at` on end within the spill.
        let bytes = repeat.repeat(unsafe { read(to, from) }, offset);
        let step = PATTERN - PATTERN % offset;
        while o < end {
            // SAFETY: 32 bytes from before `end` on end within the spill.
            unsafe { write(to, o, bytes) };
            o += step;
        }
    }
}

/// Writes exactly `len` bytes from `at` on, each a copy of the byte `offset` before it.
///
/// # Panics
/// When `offset` is 0 or above `at`, or `dst` is too short.
#[inline(always)]
pub(crate) fn copy_match_exactly<R: Repeat>(repeat: R, dst: &mut [u8], at: usize, offset: usize, len: usize) {
    assert!((1..=at).contains(&offset), "a match within the slice");
    let room = dst[at..].len();
    assert!(len <= room, "a match that has room");
    if room - len >= SPILL {
        // SAFETY: `offset` was checked, and there is room for the spill.
        unsafe { copy_match(repeat, dst.as_mut_ptr(), at, offset, len) };
    } else if len >= SPILL + 32 {
        let whole = len - SPILL;
        // SAFETY: `offset` was checked, and the spill lies within the match.
        unsafe { copy_match(repeat, dst.as_mut_ptr(), at, offset, whole) };
        // At least 32 bytes of the match are written; the rest equals the bytes some whole periods before it.
        let back = offset * usize::from(PERIODS[offset.min(32)]);
        for at in [at + whole, at + whole + 32] {
            let (before, rest) = dst.split_at_mut(at);
            if let (Some(bytes), Some(place)) =
                (before[at - back..].first_chunk::<32>(), rest.first_chunk_mut::<32>())
            {
                *place = *bytes;
            }
        }
    } else {
        copy_short(repeat, dst, at, offset, len);
    }
}

/// For each offset, the number of periods that cover at least 32 bytes.
static PERIODS: [u8; 33] = {
    let mut periods = [1; 33];
    let mut n = 1;
    while n < periods.len() {
        periods[n] = 32_usize.div_ceil(n) as u8;
        n += 1;
    }
    periods
};

/// [`copy_match_exactly`] for a few bytes.
#[inline(always)]
fn copy_short<R: Repeat>(repeat: R, dst: &mut [u8], at: usize, offset: usize, len: usize) {
    if offset >= 16 {
        let mut n = 0;
        while n + 16 <= len {
            dst.copy_within(at + n - offset..at + n - offset + 16, at + n);
            n += 16;
        }
        let (before, rest) = dst.split_at_mut(at + n);
        few(&before[at + n - offset..], &mut rest[..len - n]);
        return;
    }
    let (before, rest) = dst.split_at_mut(at);
    let rest = &mut rest[..len];
    // Reads no byte past the source, because fewer than 16 may follow.
    let mut bytes = [0; 16];
    few(&before[at - offset..], &mut bytes[..offset]);
    let bytes = repeat.repeat(bytes, offset);
    let step = PATTERN - PATTERN % offset;
    let mut n = 0;
    while let Some(place) = rest[n..].first_chunk_mut() {
        *place = bytes;
        n += step;
        if n > len {
            return;
        }
    }
    few(&bytes, &mut rest[n..]);
}

/// Fills `to`, of at most 32 bytes, from `from`: cheaper than a call of `memcpy`.
///
/// # Panics
/// When `from` has fewer.
#[inline(always)]
pub(crate) fn few(from: &[u8], to: &mut [u8]) {
    let from = &from[..to.len()];
    if !(ends::<16>(from, to) || ends::<8>(from, to) || ends::<4>(from, to)) {
        for (byte, place) in from.iter().zip(to) {
            *place = *byte;
        }
    }
}

/// Copies the first and the last `N` bytes, which are all bytes up to a length of `2 * N`; `false` for fewer than `N`
/// bytes.
#[inline(always)]
fn ends<const N: usize>(from: &[u8], to: &mut [u8]) -> bool {
    if let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>()) {
        if let Some(place) = to.first_chunk_mut() {
            *place = *first;
        }
        if let Some(place) = to.last_chunk_mut() {
            *place = *last;
        }
        return true;
    }
    false
}
