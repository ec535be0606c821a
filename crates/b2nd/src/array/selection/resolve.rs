//! Selections against a shape: every number made absolute and checked.

use super::Axis;
use crate::error::Error;
use crate::error::Result;
use crate::limits::reserved;
use std::ops::Range;

/// The indices taken along one axis of the array: `start`, `start + step`, …, `count` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) start: u64,
    pub(crate) step: i64,
    pub(crate) count: u64,
}

/// The indices of a list along one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct List {
    /// The indices, ascending; an index that is taken more than once is there as often.
    pub(crate) indices: Vec<u64>,
    /// The place of each in the result, ascending among equal indices; `None` where they go in turn.
    pub(crate) order: Option<Vec<usize>>,
}

/// What is taken along one axis of the array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pick {
    Line(Line),
    List(List),
}

impl Pick {
    /// The number of items taken.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Pick::Line(line) => line.count,
            Pick::List(list) => list.indices.len() as u64,
        }
    }

    /// What is taken for these places of the result.
    fn part(&self, places: Range<u64>) -> Result<Self> {
        let count = places.end.saturating_sub(places.start);
        let List { indices, order } = match self {
            Pick::Line(line) => {
                let skipped = line.step.wrapping_mul(places.start.cast_signed());
                let start = line.start.wrapping_add_signed(skipped);
                return Ok(Pick::Line(Line { start, step: line.step, count }));
            }
            Pick::List(list) => list,
        };
        let places = places.start as usize..places.end as usize;
        let Some(order) = order else {
            return Ok(Pick::List(List { indices: copied(LIST, indices, places)?, order: None }));
        };
        let (mut kept, mut to) = (reserved(LIST, count as usize)?, reserved(LIST, count as usize)?);
        for (&index, &place) in indices.iter().zip(order) {
            if places.contains(&place) {
                kept.push(index);
                to.push(place - places.start);
            }
        }
        Ok(Pick::List(List { indices: kept, order: Some(to) }))
    }

    /// The same for writing, where the last item of those for one index wins: each index once.
    pub(crate) fn last_of_each(self) -> Result<Self> {
        let Pick::List(List { indices, order }) = self else { return Ok(self) };
        if indices.is_sorted_by(|a, b| a < b) {
            return Ok(Pick::List(List { indices, order }));
        }
        let (mut kept, mut places) = (reserved(LIST, indices.len())?, reserved(LIST, indices.len())?);
        for (at, &index) in indices.iter().enumerate() {
            if indices.get(at + 1) != Some(&index) {
                kept.push(index);
                places.push(order.as_ref().map_or(Some(at), |order| order.get(at).copied()).unwrap_or(at));
            }
        }
        Ok(Pick::List(List { indices: kept, order: Some(places) }))
    }
}

/// Which items of the array a selection takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Every combination of what is taken along each axis.
    Axes(Vec<Pick>),
    /// The items at these flat C-order positions, one by one; all inside the array.
    Points(Vec<u64>),
}

/// A [`Selection`](super::Selection) against the shape of an array: which items it takes, in absolute numbers.
///
/// [`Selection::resolve`](super::Selection::resolve) makes one; a part of it is a [`Selection`](super::Selection) again.
///
/// ```
/// use b2nd::{s, TakenAxis};
/// // The last row of an array of shape (3, 4), every other column.
/// let resolved = s![-1, ..;2].resolve(&[3, 4])?;
/// assert_eq!(resolved.shape(), [2]);
/// assert_eq!(resolved.axes(), [Some(1)]);
/// assert_eq!(resolved.along(0)?, TakenAxis::Range { start: 2, step: 1, len: 1 });
/// assert_eq!(resolved.along(1)?, TakenAxis::Range { start: 0, step: 2, len: 2 });
/// // The second item of the result, as a selection of the array.
/// assert_eq!(resolved.part_of_box(&[1], &[2])?, s![2, 2..3;2]);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedSelection {
    pub(crate) taken: Taken,
    /// The shape of the result: without the indexed axes, with the new ones; the number of points.
    pub(crate) shape: Vec<u64>,
    /// For each axis of the result which of the array's it is; `None` for a new one, and for points.
    pub(crate) axes: Vec<Option<usize>>,
}

/// The name inside the crate.
pub(crate) type Resolved = ResolvedSelection;

