//! The owner lock: one writer at a time for each frame at a path. Other writers can read who holds it.
//!
//! It is a file beside the frame, `NAME.b2owner`, which the system locks and unlocks: when a process ends for any reason,
//! its lock is released. Its contents are for people, and say which process left temporary files behind.

use super::holder::{self, Record};
use crate::error::{Error, LockedError, Result};
use crate::io::leftovers;
use crate::io::rename;
use crate::io::rights::follow;
use crate::io::without_links;
use std::ffi::OsString;
use std::fs;
use std::fs::{File, TryLockError};
use std::io;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The end of the name of an owner file.
pub(in crate::io) const SUFFIX: &str = ".b2owner";

/// Number of attempts to open a lock file that is being removed: each failure means that another writer has just finished.
const ATTEMPTS: u32 = 1000;

/// The function that locks a file; replaced in tests.
pub(super) type Locking = fn(&File) -> std::result::Result<(), TryLockError>;

/// The right to write a frame, until it is dropped.
#[derive(Debug)]
pub(crate) struct Owner {
    _name: HeldLock,
    /// Lock of the target, if the path is a link that is about to be replaced.
    _target: Option<HeldLock>,
}

impl Owner {
    /// Locks an existing frame; links to it count as the frame.
    pub(crate) fn of_existing(path: &Path) -> Result<Self> {
        let place =
            fs::canonicalize(path).map_err(|e| Error::io("cannot open the frame", e).at_path(path))?;
        Ok(Owner { _name: HeldLock::take(path, &place, File::try_lock)?, _target: None })
    }
    /// Locks the name of a new frame, and what exists there.
    pub(crate) fn of_new(path: &Path) -> Result<Self> {
        let failed = |e| Error::io("cannot create the frame", e).at_path(path);
        let name = path.file_name();
        let name = name.ok_or_else(|| failed(io::Error::other("the path does not end with a name")))?;
        let place = fs::canonicalize(folder(path)).map_err(failed)?.join(name);
        let own = HeldLock::take(path, &place, File::try_lock)?;
        // The target of a link may not exist yet.
        let target = follow(&place)
            .ok()
            .and_then(|target| Some(fs::canonicalize(folder(&target)).ok()?.join(target.file_name()?)));
        let target = target.filter(|target| *target != place);
        let target = target.map(|target| HeldLock::take(path, &target, File::try_lock)).transpose()?;
        Ok(Owner { _name: own, _target: target })
    }
}

/// The folder that a path is in.
pub(in crate::io) fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The owner file of the frame at `place`.
fn beside(place: &Path) -> PathBuf {
    let mut name = place.file_name().map(OsString::from).unwrap_or_default();
    name.push(SUFFIX);
    place.with_file_name(name)
}

/// The owner file of the frame at `place`, if the process that it names has ended. This does not lock it: another writer
/// may be about to lock it.
pub(in crate::io) fn left_lock(place: &Path) -> Option<PathBuf> {
    let path = beside(place);
    let options = fs::OpenOptions::new().read(true).clone();
    let file = without_links(options).open(&path).ok()?;
    let is_file = file.metadata().ok()?.is_file();
    let record = is_file.then(|| read(&file, false).ok()).flatten().and_then(|text| Record::parse(&text));
    record.filter(Record::is_gone).map(|_| path)
}

/// One locked owner file.
#[derive(Debug)]
pub(super) struct HeldLock {
    path: PathBuf,
    file: File,
    /// Process that took the lock. A forked child inherits the descriptor, but not the right to the lock.
    pub(super) process: u32,
}

/// Result of one attempt to lock an owner file.
enum Look {
    Taken(HeldLock),
    /// The file was removed or replaced during the attempt: try again.
    Again,
}

impl HeldLock {
    /// Locks the owner file of the frame at `place`, which errors call `shown`.
    pub(super) fn take(shown: &Path, place: &Path, locking: Locking) -> Result<Self> {
        let path = beside(place);
        for _ in 0..ATTEMPTS {
            match Self::look(shown, place, &path, locking)? {
                Look::Taken(held) => return Ok(held),
                Look::Again => {}
            }
        }
        Err(Error::Locked(Box::new(LockedError::owner(shown, &path, None, true))))
    }

