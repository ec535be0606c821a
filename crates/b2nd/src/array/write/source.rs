//! The blocks of a chunk, made from the caller's items while the chunk is compressed.

use crate::array::grid::Grid;
use crate::array::grid::MAX_NDIM;
use crate::chunk::BlockSource;
use crate::error::Error;
use crate::error::Result;
use crate::limits::resize;
use b2nd_kernel::boxes::Source;
use b2nd_kernel::boxes::copy_box;
use std::ops::Range;

/// A chunk all of whose items come from the caller; what lies past the array's edge is zeros.
pub(in crate::array) struct FreshChunk<'a> {
    grid: &'a Grid,
    position: &'a [u64],
    /// The first index of the chunk along each axis.
    starts: Vec<u64>,
    /// The place of that item among the caller's, along each axis.
    places: Vec<usize>,
    items: &'a [u8],
    item_strides: &'a [usize],
    block_lengths: Vec<usize>,
}

impl<'a> FreshChunk<'a> {
    /// The chunk at `position`, whose first item is at `places` among the items.
    pub(in crate::array) fn new(
        grid: &'a Grid,
        position: &'a [u64],
        places: Vec<usize>,
        items: &'a [u8],
        item_strides: &'a [usize],
    ) -> Self {
        let (starts, _) = grid.chunk_box(position);
        FreshChunk {
            grid,
            position,
            starts,
            places,
            items,
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
        // Inside the chunk the items follow each other: where it takes more than one index of an axis, the step is 1.
        let inside = start.iter().zip(&self.starts).map(|(&index, &first)| (index - first) as usize);
        let begins = inside.zip(&self.places).zip(self.item_strides);
        let offset = begins.fold(0, |at, ((inside, &place), &stride)| at + (place + inside) * stride);
        let full = shape == self.block_lengths;
        let strides = Grid::strides(&self.block_lengths, self.grid.itemsize());
        let contiguous =
            shape.iter().zip(&strides).zip(self.item_strides).all(|((&n, a), b)| n == 1 || a == b);
        if full
            && contiguous
            && let Some(block) = self.items.get(offset..offset + bytes)
        {
            return Ok(block);
        }
        resize("a block", buffer, bytes)?;
        if !full {
            buffer.fill(0);
        }
        let mut from = [0isize; MAX_NDIM];
        for (to, &stride) in from.iter_mut().zip(self.item_strides) {
            *to = stride as isize;
        }
        let source = Source { bytes: self.items, offset, strides: &from[..shape.len()] };
        if copy_box(self.grid.itemsize(), &shape, buffer, 0, &strides, source) {
            Ok(buffer)
        } else {
            Err(Error::usage("the items do not cover the chunk"))
        }
    }
}
