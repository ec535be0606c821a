//! Chooses chunk and block shapes.
//!
//! The axis of which the largest share is left is halved, repeatedly, until the piece is small enough. So
//! each axis is cut into about as many pieces as the others, and a slice along any of them reads about the same share of
//! the array. Rows of the last axis are kept long enough to be copied fast.
//! Halving leaves pieces that divide the shape almost evenly, so little is spent on padding.

use crate::array::grid::Grid;
use crate::error::Error;
use crate::error::Result;

/// The size in bytes that an automatic chunk does not exceed.
pub const DEFAULT_CHUNK_BYTES: u64 = 8 << 20;
/// The size in bytes that an automatic block does not exceed.
pub const DEFAULT_BLOCK_BYTES: u64 = 128 << 10;
/// Rows of at most this many bytes are kept whole: such as the colours of a picture, the columns of a table.
const SHORTEST_ROW: u64 = 256;

/// Chunk shape and block shape together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Partition {
    pub(crate) chunks: Vec<u64>,
    pub(crate) blocks: Vec<u64>,
}

impl Partition {
    /// That of an array.
    pub(crate) fn of(grid: &Grid) -> Self {
        Partition { chunks: grid.chunks().to_vec(), blocks: grid.blocks().to_vec() }
    }
}

/// Chunk and block shapes for an array: given ones are kept, others are chosen.
///
/// ```
/// use b2nd::array::partition;
/// let (chunks, blocks) = partition(&[96, 721, 1440], 4, None, None)?;
/// assert_eq!((chunks, blocks), (vec![24, 184, 360], vec![6, 46, 90]));
/// # Ok::<(), b2nd::Error>(())
/// ```
pub fn partition(
    shape: &[u64],
    itemsize: usize,
    chunks: Option<&[u64]>,
    blocks: Option<&[u64]>,
) -> Result<(Vec<u64>, Vec<u64>)> {
    partition_within(shape, itemsize, chunks, blocks, DEFAULT_CHUNK_BYTES)
}

/// As [`partition`], with chunks of at most `most` bytes where they are not given.
pub(crate) fn partition_within(
    shape: &[u64],
    itemsize: usize,
    chunks: Option<&[u64]>,
    blocks: Option<&[u64]>,
    most: u64,
) -> Result<(Vec<u64>, Vec<u64>)> {
    for (name, given) in [("chunks", chunks), ("blocks", blocks)] {
        if let Some(given) = given
            && given.len() != shape.len()
        {
            return Err(Error::ndim(
                shape.len(),
                given.len(),
                format!(
                    "{name} {given:?} name {} axes, and the shape {shape:?} has {}",
                    given.len(),
                    shape.len()
                ),
            ));
        }
    }
    match (chunks, blocks) {
        (Some(chunks), Some(blocks)) => {
            if let Some(axis) = (0..shape.len()).find(|&d| blocks[d] > chunks[d]) {
                return Err(Error::usage(format!(
                    "on axis {axis} the block ({}) is longer than the chunk ({}): blocks lie inside chunks",
                    blocks[axis], chunks[axis]
                )));
            }
            Ok((chunks.to_vec(), blocks.to_vec()))
        }
        (Some(chunks), None) => Ok((chunks.to_vec(), halve(chunks, itemsize, DEFAULT_BLOCK_BYTES))),
        (None, Some(blocks)) => {
            let chunks = grow(shape, blocks, itemsize, most);
            Ok((chunks, blocks.to_vec()))
        }
        (None, None) => {
            let wanted = halve(shape, itemsize, most);
            let blocks = halve(&wanted, itemsize, DEFAULT_BLOCK_BYTES);
            // A chunk of whole blocks, unless it spans its axis anyway.
            let chunks = (0..shape.len())
                .map(|d| {
                    if blocks[d] == 0 { 0 } else { (wanted[d].div_ceil(blocks[d]) * blocks[d]).min(shape[d]) }
                })
                .collect();
            Ok((chunks, blocks))
        }
    }
}

/// Chunk and block shapes for an array that begins to grow along the axes that have chunks or blocks of length 0.
///
/// Nobody knows how long they will be, so chunks and blocks get as much of them as fits the sizes of automatic ones.
pub(crate) fn growing(chunks: &[u64], blocks: &[u64], itemsize: usize) -> (Vec<u64>, Vec<u64>) {
    let open: Vec<usize> = (0..chunks.len()).filter(|&d| chunks[d] == 0 || blocks[d] == 0).collect();
    let filled = |lengths: &[u64], most: u64, bound: &dyn Fn(usize) -> u64| {
        let mut piece = lengths.to_vec();
        open.iter().for_each(|&d| piece[d] = 1);
        let mut doubled = true;
        while doubled {
            doubled = false;
            for &d in &open {
                let longer = (piece[d] * 2).min(bound(d));
                if longer > piece[d] && bytes(&piece, itemsize) / piece[d] <= most / longer {
                    piece[d] = longer;
                    doubled = true;
                }
            }
        }
        piece
    };
    let longest = |d: usize| if chunks[d] == 0 { 1 << 30 } else { chunks[d] };
    let chunks = filled(chunks, DEFAULT_CHUNK_BYTES, &longest);
    let blocks = filled(blocks, DEFAULT_BLOCK_BYTES, &|d| chunks[d]);
    (chunks, blocks)
}

