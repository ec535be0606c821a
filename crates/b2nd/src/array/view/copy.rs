//! Views made into arrays of their own.

use crate::array::Array;
use crate::array::ArrayWriter;
use crate::array::Options;
use crate::array::grid::Grid;
use crate::array::grid::unravel;
use crate::array::selection::Selection;
use crate::array::view::View;
use crate::error::Result;
use crate::limits::zeroed;
use std::path::Path;

/// The most bytes that are copied at once; a chunk where it has more.
const BATCH_BYTES: u64 = 64 << 20;

impl View<'_> {
    /// Makes an array at `path` (`None`: in memory) of the items of the view, with the metalayers and vlmetalayers of the
    /// array that is viewed.
    ///
    /// Codec, filters, and the lengths of chunks and blocks along each axis are those of the array where the options do not
    /// say others; then each of its blocks is decoded once. Whole chunks of the result are in memory, as many as lie beside
    /// each other in up to 64 MiB, or one.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().with_chunks([2, 3]).create(None, Dtype::parse("|u1")?, &[2, 3])?;
    /// a.write_bytes(s![], &[0, 1, 2, 10, 11, 12])?;
    /// let turned = a.transpose().copy(Options::new(), None)?;
    /// assert_eq!((turned.shape(), turned.chunks()), (&[3, 2][..], &[3, 2][..]));
    /// assert_eq!(turned.read_bytes(s![])?, [0, 10, 1, 11, 2, 12]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Options::create`], and [`Error::Format`](crate::Error::Format) where the array is damaged.
    pub fn copy(&self, options: Options, path: Option<&Path>) -> Result<Array> {
        let schunk = self.array().schunk();
        let chunked = (self.chunks().to_vec(), self.blocks().to_vec());
        let options = options.or_like(schunk, Some(chunked)).with_metadata_of(schunk)?;
        let mut writer = options.create_uncommitted(path, self.dtype().clone(), self.shape())?;
        self.copy_into(&mut writer, BATCH_BYTES)?;
        writer.commit()
    }

    /// Copies all items into a new array of this shape, about `most` bytes at a time.
    pub(super) fn copy_into(&self, writer: &mut ArrayWriter, most: u64) -> Result<()> {
        if self.size() == 0 {
            return Ok(());
        }
        let grid = writer.array().grid.clone();
        let exec = writer.array().schunk.exec().clone();
        let batch = batch_shape(&grid, most);
        let batches: Vec<u64> = self.shape().iter().zip(&batch).map(|(&n, &step)| n.div_ceil(step)).collect();
        let mut items = Vec::new();
        for number in 0..batches.iter().product() {
            let start: Vec<u64> =
                unravel(number, &batches).iter().zip(&batch).map(|(&at, &n)| at * n).collect();
            let stop: Vec<u64> = start
                .iter()
                .zip(&batch)
                .zip(self.shape())
                .map(|((&at, &n), &end)| (at + n).min(end))
                .collect();
            let count: u64 = start.iter().zip(&stop).map(|(&start, &stop)| stop - start).product();
            let bytes = count.saturating_mul(grid.itemsize() as u64);
            if items.len() as u64 != bytes {
                items = zeroed("chunks of an array", bytes)?;
            }
            let selection = Selection::from_box(&start, &stop);
            let resolved = selection.resolve(self.shape())?;
            self.items().read_resolved_with(resolved, &mut items, &exec)?;
            writer.write_bytes(selection, &items)?;
        }
        Ok(())
    }
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
