//! Which items of an array its text shows.

use std::ops::Range;

use crate::text::{Style, shown};

/// Whether an array of this shape is shown by its edges only.
pub(super) fn is_summarised(shape: &[u64], style: Style) -> bool {
    // An array with an axis of no items has none, whatever the product before that axis.
    !shape.contains(&0)
        && shape.iter().try_fold(1u64, |n, &axis| n.checked_mul(axis)).is_none_or(|n| n > style.threshold)
}

/// For each axis, the ranges of indices that the text of an array of `shape` shows: everything, or the two edges.
///
/// ```
/// assert_eq!(b2nd_cli::text::needed(&[5000, 4], Default::default()), [vec![0..3, 4997..5000], vec![0..4]]);
/// ```
pub fn needed(shape: &[u64], style: Style) -> Vec<Vec<Range<u64>>> {
    let summarised = is_summarised(shape, style);
    shape.iter().map(|&len| shown(summarised, len)).collect()
}

/// The shape of the box of items that [`needed`] names.
///
/// ```
/// assert_eq!(b2nd_cli::text::edge_shape(&[5000, 4], Default::default()), [6, 4]);
/// ```
pub fn edge_shape(shape: &[u64], style: Style) -> Vec<u64> {
    needed(shape, style)
        .iter()
        .map(|ranges| ranges.iter().map(|range| range.end - range.start).sum())
        .collect()
}
