//! The header of a frame, as everything since 2.0.0-rc1 writes it (`9e`); older ones are read by `legacy`.
//!
//! ```text
//!  0 9e | a8 "b2frame\0" | 10 d2 header_len | 15 cf frame_len | 24 a4 flags, type, codec + 16·level, split
//! 29 d3 nbytes | 38 d3 cbytes | 47 d2 typesize | 52 d2 blocksize | 57 d2 chunksize | 62 d1 threads | 65 d1 threads
//! 68 has vlmetalayers | 69 d8 6, filters ×6, codec, codec meta, filter meta ×6, dictionary, 0 | 87 metalayers
//! ```
//!
//! The bytes are kept and patched in place, so that a rewritten header keeps all that this version does not know.

use super::Layout;
use super::legacy;
use super::metalayers;
use super::metalayers::{LayerEntry, Name};
use crate::chunk::Params;
use crate::chunk::SplitMode;
use crate::codec::Codec;
use crate::error::{Error, Part, Result};
use crate::filter::Pipeline;
use crate::wire::Cursor;
use crate::wire::msgpack;

const MAGIC: &[u8; 8] = b"b2frame\0";
const FRAME_LEN_AT: usize = 15;
pub(super) const FLAGS_AT: usize = 25;
pub(super) const TYPE_AT: usize = 26;
const NBYTES_AT: usize = 29;
const CBYTES_AT: usize = 38;
const CHUNKSIZE_AT: usize = 57;
/// The numbers of threads, with their markers.
const THREADS_AT: [usize; 2] = [62, 65];
const HAS_VLMETA_AT: usize = 68;
const FILTERS_AT: usize = 69;
/// Where the metalayer section starts, and the length of the shortest header.
pub(super) const METALAYERS_AT: usize = 87;
/// Metalayers that a reader accepts and a writer may write.
pub(super) const MAX_METALAYERS: u16 = 16;
/// The filter slots of a pipeline.
const SLOTS: u8 = 6;
/// The chunk size that means "not known yet".
const UNDECIDED: [u8; 4] = (-1i32).to_be_bytes();
/// `general_flags`: offsets of 64 bits; always set.
const FLAG_64_BITS: u8 = 0x10;
/// `general_flags`: chunks differ in size.
const FLAG_VARIABLE: u8 = 0x40;
/// `general_flags`: chunks have blocks that differ in size.
const FLAG_VL_BLOCKS: u8 = 0x80;

/// Offset in `bytes` where a frame may start: a complete header mark.
pub(crate) fn find_mark(bytes: &[u8]) -> Option<usize> {
    let is_mark = |window: &[u8]| matches!(window, [0x9b..=0x9e, 0xa8, magic @ ..] if magic == MAGIC);
    bytes.windows(MARK_LEN).position(is_mark)
}

/// The bytes of the mark that [`find_mark`] looks for.
pub(crate) const MARK_LEN: usize = 2 + MAGIC.len();

/// Which layout of the header the bytes have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `9b` and `9c`: 2.0.0-beta.1.
    Beta1,
    /// `9d`: beta.2 to beta.5, and Caterva up to 0.4.
    Beta5,
    /// `9e`.
    Current,
}

impl Dialect {
    /// The length of the shortest header.
    pub(super) fn min_header_len(self) -> usize {
        match self {
            Dialect::Beta1 => legacy::BETA1_MIN_HEADER,
            Dialect::Beta5 => legacy::BETA5_METALAYERS_AT,
            Dialect::Current => METALAYERS_AT,
        }
    }
}

/// The uncompressed sizes of the chunks of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChunkSizes {
    /// The first chunk will decide.
    Undecided,
    /// All chunks have this size; the last one may be shorter.
    Fixed(u32),
    /// Chunks vary in size; each stores its own.
    Variable,
}

/// The fields of a header to be written.
#[derive(Debug, Clone)]
pub(crate) struct HeaderFields<'a> {
    pub(crate) layout: Layout,
    pub(crate) params: &'a Params,
    pub(crate) chunksize: u32,
    pub(crate) nbytes: u64,
}

