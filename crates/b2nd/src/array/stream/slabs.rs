//! Along which axis an array is streamed, how long it is, and what that may cost.

use crate::array::grid::Grid;
use crate::array::partition::DEFAULT_CHUNK_BYTES;
use crate::array::partition::partition_within;
use crate::array::shape::Shape;
use crate::error::Error;
use crate::error::Result;

/// An array that comes as slabs along one axis: see [`Options::stream`](crate::Options::stream).
///
/// ```
/// use b2nd::Slabs;
/// let year = Slabs::along(0, [365, 721, 1440]);
/// let until_it_stops = Slabs::growing(0, [0, 721, 1440]).with_memory(64 << 20);
/// # let _ = (year, until_it_stops);
/// ```
#[derive(Debug, Clone)]
pub struct Slabs {
    pub(super) axis: usize,
    pub(super) shape: Shape,
    pub(super) grows: bool,
    memory: Option<u64>,
}

/// What a writer takes, as it was planned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    /// Chunks that are being filled, or wait to be compressed.
    pub(super) buffers: usize,
    /// Threads that compress, the caller's among them.
    pub(super) threads: usize,
    /// All of it in bytes.
    pub(super) bytes: u64,
}

impl Slabs {
    /// An array of a known shape: exactly `shape[axis]` items have to come along the axis.
    pub fn along(axis: usize, shape: impl Into<Shape>) -> Self {
        Slabs { axis, shape: shape.into(), grows: false, memory: None }
    }
    /// An array that ends where the slabs end. `shape[axis]` is only a guess, for the chunk shape; 0 is as good.
    pub fn growing(axis: usize, shape: impl Into<Shape>) -> Self {
        Slabs { axis, shape: shape.into(), grows: true, memory: None }
    }
    /// Sets how many bytes the writer may take; 256 MiB by default, or what a row of the given chunks needs.
    ///
    /// It takes `B·C + 3·T·D + T·S` bytes: `B` chunk buffers of `C` bytes (`C`: a chunk with its padding), at least one more
    /// than lie beside each other in a row of chunks across the axis; for each of the `T` threads of
    /// [`Exec`](crate::Exec) up to three compressed chunks, `D` being `C` and a block and 4 bytes for each block more;
    /// and `S`, six blocks of working memory. As many buffers are made as fit, up to two rows and two chunks for each thread;
    /// where few fit, fewer threads work.
    ///
    /// Not counted: the tables of the codecs (the most is some MiB a thread, for the high levels of zstd), the slabs, which
    /// are the caller's, the index, which grows by 24 bytes for each chunk (8 of them in the file) and takes up to 64
    /// during a commit, and checksums, which take 8 bytes for each block and 64 for each chunk, and five times that during a
    /// commit. An array in memory has its compressed bytes there as well.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    const DEFAULT_MEMORY: u64 = 256 << 20;

    /// Chunk and block shapes: of those that are not given, a row of chunks takes at most a quarter of the memory.
    pub(in crate::array) fn partition(
        &self,
        itemsize: usize,
        chunks: Option<&[u64]>,
        blocks: Option<&[u64]>,
    ) -> Result<(Vec<u64>, Vec<u64>)> {
        let own = self.shape.lengths()?;
        let Some(&length) = own.get(self.axis) else {
            let ndim = own.len();
            return Err(Error::out_of_bounds(
                self.axis,
                ndim,
                format!("there is no axis {} in {ndim} dimensions", self.axis),
            ));
        };
        if own.iter().enumerate().any(|(axis, &n)| n == 0 && axis != self.axis) {
            return Err(Error::usage("an array without items cannot be streamed: make it with `create`"));
        }
        let memory = self.memory.unwrap_or(Self::DEFAULT_MEMORY);
        let across = own.iter().enumerate().filter(|(axis, _)| *axis != self.axis);
        let slab = across.fold(itemsize as u64, |bytes, (_, &n)| bytes.saturating_mul(n));
        let row = (memory / 4).checked_div(slab).unwrap_or(1).clamp(1, i32::MAX as u64);
        let mut shape = own.to_vec();
        shape[self.axis] = if length == 0 { row } else { length.min(row) };
        partition_within(&shape, itemsize, chunks, blocks, DEFAULT_CHUNK_BYTES.min(memory / 32))
    }

    /// The geometry of the array before the first slab.
    pub(in crate::array) fn empty_grid(
        &self,
        chunks: &[u64],
        blocks: &[u64],
        itemsize: usize,
    ) -> Result<Grid> {
        // The whole is checked first: nobody wants to hear of it at the end.
        let mut shape = self.shape.lengths()?.to_vec();
        Grid::new(&shape, chunks, blocks, itemsize)?;
        shape[self.axis] = 0;
        Grid::new(&shape, chunks, blocks, itemsize)
    }

    /// How many buffers and threads the memory has room for.
    pub(super) fn budget(&self, grid: &Grid, row: usize, threads: usize) -> Result<Budget> {
        let chunk = grid.chunk_bytes() as u64;
        let block = grid.block_bytes() as u64;
        let of_thread = 3 * packed_bytes(grid) as u64 + 6 * block;
        let cost = |buffers: u64, threads: u64| {
            buffers.saturating_mul(chunk).saturating_add(threads.saturating_mul(of_thread))
        };
        let (row, threads) = (row as u64, threads as u64);
        let least = row.saturating_add(1);
        let wanted = row.saturating_add(row.max(2 * threads));
        let memory = match self.memory {
            Some(memory) => memory,
            None => Self::DEFAULT_MEMORY.max(cost(least.max(wanted.min(row + 2 * threads)), threads)),
        };
        let Some(threads) = (1..=threads.max(1)).rev().find(|&threads| cost(least, threads) <= memory) else {
            return Err(Error::usage(format!(
                "a row of {row} chunks of {chunk} bytes takes {} bytes to stream, and {memory} are allowed: \
                 allow more, or make the chunks shorter along axis {}",
                cost(least, 1),
                self.axis
            )));
        };
        let room = memory.saturating_sub(cost(0, threads)).checked_div(chunk).unwrap_or(least);
        let buffers = room.clamp(least, wanted.max(least));
        Ok(Budget { buffers: buffers as usize, threads: threads as usize, bytes: cost(buffers, threads) })
    }
}

/// The most bytes that a compressed chunk takes while it is made: its data, a block too many, headers and block offsets.
pub(super) fn packed_bytes(grid: &Grid) -> usize {
    // A block may be split into streams, each with a length before it.
    let lengths = 4 * grid.itemsize().min(255) + 64;
    grid.chunk_bytes() + grid.block_bytes() + 4 * grid.blocks_per_chunk() + lengths
}
