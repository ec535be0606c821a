//! Moves the bytes of a checked box: whole runs where both sides are contiguous, typed items where they are not.

use super::geometry::{Axis, MAX_AXES, Plan, Source, fits, is_disjoint, reach};
use super::rows::{Piece, each_piece, each_row};
use crate::runs::uniform;

/// Copies a box of `shape` items of `itemsize` bytes between two strided buffers.
///
/// Returns `false`, with nothing written, when an item would lie outside either buffer, when two items of the
/// destination could overlap, or when the numbers do not fit each other (as many strides as axes, at most
/// [`MAX_AXES`], items of at least one byte).
pub fn copy_box(
    itemsize: usize,
    shape: &[usize],
    dst: &mut [u8],
    dst_offset: usize,
    dst_strides: &[usize],
    source: Source<'_>,
) -> bool {
    let axes = shape.len();
    if itemsize == 0 || axes > MAX_AXES || dst_strides.len() != axes || source.strides.len() != axes {
        return false;
    }
    if shape.contains(&0) {
        return true;
    }
    // A stride that overflows `isize` matters only along an axis with two items or more, and no buffer is that large.
    let steps = dst_strides.iter().map(|&stride| isize::try_from(stride).unwrap_or(isize::MAX));
    let reaches = shape.iter().zip(steps).map(|(&count, stride)| reach(count, stride));
    let inside = fits(itemsize, dst.len(), dst_offset, reaches)
        && is_disjoint(itemsize, shape.iter().copied().zip(dst_strides.iter().copied()))
        && source.fits(itemsize, shape);
    if inside {
        let start = dst.as_mut_ptr().wrapping_add(dst_offset);
        // SAFETY: every item lies inside both slices (`fits`), which do not overlap as one of them is borrowed mutably.
        unsafe { copy(itemsize, shape, start, dst_strides, source, Place::Near) };
    }
    inside
}

/// Where the destination is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the caches: a block.
    Near,
    /// In memory: a result of any size.
    Far,
}

/// Copies a box that was found to lie inside its buffers.
///
/// # Safety
/// - `shape`, `dst_strides` and `source.strides` have the same length, at most [`MAX_AXES`]; no extent is 0.
/// - Each item at `dst` plus whole steps of `dst_strides` is inside one live allocation, which nobody else reads or
///   writes in these places meanwhile.
/// - Each item of `source` lies inside `source.bytes`.
pub(super) unsafe fn copy(
    itemsize: usize,
    shape: &[usize],
    dst: *mut u8,
    dst_strides: &[usize],
    source: Source<'_>,
    place: Place,
) {
    let axes = shape.iter().zip(dst_strides.iter().zip(source.strides));
    let mut plan = Plan::new(itemsize, axes.map(|(&count, (&dst, &src))| Axis { count, dst, src }));
    let crossing = plan.take_crossing();
    let src = source.bytes.as_ptr().wrapping_add(source.offset);
    let (row, outer) = plan.rows();
    let run = plan.run;
    if let Some(across) = crossing {
        each_row(outer, |to, from| {
            // SAFETY: the rows are a part of the box, and the box is inside both buffers (promised by the caller).
            unsafe { copy_tiles(run, row, across, dst.wrapping_add(to), src.wrapping_offset(from)) }
        });
    } else if place == Place::Far && Piece::is_worth_asking(run, row) {
        each_piece(run, row, outer, dst, |to, from, piece| {
            // SAFETY: the piece is a part of the box, and the box is inside both buffers (promised by the caller).
            unsafe { copy_row(piece, dst.wrapping_add(to), src.wrapping_offset(from)) }
        });
    } else {
        each_row(outer, |to, from| {
            let row = Piece { run, row, next: None };
            // SAFETY: the row is a part of the box, and the box is inside both buffers (promised by the caller).
            unsafe { copy_row(row, dst.wrapping_add(to), src.wrapping_offset(from)) }
        });
    }
}

/// Items of a row in a tile of a transpose: this many cache lines of the source stay in L1, although they map to few sets.
const TILE: usize = 16;

/// Rows in a tile: at most this many items share a cache line of the source.
const TILE_ROWS: usize = 64;

/// Copies `across.count` rows tile by tile.
///
/// # Safety
/// As for [`copy_row`], for each of the rows.
unsafe fn copy_tiles(run: usize, row: Axis, across: Axis, dst: *mut u8, src: *const u8) {
    let at = |i: usize, j: usize| {
        let from = i.cast_signed() * row.src + j.cast_signed() * across.src;
        (dst.wrapping_add(i * row.dst + j * across.dst), src.wrapping_offset(from))
    };
    for j in (0..across.count).step_by(TILE_ROWS) {
        for i in (0..row.count).step_by(TILE) {
            let piece = Axis { count: TILE.min(row.count - i), ..row };
            for j in j..across.count.min(j + TILE_ROWS) {
                let (dst, src) = at(i, j);
                // SAFETY: `i` and `j` count items of the rows, and `piece` ends where the row does.
                unsafe { copy_row(Piece { run, row: piece, next: None }, dst, src) };
            }
        }
    }
}

