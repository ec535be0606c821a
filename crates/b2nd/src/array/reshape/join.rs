//! Arrays put together: concatenated, stacked, copied.

use crate::array::Array;
use crate::array::Dtype;
use crate::array::Options;
use crate::array::cast::Cast;
use crate::array::partition::Partition;
use crate::array::partition::growing;
use crate::array::reshape::part::AxisParts;
use crate::array::reshape::part::AxisSource;
use crate::array::reshape::recipe::Incoming;
use crate::array::reshape::recipe::Joined;
use crate::error::Error;
use crate::error::Result;
use std::ops::Range;
use std::path::Path;

impl Options {
    /// Makes an array at `path` that concatenates others along an axis.
    ///
    /// Chunks, blocks, codec and filters are those of the first array unless the options set them. Chunks that
    /// coincide with chunks of the result are copied without recompression.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let row = |value| -> b2nd::Result<_> {
    ///     let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [1, 2])?;
    ///     a.write_bytes(s![], &[value; 2])?;
    ///     Ok(a)
    /// };
    /// let joined = Options::new().concatenate_in_memory(&[&row(1)?, &row(2)?], 0)?;
    /// assert_eq!(joined.read_bytes(s![])?, [1, 1, 2, 2]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Options::create`], and [`Error::Usage`] when there is no array, [`Error::OutOfBounds`] when there is no
    /// such axis, [`Error::DtypeMismatch`] or [`Error::ShapeMismatch`] when their dtypes or their other axes differ.
    pub fn concatenate(self, path: impl AsRef<Path>, arrays: &[&Array], axis: usize) -> Result<Array> {
        self.concatenated(Some(path.as_ref()), arrays, axis)
    }

    /// As [`Options::concatenate`], in memory.
    ///
    /// # Errors
    /// As [`Options::concatenate`].
    pub fn concatenate_in_memory(self, arrays: &[&Array], axis: usize) -> Result<Array> {
        self.concatenated(None, arrays, axis)
    }

    fn concatenated(self, path: Option<&Path>, arrays: &[&Array], axis: usize) -> Result<Array> {
        let first = *arrays.first().ok_or_else(|| Error::usage("there is nothing to concatenate"))?;
        let axes = joined_axes(first, AxisParts::new(0), arrays, axis)?;
        let partition = Partition::of(&first.grid);
        self.join(path, first, first.dtype(), &axes, partition, Joined { arrays, stacked: None, cast: None })
    }

    /// Makes an array at `path` that stacks others along a new axis, which comes before their axis `axis`.
    ///
    /// Blocks, codec and filters are those of the first array unless the options set them; along the new axis a chunk is
    /// one array.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [3])?;
    /// a.write_bytes(s![], &[1, 2, 3])?;
    /// let pairs = Options::new().stack_in_memory(&[&a, &a], 1)?;
    /// assert_eq!(pairs.shape(), [3, 2]);
    /// assert_eq!(pairs.read_bytes(s![])?, [1, 1, 2, 2, 3, 3]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Options::create`], and [`Error::Usage`] when there is no array, [`Error::OutOfBounds`] when `axis` is
    /// more than their number of axes, [`Error::DtypeMismatch`] or [`Error::ShapeMismatch`] when their dtypes or
    /// shapes differ.
    pub fn stack(self, path: impl AsRef<Path>, arrays: &[&Array], axis: usize) -> Result<Array> {
        self.stacked(Some(path.as_ref()), arrays, axis)
    }

    /// As [`Options::stack`], in memory.
    ///
    /// # Errors
    /// As [`Options::stack`].
    pub fn stack_in_memory(self, arrays: &[&Array], axis: usize) -> Result<Array> {
        self.stacked(None, arrays, axis)
    }

    fn stacked(self, path: Option<&Path>, arrays: &[&Array], axis: usize) -> Result<Array> {
        let first = *arrays.first().ok_or_else(|| Error::usage("there is nothing to stack"))?;
        if axis > first.ndim() {
            let shape = first.shape();
            return Err(Error::out_of_bounds(
                axis,
                first.ndim() + 1,
                format!("arrays of shape {shape:?} cannot be stacked along axis {axis}"),
            ));
        }
        check_like(first, arrays, |_| true)?;
        let mut new = AxisParts::new(0);
        for source in 0..arrays.len() {
            new.push(1, AxisSource::New { source, at: 0 })?;
        }
        let mut axes = first.kept_axes()?;
        axes.insert(axis, new);
        let with_one = |lengths: &[u64]| {
            let mut lengths = lengths.to_vec();
            lengths.insert(axis, 1);
            lengths
        };
        let partition = Partition { chunks: with_one(first.chunks()), blocks: with_one(first.blocks()) };
        self.join(
            path,
            first,
            first.dtype(),
            &axes,
            partition,
            Joined { arrays, stacked: Some(axis), cast: None },
        )
    }

    /// Copies an array as [`Options::copy`] does, with its items converted to another dtype: as NumPy's `astype`, between
    /// numbers, bools and, without a change of unit, times; texts and raw bytes become longer or shorter.
    ///
    /// Nothing is too far to be converted: integers keep their low bits, floats lose their fraction, complex numbers their
    /// imaginary part. A float without a place in an integer gives what x86-64 gives: -2⁶³ (-2³¹ in signed integers of up to
    /// 32 bits), of which the low bits are kept.
    ///
    /// Lossy filters of the array that are not made for the new dtype are left out; [`Array::params_for`] shows what is kept.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("<f8")?, [3])?;
    /// a.write_items(s![], &[1.9, -1.9, 300.0])?;
    /// let bytes = Options::new().astype_in_memory(&a, &Dtype::parse("|u1")?)?;
    /// assert_eq!(bytes.read_items::<u8>(s![])?, [1, 255, 44]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Options::copy`], and [`Error::DtypeMismatch`] where one dtype cannot become the other.
    pub fn astype(self, path: impl AsRef<Path>, array: &Array, dtype: &Dtype) -> Result<Array> {
        self.converted(Some(path.as_ref()), array, dtype)
    }

