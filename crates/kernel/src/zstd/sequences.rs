//! Sequences: literals, and a match with what came before, again and again.

use super::bits::BitReader;
use super::fse::FseTables;
use super::literals::SLACK;
use super::moves::{Moves, ROOM};
use super::{Refusal, Result};
use crate::matches::{Repeat, copy_match_exactly, few};
use crate::wide;
use std::hint::{black_box, cold_path, select_unpredictable};

const TOO_LONG: Refusal =
    Refusal::new("a block stands for more bytes than there is room for, or has more literals than it says");
const TOO_FAR: Refusal = Refusal::new("a match begins before the start of the data");
const BROKEN: Refusal = Refusal::new("the sequences of a block do not end at the last bit");

/// The sequences of a block as they are stored.
pub(super) struct Coded<'a> {
    pub(super) tables: &'a FseTables,
    pub(super) bits: BitReader<'a>,
    /// How many sequences there are.
    pub(super) count: usize,
}

/// One sequence.
struct Sequence {
    literals: usize,
    len: usize,
    offset: usize,
}

/// Where in the tables the next sequence is.
struct States {
    literals: usize,
    offsets: usize,
    matches: usize,
}

/// Decodes the sequences to `dst` from `out` on, and the literals behind them; returns where they end. Behind `literals` there is
/// [`SLACK`]. With `START` no more than there is room for.
#[inline(always)]
pub(super) fn decode<M: Moves, const START: bool>(
    isa: M,
    Coded { tables, mut bits, count }: Coded<'_>,
    literals: &[u8],
    repeats: &mut [usize; 3],
    dst: &mut [u8],
    mut out: usize,
) -> Result<usize> {
    let log = |log: Option<u32>| log.unwrap_or_default();
    let mut states = States {
        literals: bits.take(log(tables.literals.log))? as usize,
        offsets: bits.take(log(tables.offsets.log))? as usize,
        matches: bits.take(log(tables.matches.log))? as usize,
    };
    let end = literals.len() - SLACK;
    let mut used = 0;
    // Here and not behind a reference, so that they stay in registers.
    let mut recent = *repeats;
    let write_end = dst.len().saturating_sub(ROOM);
    // Hidden from the compiler: where it sees that the two cannot overlap, it makes calls of `memcpy` of short loops.
    let (from, mut to) = black_box((literals.as_ptr(), dst.as_mut_ptr()));
    for _ in 1..count {
        let found = next::<_, false>(isa, tables, &mut bits, &mut states, &mut recent)?;
        let Sequence { literals: n, len, offset } = found;
        // Both lengths are below 2^18, so no sum overflows.
        let start = out + n;
        if used + n > end || start + len > write_end || offset.wrapping_sub(1) >= start {
            cold_path();
            (used, out) = exactly::<_, START>(isa.exactly(), &literals[..end], dst, used, out, found)?;
            if START && out == dst.len() {
                return Ok(out);
            }
            to = black_box(dst.as_mut_ptr());
            continue;
        }
        // SAFETY: up to `n` literals and the slack can be read, and as much be written behind `out`.
        unsafe { isa.literals(from, used, to, out, n) };
        used += n;
        // SAFETY: the offset is 1 to `start`, and there is room behind the match.
        unsafe { isa.matched(to, start, offset, len) };
        out = start + len;
    }
    let found = next::<_, true>(isa, tables, &mut bits, &mut states, &mut recent)?;
    if !bits.is_finished() {
        return Err(BROKEN);
    }
    (used, out) = exactly::<_, START>(isa.exactly(), &literals[..end], dst, used, out, found)?;
    *repeats = recent;
    let mut rest = &literals[used..end];
    if START {
        rest = &rest[..rest.len().min(dst.len() - out)];
    }
    dst[out..].get_mut(..rest.len()).ok_or(TOO_LONG)?.copy_from_slice(rest);
    Ok(out + rest.len())
}

