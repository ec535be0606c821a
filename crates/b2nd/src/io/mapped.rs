//! A contiguous frame in a file that is mapped into memory, for reading: its blocks are decoded where they are.

use super::FileId;
use super::ReadStore;
use super::file::Positioned;
use super::pin;
use crate::error::Error;
use crate::error::Result;
use b2nd_kernel::map::Map;
use std::fs::Metadata;
use std::ops::Range;
use std::path::Path;
use std::path::PathBuf;

/// A contiguous frame in a mapped file.
#[derive(Debug)]
pub(crate) struct MappedFile {
    path: PathBuf,
    map: Map,
    /// The open file, whose lock protects the mapped state.
    file: Positioned,
    /// Where the frame starts.
    base: usize,
}

impl MappedFile {
    /// Maps an existing file, in which the frame starts at `base`.
    pub(crate) fn open(path: &Path, metadata: &Metadata, base: u64) -> Result<Self> {
        let file = super::open_regular(path, metadata, false, true)?;
        pin::hold(&file);
        let map = Map::read_only(&file);
        let map = map.map_err(|e| Error::io("cannot map the file into memory", e).at_path(path))?;
        let base = usize::try_from(base).unwrap_or(usize::MAX);
        Ok(MappedFile { path: path.to_path_buf(), map, file: Positioned::new(file), base })
    }
    fn bytes(&self, file: FileId) -> Result<&[u8]> {
        match file {
            FileId::Frame => Ok(self.map.as_ref().get(self.base..).unwrap_or_default()),
            FileId::Chunk(_) => Err(super::no_such_file(file)),
        }
    }
}

impl ReadStore for MappedFile {
    fn len(&self, file: FileId) -> Result<u64> {
        Ok(self.bytes(file)?.len() as u64)
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.bytes(file)?;
        // Reads from the file instead of the map: if a writer has truncated the file since, that is an error and not
        // the end of the process.
        let at = (self.base as u64).saturating_add(offset);
        let failed = |e| Error::io("cannot read the frame", e).at_path(&self.path);
        self.file.read_exact_at(buf, at).map_err(failed)
    }
    fn start(&self) -> u64 {
        self.base as u64
    }
    fn slice(&self, file: FileId, range: Range<u64>) -> Option<&[u8]> {
        let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
        self.bytes(file).ok()?.get(range)
    }
    fn is_in_memory(&self) -> bool {
        true
    }
    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }
}
