//! Chunks in the order in which they lie: what is left to go by where nothing says which is which.

use super::judge::{Expected, Verdict, judge};
use super::options::RepairOptions;
use super::place::Placing;
use super::scan;
use super::scan::{ChunkSearch, Likeness};
use super::source::{CHUNK_HEADER, DamagedFrame};
use crate::chunk::{Context, Params};
use crate::error::{Part, Result};
use crate::exec::Scratch;
use crate::frame::{Layout, Offsets};
use crate::schunk::is_damage;
use crate::schunk::walk::each_run;
use std::collections::BTreeMap;
use std::ops::Range;

/// The chunks that can be decoded, or of which it is plain where they lie, in the order of lying; `data` is where chunks may be.
fn in_order(
    source: &DamagedFrame,
    data: Range<u64>,
    likeness: &Likeness,
    params: &Params,
    context: &Context,
    options: &RepairOptions,
    scratch: &mut Scratch,
) -> Result<Vec<(u64, Verdict)>> {
    let mut found = Vec::new();
    let mut buffer = Vec::new();
    if source.layout == Layout::Sparse {
        for number in &source.listing.chunks {
            options.common.exec.check_cancelled()?;
            let place = u64::from(*number);
            let verdict = look(source, place, likeness, params, context, &mut buffer, scratch)?;
            // A file of the right name is a chunk of the frame, whatever is in it; an empty one marks a number as used.
            if !buffer.is_empty() {
                found.push((place, verdict));
            }
        }
        return Ok(found);
    }
    let mut search = ChunkSearch::new(source, likeness, data.clone());
    while let Some((at, header)) = search.next()? {
        options.common.exec.check_cancelled()?;
        let end = at.saturating_add(u64::from(header.cbytes()));
        let verdict = look(source, at, likeness, params, context, &mut buffer, scratch)?;
        let plain = match &verdict {
            Verdict::Good(_) => end <= source.len,
            // Where it ends another begins, or nothing more is there: these are its bytes, though not all can be read.
            _ => end >= data.end || likeness.header(&source.part(end, CHUNK_HEADER)?).is_some(),
        };
        if plain {
            found.push((at, verdict));
            search.skip(end);
        } else if !search.wasted(scan::cost(&header, source)) {
            break;
        }
    }
    Ok(found)
}

fn look(
    source: &DamagedFrame,
    place: u64,
    likeness: &Likeness,
    params: &Params,
    context: &Context,
    buffer: &mut Vec<u8>,
    scratch: &mut Scratch,
) -> Result<Verdict> {
    match source.chunk(place, buffer) {
        Ok(header) if likeness.header(buffer).is_some() => {
            let expected = Expected { nbytes: Some(header.nbytes()), params, sums: None };
            judge(buffer, expected, context, scratch)
        }
        Ok(header) => {
            judge(buffer, Expected { nbytes: Some(!header.nbytes()), params, sums: None }, context, scratch)
        }
        Err(error) if is_damage(&error) => Ok(Verdict::Bad(error)),
        Err(error) => Err(error),
    }
}

impl Placing<'_> {
    /// Takes chunks in the order in which they lie.
    pub(super) fn by_order(&mut self, known: Option<u64>) -> Result<()> {
        let found = in_order(
            self.source,
            self.survey.data.clone(),
            &self.likeness,
            &self.params,
            &self.context,
            self.options,
            &mut self.scratch,
        )?;
        let count = found.len() as u64;
        if known.is_none() {
            self.make_room(count)?;
        }
        let numbers: Vec<Option<u64>> = match &self.survey.offsets {
            Some(offsets) => match ranks(offsets, count)? {
                Some(numbers) => numbers,
                None => return Ok(()),
            },
            None => {
                let n = self.fates.len();
                let by_name =
                    self.source.layout == Layout::Sparse && found.last().is_none_or(|(last, _)| *last < n);
                found
                    .iter()
                    .zip(0u64..)
                    .map(|((place, _), at)| Some(if by_name { *place } else { at }))
                    .collect()
            }
        };
        let mut taken = 0u64;
        for ((place, verdict), n) in found.into_iter().zip(numbers) {
            let Some(n) = n.filter(|n| self.fates.is_unknown(*n) && !self.is_judged(*n)) else { continue };
            let (_, fits) = (self.buffer.clear(), self.nbytes(n));
            let right = self
                .source
                .chunk(place, &mut self.buffer)
                .is_ok_and(|header| fits.is_none_or(|expected| expected == header.nbytes()));
            if right {
                taken = taken.saturating_add(1);
                self.settle(n, place, verdict)?;
            }
        }
        if taken > 0 {
            let all = self.fates.len();
            self.report.guessed(
                Part::Offsets,
                format!("nothing tells which chunk is which: of {count} that were found, {taken} were taken in the order in which they lie, for {all}"),
            );
        }
        Ok(())
    }
}

/// Which chunk each of `count` chunks is that lie in the order of their offsets; `None` where there are not as many offsets.
fn ranks(offsets: &Offsets, count: u64) -> Result<Option<Vec<Option<u64>>>> {
    let mut firsts = BTreeMap::new();
    each_run(offsets, |raw, run| {
        // One more than there are chunks tells as much as all.
        if raw >= 0 && firsts.len() as u64 <= count {
            firsts.entry(raw).or_insert(run.start);
        }
        Ok(())
    })?;
    let numbers: Vec<Option<u64>> = firsts.into_values().map(Some).collect();
    Ok(Some(numbers).filter(|numbers| numbers.len() as u64 == count))
}
