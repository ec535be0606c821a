//! Where the items of a reduction lie: in which blocks, and which states they belong to. Pure arithmetic.

use crate::array::grid::Grid;
use crate::array::reduce::over::Over;
use crate::array::selection::Axis;
use crate::error::Error;
use crate::error::Result;

/// One axis of a reduction. Items are walked upwards; where the selection walks down, the result is turned when written.
#[derive(Debug, Clone)]
pub(super) struct ReducedAxis {
    /// Whether the result has this axis.
    pub(super) kept: bool,
    start: u64,
    step: u64,
    /// The number of items taken.
    pub(super) count: u64,
    pub(super) backwards: bool,
    length: u64,
    chunk: u64,
    block: u64,
    first_chunk: u64,
    /// The number of chunks that the walk passes.
    pub(super) chunks: u64,
    /// The number of blocks of a chunk that hold items of the array.
    pub(super) blocks: u64,
    /// The most items of one block that take part.
    pub(super) most: u64,
}

/// The items that are taken from a stretch of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TakenItems {
    /// The first, from the start of the stretch.
    pub(super) first: u64,
    /// Its number among all that are taken.
    pub(super) out: u64,
    pub(super) count: u64,
}

impl ReducedAxis {
    fn taken(&self, low: u64, high: u64) -> TakenItems {
        // The first item at or behind an index.
        let number = |index: u64| index.saturating_sub(self.start).div_ceil(self.step).min(self.count);
        let (out, end) = (number(low), number(high.max(low)));
        let first = (self.start + out.saturating_mul(self.step)).saturating_sub(low);
        TakenItems { first, out, count: end - out }
    }
    /// The items that lie in the touched chunk `chunk`, padding apart.
    pub(super) fn in_chunk(&self, chunk: u64) -> TakenItems {
        let low = (self.first_chunk + chunk) * self.chunk;
        self.taken(low, low.saturating_add(self.chunk).min(self.length))
    }
    /// The items that lie in a block of the touched chunk `chunk`, padding apart.
    pub(super) fn in_block(&self, chunk: u64, block: u64) -> TakenItems {
        let start = (self.first_chunk + chunk) * self.chunk;
        let low = start + block * self.block;
        let high = low.saturating_add(self.block).min(start.saturating_add(self.chunk)).min(self.length);
        self.taken(low, high)
    }
}

/// The axes of a reduction.
#[derive(Debug)]
pub(super) struct Geometry {
    pub(super) axes: Vec<ReducedAxis>,
    /// The distance between neighbours along each axis of a block, in items.
    strides: Vec<usize>,
    /// The number of items that each item of the result stands for.
    pub(super) count: u64,
    /// The shape of the result.
    pub(super) shape: Vec<u64>,
}

/// The product of lengths. It can overflow only if an axis has no items, and then it is not used.
fn items_of(lengths: impl Iterator<Item = u64> + Clone) -> u64 {
    if lengths.clone().any(|n| n == 0) { 0 } else { lengths.fold(1, u64::saturating_mul) }
}

impl Geometry {
    pub(super) fn new(grid: &Grid, over: &Over) -> Result<Self> {
        let selection = over.selection();
        let ranges =
            |parts: &[Axis]| parts.iter().all(|part| matches!(part, Axis::Range { .. } | Axis::Ellipsis));
        if !selection.axes().is_some_and(ranges) {
            return Err(Error::usage(format!(
                "a reduction goes over ranges, and [{selection}] names something else: for an index write i..i+1"
            )));
        }
        let reduced = over.reduced(grid.ndim())?;
        let lines = selection.resolve(grid.shape())?.into_lines()?;
        let mut axes = Vec::with_capacity(grid.ndim());
        for (d, (line, &reduced)) in lines.iter().zip(&reduced).enumerate() {
            let (length, chunk, block) = (grid.shape()[d], grid.chunks()[d], grid.blocks()[d]);
            let step = line.step.unsigned_abs().max(1);
            let backwards = line.step < 0 && line.count > 1;
            let reach = line.count.saturating_sub(1).saturating_mul(step);
            let start = if backwards { line.start.saturating_sub(reach) } else { line.start };
            let first_chunk = start.checked_div(chunk).unwrap_or(0);
            let last_chunk = start.saturating_add(reach).checked_div(chunk).unwrap_or(0);
            axes.push(ReducedAxis {
                kept: !reduced,
                start,
                step,
                count: line.count,
                backwards,
                length,
                chunk,
                block,
                first_chunk,
                chunks: if line.count == 0 { 0 } else { last_chunk - first_chunk + 1 },
                blocks: if block == 0 { 0 } else { chunk.min(length).div_ceil(block) },
                most: block.div_ceil(step).min(line.count),
            });
        }
        let shape = axes.iter().filter(|axis| axis.kept || over.keeps_axes());
        Ok(Geometry {
            strides: Grid::strides(&grid.block_lengths(), 1),
            count: items_of(axes.iter().filter(|axis| !axis.kept).map(|axis| axis.count)),
            shape: shape.map(|axis| if axis.kept { axis.count } else { 1 }).collect(),
            axes,
        })
    }

