//! Views, and parts of arrays, made into arrays of their own.

use crate::array::Array;
use crate::array::ArrayWriter;
use crate::array::Options;
use crate::array::grid::Grid;
use crate::array::grid::unravel;
use crate::array::partition::Partition;
use crate::array::selection::Resolved;
use crate::array::selection::Selection;
use crate::array::view::View;
use crate::error::Result;
use crate::limits::zeroed;
use std::ops::Range;
use std::path::Path;

/// The most bytes that are copied at once; a chunk where it has more.
const BATCH_BYTES: u64 = 64 << 20;

impl View<'_> {
    /// Copies what a selection takes into a new array of the shape of its result, about `most` bytes at a time.
    pub(super) fn copy_taken(&self, resolved: &Resolved, writer: &mut ArrayWriter, most: u64) -> Result<()> {
        if resolved.items()? == 0 {
            return Ok(());
        }
        let grid = writer.array().grid.clone();
        let exec = writer.array().schunk.exec().clone();
        let shape = &resolved.shape;
        let batch = batch_shape(&grid, most);
        let batches: Vec<u64> = shape.iter().zip(&batch).map(|(&n, &step)| n.div_ceil(step)).collect();
        let mut items = Vec::new();
        for number in 0..batches.iter().product() {
            let start: Vec<u64> =
                unravel(number, &batches).iter().zip(&batch).map(|(&at, &n)| at * n).collect();
            let stop: Vec<u64> =
                start.iter().zip(&batch).zip(shape).map(|((&at, &n), &end)| (at + n).min(end)).collect();
            let count: u64 = start.iter().zip(&stop).map(|(&start, &stop)| stop - start).product();
            let bytes = count.saturating_mul(grid.itemsize() as u64);
            if items.len() as u64 != bytes {
                items = zeroed("chunks of an array", bytes)?;
            }
            self.items().read_resolved_with(resolved.part(&start, &stop)?, &mut items, &exec)?;
            writer.write_bytes(Selection::from_box(&start, &stop), &items)?;
        }
        Ok(())
    }
}

