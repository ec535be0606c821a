//! The ranges that a reader has asked for and not got: found again when bytes arrive joined, divided or out of order.

use crate::error::{Error, Result};
use crate::io::{FileId, FileRange, ReadBudget};
use crate::limits::zeroed;
use std::collections::BTreeMap;
use std::ops::Range;

/// A range that was asked for, in the order of files and starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct AskedKey {
    file: FileId,
    start: u64,
    /// The number of the chunk that asks for it.
    chunk: usize,
    end: u64,
}

impl AskedKey {
    /// Before all ranges that start at `start` or later.
    fn first(file: FileId, start: u64) -> Self {
        AskedKey { file, start, chunk: 0, end: 0 }
    }
    fn len(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
    fn range(&self) -> Range<u64> {
        self.start..self.end
    }
}

/// Ranges that were supplied before they can be decoded.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Early {
    pub(super) bytes: u64,
    pub(super) ranges: usize,
}

/// Ranges by file and start; several chunks may ask for the same.
#[derive(Default)]
pub(super) struct Asked {
    ranges: BTreeMap<AskedKey, AskedRange>,
    bytes: u64,
    /// How many ranges have each length: none is longer than the last.
    lengths: BTreeMap<u64, usize>,
    early: Early,
}

struct AskedRange {
    may_be_short: bool,
    /// Whether the caller was told of it; one that lies in another is answered with that.
    named: bool,
    /// What has come of a range that arrives in parts.
    parts: Option<PartialRange>,
}

/// A range of which parts have come: its bytes, and which of them those are, in order and apart.
struct PartialRange {
    bytes: Vec<u8>,
    come: Vec<Range<u64>>,
}

impl PartialRange {
    /// Notes that `part` has come.
    fn note(&mut self, part: Range<u64>) {
        let first = self.come.partition_point(|other| other.end < part.start);
        let last = self.come.partition_point(|other| other.start <= part.end);
        let met = self.come.get(first..last).unwrap_or_default();
        let start = met.first().map_or(part.start, |other| other.start.min(part.start));
        let end = met.last().map_or(part.end, |other| other.end.max(part.end));
        self.come.splice(first..last.max(first), std::iter::once(start..end));
    }
}

/// What a range was answered with.
pub(super) enum Answer {
    /// A part of the bytes that were supplied.
    Borrowed(Range<u64>, bool),
    /// Bytes that arrived in parts.
    Joined(Range<u64>, Vec<u8>),
}

impl Answer {
    /// The range, its bytes, and whether the file ends with them.
    pub(super) fn parts<'a>(&'a self, supplied: &FileRange, bytes: &'a [u8]) -> (FileRange, &'a [u8], bool) {
        match self {
            Answer::Borrowed(range, ended) => {
                let from =
                    usize::try_from(range.start.saturating_sub(supplied.range.start)).unwrap_or(usize::MAX);
                let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
                let found = bytes.get(from..).map(|rest| rest.get(..len).unwrap_or(rest)).unwrap_or_default();
                (FileRange::new(supplied.file, range.clone()), found, *ended)
            }
            Answer::Joined(range, joined) => (FileRange::new(supplied.file, range.clone()), joined, false),
        }
    }
}

impl Asked {
    /// Whether another range may be asked for.
    pub(super) fn has_room(&self, budget: &ReadBudget) -> bool {
        self.ranges.is_empty()
            || self.ranges.len().saturating_add(self.early.ranges) < budget.ranges
                && self.bytes.saturating_add(self.early.bytes) < budget.bytes
    }

    /// Notes that ranges were supplied and are kept until others have come.
    pub(super) fn hold(&mut self, more: Early) {
        let Early { bytes, ranges } = &mut self.early;
        *bytes = bytes.saturating_add(more.bytes);
        *ranges = ranges.saturating_add(more.ranges);
    }

    /// Notes that what [`Asked::hold`] was told of is kept no longer.
    pub(super) fn release(&mut self, less: Early) {
        let Early { bytes, ranges } = &mut self.early;
        *bytes = bytes.saturating_sub(less.bytes);
        *ranges = ranges.saturating_sub(less.ranges);
    }

    fn longest(&self) -> u64 {
        self.lengths.last_key_value().map_or(0, |(len, _)| *len)
    }

