//! Replaces the list of chunks by another one made of the old chunks, for resizing, inserting and deleting along an axis.

use super::handle::SChunk;
use super::special::special_offset;
use crate::chunk::Special;
use crate::error::{Error, Result};
use crate::frame::{Layout, Offsets, Undo};
use crate::limits::zeroed;
use std::sync::Arc;

impl SChunk {
    /// Gives the frame a list of `nchunks` chunks: chunk `n` of it is the old chunk `source(n)`, or special (`fill`) where
    /// there is none. All have the full size. Visible at the next commit; a rollback takes it back.
    ///
    /// No data moves. Old chunks that are not in the list are gone with the commit. Where all old chunks are special as
    /// `fill` is, they are all the same, and `source` is not asked: this costs nothing for each chunk.
    ///
    /// # Errors
    /// [`Error::Usage`] when `source` names a chunk that is not there or one that it has named before, when the last
    /// chunk is short, or for a `fill` that an offset cannot say.
    pub(crate) fn relayout(
        &mut self,
        nchunks: u64,
        fill: Special,
        mut source: impl FnMut(u64) -> Option<u64>,
    ) -> Result<()> {
        let fill = special_offset(fill, self.header.params().typesize())?;
        let nbytes = self.nbytes_of(nchunks)?;
        let same = match &*self.work().offsets {
            Offsets::Uniform { raw, len } => *raw == fill || *len == 0,
            offsets => offsets.len() == 0,
        };
        let mut seen = Seen::new(self.nchunks())?;
        let offsets = if same {
            Offsets::Uniform { raw: fill, len: nchunks }
        } else {
            Offsets::collect(nchunks, |n| match source(n) {
                None => Ok(fill),
                Some(old) => {
                    let raw = self.work().offsets.raw(old)?;
                    seen.note(old)?;
                    Ok(raw)
                }
            })?
        };
        self.begin()?;
        self.keep_old();
        self.cache.clear();
        self.replace_all(offsets)?;
        self.header_mut().set_nbytes(nbytes)?;
        if self.layout() == Layout::Sparse && !same {
            self.forget_unseen(&seen)?;
        }
        Ok(())
    }

    /// The uncompressed size of `nchunks` full chunks.
    fn nbytes_of(&self, nchunks: u64) -> Result<u64> {
        let size = u64::from(self.chunksize());
        if size == 0 {
            return Err(Error::usage("the chunks of this frame have no common size"));
        }
        if !self.nbytes().is_multiple_of(size) {
            return Err(Error::usage("the last chunk of the frame is short"));
        }
        let nbytes = nchunks.checked_mul(size).filter(|_| nchunks <= Offsets::MAX_CHUNKS);
        nbytes.ok_or_else(|| {
            Error::above(
                Offsets::MAX_CHUNKS,
                nchunks,
                format!("{nchunks} chunks are too many for a frame: make chunks larger"),
            )
        })
    }

    /// Replaces the list of offsets, keeping the old one for a rollback.
    pub(super) fn replace_all(&mut self, offsets: Offsets) -> Result<()> {
        self.reserve_undo()?;
        let old = std::mem::replace(&mut self.state.catalog.own_mut().offsets, Arc::new(offsets));
        self.writer.changes.undo.push(Undo::All(old));
        Ok(())
    }

    /// Marks files of old chunks as obsolete if the new list does not have them.
    fn forget_unseen(&mut self, seen: &Seen) -> Result<()> {
        let mut files = Vec::new();
        if let Some(Undo::All(old)) = self.writer.changes.undo.last() {
            for n in (0..old.len()).filter(|n| !seen.has(*n)) {
                let raw = old.raw(n)?;
                if raw >= 0 {
                    files
                        .try_reserve(1)
                        .map_err(|_| Error::out_of_memory("the obsolete chunks", old.len()))?;
                    files.push(raw);
                }
            }
        }
        files.into_iter().try_for_each(|raw| self.forget_file(raw))
    }
}

/// Which chunks have been named: one bit for each.
#[derive(Debug)]
pub(super) struct Seen(Vec<u8>);

impl Seen {
    pub(super) fn new(nchunks: u64) -> Result<Self> {
        zeroed("the numbers of the chunks", nchunks.div_ceil(8)).map(Seen)
    }
    fn place(n: u64) -> (usize, u8) {
        (usize::try_from(n / 8).unwrap_or(usize::MAX), 1 << (n % 8))
    }
    fn has(&self, n: u64) -> bool {
        let (byte, bit) = Self::place(n);
        self.0.get(byte).is_some_and(|byte| byte & bit != 0)
    }
    /// Notes a chunk; an error when it was noted before, or is not there.
    pub(super) fn note(&mut self, n: u64) -> Result<()> {
        let (byte, bit) = Self::place(n);
        match self.0.get_mut(byte) {
            Some(byte) if *byte & bit == 0 => {
                *byte |= bit;
                Ok(())
            }
            _ => Err(Error::usage(format!("chunk {n} is named twice in the new order"))),
        }
    }
}
