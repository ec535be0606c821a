//! One chunk of a read: decodes the wanted blocks, and puts their items into their cells.

use crate::array::Array;
use crate::array::grid::Grid;
use crate::array::process::ShownChunk;
use crate::array::process::process_block;
use crate::array::read::misfit;
use crate::array::read::visit::Visit;
use crate::chunk;
use crate::chunk::BlockDecoder;
use crate::chunk::ChunkHead;
use crate::chunk::Content;
use crate::chunk::ItemRuns;
use crate::chunk::Special;
use crate::chunk::Sums;
use crate::error::Error;
use crate::error::Part;
use crate::error::Result;
use crate::exec::Scratch;
use crate::filter::grown;
use crate::io::Merged;
use crate::io::RangeCosts;
use crate::io::merge_ranges;
use crate::limits::Limits;
use crate::limits::MAX_NDIM;
use crate::limits::resize;
use crate::limits::zeroed;
use crate::schunk::BlockKey;
use crate::schunk::Hook;
use crate::schunk::Place;
use b2nd_kernel::boxes::BoxMut;
use b2nd_kernel::boxes::Source;
use std::ops::Range;
use std::sync::Arc;

/// A block in its stored form.
pub(super) struct Encoded<'a> {
    pub(super) place: Place,
    pub(super) decoder: &'a Decoder,
    /// Which block it is.
    pub(super) wanted: &'a Wanted,
    /// The bytes of the block.
    pub(super) stream: &'a [u8],
}

/// What decodes the blocks of a chunk.
pub(super) type Decoder = BlockDecoder<'static, Box<ChunkHead>>;

/// Where a chunk is stored, and its expected checksums.
#[derive(Debug, Clone)]
pub(super) struct ChunkOrigin {
    pub(super) place: Place,
    /// At most this many bytes of the file belong to the chunk.
    pub(super) available: u64,
    pub(super) sums: Option<Sums>,
    /// Uncompressed bytes that the chunk must have.
    pub(super) due: u32,
}

/// A block with the bytes of the chunk that hold it.
pub(super) struct Wanted {
    pub(super) span: Range<usize>,
    /// The number of the block in its chunk.
    pub(super) block: usize,
    /// Which of the visit's blocks it is.
    pub(super) index: usize,
}

impl Wanted {
    /// The number of the block in its chunk.
    pub(super) fn number(&self) -> u32 {
        u32::try_from(self.block).unwrap_or(u32::MAX)
    }
}

/// The part of a read that lies in one chunk.
pub(crate) struct ChunkRead<'a, V: ?Sized> {
    pub(super) array: &'a Array,
    pub(super) visit: &'a V,
    /// Whether this is the last part of the chunk, which has a block for certain and does what cannot be shared.
    pub(super) last: bool,
    /// Whether the read goes through the block cache.
    pub(super) cached: bool,
    /// The user's closure for decoded blocks.
    pub(super) post: Option<&'a Hook>,
}