impl Options {
    /// Copies an array, or what a view shows of it, to `path`, with its metalayers and vlmetalayers.
    ///
    /// Codec, filters, and the lengths of chunks and blocks along each axis are those of the array where the options do not
    /// say others (see [`Array::params_for`]). The chunks of an array are then copied as they are, compressed; each block of a view is decoded once.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().with_chunks([2, 3]).create_in_memory(Dtype::parse("|u1")?, [2, 3])?;
    /// a.write_bytes(s![], &[0, 1, 2, 10, 11, 12])?;
    /// let copy = Options::new().with_chunks([1, 2]).copy_in_memory(&a)?;
    /// assert_eq!((copy.chunks(), copy.read_bytes(s![1])?), (&[1, 2][..], vec![10, 11, 12]));
    /// let turned = Options::new().copy_in_memory(a.transpose())?;
    /// assert_eq!((turned.shape(), turned.chunks()), (&[3, 2][..], &[3, 2][..]));
    /// assert_eq!(turned.read_bytes(s![])?, [0, 10, 1, 11, 2, 12]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Options::create`], and [`Error::Format`](crate::Error::Format) where the array is damaged.
    pub fn copy<'a>(self, path: impl AsRef<Path>, of: impl Into<View<'a>>) -> Result<Array> {
        self.slice(path, of, ())
    }

    /// As [`Options::copy`], in memory.
    ///
    /// # Errors
    /// As [`Options::copy`].
    pub fn copy_in_memory<'a>(self, of: impl Into<View<'a>>) -> Result<Array> {
        self.slice_in_memory(of, ())
    }

    /// Makes an array at `path` of the items that a selection takes of an array or a view, with the
    /// metalayers and vlmetalayers of the array: `a[10:20, ::2]`, kept.
    ///
    /// Every [`Selection`] will do; the new array has the shape that reading it gives. Codec and filters are those of the
    /// array where the options do not say others. So are chunks and blocks where the selection is a box, without a step, that
    /// is at least a chunk long along each axis which it cuts; chunks that fall on chunks come along as they are, compressed.
    /// Otherwise they are chosen for the new shape. About 64 MiB of items are in memory at a time, or a chunk for each thread.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options, Selection};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<i32>(), [3, 4])?;
    /// a.write_items(s![], &(0..12).collect::<Vec<i32>>())?;
    /// let part = Options::new().slice_in_memory(&a, s![1.., ..;2])?;
    /// assert_eq!((part.shape(), part.read_items::<i32>(s![])?), (&[2, 2][..], vec![4, 6, 8, 10]));
    /// let column = Options::new().slice_in_memory(a.transpose(), s![3])?;
    /// assert_eq!((column.shape(), column.read_items::<i32>(s![])?), (&[3][..], vec![3, 7, 11]));
    /// let picked = Options::new().slice_in_memory(&a, Selection::flat([11, 0]))?;
    /// assert_eq!(picked.read_items::<i32>(s![])?, [11, 0]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Options::create`], [`Error::OutOfBounds`](crate::Error::OutOfBounds) or
    /// [`Error::NdimMismatch`](crate::Error::NdimMismatch) when the selection does not fit the shape, and
    /// [`Error::Format`](crate::Error::Format) where the array is damaged.
    pub fn slice<'a>(
        self,
        path: impl AsRef<Path>,
        of: impl Into<View<'a>>,
        selection: impl Into<Selection>,
    ) -> Result<Array> {
        self.sliced(Some(path.as_ref()), &of.into(), &selection.into())
    }

    /// As [`Options::slice`], in memory.
    ///
    /// # Errors
    /// As [`Options::slice`].
    pub fn slice_in_memory<'a>(
        self,
        of: impl Into<View<'a>>,
        selection: impl Into<Selection>,
    ) -> Result<Array> {
        self.sliced(None, &of.into(), &selection.into())
    }

    fn sliced(self, path: Option<&Path>, view: &View<'_>, selection: &Selection) -> Result<Array> {
        let resolved = selection.resolve(view.shape())?;
        let (array, schunk) = (view.array(), view.array().schunk());
        let options = self.with_metadata_of(schunk)?;
        let ranges = resolved.as_box().filter(|ranges| keeps_chunks(ranges, view));
        if let Some(ranges) = &ranges
            && view.is_the_array()
        {
            return options.join_box(path, array, ranges);
        }
        let partition =
            ranges.map(|_| Partition { chunks: view.chunks().to_vec(), blocks: view.blocks().to_vec() });
        let options = options.or_like(schunk, view.dtype(), partition);
        let mut writer = options.begin(path, view.dtype().clone(), &resolved.shape)?;
        view.copy_taken(&resolved, &mut writer, BATCH_BYTES)?;
        writer.commit()
    }
}

/// Whether a box is long enough along each axis that it cuts for the chunks that it comes from.
fn keeps_chunks(ranges: &[Range<u64>], view: &View<'_>) -> bool {
    ranges.iter().zip(view.shape()).zip(view.chunks()).all(|((range, &length), &chunk)| {
        let count = range.end - range.start;
        count == length || count >= chunk
    })
}

/// The shape of a box of whole chunks, in C order as many as have up to `most` bytes, or one. No axis is empty.
fn batch_shape(grid: &Grid, most: u64) -> Vec<u64> {
    let mut shape = grid.chunks().to_vec();
    let mut bytes = shape.iter().product::<u64>().saturating_mul(grid.itemsize() as u64);
    for axis in (0..grid.ndim()).rev() {
        let all = grid.chunk_count(axis);
        let count = most.checked_div(bytes).unwrap_or(1).clamp(1, all.max(1));
        shape[axis] = shape[axis].saturating_mul(count);
        bytes = bytes.saturating_mul(count);
        if count < all {
            break;
        }
    }
    shape
}
