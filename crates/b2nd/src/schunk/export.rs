//! Copies a frame without recompression: its chunks are written one after another.

use super::digests::FreshEntries;
use super::handle::SChunk;
use super::handle::no_store;
use super::options::SaveOptions;
use super::snapshot::{CHUNK_HEADER, FrameState, Place};
use crate::chunk::{ChunkHeader, Special};
use crate::error::{Error, Result};
use crate::frame::Durability;
use crate::frame::Layout;
use crate::frame::digests::StoredLayer;
use crate::frame::plan;
use crate::frame::{ChunkOffset, Offsets};
use crate::io;
use crate::io::{FileId, MemoryStore, WriteStep, WriteStore};
use std::collections::BTreeMap;
use std::path::Path;

impl FrameState {
    /// The whole frame as one contiguous buffer, compact (no gaps), metalayers and vlmetalayers kept byte for byte.
    ///
    /// Chunks are copied as they are, compressed. A frame of the betas gets a header of the current version; where that would
    /// read the metalayer of its array differently, the metalayer becomes a `b2nd` one of the current revision.
    ///
    /// # Errors
    /// [`Error::Io`] or [`Error::Format`] when a chunk cannot be read.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut store = MemoryStore::default();
        let how = CopyHow { behind: false, durability: Durability::None, checksums: self.digests()?.keep };
        self.copy_to(&mut store, Layout::Contiguous, how)?;
        store.take_frame().ok_or_else(|| Error::usage("a frame in memory lost its bytes"))
    }

    /// Saves the frame as a new one at a path: compact, its chunks as they are, compressed, metalayers and vlmetalayers
    /// byte for byte. This packs a sparse frame into one file, and back. It appears at the path when it is whole, with checksums
    /// unless the options say otherwise.
    ///
    /// Memory: one compressed chunk, and the offsets.
    ///
    /// ```
    /// use b2nd::{Layout, OpenOptions, SChunk, SaveOptions};
    /// # use b2nd::{Dtype, Options};
    /// # let dir = std::env::temp_dir().join(format!("b2nd-doc-save-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir).unwrap();
    /// # let frame = SChunk::from_bytes(Options::new().create_in_memory(Dtype::parse("<i4")?, [9])?.to_bytes()?, &OpenOptions::new())?;
    /// frame.save(dir.join("folder"), &SaveOptions::new().with_layout(Layout::Sparse))?;
    /// let folder = SChunk::open(dir.join("folder"), &OpenOptions::new())?;
    /// folder.save(dir.join("file"), &SaveOptions::new())?;
    /// assert_eq!(std::fs::read(dir.join("file")).unwrap(), folder.to_bytes()?);
    /// assert!(folder.has_checksums()? && !frame.has_checksums()?);
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::AlreadyExists`]; [`Error::Usage`] when the path is the frame itself or inside it; [`Error::Io`] and
    /// [`Error::Format`] when a chunk cannot be read or written. Then nothing remains.
    pub fn save(&self, path: impl AsRef<Path>, options: &SaveOptions) -> Result<()> {
        self.save_at(path.as_ref(), options, options.common.checksums.unwrap_or(true), None)
    }

    /// Like [`SChunk::save`], but by default with checksums only if this frame has them; with permissions and owner
    /// of the frame at `like`, if given.
    pub(crate) fn save_kept(&self, path: &Path, options: &SaveOptions, like: Option<&Path>) -> Result<()> {
        self.save_at(path, options, options.common.checksums.unwrap_or(self.digests()?.keep), like)
    }

    fn save_at(
        &self,
        path: &Path,
        options: &SaveOptions,
        checksums: bool,
        like: Option<&Path>,
    ) -> Result<()> {
        if self.path().is_some_and(|own| io::is_within(own, path)) {
            let shown = path.display();
            return Err(Error::usage(format!("{shown}: a frame cannot be copied onto itself")));
        }
        let _owner = options.common.owner_lock().then(|| io::Owner::of_new(path)).transpose()?;
        let mut store = io::create(path, options.overwrite, options.layout, like)?;
        let how = CopyHow { behind: false, durability: options.common.durability, checksums };
        match options.common.given_exec() {
            Some(exec) => FrameState { exec: exec.clone(), ..self.share() }.copy_counted(
                store.as_mut(),
                options.layout,
                how,
                |bytes| exec.progress(bytes),
            ),
            None => self.copy_to(store.as_mut(), options.layout, how),
        }
    }

    /// Appends a copy of the frame to a file, behind all that is in it, and says at which offset: for
    /// [`OpenOptions::with_offset`](super::OpenOptions::with_offset), or python-blosc2's `offset=`. A file that is not
    /// there is made.
    ///
    /// What is in the file stays as it is. A copy that is cut off by a crash is no frame: its header is written last. Of two
    /// that append to one file at the same time, the second gets an error ([`Error::Locked`]).
    ///
    /// ```
    /// # use b2nd::{Dtype, OpenOptions, Options, SChunk};
    /// # let path = std::env::temp_dir().join(format!("b2nd-doc-append-{}", std::process::id()));
    /// # let frame = SChunk::from_bytes(Options::new().create_in_memory(Dtype::parse("<i4")?, [9])?.to_bytes()?, &OpenOptions::new())?;
    /// let first = frame.append_to(&path)?;
    /// let second = frame.append_to(&path)?;
    /// assert_eq!((first, second), (0, SChunk::open(&path, &OpenOptions::new().with_offset(0))?.frame_len()));
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Format`] when a chunk cannot be read or written, [`Error::Usage`] for a directory;
    /// then the file is as it was.
    pub fn append_to(&self, path: impl AsRef<Path>) -> Result<u64> {
        let _owner = io::Owner::of_new(path.as_ref())?;
        let (mut store, offset) = io::append(path.as_ref())?;
        let copied = self.copy_to(store.as_mut(), Layout::Contiguous, CopyHow::BEHIND);
        if copied.is_err() {
            // The error of the copy is more useful than one of undoing it.
            let _ = store.apply(&WriteStep::SetLen { file: FileId::Frame, len: 0 });
        }
        copied.map(|()| offset)
    }

    /// Writes a copy of the frame into a [`WriteStore`](crate::io::WriteStore) of the caller's, which has nothing yet, as [`SChunk::save`](crate::schunk::FrameState::save) does.
    ///
    /// The header comes last, with a [`WriteStep::Sync`] before it: what is cut off is no frame.
    ///
    /// # Errors
    /// What the store returns, and [`Error::Format`] when a chunk cannot be read.
    pub fn save_to_store(&self, store: &mut dyn WriteStore, layout: Layout) -> Result<()> {
        self.copy_to(store, layout, CopyHow::BEHIND)
    }

    /// Copies the frame step by step into a store that has nothing yet.
    pub(super) fn copy_to(&self, store: &mut dyn WriteStore, layout: Layout, how: CopyHow) -> Result<()> {
        self.copy_counted(store, layout, how, |_| {})
    }

    /// As [`FrameState::copy_to`]; `written` is told the bytes of each chunk.
    fn copy_counted(
        &self,
        store: &mut dyn WriteStore,
        layout: Layout,
        how: CopyHow,
        written: impl Fn(u64),
    ) -> Result<()> {
        let CopyHow { behind, durability, checksums } = how;
        let header = self.header_for(layout, None, &[])?;
        let mut copy = Copy { store, layout, header_len: header.len(), end: header.len(), next: 0, bytes: 0 };
        let mut fresh = FreshEntries::default();
        let offsets = self.copy_chunks(|bytes| {
            let raw = copy.put(bytes)?;
            written(bytes.len() as u64);
            if checksums {
                fresh.note(raw, bytes)?;
            }
            Ok(raw)
        })?;
        let draft = if checksums { self.draft_of_copy(&fresh, &offsets)? } else { None };
        let Copy { store, end, next, bytes, .. } = copy;
        let added: Vec<u32> = (0..next).collect();
        let commit = plan::Commit {
            header: &header,
            offsets: &offsets,
            trailer: self.trailer()?,
            digests: draft.as_ref(),
            end,
            chunk_bytes: bytes,
            added: &added,
            obsolete: &[],
            emptied: None,
            first: true,
            start: store.start(),
            long: None,
            durability,
        };
        let (_, steps) = plan::plan_copy(&commit, behind, &self.exec.clone().without_progress())?;
        steps.iter().try_for_each(|step| store.apply(step))
    }

    /// Hands the bytes of all stored chunks to `put`, which says where it puts them; returns the offsets of the copy.
    pub(super) fn copy_chunks(&self, mut put: impl FnMut(&[u8]) -> Result<i64>) -> Result<Offsets> {
        if let Offsets::Uniform { raw: ..0, .. } = &**self.offsets()? {
            return Ok(Offsets::clone(self.offsets()?));
        }
        let mut buffer = Vec::new();
        // Chunks that share one stored copy keep sharing it: a tiny index can name one chunk for all.
        let mut shared = self.shared()?;
        Offsets::collect(self.nchunks(), |n| {
            self.exec.check_cancelled()?;
            let raw = self.offsets()?.raw(n)?;
            if let Some(Some(known)) = shared.get(&raw) {
                return Ok(*known);
            }
            let new = self.copy_chunk(n, &mut buffer, &mut put)?;
            if let Some(known) = shared.get_mut(&raw) {
                *known = Some(new);
            }
            Ok(new)
        })
    }

    /// Passes one chunk to `put`; a special chunk may consist of an offset only.
    fn copy_chunk(
        &self,
        n: u64,
        buffer: &mut Vec<u8>,
        put: &mut impl FnMut(&[u8]) -> Result<i64>,
    ) -> Result<i64> {
        let place = self.place(n)?;
        let special = match place {
            Place::Special(kind) => Some(kind),
            Place::Stored { .. } => {
                let header = self.chunk_header(n, place)?;
                let same_items = u32::from(header.typesize()) == self.header.params().typesize();
                match header.special() {
                    // On disk the reference accepts these as offsets only.
                    Some(kind @ (Special::Zeros | Special::Uninit)) if self.chunksize() > 0 => Some(kind),
                    Some(Special::Nan) if self.chunksize() > 0 && same_items => Some(Special::Nan),
                    _ => None,
                }
            }
        };
        if let Some(raw) = special.and_then(|kind| ChunkOffset::Special(kind).to_raw()) {
            return Ok(raw);
        }
        let len = usize::try_from(self.chunk_header(n, place)?.cbytes()).unwrap_or(usize::MAX);
        let bytes = self.fetch(place, 0, len, buffer).map_err(|error| self.located(error.in_chunk(n)))?;
        self.check_bytes(n, place, bytes)?;
        put(bytes).map_err(|error| self.located(error.in_chunk(n)))
    }

    /// The offsets that several chunks have, each with room for its new value.
    fn shared(&self) -> Result<BTreeMap<i64, Option<i64>>> {
        let groups = self.same_chunks()?;
        let firsts = (0..groups.len()).filter_map(|group| groups.get(group));
        let several = firsts.filter(|(_, others)| others.len() > 0);
        several.map(|(first, _)| Ok((self.offsets()?.raw(first)?, None))).collect()
    }
}

impl SChunk {
    /// As [`SChunk::to_bytes`](crate::schunk::FrameState::to_bytes); a contiguous frame in memory of its own that has no gaps is given out without a copy.
    ///
    /// ```
    /// # use b2nd::{Dtype, OpenOptions, Options, SChunk};
    /// let bytes = Options::new().create_in_memory(Dtype::parse("<i4")?, [1000])?.to_bytes()?;
    /// let place = bytes.as_ptr();
    /// let frame = SChunk::from_bytes(bytes, &OpenOptions::new())?;
    /// assert_eq!(frame.into_bytes()?.as_ptr(), place);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SChunk::to_bytes`](crate::schunk::FrameState::to_bytes).
    pub fn into_bytes(mut self) -> Result<Vec<u8>> {
        // Only a frame in memory can give out its bytes; for others the check of all chunks would be wasted.
        if self.is_in_memory()
            && self.is_compact()?
            && let Some(mut bytes) = self.take_frame()
        {
            bytes.truncate(usize::try_from(self.header.frame_len()).unwrap_or(usize::MAX));
            return Ok(bytes);
        }
        self.to_bytes()
    }

    /// Whether a contiguous frame is one of today, as committed, without bytes that nothing refers to.
    fn is_compact(&self) -> Result<bool> {
        if self.layout() != Layout::Contiguous || !self.header.is_current() || self.has_changes() {
            return Ok(false);
        }
        let groups = self.same_chunks()?;
        let mut end = self.header.len();
        for (n, _) in (0..groups.len()).filter_map(|group| groups.get(group)) {
            let place = self.place(n)?;
            if let Place::Stored { .. } = place {
                end = end.saturating_add(u64::from(self.chunk_header(n, place)?.cbytes()));
            }
        }
        if end != self.header.len().saturating_add(self.cbytes()) {
            return Ok(false);
        }
        if self.header.nbytes() > 0 {
            let mut index = [0; CHUNK_HEADER];
            self.store.read_at(FileId::Frame, end, &mut index)?;
            end = end.saturating_add(u64::from(ChunkHeader::parse(&index)?.cbytes()));
        }
        let trailer = self.trailer()?;
        let trailer = trailer.len_with(trailer.checksums().0.map(StoredLayer::len))?;
        Ok(end.saturating_add(trailer as u64) == self.frame_len())
    }

    /// Takes the bytes of a frame in memory, if nothing else refers to them.
    fn take_frame(&mut self) -> Option<Vec<u8>> {
        self.state.store = no_store();
        let taken = self.writer.store.take_frame();
        self.state.store = self.writer.store.reader();
        taken
    }
}

