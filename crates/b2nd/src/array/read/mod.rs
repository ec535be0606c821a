//! Reads a selection: each touched block is decoded once, and its items are copied straight into the result.

mod ahead;
mod asked;
pub(crate) mod blocks;
pub(crate) mod chunk;
mod fetch;
mod field;
pub(crate) mod misfit;
pub(crate) mod plan;
pub(crate) mod points;
mod reader;
mod some;
mod targets;
mod task;
#[cfg(test)]
mod tests;
pub(crate) mod visit;

pub use field::ArrayField;
pub use reader::Reader;

use crate::array::Array;
use crate::array::grid::Grid;
use crate::array::selection::Resolved;
use crate::array::selection::Selection;
use crate::array::selection::Taken;
use crate::codec::Codec;
use crate::error::Error;
use crate::error::Result;
use crate::exec::Exec;
use crate::schunk::Place;
use ahead::Ahead;
use b2nd_kernel::boxes::BoxGrid;
use chunk::{ChunkRead, Wanted};
use fetch::{Announce, ChunkFetch};
use plan::Plan;
use points::PointPlan;
use visit::BoxVisit;
use visit::ItemPart;
use visit::PointVisit;
use visit::Visit;

/// Whether the caller's closure for reading sees the decoded blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hooks {
    /// It does.
    Called,
    /// The items are wanted as they are stored.
    LeftOut,
}

impl Array {
    /// The shape of the result of reading `selection`.
    ///
    /// ```
    /// use b2nd::{s, Array, Dtype, NewAxis, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("<f4")?, [10, 20])?;
    /// assert_eq!(a.selection_shape(s![3, ..;2])?, [10]);
    /// assert_eq!(a.selection_shape(s![..5, NewAxis])?, [5, 1, 20]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] or [`Error::NdimMismatch`] when the selection does not fit the shape.
    pub fn selection_shape(&self, selection: impl Into<Selection>) -> Result<Vec<u64>> {
        Ok(selection.into().resolve(self.shape())?.shape)
    }

    /// Reads a selection as bytes: C order, the dtype's own byte order.
    ///
    /// ```
    /// use b2nd::{s, Array, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [2, 3])?;
    /// a.write_bytes(s![], &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(a.read_bytes(s![.., ..;-1])?, [3, 2, 1, 6, 5, 4]);
    /// assert_eq!(a.read_bytes(s![.., [2, 0]])?, [3, 1, 6, 4]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] or [`Error::NdimMismatch`] when the selection does not fit the shape, [`Error::Limit`]
    /// when the result is larger than [`Limits::max_read_bytes`](crate::Limits::max_read_bytes), [`Error::Format`]
    /// where the file is damaged.
    pub fn read_bytes(&self, selection: impl Into<Selection>) -> Result<Vec<u8>> {
        self.items().read_bytes(selection)
    }

