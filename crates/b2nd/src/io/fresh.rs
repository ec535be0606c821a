//! Files and directories that are not there yet: built under a temporary name beside the target, then renamed.

use super::rename;
use super::rights;
use super::rights::Rights;
use crate::error::Error;
use crate::error::Result;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::fs::File;
use std::io;
use std::path::Path;
use std::path::PathBuf;

/// A target that is being built under a temporary name, which goes away when this is dropped unpublished.
#[derive(Debug)]
pub(super) struct FreshTarget {
    temporary: PathBuf,
    target: PathBuf,
    overwrite: bool,
    published: bool,
    /// Permissions and owner of the directory that is replaced.
    rights: Option<Rights>,
    /// Process that made the target. A forked child has a copy of this value and must not remove the file.
    process: u32,
}

/// Number of temporary names to try: more than any process leaves behind.
const ATTEMPTS: u32 = 10_000;

impl FreshTarget {
    /// A new, empty file for `target`, with these permissions and this owner where they are given.
    pub(super) fn file(target: &Path, overwrite: bool, rights: Option<&Rights>) -> Result<(Self, File)> {
        check_target(target, overwrite)?;
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).create_new(true);
        if rights.is_some() {
            rights::closed(&mut options);
        }
        let (temporary, file) = with_temporary_name(target, |path| options.open(path))?;
        if let Some(rights) = rights {
            rights.give(&file);
        }
        Ok((FreshTarget::new(temporary, target, overwrite), file))
    }
    /// A new, empty directory for `target`. Permissions and owner come when it is published: they may forbid writing.
    pub(super) fn directory(target: &Path, overwrite: bool, rights: Option<&Rights>) -> Result<Self> {
        check_target(target, overwrite)?;
        let make =
            if rights.is_some() { rights::make_closed_directory } else { |path: &Path| fs::create_dir(path) };
        let (temporary, ()) = with_temporary_name(target, make)?;
        let mut fresh = FreshTarget::new(temporary, target, overwrite);
        fresh.rights = rights.cloned();
        Ok(fresh)
    }
    fn new(temporary: PathBuf, target: &Path, overwrite: bool) -> Self {
        let process = std::process::id();
        FreshTarget {
            temporary,
            target: target.to_path_buf(),
            overwrite,
            published: false,
            rights: None,
            process,
        }
    }
    /// The temporary name.
    pub(super) fn temporary(&self) -> &Path {
        &self.temporary
    }
    /// Renames a file to its target, replacing what is there; the name is on the medium some time later.
    pub(super) fn rename(mut self) -> Result<()> {
        fs::rename(&self.temporary, &self.target)
            .map_err(|e| Error::io("cannot replace the file", e).at_path(&self.target))?;
        self.published = true;
        Ok(())
    }
    /// Renames a file to its target, where nothing has that name; the name is on the medium some time later.
    pub(super) fn rename_new(mut self) -> Result<()> {
        rename::without_replacing(&self.temporary, &self.target)
            .map_err(|e| Error::io("cannot give the file its name", e).at_path(&self.target))?;
        self.published = true;
        Ok(())
    }
    /// Renames to the target; with `sync`, the name is on the medium after that. Without `overwrite` a target that has
    /// appeared meanwhile is an error.
    pub(super) fn publish(mut self, sync: bool) -> Result<()> {
        check_target(&self.target, self.overwrite)?;
        let failed = |e| Error::io("cannot give the new frame its name", e).at_path(&self.target);
        if let Some(rights) = &self.rights {
            rights.give_directory(&self.temporary);
        }
        let old = self.take_place().map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists if !self.overwrite => Error::exists(&self.target),
            _ => failed(error),
        })?;
        self.published = true;
        if sync || old.is_some() {
            // The new name must be on the medium before the old frame is removed.
            sync_parent(&self.target).map_err(failed)?;
        }
        if let Some(old) = old {
            // The new frame is in place; failing to remove the old one is no error.
            let _ = remove_frame(&old);
        }
        Ok(())
    }
    /// Takes the name of the target; returns the new path of the old frame, if it still exists.
    fn take_place(&self) -> io::Result<Option<PathBuf>> {
        if !self.overwrite {
            return rename::without_replacing(&self.temporary, &self.target).map(|()| None);
        }
        // A rename replaces a file by a file in one step. If either is a directory, the two are exchanged.
        let old_is_dir = match fs::symlink_metadata(&self.target) {
            Ok(metadata) => metadata.is_dir(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return fs::rename(&self.temporary, &self.target).map(|()| None);
            }
            Err(error) => return Err(error),
        };
        if !old_is_dir && !self.temporary.is_dir() {
            return fs::rename(&self.temporary, &self.target).map(|()| None);
        }
        match rename::exchange(&self.temporary, &self.target) {
            Some(exchanged) => exchanged.map(|()| Some(self.temporary.clone())),
            None => self.step_in().map(Some),
        }
    }
    /// Without an exchange in one step, renames the old one away first: for a moment nothing has the name.
    fn step_in(&self) -> io::Result<PathBuf> {
        let make = |aside: &Path| match fs::symlink_metadata(aside) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(&self.target, aside),
        };
        let (aside, ()) = beside(&self.target, make)?;
        match fs::rename(&self.temporary, &self.target) {
            Ok(()) => Ok(aside),
            Err(error) => {
                let _ = fs::rename(&aside, &self.target);
                Err(error)
            }
        }
    }
}