impl ResolvedSelection {
    /// The lines of a selection by ranges and indices alone.
    pub(crate) fn into_lines(self) -> Result<Vec<Line>> {
        let Taken::Axes(picks) = self.taken else {
            return Err(Error::usage("points are not evenly spaced"));
        };
        let line = |pick| match pick {
            Pick::Line(line) => Ok(line),
            Pick::List(_) => Err(Error::usage("a list is not evenly spaced")),
        };
        picks.into_iter().map(line).collect()
    }

    /// The indices along each axis, when they are a box of the array, as it lies there.
    pub(crate) fn as_box(&self) -> Option<Vec<Range<u64>>> {
        let Taken::Axes(picks) = &self.taken else { return None };
        if self.axes.iter().copied().ne((0..picks.len()).map(Some)) {
            return None;
        }
        let range = |pick: &Pick| match *pick {
            Pick::Line(Line { start, step: 1, count }) => Some(start..start + count),
            _ => None,
        };
        picks.iter().map(range).collect()
    }

    /// The part of the selection that gives the box `start[d]..stop[d]` of the result, which is inside it.
    pub(crate) fn part(&self, start: &[u64], stop: &[u64]) -> Result<Self> {
        let mut places = start.iter().zip(stop).map(|(&start, &stop)| start..stop);
        let shape = places.clone().map(|range| range.end.saturating_sub(range.start)).collect();
        let taken = match &self.taken {
            Taken::Points(points) => {
                let range = places.next().map_or(0..0, |range| range.start as usize..range.end as usize);
                Taken::Points(copied("a selection of points", points, range)?)
            }
            Taken::Axes(picks) => {
                // An axis that the result has not is one index.
                let mut along = vec![0..1; picks.len()];
                for (axis, range) in self.axes.iter().zip(places) {
                    if let Some(along) = axis.and_then(|axis| along.get_mut(axis)) {
                        *along = range;
                    }
                }
                Taken::Axes(
                    picks.iter().zip(along).map(|(pick, range)| pick.part(range)).collect::<Result<_>>()?,
                )
            }
        };
        Ok(Resolved { taken, shape, axes: self.axes.clone() })
    }

    /// The number of items; an error when it does not fit.
    pub(crate) fn items(&self) -> Result<u64> {
        let picks = match &self.taken {
            Taken::Axes(picks) => picks,
            Taken::Points(points) => return Ok(points.len() as u64),
        };
        if picks.iter().any(|pick| pick.count() == 0) {
            return Ok(0);
        }
        picks
            .iter()
            .try_fold(1u64, |total, pick| total.checked_mul(pick.count()))
            .ok_or_else(|| Error::too_large(u64::MAX, "the selection has more than 2^64 items"))
    }
}

pub(super) fn resolve(axes: &[Axis], shape: &[u64]) -> Result<Resolved> {
    let used = axes.iter().filter(|a| !matches!(a, Axis::NewAxis | Axis::Ellipsis)).count();
    let ellipses = axes.iter().filter(|a| matches!(a, Axis::Ellipsis)).count();
    if used > shape.len() {
        return Err(Error::ndim(
            shape.len(),
            used,
            format!("the slice names {used} axes, and the array has {}: its shape is {shape:?}", shape.len()),
        ));
    }
    if ellipses > 1 {
        return Err(Error::usage("a slice can hold one '...' only"));
    }
    let whole = &Axis::Range { start: None, stop: None, step: 1 };
    let left = shape.len() - used;
    // Without an ellipsis the axes that are left over come last.
    let tail = if ellipses == 0 { left } else { 0 };
    let parts = axes.iter().flat_map(|part| match part {
        Axis::Ellipsis => std::iter::repeat_n(whole, left),
        other => std::iter::repeat_n(other, 1),
    });
    let (mut picks, mut result) = (Vec::with_capacity(shape.len()), Vec::with_capacity(shape.len()));
    let mut kept = Vec::with_capacity(shape.len());
    let mut lengths = shape.iter().copied().enumerate();
    for part in parts.chain(std::iter::repeat_n(whole, tail)) {
        if *part == Axis::NewAxis {
            result.push(1);
            kept.push(None);
            continue;
        }
        let Some((axis, length)) = lengths.next() else { break };
        let pick = match part {
            Axis::List(list) => resolve_list(list, axis, length)?,
            Axis::Mask(mask) => resolve_mask(mask, axis, length)?,
            part => Pick::Line(resolve_line(part, axis, length)?),
        };
        if !matches!(part, Axis::Index(_)) {
            result.push(pick.count());
            kept.push(Some(axis));
        }
        picks.push(pick);
    }
    Ok(Resolved { taken: Taken::Axes(picks), shape: result, axes: kept })
}

