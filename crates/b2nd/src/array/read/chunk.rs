//! One chunk of a read: fetches the byte ranges of the wanted blocks, decodes them, and scatters their items.

use crate::array::Array;
use crate::array::grid::Grid;
use crate::array::grid::MAX_NDIM;
use crate::array::process::process_block;
use crate::array::read::plan::BlockVisit;
use crate::array::read::plan::ChunkVisit;
use crate::array::read::plan::Plan;
use crate::chunk;
use crate::chunk::ChunkHead;
use crate::chunk::ChunkHeader;
use crate::chunk::Content;
use crate::chunk::Special;
use crate::error::Error;
use crate::error::Part;
use crate::error::Result;
use crate::exec::Exec;
use crate::exec::Scratch;
use crate::limits::Limits;
use crate::limits::resize;
use crate::limits::zeroed;
use crate::schunk::Key;
use crate::schunk::Place;
use b2nd_kernel::boxes::BoxGrid;
use b2nd_kernel::boxes::BoxMut;
use b2nd_kernel::boxes::Source;
use std::ops::Range;
use std::sync::Arc;

/// Two wanted ranges that lie closer than this are fetched in one read: about what a read costs in copying.
const FETCH_GAP: usize = 16 << 10;
/// The least that the first read of a chunk asks for: header, block offsets, and with luck a small chunk whole.
const FIRST_FETCH: usize = 4 << 10;

/// Where a block is decoded from.
struct Encoded<'a> {
    place: Place,
    head: &'a ChunkHead,
    stream: &'a [u8],
    first: Option<&'a [u8]>,
}

/// A block with the bytes of the chunk that hold it.
struct Wanted {
    span: Range<usize>,
    block: BlockVisit,
}

pub(crate) struct ChunkRead<'a> {
    pub(super) array: &'a Array,
    pub(super) plan: &'a Plan,
    pub(super) visit: &'a ChunkVisit,
    pub(super) cells: &'a BoxGrid<'a>,
    /// Whether this is the last part of the chunk, which has a block for certain and does what cannot be shared.
    pub(super) last: bool,
    /// Whether the read goes through the block cache.
    pub(super) cached: bool,
}

