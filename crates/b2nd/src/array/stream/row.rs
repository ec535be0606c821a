//! A row of chunks across the streamed axis, as the slabs fill it.

use crate::array::grid::Grid;
use crate::array::read::plan::Plan;
use crate::array::selection::Line;
use crate::array::selection::Pick;
use crate::array::write::BoxEdit;
use crate::array::write::Edit;
use crate::error::Result;
use crate::limits::Limits;

/// A slab that is copied into rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slab<'a> {
    pub(super) items: &'a [u8],
    /// Items along the axis.
    pub(super) len: usize,
    /// As many of them are copied already.
    pub(super) done: usize,
}

/// The geometry of every row: as if the array had but this one.
#[derive(Debug)]
pub(super) struct Row {
    grid: Grid,
    axis: usize,
}

impl Row {
    /// The rows of an array with this grid.
    pub(super) fn new(array: &Grid, axis: usize) -> Result<Self> {
        let mut shape = array.shape().to_vec();
        shape[axis] = array.chunks()[axis];
        let grid = Grid::new(&shape, array.chunks(), array.blocks(), array.itemsize())?;
        Ok(Row { grid, axis })
    }
    /// Items along the axis.
    pub(super) fn len(&self) -> u64 {
        self.grid.shape()[self.axis]
    }
    /// The number of chunks.
    pub(super) fn chunks(&self) -> usize {
        self.grid.nchunks() as usize
    }
    /// The number of a chunk of the row, from its position in the array.
    pub(super) fn number(&self, position: &[u64]) -> u64 {
        let inside = position.iter().enumerate();
        self.grid.chunk_number(inside.map(|(axis, &at)| if axis == self.axis { 0 } else { at }))
    }
    /// The position of a chunk of the row in the array, but for the axis.
    pub(super) fn position(&self, number: u64) -> Vec<u64> {
        self.grid.chunk_position(number)
    }
    /// The bytes of a slab of one item along the axis.
    pub(super) fn slab_bytes(&self) -> usize {
        let items = self.grid.size().checked_div(self.len()).unwrap_or(0);
        usize::try_from(items).unwrap_or(usize::MAX).saturating_mul(self.grid.itemsize())
    }
    /// The bytes of the items of chunk `n`, when `filled` items along the axis have come.
    pub(super) fn item_bytes(&self, n: usize, filled: u64) -> u64 {
        let (start, stop) = self.grid.chunk_box(&self.grid.chunk_position(n as u64));
        let lengths = start.iter().zip(&stop).map(|(a, b)| b - a).enumerate();
        lengths.fold(self.grid.itemsize() as u64, |bytes, (axis, n)| {
            bytes.saturating_mul(if axis == self.axis { filled } else { n })
        })
    }

    /// Copies `count` items along the axis, from the next ones of `slab`, to places from `at` on.
    pub(super) fn fill(&self, buffers: &mut [Vec<u8>], at: u64, count: u64, slab: Slab<'_>) -> Result<()> {
        let mut lengths: Vec<usize> = self.grid.shape().iter().map(|&n| n as usize).collect();
        lengths[self.axis] = slab.len;
        let strides = Grid::strides(&lengths, self.grid.itemsize());
        let whole = self.grid.shape().iter().map(|&count| Line { start: 0, step: 1, count });
        let mut lines: Vec<Line> = whole.collect();
        lines[self.axis] = Line { start: at, step: 1, count };
        let picks = lines.into_iter().map(Pick::Line).collect();
        let plan = Plan::new(&self.grid, picks, &Limits::default())?;
        let items = slab.items.get(slab.done * strides[self.axis]..).unwrap_or_default();
        let (grid, item_strides) = (&self.grid, &strides[..]);
        for n in 0..plan.chunks() {
            let visit = plan.visit(grid, n);
            let chunk = visit.chunk as usize;
            let edit = BoxEdit { grid, plan: &plan, visit, items, item_strides };
            if let Some(buffer) = buffers.get_mut(chunk) {
                edit.change(buffer)?;
            }
        }
        Ok(())
    }
}
