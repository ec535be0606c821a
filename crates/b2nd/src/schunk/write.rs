//! Changes of a frame: written past the end as they come, made visible by a commit, or forgotten.

use super::cache::BlockCache;
use super::digests::Digests;
use super::foreign::Locks;
use super::handle::{CHUNK_HEADER, SChunk};
use super::options::{FrameSpec, OpenOptions, Target};
use super::special::special_offset;
use crate::chunk;
use crate::chunk::ChunkHeader;
use crate::chunk::Params;
use crate::chunk::Special;
use crate::error::{Error, Result};
use crate::frame::Layout;
use crate::frame::plan;
use crate::frame::plan::FileId;
use crate::frame::plan::WriteStep;
use crate::frame::{Header, HeaderFields, Name, Offsets, Trailer, Undo, sector_end};
use crate::io;
use crate::io::MemoryStore;
use crate::io::Opening;
use crate::io::Store;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::sync::{Arc, OnceLock};

/// What has changed since the last commit, and how to take it back.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Not committed once: there is nothing at the path yet.
    unpublished: bool,
    /// Whether there is anything to commit.
    pub(super) dirty: bool,
    /// Whether chunks were written past the committed end.
    pub(super) wrote_chunks: bool,
    /// Contiguous: where the next chunk goes.
    pub(super) end: u64,
    /// Contiguous: how far the file goes, with what is written since.
    reach: u64,
    /// Sparse: the bytes of all chunk files.
    chunk_bytes: u64,
    /// Sparse: the same, at the last commit.
    old_chunk_bytes: u64,
    /// Sparse: the number of the next chunk file.
    next_file: u64,
    /// Sparse: the first number that the last commit did not know.
    first_new: u64,
    /// The way back to the committed offsets, to be gone from the last to the first.
    pub(super) undo: Vec<Undo>,
    /// Sparse: files put since the last commit and referred to.
    added: BTreeSet<u32>,
    /// Sparse: files of the last commit that nothing refers to any more.
    obsolete: Vec<u32>,
    /// Sparse: a file that nothing refers to and that stays, as its number is the highest that was given.
    emptied: Option<u32>,
    /// Header and trailer of the last commit, when they have changed.
    old: Option<Box<(Header, Trailer)>>,
}

impl SChunk {
    /// A new frame. Nothing is visible at a path before the first [`SChunk::commit`]; dropped before it, nothing remains.
    pub(crate) fn create(target: Target<'_>, spec: FrameSpec, options: &OpenOptions) -> Result<Self> {
        let (header, offsets) = layout_new(&spec)?;
        let mut trailer = Trailer::default();
        for (name, content) in &spec.vlmetalayers {
            if trailer.get(name).is_some() {
                return Err(Error::usage(format!("two vlmetalayers are named `{name}`")));
            }
            trailer.set(
                name,
                chunk::encode(content, &Params::new(1), &options.exec.clone().without_progress())?,
            )?;
        }
        let keep = options.checksums.unwrap_or(matches!(target, Target::Path { .. }));
        let (store, opening, owner): (Box<dyn Store>, _, _) = match target {
            Target::Memory => (Box::new(MemoryStore::default()), None, None),
            Target::Path { path, overwrite } => {
                let owner = (!options.no_owner_lock).then(|| io::Owner::of_new(path)).transpose()?;
                let opening = Opening { write: true, ..Opening::default() };
                (io::create(path, overwrite, spec.layout)?, Some(opening), owner.map(Arc::new))
            }
        };
        let mut locks = Locks::new(options);
        locks.owner = owner;
        let changes = Changes { unpublished: true, end: header.len(), ..Changes::default() };
        Ok(SChunk {
            store,
            header,
            offsets,
            trailer,
            context: options.context(spec.params.typesize()),
            params: spec.params,
            exec: options.exec.clone(),
            writable: true,
            changes,
            opening,
            ends: OnceLock::new(),
            cache: BlockCache::new(options.block_cache),
            processing: options.processing.clone(),
            durability: options.durability,
            digests: Box::new(Digests::new(options, keep)),
            locks,
        })
    }

