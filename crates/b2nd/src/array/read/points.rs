//! Where single items are: sorted by chunk and block, so that each block is decoded once, with the place of each item in
//! the result.

use crate::array::grid::Grid;
use crate::error::Result;
use crate::limits::reserved;
use std::ops::Range;

/// What the buffers of a plan are for, in errors.
const PLAN: &str = "the plan of a selection of points";

/// Single items of an array, by chunk, block and place in the block.
#[derive(Debug)]
pub(crate) struct PointPlan {
    /// The touched blocks, ascending: chunk, block in it.
    blocks: Vec<(u64, u32)>,
    /// Where the items of each block start in the two lists, and where the last ends.
    cuts: Vec<usize>,
    /// The place of each item in its block.
    inside: Vec<usize>,
    /// The place of each item in the result.
    order: Vec<usize>,
    /// The blocks of each touched chunk.
    chunks: Vec<Range<usize>>,
}

/// One item on its way into a plan; the order of the fields is that of sorting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    chunk: u64,
    block: u32,
    inside: u32,
    place: usize,
}

impl PointPlan {
    /// Sorts the items at flat C-order `positions`, all inside the array. With `once`, an item that is named more than
    /// once keeps only its last index in the result.
    pub(crate) fn new(grid: &Grid, positions: &[u64], once: bool) -> Result<Self> {
        let mut points = reserved(PLAN, positions.len())?;
        points.extend(positions.iter().enumerate().map(|(place, &position)| {
            let (chunk, block, inside) = grid.locate(position);
            Point { chunk, block, inside, place }
        }));
        points.sort_unstable();
        if once {
            // The later of two equal items is the one in front here.
            points.reverse();
            points.dedup_by_key(|p| (p.chunk, p.block, p.inside));
            points.reverse();
        }
        let same_block = |a: &Point, b: &Point| (a.chunk, a.block) == (b.chunk, b.block);
        let count = points.chunk_by(same_block).count();
        let (mut blocks, mut cuts) = (reserved(PLAN, count)?, reserved(PLAN, count.saturating_add(1))?);
        let mut at = 0;
        cuts.push(0);
        for run in points.chunk_by(same_block) {
            blocks.extend(run.first().map(|p| (p.chunk, p.block)));
            at += run.len();
            cuts.push(at);
        }
        let same_chunk = |a: &(u64, u32), b: &(u64, u32)| a.0 == b.0;
        let mut chunks = reserved(PLAN, blocks.chunk_by(same_chunk).count())?;
        let mut at = 0;
        for run in blocks.chunk_by(same_chunk) {
            chunks.push(at..at + run.len());
            at += run.len();
        }
        let (mut inside, mut order) = (reserved(PLAN, points.len())?, reserved(PLAN, points.len())?);
        inside.extend(points.iter().map(|p| p.inside as usize));
        order.extend(points.iter().map(|p| p.place));
        Ok(PointPlan { blocks, cuts, inside, order, chunks })
    }

    /// The blocks of each touched chunk, as numbers of this plan.
    pub(crate) fn chunks(&self) -> &[Range<usize>] {
        &self.chunks
    }

    /// The number of items.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Where the items of the blocks end, for a [`b2nd_kernel::boxes::BoxGrid`] of one axis.
    pub(crate) fn cuts(&self) -> Result<Vec<usize>> {
        let mut cuts = reserved(PLAN, self.cuts.len())?;
        cuts.extend_from_slice(&self.cuts);
        Ok(cuts)
    }

    /// The number of the chunk that holds `blocks`.
    pub(crate) fn chunk(&self, blocks: &Range<usize>) -> u64 {
        self.blocks[blocks.start].0
    }

    /// The number of a block in its chunk.
    pub(crate) fn block(&self, block: usize) -> usize {
        self.blocks[block].1 as usize
    }

    /// The range of points that lie in a block.
    pub(crate) fn points(&self, block: usize) -> Range<usize> {
        self.cuts[block]..self.cuts[block + 1]
    }

    /// The places in their block of these items, ascending.
    pub(crate) fn inside(&self, points: Range<usize>) -> &[usize] {
        &self.inside[points]
    }

    /// The places in the result of these items.
    pub(crate) fn order(&self, points: Range<usize>) -> &[usize] {
        &self.order[points]
    }
}