/// A header: its bytes, and its parsed fields.
#[derive(Debug, Clone)]
pub(crate) struct FrameHeader {
    pub(super) raw: Vec<u8>,
    pub(super) dialect: Dialect,
    pub(super) version: u8,
    pub(super) flags: u8,
    pub(super) layout: Layout,
    pub(super) frame_len: u64,
    pub(super) nbytes: u64,
    pub(super) cbytes: u64,
    pub(super) chunksize: u32,
    pub(super) params: Params,
    pub(super) metalayers: Vec<LayerEntry>,
}

impl FrameHeader {
    /// The dialect and length of the header that starts with these bytes, of which there are enough for any marker.
    pub(super) fn measure(prefix: &[u8], available: u64) -> Result<(Dialect, u64)> {
        // With less than half of what every frame begins with it is something else, and not a damaged frame.
        if prefix.iter().zip(b"\x9e\xa8b2frame").filter(|(found, due)| found == due).count() < 5 {
            return Err(Error::no_frame_begins_with(prefix));
        }
        let mut cursor = Cursor::new(prefix, 0, Part::FrameHeader);
        let first = cursor.byte("the frame")?;
        cursor.marker(msgpack::FIXSTR | 8, "the magic")?;
        if cursor.array::<8>("the magic")? != *MAGIC {
            return Err(Error::format(Part::FrameHeader, 2, "not a frame: the magic `b2frame` is missing"));
        }
        let dialect = match first {
            0x9e => Dialect::Current,
            0x9d => Dialect::Beta5,
            0x9b | 0x9c => Dialect::Beta1,
            _ => {
                return Err(Error::format(
                    Part::FrameHeader,
                    0,
                    format!("starts with {first:02x}, not 9b to 9e"),
                ));
            }
        };
        let at = cursor.clone();
        let len = cursor.i32("the header length")?;
        let min = dialect.min_header_len() as u64;
        match u64::try_from(len) {
            Ok(len) if len >= min && len <= available => Ok((dialect, len)),
            _ => Err(at.error(format!("a header length of {len} in {available} bytes"))),
        }
    }

    /// Reads a whole header.
    pub(super) fn parse(raw: &[u8], dialect: Dialect) -> Result<Self> {
        if dialect != Dialect::Current {
            return legacy::parse(raw, dialect);
        }
        let mut cursor = Cursor::new(raw, FRAME_LEN_AT, Part::FrameHeader);
        let frame_len = cursor.u64("the frame length")?;
        cursor.marker(msgpack::FIXSTR | 4, "the flags")?;
        let [flags, frame_type, codec, split] = cursor.array("the flags")?;
        let version = flags & 0x0f;
        if version > 3 {
            return Err(Error::unsupported(format!("frames of format version {version}")));
        }
        let layout = match frame_type {
            0 => Layout::Contiguous,
            1 => Layout::Sparse,
            _ => {
                return Err(Error::format(
                    Part::FrameHeader,
                    TYPE_AT as u64,
                    format!("a frame type of {frame_type}"),
                ));
            }
        };
        let nbytes = size(&mut cursor, "the uncompressed size")?;
        let cbytes = size(&mut cursor, "the compressed size")?;
        let typesize = typesize(&mut cursor)?;
        let at = cursor.clone();
        let blocksize =
            u32::try_from(cursor.i32("the block size")?).map_err(|_| at.error("a negative block size"))?;
        let chunksize = chunksize(&mut cursor, nbytes)?;
        let mut cursor = Cursor::new(raw, FILTERS_AT, Part::FrameHeader);
        cursor.marker(msgpack::FIXEXT_16, "the filters")?;
        let at = cursor.clone();
        let slots = cursor.byte("the filters")?;
        if slots > SLOTS {
            return Err(at.error(format!("{slots} filter slots, and {SLOTS} is the most")));
        }
        let filters = cursor.array::<6>("the filters")?;
        let [codec_id, codec_meta] = cursor.array("the codec")?;
        let meta = cursor.array::<6>("the filters")?;
        let [dictionary, _] = cursor.array("the filters")?;
        let codec_id = if codec & 0x0f < 6 { codec & 0x0f } else { codec_id };
        let params = Params::new(typesize)
            .with_codec(Codec::from_id(codec_id))
            .with_codec_meta(codec_meta)
            .with_clevel((codec >> 4).min(9))
            .with_pipeline(Pipeline::from_bytes(filters, meta))
            .with_dictionary(dictionary & 1 != 0)
            .with_split(split_from(split))
            .with_blocksize(Some(blocksize).filter(|size| *size > 0));
        let metalayers = if raw.len() == METALAYERS_AT {
            Vec::new()
        } else {
            metalayers::parse(raw, METALAYERS_AT, MAX_METALAYERS, Part::FrameHeader)?
        };
        let raw = raw.to_vec();
        Ok(FrameHeader {
            raw,
            dialect,
            version,
            flags,
            layout,
            frame_len,
            nbytes,
            cbytes,
            chunksize,
            params,
            metalayers,
        })
    }

