//! Where the bytes of a frame live: memory, files, or a store of the caller's. The only place that uses `std::fs`.

pub(crate) mod b2lock;
mod file;
mod fresh;
mod held;
pub(crate) mod leftovers;
#[cfg(feature = "mmap")]
mod mapped;
mod memory;
mod mended;
mod merge;
mod need;
mod owner;
mod parts;
mod pieced;
mod pieces;
mod pin;
mod rename;
mod rights;
mod rope;
mod salvage;
mod sparse;
mod store;

pub use crate::frame::plan::{FileId, WriteStep};
pub(crate) use b2lock::{B2Lock, LockFile};
pub(crate) use file::FileStore;
pub(crate) use memory::MemoryStore;
pub(crate) use mended::{Mended, mend};
pub(crate) use merge::{Merged, merge_ranges};
pub use need::{FileRange, Machine, ReadBudget, Step};
pub(crate) use owner::Owner;
pub(crate) use parts::Parts;
pub(crate) use pieced::Pieced;
pub(crate) use pieces::Pieces;
pub(crate) use salvage::{Listing, beside, open_damaged, replace_keeping};
pub(crate) use sparse::{SparseDir, Stamp};
pub(crate) use store::OpenedStore;
pub use store::{RangeCosts, ReadStore, WriteStore};

use crate::error::Error;
use crate::error::Result;
use crate::frame::Layout;
use rights::Rights;
#[cfg(unix)]
use rustix::fs::OFlags;
use std::fs;
use std::fs::File;
use std::io;
use std::path::Path;
#[cfg(feature = "mmap")]
use std::sync::Arc;

/// How a frame at a path is opened.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Opening {
    /// Whether for writing too.
    pub(crate) write: bool,
    /// Where the frame starts in its file.
    pub(crate) offset: u64,
    /// Whether the file is mapped into memory.
    pub(crate) mmap: bool,
}

/// Opens what is at `path`: a directory is a sparse frame, a file a contiguous one.
pub(crate) fn open(path: &Path, opening: Opening) -> Result<(OpenedStore, Layout)> {
    let metadata = fs::metadata(path).map_err(|e| Error::io("cannot open the frame", e).at_path(path))?;
    let refused = |reason: &str| Err(Error::usage(format!("{}: {reason}", path.display())));
    if metadata.is_dir() {
        return match opening {
            Opening { mmap: true, .. } => {
                refused("a sparse frame cannot be mapped into memory: open it without mapping")
            }
            Opening { offset: 1.., .. } => refused("a sparse frame is a directory, and has no offset"),
            Opening { write: true, .. } => {
                Ok((OpenedStore::Write(Box::new(SparseDir::open(path, true)?)), Layout::Sparse))
            }
            _ => Ok((OpenedStore::Read(SparseDir::open(path, false)?.reader()), Layout::Sparse)),
        };
    }
    if metadata.is_file() && opening.offset > metadata.len() {
        let (shown, offset, len) = (path.display(), opening.offset, metadata.len());
        let message = format!("{shown}: offset {offset} is past the end of {len} bytes");
        return Err(Error::out_of_bounds(offset, len, message));
    }
    if !opening.mmap {
        let store = FileStore::open(path, opening.write, opening.offset)?;
        let opened = if opening.write {
            OpenedStore::Write(Box::new(store))
        } else {
            OpenedStore::Read(store.reader())
        };
        return Ok((opened, Layout::Contiguous));
    }
    if opening.write {
        return refused("a file that is mapped into memory is for reading only: write without mapping");
    }
    #[cfg(feature = "mmap")]
    let mapped = mapped::MappedFile::open(path, &metadata, opening.offset)?;
    #[cfg(feature = "mmap")]
    return Ok((OpenedStore::Read(Arc::new(mapped)), Layout::Contiguous));
    #[cfg(not(feature = "mmap"))]
    refused("this build maps no files into memory (feature `mmap`)")
}

/// Makes the store of a frame after the contents of the file at `path`, and returns its offset. A file that does
/// not exist is created.
pub(crate) fn append(path: &Path) -> Result<(Box<dyn WriteStore>, u64)> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            let shown = path.display();
            Err(Error::usage(format!("{shown}: frames can be appended to files only, not to a directory")))
        }
        Ok(metadata) => {
            let store = FileStore::open(path, true, metadata.len())?;
            Ok((Box::new(store), metadata.len()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok((Box::new(FileStore::create(path, path, false, None)?), 0))
        }
        Err(error) => Err(Error::io("cannot open the file", error).at_path(path)),
    }
}

