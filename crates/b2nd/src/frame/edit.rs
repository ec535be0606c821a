//! Changes of the list of offsets, and how each of them is taken back.

use super::offsets::Offsets;
use crate::error::{Error, Result};
use std::sync::Arc;

/// Undoes one change.
#[derive(Debug)]
pub(crate) enum Undo {
    /// Put this value back as chunk `n`.
    Replace(u64, i64),
    /// Insert the offset before chunk `n`.
    Insert(u64, i64),
    /// Remove this many chunks again, from chunk `n` on.
    Remove(u64, u64),
    /// Restore the whole earlier list.
    All(Arc<Offsets>),
}

impl Offsets {
    /// The list that `raw` makes of the numbers of its chunks; it stays `Uniform` for as long as the values are the same.
    pub(crate) fn collect(len: u64, mut raw: impl FnMut(u64) -> Result<i64>) -> Result<Self> {
        let mut all = Offsets::none();
        (0..len).try_for_each(|n| all.insert(n, raw(n)?, 1))?;
        Ok(all)
    }
    /// Replaces the stored value of chunk `n`; returns the old one.
    pub(crate) fn replace(&mut self, n: u64, raw: i64) -> Result<i64> {
        let old = self.raw(n)?;
        if old != raw
            && let Some(place) = self.unpack()?.get_mut(index(n))
        {
            *place = raw;
        }
        Ok(old)
    }
    /// Inserts a value `count` times before that of chunk `n`, or behind the last.
    pub(crate) fn insert(&mut self, n: u64, raw: i64, count: u64) -> Result<()> {
        let len = self.len();
        if n > len {
            return Err(Error::out_of_bounds(
                n,
                len,
                format!("no chunk can become number {n}: the frame has {len}"),
            ));
        }
        let grown = len.checked_add(count).filter(|grown| *grown <= Self::MAX_CHUNKS);
        let grown = grown.ok_or_else(|| {
            Error::too_large(Self::MAX_CHUNKS, format!("a frame has at most {} chunks", Self::MAX_CHUNKS))
        })?;
        match self {
            _ if len == 0 => *self = Offsets::Uniform { raw, len: grown },
            Offsets::Uniform { raw: same, len } if *same == raw => *len = grown,
            _ => {
                let all = self.unpack()?;
                all.try_reserve(index(count)).map_err(|_| refused(grown))?;
                all.splice(index(n)..index(n), std::iter::repeat_n(raw, index(count)));
            }
        }
        Ok(())
    }
    /// Removes the values of `count` chunks from `n` on.
    pub(crate) fn remove(&mut self, n: u64, count: u64) -> Result<()> {
        let end = n.checked_add(count).filter(|end| *end <= self.len());
        let end = end.ok_or_else(|| {
            Error::out_of_bounds(
                n,
                self.len(),
                format!("there is no chunk {n}: the frame has {}", self.len()),
            )
        })?;
        match self {
            Offsets::Uniform { len, .. } => *len = len.saturating_sub(count),
            _ => drop(self.unpack()?.drain(index(n)..index(end))),
        }
        Ok(())
    }
    /// Undoes a change.
    pub(crate) fn take_back(&mut self, change: Undo) -> Result<()> {
        match change {
            Undo::Replace(n, raw) => self.replace(n, raw).map(drop),
            Undo::Insert(n, raw) => self.insert(n, raw, 1),
            Undo::Remove(n, count) => self.remove(n, count),
            Undo::All(before) => {
                *self = Arc::unwrap_or_clone(before);
                Ok(())
            }
        }
    }
    /// Expands the offsets to one value for each chunk, for changes.
    ///
    /// # Errors
    /// [`Error::Format`] when stored offsets are damaged; [`Error::OutOfMemory`].
    pub(crate) fn unpack(&mut self) -> Result<&mut Vec<i64>> {
        if !matches!(self, Offsets::Each(_)) {
            let mut all = Vec::new();
            all.try_reserve_exact(index(self.len())).map_err(|_| refused(self.len()))?;
            self.each_block(|_, block| {
                all.extend_from_slice(block);
                Ok(())
            })?;
            *self = Offsets::Each(all);
        }
        match self {
            Offsets::Each(all) => Ok(all),
            other => Err(refused(other.len())),
        }
    }
}

fn index(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn refused(len: u64) -> Error {
    Error::out_of_memory("the chunk offsets", len.saturating_mul(8))
}
