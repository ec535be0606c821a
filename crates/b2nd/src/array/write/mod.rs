//! Writing a selection: whole chunks are compressed straight from the caller's items, others are read, changed and
//! compressed again. Chunks go to the store in order, whatever the number of threads.

mod source;
mod transaction;

pub use transaction::{ArrayWriter, Transaction};

use crate::array::Array;
use crate::array::grid::Grid;
use crate::array::grid::MAX_NDIM;
use crate::array::read::chunk::special_item;
use crate::array::read::plan::ChunkVisit;
use crate::array::read::plan::Plan;
use crate::array::read::plan::Steps;
use crate::array::selection::Pick;
use crate::array::selection::Resolved;
use crate::array::selection::Selection;
use crate::chunk;
use crate::error::Error;
use crate::error::Result;
use crate::exec::Exec;
use crate::exec::Scratch;
use crate::limits::zeroed;
use crate::schunk::Place;
use crate::schunk::SChunk;
use b2nd_kernel::boxes::Along;
use b2nd_kernel::boxes::Listed;
use b2nd_kernel::boxes::Source;
use b2nd_kernel::boxes::copy_box;
use b2nd_kernel::boxes::copy_listed;
use source::FreshChunk;
use std::collections::BTreeMap;
use std::sync::Condvar;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;

impl Array {
    /// Writes items into a selection, and commits: C order, the dtype's own byte order, as many as the selection takes.
    ///
    /// Where a list names an index more than once, the last of its items stays.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create(None, Dtype::parse("|u1")?, &[4, 4])?;
    /// a.write_bytes(s![1..3, ..;2], &[1, 2, 3, 4])?;
    /// assert_eq!(a.read_bytes(s![2])?, [3, 0, 4, 0]);
    /// a.write_bytes(s![0, ..;-1], &[1, 2, 3, 4])?;
    /// a.write_bytes(s![[3, 3], [1, 2]], &[5, 6, 7, 8])?;
    /// assert_eq!(a.read_bytes(s![[0, -1]])?, [4, 3, 2, 1, 0, 7, 8, 0]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] when the selection does not fit the shape or takes another number of bytes, or the array was
    /// opened for reading only; [`Error::Format`] where a chunk that is written in part is damaged. After
    /// an error nothing of the write is visible.
    pub fn write_bytes(&mut self, selection: impl Into<Selection>, items: &[u8]) -> Result<()> {
        let mut transaction = self.transaction();
        transaction.write_bytes(selection, items)?;
        transaction.commit()
    }

    /// Compresses and stores what a selection takes; visible after the next commit.
    pub(crate) fn stage(&mut self, selection: &Selection, items: &[u8]) -> Result<()> {
        let resolved = selection.resolve(self.shape())?;
        check_items(self, &resolved, items)?;
        // A file may have larger blocks than anyone can write.
        self.grid.check_writable()?;
        if items.is_empty() {
            return Ok(());
        }
        let Array { schunk, grid, block_strides, .. } = self;
        // The items exist, so their numbers along each axis fit this machine.
        let counts: Vec<usize> = resolved.picks.iter().map(|pick| pick.count() as usize).collect();
        let picks = resolved.picks.into_iter().map(Pick::last_of_each).collect::<Result<_>>()?;
        let plan = Plan::new(grid, picks, schunk.limits())?;
        let exec = schunk.exec().clone();
        let write = Write {
            item_strides: Grid::strides(&counts, grid.itemsize()),
            queue: Queue::new(schunk, 2 * exec.threads()),
            grid,
            block_strides,
            plan: &plan,
            items,
            exec: &exec,
        };
        let chunks = plan.chunks();
        if chunks < exec.threads() {
            // Too few chunks to go round: the threads share the blocks of each.
            return (0..chunks).try_for_each(|n| exec.with_scratch(|scratch| write.chunk(n, true, scratch)));
        }
        exec.run(chunks, items.len() as u64, |scratch, n| write.chunk(n, false, scratch))
    }
}

fn check_items(array: &Array, resolved: &Resolved, items: &[u8]) -> Result<()> {
    let bytes = array.result_bytes(resolved)?;
    if bytes != items.len() as u64 {
        return Err(Error::usage(format!(
            "{} bytes are given, and the selection takes {bytes}: shape {:?} of {}",
            items.len(),
            resolved.shape,
            array.dtype()
        )));
    }
    Ok(())
}