    /// Notes a range that chunk `n` asks for; whether it has to be named, as no range that was named before has its bytes.
    pub(super) fn add(&mut self, n: usize, range: &FileRange) -> bool {
        let (file, start, end) = (range.file, range.range.start, range.range.end);
        let from = AskedKey::first(file, start.saturating_sub(self.longest()));
        let last = AskedKey { file, start, chunk: usize::MAX, end: u64::MAX };
        let mut before = self.ranges.range(from..=last);
        // Of a range that arrives in parts, those that came are gone.
        let named = !before.any(|(key, entry)| entry.named && entry.parts.is_none() && key.end >= end);
        let entry = AskedRange { may_be_short: range.may_be_short, named, parts: None };
        if self.ranges.insert(AskedKey { file, start, chunk: n, end }, entry).is_none() {
            self.bytes = self.bytes.saturating_add(range.len());
            let count = self.lengths.entry(range.len()).or_default();
            *count = count.saturating_add(1);
        }
        named
    }

    /// Takes bytes; returns the ranges that are complete with them, each with the chunk that asked for it.
    pub(super) fn supply(&mut self, range: &FileRange, bytes: &[u8]) -> Result<Vec<(usize, Answer)>> {
        let Range { start, end } = range.range;
        let short = (bytes.len() as u64) < range.len();
        let from = AskedKey::first(range.file, start.saturating_sub(self.longest()));
        let keys: Vec<AskedKey> = self
            .ranges
            .range(from..AskedKey::first(range.file, end))
            .map(|(key, _)| *key)
            .filter(|key| key.end > start && key.start < end)
            .collect();
        let first = keys.iter().map(|key| key.start).min();
        let last = keys.iter().map(|key| key.end).max();
        if range.is_empty() || first.is_none_or(|first| start < first) || last.is_none_or(|last| end > last) {
            return Err(not_asked(range));
        }
        let is_whole = |key: &AskedKey| key.range() == range.range;
        let entry = |key: &AskedKey| self.ranges.get(key);
        let may_be_short = keys.iter().any(|key| is_whole(key) && entry(key).is_some_and(|e| e.may_be_short));
        if bytes.len() as u64 != range.len() && !(short && may_be_short) {
            let (found, due) = (bytes.len(), range.len());
            return Err(Error::usage(format!("{found} bytes are supplied for a range of {due} bytes")));
        }
        // One range that was asked for answers that range; several that are joined answer all that lie in them.
        let exact = keys.iter().any(|key| is_whole(key) && entry(key).is_some_and(|e| e.named));
        let there = start.saturating_add(bytes.len() as u64);
        let mut complete = Vec::new();
        for key in keys {
            let apart = self.ranges.get(&key).is_some_and(|entry| entry.named) && !is_whole(&key);
            if exact && apart {
                continue;
            }
            if start <= key.start && key.end <= end {
                self.forget(&key);
                complete.push((key.chunk, Answer::Borrowed(key.range(), key.end > there)));
            } else if let Some(joined) = self.add_part(&key, start, bytes)? {
                complete.push((key.chunk, Answer::Joined(key.range(), joined)));
            }
        }
        Ok(complete)
    }

    fn forget(&mut self, key: &AskedKey) -> Option<AskedRange> {
        let entry = self.ranges.remove(key)?;
        let len = key.len();
        self.bytes = self.bytes.saturating_sub(len);
        if let Some(count) = self.lengths.get_mut(&len) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.lengths.remove(&len);
            }
        }
        Some(entry)
    }

    /// Takes a part of a range; returns its bytes when that was the last.
    fn add_part(&mut self, key: &AskedKey, start: u64, bytes: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(entry) = self.ranges.get_mut(key) else { return Ok(None) };
        if entry.parts.is_none() {
            let bytes = zeroed("a range that arrives in parts", key.len())?;
            entry.parts = Some(PartialRange { bytes, come: Vec::new() });
        }
        let Some(parts) = &mut entry.parts else { return Ok(None) };
        let end = start.saturating_add(bytes.len() as u64);
        let part = start.max(key.start)..end.min(key.end);
        let place = |from: u64, base: u64| usize::try_from(from.saturating_sub(base)).unwrap_or(usize::MAX);
        let from = bytes.get(place(part.start, start)..place(part.end, start));
        if let (Some(to), Some(from)) =
            (parts.bytes.get_mut(place(part.start, key.start)..place(part.end, key.start)), from)
        {
            to.copy_from_slice(from);
        }
        parts.note(part);
        if parts.come.first() != Some(&key.range()) {
            return Ok(None);
        }
        Ok(self.forget(key).and_then(|entry| entry.parts).map(|parts| parts.bytes))
    }
}

/// The error for bytes that nobody asked for.
pub(super) fn not_asked(range: &FileRange) -> Error {
    let Range { start, end } = range.range;
    Error::usage(format!("bytes {start} to {end} of {:?} were not requested", range.file))
}
