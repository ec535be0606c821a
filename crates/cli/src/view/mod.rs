//! A slice of an array, resolved by the library, so that boxes of the result can be read one by one.
//!
//! The library takes every combination of several lists. NumPy pairs them, and the command follows NumPy: [`points`].

mod parse;
mod points;
#[cfg(test)]
mod tests;

use b2nd::{Array, Axis, ResolvedSelection, Selection, TakenAxis};

use self::parse::Part;
use self::points::Points;
use crate::failure::{Failure, Result};
use crate::report::lengths;
use crate::tiling::{Grid, Region};

/// A slice of an array.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// The slice as it was given, in NumPy's notation, with long lists cut short.
    #[cfg_attr(not(feature = "plot"), expect(dead_code, reason = "only pictures show it"))]
    text: String,
    /// Whether NumPy gives a scalar, and not an array without axes: an index for every axis, no `...`.
    scalar: bool,
    taken: Taken,
}

#[derive(Debug, Clone)]
enum Taken {
    /// Every combination of what is taken along each axis.
    Axes(ResolvedSelection),
    /// Several lists, paired.
    Points(Points),
}

/// What an axis of the result runs along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Along {
    /// Nothing: a new axis.
    New,
    /// Indices `start`, `start + step`, … of this axis of the array.
    Range { axis: usize, start: u64, step: i64 },
    /// A list of indices of this axis of the array.
    List { axis: usize },
    /// The entries of several lists.
    Points,
}

impl View {
    /// The part of an array of `shape` that `text` names in NumPy's notation; everything when there is none.
    pub(crate) fn parse(shape: &[u64], text: Option<&str>) -> Result<Self> {
        View::from_parts(shape, &text.map_or_else(|| Ok(Vec::new()), parse::parts)?)
    }

    /// The selection `axes` of an array of `shape`.
    #[cfg(any(feature = "plot", test))]
    pub(crate) fn new(shape: &[u64], axes: &[Axis]) -> Result<Self> {
        let parts: Vec<Part> = axes.iter().cloned().map(Part::from).collect();
        View::from_parts(shape, &parts)
    }

    fn from_parts(shape: &[u64], parts: &[Part]) -> Result<Self> {
        let failed = |error: b2nd::Error| {
            Failure::from(error).with_usage_hint(&format!("the shape is {}", lengths(shape)))
        };
        let text: Vec<String> = if parts.is_empty() {
            shape.iter().map(|_| ":".into()).collect()
        } else {
            parts.iter().map(|part| part.text.clone()).collect()
        };
        let indices = parts.iter().all(|part| matches!(part.axes[..], [Axis::Index(_)]));
        let axes: Vec<Axis> = parts.iter().flat_map(|part| part.axes.iter().cloned()).collect();
        parse::check_masks(shape, parts)?;
        let resolved = Selection::new(axes).resolve(shape).map_err(failed)?;
        let taken = if points::are_needed(parts) {
            Taken::Points(Points::new(shape, parts, &resolved).map_err(failed)?)
        } else {
            Taken::Axes(resolved)
        };
        let scalar = indices && !shape.is_empty() && parts.len() == shape.len();
        Ok(View { text: text.join(","), scalar, taken })
    }

    /// The slice in NumPy's notation.
    #[cfg(feature = "plot")]
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether NumPy gives a scalar.
    pub(crate) fn is_scalar(&self) -> bool {
        self.scalar
    }

    /// The shape of the result.
    pub(crate) fn shape(&self) -> Vec<u64> {
        match &self.taken {
            Taken::Axes(resolved) => resolved.shape().to_vec(),
            Taken::Points(points) => points.shape(),
        }
    }

    /// What each axis of the result runs along.
    pub(crate) fn along(&self) -> Result<Vec<Along>> {
        let resolved = match &self.taken {
            Taken::Axes(resolved) => resolved,
            Taken::Points(points) => return Ok(points.along()),
        };
        let along = |axis: &Option<usize>| {
            let Some(axis) = *axis else { return Ok(Along::New) };
            Ok(match resolved.along(axis)? {
                TakenAxis::Range { start, step, .. } => Along::Range { axis, start, step },
                _ => Along::List { axis },
            })
        };
        resolved.axes().iter().map(along).collect()
    }

    /// The box of the array, of `ndim` axes, that the view is, where it is one.
    pub(crate) fn as_box(&self, ndim: usize) -> Result<Option<Region>> {
        let Taken::Axes(resolved) = &self.taken else { return Ok(None) };
        let mut region = Region { start: Vec::new(), stop: Vec::new() };
        for axis in 0..ndim {
            let TakenAxis::Range { start, step: 1, len } = resolved.along(axis)? else { return Ok(None) };
            region.start.push(start);
            region.stop.push(start.saturating_add(len));
        }
        Ok(Some(region))
    }

