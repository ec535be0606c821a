//! The blocks of a chunk, made from the caller's items while the chunk is compressed.

use crate::array::grid::Grid;
use crate::chunk::BlockSource;
use crate::error::Error;
use crate::error::Result;
use crate::limits::MAX_NDIM;
use crate::limits::resize;
use b2nd_kernel::boxes::Source;
use b2nd_kernel::boxes::copy_box;
use std::ops::Range;

/// A chunk all of whose items come from the caller; what lies past the array's edge is zeros.
pub(crate) struct FreshChunk<'a> {
    grid: &'a Grid,
    /// The items of the array in the chunk along each axis, without padding.
    extents: [u64; MAX_NDIM],
    items: &'a [u8],
    /// The position of the first item among the caller's, in bytes.
    offset: usize,
    /// The distance between neighbours along each axis among the caller's, in bytes.
    item_strides: Vec<isize>,
}

impl<'a> FreshChunk<'a> {
    /// The chunk at `position`, whose first item is `offset` bytes into the items.
    pub(crate) fn new(
        grid: &'a Grid,
        position: &[u64],
        items: &'a [u8],
        offset: usize,
        item_strides: Vec<isize>,
    ) -> Self {
        let (start, stop) = grid.chunk_box(position);
        let mut extents = [0; MAX_NDIM];
        for (extent, (start, stop)) in extents.iter_mut().zip(start.iter().zip(&stop)) {
            *extent = stop.saturating_sub(*start);
        }
        FreshChunk { grid, extents, items, offset, item_strides }
    }
}

impl BlockSource for FreshChunk<'_> {
    fn nbytes(&self) -> usize {
        self.grid.chunk_bytes()
    }

    fn block<'b>(&'b self, range: Range<usize>, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        let (bytes, ndim) = (self.grid.block_bytes(), self.grid.ndim());
        if range.len() != bytes || !range.start.is_multiple_of(bytes.max(1)) {
            return Err(Error::usage("the block size is not that of the array's blocks"));
        }
        let number = (range.start / bytes.max(1)) as u64;
        let (mut shape, mut offset) = ([0; MAX_NDIM], self.offset);
        let (mut full, mut contiguous) = (true, true);
        let strides = self.grid.block_strides();
        for (axis, (&item_stride, &stride)) in self.item_strides.iter().zip(strides).enumerate() {
            let (first, length) = self.grid.block_along(axis, number);
            let here = self.extents[axis].saturating_sub(first).min(length) as usize;
            shape[axis] = here;
            full &= here as u64 == length;
            contiguous &= here <= 1 || stride.cast_signed() == item_stride;
            // Inside the chunk the items follow each other, forwards or backwards.
            offset = offset.wrapping_add_signed((first as isize).wrapping_mul(item_stride));
        }
        let shape = &shape[..ndim];
        if shape.contains(&0) {
            resize("a block", buffer, bytes)?;
            buffer.fill(0);
            return Ok(buffer);
        }
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
        if copy_box(self.grid.itemsize(), shape, buffer, 0, strides, source) {
            Ok(buffer)
        } else {
            Err(Error::usage("the items do not cover the chunk"))
        }
    }
}
