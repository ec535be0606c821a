//! Views for writing.

use crate::array::Array;
use crate::array::selection::Selection;
use crate::array::view::Arrangement;
use crate::array::view::View;
use crate::array::write::{Given, writes};
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
///
/// Selections are from the axes of the view, and each write commits:
///
/// ```
/// use b2nd::{s, Dtype, Options};
/// let mut a = Options::new().create_in_memory(Dtype::parse(">i4")?, [2, 2])?;
/// a.view_mut().transpose().write_items(s![], &[1i32, 2, 3, 4])?;
/// assert_eq!(a.read_items::<i32>(s![])?, [1, 3, 2, 4]);
/// a.view_mut().transpose().fill(s![1, [1]], 7i32)?;
/// assert_eq!(a.read_items::<i32>(s![])?, [1, 3, 2, 7]);
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

    pub(in crate::array) fn array(&self) -> &Array {
        self.array
    }

    #[cfg(feature = "ndarray")]
    pub(in crate::array) fn selected_shape(&self) -> &[u64] {
        self.arranged.grid().shape()
    }

    pub(in crate::array) fn put(&mut self, selection: &Selection, given: Given<'_>) -> Result<()> {
        let arranged = &self.arranged;
        let resolved = selection.resolve(arranged.grid().shape())?;
        self.array.at_once(|t| t.stage(|array| array.stage_resolved(resolved, Some(arranged), given)))
    }
}

writes!(ViewMut<'_>);
