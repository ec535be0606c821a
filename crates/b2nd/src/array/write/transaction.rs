//! Many writes, one commit.

use crate::array::Array;
use crate::array::selection::Selection;
use crate::array::write::Given;
use crate::error::Error;
use crate::error::Result;

/// Writes that become visible together, at [`Transaction::commit`]; dropped before it, they never were. After a change that failed,
/// a transaction can only be dropped.
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
    state: TransactionState,
}

/// Whether a transaction goes on.
#[derive(Debug)]
enum TransactionState {
    Open,
    /// A change has failed, and may be there in part.
    Failed,
}

impl TransactionState {
    /// Makes one change of many.
    fn change<T>(&mut self, array: &mut Array, change: impl FnOnce(&mut Array) -> Result<T>) -> Result<T> {
        if matches!(self, TransactionState::Failed) {
            return Err(Error::state("a change of this transaction failed before: start another"));
        }
        let result = change(array);
        if result.is_err() {
            *self = TransactionState::Failed;
        }
        result
    }

    /// Makes all changes visible.
    fn commit(&self, array: &mut Array) -> Result<()> {
        match self {
            TransactionState::Open => array.commit(),
            TransactionState::Failed => {
                Err(Error::state("a change of this transaction failed: nothing is committed"))
            }
        }
    }
}

impl Array {
    /// Starts a [`Transaction`].
    pub fn transaction(&mut self) -> Transaction<'_> {
        // One that was leaked instead of dropped must not come along with this one's commit.
        let _ = self.rollback();
        Transaction { array: self, state: TransactionState::Open }
    }

    /// Makes a transaction of its own of some changes.
    pub(in crate::array) fn at_once<T>(
        &mut self,
        change: impl FnOnce(&mut Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut transaction = self.transaction();
        let done = change(&mut transaction)?;
        transaction.commit()?;
        Ok(done)
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
        ArrayWriter { array: self, state: TransactionState::Open, new: false }
    }
}

impl Transaction<'_> {
    /// The array as it will be.
    pub fn array(&self) -> &Array {
        self.array
    }

    #[cfg(feature = "ndarray")]
    pub(super) fn selected_shape(&self) -> &[u64] {
        self.array.shape()
    }

    pub(super) fn put(&mut self, selection: &Selection, given: Given<'_>) -> Result<()> {
        self.stage(|array| array.stage(selection, given))
    }

    /// Makes one change of many.
    pub(crate) fn stage<T>(&mut self, change: impl FnOnce(&mut Array) -> Result<T>) -> Result<T> {
        self.state.change(self.array, change)
    }

    /// Makes all writes visible.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be written; then none of the writes is visible.
    pub fn commit(self) -> Result<()> {
        self.state.commit(self.array)
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // What cannot be rolled back was never visible on disk either; the handle reports it at its next use.
        let _ = self.array.rollback();
    }
}

/// A new array that is being filled: see [`Options::create_uncommitted`](crate::Options::create_uncommitted). Or one that was
/// there, and is being changed by a transaction that owns it: see [`Array::into_writer`]. After a change that failed it can only be
/// dropped or rolled back.
///
/// The length of a new array need not be known at first:
///
/// ```
/// use b2nd::{s, Dtype, Options};
/// let mut writer = Options::new().create_uncommitted_in_memory(Dtype::parse("|u1")?, [0])?;
/// writer.append_bytes(0, b"one ")?;
/// writer.append_bytes(0, b"two")?;
/// assert_eq!(writer.commit()?.read_bytes(s![])?, b"one two");
/// # Ok::<(), b2nd::Error>(())
/// ```
///
/// Whole chunks are not read before they are written:
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
    state: TransactionState,
    /// Whether there is nothing to go back to.
    new: bool,
}

impl ArrayWriter {
    pub(crate) fn new(array: Array) -> Self {
        ArrayWriter { array, state: TransactionState::Open, new: true }
    }

    /// The array so far: its shape and partition; what was written can be read.
    pub fn array(&self) -> &Array {
        &self.array
    }

    #[cfg(feature = "ndarray")]
    pub(super) fn selected_shape(&self) -> &[u64] {
        self.array.shape()
    }

    pub(super) fn put(&mut self, selection: &Selection, given: Given<'_>) -> Result<()> {
        self.stage(|array| array.stage(selection, given))
    }

    /// Makes one change of many.
    pub(crate) fn stage<T>(&mut self, change: impl FnOnce(&mut Array) -> Result<T>) -> Result<T> {
        self.state.change(&mut self.array, change)
    }

    /// Makes the array visible, whole, under its name; of one that was there, all changes at once.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be written or moved to its name; [`Error::AlreadyExists`] when a file of
    /// that name has appeared and may not be replaced. Then nothing remains of a new array, and of another none of
    /// the changes.
    pub fn commit(mut self) -> Result<Array> {
        self.state.commit(&mut self.array)?;
        Ok(self.array)
    }

    /// Forgets all that was written, and gives the array back as it was.
    ///
    /// # Errors
    /// [`Error::State`] for a new array, which never was; [`Error::Io`] when the file cannot be read.
    pub fn rollback(mut self) -> Result<Array> {
        if self.new {
            return Err(Error::state("a new array has no earlier state to roll back to: drop its writer"));
        }
        self.array.rollback()?;
        Ok(self.array)
    }
}
