//! The blocks of a chunk, made from the caller's items while the chunk is compressed.

use crate::array::grid::Grid;
use crate::chunk::BlockSource;
use crate::error::Error;
use crate::error::Result;
use crate::limits::resize;
use b2nd_kernel::boxes::Source;
use b2nd_kernel::boxes::copy_box;
use std::ops::Range;

/// A chunk all of whose items come from the caller; what lies past the array's edge is zeros.
pub(crate) struct FreshChunk<'a> {
    grid: &'a Grid,
    position: &'a [u64],
    /// The first index of the chunk along each axis.
    starts: Vec<u64>,
    items: &'a [u8],
    /// The position of that item among the caller's, in bytes.
    offset: usize,
    /// The distance between neighbours along each axis among the caller's, in bytes.
    item_strides: Vec<isize>,
    block_lengths: Vec<usize>,
}

impl<'a> FreshChunk<'a> {
    /// The chunk at `position`, whose first item is `offset` bytes into the items.
    pub(crate) fn new(
        grid: &'a Grid,
        position: &'a [u64],
        items: &'a [u8],
        offset: usize,
        item_strides: Vec<isize>,
    ) -> Self {
        let (starts, _) = grid.chunk_box(position);
        FreshChunk {
            grid,
            position,
            starts,
            items,
            offset,
            item_strides,
            block_lengths: grid.block_lengths(),
        }
    }
}

impl BlockSource for FreshChunk<'_> {
    fn nbytes(&self) -> usize {
        self.grid.chunk_bytes()
    }

    fn block<'b>(&'b self, range: Range<usize>, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        let bytes = self.grid.block_bytes();
        if range.len() != bytes || !range.start.is_multiple_of(bytes.max(1)) {
            return Err(Error::usage("the block size is not that of the array's blocks"));
        }
        let position = self.grid.block_position(range.start / bytes);
        let (start, stop) = self.grid.block_box(self.position, &position);
        let shape: Vec<usize> =
            start.iter().zip(&stop).map(|(&a, &b)| b.saturating_sub(a) as usize).collect();
        if shape.contains(&0) {
            resize("a block", buffer, bytes)?;
            buffer.fill(0);
            return Ok(buffer);
        }
        // Inside the chunk the items follow each other, forwards or backwards.
        let inside = start.iter().zip(&self.starts).map(|(&index, &first)| (index - first) as isize);
        let distance: isize = inside.zip(&self.item_strides).map(|(inside, &stride)| inside * stride).sum();
        let offset = self.offset.wrapping_add_signed(distance);
        let full = shape == self.block_lengths;
        let strides = Grid::strides(&self.block_lengths, self.grid.itemsize());
        let contiguous = shape
            .iter()
            .zip(&strides)
            .zip(&self.item_strides)
            .all(|((&n, a), b)| n == 1 || a.cast_signed() == *b);
        if full
            && contiguous
            && let Some(block) = self.items.get(offset..offset.saturating_add(bytes))
        {
            return Ok(block);
        }
        resize("a block", buffer, bytes)?;
        if !full {
            buffer.fill(0);
        }
        let source = Source { bytes: self.items, offset, strides: &self.item_strides };
        if copy_box(self.grid.itemsize(), &shape, buffer, 0, &strides, source) {
            Ok(buffer)
        } else {
            Err(Error::usage("the items do not cover the chunk"))
        }
    }
}
