//! The geometry of an array: shape, chunks and blocks, and where an item lies. Pure arithmetic, checked once when made.

use crate::array::selection::Line;
use crate::array::selection::Pick;
use crate::error::Error;
use crate::error::Result;
use crate::limits::Limits;
use crate::limits::MAX_NDIM;
use crate::limits::reserved;

/// The most bytes that a chunk may have uncompressed; what is written stays 32 below, so that it can be stored raw.
const MAX_CHUNK_BYTES: u64 = (1 << 31) - 1;
/// The most bytes that a block may have in a file that is written.
const MAX_BLOCK_BYTES: u64 = 536_866_816;

/// Shape and two-level partition, with what follows from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grid {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    blocks: Vec<u64>,
    itemsize: usize,
    /// Chunks along each axis.
    chunk_grid: Vec<u64>,
    /// Blocks along each axis of a chunk.
    block_grid: Vec<u64>,
    /// For each axis, the difference between the numbers of neighbouring chunks.
    chunk_number_strides: Vec<u64>,
    /// For each axis, the difference between the numbers of neighbouring blocks.
    block_number_strides: Vec<u64>,
    /// The distance in bytes between neighbours along each axis of a block.
    block_strides: Vec<usize>,
    /// Whether the items of a block follow each other in C order of these axes.
    in_turn: bool,
    size: u64,
    nchunks: u64,
    block_bytes: usize,
    chunk_bytes: usize,
}

/// The part of a selection along one axis that lies in one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Index of the chunk along this axis.
    pub(crate) chunk: u64,
    /// The block along this axis of the chunk.
    pub(crate) block: u64,
    /// The first taken index, inside the block; 0 for a list.
    pub(crate) first: usize,
    /// The place of that item in the result; with a list, among its ascending indices.
    pub(crate) out: usize,
    /// The number of items taken.
    pub(crate) count: usize,
}

fn product(what: &str, lengths: &[u64], start: u64, most: u64) -> Result<u64> {
    if lengths.contains(&0) {
        return Ok(0);
    }
    lengths.iter().try_fold(start, |total, &n| total.checked_mul(n)).filter(|&total| total <= most).ok_or_else(|| {
        Error::too_large(most, format!("{what} of {lengths:?} items of {start} bytes is more than the {most} bytes that the format allows"))
    })
}

impl Grid {
    /// Checks the numbers against each other and the format's bounds.
    ///
    /// # Errors
    /// Errors of the caller; the reader of a file turns them into an [`Error::Format`].
    pub(crate) fn new(shape: &[u64], chunks: &[u64], blocks: &[u64], itemsize: usize) -> Result<Self> {
        let ndim = shape.len();
        if ndim > MAX_NDIM {
            return Err(Error::above(
                MAX_NDIM,
                ndim,
                format!(
                    "{ndim} dimensions are more than the {MAX_NDIM} that the format allows: join some of them"
                ),
            ));
        }
        for (name, lengths) in [("chunks", chunks), ("blocks", blocks)] {
            if lengths.len() != ndim {
                return Err(Error::ndim(
                    ndim,
                    lengths.len(),
                    format!(
                        "{name} {lengths:?} name {} axes, and the shape {shape:?} has {ndim}",
                        lengths.len()
                    ),
                ));
            }
        }
        if itemsize == 0 {
            return Err(Error::usage("items of 0 bytes cannot be stored"));
        }
        for axis in 0..ndim {
            let (length, chunk, block) = (shape[axis], chunks[axis], blocks[axis]);
            if (chunk == 0 || block == 0) && length > 0 {
                return Err(Error::usage(format!(
                    "a chunk or block of length 0 on axis {axis}, which has {length} items: give it 1 or more"
                )));
            }
            if length > i64::MAX as u64 || chunk > i32::MAX as u64 || block > i32::MAX as u64 {
                return Err(Error::too_large(
                    i64::MAX as u64,
                    format!("axis {axis} is longer than the format allows"),
                ));
            }
        }
        let item = itemsize as u64;
        product("an array", shape, item, i64::MAX as u64)?;
        let div = |a: &[u64], b: &[u64]| -> Vec<u64> {
            a.iter().zip(b).map(|(&a, &b)| if b == 0 { 0 } else { a.div_ceil(b) }).collect()
        };
        let chunk_grid = div(shape, chunks);
        let block_grid = div(chunks, blocks);
        let extended: Vec<u64> = block_grid.iter().zip(blocks).map(|(&n, &b)| n * b).collect();
        let block_bytes = product("a block", blocks, item, MAX_CHUNK_BYTES)?;
        let chunk_bytes = product("a chunk", &extended, item, MAX_CHUNK_BYTES)?;
        let nchunks = product("the grid of chunks", &chunk_grid, 1, i64::MAX as u64)?;
        Ok(Grid {
            size: product("an array", shape, 1, i64::MAX as u64)?,
            shape: shape.to_vec(),
            chunks: chunks.to_vec(),
            blocks: blocks.to_vec(),
            itemsize,
            chunk_number_strides: number_strides(&chunk_grid),
            block_number_strides: number_strides(&block_grid),
            block_strides: Grid::strides(&blocks.iter().map(|&b| b as usize).collect::<Vec<_>>(), itemsize),
            in_turn: true,
            chunk_grid,
            block_grid,
            nchunks,
            // Both fit: they are at most 2^31.
            block_bytes: block_bytes as usize,
            chunk_bytes: chunk_bytes as usize,
        })
    }