    /// Checks that the frame can be written, and finds where.
    pub(super) fn prepare_writing(&mut self) -> Result<()> {
        if !self.header.is_current() {
            let version = self.version();
            return Err(Error::unsupported(format!(
                "writing frames of format version {version}; convert first"
            )));
        }
        self.changes.chunk_bytes = self.header.cbytes();
        if self.layout() == Layout::Sparse {
            let (named, there) = (self.offsets.max_stored(), self.store.last_chunk()?);
            self.changes.next_file = named.max(there.map(u64::from)).map_or(0, |last| last.saturating_add(1));
            self.changes.emptied = there.filter(|there| named.is_none_or(|named| u64::from(*there) > named));
        }
        self.settle();
        Ok(())
    }

    /// Starts a new set of changes, on top of what is committed.
    fn settle(&mut self) {
        // Where its length cannot be asked for, the next write will not work either.
        let reach = self.store.len(FileId::Frame).unwrap_or(0);
        let changes = &mut self.changes;
        changes.end = self.header.frame_len();
        changes.reach = reach;
        changes.first_new = changes.next_file;
        changes.old_chunk_bytes = changes.chunk_bytes;
        changes.undo.clear();
        changes.added.clear();
        changes.obsolete.clear();
        changes.old = None;
        changes.unpublished = false;
        changes.dirty = false;
        changes.wrote_chunks = false;
    }

    /// Contiguous: how far the file goes, as far as this handle knows.
    pub(super) fn reach(&self) -> u64 {
        self.changes.reach
    }
    /// Whether there is nothing at the path yet.
    pub(super) fn is_unpublished(&self) -> bool {
        self.changes.unpublished
    }

    /// Whether there are changes that are not committed.
    pub(super) fn has_changes(&self) -> bool {
        self.changes.dirty || self.changes.unpublished
    }

    /// Called before every change.
    pub(super) fn begin(&mut self) -> Result<()> {
        if !self.writable {
            return Err(Error::usage("the frame was opened for reading only"));
        }
        if !self.changes.dirty {
            self.check_header()?;
            self.digests.begin(&self.offsets);
            self.changes.dirty = true;
        }
        Ok(())
    }

    /// Keeps header and trailer for a rollback.
    pub(super) fn keep_old(&mut self) {
        if self.changes.old.is_none() {
            self.changes.old = Some(Box::new((self.header.clone(), self.trailer.clone())));
        }
    }