/// Whether a path leads to a frame itself, or into its directory.
pub(crate) fn is_within(frame: &Path, path: &Path) -> bool {
    let Ok(frame) = fs::canonicalize(frame) else { return false };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::canonicalize(path).is_ok_and(|path| path == frame)
        || frame.is_dir() && fs::canonicalize(parent).is_ok_and(|parent| parent.starts_with(&frame))
}

/// Removes the frame at a path; with `owner_lock`, an error while another writer has it.
pub(crate) fn remove_frame(path: &Path, owner_lock: bool) -> Result<()> {
    let _owner = owner_lock.then(|| Owner::of_existing(path)).transpose()?;
    fresh::remove_frame(path).map_err(|e| Error::io("cannot remove the frame", e).at_path(path))
}

/// Makes the store of a new frame, under a temporary name beside `path`.
///
/// With `overwrite` links are followed: what they lead to is replaced. The new frame gets permissions and owner of the frame at
/// `like`, by default of the one that it replaces.
pub(crate) fn create(
    path: &Path,
    overwrite: bool,
    layout: Layout,
    like: Option<&Path>,
) -> Result<Box<dyn WriteStore>> {
    let follow =
        |path| rights::follow(path).map_err(|e| Error::io("cannot create the frame", e).at_path(path));
    let target = if overwrite { follow(path)? } else { path.to_path_buf() };
    let rights = match like {
        Some(like) => Rights::of(&follow(like)?),
        None if overwrite => Rights::of(&target),
        None => None,
    };
    Ok(match layout {
        Layout::Contiguous => Box::new(FileStore::create(path, &target, overwrite, rights.as_ref())?),
        Layout::Sparse => Box::new(SparseDir::create(path, &target, overwrite, rights)?),
    })
}

/// Opens an existing regular file. Others are refused before they are opened: opening a pipe would wait for its other
/// end. If the file is replaced after the check, opening does not wait either. With `follow` off no link is followed.
fn open_regular(path: &Path, metadata: &fs::Metadata, write: bool, follow: bool) -> Result<File> {
    if !metadata.is_file() {
        return Err(not_regular(path));
    }
    let action = if write { "cannot open the file for writing" } else { "cannot open the file" };
    let mut options = fs::OpenOptions::new();
    options.read(true).write(write);
    let options = if follow { without_waiting(options) } else { without_links(options) };
    let file = match options.open(path) {
        Err(_) if !follow && fs::symlink_metadata(path).is_ok_and(|now| now.is_symlink()) => {
            return Err(not_regular(path));
        }
        opened => opened.map_err(|e| Error::io(action, e).at_path(path))?,
    };
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(file),
        _ => Err(not_regular(path)),
    }
}

fn not_regular(path: &Path) -> Error {
    let error = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
    Error::io("cannot open the file", error).at_path(path)
}

/// The same, so that a pipe is not waited for.
#[cfg(unix)]
fn without_waiting(mut options: fs::OpenOptions) -> fs::OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    options
}

/// The same, so that a link is an error, and a pipe is not waited for.
#[cfg(unix)]
fn without_links(mut options: fs::OpenOptions) -> fs::OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    options.custom_flags(flags.bits().cast_signed());
    options
}

#[cfg(not(unix))]
fn without_waiting(options: fs::OpenOptions) -> fs::OpenOptions {
    options
}

#[cfg(not(unix))]
fn without_links(options: fs::OpenOptions) -> fs::OpenOptions {
    options
}

/// Copies from the bytes of a file in memory.
fn copy_out(bytes: &[u8], offset: u64, buf: &mut [u8]) -> Result<()> {
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let found = bytes.get(start..).and_then(|tail| tail.get(..buf.len()));
    buf.copy_from_slice(found.ok_or_else(|| Error::usage("a read past the end of a frame in memory"))?);
    Ok(())
}

/// The error of a store that was opened for reading and is asked to write.
fn read_only(path: Option<&Path>) -> Error {
    Error::read_only().at(path)
}

/// The error of a step that the layout of a store does not have.
fn no_such_file(file: FileId) -> Error {
    Error::usage(format!("the frame has no file {file:?}"))
}

#[cfg(test)]
mod tests;
