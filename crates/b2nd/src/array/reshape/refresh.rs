//! An array that others have changed.

use crate::array::Array;
use crate::error::Result;

impl Array {
    /// Takes over what another handle or process has committed since this array was opened or last refreshed; whether
    /// there was anything.
    ///
    /// An array in memory has no other handle. The threads, limits and the dtype that were set stay, the dtype unless the
    /// file names another.
    ///
    /// ```no_run
    /// use b2nd::{Array, Dtype, OpenOptions, Options};
    /// let path = std::path::Path::new("wind.b2nd");
    /// Options::new().create(path, Dtype::parse("<f4")?, [10])?;
    /// let mut reader = Array::open(path)?;
    /// Array::open_with(path, &OpenOptions::new().with_write(true))?.resize([20])?;
    /// assert!(reader.refresh()?);
    /// assert_eq!(reader.shape(), [20]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::open`]; the array then stays as it was.
    pub fn refresh(&mut self) -> Result<bool> {
        self.rollback()?;
        let Some(schunk) = self.schunk.reopened()? else { return Ok(false) };
        let mut array = Array::from_schunk(schunk)?;
        if array.stored_dtype() == self.stored_dtype() && array.dtype().itemsize() == self.dtype().itemsize()
        {
            array.set_dtype(self.dtype().clone())?;
        }
        *self = array;
        Ok(true)
    }

    /// Writes the frame anew without the dead bytes that changes have left, compressed as it is: see
    /// [`SChunk::compact`](crate::SChunk::compact).
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<i32>(), [100])?;
    /// a.write_items((), &(0..100).collect::<Vec<i32>>())?;
    /// a.write_items((), &(100..200).collect::<Vec<i32>>())?;
    /// assert!(a.schunk().space()?.dead() > 0);
    /// a.compact()?;
    /// assert_eq!(a.schunk().space()?.dead(), 0);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SChunk::compact`](crate::SChunk::compact).
    pub fn compact(&mut self) -> Result<()> {
        self.rollback()?;
        self.schunk.compact()
    }
}
