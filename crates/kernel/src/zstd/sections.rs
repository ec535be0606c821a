//! What comes before the sequences of a block: how many there are, and their tables.

use super::bits::BitReader;
use super::fse::{self, FseTable, FseTables, LITERAL_LOG, MATCH_LOG, OFFSET_LOG};
use super::{Refusal, Result, codes, counts};

const CUT_OFF: Refusal = Refusal::new("the sequences of a block are cut off");

/// How many sequences the section at `begin` has, and where it goes on.
#[inline(always)]
pub(super) fn count(frame: &[u8], begin: usize, end: usize) -> Result<(usize, usize)> {
    let src = frame.get(begin..end).ok_or(CUT_OFF)?;
    let byte = |n: usize| src.get(n).map(|byte| usize::from(*byte)).ok_or(CUT_OFF);
    let first = byte(0)?;
    let (count, len) = match first {
        0..128 => (first, 1),
        128..255 => ((first - 128) << 8 | byte(1)?, 2),
        _ => ((byte(1)? | byte(2)? << 8) + 0x7f00, 3),
    };
    if count == 0 && len != src.len() {
        return Err(Refusal::new("a block without sequences has bytes after its literals"));
    }
    Ok((count, begin + len))
}

/// Reads the tables at `begin` and returns the stream behind them.
#[inline(always)]
pub(super) fn tables<'a>(
    tables: &mut FseTables,
    frame: &'a [u8],
    begin: usize,
    end: usize,
) -> Result<BitReader<'a>> {
    let src = frame.get(..end).ok_or(CUT_OFF)?;
    let modes = *src.get(begin).ok_or(CUT_OFF)?;
    if modes & 3 != 0 {
        return Err(Refusal::new("reserved bits of a block header are set"));
    }
    let mut at = begin + 1;
    let FseTables { literals, offsets, matches, usual } = tables;
    let kind = Codes { log: LITERAL_LOG, codes: &codes::LITERAL_LENGTHS, usual: &usual.literals };
    read(literals, modes >> 6, src, &mut at, kind)?;
    let kind = Codes { log: OFFSET_LOG, codes: &codes::OFFSETS, usual: &usual.offsets };
    read(offsets, modes >> 4 & 3, src, &mut at, kind)?;
    let kind = Codes { log: MATCH_LOG, codes: &codes::MATCH_LENGTHS, usual: &usual.matches };
    read(matches, modes >> 2 & 3, src, &mut at, kind)?;
    BitReader::new(frame, at, end)
}

/// The codes of one of the three parts of a sequence.
#[derive(Clone, Copy)]
struct Codes<'a> {
    /// The most bits of a state.
    log: u32,
    codes: &'a [fse::Entry],
    /// The table where the block does not name one.
    usual: &'a [fse::Entry],
}

#[inline(always)]
fn read<const N: usize>(
    table: &mut FseTable<N>,
    mode: u8,
    src: &[u8],
    at: &mut usize,
    kind: Codes<'_>,
) -> Result<()> {
    let Codes { log, codes, usual } = kind;
    match mode {
        0 => table.copy(usual),
        1 => {
            table.fill(*src.get(*at).ok_or(CUT_OFF)?, codes)?;
            *at += 1;
        }
        2 => {
            let (counts, used) = counts::read(&src[*at..], log, codes.len())?;
            table.build(&counts, codes);
            *at += used;
        }
        _ if table.log.is_none() => return Err(Refusal::new("a block refers to a missing table")),
        _ => {}
    }
    Ok(())
}
