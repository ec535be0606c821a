//! A chunk as it was before a write, read from a snapshot: no lock is held while it is fetched and decoded.

use crate::array::grid::Grid;
use crate::array::read::chunk::special_item;
use crate::chunk;
use crate::chunk::Special;
use crate::error::Result;
use crate::exec::Exec;
use crate::limits::zeroed;
use crate::schunk::FrameState;
use crate::schunk::Place;
use std::borrow::Cow;

/// A chunk that a write changes.
pub(super) enum Stored<'a> {
    /// No bytes: the index says what all its items are.
    Special(Special),
    /// The compressed bytes, borrowed where they are in memory.
    Bytes(Cow<'a, [u8]>),
}

impl<'a> Stored<'a> {
    /// Fetches chunk `number`; its checksums are checked. `buffer` takes the bytes that have to be read;
    /// [`Stored::into_buffer`] gives it back.
    pub(super) fn fetch(base: &'a FrameState, number: u64, mut buffer: Vec<u8>) -> Result<Self> {
        let place = base.place(number)?;
        if let Place::Special(kind) = place {
            return Ok(Stored::Special(kind));
        }
        let len = usize::try_from(base.chunk_header(number, place)?.cbytes()).unwrap_or(usize::MAX);
        let bytes = match base.borrowed(place, len) {
            Some(bytes) => Cow::Borrowed(bytes),
            None => {
                base.fetch(place, 0, len, &mut buffer).map_err(|e| e.in_chunk(number))?;
                buffer.truncate(len);
                Cow::Owned(buffer)
            }
        };
        base.check_bytes(number, place, &bytes)?;
        Ok(Stored::Bytes(bytes))
    }

    /// The memory of the bytes, for another chunk.
    pub(super) fn into_buffer(self) -> Vec<u8> {
        match self {
            Stored::Bytes(Cow::Owned(bytes)) => bytes,
            Stored::Special(_) | Stored::Bytes(Cow::Borrowed(_)) => Vec::new(),
        }
    }

    /// The uncompressed bytes of the chunk, which is chunk `number`, decoded on the threads of `exec`.
    pub(super) fn decode(
        &self,
        number: u64,
        grid: &Grid,
        context: &chunk::Context,
        exec: &Exec,
    ) -> Result<Vec<u8>> {
        let mut whole = zeroed("a chunk", grid.chunk_bytes() as u64)?;
        match self {
            Stored::Special(kind) => {
                let item = special_item(*kind, grid.itemsize(), context.limits())?;
                if item.iter().any(|&b| b != 0) {
                    whole.chunks_exact_mut(item.len()).for_each(|at| at.copy_from_slice(&item));
                }
            }
            Stored::Bytes(bytes) => {
                chunk::decode_into(bytes, &mut whole, context, exec).map_err(|e| e.in_chunk(number))?;
            }
        }
        Ok(whole)
    }
}
