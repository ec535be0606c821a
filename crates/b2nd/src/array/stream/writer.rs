//! The streaming writer as its user sees it.

use crate::array::Array;
use crate::array::Dtype;
use crate::array::grid::Grid;
use crate::array::handle::ArrayParts;
use crate::array::meta;
use crate::array::stream::crew::ChunkJob;
use crate::array::stream::crew::Crew;
use crate::array::stream::row::Row;
use crate::array::stream::row::Slab;
use crate::array::stream::slabs::Slabs;
use crate::array::stream::slabs::packed_bytes;
use crate::chunk::Special;
use crate::error::Error;
use crate::error::Result;
use crate::schunk::{FrameState, SChunk};
use std::sync::Arc;
use std::thread::JoinHandle;

/// A new array that comes as slabs along one axis, in constant memory: see [`Options::stream`](crate::Options::stream).
///
/// A push copies the slab into the chunks that it touches, and gives those that are full to other threads
/// ([`Exec::threads`](crate::Exec::threads) less one; the caller's is the last). When all the memory of
/// [`Slabs::with_memory`] is taken, the push compresses chunks itself, or waits. Errors of the other threads and a thrown
/// [`Cancel`](crate::Cancel) switch come back from the next call; after an error the writer can only be dropped.
///
/// These threads live as long as the writer (everywhere else in this library they end with the call), so a process that
/// forks cannot use the writer in the child: there every call is an error.
///
/// ```
/// use b2nd::{Dtype, Options, Slabs};
/// let slabs = Slabs::along(1, [2, 6]);
/// let mut w = Options::new().stream_in_memory(Dtype::parse("|u1")?, &slabs)?;
/// w.push_bytes(&[0, 1, 2, 6, 7, 8])?; // three columns
/// w.push_bytes(&[])?; // none
/// w.push_bytes(&[3, 4, 5, 9, 10, 11])?;
/// assert_eq!(w.finish()?.read_bytes(())?, (0..12).collect::<Vec<u8>>());
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug)]
pub struct StreamWriter {
    /// `None` when the writer is finished.
    crew: Option<Arc<Crew>>,
    threads: Vec<JoinHandle<()>>,
    /// Of the array without an item along the axis.
    grid: Grid,
    dtype: Dtype,
    text: Option<String>,
    row: Row,
    axis: usize,
    /// The length that the axis is to have.
    expected: Option<u64>,
    /// The length that it has so far.
    len: u64,
    /// The chunks of the row that is being filled.
    current: Vec<Vec<u8>>,
    /// Turns given to chunks.
    tasks: usize,
    /// The geometry whose order the chunks of the frame have after a commit. (While rows come, they are in the order of these.)
    in_order: Option<Grid>,
    open: bool,
    memory: u64,
    process: u32,
}

impl StreamWriter {
    pub(in crate::array) fn new(array: Array, slabs: &Slabs) -> Result<Self> {
        let ArrayParts { schunk, grid, dtype, text } = array.into_parts();
        let row = Row::new(&grid, slabs.axis)?;
        let budget = slabs.budget(&grid, row.chunks(), schunk.exec().threads())?;
        let crew = Arc::new(Crew::new(schunk, budget, grid.chunk_bytes(), packed_bytes(&grid)));
        Ok(StreamWriter {
            threads: crew.start(budget.threads - 1),
            crew: Some(crew),
            grid,
            dtype,
            text,
            row,
            axis: slabs.axis,
            expected: if slabs.grows { None } else { slabs.shape.lengths()?.get(slabs.axis).copied() },
            len: 0,
            current: Vec::new(),
            tasks: 0,
            in_order: None,
            open: true,
            memory: budget.bytes,
            process: std::process::id(),
        })
    }

    /// The shape so far.
    pub fn shape(&self) -> Vec<u64> {
        let mut shape = self.grid.shape().to_vec();
        shape[self.axis] = self.len;
        shape
    }
    /// The chunk shape. Slabs of a multiple of its length along the axis are copied fastest.
    pub fn chunks(&self) -> &[u64] {
        self.grid.chunks()
    }
    /// The block shape.
    pub fn blocks(&self) -> &[u64] {
        self.grid.blocks()
    }
    /// The dtype.
    pub fn dtype(&self) -> &Dtype {
        &self.dtype
    }
    /// The bytes that the writer takes at most, by the formula of [`Slabs::with_memory`].
    pub fn memory(&self) -> u64 {
        self.memory
    }
    #[cfg(feature = "ndarray")]
    pub(in crate::array) fn axis(&self) -> usize {
        self.axis
    }

