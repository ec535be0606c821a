//! What callers may know of a resolved selection: its shape, what it takes along each axis, and its parts.

use super::resolve::{Line, List, Pick, ResolvedSelection, Taken};
use super::{Axis, Selection};
use crate::error::{Error, Result};
use crate::limits::reserved;

/// What a selection takes along one axis of the array, in the order of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TakenAxis {
    /// Evenly spaced indices: `start`, `start + step`, …, `len` of them. A single index has `len` 1 and `step` 1.
    Range {
        /// The first index.
        start: u64,
        /// The distance from one index to the next; negative when the walk goes backwards, never 0.
        step: i64,
        /// The number of indices.
        len: u64,
    },
    /// These indices, of a list or mask that is not evenly spaced.
    List(Vec<u64>),
}

impl TakenAxis {
    /// The number of indices.
    pub fn count(&self) -> u64 {
        match self {
            TakenAxis::Range { len, .. } => *len,
            TakenAxis::List(list) => list.len() as u64,
        }
    }
}

/// The parts that take the same indices again. An index is at most `i64::MAX`, as the length of an axis is.
impl From<TakenAxis> for Axis {
    fn from(taken: TakenAxis) -> Self {
        let signed = |index: u64| i64::try_from(index).unwrap_or(i64::MAX);
        let (start, step, len) = match taken {
            TakenAxis::List(list) => return Axis::List(list.into_iter().map(signed).collect()),
            TakenAxis::Range { len: 0, .. } => {
                return Axis::Range { start: Some(0), stop: Some(0), step: 1 };
            }
            TakenAxis::Range { start, step, len } => (start, step, len),
        };
        let last = i128::from(start) + i128::from(step) * i128::from(len - 1);
        // A negative bound counts from the end, so a backward walk down to index 0 has an open end.
        let stop = match last + i128::from(step.signum()) {
            ..0 => None,
            stop => Some(i64::try_from(stop).unwrap_or(i64::MAX)),
        };
        Axis::Range { start: Some(signed(start)), stop, step }
    }
}

impl ResolvedSelection {
    /// The shape of the result: without the axes of single indices, with the new ones. Of single items their number.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// For each axis of the result, the axis of the array that it runs along; `None` for new axes and for single items.
    pub fn axes(&self) -> &[Option<usize>] {
        &self.axes
    }

    /// What is taken along an axis of the array.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] when the array has no such axis; [`Error::Usage`] for selections of single items.
    pub fn along(&self, axis: usize) -> Result<TakenAxis> {
        let Taken::Axes(picks) = &self.taken else {
            return Err(Error::usage("a selection of points has no part along one axis"));
        };
        let Some(pick) = picks.get(axis) else {
            return Err(Error::out_of_bounds(
                axis,
                picks.len(),
                format!("there is no axis {axis}: the array has {} axes", picks.len()),
            ));
        };
        taken(pick)
    }

    /// The selection of the array that gives the box `start[d]..stop[d]` of the result.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] when the box is not inside the result; [`Error::Usage`] when it is empty along a new
    /// axis, which has always one item in a selection.
    pub fn part_of_box(&self, start: &[u64], stop: &[u64]) -> Result<Selection> {
        let inside = |((&start, &stop), &len): ((&u64, &u64), &u64)| start <= stop && stop <= len;
        let ndim = self.shape.len();
        if start.len() != ndim || stop.len() != ndim || !start.iter().zip(stop).zip(&self.shape).all(inside) {
            let tuple: Vec<String> = self.shape.iter().map(u64::to_string).collect();
            let message = format!(
                "the box {start:?} to {stop:?} is not inside the selection, whose shape is ({})",
                tuple.join(", ")
            );
            return Err(Error::shape(&self.shape, stop, message));
        }
        let is_new = |axis: &Option<usize>| axis.is_none() && matches!(self.taken, Taken::Axes(_));
        if self.axes.iter().zip(start.iter().zip(stop)).any(|(axis, (a, b))| is_new(axis) && a == b) {
            return Err(Error::usage("the box is empty along a new axis, which no selection is"));
        }
        let part = self.part(start, stop)?;
        let picks = match &part.taken {
            Taken::Axes(picks) => picks,
            Taken::Points(points) => {
                let mut positions = reserved("a selection of points", points.len())?;
                positions.extend(points.iter().map(|&at| i64::try_from(at).unwrap_or(i64::MAX)));
                return Ok(Selection::flat(positions));
            }
        };
        let mut parts = Vec::with_capacity(picks.len() + part.axes.len());
        let mut rest = picks.iter().enumerate();
        for axis in &part.axes {
            let Some(axis) = axis else {
                parts.push(Axis::NewAxis);
                continue;
            };
            for (n, pick) in rest.by_ref() {
                if n == *axis {
                    parts.push(taken(pick)?.into());
                    break;
                }
                parts.push(single(pick));
            }
        }
        parts.extend(rest.map(|(_, pick)| single(pick)));
        Ok(Selection::new(parts))
    }
}

/// The index of an axis that the result does not have.
fn single(pick: &Pick) -> Axis {
    match pick {
        Pick::Line(line) => Axis::Index(i64::try_from(line.start).unwrap_or(i64::MAX)),
        // A list keeps its axis.
        Pick::List(_) => Axis::List(Vec::new()),
    }
}

/// The indices in the order of the result.
fn taken(pick: &Pick) -> Result<TakenAxis> {
    let List { indices, order } = match pick {
        Pick::Line(Line { start, step, count }) => {
            return Ok(TakenAxis::Range { start: *start, step: *step, len: *count });
        }
        Pick::List(list) => list,
    };
    let mut list = reserved("a list of indices", indices.len())?;
    match order {
        None => list.extend_from_slice(indices),
        Some(order) => {
            list.resize(indices.len(), 0);
            for (&index, &place) in indices.iter().zip(order) {
                if let Some(entry) = list.get_mut(place) {
                    *entry = index;
                }
            }
        }
    }
    Ok(TakenAxis::List(list))
}
