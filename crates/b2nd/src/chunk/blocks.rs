//! The compressed blocks of a chunk: their offsets and lengths, and the decoding of one block.
//!
//! ```text
//! regular            header, block offsets, [dictionary], streams of each block, in any order
//! variable length    header, block offsets, [dictionary], blocks in order: uncompressed length u32, one stream
//! dictionary         length u32, bytes
//! ```

use super::header;
use super::header::ChunkHeader;
use super::streams;
use crate::codec::Engine;
use crate::codec::MAX_DICTIONARY_BYTES;
use crate::error::Error;
use crate::error::Part;
use crate::error::Result;
use crate::exec::Scratch;
use crate::filter::Steps;
use crate::filter::grown;
use crate::registry::Context;
use std::ops::Range;

/// The length of the number before a dictionary, and of the one before a block of variable length.
const LENGTH: usize = 4;

/// The bytes of block `n` of a chunk of `cbytes`: from its start to the next start above it. `sorted`: the starts in ascending
/// order, where they are not.
pub(super) fn span(starts: &[u32], sorted: Option<&[u32]>, n: usize, cbytes: u32) -> Range<usize> {
    let Some(&start) = starts.get(n) else { return 0..0 };
    let ascending = sorted.unwrap_or(starts);
    let next = ascending.partition_point(|other| *other <= start);
    start as usize..ascending.get(next).copied().unwrap_or(cbytes) as usize
}

/// Numbers in ascending order, where they are not in that order already.
pub(super) fn ascending(starts: &[u32]) -> Option<Vec<u32>> {
    (!starts.is_sorted()).then(|| {
        let mut sorted = starts.to_vec();
        sorted.sort_unstable();
        sorted
    })
}

/// Single items of a block, in runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ItemRuns<'a> {
    /// All of them lie in this many first bytes of the block.
    pub(crate) reach: usize,
    /// The numbers of the items.
    pub(crate) runs: &'a [Range<u32>],
}

#[derive(Debug, Clone)]
pub(super) struct Blocks {
    starts: Vec<u32>,
    /// The starts in ascending order, unless they are already: a block ends where the next one starts.
    sorted: Option<Vec<u32>>,
    engine: Engine,
    steps: Steps,
    /// Whether each block stores its own length.
    variable: bool,
    /// The number of streams of a full block.
    streams: usize,
    /// Another number of streams that a full block may have after all.
    streams_or: Option<usize>,
}

impl Blocks {
    /// How many bytes from the start of the chunk [`Blocks::parse`] needs, as far as `first` tells: once it holds that many, a
    /// dictionary may make it more.
    pub(super) fn needed(header: &ChunkHeader, first: &[u8]) -> Result<usize> {
        let offsets = header.header_len() as u64 + 4 * header.nblocks() as u64;
        let mut needed = offsets;
        if header.has_dictionary() {
            needed += LENGTH as u64;
            let at = usize::try_from(offsets).unwrap_or(usize::MAX);
            if let Some(length) = first.get(at..).and_then(<[u8]>::first_chunk) {
                needed += dictionary_len(*length)? as u64;
            }
        }
        if needed > u64::from(header.cbytes()) {
            return Err(Error::format(
                Part::ChunkHeader,
                12,
                format!("{} blocks do not fit a chunk of {} bytes", header.nblocks(), header.cbytes()),
            ));
        }
        Ok(needed as usize)
    }

