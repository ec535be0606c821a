//! What a write does to one chunk: for boxes and for points.

use crate::array::grid::Grid;
use crate::array::read::plan::ChunkVisit;
use crate::array::read::plan::ItemSteps;
use crate::array::read::plan::Plan;
use crate::array::read::points::PointPlan;
use crate::array::write::source::FreshChunk;
use crate::error::Error;
use crate::error::Result;
use crate::limits::MAX_NDIM;
use crate::limits::zeroed;
use b2nd_kernel::boxes::Along;
use b2nd_kernel::boxes::Listed;
use b2nd_kernel::boxes::Source;
use b2nd_kernel::boxes::copy_box;
use b2nd_kernel::boxes::copy_listed;
use std::ops::Range;

/// The items of a write that lie in one chunk.
pub(crate) trait Edit {
    /// The number of the chunk.
    fn chunk(&self) -> u64;
    /// The number of items.
    fn items(&self) -> usize;
    /// Whether the write takes every item of the array that lies in the chunk.
    fn covers(&self) -> bool;
    /// A covered chunk straight from the items; `None` where they lie in the order of a list.
    fn fresh(&self) -> Option<FreshChunk<'_>>;
    /// The numbers of the touched blocks.
    fn blocks(&self) -> Vec<usize>;
    /// Puts the items into their places in decoded blocks, each of which begins where `start` says.
    fn change_blocks(&self, decoded: &mut [u8], start: &dyn Fn(usize) -> usize) -> Result<()>;
    /// Puts the items into their places in the decoded chunk.
    fn change(&self, whole: &mut [u8]) -> Result<()> {
        let bytes = self.grid().block_bytes();
        self.change_blocks(whole, &|block| block * bytes)
    }
    /// The partition of the chunk.
    fn grid(&self) -> &Grid;
    /// Sets all bits in the places of the items.
    fn mark(&self, whole: &mut [u8]) -> Result<()>;
}

fn unfit() -> Error {
    Error::usage("the selection does not fit the chunk")
}

/// An item all of whose bits are set.
fn ones(itemsize: usize) -> Result<Vec<u8>> {
    let mut item = zeroed("an item", itemsize as u64)?;
    item.fill(0xff);
    Ok(item)
}

/// A chunk of a [`Plan`].
pub(crate) struct BoxEdit<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) plan: &'a Plan,
    pub(crate) visit: ChunkVisit,
    pub(crate) items: &'a [u8],
    /// The distance between neighbours along each axis among the items, in bytes; 0 for one item.
    pub(crate) item_strides: &'a [usize],
}

impl Edit for BoxEdit<'_> {
    fn chunk(&self) -> u64 {
        self.visit.chunk
    }

    fn items(&self) -> usize {
        let axes = self.visit.runs.iter().zip(&self.plan.segments);
        axes.map(|(run, s)| s[run.clone()].iter().map(|s| s.count).sum::<usize>()).product()
    }

    fn covers(&self) -> bool {
        let (start, stop) = self.grid.chunk_box(&self.visit.position);
        (0..self.grid.ndim()).all(|d| {
            let taken: usize =
                self.plan.segments[d][self.visit.runs[d].clone()].iter().map(|s| s.count).sum();
            taken as u64 == stop[d] - start[d]
        })
    }

    fn fresh(&self) -> Option<FreshChunk<'_>> {
        let (mut offset, mut strides) = (0, Vec::with_capacity(self.grid.ndim()));
        for (axis, run) in self.visit.runs.iter().enumerate() {
            let segments = self.plan.segments.get(axis)?.get(run.clone())?;
            let (place, count) = (segments.first()?.out, segments.iter().map(|s| s.count).sum::<usize>());
            let stride = *self.item_strides.get(axis)?;
            let (place, step) = match self.plan.steps.get(axis)? {
                ItemSteps::Every(step) if *step < 0 => (place + count - 1, -stride.cast_signed()),
                ItemSteps::At { .. } if count > 1 => return None,
                steps => {
                    (steps.order().map_or(Some(place), |o| o.get(place).copied())?, stride.cast_signed())
                }
            };
            offset += place * stride;
            strides.push(step);
        }
        Some(FreshChunk::new(self.grid, &self.visit.position, self.items, offset, strides))
    }

    fn blocks(&self) -> Vec<usize> {
        (0..self.visit.blocks()).map(|index| self.visit.block(self.plan, self.grid, index)).collect()
    }

    fn mark(&self, whole: &mut [u8]) -> Result<()> {
        let (item, still) = (ones(self.grid.itemsize())?, [0; MAX_NDIM]);
        let item_strides = &still[..self.item_strides.len()];
        BoxEdit { items: &item, item_strides, visit: self.visit.clone(), ..*self }.change(whole)
    }

    fn change_blocks(&self, decoded: &mut [u8], start: &dyn Fn(usize) -> usize) -> Result<()> {
        for index in 0..self.visit.blocks() {
            let block = self.visit.block(self.plan, self.grid, index);
            if !self.change_block(index, decoded, start(block)) {
                return Err(unfit());
            }
        }
        Ok(())
    }

    fn grid(&self) -> &Grid {
        self.grid
    }
}

