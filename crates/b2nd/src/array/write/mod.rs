//! Writing a selection: whole chunks are compressed straight from the caller's items, others are read, changed and
//! compressed again. Chunks go to the store in order, whatever the number of threads.

mod edit;
mod part;
mod queue;
mod source;
mod stored;
mod transaction;
mod verbs;

pub(crate) use edit::{BoxEdit, Edit};
pub(crate) use queue::{CANCEL_CHECK, Queue};
pub(crate) use source::FreshChunk;
pub use transaction::{ArrayWriter, Transaction};
pub(in crate::array) use verbs::writes;

use crate::array::Array;
use crate::array::grid::Grid;
use crate::array::process::ShownChunk;
use crate::array::process::process_blocks;
use crate::array::process::process_chunk;
use crate::array::read::plan::Plan;
use crate::array::read::points::PointPlan;
use crate::array::selection::Pick;
use crate::array::selection::Resolved;
use crate::array::selection::Selection;
use crate::array::selection::Taken;
use crate::array::view::Arrangement;
use crate::chunk;
use crate::error::Error;
use crate::error::Result;
use crate::exec::Exec;
use crate::exec::Scratch;
use crate::limits::zeroed;
use crate::schunk::FrameState;
use crate::schunk::Hook;
use crate::schunk::Processing;
use crate::schunk::SChunk;
use edit::PointEdit;
use stored::Stored;

impl Array {
    /// Writes items into a selection, and commits: C order, the dtype's own byte order, as many as the selection takes.
    ///
    /// Where the selection names an item more than once, the last of what is given for it stays.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [4, 4])?;
    /// a.write_bytes(s![1..3, ..;2], &[1, 2, 3, 4])?;
    /// assert_eq!(a.read_bytes(s![2])?, [3, 0, 4, 0]);
    /// a.write_bytes(s![0, ..;-1], &[1, 2, 3, 4])?;
    /// a.write_bytes(s![[3, 3], [1, 2]], &[5, 6, 7, 8])?;
    /// assert_eq!(a.read_bytes(s![[0, -1]])?, [4, 3, 2, 1, 0, 7, 8, 0]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] or [`Error::NdimMismatch`] when the selection does not fit the shape;
    /// [`Error::LengthMismatch`] when it takes another number of bytes; [`Error::ReadOnly`]; [`Error::Format`] where
    /// a block that is written in part is damaged. After an error nothing of the write is visible.
    pub fn write_bytes(&mut self, selection: impl Into<Selection>, items: &[u8]) -> Result<()> {
        self.at_once(|t| t.write_bytes(selection, items))
    }

    /// Writes one item, in the dtype's own byte order, into every place of a selection, and commits.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("<u2")?, [2, 3])?;
    /// a.fill_bytes(s![.., [0, 2]], &[7, 1])?;
    /// assert_eq!(a.read_items::<u16>(s![1])?, [263, 0, 263]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::write_bytes`], and [`Error::LengthMismatch`] when `item` does not have the size of an item.
    pub fn fill_bytes(&mut self, selection: impl Into<Selection>, item: &[u8]) -> Result<()> {
        self.at_once(|t| t.fill_bytes(selection, item))
    }

    /// Compresses and stores what a selection takes; visible after the next commit.
    pub(crate) fn stage(&mut self, selection: &Selection, given: Given<'_>) -> Result<()> {
        let resolved = selection.resolve(self.shape())?;
        self.stage_resolved(resolved, None, given)
    }

