//! Runs a reduction: tasks over threads, blocks into states, states into the result.

use crate::array::Array;
use crate::array::Dtype;
use crate::array::Over;
use crate::array::Reduced;
use crate::array::grid::Grid;
use crate::array::read::blocks;
use crate::array::read::blocks::ChunkBlocks;
use crate::array::read::blocks::ChunkContent;
use crate::array::read::chunk::special_item;
use crate::array::reduce::geometry::Geometry;
use crate::array::reduce::kernel::Reduction;
use crate::array::reduce::tasks::Task;
use crate::array::reduce::tasks::Tasks;
use crate::codec::Codec;
use crate::error::Error;
use crate::error::Result;
use crate::exec::Scratch;
use crate::limits::Limits;
use crate::limits::zeroed;
use b2nd_kernel::boxes::MAX_AXES;
use b2nd_kernel::boxes::Source;
use b2nd_kernel::boxes::copy_box;
use b2nd_kernel::boxes::swap_bytes;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

/// A reduction that is about to run.
pub(super) struct ReductionJob<'a> {
    array: &'a Array,
    geometry: Geometry,
    /// The dtype of the result.
    dtype: Dtype,
    /// Size of the numbers whose bytes must be swapped; 1 if none must.
    swap: usize,
}

/// A reduction that runs.
struct Running<'a, S> {
    job: &'a ReductionJob<'a>,
    reduction: &'a dyn Reduction<S>,
    tasks: Tasks,
    out: Mutex<&'a mut [u8]>,
    /// For each cell, the states of finished groups until all groups are; empty if a cell is one group.
    waiting: Vec<Mutex<Vec<Option<Vec<S>>>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> ReductionJob<'a> {
    pub(super) fn new(array: &'a Array, over: &Over, dtype: Dtype, swap: usize) -> Result<Self> {
        Ok(ReductionJob { array, geometry: Geometry::new(&array.grid, over)?, dtype, swap })
    }

    /// The number of items that each item of the result stands for.
    pub(super) fn count(&self) -> u64 {
        self.geometry.count
    }

    /// Whether the result has no items.
    pub(super) fn is_empty(&self) -> bool {
        self.geometry.shape.contains(&0)
    }

    fn finished(self, bytes: Vec<u8>) -> Reduced {
        Reduced::new(self.dtype, self.geometry.shape, bytes)
    }

    /// The result as bytes, all zero.
    fn result(&self) -> Result<Vec<u8>> {
        let item = self.dtype.itemsize() as u64;
        let lengths = &self.geometry.shape;
        let bytes = if lengths.contains(&0) {
            Some(0)
        } else {
            lengths.iter().try_fold(item, |n, &l| n.checked_mul(l))
        };
        let bytes = bytes.ok_or_else(|| Error::too_large(u64::MAX, "the result has more than 2^64 bytes"))?;
        Limits::check("the result of the reduction", bytes, self.array.schunk.limits().max_read_bytes())?;
        zeroed("the result of the reduction", bytes)
    }

    /// A result of zeros, without a look at any item.
    pub(super) fn zeros(self) -> Result<Reduced> {
        let out = self.result()?;
        Ok(self.finished(out))
    }

    /// Runs it.
    pub(super) fn run<S: Clone + Send>(self, reduction: &dyn Reduction<S>) -> Result<Reduced> {
        let mut out = self.result()?;
        if self.is_empty() {
            return Ok(self.finished(out));
        }
        if let Some(state) = self.one_state(reduction)? {
            let mut item = zeroed("an item", self.dtype.itemsize() as u64)?;
            reduction.finish(&state, self.count(), &mut item);
            out.chunks_exact_mut(item.len().max(1)).for_each(|place| place.copy_from_slice(&item));
            return Ok(self.finished(out));
        }
        let tasks = Tasks::new(&self.geometry, size_of::<S>());
        let mut waiting = Vec::new();
        if tasks.groups > 1 {
            waiting.resize_with(tasks.cells(), || Mutex::new(vec![None; tasks.groups as usize]));
        }
        let running = Running { job: &self, reduction, tasks, out: Mutex::new(&mut out), waiting };
        let items = self.geometry.axes.iter().fold(1u64, |n, axis| n.saturating_mul(axis.count));
        let bytes = items.saturating_mul(self.array.grid.itemsize() as u64);
        let exec = self.array.schunk.exec();
        // Adding up is about as quick as reading LZ4.
        let decode = self.array.schunk.params().codec().effort_to_read(bytes);
        let effort = decode.saturating_add(Codec::Lz4.effort_to_read(bytes));
        exec.run(running.tasks.len(), effort, |scratch, task| {
            running.task(&running.tasks.get(task), scratch)
        })?;
        Ok(self.finished(out))
    }

    /// The state of every item of the result, where there are no items or all are the same.
    fn one_state<S>(&self, reduction: &dyn Reduction<S>) -> Result<Option<S>> {
        if self.count() == 0 {
            return Ok(Some(reduction.empty()));
        }
        if self.array.schunk.processing().post.is_some() {
            // With a post-processing closure, the index does not determine the items.
            return Ok(None);
        }
        let Some(kind) = self.array.schunk.uniform()? else { return Ok(None) };
        let item = special_item(kind, self.array.grid.itemsize(), self.array.schunk.limits())?;
        reduction.repeat(&self.native(item), self.count()).map(Some)
    }

    /// An item in the byte order of this machine.
    fn native(&self, mut item: Vec<u8>) -> Vec<u8> {
        swap_bytes(self.swap, &mut item);
        item
    }
}