    /// A header for a new frame; its lengths are set when it is committed.
    pub(crate) fn build(fields: &HeaderFields<'_>, metalayers: &[(&[u8], &[u8])]) -> Result<Self> {
        if metalayers.len() > usize::from(MAX_METALAYERS) {
            let n = metalayers.len();
            return Err(Error::above(
                MAX_METALAYERS,
                n,
                format!("{n} metalayers, and a frame has at most {MAX_METALAYERS}"),
            ));
        }
        let params = fields.params;
        let signed = |value: u32, what: &str| {
            i32::try_from(value).map_err(|_| {
                Error::above(
                    i32::MAX.unsigned_abs(),
                    value,
                    format!("a {what} of {value} bytes is too large"),
                )
            })
        };
        let mut raw = Vec::with_capacity(METALAYERS_AT);
        raw.extend_from_slice(&[0x9e, msgpack::FIXSTR | 8]);
        raw.extend_from_slice(MAGIC);
        msgpack::put_i32(&mut raw, 0);
        msgpack::put_u64(&mut raw, 0);
        let variable = if fields.chunksize == 0 { 3 | FLAG_VARIABLE } else { 2 };
        let id = params.codec().id();
        let codec = id.min(6) | (params.clevel().min(9) << 4);
        let frame_type = u8::from(fields.layout == Layout::Sparse);
        raw.extend_from_slice(&[
            msgpack::FIXSTR | 4,
            variable | FLAG_64_BITS,
            frame_type,
            codec,
            split_to(params.split()),
        ]);
        msgpack::put_i64(
            &mut raw,
            i64::try_from(fields.nbytes)
                .map_err(|_| Error::too_large(i64::MAX as u64, "the frame is too large"))?,
        );
        msgpack::put_i64(&mut raw, 0);
        msgpack::put_i32(&mut raw, signed(params.typesize(), "typesize")?);
        msgpack::put_i32(&mut raw, signed(params.blocksize().unwrap_or(0), "block size")?);
        msgpack::put_i32(&mut raw, signed(fields.chunksize, "chunk size")?);
        msgpack::put_i16(&mut raw, 1);
        msgpack::put_i16(&mut raw, 1);
        raw.extend_from_slice(&[msgpack::FALSE, msgpack::FIXEXT_16, SLOTS]);
        raw.extend_from_slice(&params.pipeline().ids());
        raw.extend_from_slice(&[id, params.codec_meta()]);
        raw.extend_from_slice(&params.pipeline().meta());
        raw.extend_from_slice(&[u8::from(params.dictionary()), 0]);
        metalayers::write(&mut raw, metalayers, 1)?;
        let len = i32::try_from(raw.len()).map_err(|_| {
            Error::too_large(i32::MAX.unsigned_abs(), "the metalayers are too large for a frame")
        })?;
        let mut len_field = Vec::new();
        msgpack::put_i32(&mut len_field, len);
        if let Some(field) = raw.get_mut(10..15) {
            field.copy_from_slice(&len_field);
        }
        FrameHeader::parse(&raw, Dialect::Current)
    }