impl ChunkRead<'_> {
    /// Reads the blocks `range` of the visit.
    pub(super) fn run(&self, range: Range<usize>, scratch: &mut Scratch) -> Result<()> {
        let place = self.array.schunk.place(self.visit.chunk)?;
        match place {
            Place::Special(kind) => {
                let item = special_item(kind, self.grid().itemsize(), self.array.schunk.limits())?;
                let mut block = std::mem::take(&mut scratch.block);
                let result = self.repeat(&item, range.clone(), &mut block);
                scratch.block = block;
                result?;
            }
            Place::Stored { .. } => {
                // The buffers leave the scratch while the codecs use the rest of it.
                let mut fetched = std::mem::take(&mut scratch.fetched);
                let mut block = std::mem::take(&mut scratch.block);
                let result = self.stored(place, range.clone(), &mut fetched, &mut block, scratch);
                (scratch.fetched, scratch.block) = (fetched, block);
                result?;
            }
        }
        if self.array.schunk.exec().has_progress() {
            let items: usize = range.map(|index| self.cell_items(index)).sum();
            self.array.schunk.exec().progress((items * self.grid().itemsize()) as u64);
        }
        Ok(())
    }

    fn grid(&self) -> &Grid {
        &self.array.grid
    }

    fn stored(
        &self,
        place: Place,
        range: Range<usize>,
        fetched: &mut Vec<u8>,
        block: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let schunk = &self.array.schunk;
        let mut wanted: Vec<Wanted> = range
            .map(|index| Wanted { span: 0..0, block: self.visit.block(self.plan, self.grid(), index) })
            .collect();
        if self.cached {
            self.take_cached(place, &mut wanted)?;
            if wanted.is_empty() {
                return Ok(());
            }
        }
        let head = read_head(self.array, place, fetched)?;
        if let Content::Repeat(value) = head.content() {
            return self.repeat(value, wanted.iter().map(|w| w.block.index), block);
        }
        if head.header().blocksize() as usize != self.grid().block_bytes() || head.header().is_variable() {
            // Decoded once for all parts: one copy of the chunk, not one for each thread.
            let all = if self.last { 0..self.visit.blocks() } else { 0..0 };
            return self.misfit(place, &head, all, fetched);
        }
        wanted.iter_mut().for_each(|w| w.span = head.block_span(w.block.block));
        wanted.sort_unstable_by_key(|w| w.span.start);
        let mut first = Vec::new();
        if head.refers_to_first() && wanted.iter().any(|w| w.block.block > 0) {
            first = std::mem::take(&mut scratch.reference);
            resize("a block", &mut first, head.block_len(0))?;
            let span = head.block_span(0);
            let stream = schunk.fetch(place, span.start as u64, span.len(), fetched)?;
            head.decode_block(0, stream, None, &mut first, scratch).map_err(|e| e.in_block(0))?;
        }
        let reference = (!first.is_empty()).then_some(&first[..]);
        let mut rest = &wanted[..];
        while !rest.is_empty() {
            let (run, bytes, after) = fetch_run(rest);
            let streams = schunk.fetch(place, bytes.start as u64, bytes.len(), fetched)?;
            for w in run {
                let stream =
                    streams.get(w.span.start - bytes.start..w.span.end - bytes.start).unwrap_or_default();
                let source = Encoded { place, head: &head, stream, first: reference };
                let decoded = self.decode(&source, w.block, block, scratch);
                decoded.map_err(|e| e.in_block(w.block.block as u32))?;
            }
            rest = after;
        }
        if !first.is_empty() {
            scratch.reference = first;
        }
        Ok(())
    }

    /// Takes the blocks that the cache has from there, and out of `wanted`.
    fn take_cached(&self, place: Place, wanted: &mut Vec<Wanted>) -> Result<()> {
        let mut result = Ok(());
        wanted.retain(|w| {
            let key = Key::new(self.visit.chunk, place, w.block.block);
            let Some(block) = key.and_then(|key| self.array.schunk.cache().get(key)) else { return true };
            let cell = self.visit.cell(w.block.index);
            let copied = self.take(&cell).and_then(|mut to| self.scatter(&cell, &mut to, &block));
            if result.is_ok() {
                result = copied;
            }
            false
        });
        result
    }

    /// Decodes one block and puts its items into their cell.
    fn decode(
        &self,
        source: &Encoded<'_>,
        visit: BlockVisit,
        block: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Encoded { head, stream, first, .. } = *source;
        let cell = self.visit.cell(visit.index);
        let mut place = self.take(&cell)?;
        let bytes = self.grid().block_bytes();
        let raw = head.content() == Content::Raw;
        let plain = raw && self.array.schunk.processing().post.is_none();
        let whole = self.whole(&cell);
        let key = Key::new(self.visit.chunk, source.place, visit.block);
        // What is read whole is not kept, nor what can be had without decoding.
        if let Some(key) =
            key.filter(|_| self.cached && !whole && !(plain && self.array.schunk.is_in_memory()))
        {
            let mut kept = zeroed("a block", bytes as u64)?;
            head.decode_block(visit.block, stream, first, &mut kept, scratch)?;
            self.postprocess(visit.block, &mut kept)?;
            self.scatter(&cell, &mut place, &kept)?;
            self.array.schunk.cache().put(key, Arc::new(kept));
            return Ok(());
        }
        if plain {
            return self.scatter(&cell, &mut place, stream);
        }
        // A block that is whole and in one piece in the result is decoded where it belongs.
        if whole
            && let Some(out) = place.contiguous()
            && out.len() == bytes
        {
            head.decode_block(visit.block, stream, first, out, scratch)?;
            return self.postprocess(visit.block, out);
        }
        resize("a block", block, bytes)?;
        head.decode_block(visit.block, stream, first, block, scratch)?;
        self.postprocess(visit.block, block)?;
        self.scatter(&cell, &mut place, block)
    }

    /// Gives a decoded block to the user's closure, where there is one.
    fn postprocess(&self, block: usize, bytes: &mut [u8]) -> Result<()> {
        let Some(hook) = &self.array.schunk.processing().post else { return Ok(()) };
        process_block(hook, self.grid(), (self.visit.chunk, &self.visit.position), block, bytes)
    }

    fn take(&self, cell: &[usize]) -> Result<BoxMut<'_>> {
        self.cells.take(cell).ok_or_else(|| Error::usage("two parts of the selection fall on one block"))
    }

    /// Whether a cell takes all items of its block, forwards.
    fn whole(&self, cell: &[usize]) -> bool {
        let mut axes = self.visit.segments(self.plan, cell).zip(&self.plan.steps).zip(self.grid().blocks());
        axes.all(|((segment, &step), &length)| segment.count as u64 == length && (step == 1 || length == 1))
    }

    /// Copies the selected items of a decoded block into their cell.
    fn scatter(&self, cell: &[usize], place: &mut BoxMut<'_>, block: &[u8]) -> Result<()> {
        let strides = &self.array.block_strides;
        let segments = self.visit.segments(self.plan, cell);
        let offset = segments.zip(strides).fold(0, |offset, (s, &stride)| offset + s.first * stride);
        let mut steps = [0; MAX_NDIM];
        let axes = self.plan.steps.iter().zip(strides).zip(place.shape());
        for (step, ((&line, &stride), &count)) in steps.iter_mut().zip(axes) {
            // With a second item in the block the step is shorter than the block; without one it does not matter.
            *step = if count > 1 { (line as isize).wrapping_mul(stride as isize) } else { 0 };
        }
        if place.copy_from(Source { bytes: block, offset, strides: &steps[..strides.len()] }) {
            Ok(())
        } else {
            Err(Error::format(Part::Stream, None, "the block is shorter than the array's block shape"))
        }
    }

    fn fill(&self, index: usize, item: &[u8]) -> Result<()> {
        self.take(&self.visit.cell(index))?.fill(item);
        Ok(())
    }

    fn cell_items(&self, index: usize) -> usize {
        let cell = self.visit.cell(index);
        self.visit.segments(self.plan, &cell).map(|s| s.count).product()
    }

    /// A chunk that repeats one value, whose width need not be that of an item.
    fn repeat(
        &self,
        value: &[u8],
        blocks: impl IntoIterator<Item = usize>,
        block: &mut Vec<u8>,
    ) -> Result<()> {
        let itemsize = self.grid().itemsize();
        let seen = self.array.schunk.processing().post.is_some();
        if !seen && !value.is_empty() && itemsize.is_multiple_of(value.len()) {
            let item = value.repeat(itemsize / value.len());
            return blocks.into_iter().try_for_each(|index| self.fill(index, &item));
        }
        let bytes = self.grid().block_bytes();
        resize("a block", block, bytes)?;
        for index in blocks {
            let number = self.visit.block(self.plan, self.grid(), index).block;
            for (at, byte) in block.iter_mut().enumerate() {
                *byte = value.get((number * bytes + at) % value.len().max(1)).copied().unwrap_or(0);
            }
            self.postprocess(number, block)?;
            let cell = self.visit.cell(index);
            self.scatter(&cell, &mut self.take(&cell)?, block)?;
        }
        Ok(())
    }

    /// A chunk whose own blocks are not those of the array (the oldest files): decoded whole.
    fn misfit(
        &self,
        place: Place,
        head: &ChunkHead,
        range: Range<usize>,
        fetched: &mut Vec<u8>,
    ) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let chunk = self.array.schunk.fetch(place, 0, head.header().cbytes() as usize, fetched)?;
        let mut whole = zeroed("a chunk", self.grid().chunk_bytes() as u64)?;
        chunk::decode_into(chunk, &mut whole, self.array.schunk.context(), &Exec::new(1))?;
        for index in range {
            let cell = self.visit.cell(index);
            let block = self.visit.block(self.plan, self.grid(), index).block;
            let (len, mut to) = (self.grid().block_bytes(), self.take(&cell)?);
            let bytes = whole.get_mut(block * len..).and_then(|rest| rest.get_mut(..len)).unwrap_or_default();
            self.postprocess(block, bytes)?;
            self.scatter(&cell, &mut to, bytes)?;
        }
        Ok(())
    }
}

