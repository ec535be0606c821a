//! Chunks whose own blocks are not those of the array, as in the oldest files: decoded whole.

use crate::array::{Array, grid::Grid};
use crate::chunk;
use crate::chunk::ChunkHead;
use crate::error::{Error, Part, Result};
use crate::limits::zeroed;

/// Whether the blocks of a chunk are those of the array.
pub(crate) fn has_blocks_of(head: &ChunkHead, grid: &Grid) -> bool {
    head.header().blocksize() as usize == grid.block_bytes() && !head.header().is_variable()
}

/// Checks and decodes a chunk, and calls `work` with the bytes of the array's `blocks` in it; `chunk` is all of it.
pub(super) fn each_block(
    array: &Array,
    head: &ChunkHead,
    chunk: &[u8],
    blocks: impl Iterator<Item = usize>,
    mut work: impl FnMut(usize, &mut [u8]) -> Result<()>,
) -> Result<()> {
    head.check_blocks(chunk)?;
    let mut whole = zeroed("a chunk", array.grid.chunk_bytes() as u64)?;
    chunk::decode_into(chunk, &mut whole, array.schunk.context(), &array.schunk.exec().single())?;
    let len = array.grid.block_bytes();
    for n in blocks {
        let start = n.saturating_mul(len);
        let block = whole
            .get_mut(start..start.saturating_add(len))
            .ok_or_else(|| Error::format(Part::Stream, None, format!("block {n} lies outside the chunk")))?;
        work(n, block)?;
    }
    Ok(())
}
