//! An open frame: what it holds, and its chunks as bytes.

use super::cache::{BlockCache, CacheUse};
use super::changes::Changes;
use super::digests::Digests;
use super::foreign::Locks;
use super::frames;
use super::options::OpenOptions;
use super::pace::Pace;
use super::process::Processing;
use super::recover;
use crate::chunk;
use crate::chunk::ChunkHeader;
use crate::chunk::Params;
use crate::chunk::Special;
use crate::error::{Error, Part, Result};
use crate::exec::Exec;
use crate::frame::Durability;
use crate::frame::Layout;
use crate::frame::{Entry, FrameIndex, FrameParser, Header, Offsets, SameChunks, Step, Trailer};
use crate::io::Store;
use crate::io::{FileId, Opening};
use crate::limits::Limits;
use crate::registry::Context;
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

/// Where a chunk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nowhere: the offset itself says what it holds (`Zeros`, `Nan` or `Uninit`).
    Special(Special),
    /// In `file`, `offset` bytes from its start; at most `available` bytes are there for it.
    Stored { file: FileId, offset: u64, available: u64 },
}

/// An open frame.
///
/// It reads what the frame was when it was opened (or last committed through this handle): the header and the offsets
/// of all chunks are in memory. Writers of this library leave alone what they refer to for as long as the handle is open,
/// in this process and in others, where the file system has locks; C-Blosc2 does not.
///
/// ```no_run
/// use b2nd::schunk::{OpenOptions, SChunk};
/// let frame = SChunk::open("data.b2frame", &OpenOptions::new())?;
/// for n in 0..frame.nchunks() {
///     println!("chunk {n}: {} bytes", frame.chunk(n)?.len());
/// }
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug)]
pub struct SChunk {
    pub(super) store: Box<dyn Store>,
    pub(super) header: Header,
    pub(super) offsets: Offsets,
    pub(super) trailer: Trailer,
    pub(super) params: Params,
    pub(super) context: Context,
    pub(super) exec: Exec,
    /// Whether it was opened for writing.
    pub(super) writable: bool,
    pub(super) changes: Changes,
    /// How the path was opened; `None` in memory and in a store of the caller's.
    pub(super) opening: Option<Opening>,
    /// Where each chunk ends in the uncompressed bytes; filled when chunks that differ in size are read by items.
    pub(super) ends: OnceLock<Vec<u64>>,
    pub(super) cache: BlockCache,
    pub(super) processing: Processing,
    pub(super) durability: Durability,
    pub(super) digests: Box<Digests>,
    pub(super) locks: Locks,
    pub(super) pace: Pace,
}

/// The first bytes of a chunk: any header.
pub(super) const CHUNK_HEADER: usize = 32;

impl SChunk {
    /// Parses the frame that a store has.
    pub(crate) fn load(store: Box<dyn Store>, layout: Layout, options: &OpenOptions) -> Result<Self> {
        let (store, index) = recover::parse(store, layout, options)?;
        let digests = Box::new(Digests::open(&index, options)?);
        let FrameIndex { header, offsets, trailer, .. } = index;
        let mut schunk = SChunk {
            store,
            context: options.context(header.params().typesize()),
            params: header.params().clone(),
            changes: Changes::default(),
            opening: None,
            ends: OnceLock::new(),
            header,
            offsets,
            trailer,
            exec: options.exec.clone(),
            writable: options.write,
            cache: BlockCache::new(options.block_cache),
            processing: options.processing.clone(),
            durability: options.durability,
            digests,
            locks: Locks::new(options),
            pace: Pace::default(),
        };
        if options.write {
            schunk.prepare_writing(options.offset > 0)?;
            schunk.check_last(options.offset > 0)?;
        }
        Ok(schunk)
    }

    /// The most chunks that a frame can have: as many offsets as one chunk holds.
    pub(crate) const MAX_CHUNKS: u64 = Offsets::MAX_CHUNKS;

