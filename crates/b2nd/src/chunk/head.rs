//! What must be known of a chunk before single blocks are read: its header and where its blocks are.
//!
//! Holds no block data, so the blocks may come from anywhere: a slice, a file, a partial fetch.

use super::header;
use super::header::ChunkHeader;
use super::special;
use super::streams;
use crate::codec::Engine;
use crate::error::Error;
use crate::error::Part;
use crate::error::Result;
use crate::exec::Scratch;
use crate::filter::Steps;
use crate::filter::grown;
use crate::limits::Limits;
use crate::registry::Context;
use std::ops::Range;

/// What the body of a chunk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content<'a> {
    /// These bytes repeated over the whole chunk: a stored value, a NaN, or one zero byte (zeros, uninitialised).
    ///
    /// Their number divides that of the chunk and may be another than the size of an item.
    Repeat(&'a [u8]),
    /// Raw bytes after the header: block `n` is at [`ChunkHead::block_span`], nothing to decode.
    Raw,
    /// Compressed blocks.
    Blocks,
}

/// The header and block offsets of a chunk, checked; all that must be known before single blocks are read.
#[derive(Debug, Clone)]
pub(crate) struct ChunkHead {
    header: ChunkHeader,
    body: Body,
}

#[derive(Debug, Clone)]
enum Body {
    Repeat(Vec<u8>),
    Raw,
    Blocks(Box<Blocks>),
}

#[derive(Debug, Clone)]
struct Blocks {
    starts: Vec<u32>,
    /// The starts in ascending order, where they are not in that order already: blocks end where the next one starts.
    sorted: Option<Vec<u32>>,
    engine: Engine,
    steps: Steps,
    /// The number of streams of a full block.
    ways: usize,
    /// Another number of streams that a full block may have after all.
    ways_or: Option<usize>,
}

impl ChunkHead {
    /// The number of bytes from the start of the chunk that [`ChunkHead::parse`] needs, from its first 32 bytes (or all, when
    /// it is shorter). `available` bytes are there for the chunk at most.
    pub(crate) fn needed(first: &[u8], available: u64, context: &Context) -> Result<usize> {
        needed(&checked_header(first, available, context)?)
    }

    /// Parses and checks header and block offsets; `bytes` has at least [`ChunkHead::needed`] bytes.
    pub(crate) fn parse(bytes: &[u8], available: u64, context: &Context) -> Result<Self> {
        let header = checked_header(bytes, available, context)?;
        let head = bytes.get(..needed(&header)?).ok_or_else(|| {
            Error::format(Part::BlockOffsets, bytes.len() as u64, "the chunk ends before its first block")
        })?;
        let after = &head[header.header_len()..];
        let body = if let Some(kind) = header.special() {
            Body::Repeat(special::repeated(kind, header.typesize(), after).to_vec())
        } else if header.is_raw() {
            Body::Raw
        } else {
            Body::Blocks(Box::new(Blocks::parse(&header, after, context)?))
        };
        Ok(ChunkHead { header, body })
    }

    pub(crate) fn header(&self) -> &ChunkHeader {
        &self.header
    }

    pub(crate) fn content(&self) -> Content<'_> {
        match &self.body {
            Body::Repeat(item) => Content::Repeat(item),
            Body::Raw => Content::Raw,
            Body::Blocks(_) => Content::Blocks,
        }
    }

    /// The number of blocks (also of raw and special chunks, by their block size).
    pub(crate) fn nblocks(&self) -> usize {
        nblocks(&self.header)
    }

    /// Uncompressed bytes of block `n` (the last may be shorter); 0 where there is no such block.
    pub(crate) fn block_len(&self, n: usize) -> usize {
        self.block_range(n).len()
    }

    /// Where block `n` is in the uncompressed chunk; empty where there is no such block.
    pub(crate) fn block_range(&self, n: usize) -> Range<usize> {
        let (blocksize, nbytes) = (self.header.blocksize as usize, self.header.nbytes as usize);
        let start = n.saturating_mul(blocksize).min(nbytes);
        start..start.saturating_add(blocksize).min(nbytes)
    }

    /// Where in the chunk the bytes of block `n` are: exact for raw chunks; for compressed ones from its start to the next
    /// start above it (or the chunk's end), which holds the block unless blocks overlap.
    pub(crate) fn block_span(&self, n: usize) -> Range<usize> {
        match &self.body {
            Body::Repeat(_) => 0..0,
            Body::Raw => {
                let block = self.block_range(n);
                let header = self.header.header_len();
                header + block.start..header + block.end
            }
            Body::Blocks(blocks) => blocks.span(n, self.header.cbytes),
        }
    }

    /// Whether blocks after the first need the decoded first block (delta).
    pub(crate) fn refers_to_first(&self) -> bool {
        matches!(&self.body, Body::Blocks(blocks) if blocks.steps.has_delta())
    }

    /// Decodes block `n` from `stream`, which starts at the block's start and may be longer than the block.
    ///
    /// `dst` has [`ChunkHead::block_len`] bytes. `first` is the decoded block 0, needed when `n > 0` and
    /// [`ChunkHead::refers_to_first`]. Raw chunks copy. Not for [`Content::Repeat`].
    ///
    /// Uses `front`, `back` and `codec` of `scratch`; the rest is the caller's.
    pub(crate) fn decode_block(
        &self,
        n: usize,
        stream: &[u8],
        first: Option<&[u8]>,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        if n >= self.nblocks() || dst.len() != self.block_len(n) {
            return Err(Error::usage(format!(
                "block {n} has {} bytes, not {}",
                self.block_len(n),
                dst.len()
            )));
        }
        let result = match &self.body {
            Body::Repeat(item) => {
                special::fill(dst, item, self.block_range(n).start);
                Ok(())
            }
            Body::Raw => match stream.get(..dst.len()) {
                Some(stream) => {
                    dst.copy_from_slice(stream);
                    Ok(())
                }
                None => Err(Error::format(Part::Stream, stream.len() as u64, "the stored block is cut off")),
            },
            Body::Blocks(blocks) => {
                let full = dst.len() == self.header.blocksize as usize;
                let first = if n == 0 { None } else { first };
                if n > 0 && first.is_none() && blocks.steps.has_delta() {
                    return Err(Error::usage("the first block is needed to decode the others"));
                }
                blocks.decode(full, stream, first, dst, scratch)
            }
        };
        result.map_err(|error| error.in_block(u32::try_from(n).unwrap_or(u32::MAX)))
    }
}

