//! Decodes blocks of one chunk, one after another, for callers that process items instead of copying them.

use crate::array::Array;
use crate::array::process::ShownChunk;
use crate::array::process::process_block;
use crate::array::read::chunk::read_head;
use crate::array::read::chunk::special_item;
use crate::array::read::misfit;
use crate::array::read::misfit::has_blocks_of;
use crate::chunk::ChunkHead;
use crate::chunk::Content;
use crate::error::Result;
use crate::exec::Scratch;
use crate::schunk::Place;

/// Kind of a chunk that was looked up.
pub(crate) enum ChunkContent {
    /// All items have this value; nothing was decoded.
    Repeat(Vec<u8>),
    /// Its blocks have to be decoded.
    Blocks(ChunkBlocks),
}

/// A chunk whose blocks are to be decoded.
pub(crate) struct ChunkBlocks {
    chunk: u64,
    source: BlockOrigin,
}

/// A stored chunk whose head is known.
struct StoredChunk {
    place: Place,
    head: ChunkHead,
}

enum BlockOrigin {
    Stored(StoredChunk),
    /// An item for all; its blocks are made up, for the user's closure to see.
    Repeat(Vec<u8>),
}

/// Looks up chunk `n`. A special chunk is not fetched; of a chunk that repeats a value only the header is.
pub(crate) fn look(array: &Array, n: u64, scratch: &mut Scratch) -> Result<ChunkContent> {
    let itemsize = array.grid.itemsize();
    let place = array.schunk.place(n)?;
    let repeat = |item| match array.schunk.processing().post {
        None => ChunkContent::Repeat(item),
        Some(_) => ChunkContent::Blocks(ChunkBlocks { chunk: n, source: BlockOrigin::Repeat(item) }),
    };
    if let Place::Special(kind) = place {
        return special_item(kind, itemsize, array.schunk.limits()).map(repeat);
    }
    let head = read_head(array, n, place, &mut scratch.fetched)?;
    match head.content() {
        Content::Repeat(value) if !value.is_empty() && itemsize.is_multiple_of(value.len()) => {
            Ok(repeat(value.repeat(itemsize / value.len())))
        }
        _ => Ok(ChunkContent::Blocks(ChunkBlocks {
            chunk: n,
            source: BlockOrigin::Stored(StoredChunk { place, head }),
        })),
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
        let shown = ShownChunk { number: self.chunk, position: &array.grid.chunk_position(self.chunk) };
        let work = |at: usize, block: &mut [u8]| {
            if let (Some(post), Some(&n)) = (&array.schunk.processing().post, wanted.get(at)) {
                process_block(post, &array.grid, shown, n, block)?;
            }
            work(at, block)
        };
        let chunk = match &self.source {
            BlockOrigin::Stored(chunk) => chunk,
            BlockOrigin::Repeat(item) => return repeat(item, wanted.len(), block, work),
        };
        // The buffer leaves the scratch while the codecs use the rest of it.
        let mut fetched = std::mem::take(&mut scratch.fetched);
        let result = if has_blocks_of(&chunk.head, &array.grid) {
            stored(array, chunk, wanted, block, &mut fetched, scratch, work)
        } else {
            misfit(array, chunk, wanted, block, &mut fetched, work)
        };
        scratch.fetched = fetched;
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

/// The blocks of a stored chunk, from their streams.
fn stored(
    array: &Array,
    chunk: &StoredChunk,
    wanted: &[usize],
    block: &mut [u8],
    fetched: &mut Vec<u8>,
    scratch: &mut Scratch,
    mut work: impl FnMut(usize, &mut [u8]) -> Result<()>,
) -> Result<()> {
    let (blocks, mut at) = (wanted.iter().copied(), 0);
    array.schunk.each_stream(
        chunk.place,
        &chunk.head,
        blocks,
        fetched,
        scratch,
        |decoder, n, stream, scratch| {
            decoder.decode(n, stream, block, scratch)?;
            work(at, block)?;
            at += 1;
            Ok(())
        },
    )
}

/// The blocks of a chunk whose own blocks are not those of the array.
fn misfit(
    array: &Array,
    chunk: &StoredChunk,
    wanted: &[usize],
    block: &mut [u8],
    fetched: &mut Vec<u8>,
    mut work: impl FnMut(usize, &mut [u8]) -> Result<()>,
) -> Result<()> {
    let StoredChunk { place, head } = chunk;
    let bytes = array.schunk.fetch(*place, 0, head.header().cbytes() as usize, fetched)?;
    let (blocks, mut at) = (wanted.iter().copied(), 0);
    misfit::each_block(array, head, bytes, blocks, |_, bytes| {
        block.copy_from_slice(bytes);
        work(at, block)?;
        at += 1;
        Ok(())
    })
}
