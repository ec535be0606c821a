//! Blocks of an array in the hands of the user's closures.

use crate::array::grid::Grid;
use crate::error::Result;
use crate::schunk::BlockPlace;
use crate::schunk::Hook;

/// A chunk that blocks are shown of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShownChunk<'a> {
    /// Its number in the frame: while slabs are streamed, that is not the one that follows from its position.
    pub(crate) number: u64,
    /// Its position in the array.
    pub(crate) position: &'a [u64],
}

/// Gives a block of a chunk to a closure; a block that is all padding is not shown.
pub(crate) fn process_block(
    hook: &Hook,
    grid: &Grid,
    chunk: ShownChunk<'_>,
    block: usize,
    bytes: &mut [u8],
) -> Result<()> {
    let (start, stop) = grid.block_box(chunk.position, &grid.block_position(block));
    if start.iter().zip(&stop).any(|(a, b)| a >= b) {
        return Ok(());
    }
    let place = BlockPlace {
        chunk: chunk.number,
        block,
        offset: block * grid.block_bytes(),
        start: &start,
        stop: &stop,
        shape: grid.blocks(),
        typesize: grid.itemsize(),
    };
    hook(&place, bytes)
}

/// Gives some blocks of an uncompressed chunk to a closure.
pub(crate) fn process_blocks(
    hook: &Hook,
    grid: &Grid,
    chunk: ShownChunk<'_>,
    blocks: impl Iterator<Item = usize>,
    whole: &mut [u8],
) -> Result<()> {
    let len = grid.block_bytes();
    for block in blocks {
        let bytes = whole.get_mut(block * len..).and_then(|rest| rest.get_mut(..len)).unwrap_or_default();
        process_block(hook, grid, chunk, block, bytes)?;
    }
    Ok(())
}

/// Gives all blocks of an uncompressed chunk to a closure.
pub(crate) fn process_chunk(hook: &Hook, grid: &Grid, chunk: ShownChunk<'_>, whole: &mut [u8]) -> Result<()> {
    process_blocks(hook, grid, chunk, 0..grid.blocks_per_chunk(), whole)
}
