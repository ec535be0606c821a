//! Frames in memory: contiguous in one buffer (ours, or somebody else's until it is written), sparse in a buffer for each chunk.

use super::FileId;
use super::Store;
use super::WriteStep;
use crate::error::Error;
use crate::error::Result;
use std::collections::BTreeMap;
use std::fmt;
use std::fmt::{Debug, Formatter};
use std::path::Path;

/// Bytes that somebody owns.
type Owner = Box<dyn AsRef<[u8]> + Send + Sync>;

/// The bytes of a frame.
enum Bytes {
    Owned(Vec<u8>),
    /// Read where they are; copied by the first write.
    Shared(Owner),
}

impl Bytes {
    fn all(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            Bytes::Shared(owner) => (**owner).as_ref(),
        }
    }
    /// The bytes to be changed, copied from what is shared.
    fn own(&mut self) -> Result<&mut Vec<u8>> {
        if let Bytes::Shared(owner) = &*self {
            let bytes = (**owner).as_ref();
            let mut copy = Vec::new();
            reserve(&mut copy, bytes.len() as u64)?;
            copy.extend_from_slice(bytes);
            *self = Bytes::Owned(copy);
        }
        match self {
            Bytes::Owned(bytes) => Ok(bytes),
            Bytes::Shared(_) => Err(Error::usage("bytes that are shared are not written")),
        }
    }
}

impl Debug for Bytes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = if matches!(self, Bytes::Owned(_)) { "owned" } else { "shared" };
        write!(f, "{} {kind} bytes", self.all().len())
    }
}

/// A frame in memory.
#[derive(Debug)]
pub(crate) struct MemoryStore {
    frame: Bytes,
    /// Where the frame starts.
    base: usize,
    chunks: BTreeMap<u32, Vec<u8>>,
}

impl Default for MemoryStore {
    fn default() -> Self {
        MemoryStore { frame: Bytes::Owned(Vec::new()), base: 0, chunks: BTreeMap::new() }
    }
}

impl MemoryStore {
    /// A frame that is these bytes.
    pub(crate) fn from_bytes(frame: Vec<u8>) -> Self {
        MemoryStore { frame: Bytes::Owned(frame), ..MemoryStore::default() }
    }
    /// A frame that is bytes of somebody else's.
    pub(crate) fn shared(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        MemoryStore { frame: Bytes::Shared(Box::new(owner)), ..MemoryStore::default() }
    }
    /// The frame that starts `base` bytes into the same bytes.
    pub(crate) fn at(mut self, base: u64) -> Result<Self> {
        let len = self.frame.all().len();
        let inside = usize::try_from(base).ok().filter(|base| *base <= len);
        self.base =
            inside.ok_or_else(|| Error::usage(format!("offset {base} is past the end of {len} bytes")))?;
        Ok(self)
    }
    /// All bytes, those before the frame too.
    #[cfg(test)]
    pub(crate) fn take_whole(self) -> Vec<u8> {
        self.frame.all().to_vec()
    }
    fn bytes(&self, file: FileId) -> Result<&[u8]> {
        match file {
            FileId::Frame => Ok(self.frame.all().get(self.base..).unwrap_or_default()),
            FileId::Chunk(n) => {
                self.chunks.get(&n).map(Vec::as_slice).ok_or_else(|| super::no_such_file(file))
            }
        }
    }
    /// The bytes of a file, and where it starts in them.
    fn bytes_mut(&mut self, file: FileId) -> Result<(&mut Vec<u8>, u64)> {
        match file {
            FileId::Frame => Ok((self.frame.own()?, self.base as u64)),
            FileId::Chunk(n) => Ok((self.chunks.entry(n).or_default(), 0)),
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
        super::copy_out(self.bytes(file)?, offset, buf)
    }
    fn start(&self) -> u64 {
        self.base as u64
    }
    fn slice(&self, file: FileId) -> Option<&[u8]> {
        self.bytes(file).ok()
    }
    fn successor(&self) -> Result<Option<Box<dyn Store>>> {
        Ok(Some(Box::new(MemoryStore::default())))
    }
    fn apply(&mut self, step: &WriteStep<'_>) -> Result<()> {
        match step {
            WriteStep::WriteAt { file, offset, bytes } => {
                let (buffer, base) = self.bytes_mut(*file)?;
                let end = base.saturating_add(*offset).saturating_add(bytes.len() as u64);
                let end = reserve(buffer, end)?;
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
            WriteStep::Put { file, bytes, .. } => {
                let (buffer, base) = self.bytes_mut(*file)?;
                reserve(buffer, base.saturating_add(bytes.len() as u64))?;
                buffer.truncate(usize::try_from(base).unwrap_or(usize::MAX));
                buffer.extend_from_slice(bytes);
            }
            WriteStep::SetLen { file, len } => {
                let (buffer, base) = self.bytes_mut(*file)?;
                let len = reserve(buffer, base.saturating_add(*len))?;
                buffer.resize(len, 0);
            }
            WriteStep::Remove { file: FileId::Chunk(n) } => {
                self.chunks.remove(n);
            }
            WriteStep::Remove { file: FileId::Frame } => return Err(super::no_such_file(FileId::Frame)),
            WriteStep::Sync { .. } | WriteStep::Publish { .. } => {}
        }
        Ok(())
    }
    fn chunk_files(&self) -> Result<Vec<u32>> {
        Ok(self.chunks.keys().copied().collect())
    }
    fn is_alone(&self) -> bool {
        true
    }
    fn path(&self) -> Option<&Path> {
        None
    }
    fn take_frame(&mut self) -> Option<Vec<u8>> {
        match &mut self.frame {
            Bytes::Owned(bytes) if self.base == 0 => Some(std::mem::take(bytes)),
            _ => None,
        }
    }
}