    fn look(shown: &Path, place: &Path, path: &Path, locking: Locking) -> Result<Look> {
        let action = if place.exists() {
            "cannot make its lock file, NAME.b2owner, in its folder"
        } else {
            "cannot create it in its folder"
        };
        let failed = |e| Error::io(action, e).at_path(shown);
        let Some(Opened { file, made, writable }) = open(path).map_err(failed)? else {
            return Ok(Look::Again);
        };
        let locked = locking(&file);
        // The file was removed by its holder, or by a process that found the holder gone: a lock on it excludes nobody.
        if !is_at(&file, path) {
            return Ok(Look::Again);
        }
        let text = read(&file, made).map_err(failed)?;
        let record = Record::parse(&text);
        let gone = record.as_ref().filter(|record| record.is_gone()).map(|record| record.holder.process);
        if let Some(process) = gone {
            leftovers::remove_of(place, process);
        }
        match locked {
            Ok(()) if text.len() as u64 > holder::MOST => {
                let len = file.metadata().map_err(failed)?.len();
                let reason =
                    format!("a file of {len} bytes, which is no owner lock, is in the way: rename it");
                let found = io::Error::new(io::ErrorKind::AlreadyExists, reason);
                Err(Error::io("cannot make its lock file", found).at_path(path))
            }
            Ok(()) if !Record::is_ours(&text) => {
                // Nobody holds this file, and it is no lock file of ours: a power cut may have torn it. Its contents
                // are kept under another name.
                set_aside(path, &file).map_err(failed)?;
                Ok(Look::Again)
            }
            Ok(()) => {
                if !writable {
                    // A left-over of another user that we may only read: it is removed, and a new file made.
                    fs::remove_file(path).map_err(failed)?;
                    return Ok(Look::Again);
                }
                write(&file, &Record::own()).map_err(failed)?;
                Ok(Look::Taken(HeldLock { path: path.into(), file, process: std::process::id() }))
            }
            // On a file system without locks, the process that created the file holds the lock.
            Err(TryLockError::Error(_)) if made => {
                write(&file, &Record::own()).map_err(failed)?;
                Ok(Look::Taken(HeldLock { path: path.into(), file, process: std::process::id() }))
            }
            Err(TryLockError::Error(_)) if gone.is_some() => {
                put_away(path, &file).map_err(failed)?;
                Ok(Look::Again)
            }
            Err(error) => {
                // A process that takes over a stale lock has not recorded itself yet, so a lock that is held
                // is never taken away. A forked child of the ended holder may hold it too.
                let stuck = matches!(error, TryLockError::Error(_)) || gone.is_some();
                let holder = record
                    .filter(|_| gone.is_none())
                    .or_else(|| patiently(&file))
                    .map(|record| record.holder);
                Err(Error::Locked(Box::new(LockedError::owner(shown, path, holder, stuck))))
            }
        }
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        // Removes the file while it is still locked, so that no other process locks a file that is about to be removed.
        if self.process == std::process::id() && is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// An owner file that is open.
struct Opened {
    file: File,
    /// Whether this call created it.
    made: bool,
    writable: bool,
}

/// Opens or creates an owner file; `None` if it is removed at the same time. Links are not followed.
fn open(path: &Path) -> io::Result<Option<Opened>> {
    let both = fs::OpenOptions::new().read(true).write(true).clone();
    match both.clone().create_new(true).open(path) {
        Ok(file) => return Ok(Some(Opened { file, made: true, writable: true })),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        // A directory of the system, such as /proc, where no files can be created.
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.parent().is_some_and(Path::is_dir) => {
            let reason = "permission denied: the folder takes no new files";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        }
        Err(error) => return Err(error),
    }
    let (opened, writable) = match without_links(both).open(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let reading = fs::OpenOptions::new().read(true).clone();
            (without_links(reading).open(path), false)
        }
        opened => (opened, true),
    };
    let file = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(Some(Opened { file, made: false, writable }))
}

/// Contents of an owner file; empty where the system forbids reading a file locked by another process.
fn read(file: &File, made: bool) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    if made {
        return Ok(text);
    }
    let mut reader = file;
    reader.rewind()?;
    match reader.take(holder::MOST.saturating_add(1)).read_to_end(&mut text) {
        Err(error) if cfg!(unix) => Err(error),
        _ => Ok(text),
    }
}

/// Reads the record, waiting a moment for a process that has just taken the lock to write it.
fn patiently(file: &File) -> Option<Record> {
    for _ in 0..10 {
        std::thread::sleep(Duration::from_millis(1));
        let record = read(file, false).ok().and_then(|text| Record::parse(&text));
        if record.is_some() {
            return record;
        }
    }
    None
}

fn write(file: &File, record: &Record) -> io::Result<()> {
    let text = record.to_text();
    let mut writer = file;
    writer.rewind()?;
    writer.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

/// Whether the path leads to this file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

/// Number of names to try for a file that is set aside.
const NAMES: u32 = 10_000;

/// Renames a file that is at the path of the owner file but is none to the first free name of `NAME.b2owner.orig`,
/// `NAME.b2owner.orig-2` and so on.
fn set_aside(path: &Path, file: &File) -> io::Result<()> {
    for n in 1..NAMES {
        let mut name = path.file_name().map(OsString::from).unwrap_or_default();
        name.push(if n == 1 { ".orig".to_owned() } else { format!(".orig-{n}") });
        if !is_at(file, path) {
            return Ok(());
        }
        match rename::without_replacing(path, &path.with_file_name(name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            renamed => return renamed,
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Renames the owner file of an ended process away, but not a file that another writer has put there meanwhile.
fn put_away(path: &Path, file: &File) -> io::Result<()> {
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(format!(".gone-{}", std::process::id()));
    let aside = path.with_file_name(name);
    if !is_at(file, path) {
        return Ok(());
    }
    match fs::rename(path, &aside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        renamed => renamed?,
    }
    if !is_at(file, &aside) {
        // Renames it back. If a third writer came in this moment, the check before a commit notices the two writers.
        return rename::without_replacing(&aside, path);
    }
    fs::remove_file(aside)
}
