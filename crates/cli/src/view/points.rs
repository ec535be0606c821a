//! Several lists in one slice: NumPy pairs their entries, where the library takes every combination.
//!
//! The items are read by their positions in C order.

use b2nd::{Axis, Error, ResolvedSelection, Result, Selection, TakenAxis};

use super::Along;
use super::parse::Part;
use crate::failure::Failure;
use crate::tiling::Region;

/// Lists whose entries are paired, and the other axes of the result.
#[derive(Debug, Clone)]
pub(super) struct Points {
    axes: Vec<ResultAxis>,
}

/// An axis of the result.
#[derive(Debug, Clone)]
enum ResultAxis {
    New,
    /// The points: the position of each, as far as the lists and the indices say.
    Points(Vec<u64>),
    /// Indices along an axis of the array, whose items lie `stride` positions apart.
    Axis {
        axis: usize,
        taken: TakenAxis,
        stride: u64,
    },
}

impl ResultAxis {
    fn len(&self) -> u64 {
        match self {
            ResultAxis::New => 1,
            ResultAxis::Points(points) => points.len() as u64,
            ResultAxis::Axis { taken, .. } => taken.count(),
        }
    }

    /// What index `n` adds to the position.
    fn offset(&self, n: u64) -> u64 {
        let entry = |list: &[u64]| usize::try_from(n).ok().and_then(|n| list.get(n).copied()).unwrap_or(0);
        match self {
            ResultAxis::New => 0,
            ResultAxis::Points(points) => entry(points),
            ResultAxis::Axis { taken, stride, .. } => index(taken, n).wrapping_mul(*stride),
        }
    }
}

/// Index `n` of what is taken along an axis.
fn index(taken: &TakenAxis, n: u64) -> u64 {
    match taken {
        TakenAxis::Range { start, step, .. } => start.wrapping_add_signed(step.wrapping_mul(n.cast_signed())),
        TakenAxis::List(list) => usize::try_from(n).ok().and_then(|n| list.get(n).copied()).unwrap_or(0),
        _ => 0,
    }
}

fn is_list(part: &Part) -> bool {
    matches!(part.axes.first(), Some(Axis::List(_) | Axis::Mask(_)))
}

/// Whether a part is one of those that NumPy pairs: beside a list single indices are lists of one entry.
fn is_paired(part: &Part) -> bool {
    is_list(part) || matches!(part.axes[..], [Axis::Index(_)])
}

/// Whether the lists and the indices follow each other, with no other part between.
fn are_together(parts: &[Part]) -> bool {
    let first = parts.iter().position(is_paired).unwrap_or(0);
    let last = parts.iter().rposition(is_paired).unwrap_or(0);
    parts.get(first..=last).unwrap_or_default().iter().all(is_paired)
}

/// Whether NumPy takes something else than every combination: of several lists, or of a list and an index apart from it.
pub(super) fn are_needed(parts: &[Part]) -> bool {
    let lists: usize = parts.iter().filter(|part| is_list(part)).map(|part| part.axes.len()).sum();
    lists > 1 || (lists == 1 && !are_together(parts))
}

impl Points {
    /// What `parts` take of an array of `shape`; `resolved` has their numbers.
    pub(super) fn new(shape: &[u64], parts: &[Part], resolved: &ResolvedSelection) -> Result<Self> {
        let mut strides = vec![1u64; shape.len()];
        for axis in (1..shape.len()).rev() {
            let inner = strides.get(axis).zip(shape.get(axis)).map_or(1, |(a, b)| a.saturating_mul(*b));
            if let Some(stride) = strides.get_mut(axis - 1) {
                *stride = inner;
            }
        }
        let stride = |axis: usize| strides.get(axis).copied().unwrap_or(1);
        let named = parts.iter().flat_map(|part| &part.axes);
        let named = named.filter(|axis| !matches!(axis, Axis::NewAxis | Axis::Ellipsis)).count();
        let rest = shape.len().saturating_sub(named);
        let has_ellipsis = parts.iter().any(|part| matches!(part.axes[..], [Axis::Ellipsis]));
        let (mut axes, mut paired, mut place, mut at) = (Vec::new(), Vec::new(), None, 0);
        let whole = |at: &mut usize| -> Result<ResultAxis> {
            let axis = *at;
            *at += 1;
            Ok(ResultAxis::Axis { axis, taken: resolved.along(axis)?, stride: stride(axis) })
        };
        for part in parts {
            if is_paired(part) {
                place.get_or_insert(axes.len());
                for _ in &part.axes {
                    paired.push((resolved.along(at)?, stride(at)));
                    at += 1;
                }
                continue;
            }
            match part.axes[..] {
                [Axis::NewAxis] => axes.push(ResultAxis::New),
                [Axis::Ellipsis] => {
                    for _ in 0..rest {
                        axes.push(whole(&mut at)?);
                    }
                }
                _ => axes.push(whole(&mut at)?),
            }
        }
        if !has_ellipsis {
            for _ in 0..rest {
                axes.push(whole(&mut at)?);
            }
        }
        let place = if are_together(parts) { place.unwrap_or(0) } else { 0 };
        axes.insert(place.min(axes.len()), ResultAxis::Points(pair(&paired)?));
        Ok(Points { axes })
    }

