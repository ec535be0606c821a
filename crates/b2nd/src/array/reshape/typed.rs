//! Appending and inserting items of Rust types.

use crate::array::Array;
use crate::array::Element;
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
        self.at_once(|t| t.append_items(axis, items))
    }

    /// Inserts items of a Rust type along an axis before `index`, and commits; see [`Array::insert_bytes`].
    ///
    /// # Errors
    /// As [`Array::insert_bytes`], and [`Error::DtypeMismatch`](crate::Error::DtypeMismatch) when `T` does not stand
    /// for the dtype.
    pub fn insert_items<T: Element>(&mut self, axis: usize, index: u64, items: &[T]) -> Result<()> {
        self.at_once(|t| t.insert_items(axis, index, items))
    }
}
