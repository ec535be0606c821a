//! Reading into and writing from `ndarray` arrays.

use crate::array::Array;
use crate::array::ArrayField;
use crate::array::Element;
use crate::array::Options;
use crate::array::Selection;
use crate::array::StreamWriter;
use crate::array::View;
use crate::array::ViewMut;
use crate::array::typed::stored_bytes;
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
    /// use b2nd::{s, Options};
    /// let a = Options::new().create_memory::<f32>([4, 6])?;
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

    /// Writes an `ndarray` array or view into a selection of its shape, and commits.
    ///
    /// ```
    /// use b2nd::{s, Options};
    /// use ndarray::array;
    /// let mut a = Options::new().create_memory::<i32>([3, 4])?;
    /// a.write(s![1.., 2..], &array![[1, 2], [3, 4]].t())?;
    /// assert_eq!(a.read::<i32>(s![2])?, array![0, 0, 2, 4].into_dyn());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::write_items`], and [`Error::Usage`] when the shapes differ.
    pub fn write<T: Element, D: Dimension>(
        &mut self,
        selection: impl Into<Selection>,
        items: &ArrayRef<T, D>,
    ) -> Result<()> {
        let selection = selection.into();
        let shape = selection.resolve(self.shape())?.shape;
        check_items(items, &shape)?;
        let standard = items.as_standard_layout();
        // Standard layout means a slice; an array without items may have none.
        self.write_items(selection, standard.as_slice().unwrap_or_default())
    }
}

/// Refuses items that do not have the shape of a selection.
fn check_items<T, D: Dimension>(items: &ArrayRef<T, D>, shape: &[u64]) -> Result<()> {
    if shape.iter().copied().eq(items.shape().iter().map(|&n| n as u64)) {
        return Ok(());
    }
    let found = items.shape();
    Err(Error::usage(format!("the items have the shape {found:?}, and the selection {shape:?}")))
}

impl View<'_> {
    /// Reads a selection into an `ndarray` array with the axes of the view; see [`Array::read`].
    ///
    /// ```
    /// use b2nd::{s, Options};
    /// use ndarray::array;
    /// let a = Options::new().create_from(None, &array![[1, 2, 3], [4, 5, 6]])?;
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

impl ViewMut<'_> {
    /// Writes an `ndarray` array or view into a selection of its shape, from the axes of this view, and commits.
    ///
    /// ```
    /// use b2nd::{s, Options};
    /// use ndarray::array;
    /// let mut a = Options::new().create_memory::<i32>([2, 3])?;
    /// a.view_mut().transpose().write(s![1..], &array![[1, 2], [3, 4]])?;
    /// assert_eq!(a.read::<i32>(s![])?, array![[0, 1, 3], [0, 2, 4]].into_dyn());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ViewMut::write_items`], and [`Error::Usage`] when the shapes differ.
    pub fn write<T: Element, D: Dimension>(
        &mut self,
        selection: impl Into<Selection>,
        items: &ArrayRef<T, D>,
    ) -> Result<()> {
        let selection = selection.into();
        let shape = selection.resolve(self.as_view().shape())?.shape;
        check_items(items, &shape)?;
        let standard = items.as_standard_layout();
        // Standard layout means a slice; an array without items may have none.
        self.write_items(selection, standard.as_slice().unwrap_or_default())
    }
}

impl Array {
    /// Appends an `ndarray` array or view along an axis, and commits; its other axes are as long as those of the array.
    ///
    /// ```
    /// use b2nd::{s, Options};
    /// use ndarray::array;
    /// let mut a = Options::new().create_memory::<i32>([0, 2])?;
    /// a.append(0, &array![[1, 2], [3, 4]])?;
    /// a.append(1, &array![[5], [6]])?;
    /// assert_eq!(a.read::<i32>(s![])?, array![[1, 2, 5], [3, 4, 6]].into_dyn());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::append_items`], and [`Error::Usage`] when the shapes do not fit.
    pub fn append<T: Element, D: Dimension>(&mut self, axis: usize, items: &ArrayRef<T, D>) -> Result<()> {
        self.check_slabs(axis, items.shape())?;
        self.insert_slabs(axis, None, items)
    }

    /// Inserts an `ndarray` array or view along an axis before `index`, and commits; its other axes are as long as those of
    /// the array.
    ///
    /// # Errors
    /// As [`Array::insert_items`], and [`Error::Usage`] when the shapes do not fit.
    pub fn insert<T: Element, D: Dimension>(
        &mut self,
        axis: usize,
        index: u64,
        items: &ArrayRef<T, D>,
    ) -> Result<()> {
        self.check_slabs(axis, items.shape())?;
        self.insert_slabs(axis, Some(index), items)
    }

