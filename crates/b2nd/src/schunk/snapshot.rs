//! A state of a frame, to be read: immutable, shared by all that read it.

use super::cache::{BlockCache, CacheUse};
use super::catalog::CatalogState;
use super::frame_options::FrameOptions;
use super::hooks::Processing;
use super::pace::Pace;
use crate::chunk;
use crate::chunk::ChunkHeader;
use crate::chunk::Params;
use crate::chunk::Special;
use crate::error::{Error, Part, Result};
use crate::exec::Exec;
use crate::filter::grown;
use crate::frame::Layout;
use crate::frame::{ChunkOffset, FrameHeader, Offsets, SameChunks};
use crate::io::{FileId, Machine, RangeCosts, ReadStore};
use crate::limits::Limits;
use crate::registry::Context;
use std::borrow::Cow;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Where a chunk is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Not stored: the offset itself says what the chunk contains (`Zeros`, `Nan` or `Uninit`).
    Special(Special),
    /// In `file`, `offset` bytes from its start; at most `available` bytes are there for it.
    Stored { file: FileId, offset: u64, available: u64 },
}

/// The first bytes of a chunk: any header.
pub(super) const CHUNK_HEADER: usize = 32;

/// A committed state of a frame: what readers, iterators and threads of a write hold.
///
/// It is immutable and cheap to clone, and it stays readable when the frame changes: a writer of this library leaves alone
/// what a snapshot refers to, in this process and in others, where the file system has locks. C-Blosc2 does not.
///
/// ```
/// use b2nd::Params;
/// use b2nd::schunk::CreateOptions;
/// let mut schunk = CreateOptions::new(Params::new(1)).create_in_memory()?;
/// schunk.append(b"before")?;
/// let snapshot = schunk.snapshot()?;
/// schunk.update(0, b"behind")?;
/// assert_eq!(snapshot.decompress_chunk(0)?, b"before");
/// assert_eq!(schunk.decompress_chunk(0)?, b"behind");
/// # Ok::<(), b2nd::Error>(())
/// ```
pub struct FrameSnapshot(FrameState);

impl Clone for FrameSnapshot {
    fn clone(&self) -> Self {
        FrameSnapshot(self.0.share())
    }
}

impl FrameSnapshot {
    /// The snapshot of a committed state.
    pub(super) fn of(state: FrameState) -> Self {
        FrameSnapshot(state)
    }
    /// The state that it shows.
    pub(crate) fn into_state(self) -> FrameState {
        self.0
    }
}

impl Deref for FrameSnapshot {
    type Target = FrameState;
    fn deref(&self) -> &FrameState {
        &self.0
    }
}

/// A readable state of a frame, shared by [`FrameSnapshot`] and an open [`SChunk`](crate::SChunk).
///
/// It cannot be cloned, because a handle may have uncommitted changes. [`SChunk::snapshot`](crate::SChunk::snapshot)
/// returns a state that can be kept.
pub struct FrameState {
    pub(super) store: Arc<dyn ReadStore>,
    pub(super) header: Arc<FrameHeader>,
    pub(super) catalog: CatalogState,
    /// The number of chunks.
    pub(super) nchunks: u64,
    pub(super) params: Params,
    pub(super) context: Context,
    pub(super) exec: Exec,
    /// Where the last of the chunks that were written since the last commit ends; 0 in a committed state.
    pub(super) written_end: u64,
    /// Where each chunk ends in the uncompressed bytes; filled when chunks that differ in size are read by items.
    pub(super) ends: Arc<OnceLock<Vec<u64>>>,
    pub(super) cache: Arc<BlockCache>,
    pub(super) processing: Processing,
    pub(super) pace: Arc<Pace>,
}

impl FrameState {
    /// The same state, with the same cache.
    pub(super) fn share(&self) -> FrameState {
        FrameState {
            store: Arc::clone(&self.store),
            header: Arc::clone(&self.header),
            catalog: self.catalog.clone(),
            nchunks: self.nchunks,
            params: self.params.clone(),
            context: self.context.clone(),
            exec: self.exec.clone(),
            written_end: self.written_end,
            ends: Arc::clone(&self.ends),
            cache: Arc::clone(&self.cache),
            processing: self.processing.clone(),
            pace: Arc::clone(&self.pace),
        }
    }
    /// The state that was parsed out of a store; `nchunks` chunks.
    pub(super) fn new(
        store: Arc<dyn ReadStore>,
        header: FrameHeader,
        nchunks: u64,
        catalog: CatalogState,
        options: &FrameOptions,
    ) -> Self {
        FrameState {
            store,
            context: options.context(header.params().typesize()),
            params: header.params().clone(),
            ends: Arc::default(),
            header: Arc::new(header),
            catalog,
            nchunks,
            exec: options.exec.clone(),
            written_end: 0,
            cache: Arc::new(BlockCache::new(options.block_cache)),
            processing: options.processing.clone(),
            pace: Arc::default(),
        }
    }

