//! Commits of a frame, and the way back.

use super::changes::{Changes, DirectoryChanges, FileChanges, is_behind};
use super::handle::SChunk;
use crate::error::{Error, Result};
use crate::frame::Layout;
use crate::frame::digests::Draft;
use crate::frame::plan;
use crate::frame::plan::FileId;
use crate::frame::plan::WriteStep;
use crate::frame::{FrameHeader, Space, sector_end};
use std::collections::BTreeSet;
use std::sync::Arc;

impl SChunk {
    /// Makes all changes since the last commit visible: writes offsets and trailer to unreferenced space, syncs, and
    /// writes the header with one write.
    pub(crate) fn commit(&mut self) -> Result<()> {
        if !self.writer.changes.dirty && !self.writer.changes.unpublished {
            return Ok(());
        }
        self.look_for_peer_lock()?;
        let peer_lock = self.peer_lock();
        let _alone = peer_lock.as_ref().map(|peer_lock| peer_lock.alone()).transpose()?;
        self.check_unchanged()?;
        // Chunks that share a file with offsets and trailer; else each commit makes a file of its own for these.
        let shared = self.layout() == Layout::Contiguous && self.header.nbytes() > 0;
        let inwards = shared && !self.writer.changes.unpublished && self.tighten()?;
        let dead = if shared { self.dead_chunks()? } else { Vec::new() };
        let draft = self.draft()?;
        let (header, steps, emptied) = self.plan(draft.as_ref(), shared, inwards)?;
        self.apply_commit(&steps)?;
        self.state.header = Arc::new(header);
        if let Some(files) = self.writer.changes.directory_mut() {
            files.emptied = emptied.filter(|number| !files.kept.contains(number));
        }
        let (tail, synced) =
            (self.tail_place(), self.writer.durability.keeps() || !self.writer.durability.orders());
        if let Some(file) = self.writer.changes.file_mut() {
            if shared {
                file.space.commit(tail, &dead, synced);
                self.cut_much();
            } else {
                file.space = Space::new(file.space.reuses(), tail.clone(), tail.end);
            }
        }
        let stored = draft.and_then(|draft| draft.stored());
        let limits = self.limits().clone();
        self.digests_mut().settle(stored.as_ref(), &limits);
        self.trailer_mut().set_checksums(stored);
        self.settle();
        self.note_tail();
        Ok(())
    }

    /// The header that a commit writes, its steps, and the chunk file that it leaves empty.
    fn plan(
        &mut self,
        draft: Option<&Draft>,
        shared: bool,
        inwards: bool,
    ) -> Result<(FrameHeader, Vec<WriteStep<'static>>, Option<u32>)> {
        let files = self.writer.changes.directory();
        let file = self.writer.changes.file();
        let added: Vec<u32> = files.map(|files| files.added.iter().copied().collect()).unwrap_or_default();
        // Several chunks may share an offset; a file that one of them still refers to stays.
        let gone = files.map(DirectoryChanges::gone).unwrap_or_default();
        let mut obsolete: Vec<u32> = self.unreferenced(gone)?.into_iter().collect();
        // Without it, the next handle would reuse its number.
        let named = self.work().offsets.max_stored()?;
        let emptied = obsolete.pop_if(|last| is_behind(*last, named));
        let commit = plan::Commit {
            header: &self.header,
            offsets: &self.work().offsets,
            trailer: &self.work().trailer,
            digests: draft,
            end: file.map_or(0, |file| file.end),
            chunk_bytes: files.map_or(0, |files| files.chunk_bytes),
            added: &added,
            obsolete: &obsolete,
            emptied: emptied.filter(|_| emptied != files.and_then(|files| files.emptied)),
            first: self.writer.changes.unpublished,
            start: self.store.start(),
            long: self.long_header()?,
            durability: self.writer.durability,
        };
        let floor = if shared { self.chunks_end() } else { 0 };
        let place =
            |len| file.map_or(floor, |file| file.space.place_for_tail(len, floor, commit.first, inwards));
        let (header, steps) = plan::plan_commit(&commit, &place, &self.exec.clone().without_progress())?;
        if let Some(file) = self.writer.changes.file_mut().filter(|_| shared) {
            let start = header.len().saturating_add(header.cbytes());
            file.space.take(start, header.frame_len().saturating_sub(start));
        }
        Ok((header, steps, emptied))
    }

    /// Removes unreferenced chunk files, if no reader has an older state.
    pub(super) fn remove_kept(&mut self) {
        let Some(files) = self.writer.changes.directory_mut() else { return };
        if files.kept.is_empty() || !self.writer.store.is_alone() {
            return;
        }
        let kept = std::mem::take(&mut files.kept);
        let next_file = files.next_file;
        let Ok(named) = self.work().offsets.max_stored() else { return self.keep_files(kept) };
        let mut stay = Vec::new();
        for number in kept {
            let file = FileId::Chunk(number);
            // The file with the last number stays, or that number would be reused.
            let last = is_behind(number, named) && u64::from(number).saturating_add(1) == next_file;
            let step = match last {
                true => WriteStep::Put { file, bytes: Vec::new().into(), sync: false },
                false => WriteStep::Remove { file },
            };
            let gone = self.apply(&step).is_ok();
            match self.writer.changes.directory_mut() {
                Some(files) if gone && last => files.emptied = Some(number),
                _ if gone => {}
                _ => stay.push(number),
            }
        }
        self.keep_files(stay);
    }

    /// Adds unreferenced chunk files to those that are kept for now.
    fn keep_files(&mut self, mut more: Vec<u32>) {
        if let Some(files) = self.writer.changes.directory_mut() {
            files.kept.append(&mut more);
        }
    }

