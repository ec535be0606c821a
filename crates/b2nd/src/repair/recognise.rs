//! Chunks known by their checksums, wherever they lie; and offsets known by theirs.

use super::fates::Fate;
use super::judge::Verdict;
use super::place::{Placing, is_possible};
use super::scan::ChunkSearch;
use crate::chunk;
use crate::chunk::{ChunkHeader, Special, Sums};
use crate::error::{Part, Result};
use crate::exec::Exec;
use crate::frame::{ChunkOffset, Layout, Offsets};
use crate::schunk::ChecksumStatus;
use std::collections::HashMap;
use std::ops::Range;

/// Of how many chunks that begin alike one is held against, block by block.
const MOST_PARTIAL: usize = 16;

impl Placing<'_> {
    /// Looks everywhere for chunks that are missing and have checksums.
    pub(super) fn by_checksums(&mut self) -> Result<()> {
        let mut wanted: HashMap<u64, Vec<u64>> = HashMap::new();
        for n in self.missing_listed() {
            if let Some(entry) = self.sums(n, 0).and_then(|(sums, _)| sums.get(0)) {
                wanted.entry(entry).or_default().push(n);
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let before = self.matching;
        if self.source.layout == Layout::Sparse {
            for number in self.source.listing.chunks.clone() {
                self.options.common.exec.check_cancelled()?;
                let place = u64::from(number);
                if let Ok(header) = self.source.chunk(place, &mut self.buffer) {
                    self.recognise(place, &header, &mut wanted)?;
                }
            }
        } else {
            let (likeness, source) = (self.likeness.clone(), self.source);
            let mut search = ChunkSearch::new(source, &likeness, 0..source.len);
            while let Some((at, header)) = search.next()? {
                self.options.common.exec.check_cancelled()?;
                let read = self.read_head(at, &header)?;
                if self.recognise(at, &header, &mut wanted)? {
                    search.skip(at.saturating_add(u64::from(header.cbytes())));
                } else if !search.wasted(read.max(self.cost)) {
                    let at = search.place();
                    self.report.guessed(
                        Part::Offsets,
                        format!("no chunk was looked for behind byte {at}: too much looks like one"),
                    );
                    break;
                }
                if wanted.is_empty() {
                    break;
                }
            }
        }
        let found = self.matching.saturating_sub(before);
        if found > 0 {
            self.report
                .restored(Part::Offsets, format!("the places of {found} chunks: found by their checksums"));
        }
        Ok(())
    }

    /// Reads as much of a chunk into the buffer as its first entry is over; how much that was.
    fn read_head(&mut self, at: u64, header: &ChunkHeader) -> Result<u64> {
        let mut len = 32;
        loop {
            self.buffer = self.source.part(at, len)?;
            match chunk::head_len(header, &self.buffer) {
                Ok(more) if more as u64 > len && self.buffer.len() as u64 == len => len = more as u64,
                _ => return Ok(len),
            }
        }
    }

    /// Whether the chunk at a place, whose start is in the buffer, is among the wanted ones; they are then no more.
    fn recognise(
        &mut self,
        at: u64,
        header: &ChunkHeader,
        wanted: &mut HashMap<u64, Vec<u64>>,
    ) -> Result<bool> {
        self.cost = 0;
        let len = chunk::head_len(header, &self.buffer).unwrap_or(usize::MAX);
        let Some(entry) = self.buffer.get(..len).map(chunk::hash) else { return Ok(false) };
        let Some(numbers) = wanted.remove(&entry) else { return Ok(false) };
        self.source.chunk(at, &mut self.buffer)?;
        let all = chunk::hashes(&self.buffer).unwrap_or_default();
        let mut left = Vec::new();
        let each = u64::from(header.cbytes());
        self.cost = each.saturating_add(16 * numbers.len() as u64);
        for n in numbers {
            if self.sums(n, at).is_some_and(|(sums, _)| matches_all(&sums, &all)) {
                self.settle(n, at, Verdict::Good(ChecksumStatus::Matching))?;
            } else {
                // Blocks of it may be whole, unless a better one turns up.
                if left.len() < MOST_PARTIAL && !self.partial.contains_key(&n) {
                    self.cost = self.cost.saturating_add(each);
                    let verdict = self.look(n, at)?;
                    self.settle(n, at, verdict)?;
                    self.source.chunk(at, &mut self.buffer)?;
                }
                left.push(n);
            }
        }
        let found = left.is_empty();
        if !found {
            wanted.insert(entry, left);
        }
        Ok(found)
    }

    /// Chunks that were no more than an offset: where the places of all others are known, the checksum of the offsets tells what
    /// they were. Where it does not, offsets that do not match it are better than none.
    pub(super) fn by_proof(&mut self) -> Result<()> {
        let survey = self.survey;
        let (None, Some(layer), true) = (&survey.offsets, &survey.layer, self.is_missing()) else {
            return Ok(());
        };
        let unlisted = |n: u64| matches!(layer.sums(n, 0), Ok(None));
        let hint = |n: u64| survey.hint.as_ref().and_then(|hint| hint.raw(n).ok());
        let start = match self.source.layout {
            Layout::Contiguous => survey.base.saturating_add(survey.header.len()),
            Layout::Sparse => 0,
        };
        let stored = |place: u64| i64::try_from(place.saturating_sub(start)).ok();
        // The offsets are made and compressed, as they are stored.
        let kinds = if self.fates.len().saturating_mul(24) <= self.allowed {
            &[Special::Zeros, Special::Uninit, Special::Nan][..]
        } else {
            &[]
        };
        for kind in kinds {
            let Some(raw) = ChunkOffset::Special(*kind).to_raw() else { continue };
            let mut known = true;
            let offsets = Offsets::collect(self.fates.len(), |n| {
                let found = match self.fates.get(n) {
                    Some(Fate::Stored(place)) => stored(place),
                    Some(Fate::Special(raw)) => Some(raw),
                    _ if unlisted(n) => Some(raw),
                    _ => self.partial.get(&n).and_then(|(place, _)| stored(*place)).or_else(|| hint(n)),
                };
                known &= found.is_some();
                Ok(found.unwrap_or(0))
            })?;
            if known && chunk::hash(&offsets.encode(&Exec::new(1))?) == layer.offsets {
                self.become_special(|n| unlisted(n).then_some(raw))?;
                self.report.restored(Part::Offsets, "made anew: they match their checksum");
                return Ok(());
            }
        }
        let specials = |n: u64| hint(n).filter(|raw| unlisted(n) && *raw < 0);
        let taken = self.become_special(specials)?;
        if taken > 0 {
            let what = format!(
                "they do not match their checksum, and say of {taken} chunks what nothing else tells"
            );
            self.report.guessed(Part::Offsets, what);
        }
        Ok(())
    }

    /// Makes missing chunks what `raw` says that they are; how many.
    fn become_special(&mut self, raw: impl Fn(u64) -> Option<i64>) -> Result<u64> {
        let mut taken = 0u64;
        let header = &self.survey.header;
        let missing: Vec<Range<u64>> = self.fates.missing().collect();
        for n in missing.into_iter().flatten() {
            if let Some(raw) = raw(n)
                && matches!(ChunkOffset::from_raw(raw), Ok(ChunkOffset::Special(kind)) if is_possible(header, kind))
            {
                self.set_fate(n..n.saturating_add(1), Fate::Special(raw))?;
                taken = taken.saturating_add(1);
            }
        }
        Ok(taken)
    }
}

/// Whether these entries are all that a chunk has to have.
pub(super) fn matches_all(sums: &Sums, all: &[u64]) -> bool {
    sums.count == all.len() && (0..).zip(all).all(|(index, entry)| sums.get(index) == Some(*entry))
}