    pub(super) fn shape(&self) -> Vec<u64> {
        self.axes.iter().map(ResultAxis::len).collect()
    }

    pub(super) fn along(&self) -> Vec<Along> {
        let along = |axis: &ResultAxis| match axis {
            ResultAxis::New => Along::New,
            ResultAxis::Points(_) => Along::Points,
            ResultAxis::Axis { axis, taken: TakenAxis::Range { start, step, .. }, .. } => {
                Along::Range { axis: *axis, start: *start, step: *step }
            }
            ResultAxis::Axis { axis, .. } => Along::List { axis: *axis },
        };
        self.axes.iter().map(along).collect()
    }

    /// The items of a box of the result.
    pub(super) fn part(&self, region: &Region) -> Result<Selection, Failure> {
        Ok(Selection::flat(self.positions(region)?))
    }

    /// The positions of the items of a box of the result.
    pub(super) fn positions(&self, region: &Region) -> Result<Vec<i64>> {
        let (mut positions, mut next): (Vec<i64>, Vec<i64>) = (vec![0], Vec::new());
        for (axis, (&start, &stop)) in self.axes.iter().zip(region.start.iter().zip(&region.stop)) {
            let count = usize::try_from(stop.saturating_sub(start)).unwrap_or(usize::MAX);
            let len = positions.len().saturating_mul(count);
            next.clear();
            let bytes = len.saturating_mul(size_of::<i64>()) as u64;
            let what = "the positions of a slice with lists";
            next.try_reserve_exact(len).map_err(|_| Error::OutOfMemory { what, bytes })?;
            for position in &positions {
                next.extend((start..stop).map(|n| position.wrapping_add_unsigned(axis.offset(n))));
            }
            std::mem::swap(&mut positions, &mut next);
        }
        Ok(positions)
    }

    /// Every `every[d]`-th item along the axes of the result.
    #[cfg(feature = "plot")]
    pub(super) fn thinned(&self, every: &[u64]) -> Self {
        let each = |(axis, &every): (&ResultAxis, &u64)| match axis {
            ResultAxis::New => ResultAxis::New,
            ResultAxis::Points(points) => {
                let every = usize::try_from(every).unwrap_or(usize::MAX).max(1);
                ResultAxis::Points(points.iter().copied().step_by(every).collect())
            }
            ResultAxis::Axis { axis, taken, stride } => {
                ResultAxis::Axis { axis: *axis, taken: super::thin(taken.clone(), every), stride: *stride }
            }
        };
        Points { axes: self.axes.iter().zip(every).map(each).collect() }
    }
}

/// The position of each point, from what is taken along the axes of the lists, with the strides of these.
fn pair(paired: &[(TakenAxis, u64)]) -> Result<Vec<u64>> {
    let counts: Vec<u64> = paired.iter().map(|(taken, _)| taken.count()).collect();
    // As NumPy: one entry goes with every other list, also with an empty one.
    let count = counts.iter().copied().find(|&count| count != 1).unwrap_or(1);
    if counts.iter().any(|&other| other != 1 && other != count) {
        let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
        return Err(Error::Usage(format!(
            "the lists of the slice have {} entries: NumPy pairs them, so they must have equally many, or one",
            counts.join(" and ")
        )));
    }
    let position = |n: u64| {
        let each = |(taken, stride): &(TakenAxis, u64)| {
            let n = if taken.count() == 1 { 0 } else { n };
            index(taken, n).wrapping_mul(*stride)
        };
        paired.iter().map(each).fold(0, u64::wrapping_add)
    };
    Ok((0..count).map(position).collect())
}