/// One write, shared by the threads that do it.
struct Write<'a> {
    grid: &'a Grid,
    block_strides: &'a [usize],
    plan: &'a Plan,
    items: &'a [u8],
    item_strides: Vec<usize>,
    queue: Queue<'a>,
    exec: &'a Exec,
}

impl Write<'_> {
    /// Compresses the touched chunk `number` and hands it to the queue.
    fn chunk(&self, number: usize, share: bool, scratch: &mut Scratch) -> Result<()> {
        let _alarm = Alarm(&self.queue);
        let visit = self.plan.visit(self.grid, number);
        let encoded = self.encode(&visit, share, scratch);
        self.queue.push(number, visit.chunk, encoded, self.exec)?;
        if self.exec.has_progress() {
            let axes = visit.runs.iter().zip(&self.plan.segments);
            let items: usize =
                axes.map(|(run, s)| s[run.clone()].iter().map(|s| s.count).sum::<usize>()).product();
            self.exec.progress((items * self.grid.itemsize()) as u64);
        }
        Ok(())
    }

    fn encode(&self, visit: &ChunkVisit, share: bool, scratch: &mut Scratch) -> Result<Vec<u8>> {
        let changed;
        let fresh;
        let covered = self.covers(visit);
        let source: &dyn chunk::BlockSource = match if covered { self.fresh(visit) } else { None } {
            Some(made) => {
                fresh = made;
                &fresh
            }
            None => {
                changed = self.change(visit, covered)?;
                &&changed[..]
            }
        };
        let (params, context) = self.queue.params();
        if share {
            return chunk::encode_from(source, &params, &context, &self.exec.clone().without_progress());
        }
        let mut out = Vec::new();
        chunk::encode_one(source, &params, &context, scratch, &mut out)?;
        Ok(out)
    }

    /// Whether the write takes every item of the array that lies in the chunk.
    fn covers(&self, visit: &ChunkVisit) -> bool {
        let (start, stop) = self.grid.chunk_box(&visit.position);
        (0..self.grid.ndim()).all(|d| {
            let taken: usize = self.plan.segments[d][visit.runs[d].clone()].iter().map(|s| s.count).sum();
            taken as u64 == stop[d] - start[d]
        })
    }

    /// A covered chunk straight from the items; `None` where they lie in the order of a list.
    fn fresh<'s>(&'s self, visit: &'s ChunkVisit) -> Option<FreshChunk<'s>> {
        let (mut offset, mut strides) = (0, Vec::with_capacity(self.grid.ndim()));
        for (axis, run) in visit.runs.iter().enumerate() {
            let segments = self.plan.segments.get(axis)?.get(run.clone())?;
            let (place, count) = (segments.first()?.out, segments.iter().map(|s| s.count).sum::<usize>());
            let stride = *self.item_strides.get(axis)?;
            let (place, step) = match self.plan.steps.get(axis)? {
                Steps::Every(step) if *step < 0 => (place + count - 1, -stride.cast_signed()),
                Steps::At { .. } if count > 1 => return None,
                steps => {
                    (steps.order().map_or(Some(place), |o| o.get(place).copied())?, stride.cast_signed())
                }
            };
            offset += place * stride;
            strides.push(step);
        }
        Some(FreshChunk::new(self.grid, &visit.position, self.items, offset, strides))
    }

    /// The chunk as it is (zeros when it is `covered`), with the written items in their places.
    fn change(&self, visit: &ChunkVisit, covered: bool) -> Result<Vec<u8>> {
        let mut whole = if covered {
            zeroed("a chunk", self.grid.chunk_bytes() as u64)?
        } else {
            self.queue.decode(visit.chunk, self.grid)?
        };
        for index in 0..visit.blocks() {
            let block = visit.block(self.plan, self.grid, index).block;
            if !self.change_block(visit, index, &mut whole, block * self.grid.block_bytes()) {
                return Err(Error::usage("the selection does not fit the chunk"));
            }
        }
        Ok(whole)
    }

    /// Puts the items of one touched block, which starts at `to`, into their places; whether they fit.
    fn change_block(&self, visit: &ChunkVisit, index: usize, whole: &mut [u8], mut to: usize) -> bool {
        let cell = visit.cell(index);
        let ndim = cell.len();
        let mut from = 0;
        let (mut shape, mut sides) = ([0; MAX_NDIM], [[Along::default(); MAX_NDIM]; 2]);
        let [to_axes, from_axes] = &mut sides;
        let axes = self.plan.steps.iter().zip(self.block_strides).zip(&self.item_strides);
        for (axis, (segment, ((steps, &stride), &item_stride))) in
            visit.segments(self.plan, &cell).zip(axes).enumerate()
        {
            shape[axis] = segment.count;
            // Strides of things that are in memory.
            let last = segment.count.saturating_sub(1);
            let backwards = matches!(steps, Steps::Every(step) if *step < 0);
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

/// How often a waiting thread looks whether the work was cancelled.
const CANCEL_CHECK: Duration = Duration::from_millis(20);

/// Puts compressed chunks into the super-chunk in order; who is too far ahead waits, so that memory stays bounded.
struct Queue<'a> {
    state: Mutex<QueueState<'a>>,
    moved: Condvar,
    ahead: usize,
}

struct QueueState<'a> {
    schunk: &'a mut SChunk,
    next: usize,
    waiting: BTreeMap<usize, (u64, Vec<u8>)>,
    failed: bool,
}