    /// As [`Array::read_bytes`], into a buffer of exactly the right size.
    ///
    /// # Errors
    /// As [`Array::read_bytes`], and [`Error::LengthMismatch`] when the buffer has another size. After an error its
    /// content is undefined.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("<i2")?, [4])?;
    /// let mut out = [9; 4];
    /// a.read_bytes_into(s![1..3], &mut out)?;
    /// assert_eq!(out, [0; 4]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn read_bytes_into(&self, selection: impl Into<Selection>, out: &mut [u8]) -> Result<()> {
        self.items().read_bytes_into(selection, out)
    }

    /// Reads a part of the items that a selection takes into a buffer of its size, which is not empty. The selection is from
    /// the axes of `grid`: the array's own, or another arrangement of them.
    fn read_taken(
        &self,
        grid: &Grid,
        taken: Taken,
        part: ItemPart,
        hooks: Hooks,
        out: &mut [u8],
        exec: &Exec,
    ) -> Result<()> {
        let unfit = || Error::too_large(usize::MAX, "the selection does not fit the memory of this machine");
        let bytes = out.len() as u64;
        let itemsize = grid.itemsize();
        let plain = std::ptr::eq(grid, &self.grid) && part.size == itemsize && hooks == Hooks::Called;
        if plain && self.schunk.answers() && self.schunk.block_cache().capacity == 0 {
            return self.read_answered(taken, out);
        }
        let picks = match taken {
            Taken::Axes(picks) => picks,
            Taken::Points(positions) => {
                let plan = PointPlan::new(grid, &positions, false)?;
                drop(positions);
                let (order, cuts) = (plan.order(0..plan.len()), plan.cuts()?);
                let cells = BoxGrid::new(out, part.size, &[plan.len()], vec![cuts]).ok_or_else(unfit)?;
                let cells = cells.with_order(0, order).ok_or_else(unfit)?;
                let touched = plan.chunks().last().map_or(0, |blocks| blocks.end);
                let cached = self.schunk.cache().admits(touched as u64, grid.block_bytes());
                let work = self.work(bytes, touched as u64);
                return self.read_chunks(exec, plan.chunks().len(), work, cached, hooks, |n| {
                    let blocks = plan.chunks().get(n).cloned().unwrap_or_default();
                    PointVisit { plan: &plan, blocks, cells: &cells, itemsize, part }
                });
            }
        };
        let plan = Plan::new(grid, picks, self.schunk.limits())?;
        let mut cells = BoxGrid::new(out, part.size, &plan.counts, plan.cuts()).ok_or_else(unfit)?;
        for (axis, steps) in plan.steps.iter().enumerate() {
            if let Some(order) = steps.order() {
                cells = cells.with_order(axis, order).ok_or_else(unfit)?;
            }
        }
        let touched = plan.segments.iter().fold(1u64, |n, axis| n.saturating_mul(axis.len() as u64));
        let cached = self.schunk.cache().admits(touched, grid.block_bytes());
        let work = self.work(bytes, touched);
        self.read_chunks(exec, plan.chunks(), work, cached, hooks, |n| {
            let visit = plan.visit(grid, n);
            BoxVisit { grid, plan: &plan, visit, cells: &cells, part }
        })
    }

    /// Effort of a read that decodes `touched` blocks for a result of `bytes`, in the units of [`Exec`].
    fn work(&self, bytes: u64, touched: u64) -> u64 {
        if touched < 2 {
            return 0;
        }
        let decoded = touched.saturating_mul(self.grid.block_bytes() as u64);
        // A copy is about as quick as LZ4.
        self.schunk.params().codec().effort_to_read(decoded).max(Codec::Lz4.effort_to_read(bytes))
    }

    /// Reads all touched chunks, whose touched blocks mean so much `work`, through the block cache where `cached`.
    fn read_chunks<V: Visit>(
        &self,
        exec: &Exec,
        chunks: usize,
        work: u64,
        cached: bool,
        hooks: Hooks,
        visit: impl Fn(usize) -> V + Sync,
    ) -> Result<()> {
        // Few chunks are cut into parts, so that every thread has work; a part fetches only its own blocks.
        let parts =
            if chunks >= 4 * exec.threads() { 1 } else { (4 * exec.threads()).div_ceil(chunks.max(1)) };
        let parts = if exec.threads() == 1 { 1 } else { parts };
        let post = self.schunk.processing().post.as_ref();
        // The cache keeps post-processed blocks.
        let (post, cached) = match hooks {
            Hooks::Called => (post, cached),
            Hooks::LeftOut => (None, cached && post.is_none()),
        };
        let ahead = Ahead::new(self, chunks, exec.threads(), &visit);
        exec.run(chunks.saturating_mul(parts), work, |scratch, task| {
            let visit = visit(task / parts);
            let (blocks, part) = (visit.blocks(), task % parts);
            let range = blocks * part / parts..blocks * (part + 1) / parts;
            if range.is_empty() {
                return Ok(());
            }
            // Only the first part of a chunk announces later chunks.
            let announce = |place: Place, wanted: &[Wanted], fetched: &mut Vec<u8>| {
                ahead.blocks(task / parts, place, wanted, fetched);
            };
            // What the cache has is not read.
            let first = range.start == 0 && !cached;
            if first && self.schunk.is_slow() {
                ahead.heads(task / parts);
            }
            let ahead = first.then_some(&announce as &Announce<'_>);
            let read = ChunkRead { array: self, visit: &visit, last: part + 1 == parts, cached, post };
            ChunkFetch { read, ahead }
                .run(range, scratch)
                .map_err(|error| error.in_chunk(visit.chunk()).at(self.schunk.path()))
        })
    }
}