    /// Whether the result is a box that is at least a chunk long along each axis which it cuts: then the chunks of the array
    /// suit it too.
    pub(crate) fn keeps_chunks(&self, shape: &[u64], chunks: &[u64]) -> Result<bool> {
        let Taken::Axes(resolved) = &self.taken else { return Ok(false) };
        let Some(region) = self.as_box(shape.len())? else { return Ok(false) };
        let whole = resolved.axes().iter().copied().eq((0..shape.len()).map(Some));
        let long = |(len, (&all, &chunk)): (u64, (&u64, &u64))| len == all || len >= chunk;
        Ok(whole && region.shape().into_iter().zip(shape.iter().zip(chunks)).all(long))
    }

    /// Where the axes of the result may be cut without cutting a chunk.
    pub(crate) fn grid(&self, chunks: &[u64]) -> Result<Vec<Grid>> {
        let shape = self.shape();
        let cuts = |(along, &len): (Along, &u64)| match along {
            Along::Range { axis, start, step } => {
                let chunk = chunks.get(axis).copied().unwrap_or(1).max(1);
                let (into, stride) = (start % chunk, step.unsigned_abs().max(1));
                let lead = if step > 0 { (chunk - into).div_ceil(stride) } else { into / stride + 1 };
                let cell = (chunk / stride).max(1);
                Grid { len, lead: lead.min(chunk).clamp(1, cell), cell }
            }
            _ => Grid::new(len, 1),
        };
        Ok(self.along()?.into_iter().zip(&shape).map(cuts).collect())
    }

    /// The memory that reading an item takes: paired lists are read by the position of each item.
    pub(crate) fn cost(&self, itemsize: usize) -> u64 {
        let position = match &self.taken {
            Taken::Axes(_) => 0,
            Taken::Points(_) => 48,
        };
        (itemsize as u64).saturating_add(position).max(1)
    }

    /// The selection of the array that gives a box of the result.
    pub(crate) fn part(&self, region: &Region) -> Result<Selection> {
        match &self.taken {
            Taken::Axes(resolved) => Ok(resolved.part_of_box(&region.start, &region.stop)?),
            Taken::Points(points) => points.part(region),
        }
    }

    /// The whole selection.
    pub(crate) fn whole(&self) -> Result<Selection> {
        let shape = self.shape();
        self.part(&Region { start: vec![0; shape.len()], stop: shape })
    }

    /// The view of every `every[d]`-th item along the axes of the result, from the first on; `shape` is the array's.
    #[cfg(feature = "plot")]
    pub(crate) fn thinned(&self, shape: &[u64], every: &[u64]) -> Result<View> {
        let taken = match &self.taken {
            Taken::Points(points) => Taken::Points(points.thinned(every)),
            Taken::Axes(resolved) => {
                let mut axes = Vec::new();
                let mut kept = resolved.axes().iter().zip(every).peekable();
                for axis in 0..shape.len() {
                    while kept.next_if(|(along, _)| along.is_none()).is_some() {
                        axes.push(Axis::NewAxis);
                    }
                    let every = kept.next_if(|(along, _)| **along == Some(axis)).map(|(_, &every)| every);
                    axes.push(match (resolved.along(axis)?, every) {
                        (TakenAxis::Range { start, .. }, None) => {
                            Axis::Index(i64::try_from(start).unwrap_or(i64::MAX))
                        }
                        (taken, every) => thin(taken, every.unwrap_or(1)).into(),
                    });
                }
                axes.extend(kept.map(|_| Axis::NewAxis));
                Taken::Axes(Selection::new(axes).resolve(shape)?)
            }
        };
        Ok(View { text: self.text.clone(), scalar: self.scalar, taken })
    }

    /// Reads a box of the result, in C order.
    pub(crate) fn read(&self, array: &Array, region: &Region) -> Result<Vec<u8>> {
        if region.items() == 0 {
            return Ok(Vec::new());
        }
        Ok(array.read_bytes(self.part(region)?)?)
    }
}

/// Every `every`-th of the indices, from the first on.
#[cfg(feature = "plot")]
fn thin(taken: TakenAxis, every: u64) -> TakenAxis {
    let every = every.max(1);
    match taken {
        TakenAxis::Range { start, step, len } => {
            let stride = i64::try_from(every).unwrap_or(i64::MAX);
            TakenAxis::Range { start, step: step.saturating_mul(stride), len: len.div_ceil(every) }
        }
        TakenAxis::List(mut list) => {
            let mut n = 0;
            list.retain(|_| {
                n += 1;
                (n - 1) % every == 0
            });
            TakenAxis::List(list)
        }
        other => other,
    }
}
