//! A directory that is held open. Its files are opened relative to it, because its path may lead to another directory
//! by the time a chunk is read.

use super::pin;
#[cfg(unix)]
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use std::fs::File;
use std::io;
use std::path::Path;

/// An open directory. While it is held no writer of ours removes files that its state needs, unless it replaces the directory as
/// a whole.
#[derive(Debug)]
pub(super) struct HeldDirectory(File);

impl HeldDirectory {
    /// Opens a directory; `None` on systems that cannot open directories.
    pub(super) fn new(directory: &Path) -> Option<Self> {
        let opened = File::open(directory).ok().filter(|_| cfg!(unix))?;
        pin::hold(&opened);
        Some(HeldDirectory(opened))
    }
    /// Whether no other handle holds it.
    pub(super) fn is_alone(&self) -> bool {
        pin::is_alone(&self.0)
    }
    /// Whether it is what a path leads to.
    pub(super) fn is_at(&self, path: &Path) -> io::Result<bool> {
        is_at(&self.0, path)
    }
    /// The length of a file in it, and whether it is a regular file; links are not followed.
    #[cfg(unix)]
    pub(super) fn look(&self, name: &str) -> io::Result<(u64, bool)> {
        let found = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        Ok((u64::try_from(found.st_size).unwrap_or(0), is_file))
    }
    #[cfg(not(unix))]
    pub(super) fn look(&self, _name: &str) -> io::Result<(u64, bool)> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Opens a file in it for reading, without following links or waiting for pipes.
    #[cfg(unix)]
    pub(super) fn open(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.0, name, flags, Mode::empty())?))
    }
    #[cfg(not(unix))]
    pub(super) fn open(&self, _name: &str) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Whether a path leads to an open file or directory; yes where a system cannot tell.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (ours, there) = (file.metadata()?, std::fs::metadata(path)?);
    Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino()))
}

#[cfg(not(unix))]
pub(super) fn is_at(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(true)
}
