//! Moves the items of a checked box by lists of indices, for selections by lists and by points.

use super::geometry::{Along, Listed, MAX_AXES, fits, is_disjoint};

/// Copies a box of `shape` items of `itemsize` bytes between two buffers whose items are reached by strides and lists.
///
/// Returns `false`, with nothing written, when an item would lie outside either buffer, when two items of the
/// destination could overlap (its strides are not negative, its lists strictly ascend), or when the numbers do not fit
/// each other (as many sides as axes, at most [`MAX_AXES`], a list as long as its axis, items of at least one byte).
pub fn copy_listed(
    itemsize: usize,
    shape: &[usize],
    dst: &mut [u8],
    dst_offset: usize,
    dst_axes: &[Along<'_>],
    source: Listed<'_>,
) -> bool {
    let axes = shape.len();
    if itemsize == 0 || axes > MAX_AXES || dst_axes.len() != axes || source.axes.len() != axes {
        return false;
    }
    if shape.contains(&0) {
        return true;
    }
    let sides = || shape.iter().zip(dst_axes);
    let ascends = sides().all(|(&count, along)| along.stride >= 0 && along.extent(count).is_some());
    let extents =
        sides().map(|(&count, along)| (along.extent(count).unwrap_or(0), along.stride.unsigned_abs()));
    let inside = ascends
        && fits(itemsize, dst.len(), dst_offset, sides().map(|(&count, along)| along.reach(count)))
        && is_disjoint(itemsize, extents)
        && source.fits(itemsize, shape);
    if inside {
        let to = dst.as_mut_ptr().wrapping_add(dst_offset);
        let from = source.bytes.as_ptr().wrapping_add(source.offset);
        // SAFETY: every item lies inside both slices (`fits`), which do not overlap as one of them is borrowed mutably.
        unsafe { copy(itemsize, shape, to, dst_axes, from, source.axes) };
    }
    inside
}

/// Copies a box that was found to lie inside its buffers.
///
/// # Safety
/// - `shape`, `to` and `from` have the same length, at most [`MAX_AXES`]; no extent is 0; lists are as long as their axes.
/// - Each item at `dst` plus its distances is inside one live allocation, which nobody else reads or writes in these
///   places meanwhile.
/// - Each item at `src` plus its distances is inside one live allocation, which nobody writes meanwhile.
pub(super) unsafe fn copy(
    itemsize: usize,
    shape: &[usize],
    dst: *mut u8,
    to: &[Along<'_>],
    src: *const u8,
    from: &[Along<'_>],
) {
    let (mut run, mut axes) = (itemsize, shape.len());
    while let Some(last) = axes.checked_sub(1) {
        let dense = |along: &Along<'_>| isize::try_from(run) == Ok(along.stride) || shape[last] == 1;
        let plain = to[last].list.is_none() && from[last].list.is_none();
        if !plain || !dense(&to[last]) || !dense(&from[last]) {
            break;
        }
        // Both sides lie in memory, so the product is the length of something that exists.
        run = run.saturating_mul(shape[last]);
        axes = last;
    }
    let Some(last) = axes.checked_sub(1) else {
        // SAFETY: the box is one run, inside both buffers (promised by the caller).
        return unsafe { std::ptr::copy_nonoverlapping(src, dst, run) };
    };
    let row = Row { count: shape[last], to: to[last], from: from[last] };
    each_row(&shape[..last], to, from, 0, 0, &mut |at, of| {
        // SAFETY: the row is a part of the box, and the box is inside both buffers (promised by the caller).
        unsafe { copy_row(run, row, dst.wrapping_offset(at), src.wrapping_offset(of)) };
    });
}

/// The innermost axis of a copy.
#[derive(Clone, Copy)]
struct Row<'s> {
    count: usize,
    to: Along<'s>,
    from: Along<'s>,
}

/// Calls `visit` with the distance on both sides of every combination of the axes of `shape`, counted from `at` and `of`.
fn each_row(
    shape: &[usize],
    to: &[Along<'_>],
    from: &[Along<'_>],
    at: isize,
    of: isize,
    visit: &mut impl FnMut(isize, isize),
) {
    let ([count, shape @ ..], [here, to @ ..], [there, from @ ..]) = (shape, to, from) else {
        return visit(at, of);
    };
    for k in 0..*count {
        each_row(shape, to, from, at.wrapping_add(here.at(k)), of.wrapping_add(there.at(k)), visit);
    }
}

/// Copies one row of runs.
///
/// # Safety
/// All `row.count` runs of `run` bytes are inside live allocations on both sides, without overlap.
unsafe fn copy_row(run: usize, row: Row<'_>, dst: *mut u8, src: *const u8) {
    macro_rules! fixed {
        ($($len:literal)*) => {
            match run {
                // SAFETY: `run` is the length; the rest is the caller's promise.
                $($len => unsafe { copy_items::<$len>(row, dst, src) },)*
                _ => {
                    for k in 0..row.count {
                        let (to, from) = (dst.wrapping_offset(row.to.at(k)), src.wrapping_offset(row.from.at(k)));
                        // SAFETY: this is one of the `count` runs of the row, on both sides.
                        unsafe { std::ptr::copy_nonoverlapping(from, to, run) };
                    }
                }
            }
        };
    }
    fixed!(1 2 4 8 16);
}

/// Copies one row of short runs of a length known to the compiler.
///
/// # Safety
/// As for [`copy_row`].
unsafe fn copy_items<const N: usize>(row: Row<'_>, dst: *mut u8, src: *const u8) {
    for k in 0..row.count {
        let (to, from) = (dst.wrapping_offset(row.to.at(k)), src.wrapping_offset(row.from.at(k)));
        // SAFETY: this is one of the `count` items of the row.
        let item = unsafe { from.cast::<[u8; N]>().read_unaligned() };
        // SAFETY: this is one of the `count` places of the row.
        unsafe { to.cast::<[u8; N]>().write_unaligned(item) };
    }
}