    /// The lengths that `length` gives of the kept axes (or of the reduced ones).
    pub(super) fn lengths(&self, kept: bool, length: impl Fn(&ReducedAxis) -> u64) -> Vec<u64> {
        self.axes.iter().filter(|axis| axis.kept == kept).map(length).collect()
    }

    /// Combines positions along the kept and the reduced axes into positions along all axes.
    pub(super) fn position(&self, kept: &[u64], reduced: &[u64]) -> Vec<u64> {
        let (mut kept, mut reduced) = (kept.iter(), reduced.iter());
        let next = |axis: &ReducedAxis| if axis.kept { kept.next() } else { reduced.next() };
        self.axes.iter().map(next).map(|at| at.copied().unwrap_or(0)).collect()
    }

    /// The number of a touched chunk in the array.
    pub(super) fn chunk_number(&self, grid: &Grid, position: &[u64]) -> u64 {
        grid.chunk_number(position.iter().zip(&self.axes).map(|(&at, axis)| axis.first_chunk + at))
    }

    /// How the items of a block are walked; `None` when none is taken.
    pub(super) fn walk(&self, chunk: &[u64], block: &[u64]) -> Option<BlockRows> {
        let mut loops = Vec::with_capacity(self.axes.len());
        let (mut first, mut state_stride, mut per_state) = (0, 1, 1);
        for (d, axis) in self.axes.iter().enumerate().rev() {
            let taken = axis.in_block(chunk[d], block[d]);
            if taken.count == 0 {
                return None;
            }
            // Cannot overflow: everything lies inside a block, whose size is checked.
            let (count, stride) = (taken.count as usize, self.strides[d]);
            first += taken.first as usize * stride;
            let states = if axis.kept { state_stride } else { 0 };
            if axis.kept {
                state_stride *= axis.most as usize;
            } else {
                per_state *= taken.count;
            }
            push_loop(&mut loops, Loop { count, items: stride.saturating_mul(axis.step as usize), states });
        }
        Some(BlockRows::new(loops, first, per_state))
    }
}

/// One loop of a walk: as many steps, each as far in the items and in the states.
#[derive(Debug, Clone, Copy)]
struct Loop {
    count: usize,
    items: usize,
    states: usize,
}

/// Adds a loop around the others, merged with the previous one where both are evenly spaced.
fn push_loop(loops: &mut Vec<Loop>, outer: Loop) {
    if outer.count == 1 {
        return;
    }
    if let Some(inner) = loops.last_mut()
        && inner.items.checked_mul(inner.count) == Some(outer.items)
        && inner.states.saturating_mul(inner.count) == outer.states
        && (inner.states == 0) == (outer.states == 0)
    {
        inner.count *= outer.count;
        return;
    }
    loops.push(outer);
}

/// The rows of a block, and the states that they belong to.
#[derive(Debug)]
pub(super) struct BlockRows {
    /// The loops around the rows, the innermost first.
    outer: Vec<Loop>,
    len: usize,
    reduces: bool,
    first: usize,
    per_state: u64,
}

/// Where a row starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct StateRow {
    pub(super) items: usize,
    pub(super) states: usize,
}

impl BlockRows {
    fn new(mut loops: Vec<Loop>, first: usize, per_state: u64) -> Self {
        let (len, reduces) = match loops.first() {
            Some(row) if row.items == 1 && row.states <= 1 => (row.count, row.states == 0),
            // The neighbours along the row are not neighbours in memory: rows of one item.
            _ => (0, true),
        };
        if len > 0 {
            loops.remove(0);
        }
        BlockRows { outer: loops, len: len.max(1), reduces, first, per_state }
    }
    /// The items of a row.
    pub(super) fn len(&self) -> usize {
        self.len
    }
    /// Whether the items of a row belong to one state, or each to its own.
    pub(super) fn reduces_rows(&self) -> bool {
        self.reduces
    }
    /// The number of items that belong to each state.
    pub(super) fn items_of_a_state(&self) -> u64 {
        self.per_state
    }
    /// The number of items.
    pub(super) fn items(&self) -> u64 {
        self.outer.iter().fold(self.len as u64, |n, step| n.saturating_mul(step.count as u64))
    }
    /// Calls `work` for each row.
    #[inline(always)]
    pub(super) fn rows(&self, mut work: impl FnMut(StateRow)) {
        let mut at = [0usize; crate::array::MAX_NDIM];
        let mut row = StateRow { items: self.first, states: 0 };
        loop {
            work(row);
            let mut axis = 0;
            loop {
                let Some(step) = self.outer.get(axis) else { return };
                at[axis] += 1;
                if at[axis] < step.count {
                    row = StateRow { items: row.items + step.items, states: row.states + step.states };
                    break;
                }
                at[axis] = 0;
                row.items -= step.items * (step.count - 1);
                row.states -= step.states * (step.count - 1);
                axis += 1;
            }
        }
    }
}