    /// As [`Array::stage`], of a selection from the array or from axes of it in another arrangement.
    pub(crate) fn stage_resolved(
        &mut self,
        resolved: Resolved,
        arranged: Option<&Arrangement>,
        given: Given<'_>,
    ) -> Result<()> {
        let bytes = self.check_given(&resolved, given)?;
        // A file may have larger blocks than anyone can write.
        self.grid.check_writable()?;
        if bytes == 0 {
            return Ok(());
        }
        self.schunk.check_writable()?;
        let Array { schunk, grid, .. } = self;
        let (itemsize, items) = (grid.itemsize(), given.bytes());
        let picks = match resolved.taken {
            Taken::Axes(picks) => picks,
            Taken::Points(positions) => {
                let plan = PointPlan::new(arranged.map_or(grid, Arrangement::grid), &positions, true)?;
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
        let item_strides =
            if given.is_one() { vec![0; counts.len()] } else { Grid::strides(&counts, itemsize) };
        let (picks, item_strides, first) = match arranged {
            None => (picks, item_strides, 0),
            Some(arranged) => arranged.to_array(picks, &item_strides, grid.ndim()),
        };
        let items = items.get(first..).unwrap_or_default();
        let picks = picks.into_iter().map(Pick::last_of_each).collect::<Result<_>>()?;
        let plan = Plan::new(grid, picks, schunk.limits())?;
        store(schunk, grid, plan.chunks(), bytes, |n| {
            let (visit, item_strides) = (plan.visit(grid, n), &item_strides[..]);
            BoxEdit { grid, plan: &plan, visit, items, item_strides }
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
            return Err(Error::length(
                due,
                found,
                format!(
                    "{found} bytes are given, and the selection needs {due}: shape {:?} of {}",
                    resolved.shape,
                    self.dtype()
                ),
            ));
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
    if chunks > 0 {
        grid.check_chunk(schunk.limits())?;
    }
    let (exec, processing) = (schunk.exec().clone(), schunk.processing().clone());
    // Old chunks are read from here, without the lock of the queue.
    let base = schunk.working_state();
    let (codec, clevel) = (schunk.params().codec(), schunk.params().clevel());
    let queue = Queue::new(schunk, 2 * exec.threads());
    let write = Write { grid, base, queue, exec: &exec, processing: &processing };
    if chunks < exec.threads() {
        // Too few chunks to go round: the threads share the blocks of each.
        return (0..chunks)
            .try_for_each(|n| exec.with_scratch(|scratch| write.chunk(n, &edit(n), true, scratch)));
    }
    let effort = codec.effort_to_write(clevel, bytes);
    exec.run(chunks, effort, |scratch, n| write.chunk(n, &edit(n), false, scratch))
}

/// One write, shared by the threads that do it.
struct Write<'a> {
    grid: &'a Grid,
    /// The frame as it was before the write.
    base: FrameState,
    queue: Queue<&'a mut SChunk>,
    exec: &'a Exec,
    processing: &'a Processing,
}

impl Write<'_> {
    /// Compresses a touched chunk, the `number`th, and hands it to the queue.
    fn chunk(&self, number: usize, edit: &impl Edit, share: bool, scratch: &mut Scratch) -> Result<()> {
        let _alarm = self.queue.alarm();
        let mut packed = std::mem::take(&mut scratch.packed);
        let encoded = self.encode(edit, share, scratch, &mut packed).map(|()| &packed[..]);
        let pushed = self.queue.push(number, edit.chunk(), encoded, self.exec);
        scratch.packed = packed;
        pushed?;
        if self.exec.has_progress() {
            self.exec.progress((edit.items() * self.grid.itemsize()) as u64);
        }
        Ok(())
    }

    /// Puts the new chunk into the place of what `out` holds.
    fn encode(&self, edit: &impl Edit, share: bool, scratch: &mut Scratch, out: &mut Vec<u8>) -> Result<()> {
        let (params, context) = (self.base.params(), self.base.context());
        // What the chunk as a whole takes is told when it is put; one that others work beside has one thread.
        let exec = if share { self.exec.clone().without_progress() } else { self.exec.single() };
        let covered = edit.covers();
        let (fresh, changed);
        let made = if covered && self.processing.pre.is_none() { edit.fresh() } else { None };
        let source: &dyn chunk::BlockSource = if let Some(made) = made {
            fresh = made;
            &fresh
        } else {
            let before = if covered {
                Some(zeroed("a chunk", self.grid.chunk_bytes() as u64)?)
            } else {
                self.before(edit, &exec, scratch, out)?
            };
            // Without it the chunk is in its place already.
            let Some(before) = before else { return Ok(()) };
            changed = self.changed(edit, covered, before)?;
            &&changed[..]
        };
        if share {
            return chunk::encode_from(source, params, context, &exec, out);
        }
        chunk::encode_one(source, params, context, scratch, out)
    }

    /// The decoded chunk before the write; `None` where only a part of it was needed, and the new chunk is in `out`.
    fn before(
        &self,
        edit: &impl Edit,
        exec: &Exec,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<Option<Vec<u8>>> {
        let stored = Stored::fetch(&self.base, edit.chunk(), std::mem::take(&mut scratch.fetched))?;
        let before = match self.part(edit, &stored, exec, &mut scratch.block, out) {
            Ok(false) => stored.decode(edit.chunk(), self.grid, self.base.context(), exec).map(Some),
            parted => parted.map(|_| None),
        };
        scratch.fetched = stored.into_buffer();
        before
    }

    /// The chunk as it is to be, pre-processed, from what it was; of one that is written whole (`covered`) nothing stays.
    fn changed(&self, edit: &impl Edit, covered: bool, mut whole: Vec<u8>) -> Result<Vec<u8>> {
        let number = edit.chunk();
        let Some(pre) = &self.processing.pre else {
            edit.change(&mut whole)?;
            return Ok(whole);
        };
        let chunk = ShownChunk { number, position: &self.grid.chunk_position(number) };
        if covered {
            edit.change(&mut whole)?;
            process_chunk(pre, self.grid, chunk, &mut whole)?;
            return Ok(whole);
        }
        let process = |hook: &Hook, whole: &mut [u8]| {
            process_blocks(hook, self.grid, chunk, edit.blocks().into_iter(), whole)
        };
        if let Some(post) = &self.processing.post {
            // The way to the user's items and back: those of a touched block that are not written come out as they were.
            process(post, &mut whole)?;
            edit.change(&mut whole)?;
            process(pre, &mut whole)?;
            return Ok(whole);
        }
        // Without the way back, only what is written may be processed: the rest of a block has been.
        let mut processed = zeroed("a chunk", whole.len() as u64)?;
        processed.copy_from_slice(&whole);
        edit.change(&mut processed)?;
        process(pre, &mut processed)?;
        let mut written = zeroed("a chunk", whole.len() as u64)?;
        edit.mark(&mut written)?;
        for ((to, from), mask) in whole.iter_mut().zip(&processed).zip(&written) {
            *to = (*from & mask) | (*to & !mask);
        }
        Ok(whole)
    }
}
