//! The header of a chunk: 16 bytes as in Blosc1, or 32 bytes.
//!
//! ```text
//!  0 version   1 codec version   2 flags      3 typesize   4 nbytes i32   8 blocksize i32   12 cbytes i32
//! 16 filters[6]   22 codec   23 codec meta   24 filter metas[6]   30 flags2   31 blosc2 flags
//! ```
//!
//! Numbers are little-endian. Checked by itself here; against the bytes that follow, in `head.rs`.

use super::MAX_BLOCK_BYTES;
use super::Special;
use crate::codec::Codec;
use crate::error::Error;
use crate::error::Part;
use crate::error::Result;
use crate::filter::Filter;
use crate::filter::Pipeline;
use crate::registry::FIRST_FREE;

/// Length of the header as in Blosc1.
pub(super) const SHORT: usize = 16;
/// Length of the header with filters and flags of its own.
pub(super) const LONG: usize = 32;

/// The version of chunks by Blosc1.
pub(super) const VERSION_BLOSC1: u8 = 2;
/// The version of the first alphas, with five filter slots.
const VERSION_ALPHA: u8 = 3;
/// The version of regular chunks.
pub(super) const VERSION: u8 = 5;
/// The version of chunks with variable-length blocks, and the last version whose flags are all known.
pub(super) const VERSION_VARIABLE: u8 = 6;

const FLAG_SHUFFLE: u8 = 0x01;
const FLAG_RAW: u8 = 0x02;
const FLAG_BITSHUFFLE: u8 = 0x04;
const FLAG_DELTA: u8 = 0x08;
const FLAG_NOT_SPLIT: u8 = 0x10;
/// Both shuffles at once, which makes no sense, mark the long header.
const FLAGS_LONG: u8 = FLAG_SHUFFLE | FLAG_BITSHUFFLE;

pub(super) const FLAG2_VARIABLE: u8 = 0x01;

const FLAG_DICTIONARY: u8 = 0x01;
const FLAG_LAZY: u8 = 0x08;
const FLAG_INSTRUMENTED: u8 = 0x80;

/// The header of a chunk, checked.
///
/// ```
/// use b2nd::Params;
/// use b2nd::chunk::{ChunkHeader, encode};
/// let chunk = encode(&[7; 1000], &Params::new(4), &b2nd::Exec::new(1))?;
/// let header = ChunkHeader::parse(&chunk)?;
/// assert_eq!((header.nbytes(), header.typesize()), (1000, 4));
/// assert_eq!(header.cbytes() as usize, chunk.len());
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkHeader {
    pub(super) version: u8,
    pub(super) codec_version: u8,
    pub(super) flags: u8,
    pub(super) typesize: u8,
    pub(super) nbytes: u32,
    pub(super) blocksize: u32,
    pub(super) cbytes: u32,
    pub(super) pipeline: Pipeline,
    pub(super) codec_id: u8,
    pub(super) codec_meta: u8,
    pub(super) flags2: u8,
    pub(super) blosc2_flags: u8,
}

fn wrong(offset: u64, reason: impl Into<String>) -> Error {
    Error::format(Part::ChunkHeader, offset, reason)
}

/// An `i32` that must not be negative.
fn size(bytes: [u8; 4], offset: u64, what: &str) -> Result<u32> {
    u32::try_from(i32::from_le_bytes(bytes)).map_err(|_| wrong(offset, format!("{what} is negative")))
}