    /// The bytes, as stored.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.raw
    }
    /// The length of the header; offsets of chunks count from here.
    pub(crate) fn len(&self) -> u64 {
        self.raw.len() as u64
    }
    /// The format version: 0 (beta.1) to 3.
    pub(crate) fn version(&self) -> u8 {
        self.version
    }
    /// Whether this version of the header can be rewritten.
    pub(crate) fn is_current(&self) -> bool {
        self.dialect == Dialect::Current && self.version >= 2
    }
    /// Whether the chunks are said to have blocks that differ in size.
    pub(crate) fn has_vl_blocks(&self) -> bool {
        self.dialect == Dialect::Current && self.flags & FLAG_VL_BLOCKS != 0
    }
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }
    pub(crate) fn frame_len(&self) -> u64 {
        self.frame_len
    }
    pub(crate) fn nbytes(&self) -> u64 {
        self.nbytes
    }
    pub(crate) fn cbytes(&self) -> u64 {
        self.cbytes
    }
    /// Uncompressed bytes of a chunk; 0 when they differ, or when no chunk has fixed it yet.
    /// The number of chunks that the sizes in the header make; `None` when only the index knows.
    pub(crate) fn nchunks(&self) -> Option<u64> {
        (self.chunksize() > 0).then(|| self.nbytes().div_ceil(u64::from(self.chunksize())))
    }
    pub(crate) fn chunksize(&self) -> u32 {
        self.chunksize
    }
    /// Parameters by which new chunks are compressed.
    pub(crate) fn params(&self) -> &Params {
        &self.params
    }
    /// Names and contents, in stored order.
    pub(crate) fn metalayers(&self) -> impl Iterator<Item = (&Name, &[u8])> {
        self.metalayers.iter().map(|m| (&m.name, self.raw.get(m.content.clone()).unwrap_or_default()))
    }

    /// Whether the header says that there are vlmetalayers.
    pub(crate) fn has_vlmetalayers(&self) -> bool {
        self.raw.get(HAS_VLMETA_AT) == Some(&msgpack::TRUE)
    }
    /// Sets the lengths that a commit changes, and whether there are vlmetalayers.
    pub(crate) fn set_lengths(&mut self, frame_len: u64, cbytes: u64, has_vlmeta: bool) {
        self.frame_len = frame_len;
        self.cbytes = cbytes;
        msgpack::patch_64(&mut self.raw, FRAME_LEN_AT, frame_len);
        msgpack::patch_64(&mut self.raw, CBYTES_AT, cbytes);
        if let Some(byte) = self.raw.get_mut(HAS_VLMETA_AT) {
            *byte = if has_vlmeta { msgpack::TRUE } else { msgpack::FALSE };
        }
    }
    /// Marks the header as one that has checksums, by numbers of threads that no other program writes: 0. C-Blosc2 puts its own
    /// into every header that it writes, and nobody reads them. A header without checksums does not keep the mark.
    pub(crate) fn sign(&mut self, checksums: bool) {
        for at in THREADS_AT {
            if let Some([msgpack::INT_16, number @ ..]) = self.raw.get_mut(at..at.saturating_add(3)) {
                match (checksums, &*number) {
                    (true, _) => number.fill(0),
                    (false, [0, 0]) => number.copy_from_slice(&1_u16.to_be_bytes()),
                    (false, _) => {}
                }
            }
        }
    }
    /// Whether it has that mark.
    pub(crate) fn is_signed(&self) -> bool {
        let number = |at: &usize| self.raw.get(at.saturating_add(1)..at.saturating_add(3));
        self.dialect == Dialect::Current && THREADS_AT.iter().all(|at| number(at) == Some(&[0, 0]))
    }
    /// The sizes of the chunks.
    pub(crate) fn chunk_sizes(&self) -> ChunkSizes {
        let field = self.raw.get(CHUNKSIZE_AT..).and_then(|tail| tail.get(1..5));
        match self.chunksize {
            0 if self.dialect == Dialect::Current && field == Some(&UNDECIDED) => ChunkSizes::Undecided,
            0 => ChunkSizes::Variable,
            size => ChunkSizes::Fixed(size),
        }
    }
    /// Sets the sizes of the chunks, and with them the version: only version 3 has variable ones.
    pub(crate) fn set_chunk_sizes(&mut self, sizes: ChunkSizes) {
        let (field, variable) = match sizes {
            ChunkSizes::Undecided => (UNDECIDED, 0),
            ChunkSizes::Fixed(size) => (size.to_be_bytes(), 0),
            ChunkSizes::Variable => ([0; 4], FLAG_VARIABLE),
        };
        self.chunksize = if let ChunkSizes::Fixed(size) = sizes { size } else { 0 };
        if let Some(place) = self.raw.get_mut(CHUNKSIZE_AT..).and_then(|tail| tail.get_mut(1..5)) {
            place.copy_from_slice(&field);
        }
        self.set_flags((self.flags & !FLAG_VARIABLE) | variable);
    }
    /// Says whether the chunks have blocks that differ in size.
    pub(crate) fn set_vl_blocks(&mut self, differ: bool) {
        self.set_flags((self.flags & !FLAG_VL_BLOCKS) | if differ { FLAG_VL_BLOCKS } else { 0 });
    }
    /// Sets the flags, and the version that they need.
    fn set_flags(&mut self, flags: u8) {
        self.version = if flags & (FLAG_VARIABLE | FLAG_VL_BLOCKS) == 0 { 2 } else { 3 };
        self.flags = (flags & 0xf0) | self.version;
        if let Some(byte) = self.raw.get_mut(FLAGS_AT) {
            *byte = self.flags;
        }
    }
    /// Sets the uncompressed bytes of all chunks.
    pub(crate) fn set_nbytes(&mut self, nbytes: u64) -> Result<()> {
        i64::try_from(nbytes).map_err(|_| Error::too_large(i64::MAX as u64, "the frame is too large"))?;
        self.nbytes = nbytes;
        msgpack::patch_64(&mut self.raw, NBYTES_AT, nbytes);
        Ok(())
    }
    /// Sets the layout.
    pub(crate) fn set_layout(&mut self, layout: Layout) {
        self.layout = layout;
        if let Some(byte) = self.raw.get_mut(TYPE_AT) {
            *byte = u8::from(layout == Layout::Sparse);
        }
    }
    /// Replaces the content of a metalayer by one of the same length.
    pub(crate) fn set_metalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let entry = self.metalayers.iter().find(|m| m.name.text() == name);
        let range = entry
            .ok_or_else(|| Error::missing("metalayer", name, format!("there is no metalayer `{name}`")))?
            .content
            .clone();
        let expected = range.len();
        match self.raw.get_mut(range) {
            Some(place) if place.len() == content.len() => {
                place.copy_from_slice(content);
                Ok(())
            }
            _ => Err(Error::length(
                expected,
                content.len(),
                format!(
                    "the content of metalayer `{name}` cannot change its length of {expected} bytes to {}",
                    content.len()
                ),
            )),
        }
    }
}