    /// Appends a slab: C order, the dtype's own byte order, any whole number of items along the axis.
    ///
    /// # Errors
    /// [`Error::NotWhole`] when the bytes are no such slab; [`Error::LengthMismatch`] when more come than the axis
    /// was to have (then nothing is taken); and what went wrong since the last call: [`Error::Io`],
    /// [`Error::Cancelled`], [`Error::OutOfMemory`].
    pub fn push_bytes(&mut self, slab: &[u8]) -> Result<()> {
        self.check()?;
        let of_one = self.row.slab_bytes();
        if !slab.len().is_multiple_of(of_one) {
            let (bytes, axis) = (slab.len(), self.axis);
            return Err(Error::not_whole(
                of_one,
                bytes,
                format!(
                    "{bytes} bytes are not a whole number of slabs: one index along axis {axis} has {of_one} bytes"
                ),
            ));
        }
        let count = slab.len() / of_one;
        let len = self.len.saturating_add(count as u64);
        if let Some(expected) = self.expected
            && len > expected
        {
            let axis = self.axis;
            return Err(Error::length(
                expected,
                len,
                format!("the stream has {len} items along axis {axis}, and the shape says {expected}"),
            ));
        }
        self.grid_of(len)?;
        let result = self.take(slab, count);
        self.open = result.is_ok();
        result
    }

    /// Waits until everything pushed is stored, and makes it visible: after a crash, or when the writer is dropped, what was
    /// pushed before the last flush remains.
    ///
    /// The chunks of a row that is not full are stored as they are, and once more when it is: in a file the first
    /// ones leave a gap.
    ///
    /// # Errors
    /// As [`StreamWriter::finish`]; what an earlier flush made visible stays.
    pub fn flush(&mut self) -> Result<()> {
        self.check()?;
        let result = self.submit_partial().and_then(|()| self.commit());
        self.open = result.is_ok();
        result
    }

    /// Stores what is left and makes the array visible, whole, under its name.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] when fewer items came than the axis was to have; [`Error::Io`] when the file cannot
    /// be written or moved to its name; what went wrong since the last call. Then nothing remains but what a flush
    /// made visible.
    pub fn finish(mut self) -> Result<Array> {
        self.check()?;
        if let Some(expected) = self.expected
            && self.len < expected
        {
            let (len, axis) = (self.len, self.axis);
            return Err(Error::length(
                expected,
                len,
                format!("the stream has {len} items along axis {axis}, and the shape says {expected}"),
            ));
        }
        self.submit_row()?;
        self.commit()?;
        let grid = self.grid_of(self.len)?;
        let (dtype, text) = (self.dtype.clone(), self.text.clone());
        let gone = || Error::state("the stream is finished already");
        let crew = self.disband(false).and_then(Arc::into_inner).ok_or_else(gone)?;
        let schunk = *crew.queue.into_inner();
        Ok(Array::from_parts(schunk, grid, dtype, text, meta::Revision::B2nd7))
    }

    /// An error when this process is not the one that has the threads, or something went wrong before.
    fn check(&self) -> Result<()> {
        if std::process::id() != self.process {
            return Err(Error::state(
                "a stream cannot be used in a forked process: its threads are in the parent",
            ));
        }
        let crew = self.crew()?;
        crew.exec().check_cancelled()?;
        crew.check()?;
        if self.open {
            Ok(())
        } else {
            Err(Error::state("an earlier call of this stream failed: drop the stream"))
        }
    }

    fn crew(&self) -> Result<&Arc<Crew>> {
        self.crew.as_ref().ok_or_else(|| Error::state("the stream is finished already"))
    }

    /// The geometry with `len` items along the axis.
    fn grid_of(&self, len: u64) -> Result<Grid> {
        let mut shape = self.grid.shape().to_vec();
        shape[self.axis] = len;
        Grid::new(&shape, self.grid.chunks(), self.grid.blocks(), self.grid.itemsize())
    }

    fn take(&mut self, slab: &[u8], count: usize) -> Result<()> {
        let mut done = 0;
        while done < count {
            let at = self.len % self.row.len();
            let n = (self.row.len() - at).min((count - done) as u64);
            while self.current.len() < self.row.chunks() {
                let buffer = self.crew()?.buffer()?;
                self.current.push(buffer);
            }
            self.row.fill(&mut self.current, at, n, Slab { items: slab, len: count, done })?;
            self.len += n;
            done += n as usize;
            if at + n == self.row.len() {
                self.submit_row()?;
            }
        }
        Ok(())
    }