impl ChunkHeader {
    /// Reads the header at the start of `bytes` (16 or 32 bytes are needed); checks it by itself, not against the rest.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let cut = || wrong(bytes.len() as u64, "the chunk ends inside its header");
        let (head, rest) = bytes.split_first_chunk::<SHORT>().ok_or_else(cut)?;
        let [version, codec_version, flags, typesize, n0, n1, n2, n3, b0, b1, b2, b3, c0, c1, c2, c3] = *head;
        let mut header = ChunkHeader {
            version,
            codec_version,
            flags,
            typesize,
            nbytes: size([n0, n1, n2, n3], 4, "the number of uncompressed bytes")?,
            blocksize: size([b0, b1, b2, b3], 8, "the block size")?,
            cbytes: size([c0, c1, c2, c3], 12, "the number of compressed bytes")?,
            pipeline: short_pipeline(flags),
            codec_id: 0,
            codec_meta: 0,
            flags2: 0,
            blosc2_flags: 0,
        };
        if header.header_len() == LONG {
            header.extend(rest.first_chunk().ok_or_else(cut)?);
        }
        header.check()?;
        if !header.is_variable() && header.nbytes > 0 {
            header.blocksize = header.blocksize.min(header.nbytes);
        }
        Ok(header)
    }

    fn extend(&mut self, extension: &[u8; LONG - SHORT]) {
        let [i0, i1, i2, i3, i4, i5, codec_id, codec_meta, m0, m1, m2, m3, m4, m5, flags2, blosc2_flags] =
            *extension;
        let (mut ids, mut meta) = ([i0, i1, i2, i3, i4, i5], [m0, m1, m2, m3, m4, m5]);
        if self.version == VERSION_ALPHA {
            // The alphas had five slots and left arbitrary bytes in the sixth.
            (ids[5], meta[5]) = (0, 0);
        }
        self.pipeline = Pipeline::from_bytes(ids, meta);
        (self.codec_id, self.codec_meta) = (codec_id, codec_meta);
        (self.flags2, self.blosc2_flags) = (flags2, blosc2_flags);
    }

    fn check(&self) -> Result<()> {
        if self.version > VERSION_VARIABLE && self.flags2 & !FLAG2_VARIABLE != 0 {
            return Err(Error::unsupported(format!("chunk version {}", self.version)));
        }
        if self.typesize == 0 {
            return Err(wrong(3, "the typesize is 0"));
        }
        if self.blocksize == 0 || self.blocksize > MAX_BLOCK_BYTES {
            return Err(wrong(8, format!("the block size is {}", self.blocksize)));
        }
        if (self.cbytes as usize) < self.header_len() {
            return Err(wrong(12, format!("{} compressed bytes are less than the header", self.cbytes)));
        }
        if self.special_id() != 0 {
            return self.check_special();
        }
        if self.is_variable() && self.nbytes == 0 && self.blocksize > 0 {
            return Err(wrong(4, format!("{} blocks of variable length without bytes", self.blocksize)));
        }
        if self.is_raw() && self.is_variable() {
            return Err(wrong(30, "blocks of variable length in a stored chunk"));
        }
        if self.is_raw() && u64::from(self.cbytes) != u64::from(self.nbytes) + self.header_len() as u64 {
            return Err(wrong(12, format!("a stored chunk of {} in {} bytes", self.nbytes, self.cbytes)));
        }
        Ok(())
    }

    fn check_special(&self) -> Result<()> {
        let Some(kind) = self.special() else {
            return Err(wrong(31, format!("{} is not a known kind of special chunk", self.special_id())));
        };
        if self.is_variable() {
            return Err(wrong(30, "blocks of variable length in a special chunk"));
        }
        let item = match kind {
            Special::Zeros => 1,
            Special::Uninit => u32::from(self.typesize),
            Special::Nan if matches!(self.typesize, 4 | 8) => u32::from(self.typesize),
            Special::Nan => return Err(wrong(3, format!("NaN of {} bytes", self.typesize))),
            Special::Value => self.cbytes - LONG as u32,
        };
        if item == 0 || (kind == Special::Value && item > self.nbytes) || !self.nbytes.is_multiple_of(item) {
            return Err(wrong(4, format!("{} bytes are not whole items of {item}", self.nbytes)));
        }
        Ok(())
    }

    /// The bytes of this header.
    pub(super) fn to_bytes(&self) -> ([u8; LONG], usize) {
        let mut bytes = [0; LONG];
        let (ids, meta) = (self.pipeline.ids(), self.pipeline.meta());
        let fields: [&[u8]; 9] = [
            &[self.version, self.codec_version, self.flags, self.typesize],
            &self.nbytes.to_le_bytes(),
            &self.blocksize.to_le_bytes(),
            &self.cbytes.to_le_bytes(),
            &ids,
            &[self.codec_id, self.codec_meta],
            &meta,
            &[self.flags2],
            &[self.blosc2_flags],
        ];
        for (to, from) in bytes.iter_mut().zip(fields.into_iter().flatten()) {
            *to = *from;
        }
        (bytes, self.header_len())
    }

    /// The length of the header: 16 or 32.
    pub fn header_len(&self) -> usize {
        if self.flags & FLAGS_LONG == FLAGS_LONG { LONG } else { SHORT }
    }
    /// Uncompressed bytes.
    pub fn nbytes(&self) -> u32 {
        self.nbytes
    }
    /// Bytes of the whole chunk, header included.
    pub fn cbytes(&self) -> u32 {
        self.cbytes
    }
    /// Uncompressed bytes of a block, at most [`ChunkHeader::nbytes`]; the number of blocks where
    /// [`ChunkHeader::is_variable`].
    pub fn blocksize(&self) -> u32 {
        self.blocksize
    }
    /// Bytes of an item; 1 where they are more than 255.
    pub fn typesize(&self) -> u8 {
        self.typesize
    }
    /// The version byte: up to 2 for Blosc1, 5 today.
    pub fn version(&self) -> u8 {
        self.version
    }
    /// The version of the codec's format.
    pub fn codec_version(&self) -> u8 {
        self.codec_version
    }
    /// The codec; `None` for the reserved formats and Snappy. Means nothing for special and raw chunks.
    ///
    /// lz4 and lz4hc share one format, and only the long header says which of them has written the chunk.
    pub fn codec(&self) -> Option<Codec> {
        match self.format() {
            0 => Some(Codec::BloscLz),
            1 if self.codec_id == Codec::Lz4Hc.id() => Some(Codec::Lz4Hc),
            1 => Some(Codec::Lz4),
            3 => Some(Codec::Zlib),
            4 => Some(Codec::Zstd),
            6 if self.codec_id >= FIRST_FREE => Some(Codec::from_id(self.codec_id)),
            6 => Some(Codec::Other(self.codec_id)),
            _ => None,
        }
    }
    /// The codec's own byte.
    pub fn codec_meta(&self) -> u8 {
        self.codec_meta
    }
    /// The filters. Means nothing for special and raw chunks.
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }
    /// The number of blocks (also of raw and special chunks, by their block size).
    ///
    /// ```
    /// use b2nd::Params;
    /// use b2nd::chunk::{ChunkHeader, encode};
    /// let chunk = encode(&[7; 1000], &Params::new(4).with_blocksize(Some(300)), &b2nd::Exec::new(1))?;
    /// assert_eq!(ChunkHeader::parse(&chunk)?.nblocks(), 4);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn nblocks(&self) -> usize {
        if self.is_variable() {
            return self.blocksize as usize;
        }
        self.nbytes.div_ceil(self.blocksize) as usize
    }
    /// Whether blocks are split into the bytes of their items, as far as the flag says.
    pub fn is_split(&self) -> bool {
        self.flags & FLAG_NOT_SPLIT == 0
    }
    /// Whether the items follow the header as they are.
    pub fn is_raw(&self) -> bool {
        self.flags & FLAG_RAW != 0 && self.special_id() == 0
    }
    /// Whether the blocks have lengths of their own.
    pub fn is_variable(&self) -> bool {
        self.flags2 & FLAG2_VARIABLE != 0
    }
    /// Whether the streams were compressed with a dictionary.
    pub fn has_dictionary(&self) -> bool {
        // Writers leave the flag in chunks that they then stored, without any dictionary.
        self.blosc2_flags & FLAG_DICTIONARY != 0 && !self.is_raw() && self.special_id() == 0
    }
    /// The kind of special chunk, when it is one.
    pub fn special(&self) -> Option<Special> {
        Special::from_id(self.special_id())
    }

    fn special_id(&self) -> u8 {
        self.blosc2_flags >> 4 & 7
    }
    /// Says whether a dictionary follows the block offsets.
    pub(super) fn set_dictionary(&mut self, dictionary: bool) {
        if dictionary {
            self.blosc2_flags |= FLAG_DICTIONARY;
        } else {
            self.blosc2_flags &= !FLAG_DICTIONARY;
        }
    }

    /// The number of the codec's format.
    pub(super) fn format(&self) -> u8 {
        self.flags >> 5
    }
    /// Whether bits are shuffled as C-Blosc 1.x did, in whole blocks of eight items or not at all.
    pub(super) fn has_old_bitshuffle(&self) -> bool {
        self.version == VERSION_BLOSC1
    }
    /// Whether blocks may be split without a flag, as in Blosc1.
    pub(super) fn is_blosc1(&self) -> bool {
        self.version <= VERSION_BLOSC1
    }
    /// An error if the header names something that this library cannot decode.
    pub(crate) fn check_supported(&self) -> Result<()> {
        let what = if self.blosc2_flags & FLAG_INSTRUMENTED != 0 {
            "instrumented chunk (it holds measurements of a codec, not data)"
        } else if self.blosc2_flags & FLAG_LAZY != 0 {
            "lazy chunk (a reference to a file, which lives in memory only)"
        } else {
            return Ok(());
        };
        Err(Error::unsupported(what))
    }
}

