//! Appending and inserting items of Rust types.

use crate::array::Array;
use crate::array::ArrayWriter;
use crate::array::Element;
use crate::array::Transaction;
use crate::array::typed::stored_bytes;
use crate::error::Result;

impl Array {
    /// Appends items of a Rust type along an axis, and commits; see [`Array::append_bytes`].
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse(">f4")?, [2, 0])?;
    /// a.append_items(1, &[1.5f32, 2.5])?;
    /// a.insert_items(1, 0, &[0.5f32, 3.5])?;
    /// assert_eq!(a.read_items::<f32>(s![])?, [0.5, 1.5, 3.5, 2.5]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::append_bytes`], and [`Error::DtypeMismatch`](crate::Error::DtypeMismatch) when `T` does not stand
    /// for the dtype.
    pub fn append_items<T: Element>(&mut self, axis: usize, items: &[T]) -> Result<()> {
        let mut transaction = self.transaction();
        transaction.append_items(axis, items)?;
        transaction.commit()
    }

    /// Inserts items of a Rust type along an axis before `index`, and commits; see [`Array::insert_bytes`].
    ///
    /// # Errors
    /// As [`Array::insert_bytes`], and [`Error::DtypeMismatch`](crate::Error::DtypeMismatch) when `T` does not stand
    /// for the dtype.
    pub fn insert_items<T: Element>(&mut self, axis: usize, index: u64, items: &[T]) -> Result<()> {
        let mut transaction = self.transaction();
        transaction.insert_items(axis, index, items)?;
        transaction.commit()
    }
}

impl Transaction<'_> {
    /// Appends items of a Rust type along an axis; see [`Array::append_items`].
    ///
    /// # Errors
    /// As [`Array::append_items`]; after an error of the array the transaction can only be dropped.
    pub fn append_items<T: Element>(&mut self, axis: usize, items: &[T]) -> Result<()> {
        self.array().check_element::<T>()?;
        let bytes = stored_bytes(self.array().dtype(), items)?;
        self.append_bytes(axis, &bytes)
    }

    /// Inserts items of a Rust type along an axis before `index`; see [`Array::insert_items`].
    ///
    /// # Errors
    /// As [`Array::insert_items`]; after an error of the array the transaction can only be dropped.
    pub fn insert_items<T: Element>(&mut self, axis: usize, index: u64, items: &[T]) -> Result<()> {
        self.array().check_element::<T>()?;
        let bytes = stored_bytes(self.array().dtype(), items)?;
        self.insert_bytes(axis, index, &bytes)
    }
}

impl ArrayWriter {
    /// Appends items of a Rust type along an axis of the new array; see [`ArrayWriter::append_bytes`].
    ///
    /// # Errors
    /// As [`Array::append_items`]; after an error of the array the writer can only be dropped.
    pub fn append_items<T: Element>(&mut self, axis: usize, items: &[T]) -> Result<()> {
        self.array().check_element::<T>()?;
        let bytes = stored_bytes(self.array().dtype(), items)?;
        self.append_bytes(axis, &bytes)
    }
}
