//! A selection of an array, resolved: what each axis of the result is, so that parts of the result can be read on their own.

use b2nd::array::{Array, Axis, Selection};

use crate::failure::{Failure, Result};
use crate::report::lengths;
use crate::tiling::{Grid, Region};

/// One axis of the array under a selection: items `start`, `start + step`, …, `len` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pick {
    /// The axis of the array.
    pub(crate) axis: usize,
    /// The first index.
    pub(crate) start: u64,
    /// From one index to the next: not 0.
    pub(crate) step: i64,
    /// The number of indices.
    pub(crate) len: u64,
    /// Whether the axis is there in the result (not for a single index).
    pub(crate) kept: bool,
}

/// A selection of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct View {
    picks: Vec<Pick>,
    /// For each axis of the result, its place among `picks`; `None` for a new axis.
    result: Vec<Option<usize>>,
}

impl View {
    /// The part of an array of `shape` that `text` says in NumPy's notation; everything when there is none.
    pub(crate) fn parse(shape: &[u64], text: Option<&str>) -> Result<Self> {
        let selection = match text {
            None => Selection::all(),
            Some(text) => Selection::parse(text).map_err(|error| {
                Failure::usage(
                    format!("the slice '{text}': {error}"),
                    "write slices as in NumPy, one part for each axis: '10:20,:,-5', '::-1', '...,0', 'None,3'",
                )
            })?,
        };
        View::new(shape, selection.axes().unwrap_or_default())
    }

    /// The selection `axes` of an array of `shape`.
    pub(crate) fn new(shape: &[u64], axes: &[Axis]) -> Result<Self> {
        let named = axes.iter().filter(|a| !matches!(a, Axis::NewAxis | Axis::Ellipsis)).count();
        let ellipses = axes.iter().filter(|a| matches!(a, Axis::Ellipsis)).count();
        if ellipses > 1 {
            return Err(Failure::usage("the slice has more than one ellipsis", "`...` may stand once"));
        }
        let Some(left_over) = shape.len().checked_sub(named) else {
            let message = format!("the slice names {named} axes, and the array has {}", shape.len());
            return Err(Failure::usage(message, format!("the shape is {}", lengths(shape))));
        };
        let mut view = View { picks: Vec::with_capacity(shape.len()), result: Vec::new() };
        let implied = (ellipses == 0).then_some(&Axis::Ellipsis);
        for part in axes.iter().chain(implied) {
            match part {
                Axis::NewAxis => view.result.push(None),
                Axis::Ellipsis => {
                    for _ in 0..left_over {
                        view.push(shape, &Axis::Range { start: None, stop: None, step: 1 })?;
                    }
                }
                part => view.push(shape, part)?,
            }
        }
        Ok(view)
    }

    fn push(&mut self, shape: &[u64], part: &Axis) -> Result<()> {
        let axis = self.picks.len();
        let len = shape.get(axis).copied().unwrap_or(0);
        let pick = match *part {
            Axis::Index(index) => {
                let at =
                    if index < 0 { len.checked_sub(index.unsigned_abs()) } else { u64::try_from(index).ok() };
                let Some(start) = at.filter(|&at| at < len) else {
                    let message = format!("index {index} is out of bounds for axis {axis} of length {len}");
                    return Err(Failure::usage(message, format!("the shape is {}", lengths(shape))));
                };
                Pick { axis, start, step: 1, len: 1, kept: false }
            }
            Axis::Range { start, stop, step } => range(axis, len, start, stop, step)?,
            _ => {
                return Err(Failure::usage(
                    "the slice has a list of indices",
                    "the command takes ranges and integers; lists are for the library",
                ));
            }
        };
        if pick.kept {
            self.result.push(Some(axis));
        }
        self.picks.push(pick);
        Ok(())
    }

    /// What is taken of each axis of the array.
    pub(crate) fn picks(&self) -> &[Pick] {
        &self.picks
    }