    /// The number of chunks.
    pub fn nchunks(&self) -> u64 {
        self.offsets.len()
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
    /// How new chunks are compressed, as the header says.
    pub fn params(&self) -> &Params {
        &self.params
    }
    /// How the same data is compressed anew: [`SChunk::params`], in which filters that are only read (old_bytedelta, and id
    /// 165 in frames of Caterva) have given way to ones that are written.
    pub fn params_to_write(&self) -> Params {
        self.params.clone().with_pipeline(self.params.pipeline().to_write(self.context()))
    }
    /// Changes how new chunks are compressed, for this handle.
    pub fn set_params(&mut self, params: Params) {
        self.params = params;
    }
    /// Threads, cancellation and progress.
    pub fn exec(&self) -> &Exec {
        &self.exec
    }
    /// Changes threads, cancellation and progress.
    pub fn set_exec(&mut self, exec: Exec) {
        self.exec = exec;
    }
    /// What the block cache holds, and how often it helped.
    pub fn block_cache(&self) -> CacheUse {
        self.cache.usage()
    }
    /// The decompressed blocks that are kept.
    pub(crate) fn cache(&self) -> &BlockCache {
        &self.cache
    }
    /// The closures that blocks go through.
    pub(crate) fn processing(&self) -> &Processing {
        &self.processing
    }
    /// Whether the bytes of the frame are in memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.store.slice(FileId::Frame).is_some()
    }
    /// What the file may cost.
    pub fn limits(&self) -> &Limits {
        self.context.limits()
    }
    /// What surrounds its chunks, for [`chunk::decode`] and its like.
    pub fn context(&self) -> &Context {
        &self.context
    }
    /// Tells codecs and filters the shape of the blocks, and whether the array is of the time of `caterva`.
    pub(crate) fn set_block_shape(&mut self, block_shape: &[u32], caterva: bool) {
        self.context = self.context.clone().with_block_shape(block_shape).with_caterva(caterva);
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
    pub fn vlmetalayer_names(&self) -> impl Iterator<Item = &str> {
        self.trailer.entries().map(|(name, _)| name.text())
    }
    /// The decompressed content of a vlmetalayer; `None` when there is no such name.
    pub fn vlmetalayer(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some(chunk) = self.trailer.get(name) else { return Ok(None) };
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

    /// Uncompressed bytes of chunk `n`, wherever that is said.
    pub(crate) fn nbytes_of_chunk(&self, n: u64) -> Result<u32> {
        let raw = self.offsets.raw(n)?;
        match self.chunk_nbytes(n) {
            Some(nbytes) => Ok(nbytes),
            None if raw < 0 => self.place(n).map(|_| 0),
            None => Ok(self.chunk_header(n, self.place(n)?)?.nbytes()),
        }
    }

    /// Where chunk `n` is.
    pub(crate) fn place(&self, n: u64) -> Result<Place> {
        let broken = |reason: String| self.located(Error::format(Part::Offsets, None, reason).in_chunk(n));
        match self.offsets.get(n).map_err(|error| self.located(error))? {
            Entry::Special(Special::Nan) if !matches!(self.header.params().typesize(), 4 | 8) => {
                Err(broken("NaN is only for items of 4 and 8 bytes".to_owned()))
            }
            Entry::Special(_) if self.chunksize() == 0 => Err(broken(
                "a chunk without bytes has no size in a frame whose chunks differ in size".to_owned(),
            )),
            Entry::Special(kind) => Ok(Place::Special(kind)),
            Entry::Stored(relative) => match self.layout() {
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

    /// The special kind that the index gives for all chunks at once; `None` where it speaks of each.
    pub(crate) fn uniform(&self) -> Result<Option<Special>> {
        if !matches!(self.offsets, Offsets::Uniform { len: 1.., .. }) {
            return Ok(None);
        }
        match self.place(0)? {
            Place::Special(kind) => Ok(Some(kind)),
            Place::Stored { .. } => Ok(None),
        }
    }

    /// All chunks, those that the index puts in the same place (or makes special in the same way) together.
    pub(crate) fn same_chunks(&self) -> Result<SameChunks> {
        self.offsets.groups()
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
        if let Some(bytes) = self.store.slice(file) {
            let from = usize::try_from(at).map_err(|_| past_end())?;
            return bytes.get(from..).and_then(|tail| tail.get(..len)).ok_or_else(past_end);
        }
        // Only growth is zeroed: all of it is overwritten, or the read fails.
        if buffer.len() < len {
            let more = len - buffer.len();
            buffer.try_reserve(more).map_err(|_| Error::out_of_memory("a compressed chunk", len as u64))?;
            buffer.resize(len, 0);
        } else {
            buffer.truncate(len);
        }
        let begun = self.store.reads_ahead().then(Instant::now);
        self.store.read_at(file, at, buffer)?;
        if let Some(begun) = begun {
            self.pace.note(begun.elapsed(), len);
        }
        Ok(buffer)
    }

    /// Puts the first `len` bytes of a stored chunk into the place of what `buffer` holds.
    pub(crate) fn copy_out(&self, place: Place, len: usize, buffer: &mut Vec<u8>) -> Result<()> {
        if let Place::Stored { file, .. } = place
            && self.store.slice(file).is_some()
        {
            let mut unused = Vec::new();
            let bytes = self.fetch(place, 0, len, &mut unused)?;
            buffer.clear();
            let refused = |_| Error::out_of_memory("a compressed chunk", len as u64);
            buffer.try_reserve(bytes.len()).map_err(refused)?;
            buffer.extend_from_slice(bytes);
            return Ok(());
        }
        self.fetch(place, 0, len, buffer).map(drop)
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
        if let Place::Stored { file, .. } = place
            && self.store.slice(file).is_some()
        {
            // The buffer stays unused: what is in memory is borrowed.
            let bytes = self.borrow(place, len).map_err(in_chunk)?;
            self.check_bytes(n, place, bytes)?;
            return Ok(Cow::Borrowed(bytes));
        }
        let mut buffer = Vec::new();
        self.fetch(place, 0, len, &mut buffer).map_err(in_chunk)?;
        self.check_bytes(n, place, &buffer)?;
        Ok(Cow::Owned(buffer))
    }

    /// The first `len` bytes of a chunk that is in memory.
    fn borrow(&self, place: Place, len: usize) -> Result<&[u8]> {
        let Place::Stored { file, offset, .. } = place else { return Ok(&[]) };
        let bytes = self.store.slice(file).unwrap_or_default();
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        bytes.get(start..).and_then(|tail| tail.get(..len)).ok_or_else(|| {
            Error::format(Part::ChunkHeader, 12, format!("the chunk is cut off: {len} bytes are not there"))
        })
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
        let committed = self.header.len().saturating_add(self.header.cbytes());
        if self.changes.wrote_chunks { committed.max(self.changes.end) } else { committed }
    }

    /// The same error, with the path of the frame.
    pub(super) fn located(&self, error: Error) -> Error {
        match self.path() {
            Some(path) => error.at_path(path),
            None => error,
        }
    }
}

/// Parses a frame out of a store.
pub(super) fn drive(store: &dyn Store, layout: Layout, limits: &Limits) -> Result<FrameIndex> {
    let mut parser = FrameParser::new(store.len(FileId::Frame)?, layout, limits)?;
    let mut buffer = Vec::new();
    loop {
        match parser.step() {
            Step::Done(index) => return Ok(*index),
            Step::Need(range) => supply(&mut parser, store, 0, range, &mut buffer)?,
        }
    }
}

/// Gives a parser what it asks for of a frame that starts at `at`.
pub(super) fn supply(
    parser: &mut FrameParser,
    store: &dyn Store,
    at: u64,
    range: Range<u64>,
    buffer: &mut Vec<u8>,
) -> Result<()> {
    let len = range.end.saturating_sub(range.start);
    parser.supply(frames::part(store, at.saturating_add(range.start), len, buffer)?)
}
