//! What a handle knows of changes that are not committed.

use crate::frame::{Header, Space, Trailer, Undo};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What has changed since the last commit, and how to take it back.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Not committed once: there is nothing at the path yet.
    pub(super) unpublished: bool,
    /// Whether there is anything to commit.
    pub(super) dirty: bool,
    /// Whether chunks were written past the committed end.
    pub(super) wrote_chunks: bool,
    /// Contiguous: where the last of the chunks that were written since ends.
    pub(super) end: u64,
    /// Contiguous: what may be written where.
    pub(super) space: Space,
    /// Whether this transaction has asked whether older states are still read.
    pub(super) space_is_open: bool,
    /// Whether dead bytes were looked for that others have left.
    pub(super) surveyed: bool,
    /// The process that opened the frame: a forked child has the handle too.
    pub(super) process: u32,
    /// Sparse: files that nothing refers to, but perhaps a reader of an older state.
    pub(super) kept: Vec<u32>,
    /// Sparse: the bytes of all chunk files.
    pub(super) chunk_bytes: u64,
    /// Sparse: the same, at the last commit.
    pub(super) old_chunk_bytes: u64,
    /// Sparse: the number of the next chunk file.
    pub(super) next_file: u64,
    /// Sparse: the first number that the last commit did not know.
    pub(super) first_new: u64,
    /// The way back to the committed offsets, to be gone from the last to the first.
    pub(super) undo: Vec<Undo>,
    /// Sparse: files put since the last commit and referred to.
    pub(super) added: BTreeSet<u32>,
    /// Sparse: files of the last commit that nothing refers to any more.
    pub(super) obsolete: Vec<u32>,
    /// Sparse: a file that nothing refers to and that stays, as its number is the highest that was given.
    pub(super) emptied: Option<u32>,
    /// Header and trailer of the last commit, when they have changed.
    pub(super) old: Option<(Arc<Header>, Arc<Trailer>)>,
}

impl Changes {
    /// Of a new frame, whose first chunk goes to `end`.
    pub(super) fn of_new(end: u64) -> Self {
        let mut changes = Changes { unpublished: true, surveyed: true, ..Changes::default() };
        changes.process = std::process::id();
        changes.restart(end);
        changes
    }
    /// The first chunk of a new frame goes to `end`.
    pub(super) fn restart(&mut self, end: u64) {
        self.end = end;
        self.space = Space::new(true, end..end, end);
    }
    /// Whether the handle is used by the process that opened it.
    pub(super) fn is_own_process(&self) -> bool {
        self.process == std::process::id()
    }
}
