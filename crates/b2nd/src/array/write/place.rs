//! Items of the caller on their way into an uncompressed chunk.

use crate::array::grid::Grid;
use crate::array::read::plan::ChunkVisit;
use crate::array::read::plan::Plan;
use crate::error::Error;
use crate::error::Result;
use b2nd_kernel::boxes::Source;
use b2nd_kernel::boxes::copy_box;

/// The items that a plan places: where they are in the caller's memory.
pub(crate) struct Placed<'a> {
    /// The caller's memory.
    pub(crate) items: &'a [u8],
    /// Where in it the first item of the plan is, in bytes.
    pub(crate) start: usize,
    /// The distance in bytes between neighbours along each axis.
    pub(crate) strides: &'a [usize],
}

impl Placed<'_> {
    /// Copies the items that `visit` takes into `whole`, the bytes of its chunk in the order of its blocks.
    pub(crate) fn put(
        &self,
        grid: &Grid,
        block_strides: &[usize],
        plan: &Plan,
        visit: &ChunkVisit,
        whole: &mut [u8],
    ) -> Result<()> {
        let from_strides: Vec<isize> = self.strides.iter().map(|&s| s as isize).collect();
        for index in 0..visit.blocks() {
            let cell = visit.cell(index);
            let block = visit.block(plan, grid, index).block;
            let segments = visit.segments(plan, &cell);
            let shape: Vec<usize> = segments.clone().map(|s| s.count).collect();
            let start = block * grid.block_bytes();
            let to =
                segments.clone().zip(block_strides).fold(start, |at, (s, &stride)| at + s.first * stride);
            let from = segments.zip(self.strides).fold(self.start, |at, (s, &stride)| at + s.out * stride);
            let steps = plan.steps.iter().zip(block_strides).zip(&shape);
            // Steps are positive here; an axis with one item has none.
            let to_strides: Vec<usize> = steps
                .map(
                    |((&step, &stride), &n)| {
                        if n > 1 { step.unsigned_abs() as usize * stride } else { stride }
                    },
                )
                .collect();
            let source = Source { bytes: self.items, offset: from, strides: &from_strides };
            if !copy_box(grid.itemsize(), &shape, whole, to, &to_strides, source) {
                return Err(Error::usage("the selection does not fit the chunk"));
            }
        }
        Ok(())
    }
}
