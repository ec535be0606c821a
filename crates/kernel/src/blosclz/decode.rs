//! The decoder: wide and unchecked while a command has room to spare on both sides, careful near the ends.

use super::{FAR_BASE, LONG_MATCH, MAX_RUN};
use crate::wide::{load, store, word};

/// Why a stream cannot be decoded, and at which byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Defect {
    /// Bytes into the stream.
    pub offset: usize,
    /// Text for the error message.
    pub reason: &'static str,
}

const CUT: &str = "BloscLZ: cut off in a match";
const BEFORE: &str = "BloscLZ: a match from before the start";
const BEYOND: &str = "BloscLZ: a match beyond the end of the block";

/// Most bytes written past the end of a command's output; the next command overwrites them.
const SLACK: usize = 32;

/// Longer matches use `memset` and `memcpy`.
const SHORT: usize = 128;

/// Decodes `src`, which must fill `dst` exactly. The old contents of `dst` are lost even if the stream is invalid.
///
/// # Errors
/// A [`Defect`] if `src` is not a valid stream.
///
/// ```
/// use b2nd_kernel::blosclz::decode;
/// let mut text = [0; 12];
/// decode(&[0x22, b'a', b'b', b'c', 6 << 5, 2, 0, b'!'], &mut text).unwrap();
/// assert_eq!(&text, b"abcabcabcab!");
/// ```
pub fn decode(src: &[u8], dst: &mut [u8]) -> Result<(), Defect> {
    run::<false>(src, dst)
}

/// Like [`decode`], but stops when `dst` is full. The rest of the stream is ignored.
///
/// # Errors
/// A [`Defect`] if `src` is not valid up to there.
///
/// ```
/// use b2nd_kernel::blosclz::decode_start;
/// let mut text = [0; 5];
/// decode_start(&[0x22, b'a', b'b', b'c', 6 << 5, 2, 0, b'!'], &mut text).unwrap();
/// assert_eq!(&text, b"abcab");
/// ```
pub fn decode_start(src: &[u8], dst: &mut [u8]) -> Result<(), Defect> {
    run::<true>(src, dst)
}

/// Decodes all of a stream; with `START`, only as much as fits into `dst`.
fn run<const START: bool>(src: &[u8], dst: &mut [u8]) -> Result<(), Defect> {
    let Some(&first) = src.first() else {
        return Err(Defect { offset: 0, reason: "BloscLZ: no bytes at all" });
    };
    let mut reader = Reader { src, at: 1, out: 0, control: usize::from(first & 31) };
    reader.swift::<START>(dst)?;
    reader.careful::<START>(dst)
}

/// Position in the stream and in the output.
struct Reader<'a> {
    src: &'a [u8],
    /// Offset of the byte after the control byte.
    at: usize,
    /// Number of bytes written.
    out: usize,
    control: usize,
}

