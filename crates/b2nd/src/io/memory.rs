//! Frames in memory: contiguous in one buffer, sparse in a buffer for each chunk.

use super::Store;
use crate::error::Error;
use crate::error::Result;
use crate::frame::plan::FileId;
use crate::frame::plan::WriteStep;
use std::collections::BTreeMap;
use std::path::Path;

/// A frame in memory.
#[derive(Debug, Default)]
pub(crate) struct MemoryStore {
    frame: Vec<u8>,
    chunks: BTreeMap<u32, Vec<u8>>,
}

impl MemoryStore {
    /// A frame that is these bytes.
    pub(crate) fn from_bytes(frame: Vec<u8>) -> Self {
        MemoryStore { frame, chunks: BTreeMap::new() }
    }
    fn bytes(&self, file: FileId) -> Result<&[u8]> {
        match file {
            FileId::Frame => Ok(&self.frame),
            FileId::Chunk(n) => {
                self.chunks.get(&n).map(Vec::as_slice).ok_or_else(|| super::no_such_file(file))
            }
        }
    }
    fn bytes_mut(&mut self, file: FileId) -> &mut Vec<u8> {
        match file {
            FileId::Frame => &mut self.frame,
            FileId::Chunk(n) => self.chunks.entry(n).or_default(),
        }
    }
}

/// Makes room for `len` bytes in all.
fn reserve(buffer: &mut Vec<u8>, len: u64) -> Result<usize> {
    let refused = || Error::out_of_memory("the frame", len);
    let len = usize::try_from(len).map_err(|_| refused())?;
    buffer.try_reserve(len.saturating_sub(buffer.len())).map_err(|_| refused())?;
    Ok(len)
}

impl Store for MemoryStore {
    fn len(&self, file: FileId) -> Result<u64> {
        Ok(self.bytes(file)?.len() as u64)
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        let bytes = self.bytes(file)?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let found = bytes.get(start..).and_then(|tail| tail.get(..buf.len()));
        let found = found.ok_or_else(|| Error::usage("a read past the end of a frame in memory"))?;
        buf.copy_from_slice(found);
        Ok(())
    }
    fn slice(&self, file: FileId) -> Option<&[u8]> {
        self.bytes(file).ok()
    }
    fn apply(&mut self, step: &WriteStep<'_>) -> Result<()> {
        match step {
            WriteStep::WriteAt { file, offset, bytes } => {
                let buffer = self.bytes_mut(*file);
                let end = reserve(buffer, offset.saturating_add(bytes.len() as u64))?;
                let start = end - bytes.len();
                if start == buffer.len() {
                    buffer.extend_from_slice(bytes);
                    return Ok(());
                }
                if buffer.len() < end {
                    buffer.resize(end, 0);
                }
                if let Some(place) = buffer.get_mut(start..end) {
                    place.copy_from_slice(bytes);
                }
            }
            WriteStep::Put { file, bytes } => {
                let buffer = self.bytes_mut(*file);
                buffer.clear();
                reserve(buffer, bytes.len() as u64)?;
                buffer.extend_from_slice(bytes);
            }
            WriteStep::SetLen { file, len } => {
                let buffer = self.bytes_mut(*file);
                let len = reserve(buffer, *len)?;
                buffer.resize(len, 0);
            }
            WriteStep::Remove { file: FileId::Chunk(n) } => {
                self.chunks.remove(n);
            }
            WriteStep::Remove { file: FileId::Frame } => return Err(super::no_such_file(FileId::Frame)),
            WriteStep::Sync { .. } | WriteStep::Publish => {}
        }
        Ok(())
    }
    fn path(&self) -> Option<&Path> {
        None
    }
}
