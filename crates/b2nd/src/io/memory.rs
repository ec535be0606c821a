//! Frames in memory: contiguous in pieces that snapshots share, sparse in a buffer for each chunk.

use super::rope::Rope;
use super::{FileId, ReadStore, WriteStep, WriteStore};
use crate::error::Error;
use crate::error::Result;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A frame in memory. A clone is a snapshot: writes to one do not show in the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryStore {
    frame: Arc<Rope>,
    /// Where the frame starts in its bytes.
    base: usize,
    chunks: Arc<ChunkFiles>,
}

/// The chunk files by their numbers, on shelves: after a snapshot, a write copies the references of one shelf and of the list
/// of shelves, not those of all chunks.
#[derive(Debug, Clone, Default)]
struct ChunkFiles(BTreeMap<u32, Arc<Shelf>>);

/// Chunk files whose numbers are close.
type Shelf = BTreeMap<u32, Arc<Vec<u8>>>;

impl ChunkFiles {
    /// The shelf of chunk `n`: 256 chunks in a row share one.
    fn shelf_of(n: u32) -> u32 {
        n >> 8
    }
    fn get(&self, n: u32) -> Option<&[u8]> {
        self.0.get(&Self::shelf_of(n))?.get(&n).map(|chunk| chunk.as_slice())
    }
    /// The file, to be changed; an empty one where there is none.
    fn get_mut(&mut self, n: u32) -> &mut Vec<u8> {
        Arc::make_mut(Arc::make_mut(self.0.entry(Self::shelf_of(n)).or_default()).entry(n).or_default())
    }
    fn remove(&mut self, n: u32) {
        if let Some(shelf) = self.0.get_mut(&Self::shelf_of(n)) {
            Arc::make_mut(shelf).remove(&n);
        }
    }
    fn numbers(&self) -> impl Iterator<Item = u32> {
        self.0.values().flat_map(|shelf| shelf.keys().copied())
    }
}

impl MemoryStore {
    /// A contiguous frame that is in memory already.
    pub(crate) fn from_bytes(frame: Vec<u8>) -> Self {
        MemoryStore { frame: Arc::new(Rope::from_vec(frame)), ..MemoryStore::default() }
    }
    /// A contiguous frame in the caller's bytes; writes never change those bytes.
    pub(crate) fn shared(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        MemoryStore { frame: Arc::new(Rope::from_shared(owner)), ..MemoryStore::default() }
    }
    /// The same, for a frame that starts `base` bytes from the start.
    pub(crate) fn at(mut self, base: u64) -> Result<Self> {
        let len = self.frame.len();
        let inside = usize::try_from(base).ok().filter(|base| *base <= len);
        self.base = inside.ok_or_else(|| {
            Error::out_of_bounds(base, len, format!("offset {base} is past the end of {len} bytes"))
        })?;
        Ok(self)
    }
    /// All bytes, those before the frame too.
    #[cfg(test)]
    pub(crate) fn to_whole(&self) -> Vec<u8> {
        self.frame.to_vec()
    }
    fn chunk(&self, n: u32) -> Result<&[u8]> {
        self.chunks.get(n).ok_or_else(|| super::no_such_file(FileId::Chunk(n)))
    }
    fn chunk_mut(&mut self, n: u32) -> &mut Vec<u8> {
        Arc::make_mut(&mut self.chunks).get_mut(n)
    }
    /// Where in the bytes of the frame an offset leads.
    fn place(&self, offset: u64) -> Result<usize> {
        let at = usize::try_from(offset).ok().and_then(|offset| self.base.checked_add(offset));
        at.ok_or_else(|| Error::out_of_memory("the frame", offset))
    }
}

fn resize(buffer: &mut Vec<u8>, len: u64) -> Result<()> {
    let refused = || Error::out_of_memory("the frame", len);
    let len = usize::try_from(len).map_err(|_| refused())?;
    buffer.try_reserve(len.saturating_sub(buffer.len())).map_err(|_| refused())?;
    buffer.resize(len, 0);
    Ok(())
}

