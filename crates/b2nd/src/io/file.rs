//! A contiguous frame in a file: positioned reads and writes, no shared cursor.

use super::Store;
use super::fresh::Fresh;
use crate::error::Error;
use crate::error::Result;
use crate::frame::plan::FileId;
use crate::frame::plan::WriteStep;
use std::fs;
use std::fs::File;
use std::io;
use std::path::Path;
use std::path::PathBuf;

/// A contiguous frame in a file.
#[derive(Debug)]
pub(crate) struct FileStore {
    path: PathBuf,
    file: Positioned,
    write: bool,
    /// The temporary name, before the first commit.
    fresh: Option<Fresh>,
}

impl FileStore {
    /// Opens an existing file.
    pub(crate) fn open(path: &Path, write: bool) -> Result<Self> {
        let metadata = fs::metadata(path).map_err(|e| Error::io("cannot open the frame", e).at_path(path))?;
        let file = super::open_regular(path, &metadata, write)?;
        Ok(FileStore { path: path.to_path_buf(), file: Positioned::new(file), write, fresh: None })
    }
    /// A new file, under a temporary name until it is published.
    pub(crate) fn create(path: &Path, overwrite: bool) -> Result<Self> {
        let (fresh, file) = Fresh::file(path, overwrite)?;
        Ok(FileStore {
            path: path.to_path_buf(),
            file: Positioned::new(file),
            write: true,
            fresh: Some(fresh),
        })
    }
    /// A new file that takes the place of an existing one when it is published.
    pub(crate) fn replace(path: &Path) -> Result<Self> {
        let failed = |e| Error::io("cannot replace the frame", e).at_path(path);
        // A link stays a link: what it leads to is replaced.
        let target = fs::canonicalize(path).map_err(failed)?;
        let rights = fs::metadata(&target).map_err(failed)?.permissions();
        let (fresh, file) = Fresh::file(&target, true)?;
        // A replaced file keeps its rights where the system lets us.
        let _ = file.set_permissions(rights);
        Ok(FileStore {
            path: path.to_path_buf(),
            file: Positioned::new(file),
            write: true,
            fresh: Some(fresh),
        })
    }
    fn failed(&self, action: &'static str, error: io::Error) -> Error {
        Error::io(action, error).at_path(&self.path)
    }
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        if self.fresh.is_some() {
            self.file.0.set_len(0).map_err(|e| self.failed("cannot write the frame", e))?;
            return self.file.write_all_at(bytes, 0).map_err(|e| self.failed("cannot write the frame", e));
        }
        let new = FileStore::replace(&self.path)?;
        new.file
            .write_all_at(bytes, 0)
            .and_then(|()| new.file.0.sync_all())
            .map_err(|e| self.failed("cannot write the frame", e))?;
        new.fresh.map_or(Ok(()), Fresh::publish)?;
        self.file = new.file;
        Ok(())
    }
}

impl Store for FileStore {
    fn len(&self, file: FileId) -> Result<u64> {
        match file {
            FileId::Frame => {
                self.file.0.metadata().map(|m| m.len()).map_err(|e| self.failed("cannot read the frame", e))
            }
            FileId::Chunk(_) => Err(super::no_such_file(file)),
        }
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        match file {
            FileId::Frame => {
                self.file.read_exact_at(buf, offset).map_err(|e| self.failed("cannot read the frame", e))
            }
            FileId::Chunk(_) => Err(super::no_such_file(file)),
        }
    }
    fn slice(&self, _file: FileId) -> Option<&[u8]> {
        None
    }
    fn apply(&mut self, step: &WriteStep<'_>) -> Result<()> {
        if !self.write {
            return Err(super::read_only(Some(&self.path)));
        }
        match step {
            WriteStep::WriteAt { file: FileId::Frame, offset, bytes } => {
                self.file.write_all_at(bytes, *offset).map_err(|e| self.failed("cannot write the frame", e))
            }
            WriteStep::Put { file: FileId::Frame, bytes } => self.put(bytes),
            WriteStep::SetLen { file: FileId::Frame, len } => {
                self.file.0.set_len(*len).map_err(|e| self.failed("cannot set the length of the frame", e))
            }
            WriteStep::Sync { file: FileId::Frame } => {
                self.file.0.sync_all().map_err(|e| self.failed("cannot sync the frame", e))
            }
            WriteStep::Publish => self.fresh.take().map_or(Ok(()), Fresh::publish),
            WriteStep::WriteAt { file, .. }
            | WriteStep::Put { file, .. }
            | WriteStep::SetLen { file, .. }
            | WriteStep::Sync { file }
            | WriteStep::Remove { file } => Err(super::no_such_file(*file)),
        }
    }
    #[cfg(unix)]
    fn check_place(&self) -> Result<()> {
        use std::os::unix::fs::MetadataExt;
        let failed = |e| self.failed("cannot write the frame", e);
        let (ours, there) =
            (self.file.0.metadata().map_err(failed)?, fs::metadata(&self.path).map_err(failed)?);
        if (ours.dev(), ours.ino()) == (there.dev(), there.ino()) {
            return Ok(());
        }
        Err(failed(io::Error::other("another writer has replaced the file since it was opened")))
    }
    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }
}

/// A file that is read and written by position, from many threads.
#[cfg(any(unix, windows))]
#[derive(Debug)]
struct Positioned(File);

#[cfg(any(unix, windows))]
impl Positioned {
    fn new(file: File) -> Self {
        Positioned(file)
    }
}

#[cfg(unix)]
impl Positioned {
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, buf, offset)
    }
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.0, bytes, offset)
    }
}

#[cfg(windows)]
impl Positioned {
    fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(&self.0, buf, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => {
                    buf = buf.get_mut(n..).unwrap_or_default();
                    offset = offset.saturating_add(n as u64);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
    fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match std::os::windows::fs::FileExt::seek_write(&self.0, bytes, offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => {
                    bytes = bytes.get(n..).unwrap_or_default();
                    offset = offset.saturating_add(n as u64);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

/// Elsewhere there is only one cursor for each file: a lock keeps seek and read together.
#[cfg(not(any(unix, windows)))]
#[derive(Debug)]
struct Positioned(File, std::sync::Mutex<()>);

#[cfg(not(any(unix, windows)))]
impl Positioned {
    fn new(file: File) -> Self {
        Positioned(file, std::sync::Mutex::new(()))
    }
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        use std::io::{Read, Seek};
        let _guard = self.1.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (&self.0).seek(io::SeekFrom::Start(offset))?;
        (&self.0).read_exact(buf)
    }
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        use std::io::{Seek, Write};
        let _guard = self.1.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (&self.0).seek(io::SeekFrom::Start(offset))?;
        (&self.0).write_all(bytes)
    }
}

/// Reads one range of a file that is open for nothing else.
pub(super) fn read_once(file: File, offset: u64, buf: &mut [u8]) -> io::Result<()> {
    Positioned::new(file).read_exact_at(buf, offset)
}