impl Reader<'_> {
    /// Decodes without checks while both buffers have more room than a short command needs.
    #[inline(always)]
    fn swift<const START: bool>(&mut self, dst: &mut [u8]) -> Result<(), Defect> {
        let Reader { src, mut at, mut out, mut control } = *self;
        // A command reads and writes at most 32 bytes here, and one more is read: the next control byte.
        while at + MAX_RUN < src.len() && out + SLACK <= dst.len() {
            if control < MAX_RUN {
                // SAFETY: the loop's condition leaves 32 bytes, and one more.
                let literals = unsafe { load::<MAX_RUN>(src, at) };
                // SAFETY: the loop's condition leaves 32 bytes.
                unsafe { store(dst, out, literals) };
                at += control + 1;
                out += control + 1;
            } else if control < 7 << 5 {
                // SAFETY: the loop's condition leaves 33 bytes.
                let bytes = unsafe { load::<4>(src, at) };
                let mut distance = ((control & 31) << 8) + usize::from(bytes[0]) + 1;
                let start = at;
                at += 1;
                if distance == FAR_BASE {
                    distance += usize::from(u16::from_be_bytes([bytes[1], bytes[2]]));
                    at += 2;
                }
                if distance > out {
                    return Err(Defect { offset: start - 1, reason: BEFORE });
                }
                // SAFETY: the loop's condition leaves 32 bytes behind `out`, and `distance <= out`.
                let pattern = unsafe { pattern(dst, out - distance, distance) };
                // SAFETY: as above.
                unsafe { store(dst, out, pattern.to_le_bytes()) };
                out += (control >> 5) + 2;
            } else {
                let Some(token) = token(src, at, control).filter(|token| token.end < src.len()) else {
                    return Err(Defect { offset: src.len(), reason: CUT });
                };
                let len = check::<START>(&token, at, out, dst)?;
                repeat(dst, out, token.distance, len);
                out += len;
                at = token.end;
            }
            // SAFETY: a short command has at most 32 bytes, of which the loop's condition leaves one more; and the end
            // of a long match was compared with the end of `src`.
            control = usize::from(unsafe { load::<1>(src, at) }[0]);
            at += 1;
        }
        (self.at, self.out, self.control) = (at, out, control);
        Ok(())
    }

    /// Decodes the rest, checking each step.
    fn careful<const START: bool>(&mut self, dst: &mut [u8]) -> Result<(), Defect> {
        let Reader { src, mut at, mut out, mut control } = *self;
        loop {
            if START && out == dst.len() {
                return Ok(());
            }
            if control < MAX_RUN {
                let run = if START { (control + 1).min(dst.len() - out) } else { control + 1 };
                let Some(from) = src.get(at..at + run) else {
                    return Err(Defect { offset: src.len(), reason: "BloscLZ: cut off in literals" });
                };
                let Some(to) = dst.get_mut(out..out + run) else {
                    let reason = "BloscLZ: literals beyond the end of the block";
                    return Err(Defect { offset: at - 1, reason });
                };
                to.copy_from_slice(from);
                at += run;
                out += run;
                if at == src.len() || START && out == dst.len() {
                    break;
                }
            } else {
                let Some(token) = token(src, at, control).filter(|token| token.end < src.len()) else {
                    return Err(Defect { offset: src.len(), reason: CUT });
                };
                let len = check::<START>(&token, at, out, dst)?;
                repeat(dst, out, token.distance, len);
                out += len;
                at = token.end;
            }
            control = match src.get(at) {
                Some(&next) => usize::from(next),
                None => return Err(Defect { offset: at, reason: "BloscLZ: cut off" }),
            };
            at += 1;
        }
        if out == dst.len() { Ok(()) } else { Err(Defect { offset: at, reason: "BloscLZ: ends too early" }) }
    }
}

/// A match as it is coded: where it comes from, how long it is, and the offset of the byte after it.
struct Token {
    distance: usize,
    len: usize,
    end: usize,
}

/// Reads a match whose control byte is before `at`.
#[inline(always)]
fn token(src: &[u8], mut at: usize, control: usize) -> Option<Token> {
    let mut len = (control >> 5) + 2;
    let high = (control & 31) << 8;
    if len == LONG_MATCH {
        loop {
            let more = usize::from(*src.get(at)?);
            at += 1;
            len += more;
            if more != 255 {
                break;
            }
            // No slice is that long, and with 32-bit addresses the sum could wrap.
            if len > usize::MAX / 2 {
                return None;
            }
        }
    }
    let low = usize::from(*src.get(at)?);
    at += 1;
    if low == 255 && high == 31 << 8 {
        let far = src.get(at..)?.first_chunk::<2>()?;
        return Some(Token { distance: FAR_BASE + usize::from(u16::from_be_bytes(*far)), len, end: at + 2 });
    }
    Some(Token { distance: high + low + 1, len, end: at })
}

/// Checks a match whose control byte is before `at`; returns its length, with `START` cut to the room that is left.
#[inline(always)]
fn check<const START: bool>(token: &Token, at: usize, out: usize, dst: &[u8]) -> Result<usize, Defect> {
    if token.distance > out {
        return Err(Defect { offset: at - 1, reason: BEFORE });
    }
    let room = dst.len() - out;
    if token.len > room && !START {
        return Err(Defect { offset: at - 1, reason: BEYOND });
    }
    Ok(token.len.min(room))
}

