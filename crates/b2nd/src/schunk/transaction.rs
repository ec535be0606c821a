//! Changes of a super-chunk: one by one, each a commit of its own, or many in one.

use super::handle::SChunk;
use crate::chunk;
use crate::chunk::Special;
use crate::error::{Error, Result};
use std::mem::take;

/// Changes of a super-chunk that become visible together, at [`FrameTransaction::commit`]; dropped before it, they never were.
///
/// ```
/// use b2nd::Params;
/// use b2nd::schunk::CreateOptions;
/// let mut schunk = CreateOptions::new(Params::new(1)).create_in_memory()?;
/// let mut t = schunk.transaction();
/// t.append(b"first")?;
/// t.append(b"other")?;
/// t.delete(0)?;
/// t.commit()?;
/// assert_eq!(schunk.decompress_chunk(0)?, b"other");
/// schunk.transaction().delete(0)?; // dropped: nothing happens
/// assert_eq!(schunk.nchunks(), 1);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug)]
pub struct FrameTransaction<'a> {
    schunk: &'a mut SChunk,
    open: bool,
}

impl FrameTransaction<'_> {
    fn stage<T>(&mut self, change: impl FnOnce(&mut SChunk) -> Result<T>) -> Result<T> {
        if !self.open {
            return Err(Error::state("a change of this transaction failed before: start another"));
        }
        let result = change(self.schunk);
        self.open = result.is_ok();
        result
    }

    /// The super-chunk as it will be, for tests that disturb it.
    #[cfg(test)]
    pub(super) fn schunk_mut(&mut self) -> &mut SChunk {
        self.schunk
    }

    /// The super-chunk as it will be.
    pub fn schunk(&self) -> &SChunk {
        self.schunk
    }

    /// Compresses items into a chunk and appends it; see [`SChunk::append`].
    ///
    /// # Errors
    /// As [`SChunk::append`]; after an error of any change the transaction can only be dropped.
    pub fn append(&mut self, items: &[u8]) -> Result<()> {
        self.insert(self.schunk.nchunks(), items)
    }
    /// Appends a compressed chunk as it is; see [`SChunk::append_chunk`].
    ///
    /// # Errors
    /// As [`SChunk::append_chunk`].
    pub fn append_chunk(&mut self, chunk: &[u8]) -> Result<()> {
        self.insert_chunk(self.schunk.nchunks(), chunk)
    }
    /// Appends any number of items in chunks of the frame's size; see [`SChunk::extend`].
    ///
    /// # Errors
    /// As [`SChunk::extend`].
    pub fn extend(&mut self, items: &[u8]) -> Result<()> {
        self.stage(|schunk| schunk.stage_extend(items))
    }
    /// Compresses items into a chunk and inserts it before chunk `n`; see [`SChunk::insert`].
    ///
    /// # Errors
    /// As [`SChunk::insert`].
    pub fn insert(&mut self, n: u64, items: &[u8]) -> Result<()> {
        self.stage(|schunk| schunk.compressed(n, items, |schunk, chunk| schunk.stage_insert(n, chunk)))
    }
    /// Inserts a compressed chunk before chunk `n`, as it is; see [`SChunk::insert_chunk`].
    ///
    /// # Errors
    /// As [`SChunk::insert_chunk`].
    pub fn insert_chunk(&mut self, n: u64, chunk: &[u8]) -> Result<()> {
        self.stage(|schunk| schunk.stage_insert(n, chunk))
    }
    /// Compresses items into a chunk that replaces chunk `n`; see [`SChunk::update`].
    ///
    /// # Errors
    /// As [`SChunk::update`].
    pub fn update(&mut self, n: u64, items: &[u8]) -> Result<()> {
        self.stage(|schunk| schunk.compressed(n, items, |schunk, chunk| schunk.stage_update(n, chunk)))
    }
    /// Replaces chunk `n` by a compressed chunk, as it is; see [`SChunk::update_chunk`].
    ///
    /// # Errors
    /// As [`SChunk::update_chunk`].
    pub fn update_chunk(&mut self, n: u64, chunk: &[u8]) -> Result<()> {
        self.stage(|schunk| schunk.stage_update(n, chunk))
    }
    /// Makes all items of chunk `n` the same; see [`SChunk::update_special`].
    ///
    /// # Errors
    /// As [`SChunk::update_special`].
    pub fn update_special(&mut self, n: u64, kind: Special, value: &[u8]) -> Result<()> {
        self.stage(|schunk| schunk.stage_special(n, kind, value))
    }
    /// Removes chunk `n`; see [`SChunk::delete`].
    ///
    /// # Errors
    /// As [`SChunk::delete`].
    pub fn delete(&mut self, n: u64) -> Result<()> {
        self.stage(|schunk| schunk.stage_delete(n))
    }
    /// Puts the chunks into another order; see [`SChunk::reorder`].
    ///
    /// # Errors
    /// As [`SChunk::reorder`].
    pub fn reorder(&mut self, order: &[u64]) -> Result<()> {
        self.stage(|schunk| schunk.stage_reorder(order))
    }
    /// Appends items that are all the same; see [`SChunk::fill`].
    ///
    /// # Errors
    /// As [`SChunk::fill`].
    pub fn fill(&mut self, kind: Special, value: &[u8], nitems: u64) -> Result<()> {
        self.stage(|schunk| schunk.stage_fill(kind, value, nitems))
    }
    /// Overwrites items from item `start` on; see [`SChunk::write_items`].
    ///
    /// # Errors
    /// As [`SChunk::write_items`].
    pub fn write_items(&mut self, start: u64, items: &[u8]) -> Result<()> {
        self.stage(|schunk| schunk.stage_items(start, items))
    }
    /// Replaces the content of a metalayer; see [`SChunk::set_metalayer`].
    ///
    /// # Errors
    /// As [`SChunk::set_metalayer`].
    pub fn set_metalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        self.stage(|schunk| schunk.stage_metalayer(name, content))
    }
    /// Adds or replaces a vlmetalayer; see [`SChunk::set_vlmetalayer`].
    ///
    /// # Errors
    /// As [`SChunk::set_vlmetalayer`].
    pub fn set_vlmetalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        self.stage(|schunk| schunk.stage_vlmetalayer(name, content))
    }
    /// Removes a vlmetalayer; whether there was one.
    ///
    /// # Errors
    /// As [`SChunk::remove_vlmetalayer`].
    pub fn remove_vlmetalayer(&mut self, name: &str) -> Result<bool> {
        self.stage(|schunk| schunk.stage_removal(name))
    }

    /// Makes all changes visible.
    ///
    /// # Errors
    /// [`Error::Io`] when the frame cannot be written; then none of the changes is visible.
    pub fn commit(self) -> Result<()> {
        if !self.open {
            return Err(Error::state("a change of this transaction failed: nothing is committed"));
        }
        self.schunk.commit()
    }
}

