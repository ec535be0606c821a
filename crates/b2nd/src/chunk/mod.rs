//! Chunks: the compressed bytes of up to 2 GiB of items, cut into blocks that decode on their own. No I/O here.

use crate::codec::Codec;
use crate::error::Result;
use crate::exec::Exec;
use crate::exec::Scratch;
use crate::filter::Pipeline;
use crate::limits::Limits;
use std::ops::Range;

/// Whether the bytes of items are split into one stream for each byte of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SplitMode {
    /// Always (stored as 1).
    Always,
    /// Never (stored as 2).
    Never,
    /// Where it helps: for shuffled items of up to 16 bytes with the fast codecs (stored as 3).
    #[default]
    Auto,
    /// As `Auto` (stored as 4).
    ForwardCompat,
}

/// A chunk that stands for one value and stores no stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Special {
    /// All bytes zero.
    Zeros,
    /// All items NaN (4- or 8-byte floats).
    Nan,
    /// All items one stored value.
    Value,
    /// Never written; read as zeros.
    Uninit,
}

/// How chunks are compressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    codec: Codec,
    clevel: u8,
    codec_meta: u8,
    pipeline: Pipeline,
    split: SplitMode,
    typesize: u32,
    blocksize: Option<u32>,
    short_header: bool,
}

impl Params {
    /// The default codec.
    pub const DEFAULT_CODEC: Codec = Codec::Zstd;
    /// The default level.
    pub const DEFAULT_CLEVEL: u8 = 5;

    /// The defaults (zstd 5, shuffle) for items of `typesize` bytes.
    pub fn new(typesize: u32) -> Self {
        Params {
            codec: Self::DEFAULT_CODEC,
            clevel: Self::DEFAULT_CLEVEL,
            codec_meta: 0,
            pipeline: Pipeline::from_bytes([0, 0, 0, 0, 0, 1], [0; 6]),
            split: SplitMode::Auto,
            typesize,
            blocksize: None,
            short_header: false,
        }
    }
    /// Sets the size of an item in bytes (its real value, above 255 too).
    #[must_use]
    pub fn with_typesize(mut self, typesize: u32) -> Self {
        self.typesize = typesize;
        self
    }
    /// Sets the codec.
    #[must_use]
    pub fn with_codec(mut self, codec: Codec) -> Self {
        self.codec = codec;
        self
    }
    /// Sets the level, 0 (store) to 9.
    #[must_use]
    pub fn with_clevel(mut self, clevel: u8) -> Self {
        self.clevel = clevel;
        self
    }
    /// Sets the filters.
    #[must_use]
    pub fn with_pipeline(mut self, pipeline: Pipeline) -> Self {
        self.pipeline = pipeline;
        self
    }
    /// Sets the split mode.
    #[must_use]
    pub fn with_split(mut self, split: SplitMode) -> Self {
        self.split = split;
        self
    }
    /// Sets the block size in bytes; it is rounded down to whole items. `None`: chosen by [`auto_blocksize`].
    #[must_use]
    pub fn with_blocksize(mut self, blocksize: Option<u32>) -> Self {
        self.blocksize = blocksize;
        self
    }
    /// Writes the 16-byte header (no runs, one of shuffle and bitshuffle).
    #[must_use]
    pub fn with_short_header(mut self, short: bool) -> Self {
        self.short_header = short;
        self
    }
    /// The codec.
    pub fn codec(&self) -> Codec {
        self.codec
    }
    /// The level.
    pub fn clevel(&self) -> u8 {
        self.clevel
    }
    /// The filters.
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }
    /// The split mode.
    pub fn split(&self) -> SplitMode {
        self.split
    }
    /// The size of an item in bytes (its real value, above 255 too).
    pub fn typesize(&self) -> u32 {
        self.typesize
    }
    /// The block size in bytes, where it is given.
    pub fn blocksize(&self) -> Option<u32> {
        self.blocksize
    }
}

/// The header of a chunk, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkHeader {}

impl ChunkHeader {
    /// Reads the header at the start of `bytes` (16 or 32 bytes are needed); checks it by itself, not against the rest.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let _ = bytes;
        todo!()
    }
    /// Uncompressed bytes.
    pub fn nbytes(&self) -> u32 {
        todo!()
    }
    /// Bytes of the whole chunk, header included.
    pub fn cbytes(&self) -> u32 {
        todo!()
    }
    /// Uncompressed bytes of a block.
    pub fn blocksize(&self) -> u32 {
        todo!()
    }
    /// The kind of special chunk, when it is one.
    pub fn special(&self) -> Option<Special> {
        todo!()
    }
}

/// What the body of a chunk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content<'a> {
    /// One item repeated over the whole chunk (zeros, NaN, uninitialised as zeros, or the stored value).
    Repeat(&'a [u8]),
    /// Raw bytes after the header: block `n` is at [`ChunkHead::block_span`], nothing to decode.
    Raw,
    /// Compressed blocks.
    Blocks,
}

