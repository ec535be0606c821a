//! Other writers: locked out if they use locks, else detected before any of their data is overwritten.

use super::frame_options::FrameOptions;
use super::handle::SChunk;
use crate::error::{Error, Result};
use crate::frame::Layout;
use crate::io::{B2Lock, FileId, LockFile, Owner};
use crate::limits::zeroed;
use std::hash::Hasher;
use std::sync::Arc;
use std::time::Duration;
use twox_hash::XxHash3_64;

/// Longest wait for a lock of C-Blosc2, whose holders keep it for one operation on a chunk or a few.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Locks of an open frame, and what it knows of other writers.
#[derive(Debug, Default)]
pub(super) struct Locks {
    /// The owner lock. A refresh or compaction shares it with the handle that replaces this one.
    pub(super) owner: Option<Arc<Owner>>,
    /// The process that opened it; a forked child must not write.
    pub(super) process: u32,
    when: B2Lock,
    patience: Duration,
    /// C-Blosc2's lock file, if it existed at the last check.
    peer_lock: Option<Arc<LockFile>>,
    /// Of a frame at a path: the bytes behind its data, as of the last commit.
    tail: Option<u64>,
    /// Whether a rollback has detected another writer: then nothing in the file may be overwritten.
    pub(super) is_overtaken: bool,
}

impl Locks {
    pub(super) fn new(options: &FrameOptions) -> Self {
        let patience = options.lock_patience.unwrap_or(PATIENCE);
        Locks { process: std::process::id(), when: options.b2lock, patience, ..Locks::default() }
    }
    /// The locks for a handle that replaces this one.
    pub(super) fn handed_on(&self) -> Self {
        let owner = self.owner.clone();
        Locks { owner, process: self.process, when: self.when, patience: self.patience, ..Locks::default() }
    }
    /// Sets the options of another handle like this one.
    pub(super) fn options(&self, options: FrameOptions) -> FrameOptions {
        let options = options.with_owner_lock(self.owner.is_some()).with_b2lock(self.when);
        options.with_lock_patience(self.patience)
    }
}

impl SChunk {
    /// Called before the first chunk is written, and before a commit: whether C-Blosc2 locks this frame too.
    pub(super) fn look_for_peer_lock(&mut self) -> Result<()> {
        let Locks { when, patience, .. } = self.writer.locks;
        self.writer.locks.peer_lock = match self.path() {
            Some(path) if self.is_at_path() => {
                LockFile::find(path, self.layout(), when, true, patience)?.map(Arc::new)
            }
            _ => None,
        };
        Ok(())
    }
    /// C-Blosc2's lock file, if it existed.
    pub(super) fn peer_lock(&self) -> Option<Arc<LockFile>> {
        self.writer.locks.peer_lock.clone()
    }
    /// Whether other processes can find the frame at its path.
    fn is_at_path(&self) -> bool {
        self.writer.opening.is_some() && !self.is_unpublished()
    }

    /// Remembers the end of the file at the path, to detect changes by others.
    pub(super) fn note_tail(&mut self) {
        // Where it cannot be read, the next write will not work either.
        self.writer.locks.tail = if self.is_at_path() { self.tail().ok() } else { None };
    }

    /// Whether another handle found the same bytes after the data.
    pub(super) fn same_tail(&self, other: &SChunk) -> bool {
        self.writer.locks.tail == other.writer.locks.tail
            && self.writer.locks.is_overtaken == other.writer.locks.is_overtaken
    }

    /// An error in a forked child: the frame is its parent's to write.
    pub(super) fn check_process(&self) -> Result<()> {
        let (opened, own) = (self.writer.locks.process, std::process::id());
        if opened == own {
            return Ok(());
        }
        let reason = format!("it was opened by process {opened}, and this is process {own}, forked from it");
        Err(Error::state(format!("{reason}: open the frame again to write to it")))
    }

    /// An error if another writer has written since: our knowledge of the file's end would be outdated.
    pub(super) fn check_header(&self) -> Result<()> {
        self.check_process()?;
        if self.is_unpublished() || self.is_in_memory() {
            return Ok(());
        }
        self.writer.store.check_place()?;
        let changed = |what| Err(self.located(Error::changed(what)));
        if self.writer.locks.is_overtaken {
            return changed("changed it");
        }
        let known = self.committed_header().bytes();
        let len = self.store.len(FileId::Frame)?;
        if len < known.len() as u64 {
            return changed("shortened it");
        }
        let mut found = zeroed("the header", known.len() as u64)?;
        self.store.read_at(FileId::Frame, 0, &mut found)?;
        if known != found {
            return changed("changed it");
        }
        match self.layout() {
            Layout::Sparse => Ok(()),
            Layout::Contiguous if self.is_at_path() && len != self.reach() => {
                changed(if len < self.reach() { "shortened it" } else { "appended to it" })
            }
            // A store of the caller's may have more bytes than it was given; a frame among them is not written over.
            Layout::Contiguous if self.is_followed(self.reach())? => changed("appended to it"),
            Layout::Contiguous => Ok(()),
        }
    }

    /// As [`SChunk::check_header`], and when there is another index or trailer.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        self.check_header()?;
        match self.writer.locks.tail {
            Some(known) if known != self.tail()? => Err(self.located(Error::changed("changed it"))),
            _ => Ok(()),
        }
    }

    /// The bytes behind the data, index and trailer, as one number; the segments of the checksums by their digests.
    fn tail(&self) -> Result<u64> {
        const PART: u64 = 1 << 20;
        let header = self.committed_header();
        let start = match self.layout() {
            Layout::Contiguous => header.len().saturating_add(header.cbytes()),
            Layout::Sparse => header.len(),
        };
        let end = header.frame_len();
        let segments = self.committed_trailer()?.segments(end);
        let mut hasher = XxHash3_64::new();
        let mut buffer = zeroed("the end of the frame", end.saturating_sub(start).min(PART))?;
        for (mut at, end) in [(start, segments.start), (segments.end, end)] {
            while at < end {
                let len = usize::try_from((end - at).min(PART)).unwrap_or(usize::MAX);
                let part = buffer.get_mut(..len).unwrap_or_default();
                self.store.read_at(FileId::Frame, at, part)?;
                hasher.write(part);
                at = at.saturating_add(len as u64);
            }
        }
        Ok(hasher.finish())
    }
}