    /// Hands over the row, full or not.
    fn submit_row(&mut self) -> Result<()> {
        let jobs = self.jobs()?;
        let gone = || Error::state("the stream is finished already");
        let crew = self.crew.as_ref().ok_or_else(gone)?;
        for (mut job, bytes) in jobs.into_iter().zip(self.current.drain(..)) {
            job.bytes = bytes;
            crew.submit(job);
        }
        Ok(())
    }

    /// Hands over copies of the chunks of a row that is not full, which are filled on.
    fn submit_partial(&mut self) -> Result<()> {
        let jobs = self.jobs()?;
        let crew = self.crew()?;
        // They are stored again when the row is full, and only then reported to the progress hook.
        jobs.into_iter()
            .zip(&self.current)
            .try_for_each(|(job, bytes)| crew.submit_copy(ChunkJob { items: 0, ..job }, bytes))
    }

    /// The chunks of the row that is being filled, still without their bytes.
    fn jobs(&mut self) -> Result<Vec<ChunkJob>> {
        if self.current.is_empty() {
            return Ok(Vec::new());
        }
        let last = self.len.saturating_sub(1);
        let (row, filled) = (last / self.row.len(), last % self.row.len() + 1);
        let chunks = self.row.chunks();
        let base = row * chunks as u64;
        self.make_room(base + chunks as u64)?;
        let grid = Arc::new(self.grid_of(self.len)?);
        let jobs = (0..chunks).map(|n| {
            let mut position = self.row.position(n as u64);
            position[self.axis] = row;
            let (task, chunk) = (self.tasks + n, base + n as u64);
            ChunkJob {
                task,
                chunk,
                position,
                grid: grid.clone(),
                bytes: Vec::new(),
                items: self.row.item_bytes(n, filled),
            }
        });
        let jobs = jobs.collect();
        self.tasks += chunks;
        Ok(jobs)
    }

    /// Gives the frame places for `chunks` chunks in the order of rows.
    fn make_room(&mut self, chunks: u64) -> Result<()> {
        let total = self.expected.map(|len| self.grid_of(len)).transpose()?.map_or(0, |grid| grid.nchunks());
        let crew = self.crew()?;
        if self.in_order.is_none() && crew.queue.with(|schunk| schunk.nchunks()) >= chunks {
            return Ok(());
        }
        // All at once where the number is known, else twice as many as there were: each place is moved a few times at most.
        crew.queue.with(|schunk| {
            let have = schunk.nchunks();
            let places = chunks.max(total).max(have.saturating_mul(2).min(FrameState::MAX_CHUNKS));
            let row = self.row.chunks() as u64;
            schunk.relayout(places, Special::Uninit, |n| {
                let Some(stored) = &self.in_order else { return (n < have).then_some(n) };
                let mut position = self.row.position(n % row);
                position[self.axis] = n / row;
                let number = stored.chunk_number(position.into_iter());
                (n / row < stored.chunk_count(self.axis)).then_some(number)
            })
        })?;
        self.in_order = None;
        Ok(())
    }

    /// Makes everything visible that was handed over.
    fn commit(&mut self) -> Result<()> {
        let grid = self.grid_of(self.len)?;
        let crew = self.crew()?;
        crew.drain()?;
        let text = self.text.as_deref().unwrap_or_default();
        let content = meta::write(grid.shape(), grid.chunks(), grid.blocks(), text);
        let row = self.row.chunks() as u64;
        crew.queue.with(|schunk| {
            if self.in_order.is_none() && (self.axis > 0 || schunk.nchunks() != grid.nchunks()) {
                schunk.relayout(grid.nchunks(), Special::Uninit, |n| {
                    let position = grid.chunk_position(n);
                    Some(position[self.axis] * row + self.row.number(&position))
                })?;
            }
            schunk.stage_metalayer(meta::NAME, &content)?;
            schunk.commit()
        })?;
        self.in_order = (self.axis > 0).then_some(grid);
        Ok(())
    }

    /// Sends the threads home and waits for them.
    fn disband(&mut self, abandon: bool) -> Option<Arc<Crew>> {
        let crew = self.crew.take()?;
        crew.close(abandon);
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join()
                && !std::thread::panicking()
            {
                std::panic::resume_unwind(panic);
            }
        }
        Some(crew)
    }
}

impl Drop for StreamWriter {
    fn drop(&mut self) {
        if std::process::id() != self.process {
            // The threads are the parent's: here there is nobody to wait for.
            self.threads.clear();
            return;
        }
        if let Some(crew) = self.disband(true) {
            // What cannot be taken back was never visible either.
            let _ = crew.queue.with(SChunk::rollback);
        }
    }
}