/// The header of a chunk that this library decodes, checked against the space it has and the limits.
fn checked_header(first: &[u8], available: u64, context: &Context) -> Result<ChunkHeader> {
    let header = ChunkHeader::parse(first)?;
    if u64::from(header.cbytes) > available {
        return Err(Error::format(
            Part::ChunkHeader,
            12,
            format!("a chunk of {} bytes in {available}", header.cbytes),
        ));
    }
    header.check_supported()?;
    Limits::check("a decompressed chunk", u64::from(header.nbytes), context.limits().max_chunk_bytes())?;
    Ok(header)
}

fn nblocks(header: &ChunkHeader) -> usize {
    header.nbytes.div_ceil(header.blocksize) as usize
}

fn needed(header: &ChunkHeader) -> Result<usize> {
    if header.special().is_some() {
        return Ok(header.cbytes as usize);
    }
    if header.is_raw() {
        return Ok(header.header_len());
    }
    let needed = header.header_len() as u64 + 4 * nblocks(header) as u64;
    if needed > u64::from(header.cbytes) {
        return Err(Error::format(
            Part::ChunkHeader,
            12,
            format!("{} blocks do not fit a chunk of {} bytes", nblocks(header), header.cbytes),
        ));
    }
    Ok(needed as usize)
}

impl Blocks {
    fn parse(header: &ChunkHeader, offsets: &[u8], context: &Context) -> Result<Self> {
        let codec = header.codec().ok_or_else(|| {
            let name = if header.format() == 2 { " (snappy)" } else { "" };
            Error::unsupported(format!("codec format {}{name}", header.format()))
        })?;
        let typesize = usize::from(header.typesize());
        let (ways, ways_or) = ways(header);
        let (words, _) = offsets.as_chunks::<4>();
        let starts: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let lowest = (header.header_len() + offsets.len()) as u32;
        let highest = header.cbytes.saturating_sub(4);
        for (n, start) in starts.iter().enumerate() {
            if *start < lowest || *start > highest {
                let reason = format!("the block would start at byte {start} of {}", header.cbytes);
                let error = Error::format(Part::BlockOffsets, 4 * n as u64, reason);
                return Err(error.in_block(u32::try_from(n).unwrap_or(u32::MAX)));
            }
        }
        let sorted = (!starts.is_sorted()).then(|| {
            let mut sorted = starts.clone();
            sorted.sort_unstable();
            sorted
        });
        let steps = Steps::for_reading(header.pipeline(), typesize, header.has_old_bitshuffle(), context)?;
        let engine = Engine::new(codec, header.codec_meta(), typesize as u32, context);
        Ok(Blocks { starts, sorted, engine, steps, ways, ways_or })
    }

    fn span(&self, n: usize, cbytes: u32) -> Range<usize> {
        let Some(&start) = self.starts.get(n) else { return 0..0 };
        let ascending = self.sorted.as_deref().unwrap_or(&self.starts);
        let next = ascending.partition_point(|other| *other <= start);
        let end = ascending.get(next).copied().unwrap_or(cbytes);
        start as usize..end as usize
    }

    fn decode(
        &self,
        full: bool,
        stream: &[u8],
        first: Option<&[u8]>,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { front, back, codec, .. } = scratch;
        let mut read = |dst: &mut [u8]| {
            // The last block is never split when it is shorter than the others.
            let ways = if full { self.ways } else { 1 };
            let result = streams::read(&self.engine, stream, ways, dst, codec);
            match (result, self.ways_or) {
                (Err(Error::Format(error)), Some(ways)) if full => {
                    streams::read(&self.engine, stream, ways, dst, codec).map_err(|_| Error::Format(error))
                }
                (result, _) => result,
            }
        };
        if !self.steps.moves(dst.len()) {
            read(dst)?;
            return self.steps.undo_in_place(dst, first);
        }
        let filtered = grown(front, dst.len(), "the filters of a block")?;
        read(filtered)?;
        self.steps.undo(filtered, back, dst, first)
    }
}

/// The number of streams of a full block, and another one to try when that fails.
///
/// Blosc1 had no flag for blocks that are not split before its version 1.11, and went by the sizes. Its later versions
/// set the flag and still go by the sizes, but some writers of such chunks did not.
fn ways(header: &ChunkHeader) -> (usize, Option<usize>) {
    let typesize = usize::from(header.typesize());
    if !header.is_split() {
        return (1, None);
    }
    let by_sizes = header.header_len() == header::LONG
        || !header.is_blosc1()
        || (typesize <= 16 && header.blocksize as usize / typesize >= 128);
    if by_sizes { (typesize, None) } else { (1, Some(typesize)) }
}
