//! What is known of each chunk, kept by runs: a claim of millions of chunks costs nothing until they differ.

use crate::error::Error;
use std::collections::BTreeMap;
use std::ops::Range;

/// What is known of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Unknown,
    /// It is no more than this offset.
    Special(i64),
    /// At a position of the frame file, or in the file of this number.
    Stored(u64),
}

/// What is known of all chunks.
#[derive(Debug, Default)]
pub(super) struct Fates {
    len: u64,
    /// By the first chunk of a run, up to the next.
    runs: BTreeMap<u64, Fate>,
}

/// About what a run costs in memory.
pub(super) const RUN_BYTES: u64 = 48;

impl Fates {
    /// Of `len` chunks, of which nothing is known.
    pub(super) fn new(len: u64) -> Self {
        Fates { len, runs: std::iter::once((0, Fate::Unknown)).filter(|_| len > 0).collect() }
    }

    /// The number of chunks.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The number of runs.
    pub(super) fn count(&self) -> u64 {
        self.runs.len() as u64
    }

    /// What is known of chunk `n`; `None` where there is no such chunk.
    pub(super) fn get(&self, n: u64) -> Option<Fate> {
        self.runs.range(..=n).next_back().map(|(_, fate)| *fate).filter(|_| n < self.len)
    }

    pub(super) fn is_unknown(&self, n: u64) -> bool {
        self.get(n) == Some(Fate::Unknown)
    }

    /// Sets what is known of some chunks; those that there are not are left out.
    pub(super) fn set(&mut self, chunks: Range<u64>, fate: Fate) {
        let (start, end) = (chunks.start, chunks.end.min(self.len));
        if start >= end {
            return;
        }
        let behind = self.get(end);
        while let Some(inside) = self.runs.range(start..=end).next().map(|(first, _)| *first) {
            self.runs.remove(&inside);
        }
        // Runs of the same are one.
        if self.runs.range(..start).next_back().is_none_or(|(_, before)| *before != fate) {
            self.runs.insert(start, fate);
        }
        if let Some(behind) = behind.filter(|behind| *behind != fate) {
            self.runs.insert(end, behind);
        }
    }

    /// All runs, in order.
    pub(super) fn runs(&self) -> impl Iterator<Item = (Range<u64>, Fate)> {
        let ends = self.runs.keys().skip(1).copied().chain(std::iter::once(self.len));
        self.runs.iter().zip(ends).map(|((start, fate), end)| (*start..end, *fate))
    }

    /// The runs of chunks of which nothing is known.
    pub(super) fn missing(&self) -> impl Iterator<Item = Range<u64>> {
        self.runs().filter(|(_, fate)| *fate == Fate::Unknown).map(|(chunks, _)| chunks)
    }
}

/// Why chunks are not where they should be: the first reason for each, and no more reasons than a list has entries.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    /// By the first chunk: the end of a run, and the reason.
    runs: BTreeMap<u64, (u64, Error)>,
    most: usize,
}

impl Reasons {
    pub(super) fn new(most: usize) -> Self {
        Reasons { runs: BTreeMap::new(), most }
    }

    /// Notes a reason for some chunks, those that have none yet.
    pub(super) fn note(&mut self, chunks: Range<u64>, reason: impl FnOnce() -> Error) {
        let next = self.runs.range(chunks.start..).next().map_or(u64::MAX, |(start, _)| *start);
        let end = chunks.end.min(next);
        let known =
            self.runs.range(..=chunks.start).next_back().is_some_and(|(_, (end, _))| *end > chunks.start);
        if !known && chunks.start < end && self.runs.len() < self.most {
            self.runs.insert(chunks.start, (end, reason()));
        }
    }

    /// The reason for the first of some chunks, and how many of them it is for; `None` where none was noted.
    pub(super) fn take(&mut self, chunks: &Range<u64>) -> (Option<Error>, u64) {
        let found = self.runs.range(..=chunks.start).next_back();
        if let Some((start, end)) =
            found.map(|(start, (end, _))| (*start, *end)).filter(|(_, end)| *end > chunks.start)
        {
            let end = end.min(chunks.end);
            return (self.runs.remove(&start).map(|(_, error)| error), end);
        }
        let next = self.runs.range(chunks.start..).next().map_or(chunks.end, |(start, _)| *start);
        (None, next.min(chunks.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Part;

    #[test]
    fn runs_are_as_one_fate_for_each_chunk() {
        let mut seed = 1u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for len in [1, 2, 7, 40] {
            let mut fates = Fates::new(len);
            let mut model = vec![Fate::Unknown; len as usize];
            for _ in 0..500 {
                let start = random(len);
                let end = start + random(len - start + 3);
                let fate =
                    [Fate::Unknown, Fate::Special(-1), Fate::Stored(1), Fate::Stored(2)][random(4) as usize];
                fates.set(start..end, fate);
                model[start as usize..end.min(len) as usize].fill(fate);
                assert!((0..len).all(|n| fates.get(n) == Some(model[n as usize])));
                let runs: Vec<_> = fates.runs().collect();
                assert_eq!(runs.iter().map(|(run, _)| run.end - run.start).sum::<u64>(), len);
                assert!(runs.windows(2).all(|two| two[0].0.end == two[1].0.start && two[0].1 != two[1].1));
                let missing: Vec<u64> = fates.missing().flatten().collect();
                assert!(missing.iter().all(|n| model[*n as usize] == Fate::Unknown));
                assert_eq!(missing.len(), model.iter().filter(|fate| **fate == Fate::Unknown).count());
            }
            assert_eq!(fates.get(len), None);
        }
    }

    #[test]
    fn the_first_reason_counts_and_no_more_than_some_are_kept() {
        let error = |n: u64| Error::format(Part::Offsets, n, "gone");
        let mut why = Reasons::new(3);
        why.note(5..6, || error(0));
        why.note(2..8, || error(1));
        why.note(5..9, || error(2));
        why.note(10..20, || error(3));
        why.note(30..31, || error(4));
        let mut told = Vec::new();
        let mut rest = 0..40;
        while !rest.is_empty() {
            let (reason, end) = why.take(&rest);
            let at = match reason {
                Some(Error::Format(error)) => error.offset(),
                _ => None,
            };
            told.push((rest.start, end, at));
            rest.start = end;
        }
        assert_eq!(
            told,
            [
                (0, 2, None),
                (2, 5, Some(1)),
                (5, 6, Some(0)),
                (6, 10, None),
                (10, 20, Some(3)),
                (20, 40, None)
            ]
        );
    }
}
