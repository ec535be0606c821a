//! The owner lock: one writer at a time for each frame at a path, known by name to all others.
//!
//! It is a file beside the frame, `NAME.b2owner`, which the system locks and unlocks: when a process ends, however it does,
//! its lock is free. What the file says is for people, and for telling whose left-overs may go.

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

/// How often a lock file that is taken away just then is opened again: each time some other writer came and went.
const ATTEMPTS: u32 = 1000;

/// What locks a file; another one in tests.
pub(super) type Locking = fn(&File) -> std::result::Result<(), TryLockError>;

/// The right to write a frame, until it is dropped.
#[derive(Debug)]
pub(crate) struct Owner {
    _name: Held,
    /// Where the name is a link that is about to be replaced: what it leads to, too.
    _target: Option<Held>,
}

impl Owner {
    /// For a frame that is there, whatever links lead to it.
    pub(crate) fn of_existing(path: &Path) -> Result<Self> {
        let place =
            fs::canonicalize(path).map_err(|e| Error::io("cannot open the frame", e).at_path(path))?;
        Ok(Owner { _name: Held::take(path, &place, File::try_lock)?, _target: None })
    }
    /// For a name that a new frame is to have, and what is there now.
    pub(crate) fn of_new(path: &Path) -> Result<Self> {
        let failed = |e| Error::io("cannot create the frame", e).at_path(path);
        let name = path.file_name();
        let name = name.ok_or_else(|| failed(io::Error::other("the path does not end with a name")))?;
        let place = fs::canonicalize(folder(path)).map_err(failed)?.join(name);
        let own = Held::take(path, &place, File::try_lock)?;
        // A link may lead to where nothing is yet.
        let target = follow(&place)
            .ok()
            .and_then(|target| Some(fs::canonicalize(folder(&target)).ok()?.join(target.file_name()?)));
        let target = target.filter(|target| *target != place);
        let target = target.map(|target| Held::take(path, &target, File::try_lock)).transpose()?;
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

/// The owner file of the frame at `place`, where the process that it names has ended. It is not locked for that: another writer
/// may be about to.
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
pub(super) struct Held {
    path: PathBuf,
    file: File,
    /// A forked child has the descriptor too, but the lock is not its own.
    pub(super) process: u32,
}

/// What came of one look at an owner file.
enum Look {
    Taken(Held),
    /// It has gone, or another took its place, while we looked.
    Again,
}

impl Held {
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
        // Who removes it holds the lock, or knows its holder gone: what is locked and not at the path keeps nobody out.
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
                // A power cut tears a lock file, and nobody holds this one. Somebody else's text is not lost.
                set_aside(path, &file).map_err(failed)?;
                Ok(Look::Again)
            }
            Ok(()) => {
                if !writable {
                    // Somebody else's left-over, which we may only read: ours takes its place.
                    fs::remove_file(path).map_err(failed)?;
                    return Ok(Look::Again);
                }
                write(&file, &Record::own()).map_err(failed)?;
                Ok(Look::Taken(Held { path: path.into(), file, process: std::process::id() }))
            }
            // A file that we have made is ours, where the system has no locks either.
            Err(TryLockError::Error(_)) if made => {
                write(&file, &Record::own()).map_err(failed)?;
                Ok(Look::Taken(Held { path: path.into(), file, process: std::process::id() }))
            }
            Err(TryLockError::Error(_)) if gone.is_some() => {
                put_away(path, &file).map_err(failed)?;
                Ok(Look::Again)
            }
            Err(error) => {
                // Who has just locked what one that is gone has left has yet to write its name into it: a lock that is held
                // is never taken away. A forked child of the one that is gone may hold it too.
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

impl Drop for Held {
    fn drop(&mut self) {
        // Removed while it is still locked, so that nobody waits behind a name that is about to go.
        if self.process == std::process::id() && is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// An owner file that is open.
struct Opened {
    file: File,
    /// It was not there before.
    made: bool,
    writable: bool,
}

/// Opens or makes an owner file; `None` where one vanishes just then. A link is not followed: it may lead to anything.
fn open(path: &Path) -> io::Result<Option<Opened>> {
    let both = fs::OpenOptions::new().read(true).write(true).clone();
    match both.clone().create_new(true).open(path) {
        Ok(file) => return Ok(Some(Opened { file, made: true, writable: true })),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        // A folder of the system, such as /proc, in which nobody makes files.
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

/// What an owner file says; nothing where the system lets nobody read what another has locked.
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

/// Who has just taken a lock has yet to write its name: it is given a moment.
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

/// How many names are tried for what is set aside.
const NAMES: u32 = 10_000;

/// Gives what lies in the place of an owner file, and is none, the first free name of `NAME.b2owner.orig`, `NAME.b2owner.orig-2`
/// and so on.
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

/// Takes the owner file of a process that is gone out of the way: this very one, not that of whoever was quicker.
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
        // Back with it. Had a third one come in this moment, the check before a commit would tell the two apart.
        return rename::without_replacing(&aside, path);
    }
    fs::remove_file(aside)
}