    /// The geometry of a view of the stored items with other axes. Each names an axis of this grid, or none for a new
    /// one of length 1. Axes that are left out have length 1, and their index is 0.
    ///
    /// Items, chunks and blocks have the same numbers in both. Sizes of whole chunks
    /// or blocks are those that are stored, even if an omitted axis has chunks or blocks of
    /// more than one item, which hold padding.
    pub(crate) fn arranged(&self, axes: &[Option<usize>]) -> Grid {
        let arranged = |of: &[u64], new: u64| -> Vec<u64> {
            axes.iter().map(|axis| axis.and_then(|d| of.get(d).copied()).unwrap_or(new)).collect()
        };
        let strides =
            |&axis: &Option<usize>| axis.and_then(|d| self.block_strides.get(d).copied()).unwrap_or(0);
        let mut grid = Grid {
            shape: arranged(&self.shape, 1),
            chunks: arranged(&self.chunks, 1),
            blocks: arranged(&self.blocks, 1),
            chunk_grid: arranged(&self.chunk_grid, 1),
            block_grid: arranged(&self.block_grid, 1),
            chunk_number_strides: arranged(&self.chunk_number_strides, 0),
            block_number_strides: arranged(&self.block_number_strides, 0),
            block_strides: axes.iter().map(strides).collect(),
            ..self.clone()
        };
        let mut due = grid.itemsize;
        grid.in_turn = grid.block_strides.iter().zip(&grid.blocks).rev().all(|(&stride, &length)| {
            let dense = length == 1 || stride == due;
            due = due.saturating_mul(length as usize);
            dense
        }) && due == grid.block_bytes;
        grid
    }

    /// Checks the bounds for writing, which are tighter than those for reading.
    pub(crate) fn check_writable(&self) -> Result<()> {
        for (what, found, most) in [
            ("a block", self.block_bytes as u64, MAX_BLOCK_BYTES),
            ("a chunk", self.chunk_bytes as u64, MAX_CHUNK_BYTES - 32),
        ] {
            if found > most {
                return Err(Error::above(
                    most,
                    found,
                    format!(
                        "{what} of {found} bytes is more than the {most} that can be written: make it shorter along an axis"
                    ),
                ));
            }
        }
        Ok(())
    }