/// Fills a box that was found to lie inside its buffer with one item.
///
/// # Safety
/// As for [`copy`], for the side of the destination.
pub(super) unsafe fn fill(item: &[u8], shape: &[usize], dst: *mut u8, dst_strides: &[usize]) {
    let axes = shape.iter().zip(dst_strides);
    // Uses the destination's strides for the source too, so that runs join as far as the destination allows.
    let plan = Plan::new(
        item.len(),
        axes.map(|(&count, &dst)| Axis { count, dst, src: isize::try_from(dst).unwrap_or(isize::MAX) }),
    );
    let byte = uniform(item);
    let (row, outer) = plan.rows();
    each_piece(plan.run, row, outer, dst, |to, _, piece| {
        for n in 0..piece.row.count {
            piece.ask(n);
            // SAFETY: the run is a part of the box, which lies inside memory that is the caller's alone.
            let run =
                unsafe { std::slice::from_raw_parts_mut(dst.wrapping_add(to + n * piece.row.dst), plan.run) };
            match byte {
                Some(byte) => run.fill(byte),
                None => repeat(run, item),
            }
        }
    });
}

/// Copies one row of runs.
///
/// # Safety
/// All runs of the row are inside live allocations on both sides, without overlap.
unsafe fn copy_row(row: Piece, dst: *mut u8, src: *const u8) {
    macro_rules! fixed {
        ($($len:literal)*) => {
            match row.run {
                // SAFETY: `run` is the length; the rest is the caller's promise.
                $($len => unsafe { copy_items::<$len>(row, dst, src) },)*
                // SAFETY: the caller's promise.
                _ => unsafe { copy_runs(row, dst, src) },
            }
        };
    }
    fixed!(1 2 3 4 6 8 12 16 24 32 48 64 128);
}

/// Copies one row of short runs of a length known to the compiler.
///
/// # Safety
/// As for [`copy_row`].
unsafe fn copy_items<const N: usize>(piece: Piece, dst: *mut u8, src: *const u8) {
    let (mut dst, mut src) = (dst, src);
    let (row, piece) = (piece.row, Piece { run: N, ..piece });
    if row.src == 0 {
        // SAFETY: the source has one item here.
        let item = unsafe { src.cast::<[u8; N]>().read_unaligned() };
        for _ in 0..row.count {
            // SAFETY: this is one of the `count` places of the row.
            unsafe { dst.cast::<[u8; N]>().write_unaligned(item) };
            dst = dst.wrapping_add(row.dst);
        }
        return;
    }
    for n in 0..row.count {
        piece.ask(n);
        // SAFETY: this is one of the `count` items of the row.
        let item = unsafe { src.cast::<[u8; N]>().read_unaligned() };
        // SAFETY: this is one of the `count` places of the row.
        unsafe { dst.cast::<[u8; N]>().write_unaligned(item) };
        dst = dst.wrapping_add(row.dst);
        src = src.wrapping_offset(row.src);
    }
}

/// Copies one row of runs of any length.
///
/// # Safety
/// As for [`copy_row`].
unsafe fn copy_runs(piece: Piece, dst: *mut u8, src: *const u8) {
    let (mut dst, mut src) = (dst, src);
    for n in 0..piece.row.count {
        piece.ask(n);
        // SAFETY: this is one of the `count` runs of the row, on both sides.
        unsafe { std::ptr::copy_nonoverlapping(src, dst, piece.run) };
        dst = dst.wrapping_add(piece.row.dst);
        src = src.wrapping_offset(piece.row.src);
    }
}

/// Fills `run`, a whole number of items, with `item`.
fn repeat(run: &mut [u8], item: &[u8]) {
    macro_rules! fixed {
        ($($len:literal)*) => {
            match item.len() {
                $($len => {
                    if let Some(item) = item.first_chunk::<$len>() {
                        run.as_chunks_mut::<$len>().0.fill(*item);
                    }
                })*
                len => {
                    // Each step copies the filled part, so that the filled length doubles.
                    let mut done = len.min(run.len());
                    run[..done].copy_from_slice(&item[..done]);
                    while done < run.len() {
                        let (from, to) = run.split_at_mut(done);
                        let more = done.min(to.len());
                        to[..more].copy_from_slice(&from[..more]);
                        done += more;
                    }
                }
            }
        };
    }
    fixed!(2 4 8 16);
}
