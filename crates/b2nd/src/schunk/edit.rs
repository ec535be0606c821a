//! Staged changes of the list of chunks: the next commit makes them visible, a rollback undoes them.
//!
//! Chunks have one size, and the last one may be shorter. A change that breaks this rule makes the frame one whose
//! chunks vary in size, as in C-Blosc2; it never becomes regular again.

use super::handle::SChunk;
use super::relayout::Seen;
use super::special::{nan, special_offset};
use crate::chunk;
use crate::chunk::Special;
use crate::error::{Error, Result};
use crate::frame::{ChunkOffset, ChunkSizes, Offsets, Undo};
use crate::limits::zeroed;

impl SChunk {
    /// Stores a chunk before chunk `n`, or behind the last.
    pub(super) fn stage_insert(&mut self, n: u64, chunk: &[u8]) -> Result<()> {
        let header = self.check_chunk(chunk)?;
        let len = self.nchunks();
        if n > len {
            return Err(Error::out_of_bounds(
                n,
                len,
                format!("no chunk can become number {n}: the frame has {len}"),
            ));
        }
        self.begin()?;
        self.keep_old();
        if len == 0 {
            self.header_mut().set_vl_blocks(header.is_variable());
        }
        self.make_fit(n, header.nbytes(), n == len)?;
        let raw = self.write_chunk(chunk, &header)?;
        self.insert_offsets(n, raw, 1)?;
        self.change_nbytes(0, u64::from(header.nbytes()))
    }

    /// Replaces chunk `n` by another, of any size.
    pub(super) fn stage_update(&mut self, n: u64, chunk: &[u8]) -> Result<()> {
        let header = self.check_chunk(chunk)?;
        let before = self.nbytes_of_chunk(n)?;
        self.begin()?;
        self.keep_old();
        if before != header.nbytes() {
            let last = n.saturating_add(1) == self.nchunks();
            self.make_fit(n, header.nbytes(), last)?;
        }
        let raw = self.write_chunk(chunk, &header)?;
        self.replace_offset(n, self.work().offsets.raw(n)?, raw)?;
        self.change_nbytes(u64::from(before), u64::from(header.nbytes()))
    }

    /// Makes all items of chunk `n` the same.
    pub(super) fn stage_special(&mut self, n: u64, kind: Special, value: &[u8]) -> Result<()> {
        if kind != Special::Value && value.is_empty() {
            return self.put_special(n, kind);
        }
        let nbytes = self.nbytes_of_chunk(n)?;
        let chunk = chunk::encode_special(kind, nbytes, value, &self.params)?;
        self.stage_update(n, &chunk)
    }

    /// Removes chunk `n`.
    pub(super) fn stage_delete(&mut self, n: u64) -> Result<()> {
        let nbytes = self.nbytes_of_chunk(n)?;
        let raw = self.work().offsets.raw(n)?;
        self.begin()?;
        self.keep_old();
        self.reserve_undo()?;
        self.offsets_mut().remove(n, 1)?;
        self.writer.changes.undo.push(Undo::Insert(n, raw));
        self.forget_file(raw)?;
        self.change_nbytes(u64::from(nbytes), 0)
    }

    /// Puts the chunks into another order: chunk `n` will be what chunk `order[n]` was.
    pub(super) fn stage_reorder(&mut self, order: &[u64]) -> Result<()> {
        let len = self.nchunks();
        if order.len() as u64 != len {
            return Err(Error::length(
                len,
                order.len(),
                format!("the order names {} chunks, and the frame has {len}", order.len()),
            ));
        }
        let mut seen = Seen::new(len)?;
        for n in order {
            self.work().offsets.raw(*n)?;
            seen.note(*n)?;
        }
        self.begin()?;
        self.keep_old();
        let short = self.chunksize() > 0 && !self.nbytes().is_multiple_of(u64::from(self.chunksize()));
        if short && order.last().is_some_and(|last| last.saturating_add(1) != len) {
            self.make_variable()?;
        }
        let mut order = order.iter();
        let reordered =
            Offsets::collect(len, |_| self.work().offsets.raw(order.next().copied().unwrap_or(len)))?;
        self.replace_all(reordered)
    }

