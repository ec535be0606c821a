//! The wanted blocks of one chunk, and where their items go: for boxes and for points.

use crate::array::grid::Grid;
use crate::array::read::plan::ChunkVisit;
use crate::array::read::plan::ItemSteps;
use crate::array::read::plan::Plan;
use crate::array::read::points::PointPlan;
use crate::array::read::some;
use crate::array::read::some::TakenAlong;
use crate::limits::MAX_NDIM;
use b2nd_kernel::boxes::Along;
use b2nd_kernel::boxes::BoxGrid;
use b2nd_kernel::boxes::BoxMut;
use b2nd_kernel::boxes::Listed;
use b2nd_kernel::boxes::Source;
use b2nd_kernel::cpu::Level;
use b2nd_kernel::shuffle::take_cost;
use std::ops::Range;

/// The bytes of an item that are wanted: all of them, or a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ItemPart {
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

/// The touched blocks of one chunk, by an index of their own, with the cells of the result that they fill.
pub(crate) trait Visit {
    /// The number of the chunk.
    fn chunk(&self) -> u64;
    /// The number of touched blocks.
    fn blocks(&self) -> usize;
    /// The number of a touched block in its chunk.
    fn block(&self, index: usize) -> usize;
    /// The number of items taken from a touched block.
    fn items(&self, index: usize) -> usize;
    /// Whether all bytes of a block are wanted, in order.
    fn is_whole(&self, index: usize) -> bool;
    /// The bytes from the start of a block to the end of the last item that is taken.
    fn reach(&self, index: usize) -> usize;
    /// Finds the runs of items that are taken from the first `reach` bytes of a block, as the result has them; whether they
    /// are so few that the others are better left where they are.
    fn runs(&self, index: usize, reach: usize, runs: &mut Vec<Range<u32>>) -> bool;
    /// The cell of a block; `None` when it was taken already.
    fn take(&self, index: usize) -> Option<BoxMut<'_>>;
    /// Copies the wanted items of a block, which starts at `start` of the decoded bytes, into its cell; whether they
    /// were there.
    fn scatter(&self, index: usize, cell: &mut BoxMut<'_>, bytes: &[u8], start: usize) -> bool;
    /// The wanted bytes of an item.
    fn part(&self) -> ItemPart;
}

/// A chunk of a [`Plan`].
pub(crate) struct BoxVisit<'a> {
    pub(super) grid: &'a Grid,
    pub(super) plan: &'a Plan,
    pub(super) visit: ChunkVisit,
    pub(super) cells: &'a BoxGrid<'a>,
    pub(super) part: ItemPart,
}