/// The first 8 bytes of what lies from `from` on, repeated every `distance` bytes.
///
/// # Safety
/// `from + 8 <= dst.len()`, and `distance > 0`.
#[inline(always)]
unsafe fn pattern(dst: &[u8], from: usize, distance: usize) -> u64 {
    // Multiplying by ones that are `distance` bytes apart repeats the low bytes. From 8 on nothing repeats.
    const ONES: [u64; 9] = [
        0,
        0x0101_0101_0101_0101,
        0x0001_0001_0001_0001,
        0x0001_0000_0100_0001,
        0x0000_0001_0000_0001,
        0x0000_0100_0000_0001,
        0x0001_0000_0000_0001,
        0x0100_0000_0000_0001,
        1,
    ];
    const KEPT: [u64; 9] = [
        0,
        0xff,
        0xffff,
        0xff_ffff,
        0xffff_ffff,
        0xff_ffff_ffff,
        0xffff_ffff_ffff,
        0xff_ffff_ffff_ffff,
        u64::MAX,
    ];
    let short = distance.min(8);
    // SAFETY: the same contract.
    let bytes = unsafe { word(dst, from) };
    (bytes & KEPT[short]).wrapping_mul(ONES[short])
}

/// Repeats the `len` bytes from `distance` back. The caller has checked `1 <= distance <= out` and `len <= dst.len() - out`.
#[inline(always)]
fn repeat(dst: &mut [u8], out: usize, distance: usize, len: usize) {
    if len <= SHORT && len + SLACK <= dst.len() - out {
        // SAFETY: the condition above has checked the room.
        unsafe { repeat_with_room(dst, out, distance, len) };
    } else {
        repeat_long(dst, out, distance, len);
    }
}

/// Like [`repeat`], but may write up to [`SLACK`] bytes past the end.
///
/// # Safety
/// `1 <= distance <= out` and `out + len + SLACK <= dst.len()`.
#[inline(always)]
unsafe fn repeat_with_room(dst: &mut [u8], out: usize, distance: usize, len: usize) {
    let end = out + len;
    let mut at = out;
    if distance >= 32 {
        while at < end {
            // SAFETY: before `at`, which is inside.
            let bytes = unsafe { load::<32>(dst, at - distance) };
            // SAFETY: `at < end`, behind which there are 32 bytes.
            unsafe { store(dst, at, bytes) };
            at += 32;
        }
        return;
    }
    // SAFETY: `out - distance + 8` is inside, as `out + SLACK` is.
    let pattern = unsafe { pattern(dst, out - distance, distance) }.to_le_bytes();
    if 8 % distance == 0 {
        let [a, b, c, d, e, f, g, h] = pattern;
        let pattern = [a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h];
        while at < end {
            // SAFETY: `at < end`, behind which there are 32 bytes.
            unsafe { store(dst, at, pattern) };
            // SAFETY: as above.
            unsafe { store(dst, at + 16, pattern) };
            at += 32;
        }
        return;
    }
    // A multiple of the distance gives the same bytes. From 16 on, source and destination do not overlap.
    let reach = if distance >= 16 { distance } else { distance * 16usize.div_ceil(distance) };
    if distance < 8 {
        let step = 8 / distance * distance;
        while at < end && at < out + reach {
            // SAFETY: `at < end`, behind which there are 32 bytes.
            unsafe { store(dst, at, pattern) };
            at += step;
        }
    } else {
        while at < end && at < out + reach - distance {
            // SAFETY: before `at`, which is inside.
            let bytes = unsafe { load::<8>(dst, at - distance) };
            // SAFETY: `at < end`, behind which there are 32 bytes.
            unsafe { store(dst, at, bytes) };
            at += 8;
        }
    }
    while at < end {
        // SAFETY: `reach` is not more than what lies between the source and `at`.
        let bytes = unsafe { load::<16>(dst, at - reach) };
        // SAFETY: `at < end`, behind which there are 32 bytes.
        unsafe { store(dst, at, bytes) };
        at += 16;
    }
}

/// Like [`repeat`], for long matches and matches at the end: copies by `memcpy`, twice as much each time.
#[inline(never)]
fn repeat_long(dst: &mut [u8], out: usize, distance: usize, len: usize) {
    let from = out - distance;
    if distance == 1 {
        let byte = dst[from];
        dst[out..out + len].fill(byte);
        return;
    }
    let mut done = 0;
    if distance < SHORT && len > SHORT && dst.len() - out >= SHORT + SLACK {
        // SAFETY: the condition above has checked the room.
        unsafe { repeat_with_room(dst, out, distance, SHORT) };
        done = SHORT / distance * distance;
    }
    while done < len {
        // A multiple of the distance until the last step, so that each copy starts in phase.
        let step = (distance + done).min(len - done);
        dst.copy_within(from..from + step, out + done);
        done += step;
    }
}