/// A size of 64 bits that must not be negative.
pub(super) fn size(cursor: &mut Cursor<'_>, what: &str) -> Result<u64> {
    let at = cursor.clone();
    let value = cursor.i64(what)?;
    u64::try_from(value).map_err(|_| at.error(format!("{what} is negative")))
}

pub(super) fn typesize(cursor: &mut Cursor<'_>) -> Result<u32> {
    let at = cursor.clone();
    let value = cursor.i32("the typesize")?;
    u32::try_from(value).ok().filter(|t| *t > 0).ok_or_else(|| at.error(format!("a typesize of {value}")))
}

/// The chunk size; −1 stands for "not known yet" in a frame without data.
pub(super) fn chunksize(cursor: &mut Cursor<'_>, nbytes: u64) -> Result<u32> {
    let at = cursor.clone();
    match cursor.i32("the chunk size")? {
        -1 if nbytes == 0 => Ok(0),
        value => u32::try_from(value).map_err(|_| at.error(format!("a chunk size of {value}"))),
    }
}

fn split_from(byte: u8) -> SplitMode {
    match byte & 3 {
        0 => SplitMode::Always,
        1 => SplitMode::Never,
        2 => SplitMode::Auto,
        _ => SplitMode::ForwardCompat,
    }
}

fn split_to(split: SplitMode) -> u8 {
    match split {
        SplitMode::Always => 0,
        SplitMode::Never => 1,
        SplitMode::Auto => 2,
        SplitMode::ForwardCompat => 3,
    }
}
