//! The decoder: a fast loop while both buffers have spare room, and checked steps near their ends.

use super::Defect;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Avx2;
use crate::matches::{Plain, Repeat, SPILL, copy, copy_match, copy_match_exactly, few, read, write};
use std::hint::{black_box, cold_path};

/// Bytes that the fast loop reads for a sequence without long lengths: a token, and 16 bytes for up to 14
/// literals and an offset.
const ROOM_TO_READ: usize = 17;
/// Bytes that it may write for one: 14 literals, and 32 bytes for a match.
const ROOM_TO_WRITE: usize = SPILL;
/// The shortest match.
const LEAST_MATCH: usize = 4;

/// Decodes with AVX2; with `START`, only as much as fits into `dst`.
#[cfg(target_arch = "x86_64")]
pub(super) fn with_avx2<const START: bool>(
    token: Avx2,
    dictionary: &[u8],
    src: &[u8],
    dst: &mut [u8],
) -> Result<usize, Defect> {
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { by_avx2::<START>(token, dictionary, src, dst) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn by_avx2<const START: bool>(
    token: Avx2,
    dictionary: &[u8],
    src: &[u8],
    dst: &mut [u8],
) -> Result<usize, Defect> {
    run::<_, START>(token, dictionary, src, dst)
}

/// Decodes in plain Rust; with `START`, only as much as fits into `dst`.
pub(super) fn plainly<const START: bool>(
    dictionary: &[u8],
    src: &[u8],
    dst: &mut [u8],
) -> Result<usize, Defect> {
    run::<_, START>(Plain, dictionary, src, dst)
}

/// Where the next sequence begins, and where its bytes go.
#[derive(Clone, Copy)]
struct Place {
    read: usize,
    written: usize,
}

#[inline(always)]
fn run<R: Repeat, const START: bool>(
    repeat: R,
    dictionary: &[u8],
    src: &[u8],
    dst: &mut [u8],
) -> Result<usize, Defect> {
    let mut place = Place { read: 0, written: 0 };
    loop {
        place = quick(repeat, src, dst, place);
        match careful::<_, START>(repeat, dictionary, src, dst, place) {
            Ok(Step::On(next)) => place = next,
            Ok(Step::End(written)) => return Ok(written),
            Err(reason) => return Err(Defect { offset: place.read, reason }),
        }
    }
}

/// Decodes sequences while both buffers have room. Returns the start of the first one that [`careful`] must decode.
///
/// Long lengths and tiny offsets are not rare. They are marked cold so that the shortest sequences, where the rest of the
/// loop would cost most, run without a taken branch.
#[inline(always)]
fn quick<R: Repeat>(repeat: R, src: &[u8], dst: &mut [u8], mut place: Place) -> Place {
    let ends = (src.len().checked_sub(ROOM_TO_READ), dst.len().checked_sub(ROOM_TO_WRITE));
    let (Some(read_end), Some(write_end)) = ends else { return place };
    // Hides from the compiler that the buffers do not overlap; otherwise it turns short loops into calls of `memcpy`.
    let (from, to) = black_box((src.as_ptr(), dst.as_mut_ptr()));
    while place.read <= read_end && place.written <= write_end {
        let Place { read: mut i, written: mut o } = place;
        // SAFETY: there are 17 bytes to read from `i` on.
        let token = usize::from(unsafe { read::<1>(from, i) }[0]);
        i += 1;
        let mut literals = token >> 4;
        // SAFETY: there are 16 bytes to read from `i` on, and 64 to write from `o` on.
        unsafe { copy::<16>(from, i, to, o) };
        if literals == 15 {
            cold_path();
            // SAFETY: `src` has so many bytes.
            let Some((more, next)) = (unsafe { length(from, src.len(), i) }) else { break };
            (literals, i) = (15 + more, next);
            if literals > write_end - o || literals + 32 > src.len() - i {
                break;
            }
            let mut n = 0;
            while n < literals {
                // SAFETY: the literals end 32 bytes before the end of `src` and 64 before that of `dst`, or earlier.
                unsafe { copy::<32>(from, i + n, to, o + n) };
                n += 32;
            }
        }
        i += literals;
        o += literals;
        // SAFETY: up to 14 literals leave two of the 16 bytes; longer ones were checked to have two bytes after them.
        let offset = usize::from(u16::from_le_bytes(unsafe { read(from, i) }));
        i += 2;
        if offset.wrapping_sub(1) >= o {
            break;
        }
        let mut len = (token & 15) + LEAST_MATCH;
        if len < 15 + LEAST_MATCH {
            // 14 literals end 50 bytes before the end of `dst`, more 64 before it, or earlier: 32 bytes have room behind them.
            if offset >= 16 {
                // SAFETY: as above, and `offset` is 1 to `o`.
                unsafe { copy::<16>(to, o - offset, to, o) };
                // SAFETY: as above; what is read ends at or before `o + 16`.
                unsafe { copy::<2>(to, o - offset + 16, to, o + 16) };
            } else {
                cold_path();
                // SAFETY: `offset` is 1 to `o`, and 16 bytes from before `o` on end before `o + 16`.
                let bytes = unsafe { read(to, o - offset) };
                // SAFETY: as above.
                unsafe { write(to, o, repeat.repeat(bytes, offset)) };
            }
        } else {
            cold_path();
            // SAFETY: `src` has so many bytes.
            let Some((more, next)) = (unsafe { length(from, src.len(), i) }) else { break };
            (len, i) = (len + more, next);
            if o > write_end || len > write_end - o {
                break;
            }
            // SAFETY: `offset` is 1 to `o`, and the match ends 64 bytes before the end of `dst` or earlier.
            unsafe { copy_match(repeat, to, o, offset, len) };
        }
        place = Place { read: i, written: o + len };
    }
    place
}

/// Result of a careful step.
enum Step {
    On(Place),
    End(usize),
}

const CUT_OFF: &str = "the block is cut off";
const TOO_LONG: &str = "the block stands for more bytes than there is room for";

/// Decodes one sequence, checking every length; with `START`, only as much as fits. The error is the reason.
#[inline(always)]
fn careful<R: Repeat, const START: bool>(
    repeat: R,
    dictionary: &[u8],
    src: &[u8],
    dst: &mut [u8],
    place: Place,
) -> Result<Step, &'static str> {
    let Place { read: mut i, written: mut o } = place;
    let token = usize::from(*src.get(i).ok_or(CUT_OFF)?);
    i += 1;
    let mut literals = token >> 4;
    if literals == 15 {
        // SAFETY: `src` has so many bytes.
        let (more, next) = unsafe { length(src.as_ptr(), src.len(), i) }.ok_or(CUT_OFF)?;
        (literals, i) = (15 + more, next);
    }
    if START {
        literals = literals.min(dst.len() - o);
    }
    let bytes = src[i..].get(..literals).ok_or(CUT_OFF)?;
    let place = dst[o..].get_mut(..literals).ok_or(TOO_LONG)?;
    if literals <= 32 {
        few(bytes, place);
    } else {
        place.copy_from_slice(bytes);
    }
    i += literals;
    o += literals;
    if i == src.len() || START && o == dst.len() {
        return Ok(Step::End(o));
    }
    let offset = usize::from(u16::from_le_bytes(*src[i..].first_chunk().ok_or(CUT_OFF)?));
    i += 2;
    let mut len = (token & 15) + LEAST_MATCH;
    if len == 15 + LEAST_MATCH {
        // SAFETY: `src` has so many bytes.
        let (more, next) = unsafe { length(src.as_ptr(), src.len(), i) }.ok_or(CUT_OFF)?;
        (len, i) = (len + more, next);
    }
    if START {
        len = len.min(dst.len() - o);
    } else if len > dst.len() - o {
        return Err(TOO_LONG);
    }
    if offset == 0 {
        return Err("a match has the offset 0");
    }
    if let Some(before @ 1..) = offset.checked_sub(o) {
        let start =
            dictionary.len().checked_sub(before).ok_or("a match begins before the start of the data")?;
        let known = before.min(len);
        dst[o..o + known].copy_from_slice(&dictionary[start..start + known]);
        o += known;
        len -= known;
    }
    if len > 0 {
        copy_match_exactly(repeat, dst, o, offset, len);
    }
    Ok(Step::On(Place { read: i, written: o + len }))
}

/// Reads length bytes from `i` up to one that is not 255; returns their sum and where they end. `None` when the block
/// ends before, or for a length that no slice has.
///
/// # Safety
/// `end` bytes can be read at `from`.
#[inline(always)]
unsafe fn length(from: *const u8, end: usize, mut i: usize) -> Option<(usize, usize)> {
    let mut sum = 0_usize;
    while i < end {
        // SAFETY: `i` is less than `end`.
        let byte = unsafe { read::<1>(from, i) }[0];
        i += 1;
        sum += usize::from(byte);
        if byte != 255 {
            return Some((sum, i));
        }
        if size_of::<usize>() < 8 && sum > usize::MAX / 2 {
            break;
        }
    }
    None
}
