//! Requests of a sans-I/O reader: ranges of files, within a budget.

use super::FileId;
use crate::error::Result;
use std::ops::Range;

/// A range of bytes of one file of a frame that a machine needs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FileRange {
    /// The file.
    pub file: FileId,
    /// The bytes, counted from the start of the frame (of the chunk file).
    pub range: Range<u64>,
    /// Whether the file may end inside the range; then the bytes up to its end are supplied.
    pub may_be_short: bool,
}

impl FileRange {
    /// A range that must lie within the file.
    pub fn new(file: FileId, range: Range<u64>) -> Self {
        FileRange { file, range, may_be_short: false }
    }
    /// The number of bytes.
    pub fn len(&self) -> u64 {
        self.range.end.saturating_sub(self.range.start)
    }
    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The most that may be requested and not yet supplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadBudget {
    /// The number of ranges.
    pub ranges: usize,
    /// The sum of their bytes. A single range may be longer.
    pub bytes: u64,
}

impl ReadBudget {
    /// A budget of this many ranges and bytes.
    pub const fn new(ranges: usize, bytes: u64) -> Self {
        ReadBudget { ranges, bytes }
    }
}

impl Default for ReadBudget {
    /// 64 ranges and 64 MiB.
    fn default() -> Self {
        ReadBudget::new(64, 64 << 20)
    }
}

/// Result of a step of a sans-I/O reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Ranges to supply, each named once. Empty while everything known to be needed was requested and is not yet supplied.
    Need(Vec<FileRange>),
    /// Nothing: it is done.
    Done,
}

/// A read that names the ranges it needs, and takes their bytes in any order: a [`Reader`](crate::array::Reader), seen by a store.
pub trait Machine {
    /// What is needed next and was not named before, with at most `budget` asked for and not supplied.
    ///
    /// # Errors
    /// Where the bytes so far are damaged, or cost too much.
    fn step(&mut self, budget: &ReadBudget) -> Result<Step>;
    /// Takes the bytes of a range that was named.
    ///
    /// # Errors
    /// For bytes that were not asked for, and damaged ones.
    fn supply(&mut self, range: &FileRange, bytes: &[u8]) -> Result<()>;
}