    pub(crate) fn shape(&self) -> &[u64] {
        &self.shape
    }
    pub(crate) fn chunks(&self) -> &[u64] {
        &self.chunks
    }
    pub(crate) fn blocks(&self) -> &[u64] {
        &self.blocks
    }
    pub(crate) fn itemsize(&self) -> usize {
        self.itemsize
    }
    pub(crate) fn ndim(&self) -> usize {
        self.shape.len()
    }
    /// The number of items.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }
    /// The number of chunks; 0 when an axis has length 0.
    pub(crate) fn nchunks(&self) -> u64 {
        self.nchunks
    }
    /// The number of chunks along an axis.
    pub(crate) fn chunk_count(&self, axis: usize) -> u64 {
        self.chunk_grid[axis]
    }
    /// Bytes of a block, padding included.
    pub(crate) fn block_bytes(&self) -> usize {
        self.block_bytes
    }
    /// Bytes of a chunk, padding included.
    pub(crate) fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }
    /// An error if a write would make chunks that the limits forbid to read.
    pub(crate) fn check_chunk(&self, limits: &Limits) -> Result<()> {
        Limits::check("a chunk of the array", self.chunk_bytes as u64, limits.max_chunk_bytes())
    }
    pub(crate) fn blocks_per_chunk(&self) -> usize {
        self.chunk_bytes.checked_div(self.block_bytes).unwrap_or(0)
    }

    /// The number of the chunk at a position of the chunk grid.
    pub(crate) fn chunk_number(&self, position: impl Iterator<Item = u64>) -> u64 {
        self.chunk_number_strides.iter().zip(position).map(|(&step, at)| step * at).sum()
    }
    /// The number of the block at a position of the block grid.
    pub(crate) fn block_number(&self, position: impl Iterator<Item = u64>) -> usize {
        self.block_number_strides.iter().zip(position).map(|(&step, at)| step * at).sum::<u64>() as usize
    }
    /// The position of chunk `number` in the chunk grid.
    pub(crate) fn chunk_position(&self, number: u64) -> Vec<u64> {
        position(number, &self.chunk_number_strides, &self.chunk_grid)
    }
    /// The position of block `number` in the block grid.
    pub(crate) fn block_position(&self, number: usize) -> Vec<u64> {
        position(number as u64, &self.block_number_strides, &self.block_grid)
    }

    /// First item of block `number` in its chunk along `axis`, and the block length, in items.
    pub(crate) fn block_along(&self, axis: usize, number: u64) -> (u64, u64) {
        let at = place(number, self.block_number_strides[axis], self.block_grid[axis]);
        (at * self.blocks[axis], self.blocks[axis])
    }

    /// The items of the array in a chunk: first and one past the last index along each axis, without padding.
    pub(crate) fn chunk_box(&self, position: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let start: Vec<u64> = position.iter().zip(&self.chunks).map(|(&at, &c)| at * c).collect();
        let stop = (0..self.ndim()).map(|d| (start[d] + self.chunks[d]).min(self.shape[d])).collect();
        (start, stop)
    }
    /// The items of the array in a block of a chunk; empty (`start >= stop` on some axis) when it is all padding.
    pub(crate) fn block_box(&self, chunk: &[u64], block: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let (first, end) = self.chunk_box(chunk);
        let start: Vec<u64> = (0..self.ndim()).map(|d| first[d] + block[d] * self.blocks[d]).collect();
        let stop = (0..self.ndim())
            .map(|d| (start[d] + self.blocks[d]).min(end[d]).max(start[d].min(end[d])))
            .collect();
        (start, stop)
    }

    /// The strides in bytes of a C-order box.
    pub(crate) fn strides(lengths: &[usize], itemsize: usize) -> Vec<usize> {
        let mut strides = vec![itemsize; lengths.len()];
        for axis in (1..lengths.len()).rev() {
            strides[axis - 1] = strides[axis].saturating_mul(lengths[axis]);
        }
        strides
    }
    /// The distance in bytes between neighbours along each axis of a block.
    pub(crate) fn block_strides(&self) -> &[usize] {
        &self.block_strides
    }
    /// Whether the items of a block, all of them, follow each other in C order of these axes.
    pub(crate) fn is_in_turn(&self) -> bool {
        self.in_turn
    }
    /// The block shape as buffer lengths.
    pub(crate) fn block_lengths(&self) -> Vec<usize> {
        self.blocks.iter().map(|&b| b as usize).collect()
    }
    /// The block shape for codecs and filters. Lengths that overflow belong to blocks without items, which are never
    /// filtered.
    pub(crate) fn block_shape(&self) -> Vec<u32> {
        self.blocks.iter().map(|&length| u32::try_from(length).unwrap_or(u32::MAX)).collect()
    }

    /// At least as many segments as [`Grid::segments`] cuts an axis into, and not many times more.
    pub(crate) fn most_segments(&self, axis: usize, pick: &Pick) -> u64 {
        let span = match pick {
            Pick::Line(line) => line.count.saturating_sub(1).saturating_mul(line.step.unsigned_abs()),
            Pick::List(list) => list.indices.last().zip(list.indices.first()).map_or(0, |(b, a)| b - a),
        };
        // Ends of blocks and ends of chunks cut; so do the steps that leave blocks out.
        let cuts = |length: u64| span.checked_div(length).unwrap_or(0).saturating_add(1);
        cuts(self.blocks[axis]).saturating_add(cuts(self.chunks[axis])).saturating_add(1).min(pick.count())
    }

    /// Cuts a pick along `axis` at block borders. The pick must lie inside the axis.
    pub(crate) fn segments(&self, axis: usize, pick: &Pick) -> Result<Vec<Segment>> {
        let most = usize::try_from(self.most_segments(axis, pick)).unwrap_or(usize::MAX);
        let mut segments = reserved("the plan of a selection", most)?;
        match pick {
            Pick::Line(line) => self.cut_line(axis, *line, &mut segments),
            Pick::List(list) => {
                let mut out = 0;
                for run in list.indices.chunk_by(|&a, &b| self.block_of(axis, a) == self.block_of(axis, b)) {
                    let (chunk, block, _) = self.split(axis, run.first().copied().unwrap_or(0));
                    segments.push(Segment { chunk, block, first: 0, out, count: run.len() });
                    out += run.len();
                }
            }
        }
        Ok(segments)
    }

    /// The chunk of an index along `axis`, the block in it, and the place in the block.
    pub(crate) fn split(&self, axis: usize, index: u64) -> (u64, u64, u64) {
        let (chunk_len, block_len) = (self.chunks[axis], self.blocks[axis]);
        let in_chunk = index % chunk_len;
        (index / chunk_len, in_chunk / block_len, in_chunk % block_len)
    }

    /// The chunk of the item at a flat C-order position inside the array, the block in it, and the place in the block.
    pub(crate) fn locate(&self, mut position: u64) -> (u64, u32, u32) {
        let mut found = [0; 3];
        for axis in (0..self.ndim()).rev() {
            let length = self.shape[axis].max(1);
            let (chunk, block, inside) = self.split(axis, position % length);
            position /= length;
            found[0] += chunk * self.chunk_number_strides[axis];
            found[1] += block * self.block_number_strides[axis];
            found[2] += inside * self.block_strides[axis] as u64;
        }
        // A chunk has less than 2^31 bytes.
        (found[0], found[1] as u32, (found[2] / self.itemsize as u64) as u32)
    }

    fn block_of(&self, axis: usize, index: u64) -> (u64, u64) {
        let (chunk, block, _) = self.split(axis, index);
        (chunk, block)
    }

    fn cut_line(&self, axis: usize, line: Line, segments: &mut Vec<Segment>) {
        let (chunk_len, block_len) = (self.chunks[axis], self.blocks[axis]);
        let stride = line.step.unsigned_abs();
        let mut done = 0;
        while done < line.count {
            let walked = done * stride;
            let at = if line.step > 0 { line.start + walked } else { line.start - walked };
            let chunk = at / chunk_len;
            let in_chunk = at % chunk_len;
            let block = in_chunk / block_len;
            let first = in_chunk % block_len;
            // How far the block reaches in the direction of the walk; a block ends early at the end of its chunk.
            let reach = if line.step > 0 { (block_len - first).min(chunk_len - in_chunk) - 1 } else { first };
            let count = (reach / stride + 1).min(line.count - done);
            segments.push(Segment {
                chunk,
                block,
                first: first as usize,
                out: done as usize,
                count: count as usize,
            });
            done += count;
        }
    }
}