    /// What the axes of the result are; `None` for a new axis.
    pub(crate) fn axes(&self) -> impl Iterator<Item = Option<Pick>> + '_ {
        self.result.iter().map(|axis| axis.and_then(|n| self.picks.get(n).copied()))
    }

    /// The shape of the result.
    pub(crate) fn shape(&self) -> Vec<u64> {
        self.axes().map(|pick| pick.map_or(1, |p| p.len)).collect()
    }

    /// Whether the result is a box that is at least a chunk long along each axis which it cuts: then the chunks of the array
    /// suit it too.
    pub(crate) fn keeps_chunks(&self, shape: &[u64], chunks: &[u64]) -> bool {
        let long = |(pick, (&len, &chunk)): (&Pick, (&u64, &u64))| {
            pick.kept && (pick.step == 1 || pick.len == 1) && (pick.len == len || pick.len >= chunk)
        };
        self.result.len() == self.picks.len() && self.picks.iter().zip(shape.iter().zip(chunks)).all(long)
    }

    /// Where the axes of the result may be cut without cutting a chunk.
    pub(crate) fn grid(&self, chunks: &[u64]) -> Vec<Grid> {
        self.axes()
            .map(|pick| {
                let Some(pick) = pick else { return Grid::new(1, 1) };
                let chunk = chunks.get(pick.axis).copied().unwrap_or(1).max(1);
                let step = pick.step.unsigned_abs().max(1);
                let into = pick.start % chunk;
                let lead = if pick.step > 0 { (chunk - into).div_ceil(step) } else { into / step + 1 };
                Grid { len: pick.len, lead: lead.min(chunk), cell: (chunk / step).max(1) }
            })
            .map(|grid| Grid { lead: grid.lead.clamp(1, grid.cell), ..grid })
            .collect()
    }

    /// The selection of the array that gives a box of the result (without its new axes: the bytes are the same).
    pub(crate) fn part(&self, region: &Region) -> Selection {
        let mut parts: Vec<Axis> = self.picks.iter().map(|pick| Axis::Index(signed(pick.start))).collect();
        for ((axis, &a), &b) in self.result.iter().zip(&region.start).zip(&region.stop) {
            let Some((pick, part)) = axis.and_then(|n| self.picks.get(n).copied().zip(parts.get_mut(n)))
            else {
                continue;
            };
            *part = part_of(pick, a, b);
        }
        Selection::new(parts)
    }

    /// The whole selection, without its new axes.
    pub(crate) fn whole(&self) -> Selection {
        let shape = self.shape();
        self.part(&Region { start: vec![0; shape.len()], stop: shape })
    }

    /// The view of every `every[d]`-th item along the axes of the result, from the first on.
    #[must_use]
    pub(crate) fn thinned(&self, every: &[u64]) -> View {
        let mut thin = self.clone();
        for (axis, &every) in self.result.iter().zip(every) {
            if let Some(pick) = axis.and_then(|n| thin.picks.get_mut(n)) {
                pick.step = pick.step.saturating_mul(signed(every.max(1)));
                pick.len = pick.len.div_ceil(every.max(1));
            }
        }
        thin
    }

    /// Reads a box of the result, in C order.
    pub(crate) fn read(&self, array: &Array, region: &Region) -> Result<Vec<u8>> {
        if region.items() == 0 {
            return Ok(Vec::new());
        }
        Ok(array.read_bytes(self.part(region))?)
    }
}

fn range(axis: usize, len: u64, start: Option<i64>, stop: Option<i64>, step: i64) -> Result<Pick> {
    if step == 0 {
        return Err(Failure::usage(
            "a slice step cannot be zero",
            "steps are 1 or more, or negative to go backwards",
        ));
    }
    // As Python's slice.indices: in 128 bits nothing overflows.
    let (n, step_wide) = (i128::from(len), i128::from(step));
    let (lowest, highest) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let clip = |at: i64| {
        let at = i128::from(at);
        (if at < 0 { at + n } else { at }).clamp(lowest, highest)
    };
    let first = start.map_or(if step > 0 { lowest } else { highest }, clip);
    let end = stop.map_or(if step > 0 { highest } else { lowest }, clip);
    let distance = if step > 0 { end - first } else { first - end };
    let count = if distance <= 0 { 0 } else { (distance - 1) / step_wide.abs() + 1 };
    Ok(Pick {
        axis,
        start: u64::try_from(first).unwrap_or(0),
        step,
        len: u64::try_from(count).unwrap_or(0),
        kept: true,
    })
}