/// The next sequence; behind the last one the states have no bits.
#[inline(always)]
fn next<M: Moves, const LAST: bool>(
    isa: M,
    tables: &FseTables,
    bits: &mut BitReader<'_>,
    states: &mut States,
    repeats: &mut [usize; 3],
) -> Result<Sequence> {
    if bits.at < bits.start {
        return Err(BROKEN);
    }
    // SAFETY: a stream begins 8 bytes into the frame at least, and `at` lies in its bytes.
    let word = unsafe { wide::word(bits.frame(), (bits.at >> 3) - 7) };
    // SAFETY: a state is less than the table has entries: the bits read for it are as many as its entry said.
    let literals = unsafe { tables.literals.entries.get_unchecked(states.literals) };
    // SAFETY: as above.
    let offsets = unsafe { tables.offsets.entries.get_unchecked(states.offsets) };
    // SAFETY: as above.
    let matches = unsafe { tables.matches.entries.get_unchecked(states.matches) };
    let (a, b, c) = (literals.widths, matches.widths, offsets.widths);
    let sum = a.wrapping_add(b).wrapping_add(c);
    let valid = 56 | (bits.at & 7) as u32;
    let extra = (sum & 0xff) as usize;
    let total = extra + if LAST { 0 } else { (sum >> 8 & 0xff) as usize };
    let (mut value, mut n, mut len) =
        (u64::from(offsets.base), u64::from(literals.base), u64::from(matches.base));
    if total <= 56 {
        // Only the lowest bits of a shift and of a width count, whatever is above them.
        let low = |left: u32, width: u32| isa.low_bits(word.wrapping_shr(left), width);
        let behind_offset = valid.wrapping_sub(c);
        let behind = valid.wrapping_sub(sum);
        value += low(behind_offset, c);
        len += low(behind_offset.wrapping_sub(b), b);
        n += low(behind, a);
        if !LAST {
            let behind_a = behind.wrapping_sub(a >> 8);
            let behind_b = behind_a.wrapping_sub(b >> 8);
            let behind_c = behind.wrapping_sub(sum >> 8);
            states.literals = (u64::from(a >> 16) + low(behind_a, a >> 8)) as usize;
            states.matches = (u64::from(b >> 16) + low(behind_b, b >> 8)) as usize;
            states.offsets = (u64::from(c >> 16) + low(behind_c, c >> 8)) as usize;
        }
        bits.at -= total;
    } else {
        cold_path();
        value += bits.take(c & 0xff)?;
        len += bits.take(b & 0xff)?;
        n += bits.take(a & 0xff)?;
        if !LAST {
            states.literals = (u64::from(a >> 16) + bits.take(a >> 8 & 0xff)?) as usize;
            states.matches = (u64::from(b >> 16) + bits.take(b >> 8 & 0xff)?) as usize;
            states.offsets = (u64::from(c >> 16) + bits.take(c >> 8 & 0xff)?) as usize;
        }
    }
    let (n, value) = (n as usize, value as usize);
    Ok(Sequence { literals: n, len: len as usize, offset: offset(value, n == 0, repeats) })
}

/// The offset that a value stands for, which becomes the last one; without a jump, as there is no telling which comes next.
#[inline(always)]
fn offset(value: usize, is_bare: bool, repeats: &mut [usize; 3]) -> usize {
    // Values to 3 are one of the last offsets, the first of which is left out where there are no literals.
    let [one, two, three] = *repeats;
    let new = value > 3;
    let which = value - 1 + usize::from(is_bare);
    let old = select_unpredictable(which == 1, two, select_unpredictable(which == 2, three, one - 1));
    let old = select_unpredictable(which == 0, one, old);
    let offset = select_unpredictable(new, value.wrapping_sub(3), old);
    let keep_two = !new & (which == 0);
    let keep_three = !new & (which < 2);
    *repeats =
        [offset, select_unpredictable(keep_two, two, one), select_unpredictable(keep_three, three, two)];
    offset
}

/// Copies a sequence where there is no room to write more than it has, with `START` as much of it as there is room for; returns how many literals are used, and where it ends.
#[cold]
fn exactly<R: Repeat, const START: bool>(
    repeat: R,
    literals: &[u8],
    dst: &mut [u8],
    used: usize,
    out: usize,
    mut found: Sequence,
) -> Result<(usize, usize)> {
    if START {
        found.literals = found.literals.min(dst.len() - out);
    }
    let bytes = literals[used..].get(..found.literals).ok_or(TOO_LONG)?;
    let place = dst[out..].get_mut(..bytes.len()).ok_or(TOO_LONG)?;
    if bytes.len() <= 32 {
        few(bytes, place);
    } else {
        place.copy_from_slice(bytes);
    }
    let start = out + bytes.len();
    if START {
        found.len = found.len.min(dst.len() - start);
        if found.len == 0 {
            return Ok((used + bytes.len(), start));
        }
    } else if found.len > dst.len() - start {
        return Err(TOO_LONG);
    }
    if !(1..=start).contains(&found.offset) {
        return Err(TOO_FAR);
    }
    copy_match_exactly(repeat, dst, start, found.offset, found.len);
    Ok((used + bytes.len(), start + found.len))
}
