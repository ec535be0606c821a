//! Reading into and writing from `ndarray` arrays.

use crate::array::Array;
use crate::array::Element;
use crate::array::Options;
use crate::array::Selection;
use crate::error::Error;
use crate::error::Result;
use ::ndarray::ArrayD;
use ::ndarray::ArrayRef;
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
        let resolved = selection.into().resolve(self.shape())?;
        let items = self.read_resolved_items(&resolved)?;
        // Each length is at most the number of items, or beside an axis of length 0.
        let shape: Vec<usize> = resolved.shape.iter().map(|&n| n as usize).collect();
        ArrayD::from_shape_vec(IxDyn(&shape), items)
            .map_err(|_| Error::usage(format!("a result of shape {shape:?} is more than ndarray can hold")))
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
        if !shape.iter().copied().eq(items.shape().iter().map(|&n| n as u64)) {
            return Err(Error::usage(format!(
                "the items have the shape {:?}, and the selection {shape:?}",
                items.shape()
            )));
        }
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
        self.append_items(axis, items.as_standard_layout().as_slice().unwrap_or_default())
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
        self.insert_items(axis, index, items.as_standard_layout().as_slice().unwrap_or_default())
    }

    fn check_slabs(&self, axis: usize, shape: &[usize]) -> Result<()> {
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