/// Copies of a value, reserved fallibly.
fn copies<T: Clone>(value: T, count: usize) -> Result<Vec<T>> {
    let mut all = Vec::new();
    let bytes = count.saturating_mul(size_of::<T>()) as u64;
    all.try_reserve_exact(count).map_err(|_| Error::out_of_memory("the states of a reduction", bytes))?;
    all.resize(count, value);
    Ok(all)
}

impl<S: Clone + Send> Running<'_, S> {
    fn task(&self, task: &Task, scratch: &mut Scratch) -> Result<()> {
        let slabs = (task.blocks.end - task.blocks.start) as usize;
        let mut states = copies(self.reduction.empty(), slabs.saturating_mul(self.tasks.slab))?;
        // Memory for a block, as words, so that items are aligned for their type.
        let mut words: Vec<u64> = Vec::new();
        let in_chunk = self.tasks.reduced_blocks_of_a_chunk();
        let mut at = task.reduced.start;
        while at < task.reduced.end {
            self.job.array.schunk.exec().check_cancelled()?;
            let number = at / in_chunk;
            let end = ((number + 1) * in_chunk).min(task.reduced.end);
            let blocks = at - number * in_chunk..end - number * in_chunk;
            let chunk = self.job.geometry.position(&task.chunk, &self.tasks.reduced_chunk(number));
            let visit = TaskChunk {
                running: self,
                task,
                n: self.job.geometry.chunk_number(&self.job.array.grid, &chunk),
                chunk,
            };
            let done = visit.run(blocks, &mut states, &mut words, scratch);
            done.map_err(|error| error.in_chunk(visit.n).at(self.job.array.schunk.path()))?;
            at = end;
        }
        match self.gather(task, states)? {
            Some(states) => self.write(task, &states),
            None => Ok(()),
        }
    }

    /// The states of a whole cell, for the last of its groups; those of the others wait.
    fn gather(&self, task: &Task, states: Vec<S>) -> Result<Option<Vec<S>>> {
        let Some(waiting) = self.waiting.get(task.cell) else { return Ok(Some(states)) };
        let groups = {
            let mut groups = lock(waiting);
            if let Some(place) = groups.get_mut(task.group) {
                *place = Some(states);
            }
            if groups.iter().any(Option::is_none) {
                return Ok(None);
            }
            std::mem::take(&mut *groups)
        };
        let mut groups = groups.into_iter().flatten();
        let mut whole = groups.next().unwrap_or_default();
        for group in groups {
            whole.iter_mut().zip(&group).for_each(|(state, other)| self.reduction.join(state, other));
        }
        Ok(Some(whole))
    }

    /// Writes the states of a cell to their places in the result.
    fn write(&self, task: &Task, states: &[S]) -> Result<()> {
        let (geometry, itemsize) = (&self.job.geometry, self.job.dtype.itemsize());
        let kept: Vec<_> = geometry.axes.iter().filter(|axis| axis.kept).collect();
        let lengths: Vec<usize> = kept.iter().map(|axis| axis.count as usize).collect();
        let strides = Grid::strides(&lengths, itemsize);
        let most: Vec<usize> = kept.iter().map(|axis| axis.most as usize).collect();
        let steps = Grid::strides(&most, itemsize);
        let mut bytes = zeroed("the result of a block", self.tasks.slab.saturating_mul(itemsize) as u64)?;
        for (block, states) in task.blocks.clone().zip(states.chunks_exact(self.tasks.slab.max(1))) {
            for (state, item) in states.iter().zip(bytes.chunks_exact_mut(itemsize)) {
                self.reduction.finish(state, self.job.count(), item);
            }
            let position = self.tasks.kept_block(block);
            let (mut shape, mut from) = ([0; MAX_AXES], [0isize; MAX_AXES]);
            let (mut place, mut offset) = (0, 0);
            for (d, axis) in kept.iter().enumerate() {
                let taken = axis.in_block(task.chunk[d], position[d]);
                shape[d] = taken.count as usize;
                // The slab lies in memory, so its strides fit.
                from[d] = if axis.backwards { -(steps[d] as isize) } else { steps[d] as isize };
                let out = if axis.backwards { axis.count - taken.out - taken.count } else { taken.out };
                offset += if axis.backwards { (shape[d].max(1) - 1) * steps[d] } else { 0 };
                place += out as usize * strides[d];
            }
            let shape = &shape[..kept.len()];
            if shape.contains(&0) {
                continue;
            }
            let source = Source { bytes: &bytes, offset, strides: &from[..kept.len()] };
            if !copy_box(itemsize, shape, &mut lock(&self.out), place, &strides, source) {
                return Err(Error::too_large(
                    usize::MAX,
                    "the result does not fit the memory of this machine",
                ));
            }
        }
        Ok(())
    }
}

