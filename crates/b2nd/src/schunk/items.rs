//! Items of a super-chunk, wherever chunks begin and end: written in place and appended, compressed in parallel.

use super::handle::SChunk;
use super::read::ItemRun;
use crate::chunk;
use crate::error::Result;
use crate::exec::Scratch;
use crate::frame::ChunkSizes;
use crate::limits::zeroed;
use std::mem::take;
use std::sync::{Mutex, PoisonError};

/// The default chunk size, in bytes.
const AUTO_CHUNK: usize = 8 << 20;

impl SChunk {
    /// Appends items: fills up a short last chunk, then goes on in whole chunks.
    pub(super) fn stage_extend(&mut self, items: &[u8]) -> Result<()> {
        self.check_items(items)?;
        let size = match self.header.chunk_sizes() {
            ChunkSizes::Variable => {
                let n = self.nchunks();
                return self.compressed(n, items, |schunk, chunk| schunk.stage_insert(n, chunk));
            }
            ChunkSizes::Fixed(size) => size as usize,
            ChunkSizes::Undecided => {
                let typesize = self.header.params().typesize() as usize;
                items.len().min((AUTO_CHUNK / typesize).max(1).saturating_mul(typesize))
            }
        };
        let short = (self.nbytes() % size as u64) as usize;
        let mut items = items;
        if short > 0 {
            let (first, rest) = items.split_at(items.len().min(size - short));
            let last = self.nchunks() - 1;
            let mut joined = self.stored_items(last)?;
            self.pre_processed_part(last, &mut joined, short, first)?;
            self.encoded(&joined, |schunk, chunk| schunk.stage_update(last, chunk))?;
            items = rest;
        }
        let chunks: Vec<&[u8]> = items.chunks(size).collect();
        for batch in chunks.chunks(self.batch()) {
            let first = self.nchunks();
            let encode = |schunk: &SChunk, n: usize, scratch: &mut Scratch, out: &mut Vec<u8>| {
                let items = batch.get(n).copied().unwrap_or_default();
                let items = schunk.pre_processed(first.saturating_add(n as u64), items)?;
                chunk::encode_one(&&items[..], &schunk.params, &schunk.context, scratch, out)
            };
            self.encode_batch(batch.len(), encode, |schunk, _, chunk| {
                schunk.stage_insert(schunk.nchunks(), chunk)
            })?;
        }
        self.exec.progress(items.len() as u64);
        Ok(())
    }

    /// Overwrites items from item `start` on.
    pub(super) fn stage_items(&mut self, start: u64, items: &[u8]) -> Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        self.check_items(items)?;
        let pieces = self.pieces(start, items.len() as u64)?;
        for batch in pieces.chunks(self.batch()) {
            let encode =
                |schunk: &SChunk, n: usize, scratch: &mut Scratch, out: &mut Vec<u8>| match batch.get(n) {
                    Some(piece) => schunk.encode_changed(piece, items, scratch, out),
                    None => Ok(()),
                };
            self.encode_batch(batch.len(), encode, |schunk, n, chunk| match batch.get(n) {
                Some(piece) => schunk.put_chunk(piece.chunk, chunk),
                None => Ok(()),
            })?;
        }
        self.exec.progress(items.len() as u64);
        Ok(())
    }

    /// The bytes of chunk `n` as they are stored.
    pub(super) fn stored_items(&self, n: u64) -> Result<Vec<u8>> {
        let mut items = zeroed("a decompressed chunk", u64::from(self.nbytes_of_chunk(n)?))?;
        self.exec.with_scratch(|scratch| {
            let mut fetched = take(&mut scratch.fetched);
            let read = self.read_stored_part(n, 0, &mut items, scratch, &mut fetched);
            scratch.fetched = fetched;
            read
        })?;
        Ok(items)
    }

    /// How many chunks are compressed at a time: memory is bounded by them.
    fn batch(&self) -> usize {
        self.exec.threads().saturating_mul(2)
    }

    /// Compresses `count` chunks in parallel, then puts them one by one.
    fn encode_batch<F>(
        &mut self,
        count: usize,
        encode: F,
        mut put: impl FnMut(&mut SChunk, usize, &[u8]) -> Result<()>,
    ) -> Result<()>
    where
        F: Fn(&SChunk, usize, &mut Scratch, &mut Vec<u8>) -> Result<()> + Sync,
    {
        let exec = self.exec.clone();
        if exec.threads() == 1 || count == 1 {
            // Without threads: one chunk after another, reusing the same memory.
            return (0..count).try_for_each(|n| {
                exec.check_cancelled()?;
                exec.with_scratch(|scratch| {
                    let mut packed = take(&mut scratch.packed);
                    let done = encode(self, n, scratch, &mut packed).and_then(|()| put(self, n, &packed));
                    scratch.packed = packed;
                    done
                })
            });
        }
        let slots: Vec<Mutex<Vec<u8>>> = (0..count).map(|_| Mutex::default()).collect();
        let schunk = &*self;
        // Compressing a chunk pays for a thread whatever its size is.
        exec.run(count, u64::MAX, |scratch, n| match slots.get(n) {
            Some(slot) => {
                encode(schunk, n, scratch, &mut slot.lock().unwrap_or_else(PoisonError::into_inner))
            }
            None => Ok(()),
        })?;
        slots.into_iter().enumerate().try_for_each(|(n, slot)| {
            put(self, n, &slot.into_inner().unwrap_or_else(PoisonError::into_inner))
        })
    }

    /// A chunk with some of its items replaced.
    fn encode_changed(
        &self,
        piece: &ItemRun,
        items: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let new = items.get(piece.at..piece.at + piece.len).unwrap_or_default();
        let nbytes = self.nbytes_of_chunk(piece.chunk)? as usize;
        if piece.len == nbytes {
            let new = self.pre_processed(piece.chunk, new)?;
            return chunk::encode_one(&&new[..], &self.params, &self.context, scratch, out);
        }
        let mut whole = zeroed("a decompressed chunk", nbytes as u64)?;
        let mut fetched = take(&mut scratch.fetched);
        let read = self.read_stored_part(piece.chunk, 0, &mut whole, scratch, &mut fetched);
        scratch.fetched = fetched;
        read?;
        self.pre_processed_part(piece.chunk, &mut whole, piece.start, new)?;
        chunk::encode_one(&&whole[..], &self.params, &self.context, scratch, out)
    }
}