/// How a copy is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct CopyHow {
    /// Whether the header is written last, after a sync, because other processes may read the target.
    behind: bool,
    durability: Durability,
    checksums: bool,
}

impl CopyHow {
    /// Copies into a store that other processes may read.
    pub(super) const BEHIND: Self = CopyHow { behind: true, durability: Durability::Full, checksums: true };
}

/// A copy that is being made.
struct Copy<'a> {
    store: &'a mut dyn WriteStore,
    layout: Layout,
    header_len: u64,
    /// Contiguous: offset of the next chunk.
    end: u64,
    /// Sparse: the number of the next chunk file.
    next: u32,
    /// The bytes of all chunks.
    bytes: u64,
}

impl Copy<'_> {
    /// Writes a chunk; returns where it is.
    fn put(&mut self, chunk: &[u8]) -> Result<i64> {
        let too_large = || Error::too_large(i64::MAX as u64, "the frame is too large");
        self.bytes = self.bytes.saturating_add(chunk.len() as u64);
        let bytes = chunk.into();
        match self.layout {
            Layout::Contiguous => {
                let offset = self.end;
                self.store.apply(&WriteStep::WriteAt { file: FileId::Frame, offset, bytes })?;
                self.end = offset.saturating_add(chunk.len() as u64);
                i64::try_from(offset.saturating_sub(self.header_len)).map_err(|_| too_large())
            }
            Layout::Sparse => {
                let number = self.next;
                self.next = number.checked_add(1).ok_or_else(too_large)?;
                self.store.apply(&WriteStep::Put { file: FileId::Chunk(number), bytes, sync: false })?;
                Ok(i64::from(number))
            }
        }
    }
}