    /// Appends chunks of `nitems` items that are all the same.
    pub(super) fn stage_fill(&mut self, kind: Special, value: &[u8], nitems: u64) -> Result<()> {
        let too_large =
            || Error::too_large(i64::MAX as u64, format!("{nitems} items are too many for a frame"));
        let typesize = u64::from(self.header.params().typesize());
        let total = nitems.checked_mul(typesize).ok_or_else(too_large)?;
        let ChunkSizes::Fixed(size) = self.header.chunk_sizes() else {
            return Err(Error::usage("filling needs a frame with a chunk size"));
        };
        let due = if kind == Special::Value { typesize } else { 0 };
        if value.len() as u64 != due {
            return Err(Error::length(
                due,
                value.len(),
                format!("the value has {} bytes instead of {due}", value.len()),
            ));
        }
        let total = total.saturating_sub(self.fill_up(kind, value, size, total)?);
        let (full, rest) = (total / u64::from(size), total % u64::from(size));
        let nchunks = full.checked_add(u64::from(rest > 0)).filter(|n| *n <= Offsets::MAX_CHUNKS);
        let nchunks = nchunks.ok_or_else(too_large)?;
        self.begin()?;
        self.keep_old();
        if kind != Special::Value {
            self.insert_offsets(
                self.nchunks(),
                special_offset(kind, self.header.params().typesize())?,
                nchunks,
            )?;
            return self.change_nbytes(0, total);
        }
        for n in 0..nchunks {
            self.exec.check_cancelled()?;
            let nbytes = if n < full { size } else { u32::try_from(rest).unwrap_or(size) };
            let chunk = chunk::encode_special(kind, nbytes, value, &self.params)?;
            self.stage_insert(self.nchunks(), &chunk)?;
        }
        Ok(())
    }

    /// Fills up a short last chunk by at most `total` bytes; returns by how many.
    fn fill_up(&mut self, kind: Special, value: &[u8], size: u32, total: u64) -> Result<u64> {
        let typesize = self.header.params().typesize();
        if kind == Special::Nan {
            special_offset(kind, typesize)?;
        }
        let short = self.nbytes() % u64::from(size);
        if short == 0 || total == 0 {
            return Ok(0);
        }
        let more = total.min(u64::from(size).saturating_sub(short));
        let last = self.nchunks().saturating_sub(1);
        let mut items = zeroed("a chunk", short.saturating_add(more))?;
        let (old, new) = items.split_at_mut(usize::try_from(short).unwrap_or(usize::MAX));
        old.copy_from_slice(&self.stored_items(last)?);
        let item = if kind == Special::Nan { nan(typesize) } else { value };
        for (to, from) in new.iter_mut().zip(item.iter().cycle()) {
            *to = *from;
        }
        self.encoded(&items, |schunk, chunk| schunk.stage_update(last, chunk))?;
        Ok(more)
    }

    /// Before a chunk of `nbytes` becomes number `n`: a frame that it does not fit into becomes one where it does.
    fn make_fit(&mut self, n: u64, nbytes: u32, last: bool) -> Result<()> {
        match self.header.chunk_sizes() {
            ChunkSizes::Variable => Ok(()),
            ChunkSizes::Undecided => {
                self.header_mut().set_chunk_sizes(ChunkSizes::Fixed(nbytes));
                Ok(())
            }
            ChunkSizes::Fixed(size) => {
                let full = n.checked_mul(u64::from(size)).is_some_and(|before| before <= self.nbytes());
                let fits = if last { nbytes <= size && full } else { nbytes == size };
                if fits { Ok(()) } else { self.make_variable() }
            }
        }
    }

    /// From now on chunks differ in size. Chunks that are only an offset become real: it cannot say how large they are.
    fn make_variable(&mut self) -> Result<()> {
        let size = u64::from(self.chunksize());
        let total = self.nbytes();
        self.header_mut().set_chunk_sizes(ChunkSizes::Variable);
        let mut all = Offsets::none();
        for n in 0..self.nchunks() {
            let raw = match self.work().offsets.get(n)? {
                ChunkOffset::Stored(_) => self.work().offsets.raw(n)?,
                ChunkOffset::Special(kind) => {
                    self.exec.check_cancelled()?;
                    let rest = total.saturating_sub(n.saturating_mul(size));
                    self.write_special(kind, u32::try_from(rest.min(size)).unwrap_or(u32::MAX))?
                }
            };
            all.insert(n, raw, 1)?;
        }
        self.replace_all(all)
    }

    fn insert_offsets(&mut self, n: u64, raw: i64, count: u64) -> Result<()> {
        self.reserve_undo()?;
        self.offsets_mut().insert(n, raw, count)?;
        self.writer.changes.undo.push(Undo::Remove(n, count));
        Ok(())
    }

    fn change_nbytes(&mut self, less: u64, more: u64) -> Result<()> {
        let nbytes = self.nbytes().saturating_sub(less).checked_add(more);
        self.header_mut()
            .set_nbytes(nbytes.ok_or_else(|| Error::too_large(i64::MAX as u64, "the frame is too large"))?)
    }
}
