//! Uncommitted changes of a handle.

use crate::frame::{FrameHeader, Layout, Space, Trailer, Undo};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Changes since the last commit, and how to undo them.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Whether the frame was never committed, so that its path does not exist yet.
    pub(super) unpublished: bool,
    /// Whether there is anything to commit.
    pub(super) dirty: bool,
    /// The process that opened the frame: a forked child has the handle too.
    pub(super) process: u32,
    /// Steps that undo changes of the offsets, to be applied from the last to the first.
    pub(super) undo: Vec<Undo>,
    /// Header and trailer of the last commit, when they have changed.
    pub(super) old: Option<(Arc<FrameHeader>, Arc<Trailer>)>,
    pub(super) layout: LayoutChanges,
}

/// Changes of the files of a frame.
#[derive(Debug)]
pub(super) enum LayoutChanges {
    Contiguous(FileChanges),
    Sparse(DirectoryChanges),
}

/// Changes of the file of a contiguous frame.
#[derive(Debug, Default)]
pub(super) struct FileChanges {
    /// Where the last of the chunks ends that were written since the last commit.
    pub(super) end: u64,
    /// Free and used bytes of the file.
    pub(super) space: Space,
    /// Whether chunks were written since the last commit.
    pub(super) wrote_chunks: bool,
    /// Whether this transaction has asked whether older states are still read.
    pub(super) space_is_open: bool,
    /// Whether dead bytes of earlier writers were searched for.
    pub(super) surveyed: bool,
}

/// Changes of the chunk files of a sparse frame.
#[derive(Debug, Default)]
pub(super) struct DirectoryChanges {
    /// Files that nothing refers to, but perhaps a reader of an older state.
    pub(super) kept: Vec<u32>,
    /// The bytes of all chunk files.
    pub(super) chunk_bytes: u64,
    /// The same, at the last commit.
    pub(super) old_chunk_bytes: u64,
    /// The number of the next chunk file.
    pub(super) next_file: u64,
    /// The first number that the last commit did not know.
    pub(super) first_new: u64,
    /// Files put since the last commit and referred to.
    pub(super) added: BTreeSet<u32>,
    /// Chunk files of the last commit that nothing refers to now.
    pub(super) obsolete: Vec<u32>,
    /// A file that nothing refers to and that stays, as its number is the highest that was given.
    pub(super) emptied: Option<u32>,
}

impl Changes {
    /// Changes of a new frame; the first chunk of a contiguous one goes to `end`.
    pub(super) fn of_new(layout: Layout, end: u64) -> Self {
        let layout = match layout {
            Layout::Contiguous => {
                LayoutChanges::Contiguous(FileChanges { surveyed: true, ..FileChanges::default() })
            }
            Layout::Sparse => LayoutChanges::Sparse(DirectoryChanges::default()),
        };
        let mut changes =
            Changes { unpublished: true, process: std::process::id(), layout, ..Changes::default() };
        changes.restart(end);
        changes
    }
    /// The first chunk of a new contiguous frame goes to `end`.
    pub(super) fn restart(&mut self, end: u64) {
        if let Some(file) = self.file_mut() {
            file.end = end;
            file.space = Space::new(true, end..end, end);
        }
    }
    /// Starts a new set of changes, on top of a committed frame of `frame_len` bytes.
    pub(super) fn settle(&mut self, frame_len: u64) {
        self.unpublished = false;
        self.dirty = false;
        self.undo.clear();
        self.old = None;
        match &mut self.layout {
            LayoutChanges::Contiguous(file) => file.settle(frame_len),
            LayoutChanges::Sparse(files) => files.settle(),
        }
    }
    /// Whether the handle is used by the process that opened it.
    pub(super) fn is_own_process(&self) -> bool {
        self.process == std::process::id()
    }
    /// Whether chunks were written since the last commit that are still there.
    pub(super) fn has_chunks(&self) -> bool {
        match &self.layout {
            LayoutChanges::Contiguous(file) => file.wrote_chunks,
            LayoutChanges::Sparse(files) => !files.added.is_empty(),
        }
    }
    /// Changes of the file of a contiguous frame.
    pub(super) fn file(&self) -> Option<&FileChanges> {
        match &self.layout {
            LayoutChanges::Contiguous(file) => Some(file),
            LayoutChanges::Sparse(_) => None,
        }
    }
    /// As [`Changes::file`].
    pub(super) fn file_mut(&mut self) -> Option<&mut FileChanges> {
        match &mut self.layout {
            LayoutChanges::Contiguous(file) => Some(file),
            LayoutChanges::Sparse(_) => None,
        }
    }
    /// Changes of the chunk files of a sparse frame.
    pub(super) fn directory(&self) -> Option<&DirectoryChanges> {
        match &self.layout {
            LayoutChanges::Sparse(files) => Some(files),
            LayoutChanges::Contiguous(_) => None,
        }
    }
    /// As [`Changes::directory`].
    pub(super) fn directory_mut(&mut self) -> Option<&mut DirectoryChanges> {
        match &mut self.layout {
            LayoutChanges::Sparse(files) => Some(files),
            LayoutChanges::Contiguous(_) => None,
        }
    }
}