impl<'a> Queue<'a> {
    fn new(schunk: &'a mut SChunk, ahead: usize) -> Self {
        let state = QueueState { schunk, next: 0, waiting: BTreeMap::new(), failed: false };
        Queue { state: Mutex::new(state), moved: Condvar::new(), ahead }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How chunks are compressed, and with whose codecs and filters.
    fn params(&self) -> (chunk::Params, chunk::Context) {
        let state = self.lock();
        (state.schunk.params().clone(), state.schunk.context().clone())
    }

    /// The uncompressed bytes of a chunk as they are now.
    fn decode(&self, number: u64, grid: &Grid) -> Result<Vec<u8>> {
        let (stored, context) = {
            let state = self.lock();
            match state.schunk.place(number)? {
                Place::Special(kind) => {
                    let item = special_item(kind, grid.itemsize(), state.schunk.limits())?;
                    let mut whole = zeroed("a chunk", grid.chunk_bytes() as u64)?;
                    if item.iter().any(|&b| b != 0) {
                        whole.chunks_exact_mut(item.len()).for_each(|at| at.copy_from_slice(&item));
                    }
                    return Ok(whole);
                }
                Place::Stored { .. } => {
                    (state.schunk.chunk(number)?.into_owned(), state.schunk.context().clone())
                }
            }
        };
        let mut whole = zeroed("a chunk", grid.chunk_bytes() as u64)?;
        chunk::decode_into(&stored, &mut whole, &context, &Exec::new(1)).map_err(|e| e.in_chunk(number))?;
        Ok(whole)
    }

    /// Takes the chunk of task `task`; puts it, and those that waited for it, when all before it have come.
    fn push(&self, task: usize, chunk: u64, encoded: Result<Vec<u8>>, exec: &Exec) -> Result<()> {
        let mut state = self.lock();
        let encoded = match encoded {
            Ok(encoded) => encoded,
            Err(error) => {
                state.failed = true;
                self.moved.notify_all();
                return Err(error);
            }
        };
        while !state.failed && task > state.next + self.ahead {
            // A thread that stops for a cancellation says nothing here, so who waits for it looks now and then.
            exec.check_cancelled()?;
            let waited = self.moved.wait_timeout(state, CANCEL_CHECK).unwrap_or_else(PoisonError::into_inner);
            state = waited.0;
        }
        state.waiting.insert(task, (chunk, encoded));
        let result = state.put_ready();
        state.failed |= result.is_err();
        self.moved.notify_all();
        result
    }
}

/// Lets nobody wait for a chunk whose thread panics.
struct Alarm<'q, 'a>(&'q Queue<'a>);

impl Drop for Alarm<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().failed = true;
            self.0.moved.notify_all();
        }
    }
}

impl QueueState<'_> {
    fn put_ready(&mut self) -> Result<()> {
        while !self.failed
            && let Some((chunk, encoded)) = self.waiting.remove(&self.next)
        {
            self.schunk.put_chunk(chunk, &encoded)?;
            self.next += 1;
        }
        Ok(())
    }
}
