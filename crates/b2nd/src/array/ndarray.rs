//! Reading into and writing from `ndarray` arrays.

use crate::array::Array;
use crate::array::ArrayField;
use crate::array::Element;
use crate::array::Options;
use crate::array::Selection;
use crate::array::StreamWriter;
use crate::array::View;
use crate::error::Error;
use crate::error::Result;
use ::ndarray::ArrayBase;
use ::ndarray::ArrayD;
use ::ndarray::ArrayRef;
use ::ndarray::Data;
use ::ndarray::Dimension;
use ::ndarray::IxDyn;
use std::path::Path;

impl Array {
    /// Reads a selection into an `ndarray` array.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::of::<f32>(), [4, 6])?;
    /// let window = a.read::<f32>(s![1..3, ..;2])?;
    /// assert_eq!(window.shape(), [2, 3]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::read_items`].
    pub fn read<T: Element>(&self, selection: impl Into<Selection>) -> Result<ArrayD<T>> {
        self.items().read(selection)
    }

    /// Reads a selection into an `ndarray` array whose number of axes is part of its type.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// use ndarray::{Array2, Ix2};
    /// let a = Options::new().create_in_memory(Dtype::of::<f32>(), [4, 6, 8])?;
    /// let level: Array2<f32> = a.read_as(s![0])?;
    /// assert_eq!(level.dim(), (6, 8));
    /// assert_eq!(a.read_as::<f32, Ix2>(s![.., 1, ..])?.dim(), (4, 8));
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::read_items`], and [`Error::NdimMismatch`] when the result has another number of axes.
    pub fn read_as<T: Element, D: Dimension>(
        &self,
        selection: impl Into<Selection>,
    ) -> Result<::ndarray::Array<T, D>> {
        let selection = selection.into();
        let shape = selection.resolve(self.shape())?.shape;
        let other = |due: usize| {
            Error::ndim(
                shape.len(),
                due,
                format!(
                    "the selection has the shape {shape:?}, and an array of {due} axes was requested: an index removes an axis, a range keeps it"
                ),
            )
        };
        match D::NDIM {
            Some(due) if due != shape.len() => Err(other(due)),
            _ => self.read(selection)?.into_dimensionality().map_err(|_| other(D::NDIM.unwrap_or(0))),
        }
    }

    /// Reads a selection into an `ndarray` array, or a mutable view of one, that has its shape. Nothing is copied twice where
    /// the array lies in one piece, in C order.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// use ndarray::{Array3, Axis};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<f32>(), [2, 3, 4])?;
    /// a.fill(s![], 1.5f32)?;
    /// let mut all = Array3::<f32>::zeros((2, 3, 5));
    /// a.read_into_array(s![], &mut all.slice_mut(ndarray::s![.., .., ..4]))?;
    /// assert_eq!(all.sum(), 36.0);
    /// a.read_into_array(s![0, .., 0], &mut all.index_axis_mut(Axis(2), 4).row_mut(1))?;
    /// assert_eq!(all.sum(), 40.5);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::read_into`], and [`Error::ShapeMismatch`] when the shapes differ. After an error the contents are
    /// unspecified.
    pub fn read_into_array<T: Element, D: Dimension>(
        &self,
        selection: impl Into<Selection>,
        out: &mut ArrayRef<T, D>,
    ) -> Result<()> {
        let selection = selection.into();
        check_items(out, &selection.resolve(self.shape())?.shape)?;
        if let Some(items) = out.as_slice_mut() {
            return self.read_into(selection, items);
        }
        let items = self.read_items(selection)?;
        out.iter_mut().zip(items).for_each(|(place, item)| *place = item);
        Ok(())
    }

    /// Reads a selection into an `ndarray` array of another type of numbers: see [`Array::read_items_cast`].
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::of::<u8>(), [2, 3])?;
    /// assert_eq!(a.read_cast::<f64>(s![])?.mean(), Some(0.0));
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::read_items_cast`].
    pub fn read_cast<T: Element>(&self, selection: impl Into<Selection>) -> Result<ArrayD<T>> {
        let selection = selection.into();
        let shape = selection.resolve(self.shape())?.shape;
        // Each length is at most the number of items, or beside an axis of length 0.
        let shape: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
        let items = self.read_items_cast(selection)?;
        ArrayD::from_shape_vec(IxDyn(&shape), items).map_err(|_| {
            Error::too_large(
                isize::MAX as u64,
                format!("a result of shape {shape:?} is more than ndarray can hold"),
            )
        })
    }

    /// Writes an `ndarray` array or view into a selection of its shape, and commits.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// use ndarray::array;
    /// let mut a = Options::new().create_in_memory(Dtype::of::<i32>(), [3, 4])?;
    /// a.write(s![1.., 2..], &array![[1, 2], [3, 4]].t())?;
    /// assert_eq!(a.read::<i32>(s![2])?, array![0, 0, 2, 4].into_dyn());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::write_items`], and [`Error::ShapeMismatch`] when the shapes differ.
    pub fn write<T: Element, D: Dimension>(
        &mut self,
        selection: impl Into<Selection>,
        items: &ArrayRef<T, D>,
    ) -> Result<()> {
        self.at_once(|t| t.write(selection, items))
    }
}