/// Of a handle that only reads.
impl Default for LayoutChanges {
    fn default() -> Self {
        LayoutChanges::Contiguous(FileChanges::default())
    }
}

impl FileChanges {
    /// Changes of an existing frame with this space.
    pub(super) fn of(space: Space) -> Self {
        FileChanges { space, ..FileChanges::default() }
    }
    fn settle(&mut self, frame_len: u64) {
        self.end = frame_len;
        self.wrote_chunks = false;
        self.space_is_open = false;
    }
    /// A chunk that ends at `end` is about to be written.
    pub(super) fn note_chunk(&mut self, end: u64) {
        self.wrote_chunks = true;
        self.end = self.end.max(end);
    }
    /// After a write that failed and would have gone up to `end`: the file has `len` bytes.
    pub(super) fn note_reach(&mut self, end: u64, len: u64) {
        self.space.reaches(len.min(end.max(self.space.end())));
    }
    /// Whether the file has grown since the last commit, as far as this handle knows.
    pub(super) fn has_grown(&self) -> bool {
        self.space.end() > self.space.committed_end()
    }
}

impl DirectoryChanges {
    /// Of a frame whose chunk files are `files`. `named` is the highest number that the index names, `last` the highest that a
    /// file has, and `chunk_bytes` what the header says of their bytes.
    pub(super) fn of(
        mut files: BTreeSet<u32>,
        named: Option<u64>,
        last: Option<u32>,
        chunk_bytes: u64,
    ) -> Self {
        let emptied = last.filter(|last| is_behind(*last, named));
        if let Some(emptied) = &emptied {
            files.remove(emptied);
        }
        DirectoryChanges {
            kept: files.into_iter().collect(),
            chunk_bytes,
            next_file: named.max(last.map(u64::from)).map_or(0, |last| last.saturating_add(1)),
            emptied,
            ..DirectoryChanges::default()
        }
    }
    fn settle(&mut self) {
        self.first_new = self.next_file;
        self.old_chunk_bytes = self.chunk_bytes;
        self.added.clear();
        self.obsolete.clear();
    }
    /// A file of `len` bytes was put.
    pub(super) fn note_added(&mut self, number: u32, len: u64) {
        self.added.insert(number);
        self.chunk_bytes = self.chunk_bytes.saturating_add(len);
    }
    /// Notes that nothing refers to a chunk file of `len` bytes. Returns whether it can be removed now: no commit has
    /// it, and a rollback does not need it.
    pub(super) fn note_gone(&mut self, number: u32, len: u64) -> bool {
        self.chunk_bytes = self.chunk_bytes.saturating_sub(len);
        if u64::from(number) < self.first_new {
            self.obsolete.push(number);
            return false;
        }
        self.added.remove(&number);
        true
    }
    /// Chunk files that may be unreferenced.
    pub(super) fn gone(&self) -> BTreeSet<u32> {
        self.obsolete.iter().chain(&self.emptied).chain(&self.kept).copied().collect()
    }
    /// The next number after `last`, the highest that a file has.
    pub(super) fn skip_to(&mut self, last: Option<u32>) {
        self.next_file = self.next_file.max(last.map_or(0, u64::from).saturating_add(1));
    }
    /// Takes back what was noted since the last commit; the files that were put.
    pub(super) fn rollback(&mut self) -> BTreeSet<u32> {
        self.chunk_bytes = self.old_chunk_bytes;
        std::mem::take(&mut self.added)
    }
}

/// Whether a file has a higher number than those that the index names.
pub(super) fn is_behind(number: u32, named: Option<u64>) -> bool {
    named.is_none_or(|named| u64::from(number) > named)
}
