//! The lock file of C-Blosc2, `.b2lock`: readers share it, a writer holds it exclusively and increments the count in it.
//!
//! C-Blosc2 takes it around each operation of a handle that asked for locking. b2nd takes it where it is there: alone
//! around a commit, shared around the writing of chunks that nothing refers to yet, and while a frame is opened.

use crate::error::{Error, LockedError, Result};
use crate::frame::Layout;
use std::ffi::OsString;
use std::fs;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// When C-Blosc2's lock file `.b2lock` is taken (`NAME.b2lock` beside a file, `.b2lock` in a directory).
///
/// C-Blosc2 and python-blosc2 lock only where they are asked to (`locking=True`, `BLOSC_LOCKING=1`), in every handle, and
/// then make that file. It protects a commit of either side from the other; two writers of b2nd are kept apart by the
/// owner lock.
///
/// Where a writer of C-Blosc2 may come while b2nd writes, make the file first, by one commit with [`B2Lock::Always`]: a
/// handle of C-Blosc2 reads the frame before it locks, and reads it again only where the file counts changes already. A
/// commit of ours between that read and the making of the file can make it fail to open a sparse frame, or write over that
/// commit (seen with 3.3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum B2Lock {
    /// Never: when nobody else writes, or in a place where files cannot be locked.
    Never,
    /// Where the file is there, as a handle of C-Blosc2 with locking makes it when it opens the frame.
    #[default]
    IfThere,
    /// Always: a writer makes the file where it is not there.
    Always,
}

/// Offset of the change count in the file.
const COUNT_AT: u64 = 8;

/// The lock file, open.
#[derive(Debug)]
pub(crate) struct LockFile {
    file: File,
    /// Paths of the frame and of the lock file, for errors.
    frame: PathBuf,
    path: PathBuf,
    patience: Duration,
}

/// The lock, until it is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct Guard<'a>(&'a LockFile);

impl LockFile {
    /// Opens the lock file of the frame at a path; `None` if it should not be locked.
    pub(crate) fn find(
        frame: &Path,
        layout: Layout,
        when: B2Lock,
        write: bool,
        patience: Duration,
    ) -> Result<Option<Self>> {
        if when == B2Lock::Never {
            return Ok(None);
        }
        // Beside the name that the caller gives, as C-Blosc2 does, not beside what a link leads to.
        let path = match layout {
            Layout::Sparse => frame.join(".b2lock"),
            Layout::Contiguous => {
                let mut name = OsString::from(frame);
                name.push(".b2lock");
                PathBuf::from(name)
            }
        };
        let opened = super::without_links(fs::OpenOptions::new().read(true).write(write).clone()).open(&path);
        let opened = match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound && write && when == B2Lock::Always => {
                let mut options = fs::OpenOptions::new().read(true).write(true).clone();
                super::without_links(options.create(true).clone()).open(&path)
            }
            opened => opened,
        };
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            // A reader without permission to lock reads without the lock.
            Err(_) if !write => return Ok(None),
            Err(error) => {
                return Err(Error::io("cannot open the lock file of C-Blosc2", error).at_path(&path));
            }
        };
        if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
            return Err(Error::io("cannot open the lock file of C-Blosc2", error).at_path(&path));
        }
        Ok(Some(LockFile { file, frame: frame.into(), path, patience }))
    }
    /// Keeps writers out, not readers.
    pub(crate) fn shared(&self) -> Result<Guard<'_>> {
        self.wait(File::try_lock_shared)?;
        Ok(Guard(self))
    }
    /// Locks exclusively, and increments the change count so that other handles read anew.
    pub(crate) fn alone(&self) -> Result<Guard<'_>> {
        self.wait(File::try_lock)?;
        let guard = Guard(self);
        self.count_up().map_err(|e| self.failed(e))?;
        Ok(guard)
    }
    /// Tries until the patience is used up: another handle may hold the lock for ever.
    fn wait(&self, lock: fn(&File) -> std::result::Result<(), TryLockError>) -> Result<()> {
        let start = Instant::now();
        let mut pause = Duration::from_micros(50);
        loop {
            match lock(&self.file) {
                Ok(()) => return Ok(()),
                Err(TryLockError::Error(error)) => return Err(self.failed(error)),
                Err(TryLockError::WouldBlock) if start.elapsed() >= self.patience => {
                    let error = LockedError::by_peers(&self.frame, &self.path, self.patience);
                    return Err(Error::Locked(Box::new(error)));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(pause),
            }
            // Others hold the lock for one write only; with longer pauses they would take it again first.
            pause = (pause * 2).min(Duration::from_millis(1));
        }
    }
    #[expect(clippy::host_endian_bytes, reason = "it is a number in memory that C-Blosc2 writes as it is")]
    fn count_up(&self) -> io::Result<()> {
        let file = super::file::Positioned::new(self.file.try_clone()?);
        let mut count = [0; 8];
        // A new file is too short, and its count is 0.
        let count = match file.read_exact_at(&mut count, COUNT_AT) {
            Ok(()) => u64::from_ne_bytes(count),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => 0,
            Err(error) => return Err(error),
        };
        file.write_all_at(&count.wrapping_add(1).to_ne_bytes(), COUNT_AT)
    }
    fn failed(&self, error: io::Error) -> Error {
        Error::io("cannot lock", error).at_path(&self.path)
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        // Closing the file would unlock it too. An error would mean that there is no lock.
        let _ = self.0.file.unlock();
    }
}
