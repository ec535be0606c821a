//! Where the least and the greatest item are. NaN and NaT win over everything, and the first of equals, as in NumPy.

use crate::array::Array;
use crate::array::Dtype;
use crate::array::Kind;
use crate::array::Over;
use crate::array::Reduced;
use crate::array::dtype::ByteOrder;
use crate::array::iterate::Chunk;
use crate::array::reduce::extremes::Extreme;
use crate::array::reduce::extremes::Ordered;
use crate::error::Error;
use crate::error::Result;
use crate::limits::Limits;
use crate::limits::reserved;
use std::sync::Mutex;
use std::sync::PoisonError;

/// A search for the least or greatest items, over one axis or over all of them in C order.
pub(super) struct ExtremeSearch<'a> {
    array: &'a Array,
    /// The axis that is searched; `None`: all of them.
    axis: Option<usize>,
    shape: Vec<u64>,
    /// Whether the greatest times are wanted: NaT is the least integer, but must win.
    wraps: bool,
}

/// The best item so far of each item of the result, and where it is.
struct Best<T>(Vec<Option<(T, u64)>>);

impl<'a> ExtremeSearch<'a> {
    pub(super) fn new(array: &'a Array, over: &Over, name: &str, wraps: bool) -> Result<Self> {
        let shape = array.shape();
        if over.selection().axes().is_none_or(|axes| !axes.is_empty()) {
            return Err(Error::usage(format!(
                "{name} searches whole axes: slice the array for a part of them"
            )));
        }
        let reduced = over.reduced(shape.len())?;
        let axes: Vec<usize> = (0..shape.len()).filter(|&axis| reduced[axis]).collect();
        let axis = match axes[..] {
            [axis] if shape.len() > 1 => Some(axis),
            _ if axes.len() == shape.len() => None,
            _ => {
                let count = axes.len();
                return Err(Error::usage(format!(
                    "{name} searches one axis or all of them, and {count} are named"
                )));
            }
        };
        let kept = |(d, &length): (usize, &u64)| match reduced[d] {
            true => over.keeps_axes().then_some(1),
            false => Some(length),
        };
        let result: Vec<u64> = shape.iter().enumerate().filter_map(kept).collect();
        if shape.iter().zip(&reduced).any(|(&n, &reduced)| reduced && n == 0) && !result.contains(&0) {
            return Err(Error::usage(format!("{name} of an empty array: it needs at least one item")));
        }
        Ok(ExtremeSearch { array, axis, shape: result, wraps })
    }

    pub(super) fn run<T: Ordered, const MOST: bool>(self, _: &Extreme<T, MOST>) -> Result<Reduced> {
        let count = if self.shape.contains(&0) { 0 } else { self.shape.iter().product::<u64>() };
        let dtype = Dtype::scalar(Kind::Int, 8, ByteOrder::NATIVE);
        let bytes = count.saturating_mul(8);
        Limits::check("the result of the reduction", bytes, self.array.schunk.limits().max_read_bytes())?;
        let hooked = self.array.schunk.processing().post.is_some();
        if count == 0 || (!hooked && self.array.schunk.uniform()?.is_some()) {
            // All items are the same, so the first is the one.
            let zeros = crate::limits::zeroed("the result of the reduction", bytes)?;
            return Ok(Reduced::new(dtype, self.shape, zeros));
        }
        let mut best = reserved("the result of the reduction", count as usize)?;
        best.resize(count as usize, None);
        let best = Mutex::new(Best(best));
        self.array.par_chunks(|chunk| {
            let found = self.in_chunk::<T, MOST>(chunk)?;
            let mut best = best.lock().unwrap_or_else(PoisonError::into_inner);
            self.join::<T, MOST>(chunk, &found, &mut best);
            Ok(())
        })?;
        let best = best.into_inner().unwrap_or_else(PoisonError::into_inner);
        // The items of an array are fewer than 2^63.
        let places: Vec<i64> = best.0.iter().map(|found| found.map_or(0, |(_, at)| at as i64)).collect();
        Ok(Reduced::new(dtype, self.shape, bytemuck::cast_slice(&places).to_vec()))
    }

    /// The best of each lane of a chunk, with its place in the lane. Lanes are in C order.
    fn in_chunk<T: Ordered, const MOST: bool>(&self, chunk: &Chunk<'_>) -> Result<Best<T>> {
        let mut items: Vec<T> = bytemuck::allocation::try_zeroed_vec(chunk.size() as usize)
            .map_err(|()| Error::out_of_memory("the items of a chunk", chunk.size()))?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut items);
        chunk.read_bytes_into(bytes)?;
        self.array.dtype().swap_to_native(bytes)?;
        if self.wraps {
            for time in bytemuck::cast_slice_mut::<T, i64>(&mut items) {
                *time = time.wrapping_sub(1);
            }
        }
        let shape = chunk.shape();
        let (len, inner) = match self.axis {
            Some(axis) => (shape[axis] as usize, shape[axis + 1..].iter().product::<u64>() as usize),
            None => (items.len(), 1),
        };
        let mut lanes = Vec::new();
        for lane in items.chunks_exact((len * inner).max(1)) {
            let first = lanes.len();
            lanes.extend(lane[..inner].iter().map(|&item| Some((item, 0))));
            for (at, row) in lane.chunks_exact(inner.max(1)).enumerate() {
                for (best, &item) in lanes[first..].iter_mut().zip(row) {
                    if let Some((most, _)) = *best
                        && wins::<T, MOST>(item, most)
                    {
                        *best = Some((item, at as u64));
                    }
                }
            }
        }
        Ok(Best(lanes))
    }

    /// Merges the result of a chunk.
    fn join<T: Ordered, const MOST: bool>(&self, chunk: &Chunk<'_>, found: &Best<T>, best: &mut Best<T>) {
        let (own, shape, start) = (self.array.shape(), chunk.shape(), chunk.start());
        for (lane, found) in found.0.iter().enumerate() {
            let Some((item, at)) = *found else { continue };
            // From the last axis to the first: the place in the result, and in the axis that is searched.
            let (mut rest, mut place, mut stride, mut index) = (lane as u64, 0, 1, 0);
            let (mut local, mut flat, mut scale) = (at, 0, 1);
            for d in (0..own.len()).rev() {
                match self.axis {
                    None => {
                        flat += (start[d] + local % shape[d]) * scale;
                        local /= shape[d];
                        scale *= own[d];
                    }
                    Some(axis) if axis == d => index = start[d] + at,
                    Some(_) => {
                        place += (start[d] + rest % shape[d]) * stride;
                        rest /= shape[d];
                        stride *= own[d];
                    }
                }
            }
            let index = if self.axis.is_none() { flat } else { index };
            let Some(known) = best.0.get_mut(place as usize) else { continue };
            let better = known.is_none_or(|(most, earlier)| {
                wins::<T, MOST>(item, most) || (!wins::<T, MOST>(most, item) && index < earlier)
            });
            if better {
                *known = Some((item, index));
            }
        }
    }
}

/// Whether `x` is less (`MOST`: greater) than `best`, or the only NaN of the two.
fn wins<T: Ordered, const MOST: bool>(x: T, best: T) -> bool {
    T::better::<MOST>(x, best) && !T::better::<MOST>(best, x)
}