impl Drop for FrameTransaction<'_> {
    fn drop(&mut self) {
        self.schunk.forget_changes();
    }
}

/// Changes. Each is a commit of its own: what was before is kept until it is done, so the file grows by the new chunks and a
/// new index every time. Many changes are better made in one [`SChunk::transaction`]; [`SChunk::compact`] gets room back.
///
/// Chunks have one size, and only the last may be shorter. A change that breaks this (a chunk behind a short one, or of
/// another size in the middle) gives a frame of version 3, whose chunks have any size; C-Blosc2 does the same, and only its
/// version 3 reads such frames.
impl SChunk {
    /// Starts a [`FrameTransaction`].
    pub fn transaction(&mut self) -> FrameTransaction<'_> {
        // One that was leaked instead of dropped must not come along with this one's commit.
        self.forget_changes();
        FrameTransaction { schunk: self, open: true }
    }

    fn forget_changes(&mut self) {
        if self.writer.changes.dirty {
            // What cannot be rolled back was never visible on disk either; the handle reports it at its next use.
            let _ = self.rollback();
        }
    }

    pub(super) fn at_once<T>(
        &mut self,
        change: impl FnOnce(&mut FrameTransaction<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut transaction = self.transaction();
        let done = change(&mut transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// Compresses the items of a whole chunk, which will be chunk `n`, as [`SChunk::params`] say, for `then`.
    pub(super) fn compressed(
        &mut self,
        n: u64,
        items: &[u8],
        then: impl FnOnce(&mut SChunk, &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.check_items(items)?;
        let stored = self.pre_processed(n, items)?;
        self.encoded(&stored, then)
    }

    /// Compresses what is stored of a chunk, for `then`.
    pub(super) fn encoded(
        &mut self,
        stored: &[u8],
        then: impl FnOnce(&mut SChunk, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let exec = self.exec.clone();
        let mut packed = exec.with_scratch(|scratch| take(&mut scratch.packed));
        let encoded = chunk::encode_into(stored, &self.params, &self.context, &exec, &mut packed);
        let done = encoded.and_then(|()| then(self, &packed));
        exec.with_scratch(|scratch| scratch.packed = packed);
        done
    }

    /// An error for what are no whole items of this frame.
    pub(super) fn check_items(&self, items: &[u8]) -> Result<()> {
        let typesize = self.header.params().typesize();
        if self.params.typesize() != typesize {
            let other = self.params.typesize();
            return Err(Error::length(
                typesize,
                other,
                format!("parameters for items of {other} bytes, and the frame has {typesize}"),
            ));
        }
        if items.is_empty() || !(items.len() as u64).is_multiple_of(u64::from(typesize)) {
            return Err(Error::not_whole(
                typesize,
                items.len(),
                format!("{} bytes are not whole items of {typesize} bytes", items.len()),
            ));
        }
        Ok(())
    }

    /// Compresses items into a chunk and appends it. The first chunk decides about the size of all, where
    /// [`CreateOptions`](crate::schunk::CreateOptions) did not.
    ///
    /// ```
    /// use b2nd::Params;
    /// use b2nd::schunk::CreateOptions;
    /// let mut schunk = CreateOptions::new(Params::new(2)).create_in_memory()?;
    /// schunk.append(&[1, 0, 2, 0])?;
    /// schunk.append(&[3, 0])?; // a short last chunk
    /// assert_eq!((schunk.nchunks(), schunk.nbytes(), schunk.chunksize()), (2, 6, 4));
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotWhole`] for no items or half an item; [`Error::TooLarge`] for more than a chunk holds;
    /// [`Error::LengthMismatch`] for parameters of another typesize; [`Error::ReadOnly`]; [`Error::Io`] when the
    /// frame cannot be written. Then nothing has changed.
    pub fn append(&mut self, items: &[u8]) -> Result<()> {
        self.at_once(|t| t.append(items))
    }
    /// Appends a compressed chunk as it is.
    ///
    /// ```
    /// use b2nd::{Exec, Params, chunk};
    /// use b2nd::schunk::CreateOptions;
    /// let mut schunk = CreateOptions::new(Params::new(1)).create_in_memory()?;
    /// schunk.append_chunk(&chunk::encode(b"bytes", &Params::new(1), &Exec::new(1))?)?;
    /// assert_eq!(schunk.decompress_chunk(0)?, b"bytes");
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SChunk::append`]; [`Error::Format`] for what is no chunk, [`Error::Usage`] for one with the short header
    /// of Blosc1, or one whose blocks differ in size among others; [`Error::Limit`] for one that repeats a value of
    /// another size than the frame's items, and so has to be written out, and has more bytes than
    /// [`Limits`](crate::Limits) allow a chunk.
    pub fn append_chunk(&mut self, chunk: &[u8]) -> Result<()> {
        self.at_once(|t| t.append_chunk(chunk))
    }
    /// Appends any number of items: fills up a short last chunk, then goes on with chunks of the frame's size, which are
    /// compressed in parallel. Where no size is decided yet, chunks get up to 8 MiB. Where chunks differ in size, it is
    /// one chunk.
    ///
    /// ```
    /// use b2nd::Params;
    /// use b2nd::schunk::CreateOptions;
    /// let mut schunk = CreateOptions::new(Params::new(1)).with_chunksize(4).create_in_memory()?;
    /// schunk.extend(b"abcdefg")?;
    /// schunk.extend(b"hij")?;
    /// assert_eq!((schunk.nchunks(), schunk.read_items(2..10)?), (3, b"cdefghij".to_vec()));
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SChunk::append`].
    pub fn extend(&mut self, items: &[u8]) -> Result<()> {
        self.at_once(|t| t.extend(items))
    }
    /// Compresses items into a chunk and inserts it before chunk `n` (behind the last, where `n` is the number of chunks).
    ///
    /// # Errors
    /// As [`SChunk::append`], and [`Error::OutOfBounds`] where there is no such place.
    pub fn insert(&mut self, n: u64, items: &[u8]) -> Result<()> {
        self.at_once(|t| t.insert(n, items))
    }
    /// Inserts a compressed chunk before chunk `n`, as it is.
    ///
    /// # Errors
    /// As [`SChunk::append_chunk`], and [`Error::OutOfBounds`] where there is no such place.
    pub fn insert_chunk(&mut self, n: u64, chunk: &[u8]) -> Result<()> {
        self.at_once(|t| t.insert_chunk(n, chunk))
    }
    /// Compresses items into a chunk that replaces chunk `n`.
    ///
    /// # Errors
    /// As [`SChunk::append`], and [`Error::OutOfBounds`] where there is no such chunk.
    pub fn update(&mut self, n: u64, items: &[u8]) -> Result<()> {
        self.at_once(|t| t.update(n, items))
    }
    /// Replaces chunk `n` by a compressed chunk, as it is.
    ///
    /// # Errors
    /// As [`SChunk::append_chunk`], and [`Error::OutOfBounds`] where there is no such chunk.
    pub fn update_chunk(&mut self, n: u64, chunk: &[u8]) -> Result<()> {
        self.at_once(|t| t.update_chunk(n, chunk))
    }
    /// Makes all items of chunk `n` the same: zeros, NaN, uninitialised, or the bytes of a `value` (empty otherwise).
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] where there is no such chunk; [`Error::Compression`] for a NaN of other items than 4
    /// and 8 bytes; [`Error::NotWhole`] for a value that does not divide the chunk; [`Error::ReadOnly`];
    /// [`Error::Io`] when the frame cannot be written.
    pub fn update_special(&mut self, n: u64, kind: Special, value: &[u8]) -> Result<()> {
        self.at_once(|t| t.update_special(n, kind, value))
    }
    /// Removes chunk `n`; those behind it move up.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] where there is no such chunk; [`Error::ReadOnly`]; [`Error::Io`] when it cannot
    /// be written.
    pub fn delete(&mut self, n: u64) -> Result<()> {
        self.at_once(|t| t.delete(n))
    }
    /// Puts the chunks into another order, without moving their bytes: chunk `n` will be what chunk `order[n]` was.
    ///
    /// ```
    /// use b2nd::Params;
    /// use b2nd::schunk::CreateOptions;
    /// let mut schunk = CreateOptions::new(Params::new(1)).with_chunksize(1).create_in_memory()?;
    /// schunk.extend(b"abc")?;
    /// schunk.reorder(&[2, 0, 1])?;
    /// assert_eq!(schunk.read_items(0..3)?, b"cab");
    /// assert!(schunk.reorder(&[0, 0, 1]).is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] or [`Error::Usage`] when `order` does not name each chunk once; [`Error::ReadOnly`];
    /// [`Error::Io`] when it cannot be written.
    pub fn reorder(&mut self, order: &[u64]) -> Result<()> {
        self.at_once(|t| t.reorder(order))
    }
    /// Appends `nitems` items that are all the same: fills up a short last chunk, then goes on in chunks of the frame's size;
    /// in these zeros, NaN and uninitialised ones take no room. `value` has the bytes of one item for [`Special::Value`] and is
    /// empty otherwise.
    ///
    /// ```
    /// use b2nd::Params;
    /// use b2nd::chunk::Special;
    /// use b2nd::schunk::CreateOptions;
    /// let mut schunk = CreateOptions::new(Params::new(4)).with_chunksize(4 << 20).create_in_memory()?;
    /// schunk.fill(Special::Nan, &[], 1 << 40)?;
    /// assert_eq!(schunk.nchunks(), 1 << 20);
    /// assert!(schunk.to_bytes()?.len() < 300);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] where the frame has no chunk size, and for a NaN of other items than 4 and 8 bytes;
    /// [`Error::LengthMismatch`] for a value of another size; [`Error::ReadOnly`]; [`Error::Format`] when a chunk to
    /// be filled up is damaged; [`Error::Io`] when it cannot be written.
    pub fn fill(&mut self, kind: Special, value: &[u8], nitems: u64) -> Result<()> {
        self.at_once(|t| t.fill(kind, value, nitems))
    }
    /// Overwrites items from item `start` on, wherever chunks begin and end. Sizes stay as they are.
    ///
    /// # Errors
    /// [`Error::NotWhole`] for half an item; [`Error::OutOfBounds`] for items past the end; [`Error::ReadOnly`];
    /// [`Error::Format`] when a chunk that keeps some of its items is damaged; [`Error::Io`] when the frame cannot be
    /// written.
    pub fn write_items(&mut self, start: u64, items: &[u8]) -> Result<()> {
        self.at_once(|t| t.write_items(start, items))
    }
    /// Replaces the content of a fixed metalayer by one of the same length.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such metalayer; [`Error::LengthMismatch`] when its length differs;
    /// [`Error::ReadOnly`]; [`Error::Io`] when it cannot be written.
    pub fn set_metalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        self.at_once(|t| t.set_metalayer(name, content))
    }
    /// Adds or replaces a vlmetalayer.
    ///
    /// C-Blosc2 reads all of them, but cannot add one to a frame that has 16 or more.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] for a name of more than 31 bytes; [`Error::ReadOnly`]; [`Error::Io`] when it cannot
    /// be written.
    pub fn set_vlmetalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        self.at_once(|t| t.set_vlmetalayer(name, content))
    }
    /// Removes a vlmetalayer; whether there was one.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; [`Error::Io`] when it cannot be written.
    pub fn remove_vlmetalayer(&mut self, name: &str) -> Result<bool> {
        self.at_once(|t| t.remove_vlmetalayer(name))
    }
}