    /// Reads what follows the header, up to the first block.
    pub(super) fn parse(header: &ChunkHeader, after: &[u8], context: &Context) -> Result<Self> {
        let codec = header.codec().ok_or_else(|| {
            let name = if header.format() == 2 { " (snappy)" } else { "" };
            Error::unsupported(format!("codec format {}{name}", header.format()))
        })?;
        let (offsets, rest) = after.split_at_checked(4 * header.nblocks()).unwrap_or((after, &[]));
        let typesize = usize::from(header.typesize());
        let mut engine = Engine::new(codec, header.codec_meta(), u32::from(header.typesize()), context);
        if header.has_dictionary() {
            engine = engine.reading_with(rest.get(LENGTH..).unwrap_or_default())?;
        }
        let (words, _) = offsets.as_chunks::<4>();
        let starts: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let lowest = (header.header_len() + after.len()) as u32;
        check_starts(&starts, lowest, header)?;
        let sorted = ascending(&starts);
        let steps = Steps::for_reading(header.pipeline(), typesize, header.has_old_bitshuffle(), context)?;
        let (streams, streams_or) = stream_counts(header);
        Ok(Blocks { starts, sorted, engine, steps, variable: header.is_variable(), streams, streams_or })
    }

    /// Whether blocks after the first need the decoded first block. Those of variable length stand each for itself.
    pub(super) fn refers_to_first(&self) -> bool {
        !self.variable && self.steps.has_delta()
    }

    pub(super) fn span(&self, n: usize, cbytes: u32) -> Range<usize> {
        span(&self.starts, self.sorted.as_deref(), n, cbytes)
    }

