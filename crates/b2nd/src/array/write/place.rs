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
        let strides: Vec<isize> = self.strides.iter().map(|&s| s as isize).collect();
        for taken in boxes(grid, block_strides, plan, visit) {
            let places = visit.segments(plan, &taken.cell).zip(self.strides);
            let offset = places.fold(self.start, |at, (s, &stride)| at + s.out * stride);
            taken.copy(grid, whole, Source { bytes: self.items, offset, strides: &strides })?;
        }
        Ok(())
    }
}

/// Copies the items that `visit` takes from one state of its chunk into another.
pub(crate) fn copy_taken(
    grid: &Grid,
    block_strides: &[usize],
    plan: &Plan,
    visit: &ChunkVisit,
    from: &[u8],
    to: &mut [u8],
) -> Result<()> {
    boxes(grid, block_strides, plan, visit).try_for_each(|taken| {
        let strides: Vec<isize> = taken.strides.iter().map(|&s| s as isize).collect();
        taken.copy(grid, to, Source { bytes: from, offset: taken.start, strides: &strides })
    })
}

/// The items that a visit takes of one block: where they are in the uncompressed chunk.
struct Taken {
    cell: Vec<usize>,
    shape: Vec<usize>,
    start: usize,
    strides: Vec<usize>,
}

impl Taken {
    fn copy(&self, grid: &Grid, whole: &mut [u8], source: Source<'_>) -> Result<()> {
        if copy_box(grid.itemsize(), &self.shape, whole, self.start, &self.strides, source) {
            Ok(())
        } else {
            Err(Error::usage("the selection does not fit the chunk"))
        }
    }
}

/// What a visit takes of its chunk, block by block.
fn boxes<'a>(
    grid: &'a Grid,
    block_strides: &'a [usize],
    plan: &'a Plan,
    visit: &'a ChunkVisit,
) -> impl Iterator<Item = Taken> + 'a {
    (0..visit.blocks()).map(move |index| {
        let cell = visit.cell(index);
        let block = visit.block(plan, grid, index).block;
        let segments = visit.segments(plan, &cell);
        let shape: Vec<usize> = segments.clone().map(|s| s.count).collect();
        let first = block * grid.block_bytes();
        let start = segments.zip(block_strides).fold(first, |at, (s, &stride)| at + s.first * stride);
        let steps = plan.steps.iter().zip(block_strides).zip(&shape);
        // Steps are positive here; an axis with one item has none.
        let strides = steps
            .map(|((&step, &stride), &n)| if n > 1 { step.unsigned_abs() as usize * stride } else { stride })
            .collect();
        Taken { cell, shape, start, strides }
    })
}
