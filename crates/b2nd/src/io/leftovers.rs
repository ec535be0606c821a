//! Temporary files and owner locks of processes that ended before they could remove them.
//!
//! A name says which process made a file, not on which machine. So a file counts as left over only when no process of that number
//! runs here and nobody holds a lock on the file: writers lock what they make, and the system unlocks it when they end.

use super::fresh;
use super::fresh::remove_frame;
use super::owner::{self, Owner};
use super::rights::follow;
use crate::error::{Error, Result};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The marker in the name of a temporary file, before the number of the process.
const MARK: &[u8] = b".tmp-";

/// What ended processes have left beside the frame at `path` and in its directory, ascending.
pub(crate) fn find(path: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for place in places(path)? {
        let is_stale = |path: &Path, process| lock_stale(path, process).is_some();
        let here = each(&place)?.into_iter().filter(|(path, process)| is_stale(path, *process));
        found.extend(here.map(|(path, _)| path));
        found.extend(owner::left_lock(&place));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Removes what [`find`] finds, under the owner lock; returns what is gone.
pub(crate) fn remove(path: &Path) -> Result<Vec<PathBuf>> {
    let found = find(path)?;
    if found.is_empty() {
        return Ok(found);
    }
    // Taking the owner lock removes a left-over lock, and what its process made.
    let owner = Owner::of_new(path)?;
    for place in places(path)? {
        for (path, process) in each(&place)? {
            // Locked until it is gone.
            if let Some(_lock) = lock_stale(&path, process) {
                // A file that cannot be removed is found again next time.
                let _ = remove_frame(&path);
            }
        }
    }
    drop(owner);
    Ok(found.into_iter().filter(|path| fs::symlink_metadata(path).is_err()).collect())
}

/// Removes what the process `process`, which has ended, made beside the frame at `place` and in its directory. The caller has the
/// owner lock.
pub(super) fn remove_of(place: &Path, process: u32) {
    // Left-overs are not worth an error: new files get other names.
    for (path, _) in each(place).into_iter().flatten().filter(|(_, maker)| *maker == process) {
        let _ = remove_frame(&path);
    }
}

/// The frame's own place, and what a link there leads to.
fn places(path: &Path) -> Result<Vec<PathBuf>> {
    let failed = |e| Error::io("cannot look for temporary files", e).at_path(path);
    let mut places = Vec::new();
    for path in [path.to_path_buf(), follow(path).map_err(failed)?] {
        let Some(name) = path.file_name() else { continue };
        let place = fs::canonicalize(owner::folder(&path)).map_err(failed)?.join(name);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    Ok(places)
}

/// The temporary files beside a frame and in its directory, with the number of the process in their names.
fn each(place: &Path) -> Result<Vec<(PathBuf, u32)>> {
    let mut found = Vec::new();
    let name = place.file_name().unwrap_or_default();
    let failed = |e| Error::io("cannot read the directory", e).at_path(owner::folder(place));
    for entry in fs::read_dir(owner::folder(place)).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        found.extend(maker(&entry.file_name(), name).map(|process| (entry.path(), process)));
    }
    if fs::symlink_metadata(place).is_ok_and(|metadata| metadata.is_dir()) {
        for entry in fs::read_dir(place).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let process = fresh::inner(&name).and_then(|inner| maker(&name, OsStr::new(&inner)));
            found.extend(process.map(|process| (entry.path(), process)));
        }
    }
    Ok(found)
}

/// The process that made a temporary file for the target `name`: `.NAME.tmp-PROCESS-N`, the command's `NAME.tmp-PROCESS-WORD`,
/// and `NAME.b2owner.gone-PROCESS`.
fn maker(entry: &OsStr, name: &OsStr) -> Option<u32> {
    let (entry, name) = (entry.as_encoded_bytes(), name.as_encoded_bytes());
    let number = |digits: &[u8]| {
        let digits = std::str::from_utf8(digits).ok()?;
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse::<u32>().ok().filter(|_| plain)
    };
    let dotted = entry.strip_prefix(b".").and_then(|rest| rest.strip_prefix(name));
    let rest = dotted.or_else(|| entry.strip_prefix(name))?;
    if let Some(process) =
        rest.strip_prefix(owner::SUFFIX.as_bytes()).and_then(|rest| rest.strip_prefix(b".gone-"))
    {
        return number(process).filter(|_| dotted.is_none());
    }
    let rest = rest.strip_prefix(MARK)?;
    let dash = rest.iter().position(|b| *b == b'-')?;
    let (process, end) = (number(rest.get(..dash)?)?, rest.get(dash.checked_add(1)?..)?);
    let right = match dotted {
        Some(_) => number(end).is_some(),
        None => !end.is_empty() && end.iter().all(u8::is_ascii_lowercase),
    };
    right.then_some(process)
}

/// The file, locked, where it is left over: the process that its name says does not run, and nobody else has locked it.
fn lock_stale(path: &Path, process: u32) -> Option<File> {
    let own = std::process::id();
    if process == own || owner::is_running(process) {
        return None;
    }
    let mut options = fs::OpenOptions::new();
    options.read(true);
    let file = super::without_links(options).open(path).ok()?;
    let kind = file.metadata().ok()?;
    if !(kind.is_file() || kind.is_dir()) {
        return None;
    }
    match file.try_lock() {
        Ok(()) => Some(file),
        // The writer of a directory holds a lock on it. Without locks it cannot be known whether the directory is
        // left over.
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_temporary_files_say_their_target_and_process() {
        for (entry, process) in [
            (".a.b2nd.tmp-12-0", Some(12)),
            (".a.b2nd.tmp-12-34", Some(12)),
            ("a.b2nd.tmp-12-out", Some(12)),
            ("a.b2nd.b2owner.gone-7", Some(7)),
            (".a.b2nd.tmp-12-out", None),
            ("a.b2nd.tmp-12-0", None),
            (".a.b2nd.tmp-12", None),
            (".a.b2nd.tmp-+1-0", None),
            (".a.b2nd.tmp-99999999999-0", None),
            (".b.b2nd.tmp-12-0", None),
            (".a.b2nd.b2owner.gone-7", None),
            ("a.b2nd.b2owner", None),
            ("a.b2nd", None),
        ] {
            assert_eq!(maker(OsStr::new(entry), OsStr::new("a.b2nd")), process, "{entry}");
        }
    }
}