/// The header and block offsets of a chunk, checked; all that must be known before single blocks are read.
///
/// Holds no block data, so the blocks may come from anywhere: a slice, a file, a partial fetch.
#[derive(Debug, Clone)]
pub(crate) struct ChunkHead {}

impl ChunkHead {
    /// The number of bytes from the start of the chunk that [`ChunkHead::parse`] needs, from its first 32 bytes (or all, when
    /// it is shorter). `available` bytes are there for the chunk at most.
    pub(crate) fn needed(first: &[u8], available: u64, limits: &Limits) -> Result<usize> {
        let _ = (first, available, limits);
        todo!()
    }
    /// Parses and checks header and block offsets; `bytes` has at least [`ChunkHead::needed`] bytes.
    pub(crate) fn parse(bytes: &[u8], available: u64, limits: &Limits) -> Result<Self> {
        let _ = (bytes, available, limits);
        todo!()
    }
    pub(crate) fn header(&self) -> &ChunkHeader {
        todo!()
    }
    pub(crate) fn content(&self) -> Content<'_> {
        todo!()
    }
    /// The number of blocks (also of raw and special chunks, by their block size).
    pub(crate) fn nblocks(&self) -> usize {
        todo!()
    }
    /// Uncompressed bytes of block `n` (the last may be shorter).
    pub(crate) fn block_len(&self, n: usize) -> usize {
        let _ = n;
        todo!()
    }
    /// Where in the chunk the bytes of block `n` are: exact for raw chunks; for compressed ones from its start to the next
    /// start above it (or the chunk's end), which holds the block unless blocks overlap.
    pub(crate) fn block_span(&self, n: usize) -> Range<usize> {
        let _ = n;
        todo!()
    }
    /// Whether blocks after the first need the decoded first block (delta).
    pub(crate) fn refers_to_first(&self) -> bool {
        todo!()
    }
    /// Decodes block `n` from `stream`, which starts at the block's start and may be longer than the block.
    ///
    /// `dst` has [`ChunkHead::block_len`] bytes. `first` is the decoded block 0, needed when `n > 0` and
    /// [`ChunkHead::refers_to_first`]. Raw chunks copy. Not for [`Content::Repeat`].
    pub(crate) fn decode_block(
        &self,
        n: usize,
        stream: &[u8],
        first: Option<&[u8]>,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let _ = (n, stream, first, dst, scratch);
        todo!()
    }
}

/// Where the uncompressed blocks of a chunk come from when it is encoded.
pub(crate) trait BlockSource: Sync {
    /// Uncompressed bytes of the whole chunk.
    fn nbytes(&self) -> usize;
    /// The bytes `range` of the chunk (one block): borrowed, or put into `buffer`, which is cleared first.
    fn block<'a>(&'a self, range: Range<usize>, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]>;
}

impl BlockSource for &[u8] {
    fn nbytes(&self) -> usize {
        self.len()
    }
    fn block<'a>(&'a self, range: Range<usize>, _buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        self.get(range).ok_or_else(|| crate::error::Error::usage("a block outside the chunk"))
    }
}

/// The block size that is chosen for `nbytes` of items when [`Params::blocksize`] is `None`.
pub fn auto_blocksize(nbytes: usize, params: &Params) -> u32 {
    let _ = (nbytes, params);
    todo!()
}

/// Compresses `src` into one chunk, block by block on the threads of `exec`.
pub fn encode(src: &[u8], params: &Params, exec: &Exec) -> Result<Vec<u8>> {
    let _ = (src, params, exec);
    todo!()
}

/// Compresses one chunk on the threads of `exec`, from blocks that are made on demand.
pub(crate) fn encode_from(source: &dyn BlockSource, params: &Params, exec: &Exec) -> Result<Vec<u8>> {
    let _ = (source, params, exec);
    todo!()
}

/// Compresses one chunk on this thread, appending it to `out`.
pub(crate) fn encode_one(
    source: &dyn BlockSource,
    params: &Params,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Result<()> {
    let _ = (source, params, scratch, out);
    todo!()
}

/// A special chunk of `nbytes`; `value` is the item of [`Special::Value`] and empty otherwise.
pub fn encode_special(kind: Special, nbytes: u32, value: &[u8], params: &Params) -> Result<Vec<u8>> {
    let _ = (kind, nbytes, value, params);
    todo!()
}

/// Decompresses a whole chunk, on the threads of `exec`.
pub fn decode(chunk: &[u8], limits: &Limits, exec: &Exec) -> Result<Vec<u8>> {
    let _ = (chunk, limits, exec);
    todo!()
}

/// Decompresses a whole chunk into `dst`, which has exactly its uncompressed size.
pub fn decode_into(chunk: &[u8], dst: &mut [u8], limits: &Limits, exec: &Exec) -> Result<()> {
    let _ = (chunk, dst, limits, exec);
    todo!()
}

/// Decompresses `dst.len()` bytes from uncompressed position `start` on, touching only the blocks that hold them.
pub fn decode_range(chunk: &[u8], start: usize, dst: &mut [u8], limits: &Limits, exec: &Exec) -> Result<()> {
    let _ = (chunk, start, dst, limits, exec);
    todo!()
}
