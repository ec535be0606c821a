//! Resize, append, insert and delete.

use crate::array::Array;
use crate::array::Axis;
use crate::array::Fill;
use crate::array::Selection;
use crate::array::Shape;
use crate::array::options::first_content;
use crate::array::reshape::part::AxisPart;
use crate::array::reshape::part::AxisParts;
use crate::array::reshape::recipe::Incoming;
use crate::array::selection::Pick;
use crate::array::selection::Taken;
use crate::chunk::Special;
use crate::error::Error;
use crate::error::Result;
use crate::limits::Limits;

/// A new shape for an array, with where each axis grows or shrinks and what new items are.
///
/// ```
/// use b2nd::{s, Dtype, Fill, Options, Resize};
/// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [2, 2])?;
/// a.write_bytes(s![], &[1, 2, 3, 4])?;
/// a.resize(Resize::to([2, 3]).with_starts([0, 1]).with_fill(Fill::Value(vec![9])))?;
/// assert_eq!(a.read_bytes(s![])?, [1, 9, 2, 3, 9, 4]);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resize {
    shape: Shape,
    starts: Option<Vec<u64>>,
    fill: Fill,
}

impl Resize {
    /// To this shape: axes grow and shrink at their ends, new items are zeros.
    pub fn to(shape: impl Into<Shape>) -> Self {
        Resize { shape: shape.into(), starts: None, fill: Fill::Zeros }
    }
    /// Sets for each axis the index before which new items come in, or from which on items go.
    #[must_use]
    pub fn with_starts(mut self, starts: impl Into<Vec<u64>>) -> Self {
        self.starts = Some(starts.into());
        self
    }
    /// Sets what new items are.
    #[must_use]
    pub fn with_fill(mut self, fill: Fill) -> Self {
        self.fill = fill;
        self
    }

    /// The axes of an array of shape `old` after the change.
    fn axes(&self, old: &[u64]) -> Result<Vec<AxisParts>> {
        let shape = self.shape.lengths()?;
        let named = self.starts.as_ref().map_or(old.len(), Vec::len);
        if shape.len() != old.len() || named != old.len() {
            return Err(Error::ndim(
                old.len(),
                if named == old.len() { shape.len() } else { named },
                format!(
                    "an array of shape {old:?} cannot be resized to {shape:?}{}: the number of axes stays",
                    self.starts.as_ref().map_or(String::new(), |starts| format!(" at {starts:?}"))
                ),
            ));
        }
        let axis = |axis: usize| {
            let (before, after) = (old[axis], shape[axis]);
            let (removed, inserted) = (before.saturating_sub(after), after.saturating_sub(before));
            let start = self.starts.as_ref().map_or(before - removed, |starts| starts[axis]);
            let end = start.checked_add(removed).filter(|&end| end <= before);
            let end = end.ok_or_else(|| Error::OutOfBounds {
                axis: Some(axis),
                index: i64::try_from(start).unwrap_or(i64::MAX),
                len: before,
                message: format!("axis {axis} of {before} items cannot become {after} long at index {start}"),
            })?;
            AxisParts::spliced(before, start..end, inserted)
        };
        (0..old.len()).map(axis).collect()
    }
}

impl<T: Into<Shape>> From<T> for Resize {
    fn from(shape: T) -> Self {
        Resize::to(shape)
    }
}

impl Array {
    /// Gives the array another shape, and commits: any axes at once, each at its end or where [`Resize`] says.
    ///
    /// Chunks that keep all their items are not touched; those at a changed edge are made anew, so that items that went
    /// never come back. An axis of length 0 without a chunk length gets one.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [2, 2])?;
    /// a.write_bytes(s![], &[1, 2, 3, 4])?;
    /// a.resize([3, 1])?;
    /// assert_eq!(a.read_bytes(s![])?, [1, 3, 0]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NdimMismatch`] when the number of axes differs; [`Error::OutOfBounds`] when a start lies outside its
    /// axis; [`Error::TooLarge`] when the shape is more than the format allows; [`Error::ReadOnly`];
    /// [`Error::Format`] where a chunk that is made anew is damaged.
    /// After an error the array is as it was.
    pub fn resize(&mut self, resize: impl Into<Resize>) -> Result<()> {
        self.at_once(|t| t.resize(resize))
    }

    /// Appends items along an axis, and commits: C order, the dtype's own byte order, any number of whole slabs.
    ///
    /// Only the last row of chunks is made anew, and only when it is not full.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [0, 2])?;
    /// a.append_bytes(0, &[1, 2, 3, 4])?;
    /// a.append_bytes(1, &[8, 9])?;
    /// assert_eq!(a.shape(), [2, 3]);
    /// assert_eq!(a.read_bytes(s![])?, [1, 2, 8, 3, 4, 9]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::resize`], and [`Error::OutOfBounds`] when there is no such axis, [`Error::NotWhole`] when the
    /// items are no whole slabs.
    pub fn append_bytes(&mut self, axis: usize, items: &[u8]) -> Result<()> {
        self.at_once(|t| t.append_bytes(axis, items))
    }

