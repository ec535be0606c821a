//! Writing a selection: whole chunks are compressed straight from the caller's items, others are read, changed and
//! compressed again. Chunks go to the store in order, whatever the number of threads.

mod edit;
mod source;
mod transaction;

pub use transaction::{ArrayWriter, Transaction};

use crate::array::Array;
use crate::array::grid::Grid;
use crate::array::read::chunk::special_item;
use crate::array::read::plan::Plan;
use crate::array::read::points::PointPlan;
use crate::array::selection::Pick;
use crate::array::selection::Resolved;
use crate::array::selection::Selection;
use crate::array::selection::Taken;
use crate::chunk;
use crate::error::Error;
use crate::error::Result;
use crate::exec::Exec;
use crate::exec::Scratch;
use crate::limits::zeroed;
use crate::schunk::Place;
use crate::schunk::SChunk;
use edit::BoxEdit;
use edit::Edit;
use edit::PointEdit;
use std::collections::BTreeMap;
use std::sync::Condvar;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;

impl Array {
    /// Writes items into a selection, and commits: C order, the dtype's own byte order, as many as the selection takes.
    ///
    /// Where the selection names an item more than once, the last of what is given for it stays.
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

    /// Writes one item, in the dtype's own byte order, into every place of a selection, and commits.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create(None, Dtype::parse("<u2")?, &[2, 3])?;
    /// a.fill_bytes(s![.., [0, 2]], &[7, 1])?;
    /// assert_eq!(a.read_items::<u16>(s![1])?, [263, 0, 263]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::write_bytes`], and [`Error::Usage`] when `item` does not have the size of an item.
    pub fn fill_bytes(&mut self, selection: impl Into<Selection>, item: &[u8]) -> Result<()> {
        let mut transaction = self.transaction();
        transaction.fill_bytes(selection, item)?;
        transaction.commit()
    }

    /// Compresses and stores what a selection takes; visible after the next commit.
    pub(crate) fn stage(&mut self, selection: &Selection, given: Given<'_>) -> Result<()> {
        let resolved = selection.resolve(self.shape())?;
        let bytes = self.check_given(&resolved, given)?;
        // A file may have larger blocks than anyone can write.
        self.grid.check_writable()?;
        if bytes == 0 {
            return Ok(());
        }
        let Array { schunk, grid, block_strides, .. } = self;
        let (itemsize, items) = (grid.itemsize(), given.bytes());
        let picks = match resolved.taken {
            Taken::Axes(picks) => picks,
            Taken::Points(positions) => {
                let plan = PointPlan::new(grid, &positions, true)?;
                drop(positions);
                let stride = if given.is_one() { 0 } else { itemsize };
                return store(schunk, grid, plan.chunks().len(), bytes, |n| {
                    let blocks = plan.chunks().get(n).cloned().unwrap_or_default();
                    PointEdit { grid, plan: &plan, blocks, items, stride }
                });
            }
        };
        let lengths = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let counts: Vec<usize> = picks.iter().map(|pick| lengths(pick.count())).collect();
        let picks = picks.into_iter().map(Pick::last_of_each).collect::<Result<_>>()?;
        let plan = Plan::new(grid, picks, schunk.limits())?;
        let item_strides =
            if given.is_one() { vec![0; counts.len()] } else { Grid::strides(&counts, itemsize) };
        store(schunk, grid, plan.chunks(), bytes, |n| {
            let (visit, item_strides) = (plan.visit(grid, n), &item_strides[..]);
            BoxEdit { grid, block_strides, plan: &plan, visit, items, item_strides }
        })
    }

    /// The bytes of the items of a selection, when those given are as many.
    fn check_given(&self, resolved: &Resolved, given: Given<'_>) -> Result<u64> {
        let bytes = self.items().result_bytes(resolved)?;
        let (found, due) = match given {
            Given::Items(items) => (items.len() as u64, bytes),
            Given::One(item) => (item.len() as u64, self.grid.itemsize() as u64),
        };
        if found != due {
            return Err(Error::usage(format!(
                "{found} bytes are given, and the selection takes {due}: shape {:?} of {}",
                resolved.shape,
                self.dtype()
            )));
        }
        Ok(bytes)
    }
}

/// What is written into a selection.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Given<'a> {
    /// An item for each place, in C order.
    Items(&'a [u8]),
    /// One item for all places.
    One(&'a [u8]),
}

impl<'a> Given<'a> {
    fn bytes(self) -> &'a [u8] {
        match self {
            Given::Items(bytes) | Given::One(bytes) => bytes,
        }
    }

    fn is_one(self) -> bool {
        matches!(self, Given::One(_))
    }
}

/// Compresses and stores the touched chunks, in order.
fn store<E: Edit>(
    schunk: &mut SChunk,
    grid: &Grid,
    chunks: usize,
    bytes: u64,
    edit: impl Fn(usize) -> E + Sync,
) -> Result<()> {
    let exec = schunk.exec().clone();
    let write = Write { grid, queue: Queue::new(schunk, 2 * exec.threads()), exec: &exec };
    if chunks < exec.threads() {
        // Too few chunks to go round: the threads share the blocks of each.
        return (0..chunks)
            .try_for_each(|n| exec.with_scratch(|scratch| write.chunk(n, &edit(n), true, scratch)));
    }
    exec.run(chunks, bytes, |scratch, n| write.chunk(n, &edit(n), false, scratch))
}

/// One write, shared by the threads that do it.
struct Write<'a> {
    grid: &'a Grid,
    queue: Queue<'a>,
    exec: &'a Exec,
}

impl Write<'_> {
    /// Compresses a touched chunk, the `number`th, and hands it to the queue.
    fn chunk(&self, number: usize, edit: &impl Edit, share: bool, scratch: &mut Scratch) -> Result<()> {
        let _alarm = Alarm(&self.queue);
        let encoded = self.encode(edit, share, scratch);
        self.queue.push(number, edit.chunk(), encoded, self.exec)?;
        if self.exec.has_progress() {
            self.exec.progress((edit.items() * self.grid.itemsize()) as u64);
        }
        Ok(())
    }

    fn encode(&self, edit: &impl Edit, share: bool, scratch: &mut Scratch) -> Result<Vec<u8>> {
        let changed;
        let fresh;
        let covered = edit.covers();
        let source: &dyn chunk::BlockSource = match if covered { edit.fresh() } else { None } {
            Some(made) => {
                fresh = made;
                &fresh
            }
            None => {
                // The chunk as it is; of one that is written whole nothing stays.
                let mut whole = if covered {
                    zeroed("a chunk", self.grid.chunk_bytes() as u64)?
                } else {
                    self.queue.decode(edit.chunk(), self.grid)?
                };
                edit.change(&mut whole)?;
                changed = whole;
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
