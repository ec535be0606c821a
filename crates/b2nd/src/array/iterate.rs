//! Iterates over the chunks of an array, one by one or on all threads, with their position and, on demand, their items.

use crate::array::Array;
use crate::array::Element;
use crate::array::Selection;
use crate::array::grid::Grid;
use crate::array::read::blocks;
use crate::array::read::blocks::ChunkBlocks;
use crate::array::read::blocks::ChunkContent;
use crate::error::Error;
use crate::error::Part;
use crate::error::Result;
use crate::exec::Exec;
use crate::exec::Scratch;
use crate::limits::Limits;
use crate::limits::zeroed;
use b2nd_kernel::boxes::Source;
use b2nd_kernel::boxes::copy_box;

/// One chunk of an array: the box of its items. Items are read on demand.
///
/// ```
/// use b2nd::{s, Dtype, Options};
/// let mut a = Options::new().with_chunks([2, 2]).create_in_memory(Dtype::of::<u8>(), [3, 3])?;
/// a.write_items(s![], &[1u8, 2, 3, 4, 5, 6, 7, 8, 9])?;
/// let chunks: Vec<_> = a.iter_chunks().collect();
/// assert_eq!(chunks.len(), 4);
/// assert_eq!((chunks[1].position(), chunks[1].shape()), (&[0, 1][..], vec![2, 1]));
/// assert_eq!(chunks[1].selection().to_string(), "0:2, 2:3");
/// assert_eq!(chunks[1].read_items::<u8>()?, [3, 6]);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Chunk<'a> {
    array: &'a Array,
    number: u64,
    position: Vec<u64>,
    start: Vec<u64>,
    stop: Vec<u64>,
    /// Whether its items are read on the thread that asks: the others have chunks of their own.
    alone: bool,
}

impl<'a> Chunk<'a> {
    fn new(array: &'a Array, number: u64, alone: bool) -> Self {
        let position = array.grid.chunk_position(number);
        let (start, stop) = array.grid.chunk_box(&position);
        Chunk { array, number, position, start, stop, alone }
    }

