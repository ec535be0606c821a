//! Changes of a frame, written where no header refers to, as they come.

use super::cache::BlockCache;
use super::catalog::Catalog;
use super::changes::{Changes, DirectoryChanges, FileChanges, LayoutChanges};
use super::digests::Digests;
use super::foreign::Locks;
use super::frame_options::FrameOptions;
use super::handle::{FrameWriter, SChunk};
use super::options::{FrameSpec, FrameTarget};
use super::snapshot::{CHUNK_HEADER, FrameState};
use super::special::special_offset;
use crate::chunk;
use crate::chunk::ChunkHeader;
use crate::chunk::Params;
use crate::chunk::Special;
use crate::error::{Error, Result};
use crate::frame::Layout;
use crate::frame::plan::FileId;
use crate::frame::plan::WriteStep;
use crate::frame::{FrameHeader, HeaderFields, Name, Offsets, Space, Trailer, Undo};
use crate::io;
use crate::io::MemoryStore;
use crate::io::{OpenedStore, Opening, WriteStore};
use std::io::ErrorKind;
use std::ops::Range;
use std::sync::Arc;

impl SChunk {
    /// A new frame. Nothing is visible at a path before the first [`SChunk::commit`]; dropped before it, nothing remains.
    pub(crate) fn create(target: FrameTarget<'_>, spec: FrameSpec, options: &FrameOptions) -> Result<Self> {
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
        let keep = options.checksums.unwrap_or(matches!(target, FrameTarget::Path { .. }));
        let (store, opening, owner): (Box<dyn WriteStore>, _, _) = match target {
            FrameTarget::Memory => (Box::new(MemoryStore::default()), None, None),
            FrameTarget::Path { path, overwrite } => {
                let owner = options.owner_lock().then(|| io::Owner::of_new(path)).transpose()?;
                let opening = Opening { write: true, ..Opening::default() };
                (io::create(path, overwrite, spec.layout, None)?, Some(opening), owner.map(Arc::new))
            }
        };
        let mut locks = Locks::new(options);
        locks.owner = owner;
        let changes = Changes::of_new(spec.layout, header.len());
        let digests = Arc::new(Digests::new(options, keep));
        let state = FrameState {
            store: store.reader(),
            header: Arc::new(header),
            nchunks: offsets.len(),
            catalog: Catalog { offsets: Arc::new(offsets), trailer: Arc::new(trailer), digests }.into(),
            context: options.context(spec.params.typesize()),
            params: spec.params,
            exec: options.exec.clone(),
            written_end: 0,
            ends: Arc::default(),
            cache: Arc::new(BlockCache::new(options.block_cache)),
            processing: options.processing.clone(),
            pace: Arc::default(),
        };
        let (store, durability) = (OpenedStore::Write(store), options.durability);
        let writer = FrameWriter { store, writable: true, changes, opening, durability, locks, lent: false };
        Ok(SChunk { state, writer })
    }

    /// Checks that the frame can be written, and finds where. One that shares its file (`placed`) ends where the file ends.
    pub(super) fn prepare_writing(&mut self, placed: bool) -> Result<()> {
        if !self.header.is_current() {
            let version = self.version();
            return Err(Error::unsupported(format!(
                "writing frames of format version {version}; convert first"
            )));
        }
        let layout = match self.layout() {
            Layout::Contiguous => {
                let len = self.store.len(FileId::Frame)?;
                LayoutChanges::Contiguous(FileChanges::of(Space::new(!placed, self.tail_place(), len)))
            }
            Layout::Sparse => {
                let (named, last) = (self.work().offsets.max_stored()?, self.writer.store.last_chunk()?);
                // What an interrupted commit has left, or one while somebody was reading.
                let files = self.unreferenced(self.store.chunk_files()?.into_iter().collect())?;
                LayoutChanges::Sparse(DirectoryChanges::of(files, named, last, self.header.cbytes()))
            }
        };
        self.writer.changes.process = std::process::id();
        self.writer.changes.layout = layout;
        self.settle();
        Ok(())
    }

    /// Starts a new set of changes, on top of what is committed.
    pub(super) fn settle(&mut self) {
        self.state.written_end = 0;
        self.writer.changes.settle(self.state.header.frame_len());
    }

    /// How far the file of a contiguous frame goes, as far as this handle knows. That of a sparse one is replaced as a whole.
    pub(super) fn reach(&self) -> u64 {
        self.writer.changes.file().map_or_else(|| self.header.frame_len(), |file| file.space.end())
    }
    /// Whether there is nothing at the path yet.
    pub(super) fn is_unpublished(&self) -> bool {
        self.writer.changes.unpublished
    }

    /// Where offsets and trailer of a contiguous frame are.
    pub(super) fn tail_place(&self) -> Range<u64> {
        let chunks = if self.header.nbytes() == 0 { 0 } else { self.header.cbytes() };
        self.header.len().saturating_add(chunks).min(self.header.frame_len())..self.header.frame_len()
    }