impl<V: Visit + ?Sized> ChunkRead<'_, V> {
    pub(super) fn grid(&self) -> &Grid {
        &self.array.grid
    }

    /// Where the chunk is stored, and its expected checksums.
    pub(super) fn origin(&self, place: Place, sums: Option<Sums>) -> ChunkOrigin {
        let available = match place {
            Place::Stored { available, .. } => available,
            Place::Special(_) => 0,
        };
        let due = u32::try_from(self.grid().chunk_bytes()).unwrap_or(u32::MAX);
        ChunkOrigin { place, available, sums, due }
    }

    /// Copies blocks from the cache, and removes them from `wanted`.
    pub(super) fn take_cached(&self, place: Place, wanted: &mut Vec<Wanted>) -> Result<()> {
        let mut result = Ok(());
        wanted.retain(|w| {
            let key = BlockKey::new(self.visit.chunk(), place, w.block);
            let Some(block) = key.and_then(|key| self.array.schunk.cache().get(key)) else { return true };
            let copied = self.take(w.index).and_then(|mut to| self.scatter(w.index, &mut to, &block, 0));
            if result.is_ok() {
                result = copied;
            }
            false
        });
        result
    }

    /// Decodes one block and puts its items into their cell.
    pub(super) fn decode(
        &self,
        source: &Encoded<'_>,
        block: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.check_cancelled()?;
        let Encoded { decoder, wanted, stream, .. } = *source;
        let mut place = self.take(wanted.index)?;
        let bytes = self.grid().block_bytes();
        let posted = self.post.is_some();
        let plain = decoder.head().content() == Content::Raw && !posted;
        let whole = self.visit.is_whole(wanted.index);
        let key = BlockKey::new(self.visit.chunk(), source.place, wanted.block);
        // What is read whole is not kept, nor what can be had without decoding.
        if let Some(key) =
            key.filter(|_| self.cached && !whole && !(plain && self.array.schunk.is_in_memory()))
        {
            let mut kept = zeroed("a block", bytes as u64)?;
            self.decode_wanted(source, &mut kept, scratch)?;
            self.scatter(wanted.index, &mut place, &kept, 0)?;
            self.array.schunk.cache().put(key, Arc::new(kept));
            return Ok(());
        }
        if plain {
            decoder.head().check_block(wanted.block, stream)?;
            return self.scatter(wanted.index, &mut place, stream, 0);
        }
        if let Some(reference) = decoder.decoded(wanted.block).filter(|_| !posted) {
            return self.scatter(wanted.index, &mut place, reference, 0);
        }
        // A block that is wanted whole and contiguous in the result is decoded in place.
        if whole
            && let Some(out) = place.contiguous()
            && out.len() == bytes
        {
            return self.decode_wanted(source, out, scratch);
        }
        if !posted {
            let reach = self.visit.reach(wanted.index);
            if self.decode_some(source, reach, &mut place, block, scratch)? {
                return Ok(());
            }
            if self.decode_start(source, reach, block, scratch)? {
                return self.scatter(wanted.index, &mut place, block, 0);
            }
        }
        resize("a block", block, bytes)?;
        self.decode_wanted(source, block, scratch)?;
        self.scatter(wanted.index, &mut place, block, 0)
    }

    /// Puts the items that are taken, and no others, together, where they are few and still shuffled; whether it did.
    fn decode_some(
        &self,
        source: &Encoded<'_>,
        reach: usize,
        place: &mut BoxMut<'_>,
        block: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<bool> {
        let Encoded { decoder, wanted, stream, .. } = *source;
        let itemsize = self.grid().itemsize();
        if !decoder.head().takes_items_of(itemsize) {
            return Ok(false);
        }
        let mut runs = std::mem::take(&mut scratch.runs);
        let mut result = Ok(false);
        if self.visit.runs(wanted.index, reach, &mut runs) {
            result = grown(block, self.visit.items(wanted.index) * itemsize, "a block").and_then(|packed| {
                let items = ItemRuns { reach, runs: &runs };
                let done = decoder.decode_items(wanted.block, stream, items, packed, scratch)?;
                if done { self.unpack(place, packed).map(|()| true) } else { Ok(false) }
            });
        }
        scratch.runs = runs;
        result
    }

    /// Copies items that follow each other as in their cell.
    fn unpack(&self, place: &mut BoxMut<'_>, packed: &[u8]) -> Result<()> {
        let (mut strides, axes) = ([0; MAX_NDIM], place.shape().len());
        let mut stride = self.grid().itemsize().cast_signed();
        for (to, &count) in strides[..axes].iter_mut().zip(place.shape()).rev() {
            *to = stride;
            stride *= count.cast_signed();
        }
        let items = Source { bytes: packed, offset: self.visit.part().offset, strides: &strides[..axes] };
        if place.copy_from(items) {
            Ok(())
        } else {
            Err(Error::usage("the field does not lie inside the item"))
        }
    }

    /// Decodes a block up to the last wanted item, if that saves work; returns whether it did.
    fn decode_start(
        &self,
        source: &Encoded<'_>,
        reach: usize,
        block: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<bool> {
        let bytes = self.grid().block_bytes();
        let due = chunk::start_for(reach, self.grid().itemsize(), bytes);
        if due == bytes {
            return Ok(false);
        }
        let start = grown(block, due, "a block")?;
        source.decoder.decode_start(source.wanted.block, source.stream, start, scratch)
    }

    /// Decodes a block and post-processes it.
    fn decode_wanted(&self, source: &Encoded<'_>, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let block = source.wanted.block;
        source.decoder.decode(block, source.stream, out, scratch)?;
        self.postprocess(block, out)
    }

    /// Calls the user's closure with a decoded block, if there is one.
    fn postprocess(&self, block: usize, bytes: &mut [u8]) -> Result<()> {
        let Some(hook) = self.post else { return Ok(()) };
        let number = self.visit.chunk();
        let chunk = ShownChunk { number, position: &self.grid().chunk_position(number) };
        process_block(hook, self.grid(), chunk, block, bytes)
    }

    /// A chunk may have a gigabyte: the read is cancelled between its blocks.
    fn check_cancelled(&self) -> Result<()> {
        self.array.schunk.exec().check_cancelled()
    }

    fn take(&self, index: usize) -> Result<BoxMut<'_>> {
        self.visit.take(index).ok_or_else(|| Error::usage("the selection names one block twice"))
    }

    /// Copies the selected items of a block, which starts at `start` of the decoded bytes, into their cell.
    fn scatter(&self, index: usize, place: &mut BoxMut<'_>, bytes: &[u8], start: usize) -> Result<()> {
        if self.visit.scatter(index, place, bytes, start) {
            Ok(())
        } else {
            Err(Error::format(Part::Stream, None, "the block is shorter than the array's block shape"))
        }
    }

    fn fill(&self, index: usize, item: &[u8]) -> Result<()> {
        let part = self.visit.part();
        let wanted = item.get(part.offset..part.offset + part.size);
        let wanted = wanted.ok_or_else(|| Error::usage("the field does not lie inside the item"))?;
        self.take(index)?.fill(wanted);
        Ok(())
    }

    /// A chunk that repeats one value, whose width need not be that of an item.
    pub(super) fn repeat(
        &self,
        value: &[u8],
        blocks: impl IntoIterator<Item = usize>,
        block: &mut Vec<u8>,
    ) -> Result<()> {
        let itemsize = self.grid().itemsize();
        let seen = self.post.is_some();
        if !seen && !value.is_empty() && itemsize.is_multiple_of(value.len()) {
            let item = value.repeat(itemsize / value.len());
            return blocks.into_iter().try_for_each(|index| {
                self.check_cancelled()?;
                self.fill(index, &item)
            });
        }
        let bytes = self.grid().block_bytes();
        resize("a block", block, bytes)?;
        for index in blocks {
            self.check_cancelled()?;
            let number = self.visit.block(index);
            for (at, byte) in block.iter_mut().enumerate() {
                *byte = value.get((number * bytes + at) % value.len().max(1)).copied().unwrap_or(0);
            }
            self.postprocess(number, block)?;
            self.scatter(index, &mut self.take(index)?, block, 0)?;
        }
        Ok(())
    }

    /// Reads all blocks of the visit from a chunk whose own blocks are not those of the array; `chunk` is all of it.
    pub(super) fn misfit(&self, chunk: &[u8], head: &ChunkHead) -> Result<()> {
        let mut index = 0;
        let blocks = (0..self.visit.blocks()).map(|index| self.visit.block(index));
        misfit::each_block(self.array, head, chunk, blocks, |block, bytes| {
            self.check_cancelled()?;
            self.postprocess(block, bytes)?;
            self.scatter(index, &mut self.take(index)?, bytes, 0)?;
            index += 1;
            Ok(())
        })
    }
}

