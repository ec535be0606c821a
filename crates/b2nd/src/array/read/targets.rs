//! The selections of one read without a store, and the chunks that they touch in the order of the frame.

use super::plan::Plan;
use super::points::PointPlan;
use super::visit::{BoxVisit, ItemPart, PointVisit, Visit};
use crate::array::handle::Array;
use crate::array::selection::{Selection, Taken};
use crate::error::{Error, Result};
use crate::limits::{Limits, zeroed};
use b2nd_kernel::boxes::OwnedGrid;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// The selections of a read, with the results that they fill.
pub(super) struct Targets {
    /// Those that take items.
    targets: Vec<ReadTarget>,
    /// The number of the next chunk of each target that is not begun, and the target: the lowest first, so that targets ask
    /// for a chunk that they share at the same time.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    part: ItemPart,
}

/// One selection that takes items.
struct ReadTarget {
    /// Its number among all selections.
    number: usize,
    plan: Planned,
    cells: OwnedGrid,
    /// How many chunks the targets before it touch, and how many it touches itself.
    before: usize,
    chunks: usize,
    begun: usize,
}

enum Planned {
    Boxes(Plan),
    Points(PointPlan),
}

impl Targets {
    /// Plans selections of `array`; returns the shapes of their results too.
    ///
    /// # Errors
    /// When a selection does not fit the shape, and when the results together are larger than the limits allow.
    pub(super) fn new(array: &Array, selections: Vec<Selection>) -> Result<(Self, Vec<Vec<u64>>)> {
        let part = ItemPart { offset: 0, size: array.grid.itemsize() };
        let mut found = Targets { targets: Vec::new(), next: BinaryHeap::new(), part };
        let (mut shapes, mut total) = (Vec::with_capacity(selections.len()), 0u64);
        let mut all = Vec::with_capacity(selections.len());
        for selection in selections {
            let resolved = array.items().resolve(selection)?;
            let bytes = array.items().result_bytes(&resolved)?;
            total = total.saturating_add(bytes);
            shapes.push(resolved.shape.clone());
            all.push((resolved.taken, bytes));
        }
        Limits::check("the result of the read", total, array.schunk.limits().max_read_bytes())?;
        let mut before = 0usize;
        for (number, (taken, bytes)) in all.into_iter().enumerate().filter(|(_, (_, bytes))| *bytes > 0) {
            let target = ReadTarget::new(array, number, before, taken, bytes, part)?;
            before = before.saturating_add(target.chunks);
            found.targets.push(target);
        }
        for at in 0..found.targets.len() {
            found.queue(array, at);
        }
        Ok((found, shapes))
    }

    /// Plans one selection that was resolved, of `bytes`.
    pub(super) fn of_one(array: &Array, taken: Taken, bytes: u64) -> Result<Self> {
        let part = ItemPart { offset: 0, size: array.grid.itemsize() };
        let target = ReadTarget::new(array, 0, 0, taken, bytes, part)?;
        let mut found = Targets { targets: vec![target], next: BinaryHeap::new(), part };
        found.queue(array, 0);
        Ok(found)
    }

    /// Puts the next chunk of a target into the queue.
    fn queue(&mut self, array: &Array, at: usize) {
        let alone = self.targets.len() == 1;
        let Some(target) = self.targets.get(at).filter(|target| target.begun < target.chunks) else { return };
        let n = target.before.saturating_add(target.begun);
        let chunk = if alone { 0 } else { self.visit(array, n, |visit| visit.map_or(0, Visit::chunk)) };
        self.next.push(Reverse((chunk, at)));
    }

    /// Whether all chunks were begun.
    pub(super) fn all_begun(&self) -> bool {
        self.next.is_empty()
    }

    /// Begins the next chunk: its number among those of all targets.
    pub(super) fn begin(&mut self, array: &Array) -> Option<usize> {
        let Reverse((_, at)) = self.next.pop()?;
        let target = self.targets.get_mut(at)?;
        let n = target.before.saturating_add(target.begun);
        target.begun = target.begun.saturating_add(1);
        self.queue(array, at);
        Some(n)
    }

    /// How many chunks were begun, and how many there are.
    pub(super) fn progress(&self) -> (usize, usize) {
        let add = |(begun, chunks): (usize, usize), target: &ReadTarget| {
            (begun.saturating_add(target.begun), chunks.saturating_add(target.chunks))
        };
        self.targets.iter().fold((0, 0), add)
    }

    /// Calls `work` with chunk `n` of those of all targets.
    pub(super) fn visit<R>(&self, array: &Array, n: usize, work: impl FnOnce(Option<&dyn Visit>) -> R) -> R {
        let at = self.targets.partition_point(|target| target.before <= n);
        let Some(target) = at.checked_sub(1).and_then(|at| self.targets.get(at)) else { return work(None) };
        let n = n.saturating_sub(target.before);
        let (grid, cells, part) = (&array.grid, target.cells.grid(), self.part);
        match &target.plan {
            Planned::Boxes(plan) => {
                work(Some(&BoxVisit { grid, plan, visit: plan.visit(grid, n), cells, part }))
            }
            Planned::Points(plan) => {
                let blocks = plan.chunks().get(n).cloned().unwrap_or_default();
                work(Some(&PointVisit { plan, blocks, cells, itemsize: grid.itemsize(), part }))
            }
        }
    }

    /// The results of all `count` selections.
    pub(super) fn into_results(self, count: usize) -> Vec<Vec<u8>> {
        let mut results = vec![Vec::new(); count];
        for target in self.targets {
            if let Some(result) = results.get_mut(target.number) {
                *result = target.cells.into_output();
            }
        }
        results
    }
}

impl ReadTarget {
    fn new(
        array: &Array,
        number: usize,
        before: usize,
        taken: Taken,
        bytes: u64,
        part: ItemPart,
    ) -> Result<Self> {
        let unfit = || Error::too_large(usize::MAX, "the selection does not fit the memory of this machine");
        let out = zeroed("the result of the read", bytes)?;
        let (plan, cells, chunks) = match taken {
            Taken::Axes(picks) => {
                let plan = Plan::new(&array.grid, picks, array.schunk.limits())?;
                let orders = plan.steps.iter().map(|steps| steps.order().map(Arc::from)).collect();
                let cells = OwnedGrid::new(out, part.size, &plan.counts, plan.cuts(), orders);
                let chunks = plan.chunks();
                (Planned::Boxes(plan), cells, chunks)
            }
            Taken::Points(positions) => {
                let plan = PointPlan::new(&array.grid, &positions, false)?;
                let orders = vec![Some(Arc::from(plan.order(0..plan.len())))];
                let cells = OwnedGrid::new(out, part.size, &[plan.len()], vec![plan.cuts()?], orders);
                let chunks = plan.chunks().len();
                (Planned::Points(plan), cells, chunks)
            }
        };
        Ok(ReadTarget { number, plan, cells: cells.ok_or_else(unfit)?, before, chunks, begun: 0 })
    }
}
