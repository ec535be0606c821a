//! Views for reading.

use crate::array::Array;
use crate::array::ArrayField;
use crate::array::Dtype;
use crate::array::Element;
use crate::array::selection::Selection;
use crate::array::view::Arrangement;
use crate::error::Result;

/// An array under other axes: squeezed, expanded, transposed or permuted, without a copy.
///
/// A view borrows the array, so it cannot outlive it and the array cannot change under it. It reads what the array holds:
/// every kind of [`Selection`], from the view's axes, with the result in the order of these axes. As with the array, each
/// touched block is decoded once, by all threads, and its items go straight to their places in the result.
///
/// Reductions are the array's: [`View::parent_axes`] says which of its axes to reduce. Writing is [`ViewMut`](crate::ViewMut)'s.
///
/// ```
/// use b2nd::{s, Dtype, Options};
/// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [2, 1, 3])?;
/// a.write_bytes(s![], &[0, 1, 2, 10, 11, 12])?;
/// let table = a.squeeze();
/// assert_eq!(table.shape(), [2, 3]);
/// let turned = table.transpose();
/// assert_eq!(turned.shape(), [3, 2]);
/// assert_eq!(turned.read_bytes(s![])?, [0, 10, 1, 11, 2, 12]);
/// assert_eq!(turned.read_bytes(s![[2, 0], ..;-1])?, [12, 2, 10, 0]);
/// assert_eq!(turned.parent_axes(), [Some(2), Some(0)]);
/// # Ok::<(), b2nd::Error>(())
/// ```
///
/// What would outlive its array does not compile, nor does a write to the array while a view is in use:
///
/// ```compile_fail,E0597
/// let view = {
///     let a = b2nd::Options::new().create_in_memory(b2nd::Dtype::raw(1), [3]).unwrap();
///     a.transpose()
/// };
/// view.shape();
/// ```
/// ```compile_fail,E0502
/// let mut a = b2nd::Options::new().create_in_memory(b2nd::Dtype::raw(1), [3]).unwrap();
/// let view = a.transpose();
/// a.write_bytes((), &[1, 2, 3]).unwrap();
/// view.shape();
/// ```
#[derive(Debug, Clone)]
pub struct View<'a> {
    array: &'a Array,
    arranged: Arrangement,
}

impl Array {
    /// The array as a view with the axes that it has: the start of a chain of changes.
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("<f4")?, [4, 5])?;
    /// assert_eq!(a.view().shape(), a.shape());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn view(&self) -> View<'_> {
        View { array: self, arranged: Arrangement::of(&self.grid) }
    }

    /// A view without the axes of length 1.
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("<f4")?, [1, 4, 1, 5])?;
    /// assert_eq!(a.squeeze().shape(), [4, 5]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn squeeze(&self) -> View<'_> {
        self.view().squeeze()
    }

    /// A view without these axes, all of length 1; negative numbers count from the last.
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("<f4")?, [1, 4, 1, 5])?;
    /// assert_eq!(a.squeeze_axes(&[-2])?.shape(), [1, 4, 5]);
    /// assert!(a.squeeze_axes(&[1]).is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch) when an axis has another length,
    /// [`Error::OutOfBounds`](crate::Error::OutOfBounds) when it does not exist,
    /// [`Error::Usage`](crate::Error::Usage) when it is named twice.
    pub fn squeeze_axes(&self, axes: &[i64]) -> Result<View<'_>> {
        self.view().squeeze_axes(axes)
    }

    /// A view with new axes of length 1 at these places of its shape; negative numbers count from the last.
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("<f4")?, [4, 5])?;
    /// assert_eq!(a.expand_dims(&[0, -1])?.shape(), [1, 4, 5, 1]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfBounds`](crate::Error::OutOfBounds) when the view has no such axis,
    /// [`Error::Usage`](crate::Error::Usage) when one is named twice, [`Error::TooLarge`](crate::Error::TooLarge)
    /// when there are more than 16.
    pub fn expand_dims(&self, axes: &[i64]) -> Result<View<'_>> {
        self.view().expand_dims(axes)
    }

    /// A view with the axes in reverse order.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<i32>(), [2, 3])?;
    /// a.write_items(s![], &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(a.transpose().read_items::<i32>(s![1..])?, [2, 5, 3, 6]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn transpose(&self) -> View<'_> {
        self.view().transpose()
    }

    /// A view with the axes in this order: axis `d` of the view is axis `axes[d]` of the array (NumPy's `transpose(axes)`
    /// and `permute_dims`); negative numbers count from the last.
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("<f4")?, [4, 5, 6])?;
    /// assert_eq!(a.permute(&[2, 0, 1])?.shape(), [6, 4, 5]);
    /// assert!(a.permute(&[2, 0]).is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NdimMismatch`](crate::Error::NdimMismatch) when an axis is missing,
    /// [`Error::OutOfBounds`](crate::Error::OutOfBounds) when it does not exist,
    /// [`Error::Usage`](crate::Error::Usage) when it is named twice.
    pub fn permute(&self, axes: &[i64]) -> Result<View<'_>> {
        self.view().permute(axes)
    }
}