    /// Applies the steps of a commit, except removals of files that a reader may need.
    fn apply_commit(&mut self, steps: &[WriteStep<'_>]) -> Result<()> {
        let mut alone = None;
        let mut kept = Vec::new();
        for step in steps {
            if let WriteStep::Remove { file: FileId::Chunk(n) }
            | WriteStep::Put { file: FileId::Chunk(n), .. } = step
            {
                // The commit is done by now, and files that nothing refers to do no harm.
                let goes =
                    *alone.get_or_insert_with(|| self.writer.store.is_alone()) && self.apply(step).is_ok();
                if !goes {
                    kept.push(*n);
                }
                continue;
            }
            if let Err(error) = self.apply(step) {
                if let Some(file) = self.writer.changes.file_mut() {
                    // After a failed write, it is unknown which header a crash would leave.
                    file.space.give_up();
                }
                self.note_reach(end_of(steps));
                self.restore_header();
                return Err(error);
            }
            if let (WriteStep::Sync { file: FileId::Frame }, Some(file)) =
                (step, self.writer.changes.file_mut())
            {
                file.space.synced();
            }
        }
        if let Some(files) = self.writer.changes.directory_mut() {
            // The steps name those that were kept so far.
            files.kept = kept;
        }
        Ok(())
    }

    /// Writes the old header back after a failed commit: the new one may be in the file, and the old data is intact.
    fn restore_header(&mut self) {
        // A frame that is left without chunks was replaced as a whole, or not at all.
        if self.layout() == Layout::Sparse || self.header.nbytes() == 0 || self.writer.changes.unpublished {
            return;
        }
        let bytes = self.committed_header().bytes().to_vec().into();
        // If this fails too, the rollback finds a header that it does not know, and truncates nothing.
        let restored = self.apply(&WriteStep::WriteAt { file: FileId::Frame, offset: 0, bytes });
        let _ = restored.and_then(|()| self.apply(&WriteStep::Sync { file: FileId::Frame }));
    }

    /// The header to be overwritten, if it spans sectors, and the length of the file.
    fn long_header(&self) -> Result<Option<(&FrameHeader, u64)>> {
        let header = self.committed_header();
        if self.writer.changes.unpublished || sector_end(self.store.start(), header.len()).is_none() {
            return Ok(None);
        }
        Ok(Some((header, self.store.len(FileId::Frame)?)))
    }

    /// The chunk files among `files` that no offset names.
    pub(super) fn unreferenced(&self, mut files: BTreeSet<u32>) -> Result<BTreeSet<u32>> {
        if !files.is_empty() {
            self.work().offsets.each_stored(|_, raw| {
                if let Ok(number) = u32::try_from(raw) {
                    files.remove(&number);
                }
                Ok(())
            })?;
        }
        Ok(files)
    }

    /// Forgets everything since the last commit.
    ///
    /// # Errors
    /// [`Error::Io`] when what was written cannot be removed, or when it is no longer known to be ours: where another
    /// writer has committed meanwhile, no file is touched.
    pub(crate) fn rollback(&mut self) -> Result<()> {
        if !self.writer.writable {
            return Ok(());
        }
        self.state.ends = Arc::default();
        self.digests_mut().forget();
        if self.writer.changes.dirty {
            // Later chunks may be stored at the same offsets.
            self.cache.clear();
        }
        // A commit that failed may have written offsets and trailer, and no chunk.
        let grown = self.writer.changes.file().is_some_and(FileChanges::has_grown);
        let wrote = grown || self.writer.changes.has_chunks();
        let peer_lock = self.peer_lock().filter(|_| wrote);
        let shared = peer_lock.as_ref().map(|peer_lock| peer_lock.shared()).transpose();
        let ours = if let Err(error) = shared {
            Err(error)
        } else if wrote {
            self.check_unchanged()
        } else {
            Ok(())
        };
        while let Some(change) = self.writer.changes.undo.pop() {
            self.offsets_mut().take_back(change)?;
        }
        if let Some(old) = self.writer.changes.old.take() {
            self.state.header = old.0;
            *self.trailer_mut() = Arc::unwrap_or_clone(old.1);
        }
        let added = self.writer.changes.directory_mut().map(DirectoryChanges::rollback).unwrap_or_default();
        if ours.is_ok() {
            added
                .into_iter()
                .try_for_each(|number| self.apply(&WriteStep::Remove { file: FileId::Chunk(number) }))?;
        }
        if self.writer.changes.unpublished {
            let start = self.header.len();
            self.writer.changes = Changes::of_new(self.layout(), start);
            if let Some(file) = self.writer.changes.file_mut() {
                // Written data stays until it is overwritten. It is not truncated: if the commit failed after it had given
                // the file its name, this is the only frame at the path.
                file.space = Space::new(true, start..start, self.state.store.len(FileId::Frame)?);
                file.space.synced();
                file.space.release();
            }
            return Ok(());
        }
        if let Some(file) = self.writer.changes.file_mut() {
            file.space.rollback();
            let len = file.space.end();
            if grown && ours.is_ok() {
                self.apply(&WriteStep::SetLen { file: FileId::Frame, len })?;
            }
        }
        self.settle();
        self.writer.locks.is_overtaken |= matches!(ours, Err(Error::Changed { .. }));
        ours
    }
}

/// Where the last byte that these steps write into the frame is followed by others.
fn end_of(steps: &[WriteStep<'_>]) -> u64 {
    let ends = steps.iter().map(|step| match step {
        WriteStep::WriteAt { file: FileId::Frame, offset, bytes } => {
            offset.saturating_add(bytes.len() as u64)
        }
        _ => 0,
    });
    ends.max().unwrap_or(0)
}
