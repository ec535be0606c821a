//! Pieces of work beside a frame: each a file of a directory `NAME.parts`, which appears whole or not at all.

use super::fresh::{FreshTarget, sync_directory};
use crate::error::{Error, Result};
use crate::frame::Durability;
use crate::limits::zeroed;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The file that says whose parts these are.
const JOB: &str = "job";
/// The longest `job` file that is read.
const JOB_BYTES: u64 = 1 << 10;
/// Number of attempts to empty the directory: a worker may add a part meanwhile.
const REMOVALS: u32 = 100;

/// The directory with the parts of a frame.
#[derive(Debug)]
pub(crate) struct Parts {
    directory: PathBuf,
    durability: Durability,
}

impl Parts {
    /// A new directory beside `frame`, with a `job` in it.
    pub(crate) fn create(frame: &Path, job: &str, durability: Durability) -> Result<Self> {
        let parts = Parts { directory: beside(frame)?, durability };
        fs::create_dir(&parts.directory).map_err(|e| {
            let action = match e.kind() {
                io::ErrorKind::AlreadyExists => {
                    "cannot make the directory of the parts: another job has it; join that job, abandon it, or overwrite it"
                }
                _ => "cannot make the directory of the parts",
            };
            Error::io(action, e).at_path(&parts.directory)
        })?;
        parts.put(JOB, job.as_bytes())?;
        Ok(parts)
    }

    /// The directory beside `frame`, and its `job`; `None` where there is none.
    pub(crate) fn open(frame: &Path, durability: Durability) -> Result<Option<(Self, String)>> {
        let parts = Parts { directory: beside(frame)?, durability };
        let Some(job) = parts.get(JOB, JOB_BYTES)? else { return Ok(None) };
        let damaged = |_| Error::usage(format!("{}: not a job of b2nd", parts.directory.join(JOB).display()));
        let job = String::from_utf8(job).map_err(damaged)?;
        Ok(Some((parts, job)))
    }

    /// Writes a part; until it is complete, readers see none, or the earlier one.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let target = self.directory.join(name);
        let failed = |e| Error::io("cannot write a part", e).at_path(&target);
        let (fresh, mut file) = FreshTarget::file(&target, true, None)?;
        file.write_all(bytes).map_err(failed)?;
        if self.durability.orders() {
            file.sync_all().map_err(failed)?;
        }
        fresh.rename()?;
        if self.durability.keeps() {
            sync_directory(&self.directory).map_err(failed)?;
        }
        Ok(())
    }

    /// The bytes of a part of at most `most` bytes; `None` where there is no such part.
    pub(crate) fn get(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>> {
        let path = self.directory.join(name);
        let failed = |e| Error::io("cannot read a part", e).at_path(&path);
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let mut file = super::open_regular(&path, &metadata, false, false)?;
        let len = file.metadata().map_err(failed)?.len();
        if len > most {
            return Err(Error::above(
                most,
                len,
                format!("{}: it has {len} bytes, and at most {most} are expected", path.display()),
            ));
        }
        let mut bytes = zeroed("a part", len)?;
        file.read_exact(&mut bytes).map_err(failed)?;
        Ok(Some(bytes))
    }

    /// Removes those of the named parts that exist.
    pub(crate) fn remove<'a>(&self, names: impl Iterator<Item = &'a str>) {
        for name in names {
            // Failing to remove a part does no harm: it is removed with the directory.
            let _ = fs::remove_file(self.directory.join(name));
        }
    }

    /// Removes the directory beside `frame` that an earlier job has left, if there is one.
    ///
    /// # Errors
    /// [`Error::Usage`] when it holds anything that is not a part; then nothing is removed.
    pub(crate) fn discard(frame: &Path, durability: Durability) -> Result<()> {
        let parts = Parts { directory: beside(frame)?, durability };
        match fs::symlink_metadata(&parts.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(parts.not_removed(error)),
            Ok(metadata) if !metadata.is_dir() => {
                let shown = parts.directory.display();
                return Err(Error::usage(format!("{shown}: not removed: it is not a directory of parts")));
            }
            Ok(_) => {}
        }
        for entry in fs::read_dir(&parts.directory).map_err(|e| parts.not_removed(e))? {
            let entry = entry.map_err(|e| parts.not_removed(e))?;
            if !is_own(&entry.file_name()) {
                let (shown, other) = (parts.directory.display(), entry.path());
                let other = other.display();
                return Err(Error::usage(format!(
                    "{shown}: not removed: it holds {other}, which is not a part"
                )));
            }
        }
        parts.close()
    }

    /// Removes the directory with all that this type has put there.
    pub(crate) fn close(self) -> Result<()> {
        for _ in 0..REMOVALS {
            for entry in fs::read_dir(&self.directory).map_err(|e| self.not_removed(e))? {
                let entry = entry.map_err(|e| self.not_removed(e))?;
                if !is_own(&entry.file_name()) {
                    continue;
                }
                match fs::remove_file(entry.path()) {
                    // A worker has renamed its temporary file, or removed it.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    removed => removed.map_err(|e| self.not_removed(e))?,
                }
            }
            match fs::remove_dir(&self.directory) {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                removed => return removed.map_err(|e| self.not_removed(e)),
            }
        }
        Err(self.not_removed(io::ErrorKind::DirectoryNotEmpty.into()))
    }

    fn not_removed(&self, error: io::Error) -> Error {
        Error::io("cannot remove the directory of the parts", error).at_path(&self.directory)
    }
}

/// Whether a file of this name is one that [`Parts`] writes.
fn is_own(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name == JOB || name.ends_with(".part") || name.starts_with('.') && name.contains(".tmp-")
}

fn beside(frame: &Path) -> Result<PathBuf> {
    let name = frame.file_name().ok_or_else(|| {
        let error = io::Error::other("the path does not end with a name");
        Error::io("cannot find the parts", error).at_path(frame)
    })?;
    let mut name = name.to_os_string();
    name.push(".parts");
    Ok(frame.with_file_name(name))
}
