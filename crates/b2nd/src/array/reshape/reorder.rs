//! The same items, in C order, in another shape.

use crate::array::Array;
use crate::array::ArrayWriter;
use crate::array::Options;
use crate::array::Selection;
use crate::array::Shape;
use crate::array::grid::unravel;
use crate::error::Error;
use crate::error::Result;
use crate::exec::Exec;
use crate::limits::zeroed;
use std::ops::Range;
use std::path::Path;

/// Where the rows of chunks of source and result end in different places, as much is read at once as this allows, so that
/// few chunks are read twice.
const READ_BYTES: u64 = 64 << 20;

impl Options {
    /// Makes an array at `path` of the items of another, in C order, in another shape.
    ///
    /// Codec and filters are those of the array where the options do not say others. One row of chunks of the result is in
    /// memory at a time, or a few up to 64 MiB.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [6])?;
    /// a.write_bytes(s![], &[0, 1, 2, 3, 4, 5])?;
    /// let table = Options::new().reshape_in_memory(&a, [3, 2])?;
    /// assert_eq!(table.read_bytes(s![.., 1])?, [1, 3, 5]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Options::create`], [`Error::ShapeMismatch`] when the shape has another number of items, and
    /// [`Error::Format`] where the array is damaged.
    pub fn reshape(self, path: impl AsRef<Path>, array: &Array, shape: impl Into<Shape>) -> Result<Array> {
        self.reshaped(Some(path.as_ref()), array, shape.into().lengths()?)
    }

    /// As [`Options::reshape`], in memory.
    ///
    /// # Errors
    /// As [`Options::reshape`].
    pub fn reshape_in_memory(self, array: &Array, shape: impl Into<Shape>) -> Result<Array> {
        self.reshaped(None, array, shape.into().lengths()?)
    }

    fn reshaped(self, path: Option<&Path>, array: &Array, shape: &[u64]) -> Result<Array> {
        let size = if shape.contains(&0) {
            Some(0)
        } else {
            shape.iter().try_fold(1, |n: u64, &d| n.checked_mul(d))
        };
        if size != Some(array.size()) {
            let (size, old) = (array.size(), array.shape());
            return Err(Error::shape(
                old,
                shape,
                format!("{size} items of shape {old:?} cannot have the shape {shape:?}"),
            ));
        }
        let options = self.or_like(&array.schunk, array.dtype(), None);
        let mut writer = options.begin(path, array.dtype().clone(), shape)?;
        if array.size() > 0 {
            copy_rows(array, &mut writer)?;
        }
        writer.commit()
    }
}

/// Copies all items in C order, some rows of chunks at a time.
fn copy_rows(array: &Array, writer: &mut ArrayWriter) -> Result<()> {
    let shape = writer.array().shape().to_vec();
    let exec = writer.array().schunk.exec().clone();
    let itemsize = array.grid.itemsize() as u64;
    let row_items = |a: &Array| a.shape().iter().skip(1).product::<u64>();
    let chunk_rows = writer.array().chunks().first().copied().unwrap_or(1);
    let row = row_items(writer.array());
    let step = chunk_rows.saturating_mul(row);
    let theirs = array.chunks().first().copied().unwrap_or(1).saturating_mul(row_items(array));
    let most = (READ_BYTES / itemsize / step).max(1);
    let rows = chunk_rows.saturating_mul(theirs.div_ceil(step).clamp(1, most));
    let count = shape.first().copied().unwrap_or(1);
    let mut items = Vec::new();
    let mut at = 0;
    while at < count {
        let end = at.saturating_add(rows).min(count);
        let bytes = (end - at).saturating_mul(row).saturating_mul(itemsize);
        if items.len() as u64 != bytes {
            items = zeroed("rows of an array", bytes)?;
        }
        read_flat(array, at * row..end * row, &mut items, &exec)?;
        let selection = match shape.split_first() {
            Some((_, rest)) => {
                let start: Vec<u64> = [at].into_iter().chain(rest.iter().map(|_| 0)).collect();
                let stop: Vec<u64> = [end].into_iter().chain(rest.iter().copied()).collect();
                Selection::from_box(&start, &stop)
            }
            None => Selection::all(),
        };
        writer.write_bytes(selection, &items)?;
        at = end;
    }
    Ok(())
}

/// Reads the items `range` of an array in C order.
fn read_flat(array: &Array, range: Range<u64>, out: &mut [u8], exec: &Exec) -> Result<()> {
    let mut rest = out;
    for (start, counts) in flat_boxes(array.shape(), range) {
        let bytes = counts.iter().product::<u64>() * array.grid.itemsize() as u64;
        let (these, after) = rest
            .split_at_mut_checked(usize::try_from(bytes).unwrap_or(usize::MAX))
            .ok_or_else(|| Error::usage("the buffer is too small"))?;
        array.items().read_box(&start, &counts, these, exec)?;
        rest = after;
    }
    Ok(())
}

/// The boxes that hold the items `range` of an array in C order, one behind the other: at most two for each axis.
fn flat_boxes(shape: &[u64], range: Range<u64>) -> Vec<(Vec<u64>, Vec<u64>)> {
    let mut boxes = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let start = unravel(at, shape);
        let left = range.end - at;
        // The outermost axis of which whole slabs are left, from the start of all axes behind it.
        let (mut axis, mut slab) = (shape.len(), 1);
        while axis > 0 {
            let inner = slab * if axis == shape.len() { 1 } else { shape[axis] };
            if inner > left || (axis < shape.len() && start[axis] != 0) {
                break;
            }
            slab = inner;
            axis -= 1;
        }
        let counts: Vec<u64> = match shape.get(axis) {
            None => Vec::new(),
            Some(&length) => {
                let count = (left / slab).min(length - start[axis]);
                at += count * slab;
                let inner = shape[axis + 1..].iter().copied();
                std::iter::repeat_n(1, axis).chain([count]).chain(inner).collect()
            }
        };
        if counts.is_empty() {
            at = range.end;
        }
        boxes.push((start, counts));
    }
    boxes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn boxes_hold_a_range_in_order(
            shape in proptest::collection::vec(1u64..6, 0..5), from in 0u64..1000, count in 0u64..1000,
        ) {
            let size: u64 = shape.iter().product();
            let start = from % (size + 1);
            let end = (start + count).min(size);
            let boxes = flat_boxes(&shape, start..end);
            prop_assert!(boxes.len() <= (2 * shape.len()).max(1));
            let mut items = Vec::new();
            for (start, counts) in boxes {
                for n in 0..counts.iter().product() {
                    let at = unravel(n, &counts);
                    items.push((0..shape.len()).fold(0, |flat, d| flat * shape[d] + start[d] + at[d]));
                }
            }
            prop_assert_eq!(items, (start..end).collect::<Vec<_>>());
        }
    }
}