    /// Adds or replaces a vlmetalayer (effective at the next commit).
    pub(crate) fn stage_vlmetalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let chunk = chunk::encode(content, &Params::new(1), &self.exec.clone().without_progress())?;
        self.begin()?;
        self.keep_old();
        self.trailer.set(name, chunk)
    }
    /// Removes a vlmetalayer (effective at the next commit); whether there was one.
    pub(crate) fn stage_removal(&mut self, name: &str) -> Result<bool> {
        if self.trailer.get(name).is_none() {
            return Ok(false);
        }
        self.begin()?;
        self.keep_old();
        Ok(self.trailer.remove(name))
    }
    /// Replaces the content of a fixed metalayer by one of the same length (effective at the next commit).
    pub(crate) fn stage_metalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        self.begin()?;
        self.keep_old();
        self.header.set_metalayer(name, content)
    }

    /// Stores the bytes of a chunk as chunk `n`, which has this uncompressed size: written now, past the end; visible to
    /// others at the next commit.
    ///
    /// A chunk of zeros, NaN or uninitialised items becomes a special offset.
    pub(crate) fn put_chunk(&mut self, n: u64, chunk: &[u8]) -> Result<()> {
        let old = self.offsets.raw(n)?;
        let header = self.check_chunk(chunk)?;
        let due = self.nbytes_of_chunk(n)?;
        if due != header.nbytes() {
            let reason = format!("{} uncompressed bytes, and the old one has {due}", header.nbytes());
            return Err(Error::usage(format!("chunk {n} cannot be stored: {reason}")));
        }
        let new = self.write_chunk(chunk, &header)?;
        self.replace_offset(n, old, new)
    }

    /// Writes the bytes of a chunk past everything else.
    pub(super) fn write_bytes(&mut self, chunk: &[u8]) -> Result<i64> {
        if !self.changes.wrote_chunks && self.changes.added.is_empty() {
            self.look_for_fleet()?;
        }
        let fleet = self.fleet();
        let _shared = fleet.as_ref().map(|fleet| fleet.shared()).transpose()?;
        let raw = match self.layout() {
            Layout::Contiguous => {
                // What another has committed meanwhile lies in the very place.
                self.check_header()?;
                let offset = self.changes.end;
                let bytes = chunk.into();
                self.changes.reach = self.changes.reach.max(offset.saturating_add(chunk.len() as u64));
                self.store.apply(&WriteStep::WriteAt { file: FileId::Frame, offset, bytes })?;
                self.changes.end = offset.saturating_add(chunk.len() as u64);
                self.changes.wrote_chunks = true;
                i64::try_from(offset.saturating_sub(self.header.len()))
            }
            Layout::Sparse => {
                let number = self.put_new_file(chunk)?;
                self.changes.added.insert(number);
                self.changes.chunk_bytes = self.changes.chunk_bytes.saturating_add(chunk.len() as u64);
                Ok(i64::from(number))
            }
        };
        let raw = raw.map_err(|_| Error::usage("the frame is too large"))?;
        self.digests.note(raw, chunk)?;
        Ok(raw)
    }

    /// Sparse: puts a chunk into a file of the next number that no other writer has used.
    fn put_new_file(&mut self, chunk: &[u8]) -> Result<u32> {
        loop {
            let number = u32::try_from(self.changes.next_file);
            let number = number.map_err(|_| Error::usage("the frame has no number left for a chunk file"))?;
            let file = FileId::Chunk(number);
            let put = self.store.apply(&WriteStep::Put { file, bytes: chunk.into(), sync: false });
            self.changes.next_file += 1;
            match put {
                Err(Error::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists => {
                    let last = self.store.last_chunk()?.map_or(0, u64::from);
                    self.changes.next_file = self.changes.next_file.max(last.saturating_add(1));
                }
                put => return put.map(|()| number),
            }
        }
    }

    /// Makes chunk `n` special (`Zeros`, `Nan` or `Uninit`).
    pub(crate) fn put_special(&mut self, n: u64, kind: Special) -> Result<()> {
        let old = self.offsets.raw(n)?;
        if special_offset(kind, self.header.params().typesize())? == old {
            return Ok(());
        }
        let nbytes = self.nbytes_of_chunk(n)?;
        let new = self.write_special(kind, nbytes)?;
        self.replace_offset(n, old, new)
    }

    /// The header of a chunk that is to be stored.
    pub(super) fn check_chunk(&self, chunk: &[u8]) -> Result<ChunkHeader> {
        let refused = |reason: String| Err(Error::usage(format!("the chunk cannot be stored: {reason}")));
        let header = ChunkHeader::parse(chunk)?;
        // Measurements of a codec and references to files are no data to keep.
        header.check_supported()?;
        if u64::from(header.cbytes()) != chunk.len() as u64 {
            return refused(format!("it says {} bytes and has {}", header.cbytes(), chunk.len()));
        }
        if header.nbytes() == 0 {
            return refused("it holds no items".to_owned());
        }
        if header.header_len() != CHUNK_HEADER {
            return refused("it has a short header, which frames do not allow".to_owned());
        }
        match (header.is_variable(), self.header.has_vl_blocks()) {
            (true, false) if self.nchunks() > 0 => {
                refused("its blocks differ in size, and those of the other chunks do not".to_owned())
            }
            (false, true) if self.nchunks() > 0 => {
                refused("its blocks have one size, and those of the other chunks differ".to_owned())
            }
            _ => Ok(header),
        }
    }

    pub(super) fn replace_offset(&mut self, n: u64, old: i64, new: i64) -> Result<()> {
        self.reserve_undo()?;
        self.offsets.replace(n, new)?;
        self.changes.undo.push(Undo::Replace(n, old));
        self.forget_file(old)
    }

    /// Room to note one more change: what cannot be taken back is not done.
    pub(super) fn reserve_undo(&mut self) -> Result<()> {
        self.ends.take();
        let undo = &mut self.changes.undo;
        undo.try_reserve(1).map_err(|_| {
            let bytes = (undo.len() as u64).saturating_mul(size_of::<Undo>() as u64);
            Error::out_of_memory("the changes of the frame", bytes)
        })
    }

    /// Nothing refers to this offset any more: in a sparse frame its file goes with the commit.
    pub(super) fn forget_file(&mut self, raw: i64) -> Result<()> {
        let (Layout::Sparse, Ok(number)) = (self.layout(), u32::try_from(raw)) else { return Ok(()) };
        let file = FileId::Chunk(number);
        let freed = self.store.len(file).unwrap_or(0);
        self.changes.chunk_bytes = self.changes.chunk_bytes.saturating_sub(freed);
        if u64::from(number) < self.changes.first_new {
            self.changes.obsolete.push(number);
            return Ok(());
        }
        // Nobody has seen it, and a rollback goes further back.
        self.changes.added.remove(&number);
        self.store.apply(&WriteStep::Remove { file })
    }

    /// Makes everything since the last commit visible: offsets and trailer past the old end, sync, then the header in one
    /// write.
    pub(crate) fn commit(&mut self) -> Result<()> {
        if !self.changes.dirty && !self.changes.unpublished {
            return Ok(());
        }
        self.look_for_fleet()?;
        let fleet = self.fleet();
        let _alone = fleet.as_ref().map(|fleet| fleet.alone()).transpose()?;
        self.check_unchanged()?;
        let added: Vec<u32> = self.changes.added.iter().copied().collect();
        // An offset may be stored twice; what something still refers to stays.
        let mut obsolete = self.unreferenced();
        // Its number would be given again by whoever opens the frame next.
        let named = self.offsets.max_stored();
        let emptied =
            obsolete.last().copied().filter(|last| named.is_none_or(|named| u64::from(*last) > named));
        obsolete.pop_if(|last| Some(*last) == emptied);
        let long = self.long_header()?;
        let draft = self.draft()?;
        let commit = plan::Commit {
            header: &self.header,
            offsets: &self.offsets,
            trailer: &self.trailer,
            digests: draft.as_ref(),
            end: self.changes.end,
            chunk_bytes: self.changes.chunk_bytes,
            added: &added,
            obsolete: &obsolete,
            emptied: emptied.filter(|_| emptied != self.changes.emptied),
            first: self.changes.unpublished,
            start: self.store.start(),
            long,
            durability: self.durability,
        };
        let (header, steps) = plan::plan_commit(&commit, &self.exec.clone().without_progress())?;
        self.changes.reach = self.changes.reach.max(header.frame_len());
        for step in &steps {
            match (self.store.apply(step), step) {
                // The commit is done by then, and files that nothing refers to do no harm.
                (Ok(()), _)
                | (Err(_), WriteStep::Remove { .. } | WriteStep::Put { file: FileId::Chunk(_), .. }) => {}
                (Err(error), _) => {
                    self.restore_header();
                    return Err(error);
                }
            }
        }
        self.header = header;
        self.changes.emptied = emptied;
        let stored = draft.and_then(|draft| draft.stored());
        self.digests.settle(stored.as_ref(), self.context.limits());
        self.trailer.set_checksums(stored);
        self.settle();
        self.note_tail();
        Ok(())
    }

    /// After a failed commit: the header that is there may be the new one, and the data of the old one is untouched.
    fn restore_header(&mut self) {
        // A frame that is left without chunks was replaced as a whole, or not at all.
        if self.layout() == Layout::Sparse || self.header.nbytes() == 0 || self.changes.unpublished {
            return;
        }
        let bytes = self.committed_header().bytes().to_vec().into();
        // Where this fails as well, a rollback sees a header that is not the one it knows, and cuts nothing off.
        let restored = self.store.apply(&WriteStep::WriteAt { file: FileId::Frame, offset: 0, bytes });
        let _ = restored.and_then(|()| self.store.apply(&WriteStep::Sync { file: FileId::Frame }));
    }

    /// The header that is to be written over, where it does not lie in one sector, and the length of the file.
    fn long_header(&self) -> Result<Option<(&Header, u64)>> {
        let header = self.committed_header();
        if self.changes.unpublished || sector_end(self.store.start(), header.len()).is_none() {
            return Ok(None);
        }
        Ok(Some((header, self.store.len(FileId::Frame)?)))
    }

    /// The header of the last commit.
    pub(super) fn committed_header(&self) -> &Header {
        self.changes.old.as_ref().map_or(&self.header, |old| &old.0)
    }

    /// The trailer of the last commit.
    pub(super) fn committed_trailer(&self) -> &Trailer {
        self.changes.old.as_ref().map_or(&self.trailer, |old| &old.1)
    }

    /// The obsolete files that no offset names.
    fn unreferenced(&self) -> Vec<u32> {
        let gone = self.changes.obsolete.iter().chain(&self.changes.emptied);
        let mut obsolete: BTreeSet<u32> = gone.copied().collect();
        let still = match &self.offsets {
            _ if obsolete.is_empty() => &[][..],
            Offsets::Uniform { raw, len } if *len > 0 => std::slice::from_ref(raw),
            Offsets::Uniform { .. } => &[],
            Offsets::Each(all) => all,
        };
        for number in still.iter().filter_map(|raw| u32::try_from(*raw).ok()) {
            obsolete.remove(&number);
        }
        obsolete.into_iter().collect()
    }

    /// Forgets everything since the last commit.
    ///
    /// # Errors
    /// [`Error::Io`] when what was written cannot be removed, or when it is no longer known to be ours: where another
    /// writer has committed meanwhile, no file is touched.
    pub(crate) fn rollback(&mut self) -> Result<()> {
        self.ends.take();
        self.digests.forget();
        if self.changes.dirty {
            // What comes next may lie in the same places.
            self.cache.clear();
        }
        let wrote = self.changes.wrote_chunks || !self.changes.added.is_empty();
        let fleet = self.fleet().filter(|_| wrote);
        let shared = fleet.as_ref().map(|fleet| fleet.shared()).transpose();
        let ours = if let Err(error) = shared {
            Err(error)
        } else if wrote {
            self.check_unchanged()
        } else {
            Ok(())
        };
        while let Some(change) = self.changes.undo.pop() {
            self.offsets.take_back(change)?;
        }
        if let Some(old) = self.changes.old.take() {
            (self.header, self.trailer) = *old;
        }
        if ours.is_ok() {
            for number in std::mem::take(&mut self.changes.added) {
                self.store.apply(&WriteStep::Remove { file: FileId::Chunk(number) })?;
            }
        }
        if self.changes.unpublished {
            let (dirty, end) = (false, self.header.len());
            self.changes = Changes { unpublished: true, dirty, end, ..Changes::default() };
            return Ok(());
        }
        if self.changes.wrote_chunks && ours.is_ok() {
            let len = self.header.frame_len();
            self.store.apply(&WriteStep::SetLen { file: FileId::Frame, len })?;
        }
        self.changes.chunk_bytes = self.changes.old_chunk_bytes;
        self.settle();
        self.locks.is_overtaken |= matches!(ours, Err(Error::Changed { .. }));
        ours
    }
}