    /// The most chunks that a frame can have: the number of offsets that fit in one chunk.
    pub(crate) const MAX_CHUNKS: u64 = Offsets::MAX_CHUNKS;

    /// The number of chunks.
    pub fn nchunks(&self) -> u64 {
        self.catalog.loaded().map_or(self.nchunks, |catalog| catalog.offsets.len())
    }
    /// Uncompressed bytes of all chunks.
    pub fn nbytes(&self) -> u64 {
        self.header.nbytes()
    }
    /// Compressed bytes of all chunks, as of the last commit (in a contiguous frame the length of its data section, gaps
    /// included).
    pub fn cbytes(&self) -> u64 {
        self.header.cbytes()
    }
    /// The length of the frame in bytes, as of the last commit (of `chunks.b2frame` in a sparse one).
    pub fn frame_len(&self) -> u64 {
        self.header.frame_len()
    }
    /// Uncompressed bytes of a chunk; 0 when chunks differ in size.
    pub fn chunksize(&self) -> u32 {
        self.header.chunksize()
    }
    /// Contiguous or sparse.
    pub fn layout(&self) -> Layout {
        self.header.layout()
    }
    /// The format version of the frame: 1, 2 or 3 (0 for the first beta's).
    pub fn version(&self) -> u8 {
        self.header.version()
    }
    /// Parameters by which new chunks are compressed, from the header.
    pub fn params(&self) -> &Params {
        &self.params
    }
    /// How the same data is compressed anew: [`SChunk::params`](crate::schunk::FrameState::params), in which filters that are only read (old_bytedelta, and id
    /// 165 in frames of Caterva) have given way to ones that are written.
    pub fn params_to_write(&self) -> Params {
        self.params.clone().with_pipeline(self.params.pipeline().to_write(self.context()))
    }
    /// Threads, cancellation and progress.
    pub fn exec(&self) -> &Exec {
        &self.exec
    }
    /// Size and hits of the block cache.
    pub fn block_cache(&self) -> CacheUse {
        self.cache.usage()
    }
    /// The decompressed blocks that are kept.
    pub(crate) fn cache(&self) -> &BlockCache {
        &self.cache
    }
    /// The closures that process blocks.
    pub(crate) fn processing(&self) -> &Processing {
        &self.processing
    }
    /// Whether the bytes of the frame are in memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.store.is_in_memory()
    }
    /// Costs of the store, which decide which ranges are joined.
    pub(crate) fn range_costs(&self) -> RangeCosts {
        self.store.range_costs()
    }
    /// Whether reads are left to the store as a whole.
    pub(crate) fn answers(&self) -> bool {
        self.store.answers()
    }
    /// Lets the store fetch what a read asks for.
    pub(crate) fn answer(&self, machine: &mut dyn Machine) -> Result<()> {
        self.store.answer(machine).map_err(|error| self.located(error))
    }
    /// The limits on what the file may cost.
    pub fn limits(&self) -> &Limits {
        self.context.limits()
    }
    /// What surrounds its chunks, for [`chunk::decode`] and its like.
    pub fn context(&self) -> &Context {
        &self.context
    }
    /// The path, where there is one.
    pub fn path(&self) -> Option<&Path> {
        self.store.path()
    }
    /// The metalayers of the header: names and contents, in stored order.
    ///
    /// Bytes of a name that are not UTF-8 show as replacement characters; in the file they stay as they are.
    pub fn metalayers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.header.metalayers().map(|(name, content)| (name.text(), content))
    }
    /// The names of the vlmetalayers, in stored order.
    ///
    /// # Errors
    /// [`Error::Format`] when the trailer is damaged, [`Error::Io`] when it cannot be read.
    pub fn vlmetalayer_names(&self) -> Result<impl Iterator<Item = &str>> {
        Ok(self.trailer()?.entries().map(|(name, _)| name.text()))
    }
    /// The decompressed content of a vlmetalayer; `None` when there is no such name.
    pub fn vlmetalayer(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some(chunk) = self.trailer()?.get(name) else { return Ok(None) };
        self.check_vlmetalayer(name, chunk)?;
        let broken = |reason: String| Error::format(Part::Vlmetalayer, None, format!("`{name}`: {reason}"));
        let header = ChunkHeader::parse(chunk)?;
        if u64::from(header.cbytes()) != chunk.len() as u64 {
            let (says, len) = (header.cbytes(), chunk.len());
            return Err(self.located(broken(format!("a chunk of {says} bytes in {len}"))));
        }
        Limits::check("a vlmetalayer", u64::from(header.nbytes()), self.limits().max_meta_bytes())?;
        let limits = self.limits().clone().with_max_chunk_bytes(self.limits().max_meta_bytes());
        let content =
            chunk::decode(chunk, &limits, &self.exec.clone().without_progress()).map_err(
                |error| match error {
                    Error::Format(inner) => broken(format!("{}: {}", inner.part().name(), inner.reason())),
                    other => other,
                },
            );
        content.map(Some).map_err(|error| self.located(error))
    }

    /// Uncompressed bytes that chunk `n` must have; `None` when chunks differ in size.
    pub(crate) fn chunk_nbytes(&self, n: u64) -> Option<u32> {
        let size = u64::from(self.chunksize());
        let rest = n.checked_mul(size).and_then(|before| self.nbytes().checked_sub(before))?;
        u32::try_from(rest.min(size)).ok().filter(|_| size > 0)
    }

    /// Uncompressed bytes of chunk `n`.
    pub(crate) fn nbytes_of_chunk(&self, n: u64) -> Result<u32> {
        let raw = self.offsets()?.raw(n)?;
        match self.chunk_nbytes(n) {
            Some(nbytes) => Ok(nbytes),
            None if raw < 0 => self.place(n).map(|_| 0),
            None => Ok(self.chunk_header(n, self.place(n)?)?.nbytes()),
        }
    }

    /// Where chunk `n` is stored, from the index alone: the length of a chunk file is unknown and given as [`u32::MAX`].
    pub(crate) fn place_in_index(&self, n: u64) -> Result<Place> {
        match self.offsets()?.get(n).map_err(|error| self.located(error))? {
            ChunkOffset::Stored(relative) if self.layout() == Layout::Sparse => {
                let broken = |_| Error::format(Part::Offsets, None, format!("chunk file {relative:X}"));
                let number =
                    u32::try_from(relative).map_err(broken).map_err(|e| self.located(e.in_chunk(n)))?;
                let available = u64::from(u32::MAX);
                Ok(Place::Stored { file: FileId::Chunk(number), offset: 0, available })
            }
            _ => self.place(n),
        }
    }

    /// Upper bound of the stored length of chunk `n` by the index: up to the next chunk.
    pub(crate) fn length_bound(&self, n: u64) -> Option<u64> {
        let offsets = self.offsets().ok()?;
        let here = offsets.raw(n).ok()?;
        let next = offsets.raw(n.checked_add(1)?).ok().filter(|next| *next > here && here >= 0);
        let mean = self.cbytes().checked_div(self.nchunks()).unwrap_or(0);
        match self.layout() {
            Layout::Contiguous => next.map(|next| next.abs_diff(here)).or(Some(mean.saturating_mul(2))),
            Layout::Sparse => Some(mean.saturating_mul(2)),
        }
    }

    /// Where chunk `n` is stored.
    pub(crate) fn place(&self, n: u64) -> Result<Place> {
        let broken = |reason: String| self.located(Error::format(Part::Offsets, None, reason).in_chunk(n));
        match self.offsets()?.get(n).map_err(|error| self.located(error))? {
            ChunkOffset::Special(Special::Nan) if !matches!(self.header.params().typesize(), 4 | 8) => {
                Err(broken("NaN is only for items of 4 and 8 bytes".to_owned()))
            }
            ChunkOffset::Special(_) if self.chunksize() == 0 => Err(broken(
                "a chunk without bytes has no size in a frame whose chunks differ in size".to_owned(),
            )),
            ChunkOffset::Special(kind) => Ok(Place::Special(kind)),
            ChunkOffset::Stored(relative) => match self.layout() {
                Layout::Contiguous => {
                    let end = self.data_end();
                    let offset = self.header.len().checked_add(relative).filter(|offset| *offset < end);
                    let offset =
                        offset.ok_or_else(|| broken(format!("offset {relative} is past the data")))?;
                    Ok(Place::Stored { file: FileId::Frame, offset, available: end - offset })
                }
                Layout::Sparse => {
                    let number =
                        u32::try_from(relative).map_err(|_| broken(format!("chunk file {relative:X}")))?;
                    let file = FileId::Chunk(number);
                    let available = self.store.len(file).map_err(|error| error.in_chunk(n))?;
                    Ok(Place::Stored { file, offset: 0, available })
                }
            },
        }
    }

    /// The special kind of all chunks, if the index has one for all; `None` if it has an entry for each.
    pub(crate) fn uniform(&self) -> Result<Option<Special>> {
        if !matches!(**self.offsets()?, Offsets::Uniform { len: 1.., .. }) {
            return Ok(None);
        }
        match self.place(0)? {
            Place::Special(kind) => Ok(Some(kind)),
            Place::Stored { .. } => Ok(None),
        }
    }

    /// Groups all chunks that share a stored copy or a special kind.
    pub(crate) fn same_chunks(&self) -> Result<SameChunks> {
        self.offsets()?.groups()
    }

    /// Bytes `start..start+len` of a stored chunk: borrowed from memory, or read into `buffer` (what it held is lost).
    pub(crate) fn fetch<'a>(
        &'a self,
        place: Place,
        start: u64,
        len: usize,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        let Place::Stored { file, offset, available } = place else { return Ok(&[]) };
        let past_end = || {
            let reason = format!("bytes {start} to {} of {available}", start.saturating_add(len as u64));
            self.located(Error::format(Part::ChunkHeader, None, format!("the chunk is cut off: {reason}")))
        };
        if start.checked_add(len as u64).is_none_or(|end| end > available) {
            return Err(past_end());
        }
        let at = offset.checked_add(start).ok_or_else(past_end)?;
        if let Some(bytes) = self.store.slice(file, at..at.saturating_add(len as u64)) {
            return Ok(bytes);
        }
        // Only growth is zeroed: all of it is overwritten, or the read fails. A buffer keeps its length, so that a long read
        // after a short one zeroes nothing.
        let buffer = grown(buffer, len, "a compressed chunk")?;
        let begun = self.store.reads_ahead().then(Instant::now);
        self.store.read_at(file, at, buffer)?;
        if let Some(begun) = begun {
            self.pace.note(begun.elapsed(), len);
        }
        Ok(buffer)
    }

    /// The compressed bytes of chunk `n`; a special chunk is made up.
    pub fn chunk(&self, n: u64) -> Result<Cow<'_, [u8]>> {
        let place = self.place(n)?;
        let in_chunk = |error: Error| self.located(error.in_chunk(n));
        if let Place::Special(kind) = place {
            let nbytes = self.chunk_nbytes(n).unwrap_or(0);
            // What the frame names for its other chunks, a codec of somebody's own perhaps, plays no part here.
            let described = self.header.params();
            let params = Params::new(described.typesize()).with_blocksize(described.blocksize());
            return chunk::encode_special(kind, nbytes, &[], &params).map(Cow::Owned).map_err(in_chunk);
        }
        let header = self.chunk_header(n, place)?;
        let len = usize::try_from(header.cbytes()).unwrap_or(usize::MAX);
        if let Some(bytes) = self.borrowed(place, len) {
            self.check_bytes(n, place, bytes)?;
            return Ok(Cow::Borrowed(bytes));
        }
        let mut buffer = Vec::new();
        self.fetch(place, 0, len, &mut buffer).map_err(in_chunk)?;
        buffer.truncate(len);
        self.check_bytes(n, place, &buffer)?;
        Ok(Cow::Owned(buffer))
    }

    /// The first `len` bytes of a stored chunk, where they are in memory in one piece.
    pub(crate) fn borrowed(&self, place: Place, len: usize) -> Option<&[u8]> {
        let Place::Stored { file, offset, available } = place else { return None };
        let end = offset.checked_add(len as u64).filter(|_| len as u64 <= available)?;
        self.store.slice(file, offset..end)
    }

    /// The header of a stored chunk, checked against what is there for it and against the frame.
    pub(crate) fn chunk_header(&self, n: u64, place: Place) -> Result<ChunkHeader> {
        let in_chunk = |error: Error| self.located(error.in_chunk(n));
        let Place::Stored { available, .. } = place else {
            return Err(Error::usage(format!("chunk {n} is special and has no header")));
        };
        let mut buffer = Vec::new();
        let first = CHUNK_HEADER.min(usize::try_from(available).unwrap_or(usize::MAX));
        let bytes = self.fetch(place, 0, first, &mut buffer).map_err(in_chunk)?;
        let header = ChunkHeader::parse(bytes).map_err(in_chunk)?;
        if u64::from(header.cbytes()) > available {
            let reason = format!("{} bytes, and {available} are there for it", header.cbytes());
            return Err(in_chunk(Error::format(Part::ChunkHeader, 12, reason)));
        }
        match self.chunk_nbytes(n) {
            Some(nbytes) if nbytes != header.nbytes() => {
                let reason = format!("{} uncompressed bytes, and the frame says {nbytes}", header.nbytes());
                Err(in_chunk(Error::format(Part::ChunkHeader, 4, reason)))
            }
            _ => Ok(header),
        }
    }

    /// Where the chunks of a contiguous frame end: those of the last commit, or those written since.
    pub(super) fn data_end(&self) -> u64 {
        self.header.len().saturating_add(self.header.cbytes()).max(self.written_end)
    }

    /// The same error, with the path of the frame.
    pub(super) fn located(&self, error: Error) -> Error {
        match self.path() {
            Some(path) => error.at_path(path),
            None => error,
        }
    }
}
