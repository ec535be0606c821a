//! Coordinates along an axis of a picture: an array of one axis, or a `.npy` file, as texts.

use std::path::Path;

use b2nd::array::Kind;
use b2nd::{Array, Exec};
use b2nd_plot::Texts;

use crate::args::Place;
use crate::failure::{Failure, Result};
use crate::report::lengths;
use crate::shown::Shown as _;
use crate::text::{self, Values};
use crate::tiling::Region;
use crate::verb::diff::Side;
use crate::view::{Along, View};

/// No axis has room for more texts.
const MOST_TEXTS: u64 = 1000;
/// Coordinates are read whole: more bytes are not.
const BUDGET: u64 = 256 << 20;

/// The coordinates in a file of the indices that a slice takes along one of its axes.
pub(super) fn texts(
    path: &Path,
    option: &str,
    array: &Array,
    view: &View,
    axis: Option<usize>,
) -> Result<Texts> {
    let along = view.along()?;
    let Some(Along::Range { axis: of_array, start, step }) = axis.and_then(|axis| along.get(axis).copied())
    else {
        return Err(Failure::usage(
            format!("{option} {}: the picture has no axis of the array in that direction", path.shown()),
            "coordinates go along an axis that the slice takes by a range: ':', '10:20', '::2'",
        ));
    };
    let count = axis.and_then(|axis| view.shape().get(axis).copied()).unwrap_or(0);
    let mut source = Side::open(path, Place::default(), Exec::default())?;
    let wanted = array.shape().get(of_array).copied().unwrap_or(0);
    if *source.shape() != [wanted] {
        return Err(Failure::usage(
            format!("{}: has shape {}", path.shown(), lengths(source.shape())),
            format!(
                "{option} takes coordinates of axis {of_array}, which is {wanted} long: an array of shape ({wanted},)"
            ),
        ));
    }
    if source.nbytes() > BUDGET {
        return Err(Failure::usage(
            format!("{}: is too long for coordinates of a picture", path.shown()),
            "cut the array and its coordinates first, with `b2nd convert --slice`",
        ));
    }
    let dtype = source.dtype().clone();
    let items = source.read(&Region { start: vec![0], stop: vec![wanted] }, BUDGET)?;
    let every = count.div_ceil(MOST_TEXTS).max(1);
    let text = |n: u64| {
        let steps = i64::try_from(n.saturating_mul(every)).unwrap_or(i64::MAX);
        let index =
            usize::try_from(start.saturating_add_signed(steps.saturating_mul(step))).unwrap_or(usize::MAX);
        let at = index.saturating_mul(dtype.itemsize());
        let item = items.get(at..at.saturating_add(dtype.itemsize())).unwrap_or_default();
        text::to_csv(&dtype, item, Values::default())
    };
    let mut texts: Vec<String> = (0..count.div_ceil(every)).map(text).collect();
    if dtype.kind() == Kind::Datetime {
        shorten(&mut texts);
    }
    Ok(Texts { every: usize::try_from(every).unwrap_or(usize::MAX), texts })
}

/// Leaves out of dates with times what all have in common: midnight, or no seconds.
fn shorten(texts: &mut [String]) {
    let zero = |tail: &str| tail.chars().all(|c| matches!(c, '0' | ':' | '.' | 'T'));
    for from in [10, 16, 19] {
        if texts.iter().all(|text| text.get(from..).is_none_or(zero)) {
            texts.iter_mut().for_each(|text| text.truncate(from));
        }
    }
    for text in texts {
        *text = text.replace('T', " ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_as_short_as_all_of_them_allow() {
        let short = |texts: &[&str]| {
            let mut texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
            shorten(&mut texts);
            texts
        };
        assert_eq!(
            short(&["2001-01-01T00:00:00.000", "2001-01-02T00:00:00.000"]),
            ["2001-01-01", "2001-01-02"]
        );
        assert_eq!(
            short(&["2001-01-01T06:00:00", "2001-01-02T00:00:00"]),
            ["2001-01-01 06:00", "2001-01-02 00:00"]
        );
        assert_eq!(short(&["2001-01-01T06:00:07.500"]), ["2001-01-01 06:00:07.500"]);
        assert_eq!(short(&["2001", "2002"]), ["2001", "2002"]);
    }
}