fn lengths(shape: &[usize]) -> Vec<u64> {
    shape.iter().map(|&n| n as u64).collect()
}

/// Refuses items that do not have the shape of a selection.
pub(in crate::array) fn check_items<T, D: Dimension>(items: &ArrayRef<T, D>, shape: &[u64]) -> Result<()> {
    if shape.iter().copied().eq(items.shape().iter().map(|&n| n as u64)) {
        return Ok(());
    }
    let found = items.shape();
    Err(Error::shape(
        shape,
        &lengths(found),
        format!("the items have the shape {found:?}, and the selection {shape:?}"),
    ))
}

impl View<'_> {
    /// Reads a selection into an `ndarray` array with the axes of the view; see [`Array::read`].
    ///
    /// ```
    /// use b2nd::{s, Options};
    /// use ndarray::array;
    /// let a = Options::new().create_from_in_memory(&array![[1, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(a.transpose().read::<i32>(s![1..])?, array![[2, 5], [3, 6]].into_dyn());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`View::read_items`].
    pub fn read<T: Element>(&self, selection: impl Into<Selection>) -> Result<ArrayD<T>> {
        self.items().read(selection)
    }
}

impl Array {
    /// Appends an `ndarray` array or view along an axis, and commits; its other axes are as long as those of the array. One
    /// with an axis less is one slab.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// use ndarray::array;
    /// let mut a = Options::new().create_in_memory(Dtype::of::<i32>(), [0, 2])?;
    /// a.append(0, &array![[1, 2], [3, 4]])?;
    /// a.append(1, &array![[5], [6]])?;
    /// a.append(0, &array![7, 8, 9])?; // one row
    /// assert_eq!(a.read::<i32>(s![])?, array![[1, 2, 5], [3, 4, 6], [7, 8, 9]].into_dyn());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::append_items`], and [`Error::ShapeMismatch`] when the shapes do not fit.
    pub fn append<T: Element, D: Dimension>(&mut self, axis: usize, items: &ArrayRef<T, D>) -> Result<()> {
        self.at_once(|t| t.append(axis, items))
    }

    /// Inserts an `ndarray` array or view along an axis before `index`, and commits; its other axes are as long as those of
    /// the array. One with an axis less is one slab.
    ///
    /// # Errors
    /// As [`Array::insert_items`], and [`Error::ShapeMismatch`] when the shapes do not fit.
    pub fn insert<T: Element, D: Dimension>(
        &mut self,
        axis: usize,
        index: u64,
        items: &ArrayRef<T, D>,
    ) -> Result<()> {
        self.at_once(|t| t.insert(axis, index, items))
    }

    /// Puts slabs before `index`, or at the end.
    pub(in crate::array) fn stage_slabs<T: Element, D: Dimension>(
        &mut self,
        axis: usize,
        index: Option<u64>,
        items: &ArrayRef<T, D>,
    ) -> Result<()> {
        self.axis_length(axis)?;
        let count = Some(slab_length(axis, self.shape(), items.shape())?);
        let standard = items.as_standard_layout();
        // Standard layout means a slice; an array without items may have none.
        let bytes = self.stored_items(standard.as_slice().unwrap_or_default())?;
        self.stage_insert(axis, index, &bytes, count)
    }
}

/// Length of items of this shape along `axis` of an array of shape `own`: 1 if the items lack the axis.
fn slab_length(axis: usize, own: &[u64], shape: &[usize]) -> Result<u64> {
    let mut slab = lengths(shape);
    if slab.len() + 1 == own.len() {
        slab.insert(axis, 1);
    }
    let fits = |(d, (&n, &own)): (usize, (&u64, &u64))| d == axis || n == own;
    match slab.get(axis) {
        Some(&length) if slab.len() == own.len() && slab.iter().zip(own).enumerate().all(fits) => Ok(length),
        _ => {
            let mut due: Vec<String> = own.iter().map(u64::to_string).collect();
            due.remove(axis);
            let one = due.join(", ");
            due.insert(axis, "any".into());
            let due = due.join(", ");
            let message = format!(
                "items of shape {shape:?} do not fit an array of shape {own:?} along axis {axis}: \
                 give them the shape [{due}], or [{one}] for one slab"
            );
            Err(Error::shape(own, &lengths(shape), message))
        }
    }
}

