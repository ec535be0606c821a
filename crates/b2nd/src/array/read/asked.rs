//! The ranges that a reader has asked for and not got: found again when bytes arrive joined, divided or out of order.

use crate::error::{Error, Result};
use crate::io::{FileId, FileRange, ReadBudget};
use crate::limits::zeroed;
use std::collections::BTreeMap;
use std::ops::Range;

/// Ranges by file and start; several chunks may ask for the same.
#[derive(Default)]
pub(super) struct Asked {
    ranges: BTreeMap<(FileId, u64, usize), Entry>,
    bytes: u64,
    /// No range is longer.
    longest: u64,
}

struct Entry {
    end: u64,
    may_be_short: bool,
    /// Whether the caller was told of it; one that lies in another is answered with that.
    named: bool,
    /// What has come of a range that arrives in parts, and which parts those are.
    parts: Option<(Vec<u8>, Vec<Range<u64>>)>,
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
        self.ranges.is_empty() || self.ranges.len() < budget.ranges && self.bytes < budget.bytes
    }

    /// Notes a range that chunk `n` asks for; whether it has to be named, as no range that was named before has its bytes.
    pub(super) fn add(&mut self, n: usize, range: &FileRange) -> bool {
        let (file, start, end) = (range.file, range.range.start, range.range.end);
        let mut before =
            self.ranges.range((file, start.saturating_sub(self.longest), 0)..=(file, start, usize::MAX));
        let named = !before.any(|(_, entry)| entry.named && entry.end >= end);
        self.bytes = self.bytes.saturating_add(range.len());
        self.longest = self.longest.max(range.len());
        let entry = Entry { end, may_be_short: range.may_be_short, named, parts: None };
        self.ranges.insert((file, start, n), entry);
        named
    }

    /// Takes bytes; returns the ranges that are complete with them, each with the chunk that asked for it.
    pub(super) fn supply(&mut self, range: &FileRange, bytes: &[u8]) -> Result<Vec<(usize, Answer)>> {
        let Range { start, end } = range.range;
        let short = (bytes.len() as u64) < range.len();
        let from = (range.file, start.saturating_sub(self.longest), 0);
        let keys: Vec<_> = self
            .ranges
            .range(from..(range.file, end, 0))
            .filter(|((_, at, _), entry)| entry.end > start && *at < end)
            .map(|(key, entry)| (*key, entry.end))
            .collect();
        let first = keys.iter().map(|((_, at, _), _)| *at).min();
        let last = keys.iter().map(|(_, end)| *end).max();
        if range.is_empty() || first.is_none_or(|first| start < first) || last.is_none_or(|last| end > last) {
            return Err(not_asked(range));
        }
        let whole = |key: &(FileId, u64, usize), entry: &Entry| key.1 == start && entry.end == end;
        let may_be_short =
            keys.iter().all(|(key, _)| self.ranges.get(key).is_some_and(|e| e.may_be_short && whole(key, e)));
        if bytes.len() as u64 != range.len() && !(short && may_be_short) {
            let (found, due) = (bytes.len(), range.len());
            return Err(Error::length(
                due,
                found,
                format!("{found} bytes are supplied for a range of {due}"),
            ));
        }
        // One range that was asked for answers that range; several that are joined answer all that lie in them.
        let exact =
            keys.iter().any(|(key, _)| self.ranges.get(key).is_some_and(|e| e.named && whole(key, e)));
        let mut complete = Vec::new();
        for (key, asked_end) in keys {
            let (_, at, n) = key;
            let other = self.ranges.get(&key).is_some_and(|entry| entry.named && !whole(&key, entry));
            if exact && other {
                continue;
            }
            if start <= at && asked_end <= end {
                self.forget(&key);
                complete.push((n, Answer::Borrowed(at..asked_end, short)));
            } else if let Some(joined) = self.add_part(&key, start, bytes)? {
                complete.push((n, Answer::Joined(at..asked_end, joined)));
            }
        }
        Ok(complete)
    }

    fn forget(&mut self, key: &(FileId, u64, usize)) -> Option<Entry> {
        let entry = self.ranges.remove(key)?;
        self.bytes = self.bytes.saturating_sub(entry.end.saturating_sub(key.1));
        Some(entry)
    }

    /// Takes a part of a range; returns its bytes when that was the last.
    fn add_part(&mut self, key: &(FileId, u64, usize), start: u64, bytes: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(entry) = self.ranges.get_mut(key) else { return Ok(None) };
        let at = key.1;
        if entry.parts.is_none() {
            entry.parts =
                Some((zeroed("a range that arrives in parts", entry.end.saturating_sub(at))?, Vec::new()));
        }
        let Some((joined, parts)) = &mut entry.parts else { return Ok(None) };
        let end = start.saturating_add(bytes.len() as u64);
        let part = start.max(at)..end.min(entry.end);
        let place = |from: u64, base: u64| usize::try_from(from.saturating_sub(base)).unwrap_or(usize::MAX);
        let from = bytes.get(place(part.start, start)..place(part.end, start));
        if let (Some(to), Some(from)) = (joined.get_mut(place(part.start, at)..place(part.end, at)), from) {
            to.copy_from_slice(from);
        }
        parts.push(part);
        parts.sort_unstable_by_key(|part| part.start);
        let mut reached = at;
        for part in parts.iter() {
            if part.start <= reached {
                reached = reached.max(part.end);
            }
        }
        if reached < entry.end {
            return Ok(None);
        }
        Ok(self.forget(key).and_then(|entry| entry.parts).map(|(joined, _)| joined))
    }
}

/// The error for bytes that nobody asked for.
pub(super) fn not_asked(range: &FileRange) -> Error {
    let Range { start, end } = range.range;
    Error::usage(format!("bytes {start} to {end} of {:?} were not asked for", range.file))
}