fn part_of(pick: Pick, a: u64, b: u64) -> Axis {
    if b <= a {
        return Axis::Range { start: Some(0), stop: Some(0), step: 1 };
    }
    let at = |n: u64| i128::from(pick.start) + i128::from(n) * i128::from(pick.step);
    let (first, last) = (at(a), at(b - 1));
    let stop = if pick.step > 0 { last + 1 } else { last - 1 };
    // One before the first index cannot be said as a number: -1 is the last one.
    let stop = if stop < 0 { None } else { Some(i64::try_from(stop).unwrap_or(i64::MAX)) };
    Axis::Range { start: Some(i64::try_from(first).unwrap_or(i64::MAX)), stop, step: pick.step }
}

fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(start: Option<i64>, stop: Option<i64>, step: i64) -> Axis {
        Axis::Range { start, stop, step }
    }

    /// The indices that a selection part takes of an axis of `len` items, one by one.
    fn indices(len: i64, part: &Axis) -> Vec<i64> {
        let Axis::Range { start, stop, step } = *part else { panic!("not a range") };
        let fix = |at: i64| if at < 0 { at + len } else { at };
        let mut at = start.map_or(if step > 0 { 0 } else { len - 1 }, fix);
        if step < 0 {
            at = at.min(len - 1);
        } else {
            at = at.max(0);
        }
        let end = stop.map_or(if step > 0 { len } else { -1 }, fix);
        let mut all = Vec::new();
        while (step > 0 && at < end.min(len)) || (step < 0 && at > end.max(-1)) {
            all.push(at);
            at += step;
        }
        all
    }

    #[test]
    fn parts_of_a_range_are_the_range() {
        for len in 0..7i64 {
            for (start, stop) in (-8..9).flat_map(|a| (-8..9).map(move |b| (a, b))) {
                for step in [-9, -3, -2, -1, 1, 2, 3, 9] {
                    let open = |at: i64| (at != 8).then_some(at);
                    let part = every(open(start), open(stop), step);
                    let want = indices(len, &part);
                    let view = View::new(&[len as u64], std::slice::from_ref(&part)).unwrap();
                    assert_eq!(view.shape(), [want.len() as u64], "{len} {part:?}");
                    for cut in 0..=want.len() {
                        let region =
                            |a: usize, b: usize| Region { start: vec![a as u64], stop: vec![b as u64] };
                        let mut got = Vec::new();
                        for region in [region(0, cut), region(cut, want.len())] {
                            got.extend(indices(len, &view.part(&region).axes().unwrap()[0]));
                        }
                        assert_eq!(got, want, "{len} {part:?} {cut}");
                    }
                }
            }
        }
    }

    #[test]
    fn integers_drop_axes_and_new_axes_add_them() {
        let view =
            View::new(&[4, 5, 6], &[Axis::Index(-1), Axis::NewAxis, Axis::Ellipsis, Axis::Index(2)]).unwrap();
        assert_eq!(view.shape(), [1, 5]);
        assert_eq!(view.picks()[0].start, 3);
        let part = view.part(&Region { start: vec![0, 1], stop: vec![1, 4] });
        assert_eq!(part.axes().unwrap(), [Axis::Index(3), every(Some(1), Some(4), 1), Axis::Index(2)]);
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        for axes in [
            &[Axis::Index(4)][..],
            &[Axis::Index(-5)],
            &[Axis::Index(0), Axis::Index(0)],
            &[Axis::Ellipsis, Axis::Ellipsis],
            &[every(None, None, 0)],
        ] {
            assert!(View::new(&[4], axes).is_err(), "{axes:?}");
        }
        assert!(View::new(&[0], &[Axis::Index(0)]).is_err());
    }

    #[test]
    fn the_grid_of_a_range_follows_the_chunks() {
        let grid = |part| View::new(&[100], &[part]).unwrap().grid(&[10])[0];
        assert_eq!(grid(every(None, None, 1)), Grid { len: 100, lead: 10, cell: 10 });
        assert_eq!(grid(every(Some(13), None, 1)), Grid { len: 87, lead: 7, cell: 10 });
        assert_eq!(grid(every(Some(13), Some(2), -1)), Grid { len: 11, lead: 4, cell: 10 });
        assert_eq!(grid(every(None, None, 30)), Grid { len: 4, lead: 1, cell: 1 });
    }
}
