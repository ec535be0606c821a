//! Reading into and writing from Rust types, in the byte order of this machine.

use crate::array::Array;
use crate::array::ArrayWriter;
use crate::array::Dtype;
use crate::array::Element;
use crate::array::Selection;
use crate::array::Transaction;
use crate::array::selection::Resolved;
use crate::error::Error;
use crate::error::Result;
use crate::limits::Limits;
use std::borrow::Cow;

impl Array {
    /// Reads a selection into items of a Rust type, C order, whatever the byte order of the file.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create(None, Dtype::parse(">i4")?, &[2, 2])?;
    /// a.write_items(s![], &[1i32, 2, 3, 4])?;
    /// let mut column = [0i32; 2];
    /// a.read_into(s![.., 1], &mut column)?;
    /// assert_eq!(column, [2, 4]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::read_bytes_into`], and [`Error::Usage`] when `T` does not stand for the dtype ([`Element::reads`]).
    pub fn read_into<T: Element>(&self, selection: impl Into<Selection>, out: &mut [T]) -> Result<()> {
        self.check_element::<T>()?;
        let resolved = selection.into().resolve(self.shape())?;
        self.read_items_into(&resolved, out)
    }

    /// As [`Array::read_into`], into a new vector; the shape is [`Array::selection_shape`].
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let a = Options::new().create(None, Dtype::parse("<f8")?, &[5, 5])?;
    /// assert_eq!(a.read_items::<f64>(s![1, ..3])?, [0.0; 3]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::read_into`], and [`Error::Limit`] when the result is larger than [`Limits::max_read_bytes`].
    pub fn read_items<T: Element>(&self, selection: impl Into<Selection>) -> Result<Vec<T>> {
        self.read_resolved_items(&selection.into().resolve(self.shape())?)
    }

    pub(crate) fn read_resolved_items<T: Element>(&self, resolved: &Resolved) -> Result<Vec<T>> {
        self.check_element::<T>()?;
        let bytes = self.result_bytes(resolved)?;
        Limits::check("the result of the read", bytes, self.schunk.limits().max_read_bytes())?;
        let count = usize::try_from(resolved.items()?)
            .map_err(|_| Error::out_of_memory("the result of the read", bytes))?;
        let mut items = T::zeroed(count)?;
        self.read_items_into(resolved, &mut items)?;
        Ok(items)
    }

    fn read_items_into<T: Element>(&self, resolved: &Resolved, out: &mut [T]) -> Result<()> {
        T::fill_from(out, |bytes| {
            self.read_resolved(resolved, bytes)?;
            self.dtype().swap_to_native(bytes)
        })
    }

    pub(in crate::array) fn check_element<T: Element>(&self) -> Result<()> {
        if T::reads(self.dtype()) {
            return Ok(());
        }
        Err(Error::usage(format!("the items are {}, and {} was asked for", self.dtype(), T::dtype())))
    }

    /// Writes items of a Rust type into a selection, and commits: as many as the selection takes, in C order.
    ///
    /// # Errors
    /// As [`Array::write_bytes`], and [`Error::Usage`] when `T` does not stand for the dtype.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create(None, Dtype::parse("<u2")?, &[3])?;
    /// a.write_items(s![1..], &[5u16, 6])?;
    /// assert_eq!(a.read_items::<u16>(s![])?, [0, 5, 6]);
    /// assert!(a.write_items(s![], &[1.0f32; 3]).is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn write_items<T: Element>(&mut self, selection: impl Into<Selection>, items: &[T]) -> Result<()> {
        let mut transaction = self.transaction();
        transaction.write_items(selection, items)?;
        transaction.commit()
    }
}

impl Transaction<'_> {
    /// Writes items of a Rust type into a selection; see [`Array::write_items`].
    ///
    /// # Errors
    /// As [`Array::write_items`].
    pub fn write_items<T: Element>(&mut self, selection: impl Into<Selection>, items: &[T]) -> Result<()> {
        self.array().check_element::<T>()?;
        let bytes = stored_bytes(self.array().dtype(), items)?;
        self.write_bytes(selection, &bytes)
    }
}

impl ArrayWriter {
    /// Writes items of a Rust type into a selection; see [`Array::write_items`].
    ///
    /// # Errors
    /// As [`Array::write_items`].
    pub fn write_items<T: Element>(&mut self, selection: impl Into<Selection>, items: &[T]) -> Result<()> {
        self.array().check_element::<T>()?;
        let bytes = stored_bytes(self.array().dtype(), items)?;
        self.write_bytes(selection, &bytes)
    }
}

/// The bytes of items in the byte order of `dtype`.
pub(in crate::array) fn stored_bytes<'a, T: Element>(dtype: &Dtype, items: &'a [T]) -> Result<Cow<'a, [u8]>> {
    let native = T::as_bytes(items);
    if dtype.is_native() {
        return Ok(Cow::Borrowed(native));
    }
    let mut swapped = native.to_vec();
    // Reversing bytes is its own inverse.
    dtype.swap_to_native(&mut swapped)?;
    Ok(Cow::Owned(swapped))
}