impl ReadStore for MemoryStore {
    fn len(&self, file: FileId) -> Result<u64> {
        match file {
            FileId::Frame => Ok(self.frame.len().saturating_sub(self.base) as u64),
            FileId::Chunk(n) => Ok(self.chunk(n)?.len() as u64),
        }
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        match file {
            FileId::Frame => self.frame.read(self.place(offset)?, buf),
            FileId::Chunk(n) => super::copy_out(self.chunk(n)?, offset, buf),
        }
    }
    fn slice(&self, file: FileId, range: Range<u64>) -> Option<&[u8]> {
        match file {
            FileId::Frame => self.frame.slice(self.place(range.start).ok()?..self.place(range.end).ok()?),
            FileId::Chunk(n) => {
                let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
                self.chunk(n).ok()?.get(range)
            }
        }
    }
    fn chunk_files(&self) -> Result<Vec<u32>> {
        Ok(self.chunks.numbers().collect())
    }
    fn is_in_memory(&self) -> bool {
        true
    }
    fn start(&self) -> u64 {
        self.base as u64
    }
}

impl WriteStore for MemoryStore {
    fn reader(&self) -> Arc<dyn ReadStore> {
        Arc::new(self.clone())
    }
    fn successor(&self) -> Result<Option<Box<dyn WriteStore>>> {
        Ok(Some(Box::new(MemoryStore::default())))
    }
    fn apply(&mut self, step: &WriteStep<'_>) -> Result<()> {
        match step {
            WriteStep::WriteAt { file: FileId::Frame, offset, bytes } => {
                let at = self.place(*offset)?;
                Arc::make_mut(&mut self.frame).write(at, bytes)?;
            }
            WriteStep::WriteAt { file: FileId::Chunk(n), offset, bytes } => {
                let buffer = self.chunk_mut(*n);
                let end = offset.saturating_add(bytes.len() as u64);
                if (buffer.len() as u64) < end {
                    resize(buffer, end)?;
                }
                let place =
                    usize::try_from(*offset).ok().and_then(|at| buffer.get_mut(at..)?.get_mut(..bytes.len()));
                place
                    .map(|place| place.copy_from_slice(bytes))
                    .ok_or_else(|| super::no_such_file(FileId::Chunk(*n)))?;
            }
            WriteStep::Put { file: FileId::Frame, bytes, .. } => {
                let base = self.base;
                let frame = Arc::make_mut(&mut self.frame);
                frame.resize(base)?;
                frame.write(base, bytes)?;
            }
            WriteStep::Put { file: FileId::Chunk(n), bytes, .. } => {
                let mut copy = Vec::new();
                copy.try_reserve_exact(bytes.len())
                    .map_err(|_| Error::out_of_memory("a chunk", bytes.len() as u64))?;
                copy.extend_from_slice(bytes);
                *self.chunk_mut(*n) = copy;
            }
            WriteStep::SetLen { file: FileId::Frame, len } => {
                let len = self.place(*len)?;
                Arc::make_mut(&mut self.frame).resize(len)?;
            }
            WriteStep::SetLen { file: FileId::Chunk(n), len } => resize(self.chunk_mut(*n), *len)?,
            WriteStep::Remove { file: FileId::Chunk(n) } => {
                Arc::make_mut(&mut self.chunks).remove(*n);
            }
            WriteStep::Remove { file: FileId::Frame } => return Err(super::no_such_file(FileId::Frame)),
            WriteStep::Sync { .. } | WriteStep::Publish { .. } => {}
        }
        Ok(())
    }
    /// Snapshots keep the bytes that they refer to by themselves.
    fn is_alone(&self) -> bool {
        true
    }
    fn take_frame(&mut self) -> Option<Vec<u8>> {
        if self.base > 0 {
            return None;
        }
        Arc::get_mut(&mut self.frame)?.take()
    }
}
