//! Views for writing.

use crate::array::Array;
use crate::array::Element;
use crate::array::selection::Selection;
use crate::array::typed::stored_bytes;
use crate::array::view::Arrangement;
use crate::array::view::View;
use crate::array::write::Given;
use crate::error::Result;

/// An array under other axes that is written through: what a [`View`] is for reading.
///
/// ```
/// use b2nd::{s, Dtype, Options};
/// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [2, 3])?;
/// let mut columns = a.view_mut().transpose();
/// columns.write_bytes(s![], &[0, 10, 1, 11, 2, 12])?;
/// columns.fill_bytes(s![1], &[7])?;
/// assert_eq!(a.read_bytes(s![])?, [0, 7, 2, 10, 7, 12]);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug)]
pub struct ViewMut<'a> {
    array: &'a mut Array,
    arranged: Arrangement,
}

impl Array {
    /// A view for writing, with the axes that the array has: the start of a chain of changes.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [1, 2])?;
    /// a.view_mut().squeeze().write_bytes(s![1], &[5])?;
    /// assert_eq!(a.read_bytes(s![])?, [0, 5]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn view_mut(&mut self) -> ViewMut<'_> {
        let arranged = Arrangement::of(&self.grid);
        ViewMut { array: self, arranged }
    }
}

impl ViewMut<'_> {
    /// Without the axes of length 1; see [`Array::squeeze`].
    #[must_use]
    pub fn squeeze(self) -> Self {
        ViewMut { arranged: self.arranged.squeeze(), ..self }
    }

    /// Without these axes; see [`Array::squeeze_axes`].
    ///
    /// # Errors
    /// As [`Array::squeeze_axes`].
    pub fn squeeze_axes(self, axes: &[i64]) -> Result<Self> {
        Ok(ViewMut { arranged: self.arranged.squeeze_axes(axes)?, ..self })
    }

    /// With new axes of length 1; see [`Array::expand_dims`].
    ///
    /// # Errors
    /// As [`Array::expand_dims`].
    pub fn expand_dims(self, axes: &[i64]) -> Result<Self> {
        Ok(ViewMut { arranged: self.arranged.expand_dims(axes)?, ..self })
    }

    /// With the axes in reverse order; see [`Array::transpose`].
    #[must_use]
    pub fn transpose(self) -> Self {
        ViewMut { arranged: self.arranged.transpose(), ..self }
    }

    /// With the axes in this order; see [`Array::permute`].
    ///
    /// # Errors
    /// As [`Array::permute`].
    pub fn permute(self, axes: &[i64]) -> Result<Self> {
        Ok(ViewMut { arranged: self.arranged.permute(axes)?, ..self })
    }

    /// The same view for reading.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [2, 3])?;
    /// let mut view = a.view_mut().transpose();
    /// view.write_bytes(s![0], &[1, 2])?;
    /// assert_eq!(view.as_view().read_bytes(s![..2])?, [1, 2, 0, 0]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn as_view(&self) -> View<'_> {
        View::new(self.array, self.arranged.clone())
    }

    /// Writes items into a selection from the axes of the view, and commits; see [`Array::write_bytes`].
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [2, 3])?;
    /// a.view_mut().transpose().write_bytes(s![[2, 0], 1], &[1, 2])?;
    /// assert_eq!(a.read_bytes(s![1])?, [2, 0, 1]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::write_bytes`].
    pub fn write_bytes(&mut self, selection: impl Into<Selection>, items: &[u8]) -> Result<()> {
        self.stage(&selection.into(), Given::Items(items))
    }

    /// Writes one item into every place of a selection from the axes of the view, and commits; see [`Array::fill_bytes`].
    ///
    /// # Errors
    /// As [`Array::fill_bytes`].
    pub fn fill_bytes(&mut self, selection: impl Into<Selection>, item: &[u8]) -> Result<()> {
        self.stage(&selection.into(), Given::One(item))
    }

    /// Writes items of a Rust type into a selection from the axes of the view, and commits; see [`Array::write_items`].
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse(">i4")?, [2, 2])?;
    /// a.view_mut().transpose().write_items(s![], &[1i32, 2, 3, 4])?;
    /// assert_eq!(a.read_items::<i32>(s![])?, [1, 3, 2, 4]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::write_items`].
    pub fn write_items<T: Element>(&mut self, selection: impl Into<Selection>, items: &[T]) -> Result<()> {
        self.array.check_element::<T>()?;
        let bytes = stored_bytes(self.array.dtype(), items)?;
        self.stage(&selection.into(), Given::Items(&bytes))
    }

    /// Writes one item of a Rust type into every place of a selection from the axes of the view, and commits; see
    /// [`Array::fill`].
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<i16>(), [2, 2])?;
    /// a.view_mut().transpose().fill(s![1], 7i16)?;
    /// assert_eq!(a.read_items::<i16>(s![])?, [0, 7, 0, 7]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::fill`].
    pub fn fill<T: Element>(&mut self, selection: impl Into<Selection>, item: T) -> Result<()> {
        self.array.check_element::<T>()?;
        let bytes = stored_bytes(self.array.dtype(), &[item])?.into_owned();
        self.fill_bytes(selection, &bytes)
    }

    fn stage(&mut self, selection: &Selection, given: Given<'_>) -> Result<()> {
        let arranged = &self.arranged;
        let resolved = selection.resolve(arranged.grid().shape())?;
        let mut transaction = self.array.transaction();
        transaction.stage(|array| array.stage_resolved(resolved, Some(arranged), given))?;
        transaction.commit()
    }
}
