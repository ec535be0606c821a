//! Writing a selection: whole chunks are compressed straight from the caller's items, others are read, changed and
//! compressed again. Chunks go to the store in order, whatever the number of threads.

mod place;
mod queue;
mod source;
mod transaction;

pub(crate) use place::Placed;
use place::copy_taken;
pub(crate) use queue::{CANCEL_CHECK, Queue};
pub use transaction::{ArrayWriter, Transaction};

use crate::array::Array;
use crate::array::grid::Grid;
use crate::array::process::process_blocks;
use crate::array::process::process_chunk;
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
use crate::schunk::Hook;
use crate::schunk::Processing;
use crate::schunk::SChunk;
use source::FreshChunk;

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
        let processing = schunk.processing().clone();
        let write = Write {
            item_strides: Grid::strides(&plan.counts, grid.itemsize()),
            queue: Queue::new(schunk, 2 * exec.threads()),
            grid,
            block_strides,
            plan: &plan,
            items,
            exec: &exec,
            processing: &processing,
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
    queue: Queue<&'a mut SChunk>,
    exec: &'a Exec,
    processing: &'a Processing,
}

impl Write<'_> {
    /// Compresses the touched chunk `number` and hands it to the queue.
    fn chunk(&self, number: usize, share: bool, scratch: &mut Scratch) -> Result<()> {
        let _alarm = self.queue.alarm();
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
        let source: &dyn chunk::BlockSource = if self.covers(visit) && self.processing.pre.is_none() {
            let places =
                visit.runs.iter().zip(&self.plan.segments).map(|(run, segments)| segments[run.start].out);
            let places = places.collect();
            fresh = FreshChunk::new(self.grid, &visit.position, places, self.items, &self.item_strides);
            &fresh
        } else {
            changed = if self.covers(visit) { self.made(visit)? } else { self.change(visit)? };
            &&changed[..]
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

    /// The written items in the places of their chunk.
    fn put(&self, visit: &ChunkVisit, whole: &mut [u8]) -> Result<()> {
        let items = Placed { items: self.items, start: 0, strides: &self.item_strides };
        items.put(self.grid, self.block_strides, self.plan, visit, whole)
    }

    /// A chunk all of whose items are written, pre-processed.
    fn made(&self, visit: &ChunkVisit) -> Result<Vec<u8>> {
        let mut whole = zeroed("a chunk", self.grid.chunk_bytes() as u64)?;
        self.put(visit, &mut whole)?;
        if let Some(pre) = &self.processing.pre {
            process_chunk(pre, self.grid, (visit.chunk, &visit.position), &mut whole)?;
        }
        Ok(whole)
    }

    /// The chunk as it is, with the written items in their places.
    fn change(&self, visit: &ChunkVisit) -> Result<Vec<u8>> {
        let mut whole = self.queue.decode(visit.chunk, self.grid)?;
        let Some(pre) = &self.processing.pre else {
            self.put(visit, &mut whole)?;
            return Ok(whole);
        };
        let process = |hook: &Hook, whole: &mut [u8]| {
            let touched = (0..visit.blocks()).map(|index| visit.block(self.plan, self.grid, index).block);
            process_blocks(hook, self.grid, (visit.chunk, &visit.position), touched, whole)
        };
        if let Some(post) = &self.processing.post {
            // The way to the user's items and back: those of a touched block that are not written come out as they were.
            process(post, &mut whole)?;
            self.put(visit, &mut whole)?;
            process(pre, &mut whole)?;
            return Ok(whole);
        }
        // Without the way back, only what is written may be processed: the rest of a block has been.
        let mut processed = zeroed("a chunk", whole.len() as u64)?;
        processed.copy_from_slice(&whole);
        self.put(visit, &mut processed)?;
        process(pre, &mut processed)?;
        copy_taken(self.grid, self.block_strides, self.plan, visit, &processed, &mut whole)?;
        Ok(whole)
    }
}