    fn insert_slabs<T: Element, D: Dimension>(
        &mut self,
        axis: usize,
        index: Option<u64>,
        items: &ArrayRef<T, D>,
    ) -> Result<()> {
        self.check_element::<T>()?;
        let count = items.shape().get(axis).map(|&n| n as u64);
        let standard = items.as_standard_layout();
        // Standard layout means a slice; an array without items may have none.
        let bytes = stored_bytes(self.dtype(), standard.as_slice().unwrap_or_default())?;
        let mut transaction = self.transaction();
        transaction.stage(|array| array.stage_insert(axis, index, &bytes, count))?;
        transaction.commit()
    }

    fn check_slabs(&self, axis: usize, shape: &[usize]) -> Result<()> {
        self.axis_length(axis)?;
        let own = self.shape();
        let fits = |(d, (&n, &own)): (usize, (&usize, &u64))| d == axis || n as u64 == own;
        if shape.len() == own.len() && shape.iter().zip(own).enumerate().all(fits) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "items of shape {shape:?} do not fit an array of shape {own:?} along axis {axis}"
        )))
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
        ArrayD::from_shape_vec(IxDyn(&shape), items)
            .map_err(|_| Error::usage(format!("a result of shape {shape:?} is more than ndarray can hold")))
    }
}

/// The items where the mask is true: see [`Selection::mask`].
///
/// ```
/// use b2nd::{s, Options};
/// use ndarray::array;
/// let a = Options::new().create_from(None, &array![[1, 2], [3, 4]])?;
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
    /// Appends an `ndarray` array or view: of the array's shape, but for the axis that is streamed.
    ///
    /// ```
    /// use b2nd::{Dtype, Options, Slabs};
    /// let mut w = Options::new().stream(None, Dtype::parse("<f8")?, &Slabs::growing(0, [0, 2]))?;
    /// w.push(&ndarray::array![[1.0, 2.0]])?;
    /// w.push(&ndarray::array![[3.0, 4.0], [5.0, 6.0]])?;
    /// assert_eq!(w.finish()?.shape(), [3, 2]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`StreamWriter::push_items`], and [`Error::Usage`] when the shapes differ along another axis.
    pub fn push<T: Element, D: Dimension>(&mut self, slab: &ArrayRef<T, D>) -> Result<()> {
        let (axis, own) = (self.axis(), self.shape());
        let same = slab.ndim() == own.len()
            && slab.shape().iter().zip(&own).enumerate().all(|(d, (&n, &due))| d == axis || n as u64 == due);
        if !same {
            return Err(Error::usage(format!(
                "the slab has the shape {:?}, and the array {own:?} grows along axis {axis}",
                slab.shape()
            )));
        }
        // Standard layout means a slice; a slab without items may have none.
        self.push_items(slab.as_standard_layout().as_slice().unwrap_or_default())
    }
}

impl Options {
    /// As [`Options::create`] in a file, with the dtype of a Rust type.
    ///
    /// ```no_run
    /// use b2nd::Options;
    /// let wind = Options::new().with_chunks([16, 128, 128]).create_file::<f32>("wind.b2nd", [365, 721, 1440])?;
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Options::create`].
    pub fn create_file<T: Element>(self, path: impl AsRef<Path>, shape: impl AsRef<[u64]>) -> Result<Array> {
        self.create(Some(path.as_ref()), T::dtype(), shape.as_ref())
    }

    /// Makes an array at `path` (`None`: in memory) of the shape, dtype and items of an `ndarray` array or view.
    ///
    /// ```
    /// use b2nd::{s, Options};
    /// let a = Options::new().create_from(None, &ndarray::array![[1.5f64, 2.5], [3.5, 4.5]])?;
    /// assert_eq!(a.read_items::<f64>(s![1])?, [3.5, 4.5]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Options::create`].
    pub fn create_from<T: Element, D: Dimension>(
        self,
        path: Option<&Path>,
        items: &ArrayRef<T, D>,
    ) -> Result<Array> {
        let shape: Vec<u64> = items.shape().iter().map(|&n| n as u64).collect();
        let mut writer = self.create_uncommitted(path, T::dtype(), &shape)?;
        writer.write_items((), items.as_standard_layout().as_slice().unwrap_or_default())?;
        writer.commit()
    }

    /// As [`Options::create`] in memory, with the dtype of a Rust type.
    ///
    /// # Errors
    /// As [`Options::create`].
    pub fn create_memory<T: Element>(self, shape: impl AsRef<[u64]>) -> Result<Array> {
        self.create(None, T::dtype(), shape.as_ref())
    }
}
