//! The BloscLZ decoder: every read and write is checked, and the copies are wide where there is room.

use super::{FAR_BASE, MAX_RUN};

/// What is wrong with a stream, and at which of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::codec) struct Defect {
    pub(in crate::codec) offset: usize,
    pub(in crate::codec) reason: &'static str,
}

/// Decodes `src`, which must fill `dst` exactly. What was in `dst` is lost even when the stream is broken.
pub(in crate::codec) fn decode(src: &[u8], dst: &mut [u8]) -> Result<(), Defect> {
    let mut at = 0; // in `src`
    let mut out = 0; // in `dst`
    let mut control = match src.first() {
        Some(&first) => usize::from(first & 31),
        None => return Err(Defect { offset: 0, reason: "BloscLZ: no bytes at all" }),
    };
    loop {
        at += 1;
        if control < MAX_RUN {
            let run = control + 1;
            copy_literals(src, at, dst, out, run)?;
            at += run;
            out += run;
            if at == src.len() {
                break;
            }
        } else {
            let token = match token(src, at, control) {
                Some(token) if token.end < src.len() => token,
                _ => return Err(Defect { offset: src.len(), reason: "BloscLZ: cut off in a match" }),
            };
            let room = dst.len() - out;
            if token.distance > out {
                return Err(Defect { offset: at - 1, reason: "BloscLZ: a match from before the start" });
            }
            if token.len > room {
                return Err(Defect {
                    offset: at - 1,
                    reason: "BloscLZ: a match beyond the end of the block",
                });
            }
            copy_match(dst, out, token.distance, token.len);
            out += token.len;
            at = token.end;
        }
        control = match src.get(at) {
            Some(&next) => usize::from(next),
            None => return Err(Defect { offset: at, reason: "BloscLZ: cut off" }),
        };
    }
    if out == dst.len() { Ok(()) } else { Err(Defect { offset: at, reason: "BloscLZ: ends too early" }) }
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
    if control >> 5 == 7 {
        loop {
            let more = usize::from(*src.get(at)?);
            at += 1;
            // No overflow: each byte of `src` adds at most 255, and `src` is shorter than 2 GiB.
            len += more;
            if more != 255 {
                break;
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

/// Copies `run` (1 to 32) bytes, as one block of 32 where both sides have that many.
#[inline(always)]
fn copy_literals(src: &[u8], at: usize, dst: &mut [u8], out: usize, run: usize) -> Result<(), Defect> {
    if let (Some(from), Some(to)) = (src.get(at..at + MAX_RUN), dst.get_mut(out..out + MAX_RUN)) {
        to.copy_from_slice(from);
        return Ok(());
    }
    let Some(from) = src.get(at..at + run) else {
        return Err(Defect { offset: src.len(), reason: "BloscLZ: cut off in literals" });
    };
    let Some(to) = dst.get_mut(out..out + run) else {
        return Err(Defect { offset: at - 1, reason: "BloscLZ: literals beyond the end of the block" });
    };
    to.copy_from_slice(from);
    Ok(())
}

/// Repeats the bytes from `distance` back. The caller has checked `1 <= distance <= out` and `out + len <= dst.len()`.
#[inline(always)]
fn copy_match(dst: &mut [u8], out: usize, distance: usize, len: usize) {
    let from = out - distance;
    if len <= 32 && out + 32 <= dst.len() {
        // Bytes beyond `len` are written too: what follows overwrites them.
        if distance >= 32 {
            dst.copy_within(from..from + 32, out);
            return;
        }
        if distance >= 16 {
            dst.copy_within(from..from + 16, out);
            dst.copy_within(from + 16..from + 32, out + 16);
            return;
        }
    }
    copy_match_slowly(dst, from, out, len);
}

/// Any distance, any length: the pattern doubles with each copy.
#[inline(never)]
fn copy_match_slowly(dst: &mut [u8], from: usize, out: usize, len: usize) {
    let distance = out - from;
    if distance == 1 {
        let byte = dst[from];
        dst[out..out + len].fill(byte);
        return;
    }
    let mut done = 0;
    while done < len {
        // A multiple of the distance until the last step, so that each copy starts in phase.
        let step = (distance + done).min(len - done);
        dst.copy_within(from..from + step, out + done);
        done += step;
    }
}