impl ArrayField<'_> {
    /// Reads a selection into an `ndarray` array, the axes of the field's sub-array last; see [`Array::read`].
    ///
    /// # Errors
    /// As [`Array::read`].
    pub fn read<T: Element>(&self, selection: impl Into<Selection>) -> Result<ArrayD<T>> {
        let resolved = self.resolve(selection)?;
        // Each length is at most the number of items, or beside an axis of length 0.
        let shape: Vec<usize> = resolved.shape.iter().map(|&n| n as usize).collect();
        let items = self.read_resolved_items(resolved)?;
        ArrayD::from_shape_vec(IxDyn(&shape), items).map_err(|_| {
            Error::too_large(
                isize::MAX as u64,
                format!("a result of shape {shape:?} is more than ndarray can hold"),
            )
        })
    }
}

/// The items where the mask is true: see [`Selection::mask`].
///
/// ```
/// use b2nd::{s, Options};
/// use ndarray::array;
/// let a = Options::new().create_from_in_memory(&array![[1, 2], [3, 4]])?;
/// let large = a.read::<i32>(s![])?.mapv(|item| item > 2);
/// assert_eq!(a.read_items::<i32>(&large)?, [3, 4]);
/// # Ok::<(), b2nd::Error>(())
/// ```
impl<S: Data<Elem = bool>, D: Dimension> From<&ArrayBase<S, D>> for Selection {
    fn from(mask: &ArrayBase<S, D>) -> Self {
        let shape: Vec<u64> = mask.shape().iter().map(|&n| n as u64).collect();
        Selection::mask(shape, mask.iter().copied().collect::<Vec<bool>>())
    }
}

impl StreamWriter {
    /// Appends an `ndarray` array or view: of the array's shape, but for the axis that is streamed. One without that axis is
    /// one slab.
    ///
    /// ```
    /// use b2nd::{Dtype, Options, Slabs};
    /// let mut w = Options::new().stream_in_memory(Dtype::parse("<f8")?, &Slabs::growing(0, [0, 2]))?;
    /// w.push(&ndarray::array![1.0, 2.0])?;
    /// w.push(&ndarray::array![[3.0, 4.0], [5.0, 6.0]])?;
    /// assert_eq!(w.finish()?.shape(), [3, 2]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`StreamWriter::push_items`], and [`Error::ShapeMismatch`] when the shapes differ along another axis.
    pub fn push<T: Element, D: Dimension>(&mut self, slab: &ArrayRef<T, D>) -> Result<()> {
        slab_length(self.axis(), &self.shape(), slab.shape())?;
        // Standard layout means a slice; a slab without items may have none.
        self.push_items(slab.as_standard_layout().as_slice().unwrap_or_default())
    }
}

impl Options {
    /// Makes an array at `path` of the shape, dtype and items of an `ndarray` array or view.
    ///
    /// # Errors
    /// As [`Options::create`].
    pub fn create_from<T: Element, D: Dimension>(
        self,
        path: impl AsRef<Path>,
        items: &ArrayRef<T, D>,
    ) -> Result<Array> {
        self.created_from(Some(path.as_ref()), items)
    }

    /// Makes an array in memory of the shape, dtype and items of an `ndarray` array or view.
    ///
    /// ```
    /// use b2nd::{s, Options};
    /// let a = Options::new().create_from_in_memory(&ndarray::array![[1.5f64, 2.5], [3.5, 4.5]])?;
    /// assert_eq!(a.read_items::<f64>(s![1])?, [3.5, 4.5]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Options::create_in_memory`].
    pub fn create_from_in_memory<T: Element, D: Dimension>(self, items: &ArrayRef<T, D>) -> Result<Array> {
        self.created_from(None, items)
    }