    /// Whether there are changes that are not committed.
    pub(super) fn has_changes(&self) -> bool {
        self.writer.changes.dirty || self.writer.changes.unpublished
    }

    /// Whether this handle may change the frame: it was created, or opened with
    /// [`with_write`](crate::OpenOptions::with_write).
    ///
    /// ```
    /// use b2nd::{Array, Dtype, OpenOptions, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("|u1")?, [3])?;
    /// assert!(a.schunk().is_writable());
    /// let opened = Array::from_bytes(a.to_bytes()?, &OpenOptions::new())?;
    /// assert!(!opened.schunk().is_writable());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn is_writable(&self) -> bool {
        self.writer.writable
    }

    /// An error for a frame that was opened for reading only. Its state has no index to look up old chunks in.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if self.writer.writable { Ok(()) } else { Err(Error::read_only().at(self.path())) }
    }

    /// Called before every change.
    pub(super) fn begin(&mut self) -> Result<()> {
        self.check_writable()?;
        if !self.writer.changes.dirty {
            self.check_header()?;
            if let Offsets::Packed(_) = *self.work().offsets {
                self.offsets_mut().unpack()?;
            }
            self.open_space();
            let offsets = Arc::clone(&self.work().offsets);
            self.digests_mut().begin(&offsets);
            self.writer.changes.dirty = true;
        }
        Ok(())
    }

    /// Keeps header and trailer for a rollback.
    pub(super) fn keep_old(&mut self) {
        if self.writer.changes.old.is_none() {
            let trailer = Arc::clone(&self.work().trailer);
            self.digests_mut().keep_trailer(&trailer);
            self.writer.changes.old = Some((Arc::clone(&self.header), trailer));
        }
    }

    /// Adds or replaces a vlmetalayer (effective at the next commit).
    pub(crate) fn stage_vlmetalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let chunk = chunk::encode(content, &Params::new(1), &self.exec.clone().without_progress())?;
        self.begin()?;
        self.keep_old();
        self.trailer_mut().set(name, chunk)
    }
    /// Removes a vlmetalayer (effective at the next commit); whether there was one.
    pub(crate) fn stage_removal(&mut self, name: &str) -> Result<bool> {
        if self.work().trailer.get(name).is_none() {
            return Ok(false);
        }
        self.begin()?;
        self.keep_old();
        Ok(self.trailer_mut().remove(name))
    }
    /// Replaces the content of a fixed metalayer by one of the same length (effective at the next commit).
    pub(crate) fn stage_metalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        self.begin()?;
        self.keep_old();
        self.header_mut().set_metalayer(name, content)
    }

    /// Stores the bytes of a chunk as chunk `n`, which has this uncompressed size: written now, where nobody looks; visible
    /// to others at the next commit.
    ///
    /// A chunk of zeros, NaN or uninitialised items becomes a special offset.
    pub(crate) fn put_chunk(&mut self, n: u64, chunk: &[u8]) -> Result<()> {
        let old = self.work().offsets.raw(n)?;
        let header = self.check_chunk(chunk)?;
        let due = self.nbytes_of_chunk(n)?;
        if due != header.nbytes() {
            let found = header.nbytes();
            let reason = format!("{found} uncompressed bytes, and the old one has {due}");
            return Err(Error::length(due, found, format!("chunk {n} cannot be stored: {reason}")));
        }
        let new = self.write_chunk(chunk, &header)?;
        self.replace_offset(n, old, new)
    }

    /// Writes the bytes of a chunk of a contiguous frame to a place that was allocated.
    pub(super) fn write_into(&mut self, offset: u64, chunk: &[u8]) -> Result<i64> {
        let end = offset.saturating_add(chunk.len() as u64);
        self.cache.forget(offset..end);
        if let Some(file) = self.writer.changes.file_mut() {
            file.note_chunk(end);
            self.state.written_end = file.end;
        }
        let written = self.apply(&WriteStep::WriteAt { file: FileId::Frame, offset, bytes: chunk.into() });
        if let Err(error) = written {
            self.note_reach(end);
            return Err(error);
        }
        let raw = i64::try_from(offset.saturating_sub(self.header.len()));
        raw.map_err(|_| Error::too_large(i64::MAX as u64, "the frame is too large"))
    }

    /// After a write that failed and would have gone up to `end`: the file goes as far as it went.
    pub(super) fn note_reach(&mut self, end: u64) {
        if let (Some(file), Ok(len)) = (self.writer.changes.file_mut(), self.state.store.len(FileId::Frame)) {
            file.note_reach(end, len);
        }
    }

    /// Writes the bytes of a chunk where nothing is, or nothing that anybody needs.
    pub(super) fn write_bytes(&mut self, chunk: &[u8]) -> Result<i64> {
        if !self.writer.changes.has_chunks() {
            self.look_for_peer_lock()?;
        }
        let peer_lock = self.peer_lock();
        let _shared = peer_lock.as_ref().map(|peer_lock| peer_lock.shared()).transpose()?;
        if self.layout() == Layout::Contiguous {
            // What another has committed meanwhile lies in the very place.
            self.check_header()?;
        }
        let raw = match &mut self.writer.changes.layout {
            LayoutChanges::Contiguous(file) => {
                let offset = file.space.allocate(chunk.len() as u64);
                self.write_into(offset, chunk)?
            }
            LayoutChanges::Sparse(_) => i64::from(self.put_new_file(chunk)?),
        };
        self.digests_mut().note(raw, chunk)?;
        Ok(raw)
    }

    /// Puts a chunk of a sparse frame into a file of the next number that no other writer has used.
    fn put_new_file(&mut self, chunk: &[u8]) -> Result<u32> {
        let wrong = || Error::usage("the frame is not sparse");
        loop {
            let number = self.writer.changes.directory().ok_or_else(wrong)?.next_file;
            let number = u32::try_from(number)
                .map_err(|_| Error::too_large(u32::MAX, "the frame has no number left for a chunk file"))?;
            let file = FileId::Chunk(number);
            let put = self.apply(&WriteStep::Put { file, bytes: chunk.into(), sync: false });
            let files = self.writer.changes.directory_mut().ok_or_else(wrong)?;
            files.next_file += 1;
            match put {
                Err(Error::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists => {
                    files.skip_to(self.writer.store.last_chunk()?);
                }
                Err(error) => return Err(error),
                Ok(()) => {
                    files.note_added(number, chunk.len() as u64);
                    return Ok(number);
                }
            }
        }
    }

    /// Makes chunk `n` special (`Zeros`, `Nan` or `Uninit`).
    pub(crate) fn put_special(&mut self, n: u64, kind: Special) -> Result<()> {
        let old = self.work().offsets.raw(n)?;
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
            return refused(format!("its header says {} bytes and it has {}", header.cbytes(), chunk.len()));
        }
        if header.nbytes() == 0 {
            return refused("it holds no items".to_owned());
        }
        if header.header_len() != CHUNK_HEADER {
            return refused("it has a short header, which frames do not allow".to_owned());
        }
        match (header.is_variable(), self.header.has_vl_blocks()) {
            (true, false) if self.nchunks() > 0 => {
                refused("its blocks vary in size, and those of the other chunks do not".to_owned())
            }
            (false, true) if self.nchunks() > 0 => {
                refused("its blocks have one size, and those of the other chunks vary in size".to_owned())
            }
            _ => Ok(header),
        }
    }

    pub(super) fn replace_offset(&mut self, n: u64, old: i64, new: i64) -> Result<()> {
        self.reserve_undo()?;
        self.offsets_mut().replace(n, new)?;
        self.writer.changes.undo.push(Undo::Replace(n, old));
        self.forget_file(old)
    }

    /// Room to note one more change: what cannot be taken back is not done.
    pub(super) fn reserve_undo(&mut self) -> Result<()> {
        self.state.ends = Arc::default();
        let undo = &mut self.writer.changes.undo;
        undo.try_reserve(1).map_err(|_| {
            let bytes = (undo.len() as u64).saturating_mul(size_of::<Undo>() as u64);
            Error::out_of_memory("the changes of the frame", bytes)
        })
    }

    /// Nothing refers to this offset any more: in a sparse frame its file goes with the commit.
    pub(super) fn forget_file(&mut self, raw: i64) -> Result<()> {
        let (Some(files), Ok(number)) = (self.writer.changes.directory_mut(), u32::try_from(raw)) else {
            return Ok(());
        };
        let file = FileId::Chunk(number);
        let len = self.state.store.len(file).unwrap_or(0);
        if files.note_gone(number, len) { self.apply(&WriteStep::Remove { file }) } else { Ok(()) }
    }

    /// The header of the last commit.
    pub(super) fn committed_header(&self) -> &FrameHeader {
        self.writer.changes.old.as_ref().map_or(&self.header, |old| &old.0)
    }
}

/// The header and the offsets of a new frame.
fn layout_new(spec: &FrameSpec) -> Result<(FrameHeader, Offsets)> {
    let too_large = || {
        Error::above(
            Offsets::MAX_CHUNKS,
            spec.nchunks,
            format!("{} chunks are too many for a frame: make chunks larger", spec.nchunks),
        )
    };
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
    let header = FrameHeader::build(&fields, &metalayers)?;
    let offsets = match spec.nchunks {
        0 => Offsets::none(),
        len => Offsets::Uniform { raw: special_offset(spec.fill, spec.params.typesize())?, len },
    };
    Ok((header, offsets))
}
