//! Changes of the list of offsets, and how each of them is taken back.

use super::offsets::Offsets;
use crate::error::{Error, Result};

/// The way back from one change.
#[derive(Debug)]
pub(crate) enum Undo {
    /// Put this value back as chunk `n`.
    Replace(u64, i64),
    /// Take the whole list of before.
    All(Box<Offsets>),
}

impl Offsets {
    /// The list that `raw` makes of the numbers of its chunks; it stays `Uniform` for as long as the values are the same.
    pub(crate) fn collect(len: u64, mut raw: impl FnMut(u64) -> Result<i64>) -> Result<Self> {
        let mut all = Offsets::none();
        (0..len).try_for_each(|n| all.insert(n, raw(n)?))?;
        Ok(all)
    }
    /// Replaces the stored value of chunk `n`; returns the old one.
    pub(crate) fn replace(&mut self, n: u64, raw: i64) -> Result<i64> {
        let old = self.raw(n)?;
        if old != raw
            && let Some(place) = self.each()?.get_mut(index(n))
        {
            *place = raw;
        }
        Ok(old)
    }
    /// Inserts a value before that of chunk `n`, or behind the last.
    pub(crate) fn insert(&mut self, n: u64, raw: i64) -> Result<()> {
        let len = self.len();
        if n > len {
            return Err(Error::usage(format!("no chunk can become number {n}: the frame has {len}")));
        }
        if len >= Self::MAX_CHUNKS {
            return Err(Error::usage(format!("a frame has at most {} chunks", Self::MAX_CHUNKS)));
        }
        match self {
            _ if len == 0 => *self = Offsets::Uniform { raw, len: 1 },
            Offsets::Uniform { raw: same, len } if *same == raw => *len = len.saturating_add(1),
            _ => {
                let all = self.each()?;
                all.try_reserve(1).map_err(|_| refused(len.saturating_add(1)))?;
                all.insert(index(n), raw);
            }
        }
        Ok(())
    }
    /// Takes a change back.
    pub(crate) fn take_back(&mut self, change: Undo) -> Result<()> {
        match change {
            Undo::Replace(n, raw) => self.replace(n, raw).map(drop),
            Undo::All(before) => {
                *self = *before;
                Ok(())
            }
        }
    }
    /// One value for each chunk, as soon as they differ.
    fn each(&mut self) -> Result<&mut Vec<i64>> {
        if let Offsets::Uniform { raw, len } = *self {
            let mut all = Vec::new();
            all.try_reserve_exact(index(len)).map_err(|_| refused(len))?;
            all.resize(index(len), raw);
            *self = Offsets::Each(all);
        }
        match self {
            Offsets::Each(all) => Ok(all),
            Offsets::Uniform { len, .. } => Err(refused(*len)),
        }
    }
}

fn index(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn refused(len: u64) -> Error {
    Error::out_of_memory("the chunk offsets", len.saturating_mul(8))
}