impl Visit for BoxVisit<'_> {
    fn chunk(&self) -> u64 {
        self.visit.chunk
    }

    fn blocks(&self) -> usize {
        self.visit.blocks()
    }

    fn block(&self, index: usize) -> usize {
        self.visit.block(self.plan, self.grid, index)
    }

    fn items(&self, index: usize) -> usize {
        self.visit.segments(self.plan, &self.visit.cell(index)).map(|s| s.count).product()
    }

    fn is_whole(&self, index: usize) -> bool {
        let cell = self.visit.cell(index);
        let mut axes = self.visit.segments(self.plan, &cell).zip(&self.plan.steps).zip(self.grid.blocks());
        self.part.size == self.grid.itemsize()
            && self.grid.is_in_turn()
            && axes.all(|((segment, steps), &length)| {
                segment.count as u64 == length && (length == 1 || matches!(steps, ItemSteps::Every(1)))
            })
    }

    fn reach(&self, index: usize) -> usize {
        let cell = self.visit.cell(index);
        let axes = self.visit.segments(self.plan, &cell).zip(&self.plan.steps).zip(self.grid.block_strides());
        axes.fold(self.grid.itemsize(), |reach, ((segment, steps), &stride)| {
            reach.saturating_add(steps.last(segment).saturating_mul(stride))
        })
    }

    fn runs(&self, index: usize, reach: usize, runs: &mut Vec<Range<u32>>) -> bool {
        let itemsize = self.grid.itemsize();
        let cell = self.visit.cell(index);
        let (mut axes, mut first) = ([TakenAlong::default(); MAX_NDIM], 0);
        let sides =
            self.visit.segments(self.plan, &cell).zip(&self.plan.steps).zip(self.grid.block_strides());
        for (taken, ((segment, steps), &stride)) in axes.iter_mut().zip(sides) {
            let stride = stride / itemsize;
            let list = steps.inside(segment).map(|places| (places, stride));
            *taken = TakenAlong { count: segment.count, step: steps.stride(stride, segment.count), list };
            first += if list.is_some() { 0 } else { segment.first * stride };
        }
        let cost = |items| take_cost(Level::detect(), itemsize, items);
        some::runs(&axes[..cell.len()], first, reach, cost, runs)
    }

    fn take(&self, index: usize) -> Option<BoxMut<'_>> {
        self.cells.take(&self.visit.cell(index))
    }

    fn scatter(&self, index: usize, place: &mut BoxMut<'_>, bytes: &[u8], start: usize) -> bool {
        let strides = self.grid.block_strides();
        let cell = self.visit.cell(index);
        let segments = self.visit.segments(self.plan, &cell);
        let start = start + self.part.offset;
        let offset =
            segments.clone().zip(strides).fold(start, |offset, (s, &stride)| offset + s.first * stride);
        if self.plan.is_even() {
            let mut steps = [0; MAX_NDIM];
            let axes = self.plan.steps.iter().zip(strides).zip(place.shape());
            for (step, ((every, &stride), &count)) in steps.iter_mut().zip(axes) {
                *step = every.stride(stride, count);
            }
            return place.copy_from(Source { bytes, offset, strides: &steps[..strides.len()] });
        }
        let mut axes = [Along::default(); MAX_NDIM];
        let sides = self.plan.steps.iter().zip(strides).zip(segments);
        for (along, ((steps, &stride), segment)) in axes.iter_mut().zip(sides) {
            *along = Along { stride: steps.stride(stride, segment.count), list: steps.inside(segment) };
        }
        place.copy_listed(Listed { bytes, offset, axes: &axes[..strides.len()] })
    }

    fn part(&self) -> ItemPart {
        self.part
    }
}

/// A chunk of a [`PointPlan`].
pub(crate) struct PointVisit<'a> {
    pub(super) plan: &'a PointPlan,
    /// Which of the plan's blocks lie in the chunk.
    pub(super) blocks: Range<usize>,
    pub(super) cells: &'a BoxGrid<'a>,
    pub(super) itemsize: usize,
    pub(super) part: ItemPart,
}

impl Visit for PointVisit<'_> {
    fn chunk(&self) -> u64 {
        self.plan.chunk(&self.blocks)
    }

    fn blocks(&self) -> usize {
        self.blocks.len()
    }

    fn block(&self, index: usize) -> usize {
        self.plan.block(self.blocks.start + index)
    }

    fn items(&self, index: usize) -> usize {
        self.plan.points(self.blocks.start + index).len()
    }

    fn is_whole(&self, _: usize) -> bool {
        // The points of a whole block in turn are a box in all but name; it is decoded aside like any other.
        false
    }

    fn reach(&self, index: usize) -> usize {
        // They ascend.
        let last = self.plan.inside(self.plan.points(self.blocks.start + index)).last();
        last.map_or(0, |last| last.saturating_add(1).saturating_mul(self.itemsize))
    }

    fn runs(&self, index: usize, reach: usize, runs: &mut Vec<Range<u32>>) -> bool {
        let places = self.plan.inside(self.plan.points(self.blocks.start + index));
        let taken = TakenAlong { count: places.len(), step: 0, list: Some((places, 1)) };
        let cost = |items| take_cost(Level::detect(), self.itemsize, items);
        some::runs(&[taken], 0, reach, cost, runs)
    }

    fn take(&self, index: usize) -> Option<BoxMut<'_>> {
        self.cells.take(&[self.blocks.start + index])
    }

    fn scatter(&self, index: usize, place: &mut BoxMut<'_>, bytes: &[u8], start: usize) -> bool {
        let list = self.plan.inside(self.plan.points(self.blocks.start + index));
        let axes = [Along { stride: self.itemsize.cast_signed(), list: Some(list) }];
        place.copy_listed(Listed { bytes, offset: start + self.part.offset, axes: &axes })
    }

    fn part(&self) -> ItemPart {
        self.part
    }
}