/// An index counted from the start; `None` when it is out of range.
pub(super) fn absolute(index: i64, length: u64) -> Option<u64> {
    let at = if index < 0 { length.checked_sub(index.unsigned_abs())? } else { index.unsigned_abs() };
    (at < length).then_some(at)
}

fn resolve_list(list: &[i64], axis: usize, length: u64) -> Result<Pick> {
    let mut indices = reserved(LIST, list.len())?;
    for (entry, &index) in list.iter().enumerate() {
        indices.push(absolute(index, length).ok_or_else(|| {
            Error::index(axis, index, length, format_args!("{index} (entry {entry} of the list)"))
        })?);
    }
    pick(indices)
}

fn resolve_mask(mask: &[bool], axis: usize, length: u64) -> Result<Pick> {
    if mask.len() as u64 != length {
        return Err(Error::length(
            length,
            mask.len(),
            format!("the mask has {} entries, and axis {axis} has {length} items", mask.len()),
        ));
    }
    let mut indices = reserved(LIST, mask.iter().filter(|&&taken| taken).count())?;
    indices.extend(mask.iter().zip(0..).filter(|(taken, _)| **taken).map(|(_, index)| index));
    pick(indices)
}

const LIST: &str = "a list of indices";

/// A copy of a range of a list, which has it.
fn copied(what: &'static str, list: &[u64], range: Range<usize>) -> Result<Vec<u64>> {
    let part = list.get(range).unwrap_or_default();
    let mut copy = reserved(what, part.len())?;
    copy.extend_from_slice(part);
    Ok(copy)
}

/// A list in its simplest form: a line where the indices are evenly spaced, else sorted.
fn pick(mut indices: Vec<u64>) -> Result<Pick> {
    // An index is at most `i64::MAX`, as the length of an axis is.
    let step = |pair: &[u64]| pair[1].cast_signed().wrapping_sub(pair[0].cast_signed());
    let first = indices.windows(2).next().map_or(1, step);
    if first != 0 && indices.windows(2).all(|pair| step(pair) == first) {
        let start = indices.first().copied().unwrap_or(0);
        return Ok(Pick::Line(Line { start, step: first, count: indices.len() as u64 }));
    }
    if indices.is_sorted() {
        return Ok(Pick::List(List { indices, order: None }));
    }
    let mut order = reserved(LIST, indices.len())?;
    order.extend(0..indices.len());
    order.sort_unstable_by_key(|&place| (indices.get(place).copied(), place));
    indices.sort_unstable();
    Ok(Pick::List(List { indices, order: Some(order) }))
}

/// Python's rules for one axis of `length` items.
fn resolve_line(part: &Axis, axis: usize, length: u64) -> Result<Line> {
    let signed = i128::from(length);
    match *part {
        Axis::Index(index) => match absolute(index, length) {
            Some(start) => Ok(Line { start, step: 1, count: 1 }),
            None => Err(Error::index(axis, index, length, index)),
        },
        Axis::Range { start, stop, step } => {
            if step == 0 {
                return Err(Error::usage(format!("the step along axis {axis} is 0")));
            }
            // A backward walk may start at the last item and end before the first, hence the bounds shifted by one.
            let (low, high) = if step > 0 { (0, signed) } else { (-1, signed - 1) };
            let clipped =
                |bound: i64| (i128::from(bound) + if bound < 0 { signed } else { 0 }).clamp(low, high);
            let first = start.map_or(if step > 0 { low } else { high }, clipped);
            let last = stop.map_or(if step > 0 { high } else { low }, clipped);
            let step_wide = i128::from(step);
            let span = if step > 0 { last - first } else { first - last };
            let count = if span <= 0 { 0 } else { (span - 1) / step_wide.abs() + 1 };
            // `first` is a valid index when anything is taken; else it only has to be representable.
            Ok(Line {
                start: u64::try_from(first).unwrap_or(0),
                step: if count > 1 { step } else { 1 },
                count: u64::try_from(count).unwrap_or(0),
            })
        }
        _ => Ok(Line { start: 0, step: 1, count: length }),
    }
}