/// For each axis of a C-order grid, the difference between the numbers of neighbouring items.
fn number_strides(lengths: &[u64]) -> Vec<u64> {
    let mut strides = vec![1; lengths.len()];
    for axis in (1..lengths.len()).rev() {
        // Only of a grid without items does it not fit.
        strides[axis - 1] = lengths[axis].saturating_mul(strides[axis]);
    }
    strides
}

/// The position of item `number` in a grid with these number strides.
fn position(number: u64, strides: &[u64], lengths: &[u64]) -> Vec<u64> {
    strides.iter().zip(lengths).map(|(&stride, &length)| place(number, stride, length)).collect()
}

/// The same along one axis.
fn place(number: u64, step: u64, length: u64) -> u64 {
    number.checked_div(step).and_then(|at| at.checked_rem(length)).unwrap_or(0)
}

/// The axes that `axes` name, negative ones from the end, each at most once.
pub(crate) fn named_axes(axes: &[i64], ndim: usize) -> Result<Vec<usize>> {
    let mut seen = vec![false; ndim];
    let absolute = |&axis: &i64| {
        let from_start = if axis < 0 { axis.saturating_add(ndim as i64) } else { axis };
        let at = usize::try_from(from_start).ok();
        let Some((at, seen)) = at.and_then(|at| Some((at, seen.get_mut(at)?))) else {
            return Err(Error::out_of_bounds(
                axis,
                ndim,
                format!("axis {axis} of an array with {ndim} axes does not exist"),
            ));
        };
        if std::mem::replace(seen, true) {
            return Err(Error::usage(format!("axis {axis} is named twice")));
        }
        Ok(at)
    };
    axes.iter().map(absolute).collect()
}

