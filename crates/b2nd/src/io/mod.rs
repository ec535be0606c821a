//! Where the bytes of a frame live: memory or files. The only place that uses `std::fs`.

mod file;
mod fresh;
mod memory;
mod sparse;

pub(crate) use file::FileStore;
pub(crate) use memory::MemoryStore;
pub(crate) use sparse::SparseDir;

use crate::error::Error;
use crate::error::Result;
use crate::frame::Layout;
use crate::frame::plan::FileId;
use crate::frame::plan::WriteStep;
use std::fmt::Debug;
use std::fs;
use std::fs::File;
use std::io;
use std::path::Path;

/// The files of one frame: the frame itself and, in a sparse frame, the numbered chunk files.
///
/// Reads take `&self` and come from many threads at once.
pub trait Store: Send + Sync + Debug {
    /// The length of a file in bytes.
    fn len(&self, file: FileId) -> Result<u64>;
    /// Fills `buf` from `offset` on; an end of file before that is an error.
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()>;
    /// The whole file where it is in memory.
    fn slice(&self, file: FileId) -> Option<&[u8]>;
    /// Applies one step of a write plan.
    fn apply(&mut self, step: &WriteStep<'_>) -> Result<()>;
    /// Whether the frame is still what its path leads to: an error when another file has taken its place.
    fn check_place(&self) -> Result<()> {
        Ok(())
    }
    /// The path of the frame, where it has one.
    fn path(&self) -> Option<&Path>;
}

/// Opens what is at `path`: a directory is a sparse frame, a file a contiguous one.
pub(crate) fn open(path: &Path, write: bool) -> Result<(Box<dyn Store>, Layout)> {
    let metadata = fs::metadata(path).map_err(|e| Error::io("cannot open the frame", e).at_path(path))?;
    if metadata.is_dir() {
        Ok((Box::new(SparseDir::open(path, write)?), Layout::Sparse))
    } else {
        Ok((Box::new(FileStore::open(path, write)?), Layout::Contiguous))
    }
}

/// Makes the store of a new frame, under a temporary name beside `path`.
pub(crate) fn create(path: &Path, overwrite: bool, layout: Layout) -> Result<Box<dyn Store>> {
    Ok(match layout {
        Layout::Contiguous => Box::new(FileStore::create(path, overwrite)?),
        Layout::Sparse => Box::new(SparseDir::create(path, overwrite)?),
    })
}

/// Makes the store of a new contiguous frame that takes the place of the file at `path`, rights included.
pub(crate) fn replace(path: &Path) -> Result<Box<dyn Store>> {
    Ok(Box::new(FileStore::replace(path)?))
}

/// Opens an existing regular file. Others are refused before they are opened: a pipe would wait for its other end.
fn open_regular(path: &Path, metadata: &fs::Metadata, write: bool) -> Result<File> {
    let not_regular = || {
        let error = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
        Error::io("cannot open the file", error).at_path(path)
    };
    if !metadata.is_file() {
        return Err(not_regular());
    }
    let action = if write { "cannot open the file for writing" } else { "cannot open the file" };
    let file = fs::OpenOptions::new().read(true).write(write).open(path);
    let file = file.map_err(|e| Error::io(action, e).at_path(path))?;
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(file),
        _ => Err(not_regular()),
    }
}

/// The error of a store that was opened for reading and is asked to write.
fn read_only(path: Option<&Path>) -> Error {
    let source = io::Error::new(io::ErrorKind::PermissionDenied, "it was opened for reading only");
    let error = Error::io("cannot write the frame", source);
    path.map_or_else(|| Error::usage("the frame was opened for reading only"), |path| error.at_path(path))
}

/// The error of a step that the layout of a store does not have.
fn no_such_file(file: FileId) -> Error {
    Error::usage(format!("the frame has no file {file:?}"))
}

#[cfg(test)]
mod tests;
