//! Cuts a reduction into tasks by the partition alone, so that the result does not depend on the threads.
//!
//! First along the kept axes, where tasks share no states. If that gives too few tasks, each range of the reduced
//! chunks and blocks becomes a task with its own states, which are joined in order at the end.

use crate::array::grid::unravel;
use crate::array::reduce::geometry::Geometry;
use std::ops::Range;

/// About as many tasks as keep the threads of a large machine busy.
const ENOUGH: u64 = 256;
/// The most bytes of states that may wait for their neighbours.
const MOST_WAITING: u64 = 64 << 20;

/// The tasks of a reduction.
#[derive(Debug)]
pub(super) struct Tasks {
    kept_chunks: Vec<u64>,
    kept_blocks: Vec<u64>,
    pub(super) reduced_chunks: Vec<u64>,
    pub(super) reduced_blocks: Vec<u64>,
    /// The number of parts of the kept blocks of a chunk.
    parts: u64,
    /// The number of groups of reduced blocks that each part is cut into.
    pub(super) groups: u64,
    /// The states of a block.
    pub(super) slab: usize,
}

/// One task.
#[derive(Debug)]
pub(super) struct Task {
    /// Which cell of the result (the kept blocks of a part) it works for, and which of its groups it is.
    pub(super) cell: usize,
    pub(super) group: usize,
    /// The touched chunk along the kept axes.
    pub(super) chunk: Vec<u64>,
    /// The blocks of it along the kept axes, by number.
    pub(super) blocks: Range<u64>,
    /// The reduced blocks, counted through all reduced chunks.
    pub(super) reduced: Range<u64>,
}

impl Tasks {
    pub(super) fn new(geometry: &Geometry, state_bytes: usize) -> Self {
        let count = |lengths: &[u64]| lengths.iter().fold(1, |n: u64, &l| n.saturating_mul(l));
        let kept_chunks = geometry.lengths(true, |axis| axis.chunks);
        let kept_blocks = geometry.lengths(true, |axis| axis.blocks);
        let reduced_chunks = geometry.lengths(false, |axis| axis.chunks);
        let reduced_blocks = geometry.lengths(false, |axis| axis.blocks);
        let slab = count(&geometry.lengths(true, |axis| axis.most));
        let (chunks, blocks) = (count(&kept_chunks).max(1), count(&kept_blocks).max(1));
        let parts = ENOUGH.div_ceil(chunks).min(blocks);
        let units = count(&reduced_chunks).saturating_mul(count(&reduced_blocks));
        let cells = chunks.saturating_mul(parts);
        let states = chunks.saturating_mul(blocks).saturating_mul(slab).saturating_mul(state_bytes as u64);
        let affordable = MOST_WAITING.checked_div(states).unwrap_or(u64::MAX).max(1);
        // Where chunks are many, a group is whole chunks.
        let groups = (ENOUGH / cells).clamp(1, units.max(1)).min(affordable);
        Tasks {
            parts,
            groups,
            slab: usize::try_from(slab).unwrap_or(usize::MAX),
            kept_chunks,
            kept_blocks,
            reduced_chunks,
            reduced_blocks,
        }
    }

    /// The number of cells.
    pub(super) fn cells(&self) -> usize {
        let chunks = self.kept_chunks.iter().fold(self.parts, |n, &l| n.saturating_mul(l));
        usize::try_from(chunks).unwrap_or(usize::MAX)
    }
    /// The number of tasks.
    pub(super) fn len(&self) -> usize {
        self.cells().saturating_mul(self.groups as usize)
    }

    /// Task `number`.
    pub(super) fn get(&self, number: usize) -> Task {
        let (cell, group) = (number as u64 / self.groups, number as u64 % self.groups);
        let blocks: u64 = self.kept_blocks.iter().product();
        let (chunk, part) = (cell / self.parts, cell % self.parts);
        let chunks: u64 = self.reduced_chunks.iter().product();
        let in_chunk: u64 = self.reduced_blocks.iter().product();
        let share = |whole: u64, part: u64, parts: u64| {
            // Neither product can pass 64 bits by much: chunks and blocks count items.
            let cut = |at: u64| (u128::from(whole) * u128::from(at) / u128::from(parts)) as u64;
            cut(part)..cut(part + 1)
        };
        let reduced = if chunks >= self.groups {
            let chunks = share(chunks, group, self.groups);
            chunks.start * in_chunk..chunks.end * in_chunk
        } else {
            share(chunks * in_chunk, group, self.groups)
        };
        Task {
            cell: cell as usize,
            group: group as usize,
            chunk: unravel(chunk, &self.kept_chunks),
            blocks: share(blocks, part, self.parts),
            reduced,
        }
    }

    /// The position of a kept block in its chunk.
    pub(super) fn kept_block(&self, number: u64) -> Vec<u64> {
        unravel(number, &self.kept_blocks)
    }
    /// The position of a reduced block in its chunk.
    pub(super) fn reduced_block(&self, number: u64) -> Vec<u64> {
        unravel(number, &self.reduced_blocks)
    }
    /// The position of a reduced chunk among those that are touched.
    pub(super) fn reduced_chunk(&self, number: u64) -> Vec<u64> {
        unravel(number, &self.reduced_chunks)
    }
    /// The number of blocks of a chunk along the reduced axes.
    pub(super) fn reduced_blocks_of_a_chunk(&self) -> u64 {
        self.reduced_blocks.iter().product()
    }
}