/// A chunk, and the part of it that a task reduces.
struct TaskChunk<'a, 'r, S> {
    running: &'a Running<'r, S>,
    task: &'a Task,
    /// Its number in the array.
    n: u64,
    /// Its index among the touched chunks.
    chunk: Vec<u64>,
}

impl<S: Clone + Send> TaskChunk<'_, '_, S> {
    fn run(
        &self,
        reduced: Range<u64>,
        states: &mut [S],
        words: &mut Vec<u64>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let axes = self.running.job.geometry.axes.iter().zip(&self.chunk);
        if axes.clone().any(|(axis, &at)| axis.in_chunk(at).count == 0) {
            // A step over the whole chunk.
            return Ok(());
        }
        match blocks::look(self.running.job.array, self.n, scratch)? {
            ChunkContent::Repeat(item) => self.repeat(&self.running.job.native(item), reduced, states),
            ChunkContent::Blocks(found) => self.decode(&found, reduced, states, words, scratch),
        }
    }

    /// Reduces a chunk of one value.
    fn repeat(&self, item: &[u8], reduced: Range<u64>, states: &mut [S]) -> Result<()> {
        let running = self.running;
        let axes = || running.job.geometry.axes.iter().zip(&self.chunk);
        let count: u64 = if reduced.end - reduced.start == running.tasks.reduced_blocks_of_a_chunk() {
            axes().filter(|(axis, _)| !axis.kept).map(|(axis, &at)| axis.in_chunk(at).count).product()
        } else {
            let of_block = |n: u64| -> u64 {
                let block = running.tasks.reduced_block(n);
                let reduced = axes().filter(|(axis, _)| !axis.kept).zip(block);
                reduced.map(|((axis, &at), block)| axis.in_block(at, block).count).product()
            };
            reduced.map(of_block).sum()
        };
        if count == 0 {
            return Ok(());
        }
        let state = running.reduction.repeat(item, count)?;
        // Also updates states of padding, which are never read.
        states.iter_mut().for_each(|into| running.reduction.join(into, &state));
        self.progress(
            axes().filter(|(axis, _)| axis.kept).map(|(axis, &at)| axis.in_chunk(at).count).product::<u64>()
                * count,
        );
        Ok(())
    }

    fn decode(
        &self,
        found: &ChunkBlocks,
        reduced: Range<u64>,
        states: &mut [S],
        words: &mut Vec<u64>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Running { job, tasks, reduction, .. } = self.running;
        let (grid, geometry) = (&job.array.grid, &job.geometry);
        let bytes = grid.block_bytes();
        if words.is_empty() {
            let refused = |()| Error::out_of_memory("a block", bytes as u64);
            *words = bytemuck::allocation::try_zeroed_vec(bytes.div_ceil(8)).map_err(refused)?;
        }
        let Some(block) = bytemuck::cast_slice_mut::<u64, u8>(words).get_mut(..bytes) else { return Ok(()) };
        let (mut wanted, mut places) = (Vec::new(), Vec::new());
        let walk = |kept: u64, number: u64| {
            let position = geometry.position(&tasks.kept_block(kept), &tasks.reduced_block(number));
            let walk = geometry.walk(&self.chunk, &position)?;
            Some((grid.block_number(position.into_iter()), walk))
        };
        for kept in self.task.blocks.clone() {
            for number in reduced.clone() {
                if let Some((block, _)) = walk(kept, number) {
                    wanted.push(block);
                    places.push((kept, number));
                }
            }
        }
        found.decode(job.array, &wanted, block, scratch, |at, block| {
            let Some(&(kept, number)) = places.get(at) else { return Ok(()) };
            let Some((_, walk)) = walk(kept, number) else { return Ok(()) };
            swap_bytes(job.swap, block);
            let slab = (kept - self.task.blocks.start) as usize * tasks.slab;
            let states = states.get_mut(slab..).and_then(|rest| rest.get_mut(..tasks.slab));
            reduction.block(&walk, block, states.unwrap_or_default())?;
            self.progress(walk.items());
            Ok(())
        })
    }

    fn progress(&self, items: u64) {
        let array = self.running.job.array;
        array.schunk.exec().progress(items.saturating_mul(array.grid.itemsize() as u64));
    }
}