/// The header and the offsets of a new frame.
fn layout_new(spec: &FrameSpec) -> Result<(Header, Offsets)> {
    let too_large = || Error::usage(format!("{} chunks are too many for a frame", spec.nchunks));
    let nbytes = spec.nchunks.checked_mul(u64::from(spec.chunksize)).ok_or_else(too_large)?;
    if spec.nchunks > Offsets::MAX_CHUNKS {
        return Err(too_large());
    }
    if spec.chunksize == 0 && spec.nchunks > 0 {
        return Err(Error::usage("chunks have at least one byte"));
    }
    let mut metalayers = Vec::with_capacity(spec.metalayers.len());
    for (name, content) in &spec.metalayers {
        Name::new(name)?;
        if metalayers.iter().any(|(other, _)| *other == name.as_bytes()) {
            return Err(Error::usage(format!("two metalayers are named `{name}`")));
        }
        metalayers.push((name.as_bytes(), content.as_slice()));
    }
    let fields =
        HeaderFields { layout: spec.layout, params: &spec.params, chunksize: spec.chunksize, nbytes };
    let header = Header::build(&fields, &metalayers)?;
    let offsets = match spec.nchunks {
        0 => Offsets::none(),
        len => Offsets::Uniform { raw: special_offset(spec.fill, spec.params.typesize())?, len },
    };
    Ok((header, offsets))
}