/// Bytes of a box, saturating; an axis of length 0 counts as 1.
fn bytes(lengths: &[u64], itemsize: usize) -> u64 {
    lengths.iter().fold(itemsize as u64, |total, &n| total.saturating_mul(n.max(1)))
}

/// Halves the axis of which the largest share is left (rounding up) until the box has at most `most` bytes or is one item.
fn halve(shape: &[u64], itemsize: usize, most: u64) -> Vec<u64> {
    let mut piece: Vec<u64> = shape.iter().map(|&n| n.min(i32::MAX as u64)).collect();
    let last = piece.len().saturating_sub(1);
    while bytes(&piece, itemsize) > most {
        let can_halve =
            |d: usize| piece[d] > 1 && (d != last || piece[d].saturating_mul(itemsize as u64) > SHORTEST_ROW);
        // Of two fractions piece/shape the larger, without dividing.
        let share = |d: usize, other: usize| u128::from(piece[d]) * u128::from(shape[other]);
        let more = |&a: &usize, &b: &usize| share(a, b).cmp(&share(b, a));
        // Among equal axes the first, so that rows stay long; a short row is cut only if no other axis can be.
        let axis = (0..piece.len()).filter(|&d| can_halve(d)).rev().max_by(more);
        let Some(axis) = axis.or_else(|| (0..piece.len()).rfind(|&d| piece[d] > 1)) else { break };
        piece[axis] = piece[axis].div_ceil(2);
    }
    piece
}

/// Doubles a block along its relatively shortest axis while it fits a chunk and the array goes on.
fn grow(shape: &[u64], blocks: &[u64], itemsize: usize, most: u64) -> Vec<u64> {
    let mut chunk = blocks.to_vec();
    loop {
        let can_grow = (0..chunk.len()).filter(|&d| chunk[d] > 0 && chunk[d] < shape[d]);
        let Some(axis) = can_grow.min_by_key(|&d| chunk[d] / blocks[d]) else { return chunk };
        let mut wider = chunk.clone();
        // The last doubling goes no further than the last whole block of the array: the rest were padding.
        let whole = shape[axis].div_ceil(blocks[axis]).saturating_mul(blocks[axis]);
        wider[axis] = wider[axis].saturating_mul(2).min(whole);
        if bytes(&wider, itemsize) > most {
            return chunk;
        }
        chunk = wider;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::grid::Grid;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn automatic_shapes_are_valid_and_small_enough(
            shape in proptest::collection::vec(0u64..5_000, 0..6), itemsize in 1usize..300,
        ) {
            let (chunks, blocks) = partition(&shape, itemsize, None, None).unwrap();
            if shape.iter().try_fold(itemsize as u64, |t, &n| t.checked_mul(n)).is_some_and(|t| t < 1 << 62) {
                let grid = Grid::new(&shape, &chunks, &blocks, itemsize).unwrap();
                prop_assert!(grid.block_bytes() as u64 <= DEFAULT_BLOCK_BYTES.max(itemsize as u64));
                prop_assert!(grid.chunk_bytes() as u64 <= 3 * DEFAULT_CHUNK_BYTES);
            }
            for d in 0..shape.len() {
                prop_assert!(blocks[d] <= chunks[d] && chunks[d] <= shape[d]);
            }
        }

        #[test]
        fn given_blocks_are_kept_and_chunks_hold_whole_ones(
            shape in proptest::collection::vec(1u64..5_000, 1..4), block in 1u64..40,
        ) {
            let blocks: Vec<u64> = shape.iter().map(|&n| block.min(n)).collect();
            let (chunks, kept) = partition(&shape, 4, None, Some(&blocks)).unwrap();
            prop_assert_eq!(&kept, &blocks);
            prop_assert!(chunks.iter().zip(&blocks).all(|(c, b)| c % b == 0));
            prop_assert!(chunks.iter().zip(&blocks).zip(&shape).all(|((c, b), n)| *c < n + b));
        }
    }

    #[test]
    fn shapes_that_make_no_sense_say_so() {
        // Too long for the format, which is for whoever uses them to say.
        assert_eq!(partition(&[u64::MAX], 1, None, Some(&[1 << 63])).unwrap().0, [1 << 63]);
        assert!(partition(&[10], 4, Some(&[5, 5]), None).unwrap_err().to_string().contains("name 2 axes"));
        assert!(
            partition(&[10], 4, Some(&[5]), Some(&[6]))
                .unwrap_err()
                .to_string()
                .contains("longer than the chunk")
        );
    }

    #[test]
    fn small_arrays_are_one_block() {
        assert_eq!(partition(&[3, 4], 8, None, None).unwrap(), (vec![3, 4], vec![3, 4]));
        assert_eq!(partition(&[], 8, None, None).unwrap(), (vec![], vec![]));
        assert_eq!(partition(&[0, 4], 8, None, None).unwrap(), (vec![0, 4], vec![0, 4]));
    }
}
