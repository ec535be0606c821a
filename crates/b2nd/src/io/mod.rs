//! Where the bytes of a frame live: memory, files, or a [`Store`] of the caller's. The only place that uses `std::fs`.

mod b2lock;
mod file;
mod fresh;
mod held;
#[cfg(feature = "mmap")]
mod mapped;
mod memory;
mod mended;
mod owner;
mod parts;
mod pieced;
mod pin;
mod rename;
mod salvage;
mod sparse;

pub use crate::frame::plan::{FileId, WriteStep};
pub use b2lock::B2Lock;
pub(crate) use b2lock::LockFile;
pub(crate) use file::FileStore;
pub(crate) use memory::MemoryStore;
pub(crate) use mended::{Mended, mend};
pub(crate) use owner::Owner;
pub(crate) use parts::Parts;
pub(crate) use pieced::Pieced;
pub(crate) use salvage::{Listing, beside, open_damaged, replace_keeping};
pub(crate) use sparse::SparseDir;

use crate::error::Error;
use crate::error::Result;
use crate::frame::Layout;
#[cfg(unix)]
use rustix::fs::OFlags;
use std::fmt::Debug;
use std::fs;
use std::fs::File;
use std::io;
use std::path::Path;

/// The files of one frame: the frame itself and, in a sparse frame, the numbered chunk files.
///
/// Reads take `&self` and come from many threads at once. Offsets count from the start of the frame, wherever that is in
/// what a store stands for. Whoever has bytes of their own kind (an object store, an archive, a page cache) implements
/// this and opens with [`SChunk::open_store`](crate::SChunk::open_store), where an example is.
pub trait Store: Send + Sync + Debug {
    /// The length of a file in bytes; of [`FileId::Frame`] to the end of what the store has, the frame may end before.
    fn len(&self, file: FileId) -> Result<u64>;
    /// How many bytes of the file come before the frame. A header that lies in one sector of 512 bytes is written whole or not
    /// at all; of any other the old one is kept, past the end of the frame, until the new one is there.
    fn start(&self) -> u64 {
        0
    }
    /// Fills `buf` from `offset` on; an end of file before that is an error.
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()>;
    /// Whether [`will_read`](Store::will_read) does anything. Where it does, and reads had to wait lately, a read of many chunks
    /// looks at the headers of those that come next early, to tell where their blocks are.
    fn reads_ahead(&self) -> bool {
        false
    }
    /// Is told that these bytes are likely to be read soon, so that they can be on their way while others are decoded.
    ///
    /// A hint, from any thread, that should return at once. Later reads need not have the same borders, ranges may come again
    /// or overlap, may reach past the end of what is there, and may not be read at all when something fails before.
    fn will_read(&self, file: FileId, offset: u64, len: u64) {
        let _ = (file, offset, len);
    }
    /// The whole file where it is in memory.
    fn slice(&self, file: FileId) -> Option<&[u8]>;
    /// Applies one step of a write plan.
    ///
    /// Steps come in an order that keeps the frame whole at every moment, as long as none takes effect on the medium
    /// later than a [`WriteStep::Sync`] of its file.
    fn apply(&mut self, step: &WriteStep<'_>) -> Result<()>;
    /// A store for another frame that takes the place of this one at its first commit; `None` where there is no such
    /// thing, as in a directory.
    fn successor(&self) -> Result<Option<Box<dyn Store>>> {
        Ok(None)
    }
    /// The highest number of a chunk file that is there, referred to or not: new ones get higher numbers, so that who still
    /// reads an older state of the frame never takes them for its own. `None` where nobody else can be reading.
    fn last_chunk(&self) -> Result<Option<u32>> {
        Ok(None)
    }
    /// The numbers of all chunk files that are there, referred to or not, in any order.
    fn chunk_files(&self) -> Result<Vec<u32>> {
        Ok(Vec::new())
    }
    /// Whether nobody else has the frame open in a state before the last commit, so that what that state alone refers to may
    /// go: bytes are written over, chunk files removed. `false` where it cannot be known: then nothing of it goes.
    fn is_alone(&self) -> bool {
        false
    }
    /// Whether the frame is still what its path leads to: an error when another file has taken its place.
    fn check_place(&self) -> Result<()> {
        Ok(())
    }
    /// The path of the frame, where it has one.
    fn path(&self) -> Option<&Path>;
    /// Takes the bytes of [`FileId::Frame`] out without a copy, where the store owns them; it is empty after that.
    fn take_frame(&mut self) -> Option<Vec<u8>> {
        None
    }
}

/// How what is at a path is opened.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Opening {
    /// For writing too.
    pub(crate) write: bool,
    /// Where the frame starts in its file.
    pub(crate) offset: u64,
    /// Mapped into memory.
    pub(crate) mmap: bool,
}

/// Opens what is at `path`: a directory is a sparse frame, a file a contiguous one.
pub(crate) fn open(path: &Path, opening: Opening) -> Result<(Box<dyn Store>, Layout)> {
    let metadata = fs::metadata(path).map_err(|e| Error::io("cannot open the frame", e).at_path(path))?;
    let refused = |reason: &str| Err(Error::usage(format!("{}: {reason}", path.display())));
    if metadata.is_dir() {
        return match opening {
            Opening { mmap: true, .. } => {
                refused("a sparse frame is not mapped into memory: open it without mapping")
            }
            Opening { offset: 1.., .. } => refused("a sparse frame is a directory, and starts at no offset"),
            _ => Ok((Box::new(SparseDir::open(path, opening.write)?), Layout::Sparse)),
        };
    }
    if metadata.is_file() && opening.offset > metadata.len() {
        return refused(&format!("offset {} is past the end of {} bytes", opening.offset, metadata.len()));
    }
    if !opening.mmap {
        let store = FileStore::open(path, opening.write, opening.offset)?;
        return Ok((Box::new(store), Layout::Contiguous));
    }
    if opening.write {
        return refused("a file that is mapped into memory is for reading only: write without mapping");
    }
    #[cfg(feature = "mmap")]
    return Ok((Box::new(mapped::MappedFile::open(path, &metadata, opening.offset)?), Layout::Contiguous));
    #[cfg(not(feature = "mmap"))]
    refused("this build maps no files into memory (feature `mmap`)")
}

/// Makes the store of a frame behind everything that is in the file at `path`, and says where it starts. A file that is
/// not there yet is made.
pub(crate) fn append(path: &Path) -> Result<(Box<dyn Store>, u64)> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            let shown = path.display();
            Err(Error::usage(format!(
                "{shown}: a directory takes no further frame: frames are appended to files"
            )))
        }
        Ok(metadata) => {
            let store = FileStore::open(path, true, metadata.len())?;
            Ok((Box::new(store), metadata.len()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok((Box::new(FileStore::create(path, false)?), 0))
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

/// Makes the store of a new frame, under a temporary name beside `path`.
pub(crate) fn create(path: &Path, overwrite: bool, layout: Layout) -> Result<Box<dyn Store>> {
    Ok(match layout {
        Layout::Contiguous => Box::new(FileStore::create(path, overwrite)?),
        Layout::Sparse => Box::new(SparseDir::create(path, overwrite)?),
    })
}

/// Opens an existing regular file. Others are refused before they are opened: a pipe would wait for its other end. What
/// takes its place between the look and the opening is not waited for either, and with `follow` off no link is followed.
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