    fn created_from<T: Element, D: Dimension>(
        self,
        path: Option<&Path>,
        items: &ArrayRef<T, D>,
    ) -> Result<Array> {
        let shape: Vec<u64> = items.shape().iter().map(|&n| n as u64).collect();
        let mut writer = self.begin(path, T::dtype(), &shape)?;
        writer.write_items((), items.as_standard_layout().as_slice().unwrap_or_default())?;
        writer.commit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::{Dtype, Slabs};
    use ::ndarray::{Array2, Array3, Axis, Ix1, Ix2, array};

    fn counted(dtype: &str) -> Array {
        let mut a = Options::new().create_in_memory(Dtype::parse("<i2").unwrap(), [2, 3, 4]).unwrap();
        a.write_items((), &(0..24).collect::<Vec<i16>>()).unwrap();
        Options::new().astype_in_memory(&a, &Dtype::parse(dtype).unwrap()).unwrap()
    }

    #[test]
    fn a_read_has_the_axes_of_its_type_or_says_why_not() {
        let a = counted("<i2");
        let level = a.read_as::<i16, Ix2>(crate::s![1]).unwrap();
        assert_eq!((level.dim(), level[[2, 3]]), ((3, 4), 23));
        assert_eq!(a.read_as::<i16, IxDyn>(crate::s![1]).unwrap(), level.into_dyn());
        let error = a.read_as::<i16, Ix1>(crate::s![1]).unwrap_err().to_string();
        assert!(error.contains("[3, 4]") && error.contains("1 axes"), "{error}");
    }

    #[test]
    fn a_read_fills_arrays_and_views_in_any_layout() {
        let a = counted(">i2");
        let due = a.read_as::<i16, ::ndarray::Ix3>(()).unwrap();
        let mut plain = Array3::<i16>::zeros((2, 3, 4));
        a.read_into_array((), &mut plain).unwrap();
        assert_eq!(plain, due);
        let mut turned = Array3::<i16>::zeros((4, 3, 2));
        a.read_into_array((), &mut turned.view_mut().reversed_axes()).unwrap();
        assert_eq!(turned.t(), due);
        let mut wide = Array2::<i16>::zeros((3, 9));
        let every_other = ::ndarray::Slice::new(1, None, 2);
        a.read_into_array(crate::s![0], &mut wide.slice_axis_mut(Axis(1), every_other)).unwrap();
        assert_eq!((wide[[1, 1]], wide[[1, 2]], wide[[2, 7]]), (4, 0, 11));
        assert!(a.read_into_array(crate::s![0], &mut plain).is_err());
        assert!(a.read_into_array((), &mut Array3::<f32>::zeros((2, 3, 4))).is_err());
    }

    #[test]
    fn a_read_casts_any_numbers() {
        for dtype in ["|u1", ">i2", "<i8", "<f4", ">f8", "<c16", "<f2"] {
            let cast = counted(dtype).read_cast::<f64>(crate::s![1, .., -1]).unwrap();
            assert_eq!(cast, array![15.0, 19.0, 23.0].into_dyn(), "{dtype}");
        }
        assert_eq!(counted("<f4").read_items_cast::<u8>(crate::s![0, 0]).unwrap(), [0, 1, 2, 3]);
        let text = Options::new().create_in_memory(Dtype::parse("|S3").unwrap(), [2]).unwrap();
        assert!(text.read_items_cast::<f64>(()).is_err());
    }

    #[test]
    fn one_slab_may_have_an_axis_less() {
        for axis in 0..3 {
            let mut a = counted("<i2");
            let before = a.read_as::<i16, ::ndarray::Ix3>(()).unwrap();
            let slab = before.index_axis(Axis(axis), 1).mapv(|item| item + 100);
            a.append(axis, &slab).unwrap();
            a.insert(axis, 0, &slab.view()).unwrap();
            let after = a.read_as::<i16, ::ndarray::Ix3>(()).unwrap();
            assert_eq!(after.len_of(Axis(axis)), before.len_of(Axis(axis)) + 2);
            assert_eq!(after.index_axis(Axis(axis), 0), slab);
            assert_eq!(after.index_axis(Axis(axis), after.len_of(Axis(axis)) - 1), slab);
            let error = a.append(axis, &array![1i16]).unwrap_err().to_string();
            assert!(error.contains("for one slab"), "{error}");
            assert!(a.append(3, &slab).is_err());

            let mut writer = Options::new()
                .stream_in_memory(Dtype::of::<i16>(), &Slabs::growing(axis, [2, 3, 4]))
                .unwrap();
            writer.push(&slab).unwrap();
            writer.push(&before).unwrap();
            assert!(writer.push(&array![1i16]).is_err());
            let streamed = writer.finish().unwrap().read_as::<i16, ::ndarray::Ix3>(()).unwrap();
            assert_eq!(streamed.index_axis(Axis(axis), 0), slab);
        }
    }
}