    /// Inserts items along an axis before `index` (at most its length), and commits; items behind it move.
    ///
    /// Where index and number of items are multiples of the chunk length, no chunk is compressed again.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [2, 2])?;
    /// a.insert_bytes(1, 1, &[7, 8])?;
    /// assert_eq!(a.read_bytes(s![])?, [0, 7, 0, 0, 8, 0]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::append_bytes`], and [`Error::OutOfBounds`] for an index outside the axis.
    pub fn insert_bytes(&mut self, axis: usize, index: u64, items: &[u8]) -> Result<()> {
        self.at_once(|t| t.insert_bytes(axis, index, items))
    }

    /// Deletes an index, a range (with a step) or a list of indices, or what a mask names, along an axis, and commits;
    /// items behind move up. Indices are those before the change, in any order.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [5])?;
    /// a.write_bytes(s![], &[0, 1, 2, 3, 4])?;
    /// a.delete(0, 1..3)?;
    /// a.delete(0, -1)?;
    /// assert_eq!(a.read_bytes(s![])?, [0, 3]);
    /// a.resize([5])?;
    /// a.delete(0, [4, 0, 4, -2])?;
    /// assert_eq!(a.read_bytes(s![])?, [3, 0]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::resize`], and [`Error::OutOfBounds`] when there is no such axis or index.
    pub fn delete(&mut self, axis: usize, range: impl Into<Axis>) -> Result<()> {
        self.at_once(|t| t.delete(axis, range))
    }

    pub(in crate::array) fn stage_resize(&mut self, resize: &Resize) -> Result<()> {
        let axes = resize.axes(self.shape())?;
        let (special, value) = first_content(&resize.fill, self.dtype())?;
        self.stage_shape(&axes, Incoming::Fill { special, value })
    }

    /// Puts items before `index`, or at the end; `count` along the axis, which items of no bytes cannot say.
    pub(in crate::array) fn stage_insert(
        &mut self,
        axis: usize,
        index: Option<u64>,
        items: &[u8],
        count: Option<u64>,
    ) -> Result<()> {
        let length = self.axis_length(axis)?;
        let index = index.unwrap_or(length);
        if index > length {
            return Err(Error::index(axis, index, length, index));
        }
        let others = self.shape().iter().enumerate().filter(|(other, _)| *other != axis);
        let mut others = others.map(|(_, &n)| n);
        let slab = if items.is_empty() || others.clone().any(|n| n == 0) {
            Some(0)
        } else {
            others.try_fold(self.grid.itemsize() as u64, u64::checked_mul)
        };
        let slab = slab.ok_or_else(|| Error::too_large(u64::MAX, "a slab has more than 2^64 bytes"))?;
        let bytes = items.len() as u64;
        let count = count.or(bytes.checked_div(slab)).unwrap_or(0);
        if count.saturating_mul(slab) != bytes {
            return Err(Error::not_whole(
                slab,
                bytes,
                format!(
                    "{bytes} bytes are not a whole number of slabs: a slab along axis {axis} of {:?} has {slab} bytes",
                    self.shape()
                ),
            ));
        }
        let mut axes = self.kept_axes()?;
        axes[axis] = AxisParts::spliced(length, index..index, count)?;
        let lengths = axes.iter().map(|axis| usize::try_from(axis.len()));
        let mut lengths = lengths
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| Error::too_large(usize::MAX, "an axis is too long"))?;
        // At most the number of bytes that are in memory, or nobody's.
        lengths[axis] = count as usize;
        self.stage_shape(&axes, Incoming::Items { bytes: items, lengths })
    }

    pub(in crate::array) fn stage_delete(&mut self, axis: usize, range: Axis) -> Result<()> {
        let length = self.axis_length(axis)?;
        if matches!(range, Axis::NewAxis | Axis::Ellipsis) {
            return Err(Error::usage("only indices and ranges can be deleted, not a new axis or '...'"));
        }
        let Taken::Axes(picks) = Selection::new([range]).resolve(&[length])?.taken else {
            return Err(Error::usage("points cannot select along one axis"));
        };
        let mut axes = self.kept_axes()?;
        axes[axis] = match picks.as_slice() {
            [Pick::Line(line)] => {
                // Nothing may be taken at any index.
                let (start, step) = (line.start.min(length), line.step.unsigned_abs());
                let reach = line.count.saturating_sub(1) * step;
                let first = if line.step < 0 { start - reach } else { start };
                if step == 1 {
                    AxisParts::spliced(length, first..first + line.count, 0)?
                } else {
                    let bytes = line.count.saturating_mul(size_of::<AxisPart>() as u64);
                    Limits::check("the parts of an axis", bytes, self.schunk.limits().max_index_bytes())?;
                    AxisParts::without(length, (0..line.count).map(|n| first + n * step))?
                }
            }
            [Pick::List(list)] => AxisParts::without(length, list.indices.iter().copied())?,
            _ => return Err(Error::usage("one axis takes one selection")),
        };
        // Nothing comes in, so any kind will do.
        let special = self.schunk.uniform()?.unwrap_or(Special::Zeros);
        self.stage_shape(&axes, Incoming::Fill { special, value: None })
    }

    pub(super) fn kept_axes(&self) -> Result<Vec<AxisParts>> {
        self.shape().iter().map(|&length| AxisParts::kept(length)).collect()
    }

    pub(in crate::array) fn axis_length(&self, axis: usize) -> Result<u64> {
        let found = self.shape().get(axis).copied();
        found.ok_or_else(|| {
            Error::out_of_bounds(
                axis,
                self.shape().len(),
                format!("there is no axis {axis}: the shape is {:?}", self.shape()),
            )
        })
    }
}
