//! Decoded blocks of one chunk, one after the other, for those who look at items instead of copying them.

use crate::array::Array;
use crate::array::process::process_block;
use crate::array::read::chunk::read_head;
use crate::array::read::chunk::special_item;
use crate::chunk;
use crate::chunk::ChunkHead;
use crate::chunk::Content;
use crate::error::Result;
use crate::exec::Exec;
use crate::exec::Scratch;
use crate::limits::resize;
use crate::limits::zeroed;
use crate::schunk::Place;

/// What a chunk turns out to be.
pub(crate) enum Found {
    /// All its items are this one; nothing was decoded.
    Repeat(Vec<u8>),
    /// Its blocks have to be decoded.
    Blocks(ChunkBlocks),
}

/// A chunk whose blocks are wanted.
pub(crate) struct ChunkBlocks {
    chunk: u64,
    source: Source,
}

enum Source {
    /// A stored chunk whose head is known.
    Stored { place: Place, head: ChunkHead },
    /// An item for all; its blocks are made up, for the user's closure to see.
    Repeat(Vec<u8>),
}

/// Looks at chunk `n`: what is special is not fetched, and of what repeats a value no more than its header.
pub(crate) fn look(array: &Array, n: u64, scratch: &mut Scratch) -> Result<Found> {
    let itemsize = array.grid.itemsize();
    let place = array.schunk.place(n)?;
    let repeat = |item| match array.schunk.processing().post {
        None => Found::Repeat(item),
        Some(_) => Found::Blocks(ChunkBlocks { chunk: n, source: Source::Repeat(item) }),
    };
    if let Place::Special(kind) = place {
        return special_item(kind, itemsize, array.schunk.limits()).map(repeat);
    }
    let head = read_head(array, n, place, &mut scratch.fetched)?;
    match head.content() {
        Content::Repeat(value) if !value.is_empty() && itemsize.is_multiple_of(value.len()) => {
            Ok(repeat(value.repeat(itemsize / value.len())))
        }
        _ => Ok(Found::Blocks(ChunkBlocks { chunk: n, source: Source::Stored { place, head } })),
    }
}

impl ChunkBlocks {
    /// Decodes the blocks `wanted`, in this order, each into `block` (which has the size of one), and calls `work` with its
    /// place in `wanted`.
    pub(crate) fn decode(
        &self,
        array: &Array,
        wanted: &[usize],
        block: &mut [u8],
        scratch: &mut Scratch,
        mut work: impl FnMut(usize, &mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let position = array.grid.chunk_position(self.chunk);
        let work = |at: usize, block: &mut [u8]| {
            if let (Some(post), Some(&n)) = (&array.schunk.processing().post, wanted.get(at)) {
                process_block(post, &array.grid, (self.chunk, &position), n, block)?;
            }
            work(at, block)
        };
        let (place, head) = match &self.source {
            Source::Stored { place, head } => (*place, head),
            Source::Repeat(item) => return repeat(item, wanted.len(), block, work),
        };
        // The buffers leave the scratch while the codecs use the rest of it.
        let mut fetched = std::mem::take(&mut scratch.fetched);
        let mut first = std::mem::take(&mut scratch.reference);
        let header = head.header();
        let fits = header.blocksize() as usize == array.grid.block_bytes() && !header.is_variable();
        let result = if fits {
            stored(array, (place, head), wanted, block, (&mut fetched, &mut first), scratch, work)
        } else {
            misfit(array, (place, head), wanted, block, &mut fetched, work)
        };
        (scratch.fetched, scratch.reference) = (fetched, first);
        result
    }
}

/// Blocks of one item over and over.
fn repeat(
    item: &[u8],
    count: usize,
    block: &mut [u8],
    mut work: impl FnMut(usize, &mut [u8]) -> Result<()>,
) -> Result<()> {
    (0..count).try_for_each(|at| {
        // The last call has changed them.
        block.chunks_exact_mut(item.len().max(1)).for_each(|to| to.copy_from_slice(item));
        work(at, block)
    })
}

fn stored(
    array: &Array,
    (place, head): (Place, &ChunkHead),
    wanted: &[usize],
    block: &mut [u8],
    (fetched, first): (&mut Vec<u8>, &mut Vec<u8>),
    scratch: &mut Scratch,
    mut work: impl FnMut(usize, &mut [u8]) -> Result<()>,
) -> Result<()> {
    let schunk = &array.schunk;
    let refers = head.refers_to_first() && wanted.iter().any(|&n| n > 0);
    if refers {
        resize("a block", first, head.block_len(0))?;
        let span = head.block_span(0);
        let stream = schunk.fetch(place, span.start as u64, span.len(), fetched)?;
        head.decode_block(0, stream, None, first, scratch)?;
    }
    let reference = refers.then_some(&first[..]);
    let spans = || wanted.iter().map(|&n| head.block_span(n));
    let start = spans().map(|span| span.start).min().unwrap_or(0);
    let end = spans().map(|span| span.end).max().unwrap_or(start);
    // One fetch for all, where at least half of it is wanted.
    let dense = end - start <= spans().map(|span| span.len()).sum::<usize>().saturating_mul(2);
    let all = if dense { start..end } else { 0..0 };
    let mut streams = schunk.fetch(place, all.start as u64, all.len(), fetched)?;
    let mut single = Vec::new();
    for (at, &n) in wanted.iter().enumerate() {
        schunk.exec().check_cancelled()?;
        let span = head.block_span(n);
        let stream = if dense {
            streams.get(span.start - start..span.end - start).unwrap_or_default()
        } else {
            streams = schunk.fetch(place, span.start as u64, span.len(), &mut single)?;
            streams
        };
        head.decode_block(n, stream, reference, block, scratch)?;
        work(at, block)?;
    }
    Ok(())
}

/// A chunk whose own blocks are not those of the array (the oldest files): decoded whole.
fn misfit(
    array: &Array,
    (place, head): (Place, &ChunkHead),
    wanted: &[usize],
    block: &mut [u8],
    fetched: &mut Vec<u8>,
    mut work: impl FnMut(usize, &mut [u8]) -> Result<()>,
) -> Result<()> {
    let chunk = array.schunk.fetch(place, 0, head.header().cbytes() as usize, fetched)?;
    head.check_blocks(chunk)?;
    let mut whole = zeroed("a chunk", array.grid.chunk_bytes() as u64)?;
    chunk::decode_into(chunk, &mut whole, array.schunk.context(), &Exec::new(1))?;
    for (at, &n) in wanted.iter().enumerate() {
        let start = n.saturating_mul(block.len());
        if let Some(bytes) = whole.get(start..start.saturating_add(block.len())) {
            block.copy_from_slice(bytes);
            work(at, block)?;
        }
    }
    Ok(())
}