    /// Decodes a block from its `stream`, which may go on behind it unless blocks have lengths of their own. `full`: as long
    /// as the block size says.
    pub(super) fn decode(
        &self,
        full: bool,
        stream: &[u8],
        first: Option<&[u8]>,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { front, back, codec, .. } = scratch;
        let mut read = |dst: &mut [u8]| {
            if self.variable {
                return self.read_variable(stream, dst, codec);
            }
            // The last block is never split when it is shorter than the others.
            let streams = if full { self.streams } else { 1 };
            let result = streams::read(&self.engine, stream, streams, dst, codec);
            match (result, self.streams_or) {
                (Err(Error::Format(error)), Some(streams)) if full => {
                    streams::read(&self.engine, stream, streams, dst, codec).map_err(|_| Error::Format(error))
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

    /// Decodes the start of a full block of `whole` bytes, as much as `dst` has room for, where less than all of its streams is
    /// needed for that; whether it did. What is not needed is not looked at.
    pub(super) fn decode_start(
        &self,
        whole: usize,
        stream: &[u8],
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<bool> {
        let Some(width) = self.steps.only_shuffle(whole) else { return Ok(false) };
        // A shuffled block has a stream for each byte of its items, or all of them in one.
        let fits = if width == 0 { self.streams == 1 } else { self.streams == width };
        let even = dst.len().is_multiple_of(self.streams) && whole.is_multiple_of(self.streams);
        if self.variable || self.streams_or.is_some() || !fits || !even || !self.engine.stops() {
            return Ok(false);
        }
        let Scratch { front, codec, .. } = scratch;
        if width == 0 {
            streams::read_starts(&self.engine, stream, 1, whole, dst, codec)?;
            return Ok(true);
        }
        let filtered = grown(front, dst.len(), "the filters of a block")?;
        streams::read_starts(&self.engine, stream, width, whole, filtered, codec)?;
        self.steps.unshuffle_start(width, filtered, dst);
        Ok(true)
    }

    /// Whether blocks of `whole` bytes are shuffled items of `itemsize` bytes, and nothing else was done to them.
    pub(super) fn takes_items_of(&self, itemsize: usize, whole: usize) -> bool {
        let shuffled = itemsize > 1 && self.steps.only_shuffle(whole) == Some(itemsize);
        shuffled
            && !self.variable
            && self.streams_or.is_none()
            && (self.streams == 1 || self.streams == itemsize)
    }

    /// Decodes some items of a full block of `whole` bytes, where [`Blocks::takes_items_of`], one behind the other. What
    /// follows the last of them is not looked at where that saves work.
    pub(super) fn decode_items(
        &self,
        whole: usize,
        stream: &[u8],
        items: ItemRuns<'_>,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let width = self.steps.only_shuffle(whole).unwrap_or(1).max(1);
        let stops = self.streams == width && self.engine.stops();
        let due = if stops { start_for(items.reach, width, whole) } else { whole };
        let Scratch { front, codec, .. } = scratch;
        let filtered = grown(front, due, "the filters of a block")?;
        if due < whole {
            streams::read_starts(&self.engine, stream, width, whole, filtered, codec)?;
        } else {
            streams::read(&self.engine, stream, self.streams, filtered, codec)?;
        }
        self.steps.take_items(width, filtered, dst, items.runs);
        Ok(())
    }

    fn read_variable(
        &self,
        block: &[u8],
        dst: &mut [u8],
        state: &mut crate::codec::CodecState,
    ) -> Result<()> {
        let len = variable_len(block)?;
        let payload = block.get(LENGTH..).unwrap_or_default();
        if len != dst.len() {
            return Err(Error::length(
                len,
                dst.len(),
                format!("the block has {len} bytes, and there is room for {}", dst.len()),
            ));
        }
        if payload.len() == len {
            dst.copy_from_slice(payload);
            return Ok(());
        }
        self.engine.decompress(payload, dst, state)
    }
}

/// How many of the `whole` bytes of a block are decoded where those up to `reach` are needed: all, or whole vectors of items
/// of `width` bytes that leave enough out to be worth it.
pub(crate) fn start_for(reach: usize, width: usize, whole: usize) -> usize {
    let step = width.saturating_mul(64);
    let due = reach.div_ceil(step).saturating_mul(step);
    if due > whole / 8 * 7 { whole } else { due }
}

/// Uncompressed bytes of a block of variable length, as its start says.
pub(super) fn variable_len(block: &[u8]) -> Result<usize> {
    let word = block.first_chunk::<LENGTH>().ok_or_else(|| {
        Error::format(Part::Stream, block.len() as u64, "the block ends inside its length field")
    })?;
    match i32::from_le_bytes(*word) {
        len @ 1.. => Ok(len as usize),
        len => Err(Error::format(Part::Stream, 0, format!("a block of {len} bytes"))),
    }
}

fn dictionary_len(bytes: [u8; LENGTH]) -> Result<usize> {
    let len = i32::from_le_bytes(bytes);
    usize::try_from(len)
        .ok()
        .filter(|len| (1..=MAX_DICTIONARY_BYTES).contains(len))
        .ok_or_else(|| Error::format(Part::BlockOffsets, None, format!("a dictionary of {len} bytes")))
}

/// Each block must start behind `lowest`, with room for the shortest of its kind; those of variable length in order.
fn check_starts(starts: &[u32], lowest: u32, header: &ChunkHeader) -> Result<()> {
    let highest = header.cbytes().saturating_sub(4);
    let mut after = lowest;
    for (n, start) in starts.iter().enumerate() {
        if *start < after || *start > highest {
            let reason = format!("the block would start at byte {start} of {}", header.cbytes());
            let error = Error::format(Part::BlockOffsets, 4 * n as u64, reason);
            return Err(error.in_block(u32::try_from(n).unwrap_or(u32::MAX)));
        }
        if header.is_variable() {
            after = start.saturating_add(4);
        }
    }
    Ok(())
}

/// The number of streams of a full block, and another one to try when that fails.
///
/// Blosc1 had no flag for blocks that are not split before its version 1.11, and went by the sizes. Its later versions
/// set the flag and still go by the sizes, but some writers of such chunks did not.
fn stream_counts(header: &ChunkHeader) -> (usize, Option<usize>) {
    let typesize = usize::from(header.typesize());
    if !header.is_split() {
        return (1, None);
    }
    let by_sizes = header.header_len() == header::LONG
        || !header.is_blosc1()
        || (typesize <= 16 && header.blocksize() as usize / typesize >= 128);
    if by_sizes { (typesize, None) } else { (1, Some(typesize)) }
}
