//! Many writes, one commit.

use crate::array::Array;
use crate::array::selection::Selection;
use crate::array::write::Given;
use crate::error::Error;
use crate::error::Result;

/// Writes that become visible together, at [`Transaction::commit`]; dropped before it, they never were.
///
/// ```
/// use b2nd::{s, Dtype, Options};
/// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [3])?;
/// let mut t = a.transaction();
/// t.write_bytes(s![0], &[7])?;
/// t.write_bytes(s![2], &[9])?;
/// t.commit()?;
/// assert_eq!(a.read_bytes(s![])?, [7, 0, 9]);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug)]
pub struct Transaction<'a> {
    array: &'a mut Array,
    open: bool,
}

impl Array {
    /// Starts a [`Transaction`].
    pub fn transaction(&mut self) -> Transaction<'_> {
        // One that was leaked instead of dropped must not come along with this one's commit.
        let _ = self.rollback();
        Transaction { array: self, open: true }
    }

    /// A transaction that owns the array, for those who cannot borrow it for so long: [`ArrayWriter::commit`] and
    /// [`ArrayWriter::rollback`] give it back.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("|u1")?, [3])?;
    /// let mut writer = a.into_writer();
    /// writer.write_bytes(s![0], &[7])?;
    /// writer.append_bytes(0, &[8])?;
    /// let mut writer = writer.commit()?.into_writer();
    /// writer.delete(0, 0..2)?;
    /// assert_eq!(writer.array().read_bytes(s![])?, [0, 8]);
    /// assert_eq!(writer.rollback()?.read_bytes(s![])?, [7, 0, 0, 8]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn into_writer(mut self) -> ArrayWriter {
        let _ = self.rollback();
        ArrayWriter { array: self, open: true, new: false }
    }
}

impl Transaction<'_> {
    /// The array as it will be.
    pub fn array(&self) -> &Array {
        self.array
    }

    /// Writes items in the dtype's byte order into a selection; see [`Array::write_bytes`].
    ///
    /// # Errors
    /// As [`Array::write_bytes`]; after an error the transaction can only be dropped.
    pub fn write_bytes(&mut self, selection: impl Into<Selection>, items: &[u8]) -> Result<()> {
        self.stage(|array| array.stage(&selection.into(), Given::Items(items)))
    }

    /// Writes one item into every place of a selection; see [`Array::fill_bytes`].
    ///
    /// # Errors
    /// As [`Array::fill_bytes`]; after an error the transaction can only be dropped.
    pub fn fill_bytes(&mut self, selection: impl Into<Selection>, item: &[u8]) -> Result<()> {
        self.stage(|array| array.stage(&selection.into(), Given::One(item)))
    }

    /// Makes one change of many.
    pub(crate) fn stage(&mut self, change: impl FnOnce(&mut Array) -> Result<()>) -> Result<()> {
        if !self.open {
            return Err(Error::state("a change of this transaction failed before: start another"));
        }
        let result = change(self.array);
        self.open = result.is_ok();
        result
    }

    /// Makes all writes visible.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be written; then none of the writes is visible.
    pub fn commit(mut self) -> Result<()> {
        if !self.open {
            return Err(Error::state("a write of this transaction failed: nothing is committed"));
        }
        self.array.commit()?;
        self.open = false;
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // What cannot be rolled back was never visible on disk either; the handle reports it at its next use.
        let _ = self.array.rollback();
    }
}

/// A new array that is being filled: see [`Options::create_uncommitted`](crate::Options::create_uncommitted). Or one that was
/// there, and is being changed by a transaction that owns it: see [`Array::into_writer`].
///
/// ```
/// use b2nd::{s, Dtype, Options};
/// let mut writer = Options::new().create_uncommitted_in_memory(Dtype::parse("<u2")?, [2])?;
/// writer.write_bytes(s![1], &[5, 0])?;
/// let a = writer.commit()?;
/// assert_eq!(a.read_bytes(s![])?, [0, 0, 5, 0]);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug)]
pub struct ArrayWriter {
    array: Array,
    open: bool,
    /// Whether there is nothing to go back to.
    new: bool,
}

impl ArrayWriter {
    pub(crate) fn new(array: Array) -> Self {
        ArrayWriter { array, open: true, new: true }
    }

    /// The array so far: its shape and partition; what was written can be read.
    pub fn array(&self) -> &Array {
        &self.array
    }

    /// Writes items in the dtype's byte order into a selection; see [`Array::write_bytes`]. Whole chunks are not read first.
    ///
    /// # Errors
    /// As [`Array::write_bytes`]; after an error the writer can only be dropped.
    pub fn write_bytes(&mut self, selection: impl Into<Selection>, items: &[u8]) -> Result<()> {
        self.stage(|array| array.stage(&selection.into(), Given::Items(items)))
    }

    /// Writes one item into every place of a selection; see [`Array::fill_bytes`].
    ///
    /// # Errors
    /// As [`Array::fill_bytes`]; after an error the writer can only be dropped.
    pub fn fill_bytes(&mut self, selection: impl Into<Selection>, item: &[u8]) -> Result<()> {
        self.stage(|array| array.stage(&selection.into(), Given::One(item)))
    }

    /// Makes one change of many.
    pub(crate) fn stage(&mut self, change: impl FnOnce(&mut Array) -> Result<()>) -> Result<()> {
        if !self.open {
            return Err(Error::state("a write of this array failed before: start another"));
        }
        let result = change(&mut self.array);
        self.open = result.is_ok();
        result
    }

    /// Makes the array visible, whole, under its name; of one that was there, all changes at once.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be written or moved to its name; [`Error::AlreadyExists`] when a file of
    /// that name has appeared and may not be replaced. Then nothing remains of a new array, and of another none of
    /// the changes.
    pub fn commit(mut self) -> Result<Array> {
        if !self.open {
            return Err(Error::state("a write of this array failed: nothing is committed"));
        }
        self.array.commit()?;
        Ok(self.array)
    }

    /// Forgets all that was written, and gives the array back as it was.
    ///
    /// # Errors
    /// [`Error::State`] for a new array, which never was; [`Error::Io`] when the file cannot be read.
    pub fn rollback(mut self) -> Result<Array> {
        if self.new {
            return Err(Error::state("a new array has nothing to go back to: drop its writer"));
        }
        self.array.rollback()?;
        Ok(self.array)
    }

    /// Adds or replaces a vlmetalayer; see [`Array::set_vlmetalayer`].
    ///
    /// # Errors
    /// As [`Array::set_vlmetalayer`]; after an error the writer can only be dropped or rolled back.
    pub fn set_vlmetalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        self.stage(|array| array.schunk.stage_vlmetalayer(name, content))
    }

    /// Removes a vlmetalayer; whether there was one.
    ///
    /// # Errors
    /// As [`Array::remove_vlmetalayer`]; after an error the writer can only be dropped or rolled back.
    pub fn remove_vlmetalayer(&mut self, name: &str) -> Result<bool> {
        let there = self.array.schunk.vlmetalayer_names()?.any(|other| other == name);
        if there {
            self.stage(|array| array.schunk.stage_removal(name).map(drop))?;
        }
        Ok(there)
    }
}
