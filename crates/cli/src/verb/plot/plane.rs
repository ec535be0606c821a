//! Which axes of a slice become rows and columns, and how many of their indices are read.

use b2nd::Array;

use super::nothing;
use crate::failure::{Failure, Result};
use crate::output;
use crate::report;
use crate::tiling::Region;
use crate::view::{Along, View};

/// The most values that are read: of a larger plane every second row, third row, … is taken.
const MOST_VALUES: u64 = 1 << 24;
/// The memory that a value takes: its bytes, as a float, and sorted for percentiles.
const VALUE_BYTES: u64 = 32;

/// The axes of a slice that are rows and columns; one for a line, none for a single value.
///
/// Only axes longer than 1 count. `colours` says that the last axis may be red, green and blue (and opacity).
pub(super) fn axes(view: &View, colours: bool) -> Result<[Option<usize>; 2]> {
    let shape = view.shape();
    if shape.contains(&0) {
        return Err(nothing(&shape));
    }
    let long: Vec<usize> = (0..shape.len()).filter(|&d| shape.get(d).is_some_and(|&len| len > 1)).collect();
    match *long {
        [] => Ok([None, None]),
        [col] => Ok([None, Some(col)]),
        [row, col] => Ok([Some(row), Some(col)]),
        [row, col, _] if colours && is_colour(&shape) => Ok([Some(row), Some(col)]),
        _ => {
            let message = format!(
                "the slice leaves shape {}: more than two axes are longer than 1",
                report::lengths(&shape)
            );
            Err(Failure::usage(message, "give --slice with an integer for each other axis, such as '0,:,:'"))
        }
    }
}

/// Whether the last of three axes longer than 1 holds the parts of a colour.
pub(super) fn is_colour(shape: &[u64]) -> bool {
    shape.iter().filter(|&&len| len > 1).count() == 3 && matches!(shape.last(), Some(3 | 4))
}

/// The items of a slice, thinned so that the memory holds them.
pub(super) struct Plane {
    pub(super) items: Vec<u8>,
    pub(super) rows: usize,
    pub(super) cols: usize,
    /// How many indices of the slice lie between two rows, and two columns.
    pub(super) every: [u64; 2],
    /// What rows and columns run along.
    pub(super) along: [Option<Along>; 2],
}

impl Plane {
    /// Reads the rows and columns of a slice; `parts` of a colour follow each other.
    pub(super) fn read(
        array: &Array,
        view: &View,
        [row_axis, col_axis]: [Option<usize>; 2],
        parts: u64,
        budget: u64,
    ) -> Result<Self> {
        let shape = view.shape();
        let len = |axis: Option<usize>| axis.and_then(|d| shape.get(d).copied()).unwrap_or(1);
        let most = (MOST_VALUES.min(budget / VALUE_BYTES) / parts).max(1);
        let (every_row, every_col) = thinning(len(row_axis), len(col_axis), most);
        if every_row.max(every_col) > 1 {
            output::note(&format!(
                "b2nd: note: {} values are too many: of the rows one in {every_row} is drawn, of the columns one in {every_col}",
                len(row_axis).saturating_mul(len(col_axis))
            ));
        }
        let every: Vec<u64> = (0..shape.len())
            .map(|d| match Some(d) {
                d if d == row_axis => every_row,
                d if d == col_axis => every_col,
                _ => 1,
            })
            .collect();
        let thin = view.thinned(array.shape(), &every)?;
        let shape = thin.shape();
        let items = thin.read(array, &Region { start: vec![0; shape.len()], stop: shape.clone() })?;
        let native = |axis: Option<usize>| {
            usize::try_from(axis.and_then(|d| shape.get(d).copied()).unwrap_or(1)).unwrap_or(usize::MAX)
        };
        let along = thin.along()?;
        let along = [row_axis, col_axis].map(|axis| axis.and_then(|d| along.get(d).copied()));
        Ok(Plane {
            items,
            rows: native(row_axis),
            cols: native(col_axis),
            every: [every_row, every_col],
            along,
        })
    }
}

/// How many rows and columns to go on at a time, so that no more than `most` are read.
fn thinning(rows: u64, cols: u64, most: u64) -> (u64, u64) {
    let side = most.isqrt().max(1);
    if rows.saturating_mul(cols) <= most {
        (1, 1)
    } else if rows <= side {
        (1, cols.div_ceil(most / rows.max(1)))
    } else if cols <= side {
        (rows.div_ceil(most / cols.max(1)), 1)
    } else {
        (rows.div_ceil(side), cols.div_ceil(side))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_planes_are_thinned_to_the_bound() {
        for (rows, cols) in
            [(1, 1), (4096, 4096), (5000, 5000), (1, 1 << 40), (1 << 40, 3), (1 << 30, 1 << 30)]
        {
            let (r, c) = thinning(rows, cols, MOST_VALUES);
            assert!(rows.div_ceil(r) * cols.div_ceil(c) <= MOST_VALUES, "{rows} {cols}");
        }
        assert_eq!(thinning(4096, 4096, MOST_VALUES), (1, 1));
    }

    #[test]
    fn three_axes_are_a_picture_where_the_last_is_a_colour() {
        let axes = |shape: &[u64]| super::axes(&View::parse(shape, None).unwrap(), true);
        assert_eq!(axes(&[5, 7, 3]).unwrap(), [Some(0), Some(1)]);
        assert_eq!(axes(&[1, 5, 7, 4]).unwrap(), [Some(1), Some(2)]);
        assert!(axes(&[5, 7, 2]).is_err() && axes(&[5, 3, 7]).is_err());
        assert!(super::axes(&View::parse(&[5, 7, 3], None).unwrap(), false).is_err());
    }
}