/// The filters that the flags of a short header stand for.
fn short_pipeline(flags: u8) -> Pipeline {
    let shuffle = match (flags & FLAG_BITSHUFFLE != 0, flags & FLAG_SHUFFLE != 0) {
        (true, _) => Filter::BitShuffle.id(),
        (false, true) => Filter::Shuffle.id(),
        (false, false) => 0,
    };
    let delta = if flags & FLAG_DELTA != 0 { Filter::Delta.id() } else { 0 };
    Pipeline::from_bytes([0, 0, 0, 0, delta, shuffle], [0; 6])
}

/// The format number of a codec that can be written.
fn format_of(codec: Codec) -> u8 {
    match codec {
        Codec::BloscLz => 0,
        Codec::Lz4 | Codec::Lz4Hc => 1,
        Codec::Zlib => 3,
        Codec::Zstd => 4,
        _ => 6,
    }
}

/// The flags byte of a chunk of compressed blocks.
pub(super) fn flags(short: bool, pipeline: &Pipeline, split: bool, codec: Codec) -> u8 {
    let mut flags = format_of(codec) << 5;
    if !short {
        flags |= FLAGS_LONG;
    } else if pipeline.contains(Filter::BitShuffle) {
        flags |= FLAG_BITSHUFFLE;
    } else if pipeline.contains(Filter::Shuffle) {
        flags |= FLAG_SHUFFLE;
    }
    if pipeline.contains(Filter::Delta) {
        flags |= FLAG_DELTA;
    }
    if !split {
        flags |= FLAG_NOT_SPLIT;
    }
    flags
}

/// The flags byte of a chunk that stores its items as they are.
pub(super) fn flags_raw(short: bool) -> u8 {
    if short { FLAG_RAW } else { FLAGS_LONG | FLAG_RAW }
}

/// The flags byte of a special chunk.
pub(super) const FLAGS_SPECIAL: u8 = FLAGS_LONG;