impl BoxEdit<'_> {
    /// Puts the items of one touched block, which starts at `to`, into their places; whether they fit.
    fn change_block(&self, index: usize, whole: &mut [u8], mut to: usize) -> bool {
        let cell = self.visit.cell(index);
        let ndim = cell.len();
        let mut from = 0;
        let (mut shape, mut sides) = ([0; MAX_NDIM], [[Along::default(); MAX_NDIM]; 2]);
        let [to_axes, from_axes] = &mut sides;
        let axes = self.plan.steps.iter().zip(self.grid.block_strides()).zip(self.item_strides);
        for (axis, (segment, ((steps, &stride), &item_stride))) in
            self.visit.segments(self.plan, &cell).zip(axes).enumerate()
        {
            shape[axis] = segment.count;
            // Strides of things that are in memory.
            let last = segment.count.saturating_sub(1);
            let backwards = matches!(steps, ItemSteps::Every(step) if *step < 0);
            let step = steps.stride(stride, segment.count);
            to_axes[axis] = Along { stride: step.abs(), list: steps.inside(segment) };
            from_axes[axis].stride = item_stride.cast_signed() * if backwards { -1 } else { 1 };
            from_axes[axis].list =
                steps.order().and_then(|o| o.get(segment.out..segment.out + segment.count));
            // A backward walk starts at its other end here: its places in the block ascend.
            let (first, out) = if backwards { (last, segment.out + last) } else { (0, segment.out) };
            to += segment.first * stride - first * step.unsigned_abs();
            from += if from_axes[axis].list.is_some() { 0 } else { out * item_stride };
        }
        let (shape, to_axes, from_axes) = (&shape[..ndim], &to_axes[..ndim], &from_axes[..ndim]);
        let itemsize = self.grid.itemsize();
        if !self.plan.is_even() {
            let source = Listed { bytes: self.items, offset: from, axes: from_axes };
            return copy_listed(itemsize, shape, whole, to, to_axes, source);
        }
        let (mut to_strides, mut from_strides) = ([0; MAX_NDIM], [0; MAX_NDIM]);
        for axis in 0..ndim {
            to_strides[axis] = to_axes[axis].stride.unsigned_abs();
            from_strides[axis] = from_axes[axis].stride;
        }
        let source = Source { bytes: self.items, offset: from, strides: &from_strides[..ndim] };
        copy_box(itemsize, shape, whole, to, &to_strides[..ndim], source)
    }
}

/// A chunk of a [`PointPlan`] in which each item is named once.
pub(super) struct PointEdit<'a> {
    pub(super) grid: &'a Grid,
    pub(super) plan: &'a PointPlan,
    /// Which of the plan's blocks lie in the chunk.
    pub(super) blocks: Range<usize>,
    pub(super) items: &'a [u8],
    /// The distance between neighbours among the items, in bytes; 0 for one item.
    pub(super) stride: usize,
}

impl Edit for PointEdit<'_> {
    fn chunk(&self) -> u64 {
        self.plan.chunk(&self.blocks)
    }

    fn items(&self) -> usize {
        self.blocks.clone().map(|block| self.plan.points(block).len()).sum()
    }

    fn covers(&self) -> bool {
        let (start, stop) = self.grid.chunk_box(&self.grid.chunk_position(self.chunk()));
        let all: u64 = start.iter().zip(&stop).map(|(&a, &b)| b - a).product();
        self.items() as u64 == all
    }

    fn fresh(&self) -> Option<FreshChunk<'_>> {
        None
    }

    fn blocks(&self) -> Vec<usize> {
        self.blocks.clone().map(|block| self.plan.block(block)).collect()
    }

    fn mark(&self, whole: &mut [u8]) -> Result<()> {
        let item = ones(self.grid.itemsize())?;
        PointEdit { items: &item, stride: 0, blocks: self.blocks.clone(), ..*self }.change(whole)
    }

    fn grid(&self) -> &Grid {
        self.grid
    }

    fn change_blocks(&self, decoded: &mut [u8], start: &dyn Fn(usize) -> usize) -> Result<()> {
        let itemsize = self.grid.itemsize();
        for block in self.blocks.clone() {
            let points = self.plan.points(block);
            let to = start(self.plan.block(block));
            let (inside, order) = (self.plan.inside(points.clone()), self.plan.order(points));
            let to_axes = [Along { stride: itemsize.cast_signed(), list: Some(inside) }];
            let from_axes = [Along { stride: self.stride.cast_signed(), list: Some(order) }];
            let source = Listed { bytes: self.items, offset: 0, axes: &from_axes };
            if !copy_listed(itemsize, &[inside.len()], decoded, to, &to_axes, source) {
                return Err(unfit());
            }
        }
        Ok(())
    }
}