    /// The array.
    pub fn array(&self) -> &'a Array {
        self.array
    }
    /// The number of the chunk in its frame, as [`SChunk::chunk`](crate::schunk::FrameState::chunk) takes it.
    pub fn number(&self) -> u64 {
        self.number
    }
    /// Index of the chunk along each axis of the grid of chunks.
    pub fn position(&self) -> &[u64] {
        &self.position
    }
    /// The first item of the chunk along each axis.
    pub fn start(&self) -> &[u64] {
        &self.start
    }
    /// One past its last item along each axis; padding does not count.
    pub fn stop(&self) -> &[u64] {
        &self.stop
    }
    /// The number of its items along each axis: the chunk shape, less at the edges.
    pub fn shape(&self) -> Vec<u64> {
        self.start.iter().zip(&self.stop).map(|(start, stop)| stop - start).collect()
    }
    /// The number of its items.
    pub fn size(&self) -> u64 {
        self.start.iter().zip(&self.stop).map(|(start, stop)| stop - start).product()
    }
    /// The selection that reads its items from the array.
    pub fn selection(&self) -> Selection {
        Selection::from_box(&self.start, &self.stop)
    }

    /// The bytes of the one item that all items of the chunk are, where the file says so (zeros, NaN, never written, a
    /// repeated value); `None` for other chunks. Of a chunk that is stored no more than the head is read.
    ///
    /// ```
    /// use b2nd::{Dtype, Fill, Options};
    /// let a = Options::new().with_fill(Fill::Value(vec![7, 0])).create_in_memory(Dtype::of::<u16>(), [3])?;
    /// assert_eq!(a.iter_chunks().next().map(|chunk| chunk.value()).transpose()?.flatten(), Some(vec![7, 0]));
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::read_bytes`].
    pub fn value(&self) -> Result<Option<Vec<u8>>> {
        let look = |scratch: &mut Scratch| blocks::look(self.array, self.number, scratch);
        match self.array.schunk.exec().with_scratch(look).map_err(|error| self.located(error))? {
            ChunkContent::Repeat(item) => Ok(Some(item)),
            ChunkContent::Blocks(_) => Ok(None),
        }
    }

    /// The items as bytes: C order, the dtype's own byte order.
    ///
    /// # Errors
    /// As [`Array::read_bytes`].
    pub fn read_bytes(&self) -> Result<Vec<u8>> {
        let bytes = self.size().saturating_mul(self.array.grid.itemsize() as u64);
        Limits::check("the items of a chunk", bytes, self.array.schunk.limits().max_read_bytes())?;
        let mut out = zeroed("the items of a chunk", bytes)?;
        self.read_bytes_into(&mut out)?;
        Ok(out)
    }

    /// As [`Chunk::read_bytes`], into a buffer of exactly the right size.
    ///
    /// # Errors
    /// As [`Array::read_bytes_into`].
    pub fn read_bytes_into(&self, out: &mut [u8]) -> Result<()> {
        if !self.alone {
            return self.array.read_bytes_into(self.selection(), out);
        }
        let bytes = self.size().saturating_mul(self.array.grid.itemsize() as u64);
        if out.len() as u64 != bytes {
            return Err(Error::length(
                bytes,
                out.len(),
                format!("the buffer has {} bytes, and the chunk needs {bytes}", out.len()),
            ));
        }
        let read = |scratch: &mut Scratch| match blocks::look(self.array, self.number, scratch)? {
            ChunkContent::Repeat(item) => {
                out.chunks_exact_mut(item.len().max(1)).for_each(|place| place.copy_from_slice(&item));
                Ok(())
            }
            ChunkContent::Blocks(found) => self.decode(&found, out, scratch),
        };
        self.array.schunk.exec().with_scratch(read).map_err(|error| self.located(error))?;
        self.array.schunk.exec().progress(bytes);
        Ok(())
    }

    /// Decodes each block on this thread, and copies its items to their place.
    fn decode(&self, found: &ChunkBlocks, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let (array, grid) = (self.array, &self.array.grid);
        let lengths: Vec<usize> = self.shape().iter().map(|&n| n as usize).collect();
        let strides = Grid::strides(&lengths, grid.itemsize());
        let from: Vec<isize> = grid.block_strides().iter().map(|&stride| stride as isize).collect();
        let region = |n: usize| grid.block_box(&self.position, &grid.block_position(n));
        let holds = |n: usize| {
            let (start, stop) = region(n);
            start.iter().zip(&stop).all(|(start, stop)| start < stop)
        };
        let wanted: Vec<usize> = (0..grid.blocks_per_chunk()).filter(|&n| holds(n)).collect();
        let mut block = std::mem::take(&mut scratch.block);
        crate::limits::resize("a block", &mut block, grid.block_bytes())?;
        let result = found.decode(array, &wanted, &mut block, scratch, |at, block| {
            let (start, stop) = region(wanted.get(at).copied().unwrap_or(0));
            let shape: Vec<usize> =
                start.iter().zip(&stop).map(|(start, stop)| (stop - start) as usize).collect();
            let apart = start.iter().zip(&self.start).zip(&strides);
            let place = apart.map(|((start, first), stride)| (start - first) as usize * stride).sum();
            let source = Source { bytes: block, offset: 0, strides: &from };
            if copy_box(grid.itemsize(), &shape, out, place, &strides, source) {
                Ok(())
            } else {
                Err(Error::format(Part::Stream, None, "the block is shorter than the array's block shape"))
            }
        });
        scratch.block = block;
        result
    }

    /// The items as a Rust type, in C order.
    ///
    /// # Errors
    /// As [`Array::read_items`].
    pub fn read_items<T: Element>(&self) -> Result<Vec<T>> {
        if !T::reads(self.array.dtype()) {
            let dtype = self.array.dtype();
            return Err(Error::dtype(
                dtype,
                T::dtype(),
                format!("the items are {dtype}, and {} was requested", T::dtype()),
            ));
        }
        let bytes = self.size().saturating_mul(self.array.grid.itemsize() as u64);
        Limits::check("the items of a chunk", bytes, self.array.schunk.limits().max_read_bytes())?;
        // A chunk has fewer than 2^31 bytes.
        let mut items = T::zeroed(self.size() as usize)?;
        T::fill_from(&mut items, |bytes| {
            self.read_bytes_into(bytes)?;
            self.array.dtype().swap_to_native(bytes)
        })?;
        Ok(items)
    }

    fn located(&self, error: Error) -> Error {
        error.in_chunk(self.number).at(self.array.schunk.path())
    }
}

impl Array {
    /// The chunks, in the order of their numbers (C order of the grid). The items of each are read on all threads.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().with_chunks([4]).create_in_memory(Dtype::of::<i32>(), [10])?;
    /// a.write_items(s![3..5], &[1, 2])?;
    /// for chunk in a.iter_chunks() {
    ///     println!("{}: all the same: {}", chunk.selection(), chunk.value()?.is_some());
    /// }
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn iter_chunks(&self) -> impl DoubleEndedIterator<Item = Chunk<'_>> {
        (0..self.grid.nchunks()).map(|number| Chunk::new(self, number, false))
    }

    /// Calls `work` for each chunk, on the threads of the array's [`Exec`], in no order; each reads its items on its own
    /// thread, so that every chunk is decoded once by whoever asks for it. The first error, or a cancellation, ends it.
    ///
    /// What `work` gathers in shared memory should not depend on the order: keep a place for each chunk, or sum integers.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// let mut a = Options::new().with_chunks([100]).create_in_memory(Dtype::of::<u64>(), [1000])?;
    /// a.write_items(s![], &(0..1000).collect::<Vec<u64>>())?;
    /// let odd = AtomicU64::new(0);
    /// a.par_chunks(|chunk| {
    ///     let found = chunk.read_items::<u64>()?.iter().filter(|&&x| x % 2 == 1).count();
    ///     odd.fetch_add(found as u64, Ordering::Relaxed);
    ///     Ok(())
    /// })?;
    /// assert_eq!(odd.into_inner(), 500);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// What `work` returns first, and [`Error::Cancelled`].
    pub fn par_chunks(&self, work: impl Fn(&Chunk<'_>) -> Result<()> + Sync) -> Result<()> {
        let exec: &Exec = self.schunk.exec();
        let tasks = usize::try_from(self.grid.nchunks())
            .map_err(|_| Error::too_large(usize::MAX, "more chunks than this machine can count"))?;
        // The effort of the closure is unknown, so it counts as large.
        exec.run(tasks, u64::MAX, |_, number| work(&Chunk::new(self, number as u64, true)))
    }
}