impl<'a> From<&'a Array> for View<'a> {
    fn from(array: &'a Array) -> Self {
        array.view()
    }
}

impl<'a> From<&View<'a>> for View<'a> {
    fn from(view: &View<'a>) -> Self {
        view.clone()
    }
}

impl<'a> View<'a> {
    pub(super) fn new(array: &'a Array, arranged: Arrangement) -> Self {
        View { array, arranged }
    }

    /// Whether its axes are those of the array.
    pub(super) fn is_the_array(&self) -> bool {
        self.arranged == Arrangement::of(&self.array.grid)
    }

    /// This view without the axes of length 1; see [`Array::squeeze`].
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("<f4")?, [4, 1, 5])?;
    /// assert_eq!(a.transpose().squeeze().shape(), [5, 4]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    #[must_use]
    pub fn squeeze(&self) -> View<'a> {
        View { array: self.array, arranged: self.arranged.squeeze() }
    }

    /// This view without these axes; see [`Array::squeeze_axes`].
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("<f4")?, [1, 5])?;
    /// assert_eq!(a.transpose().squeeze_axes(&[1])?.shape(), [5]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::squeeze_axes`].
    pub fn squeeze_axes(&self, axes: &[i64]) -> Result<View<'a>> {
        Ok(View { array: self.array, arranged: self.arranged.squeeze_axes(axes)? })
    }

    /// This view with new axes of length 1; see [`Array::expand_dims`].
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("<f4")?, [4, 5])?;
    /// assert_eq!(a.transpose().expand_dims(&[1])?.shape(), [5, 1, 4]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::expand_dims`].
    pub fn expand_dims(&self, axes: &[i64]) -> Result<View<'a>> {
        Ok(View { array: self.array, arranged: self.arranged.expand_dims(axes)? })
    }

    /// This view with its axes in reverse order; see [`Array::transpose`].
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("<f4")?, [4, 5])?;
    /// assert_eq!(a.transpose().transpose().shape(), a.shape());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    #[must_use]
    pub fn transpose(&self) -> View<'a> {
        View { array: self.array, arranged: self.arranged.transpose() }
    }

    /// This view with its axes in this order; see [`Array::permute`].
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("<f4")?, [4, 5, 6])?;
    /// assert_eq!(a.transpose().permute(&[1, 0, 2])?.shape(), [5, 6, 4]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::permute`].
    pub fn permute(&self, axes: &[i64]) -> Result<View<'a>> {
        Ok(View { array: self.array, arranged: self.arranged.permute(axes)? })
    }

    /// The array that is viewed.
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("<f4")?, [4, 5])?;
    /// assert_eq!(a.transpose().array().shape(), [4, 5]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn array(&self) -> &'a Array {
        self.array
    }
    /// For each axis of the view which axis of the array it is; `None` for a new one.
    ///
    /// What the array does by axes (a reduction, say) is done along these.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<i32>(), [2, 3])?;
    /// a.write_items(s![], &[1, 2, 3, 4, 5, 6])?;
    /// let view = a.expand_dims(&[0])?.transpose();
    /// assert_eq!(view.parent_axes(), [Some(1), Some(0), None]);
    /// let rows: Vec<i64> = view.parent_axes()[..1].iter().flatten().map(|&axis| axis as i64).collect();
    /// assert_eq!(a.sum(rows)?.items::<i64>()?, [6, 15]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn parent_axes(&self) -> &[Option<usize>] {
        self.arranged.axes()
    }
    /// The length of each axis.
    pub fn shape(&self) -> &[u64] {
        self.arranged.grid().shape()
    }
    /// The number of axes.
    pub fn ndim(&self) -> usize {
        self.arranged.grid().ndim()
    }
    /// The lengths of the array's chunks along the axes of the view.
    pub fn chunks(&self) -> &[u64] {
        self.arranged.grid().chunks()
    }
    /// The lengths of the array's blocks along the axes of the view.
    pub fn blocks(&self) -> &[u64] {
        self.arranged.grid().blocks()
    }
    /// The dtype, which is the array's.
    pub fn dtype(&self) -> &'a Dtype {
        self.array.dtype()
    }
    /// The number of items.
    pub fn size(&self) -> u64 {
        self.array.size()
    }
    /// Uncompressed bytes of the items.
    pub fn nbytes(&self) -> u64 {
        self.array.nbytes()
    }

    /// The items whole, by the axes of the view.
    pub(crate) fn items(&self) -> ArrayField<'_> {
        self.array.items().arranged(self.arranged.grid())
    }

    /// A field of a structured dtype, read by the axes of the view; see [`Array::field`].
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("[('x', '|u1'), ('y', '|u1')]")?, [2, 2])?;
    /// a.write_bytes(s![], &[1, 10, 2, 20, 3, 30, 4, 40])?;
    /// assert_eq!(a.transpose().field("y")?.read_items::<u8>(s![])?, [10, 30, 20, 40]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::field`].
    pub fn field(&self, path: &str) -> Result<ArrayField<'_>> {
        Ok(self.array.field(path)?.arranged(self.arranged.grid()))
    }

    /// The shape that reading `selection` gives; see [`Array::selection_shape`].
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("<f4")?, [10, 20])?;
    /// assert_eq!(a.transpose().selection_shape(s![..;2])?, [10, 10]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfBounds`](crate::Error::OutOfBounds) or [`Error::NdimMismatch`](crate::Error::NdimMismatch) when
    /// the selection does not fit the shape of the view.
    pub fn selection_shape(&self, selection: impl Into<Selection>) -> Result<Vec<u64>> {
        self.items().selection_shape(selection)
    }

    /// Reads a selection as bytes, in C order of the view's axes; see [`Array::read_bytes`].
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options, Selection};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [2, 3])?;
    /// a.write_bytes(s![], &[0, 1, 2, 10, 11, 12])?;
    /// let view = a.transpose();
    /// assert_eq!(view.read_bytes(s![1])?, [1, 11]);
    /// assert_eq!(view.read_bytes(Selection::points([[2, 1], [0, 0]].as_flattened()))?, [12, 0]);
    /// assert_eq!(view.read_bytes(Selection::flat([1]))?, [10]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::read_bytes`].
    pub fn read_bytes(&self, selection: impl Into<Selection>) -> Result<Vec<u8>> {
        self.items().read_bytes(selection)
    }

    /// As [`View::read_bytes`], into a buffer of exactly the right size; see [`Array::read_bytes_into`].
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [2, 2])?;
    /// a.write_bytes(s![], &[1, 2, 3, 4])?;
    /// let mut out = [0; 4];
    /// a.transpose().read_bytes_into(s![], &mut out)?;
    /// assert_eq!(out, [1, 3, 2, 4]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::read_bytes_into`].
    pub fn read_bytes_into(&self, selection: impl Into<Selection>, out: &mut [u8]) -> Result<()> {
        self.items().read_bytes_into(selection, out)
    }

    /// Reads a selection into items of a Rust type, in C order of the view's axes; see [`Array::read_into`].
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<i16>(), [2, 2])?;
    /// a.write_items(s![], &[1i16, 2, 3, 4])?;
    /// let mut first = [0i16; 2];
    /// a.transpose().read_into(s![0], &mut first)?;
    /// assert_eq!(first, [1, 3]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::read_into`].
    pub fn read_into<T: Element>(&self, selection: impl Into<Selection>, out: &mut [T]) -> Result<()> {
        self.items().read_into(selection, out)
    }

    /// As [`View::read_into`], into a new vector; see [`Array::read_items`].
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<i16>(), [2, 2])?;
    /// a.write_items(s![], &[1i16, 2, 3, 4])?;
    /// assert_eq!(a.transpose().read_items::<i16>(s![])?, [1, 3, 2, 4]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::read_items`].
    pub fn read_items<T: Element>(&self, selection: impl Into<Selection>) -> Result<Vec<T>> {
        self.items().read_items(selection)
    }
}