/// The position of item `number` in a C-order grid.
pub(crate) fn unravel(mut number: u64, lengths: &[u64]) -> Vec<u64> {
    let mut position = vec![0; lengths.len()];
    for (at, &n) in position.iter_mut().zip(lengths).rev() {
        if n > 0 {
            *at = number % n;
            number /= n;
        }
    }
    position
}

/// Steps through the positions of a C-order grid, last axis fastest; `false` after the last.
#[cfg(test)]
fn advance(position: &mut [usize], lengths: &[usize]) -> bool {
    for (at, &n) in position.iter_mut().zip(lengths).rev() {
        *at += 1;
        if *at < n {
            return true;
        }
        *at = 0;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::selection::List;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn segments_find_every_item_where_division_does(
            length in 1u64..60, chunk in 1u64..25, block in 1u64..25, start in 0u64..60, step in 1u64..20, back in any::<bool>(),
        ) {
            let block = block.min(chunk);
            let grid = Grid::new(&[length], &[chunk], &[block], 1).unwrap();
            let start = start % length;
            let count = if back { start / step + 1 } else { (length - 1 - start) / step + 1 };
            let signed = if back { -(step as i64) } else { step as i64 };
            let mut items = Vec::new();
            let line = Pick::Line(Line { start, step: signed, count });
            let segments = grid.segments(0, &line).unwrap();
            prop_assert!(segments.len() as u64 <= grid.most_segments(0, &line));
            for s in segments {
                prop_assert_eq!(s.out, items.len());
                for k in 0..s.count as i64 {
                    let inside = s.first as i64 + k * signed;
                    prop_assert!(inside >= 0 && inside < block as i64);
                    items.push(s.chunk as i64 * chunk as i64 + s.block as i64 * block as i64 + inside);
                }
            }
            let naive: Vec<i64> = (0..count as i64).map(|k| start as i64 + k * signed).collect();
            prop_assert_eq!(items, naive);
        }

        #[test]
        fn segments_of_a_list_are_its_blocks(
            chunk in 1u64..25, block in 1u64..25, mut indices in proptest::collection::vec(0u64..60, 1..40),
        ) {
            let block = block.min(chunk);
            let grid = Grid::new(&[60], &[chunk], &[block], 1).unwrap();
            indices.sort_unstable();
            let pick = Pick::List(List { indices: indices.clone(), order: None });
            let segments = grid.segments(0, &pick).unwrap();
            prop_assert!(segments.len() as u64 <= grid.most_segments(0, &pick));
            let blocks: Vec<(u64, u64)> = segments.iter().map(|s| (s.chunk, s.block)).collect();
            prop_assert!(blocks.is_sorted_by(|a, b| a < b));
            for s in segments {
                for index in &indices[s.out..s.out + s.count] {
                    prop_assert_eq!((index / chunk, index % chunk / block), (s.chunk, s.block));
                }
            }
        }

        #[test]
        fn each_item_lies_in_exactly_one_block_box(
            shape in proptest::collection::vec(0u64..7, 0..4), chunk in 1u64..5, block in 1u64..5,
        ) {
            let chunks: Vec<u64> = shape.iter().map(|_| chunk).collect();
            let blocks: Vec<u64> = shape.iter().map(|_| block.min(chunk)).collect();
            let grid = Grid::new(&shape, &chunks, &blocks, 2).unwrap();
            let mut seen = vec![0; grid.size() as usize];
            for n in 0..grid.nchunks() {
                for b in 0..grid.blocks_per_chunk() {
                    let (start, stop) = grid.block_box(&grid.chunk_position(n), &grid.block_position(b));
                    let lengths: Vec<usize> = start.iter().zip(&stop).map(|(a, b)| b.saturating_sub(*a) as usize).collect();
                    if lengths.contains(&0) {
                        continue;
                    }
                    let mut at = vec![0; lengths.len()];
                    loop {
                        let flat = (0..shape.len()).fold(0, |f, d| f * shape[d] + start[d] + at[d] as u64);
                        seen[flat as usize] += 1;
                        if !advance(&mut at, &lengths) {
                            break;
                        }
                    }
                }
            }
            prop_assert!(seen.iter().all(|&n| n == 1));
        }
    }

    #[test]
    fn what_the_format_does_not_allow_is_refused() {
        assert!(Grid::new(&[1; 17], &[1; 17], &[1; 17], 1).is_err());
        assert!(Grid::new(&[4], &[0], &[0], 1).is_err());
        assert!(Grid::new(&[4, 4], &[2], &[2], 1).is_err());
        assert!(Grid::new(&[65536, 65536], &[65536, 65536], &[65536, 65536], 1).is_err());
        assert!(Grid::new(&[u64::MAX], &[1], &[1], 1).is_err());
        assert!(Grid::new(&[1 << 40, 1 << 40], &[1, 1], &[1, 1], 1).is_err());
        assert!(Grid::new(&[4], &[2], &[2], 0).is_err());
        let scalar = Grid::new(&[], &[], &[], 8).unwrap();
        assert_eq!(
            (scalar.size(), scalar.nchunks(), scalar.chunk_bytes(), scalar.blocks_per_chunk()),
            (1, 1, 8, 1)
        );
        let empty = Grid::new(&[0, 5], &[0, 5], &[0, 5], 8).unwrap();
        assert_eq!((empty.size(), empty.nchunks(), empty.chunk_bytes()), (0, 0, 0));
    }
}
