//! Selections against a shape: every number made absolute and checked.

use super::Axis;
use crate::error::Error;
use crate::error::Result;

/// The indices taken along one axis of the array: `start`, `start + step`, …, `count` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) start: u64,
    pub(crate) step: i64,
    pub(crate) count: u64,
}

/// A selection with all its numbers known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// One line for each axis of the array.
    pub(crate) lines: Vec<Line>,
    /// The shape of the result: without the indexed axes, with the new ones.
    pub(crate) shape: Vec<u64>,
}

impl Resolved {
    /// The number of items; an error when it does not fit.
    pub(crate) fn items(&self) -> Result<u64> {
        let product = |total: u64, line: &Line| total.checked_mul(line.count);
        if self.lines.iter().any(|line| line.count == 0) {
            return Ok(0);
        }
        self.lines
            .iter()
            .try_fold(1, product)
            .ok_or_else(|| Error::usage("the selection has more than 2^64 items"))
    }
}

pub(super) fn resolve(axes: &[Axis], shape: &[u64]) -> Result<Resolved> {
    let used = axes.iter().filter(|a| matches!(a, Axis::Index(_) | Axis::Range { .. })).count();
    let ellipses = axes.iter().filter(|a| matches!(a, Axis::Ellipsis)).count();
    if used > shape.len() {
        return Err(Error::usage(format!(
            "the slice names {used} axes, and the array has {}: its shape is {shape:?}",
            shape.len()
        )));
    }
    if ellipses > 1 {
        return Err(Error::usage("a slice can hold one '...' only"));
    }
    let whole = Axis::from(..);
    let left = shape.len() - used;
    // Without an ellipsis the axes that are left over come last.
    let tail = if ellipses == 0 { left } else { 0 };
    let parts = axes.iter().flat_map(|part| match part {
        Axis::Ellipsis => std::iter::repeat_n(whole, left),
        other => std::iter::repeat_n(*other, 1),
    });
    let mut resolved =
        Resolved { lines: Vec::with_capacity(shape.len()), shape: Vec::with_capacity(shape.len()) };
    let mut lengths = shape.iter().copied().enumerate();
    for part in parts.chain(std::iter::repeat_n(whole, tail)) {
        if part == Axis::NewAxis {
            resolved.shape.push(1);
            continue;
        }
        let Some((axis, length)) = lengths.next() else { break };
        let line = resolve_axis(part, axis, length)?;
        if !matches!(part, Axis::Index(_)) {
            resolved.shape.push(line.count);
        }
        resolved.lines.push(line);
    }
    Ok(resolved)
}

/// Python's rules for one axis of `length` items.
fn resolve_axis(part: Axis, axis: usize, length: u64) -> Result<Line> {
    let signed = i128::from(length);
    match part {
        Axis::Index(index) => {
            let absolute = i128::from(index) + if index < 0 { signed } else { 0 };
            match u64::try_from(absolute) {
                Ok(start) if start < length => Ok(Line { start, step: 1, count: 1 }),
                _ => Err(Error::usage(format!(
                    "index {index} is out of range for axis {axis} with {length} items"
                ))),
            }
        }
        Axis::Range { start, stop, step } => {
            if step == 0 {
                return Err(Error::usage(format!("the step along axis {axis} is 0")));
            }
            // A backward walk may start at the last item and end before the first, hence the bounds shifted by one.
            let (low, high) = if step > 0 { (0, signed) } else { (-1, signed - 1) };
            let absolute =
                |bound: i64| (i128::from(bound) + if bound < 0 { signed } else { 0 }).clamp(low, high);
            let first = start.map_or(if step > 0 { low } else { high }, absolute);
            let last = stop.map_or(if step > 0 { high } else { low }, absolute);
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
        Axis::NewAxis | Axis::Ellipsis => Ok(Line { start: 0, step: 1, count: length }),
    }
}