impl Drop for FreshTarget {
    fn drop(&mut self) {
        if !self.published && self.process == std::process::id() {
            let _ = remove_frame(&self.temporary);
        }
    }
}

/// An error when `target` is there and must not be replaced, or cannot be.
fn check_target(target: &Path, overwrite: bool) -> Result<()> {
    let metadata = match fs::symlink_metadata(target) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("cannot create the frame", error).at_path(target)),
    };
    if !overwrite {
        return Err(Error::exists(target));
    }
    if metadata.is_dir()
        && let Some(stranger) = stranger_in(target)?
    {
        let (shown, stranger) = (target.display(), stranger.display());
        let reason =
            format!("{shown}: not overwritten: it holds {stranger}, which is no part of a sparse frame");
        return Err(Error::usage(reason));
    }
    Ok(())
}

/// Whether a sparse frame may hold a file of this name.
fn is_frame_file(name: &OsString) -> bool {
    let Some(text) = name.to_str() else { return false };
    is_lasting(text) || text == ".b2lock" || inner(name).is_some()
}

/// Whether this is the name of a permanent file of a sparse frame, not a temporary one.
fn is_lasting(name: &str) -> bool {
    let chunk = |stem: &str| stem.len() >= 8 && stem.bytes().all(|b| b.is_ascii_hexdigit());
    name == super::sparse::FRAME_NAME || name.strip_suffix(".chunk").is_some_and(chunk)
}

/// The file of a sparse frame that a temporary file in its directory is made for.
pub(super) fn inner(name: &OsStr) -> Option<&str> {
    let (target, _) = name.to_str()?.strip_prefix('.')?.rsplit_once(".tmp-")?;
    Some(target).filter(|target| is_lasting(target))
}

/// The first entry of a directory that is no file of a sparse frame.
fn stranger_in(directory: &Path) -> Result<Option<PathBuf>> {
    let failed = |e| Error::io("cannot read the directory", e).at_path(directory);
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !is_frame_file(&entry.file_name()) || entry.file_type().map_err(failed)?.is_dir() {
            return Ok(Some(entry.path()));
        }
    }
    Ok(None)
}

/// Removes a file, or a directory and the frame's files in it; never anything else.
pub(super) fn remove_frame(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.is_dir() {
        return fs::remove_file(path);
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if is_frame_file(&entry.file_name()) {
            fs::remove_file(entry.path())?;
        }
    }
    fs::remove_dir(path)
}

/// Makes something under a temporary name beside `target`.
fn with_temporary_name<T>(target: &Path, make: impl Fn(&Path) -> io::Result<T>) -> Result<(PathBuf, T)> {
    beside(target, make).map_err(|e| Error::io("cannot create the frame", e).at_path(target))
}

/// Makes something under a name beside `target` that nothing has.
fn beside<T>(target: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    for n in 0..ATTEMPTS {
        let path = temporary_name(target, std::process::id(), n)
            .ok_or_else(|| io::Error::other("the path does not end with a name"))?;
        match make(&path) {
            Ok(made) => return Ok((path, made)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// `.NAME.tmp-<process>-<n>`, beside `target`.
fn temporary_name(target: &Path, process: u32, n: u32) -> Option<PathBuf> {
    let mut temporary = OsString::from(".");
    temporary.push(target.file_name()?);
    temporary.push(format!(".tmp-{process}-{n}"));
    Some(target.with_file_name(temporary))
}

/// Waits until the name of `path` is on the medium, where the system can be asked for that.
pub(super) fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => sync_directory(Path::new(".")),
        Some(parent) => sync_directory(parent),
        None => Ok(()),
    }
}

/// Waits until the names in a directory are on the medium, where the system can be asked for that.
pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}