    /// As [`Options::astype`], in memory.
    ///
    /// # Errors
    /// As [`Options::astype`].
    pub fn astype_in_memory(self, array: &Array, dtype: &Dtype) -> Result<Array> {
        self.converted(None, array, dtype)
    }

    fn converted(self, path: Option<&Path>, array: &Array, dtype: &Dtype) -> Result<Array> {
        let cast = Cast::new(array.dtype(), dtype)?;
        let axes = array.kept_axes()?;
        let partition = Partition::of(&array.grid);
        let arrays = &[array];
        let options = self.with_metadata_of(&array.schunk)?;
        options.join(path, array, dtype, &axes, partition, Joined { arrays, stacked: None, cast })
    }

    /// Makes an array of a box of another, with its chunks and blocks where the options do not say others.
    pub(crate) fn join_box(self, path: Option<&Path>, array: &Array, ranges: &[Range<u64>]) -> Result<Array> {
        let along = |range: &Range<u64>| {
            let mut parts = AxisParts::new(0);
            parts.push(range.end - range.start, AxisSource::New { source: 0, at: range.start })?;
            Ok(parts)
        };
        let axes = ranges.iter().map(along).collect::<Result<Vec<_>>>()?;
        let partition = Partition::of(&array.grid);
        let joined = Joined { arrays: &[array], stacked: None, cast: None };
        self.join(path, array, array.dtype(), &axes, partition, joined)
    }

    /// Makes the array from a list of parts for each axis; unset options are those of `like`.
    fn join(
        self,
        path: Option<&Path>,
        like: &Array,
        dtype: &Dtype,
        axes: &[AxisParts],
        partition: Partition,
        joined: Joined<'_>,
    ) -> Result<Array> {
        let shape: Vec<u64> = axes.iter().map(AxisParts::len).collect();
        let Partition { mut chunks, mut blocks } = partition;
        let missing =
            |(&length, (&chunk, &block)): (&u64, (&u64, &u64))| length > 0 && (chunk == 0 || block == 0);
        if shape.iter().zip(chunks.iter().zip(&blocks)).any(missing) {
            (chunks, blocks) = growing(&chunks, &blocks, dtype.itemsize());
        }
        let options = self.or_like(&like.schunk, dtype, Some(Partition { chunks, blocks }));
        let mut writer = options.begin(path, dtype.clone(), &shape)?;
        writer.stage(|array| array.stage_whole(axes, Incoming::Arrays(joined)))?;
        writer.commit()
    }
}

impl Array {
    /// Appends other arrays along an axis, in order, and commits.
    ///
    /// Where the array ends with a full chunk and the others have the same chunks, blocks, codec and filters, chunks come
    /// along as they are, compressed.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [2])?;
    /// let mut b = Options::new().create_in_memory(Dtype::parse("|u1")?, [1])?;
    /// b.write_bytes(s![], &[7])?;
    /// a.extend(0, &[&b, &b])?;
    /// assert_eq!(a.read_bytes(s![])?, [0, 0, 7, 7]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::append_bytes`], and [`Error::DtypeMismatch`] or [`Error::ShapeMismatch`] when dtypes or the other
    /// axes differ.
    pub fn extend(&mut self, axis: usize, arrays: &[&Array]) -> Result<()> {
        self.at_once(|t| t.extend(axis, arrays))
    }

    pub(in crate::array) fn stage_extend(&mut self, axis: usize, arrays: &[&Array]) -> Result<()> {
        let length = self.axis_length(axis)?;
        let mut grown = AxisParts::new(length);
        grown.push(length, AxisSource::Old(0))?;
        let axes = joined_axes(self, grown, arrays, axis)?;
        self.stage_shape(&axes, Incoming::Arrays(Joined { arrays, stacked: None, cast: None }))
    }
}

/// The axes of `first`, with those of `arrays` appended to `grown` along one of them.
fn joined_axes(
    first: &Array,
    mut grown: AxisParts,
    arrays: &[&Array],
    axis: usize,
) -> Result<Vec<AxisParts>> {
    first.axis_length(axis)?;
    check_like(first, arrays, |other| other != axis)?;
    for (source, array) in arrays.iter().enumerate() {
        grown.push(array.axis_length(axis)?, AxisSource::New { source, at: 0 })?;
    }
    let mut axes = first.kept_axes()?;
    axes[axis] = grown;
    Ok(axes)
}

/// That arrays have the dtype of the first, and its lengths along the axes that `due` names.
fn check_like(first: &Array, arrays: &[&Array], due: impl Fn(usize) -> bool) -> Result<()> {
    for array in arrays {
        if array.dtype() != first.dtype() {
            return Err(Error::dtype(
                first.dtype(),
                array.dtype(),
                format!(
                    "arrays of {} and {} cannot be joined: convert one of them with `astype`",
                    first.dtype(),
                    array.dtype()
                ),
            ));
        }
        let (own, theirs) = (first.shape(), array.shape());
        if own.len() != theirs.len() || (0..own.len()).any(|d| due(d) && own[d] != theirs[d]) {
            return Err(Error::shape(
                own,
                theirs,
                format!("arrays of the shapes {own:?} and {theirs:?} cannot be joined"),
            ));
        }
    }
    Ok(())
}
