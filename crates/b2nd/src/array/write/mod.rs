//! Writing a selection: whole chunks are compressed straight from the caller's items, others are read, changed and
//! compressed again. Chunks go to the store in order, whatever the number of threads.

mod source;
mod transaction;

pub(in crate::array) use source::FreshChunk;
pub use transaction::{ArrayWriter, Transaction};

use crate::array::Array;
use crate::array::grid::Grid;
use crate::array::read::chunk::special_item;
use crate::array::read::plan::ChunkVisit;
use crate::array::read::plan::Plan;
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
use b2nd_kernel::boxes::Source;
use b2nd_kernel::boxes::copy_box;
use std::collections::BTreeMap;
use std::sync::Condvar;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;

impl Array {
    /// Writes items into a selection, and commits: C order, the dtype's own byte order, as many as the selection takes.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create(None, Dtype::parse("|u1")?, &[4, 4])?;
    /// a.write_bytes(s![1..3, ..;2], &[1, 2, 3, 4])?;
    /// assert_eq!(a.read_bytes(s![2])?, [3, 0, 4, 0]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] when the selection does not fit the shape, walks backwards, or takes another number of bytes, or
    /// the array was opened for reading only; [`Error::Format`] where a chunk that is written in part is damaged. After
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
        let plan = Plan::new(grid, &resolved.lines, schunk.limits())?;
        let exec = schunk.exec().clone();
        let write = Write {
            item_strides: Grid::strides(&plan.counts, grid.itemsize()),
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
    if resolved.lines.iter().any(|line| line.step < 0) {
        return Err(Error::usage("a negative step cannot be written: reverse the items instead"));
    }
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
        let source: &dyn chunk::BlockSource = if self.covers(visit) {
            let places =
                visit.runs.iter().zip(&self.plan.segments).map(|(run, segments)| segments[run.start].out);
            let places = places.collect();
            fresh = FreshChunk::new(self.grid, &visit.position, places, self.items, &self.item_strides);
            &fresh
        } else {
            changed = self.change(visit)?;
            &&changed[..]
        };
        let params = self.queue.params();
        if share {
            return chunk::encode_from(source, &params, &self.exec.clone().without_progress());
        }
        let mut out = Vec::new();
        chunk::encode_one(source, &params, scratch, &mut out)?;
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

    /// The chunk as it is, with the written items in their places.
    fn change(&self, visit: &ChunkVisit) -> Result<Vec<u8>> {
        let mut whole = self.queue.decode(visit.chunk, self.grid)?;
        for index in 0..visit.blocks() {
            let cell = visit.cell(index);
            let block = visit.block(self.plan, self.grid, index).block;
            let segments = visit.segments(self.plan, &cell);
            let shape: Vec<usize> = segments.clone().map(|s| s.count).collect();
            let start = block * self.grid.block_bytes();
            let to = segments
                .clone()
                .zip(self.block_strides)
                .fold(start, |at, (s, &stride)| at + s.first * stride);
            let from = segments.zip(&self.item_strides).fold(0, |at, (s, &stride)| at + s.out * stride);
            let steps = self.plan.steps.iter().zip(self.block_strides).zip(&shape);
            // Steps are positive here; an axis with one item has none.
            let to_strides: Vec<usize> = steps
                .map(
                    |((&step, &stride), &n)| {
                        if n > 1 { step.unsigned_abs() as usize * stride } else { stride }
                    },
                )
                .collect();
            let from_strides: Vec<isize> = self.item_strides.iter().map(|&s| s as isize).collect();
            let source = Source { bytes: self.items, offset: from, strides: &from_strides };
            if !copy_box(self.grid.itemsize(), &shape, &mut whole, to, &to_strides, source) {
                return Err(Error::usage("the selection does not fit the chunk"));
            }
        }
        Ok(whole)
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

    fn params(&self) -> chunk::Params {
        self.lock().schunk.params().clone()
    }

    /// The uncompressed bytes of a chunk as they are now.
    fn decode(&self, number: u64, grid: &Grid) -> Result<Vec<u8>> {
        let (stored, limits) = {
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
                    (state.schunk.chunk(number)?.into_owned(), state.schunk.limits().clone())
                }
            }
        };
        let mut whole = zeroed("a chunk", grid.chunk_bytes() as u64)?;
        chunk::decode_into(&stored, &mut whole, &limits, &Exec::new(1)).map_err(|e| e.in_chunk(number))?;
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