/// The next blocks whose bytes are fetched in one go, those bytes, and the blocks after them.
fn fetch_run(wanted: &[Wanted]) -> (&[Wanted], Range<usize>, &[Wanted]) {
    let mut bytes = wanted.first().map_or(0..0, |w| w.span.clone());
    let mut count = 0;
    for w in wanted {
        if w.span.start > bytes.end.saturating_add(FETCH_GAP) {
            break;
        }
        bytes.end = bytes.end.max(w.span.end);
        count += 1;
    }
    let (run, after) = wanted.split_at(count);
    (run, bytes, after)
}

/// Fetches and checks the header and block offsets of a stored chunk.
pub(crate) fn read_head(array: &Array, place: Place, fetched: &mut Vec<u8>) -> Result<ChunkHead> {
    let Place::Stored { available, .. } = place else {
        return Err(Error::usage("a special chunk has no header"));
    };
    let context = array.schunk.context();
    let expected = array.grid.blocks_per_chunk().saturating_mul(4).saturating_add(32);
    let clip = |len: usize| usize::try_from(available).unwrap_or(usize::MAX).min(len);
    let mut got = clip(expected.max(FIRST_FETCH));
    loop {
        let bytes = array.schunk.fetch(place, 0, got, fetched)?;
        // A chunk of another size is damage, whatever it would cost: so this comes before the limits.
        let (found, due) = (ChunkHeader::parse(bytes)?.nbytes() as usize, array.grid.chunk_bytes());
        if found != due {
            let reason = format!("a chunk of {found} bytes in an array with chunks of {due}");
            return Err(Error::format(Part::ChunkHeader, 4, reason));
        }
        let needed = ChunkHead::needed(bytes, available, context)?;
        if needed <= got {
            return ChunkHead::parse(bytes, available, context);
        }
        got = needed;
    }
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