/// The blocks `range` of a visit, wherever they are.
pub(super) fn wanted<V: Visit + ?Sized>(visit: &V, range: Range<usize>) -> Vec<Wanted> {
    range.map(|index| Wanted { span: 0..0, block: visit.block(index), index }).collect()
}

/// Finds the bytes of blocks in their chunk, and sorts the blocks by their offset.
pub(super) fn locate(wanted: &mut [Wanted], head: &ChunkHead) {
    wanted.iter_mut().for_each(|w| w.span = head.block_span(w.block));
    wanted.sort_unstable_by_key(|w| w.span.start);
}

/// The bytes of blocks that follow each other in their chunk, joined where one read is cheaper than several.
pub(super) fn runs(wanted: &[Wanted], costs: RangeCosts) -> impl Iterator<Item = Merged> {
    merge_ranges(wanted.iter().map(|w| w.span.start as u64..w.span.end as u64), costs)
}

/// Fetches and checks the header and block offsets of chunk `n`, which is stored.
pub(crate) fn read_head(array: &Array, n: u64, place: Place, fetched: &mut Vec<u8>) -> Result<ChunkHead> {
    let due = u32::try_from(array.grid.chunk_bytes()).unwrap_or(u32::MAX);
    array.schunk.read_head(n, place, Some(due), array.grid.blocks_per_chunk(), fetched)
}

/// The item that a special chunk repeats.
pub(crate) fn special_item(kind: Special, itemsize: usize, limits: &Limits) -> Result<Vec<u8>> {
    match (kind, itemsize) {
        (Special::Nan, 4) => Ok(f32::NAN.to_bits().to_le_bytes().to_vec()),
        (Special::Nan, 8) => Ok(f64::NAN.to_bits().to_le_bytes().to_vec()),
        (Special::Nan, _) => {
            Err(Error::format(Part::Offsets, None, format!("a chunk of NaN with items of {itemsize} bytes")))
        }
        (Special::Zeros | Special::Uninit | Special::Value, _) => {
            Limits::check("an item", itemsize as u64, limits.max_chunk_bytes())?;
            zeroed("an item", itemsize as u64)
        }
    }
}
