//! Pieces of a frame file that a sans-I/O machine was given.

use super::{FileId, ReadStore};
use crate::error::{Error, Result};
use std::ops::Range;

/// Pieces of a frame file that were supplied, to be read as a store.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    pieces: Vec<(u64, Vec<u8>)>,
    len: u64,
}

impl Pieces {
    /// No pieces yet of a file of `len` bytes.
    pub(crate) fn new(len: u64) -> Self {
        Pieces { pieces: Vec::new(), len }
    }
    /// Takes bytes that start at `at`.
    pub(crate) fn add(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        let mut copy = Vec::new();
        copy.try_reserve_exact(bytes.len())
            .map_err(|_| Error::out_of_memory("part of a frame", bytes.len() as u64))?;
        copy.extend_from_slice(bytes);
        self.pieces.push((at, copy));
        Ok(())
    }
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }
    /// Sets the length of the file.
    pub(crate) fn set_len(&mut self, len: u64) {
        self.len = len;
    }
    /// The bytes of a range, where one piece has them.
    pub(crate) fn find(&self, range: &Range<u64>) -> Option<&[u8]> {
        self.pieces.iter().find_map(|(at, bytes)| {
            let from = usize::try_from(range.start.checked_sub(*at)?).ok()?;
            let len = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
            bytes.get(from..)?.get(..len)
        })
    }
}

impl ReadStore for Pieces {
    fn len(&self, file: FileId) -> Result<u64> {
        match file {
            FileId::Frame => Ok(self.len),
            FileId::Chunk(_) => Err(not_supplied()),
        }
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        let range = offset..offset.saturating_add(buf.len() as u64);
        let found = self.find(&range).filter(|_| file == FileId::Frame).ok_or_else(not_supplied)?;
        buf.copy_from_slice(found);
        Ok(())
    }
    fn slice(&self, file: FileId, range: Range<u64>) -> Option<&[u8]> {
        self.find(&range).filter(|_| file == FileId::Frame)
    }
}

fn not_supplied() -> Error {
    Error::usage(
        "these bytes of the frame were not supplied: an array that an opener made is read through `Array::reader`",
    )
}
