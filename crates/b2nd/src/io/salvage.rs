//! Opens damaged frames without checks, lists their files, and replaces a frame while keeping the old one.

use super::FileStore;
use super::SparseDir;
use super::fresh::sync_parent;
use super::rename;
use super::{ReadStore, WriteStore};
use crate::error::{Error, Result};
use crate::frame::Layout;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of a frame, except the frame file that refers to them.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The numbers of chunk files, ascending.
    pub(crate) chunks: Vec<u32>,
    /// The names of unfinished temporary files, ascending.
    pub(crate) temporaries: Vec<String>,
}

/// Opens the frame at `path` for reading, without checking its contents.
pub(crate) fn open_damaged(path: &Path, offset: u64) -> Result<(Arc<dyn ReadStore>, Layout, Listing)> {
    let metadata = fs::metadata(path).map_err(|e| Error::io("cannot open the frame", e).at_path(path))?;
    if !metadata.is_dir() {
        let store = FileStore::open(path, false, offset)?;
        let name = path.file_name().map(|name| format!(".{}.tmp-", name.to_string_lossy()));
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut listing = Listing::default();
        if let Some(mark) = name {
            // A directory that cannot be listed counts as empty; the frame can still be read.
            let entries = fs::read_dir(parent).into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
            listing.temporaries.extend(names.filter(|name| name.starts_with(&mark)));
            listing.temporaries.sort_unstable();
        }
        return Ok((store.reader(), Layout::Contiguous, listing));
    }
    if offset > 0 {
        let shown = path.display();
        return Err(Error::usage(format!("{shown}: a sparse frame is a directory, and has no offset")));
    }
    let mut listing = Listing::default();
    let failed = |e| Error::io("cannot read the directory", e).at_path(path);
    for entry in fs::read_dir(path).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        let stem = name.strip_suffix(".chunk").filter(|stem| stem.len() == 8);
        let number = stem.and_then(|stem| u32::from_str_radix(stem, 16).ok());
        match number.filter(|number| name == format!("{number:08X}.chunk")) {
            Some(number) => listing.chunks.push(number),
            None if name.starts_with('.') && name.contains(".tmp-") => listing.temporaries.push(name),
            None => {}
        }
    }
    listing.chunks.sort_unstable();
    listing.temporaries.sort_unstable();
    Ok((SparseDir::unchecked(path).reader(), Layout::Sparse, listing))
}

/// Number of names to try for the old frame.
const ATTEMPTS: u32 = 10_000;

/// Replaces the frame at `path` by the one at `new`. The old one is renamed to `NAME.orig`, or a similar free name,
/// which is returned. At every moment each file exists under one of its names.
pub(crate) fn replace_keeping(path: &Path, new: &Path) -> Result<PathBuf> {
    let failed = |e| Error::io("cannot replace the frame", e).at_path(path);
    let target = fs::canonicalize(path).map_err(failed)?;
    let metadata = fs::metadata(&target).map_err(failed)?;
    if metadata.is_file() {
        let linked = first_free(&target, |kept| fs::hard_link(&target, kept));
        if let Ok(kept) = linked {
            fs::rename(new, &target).map_err(failed)?;
            sync_parent(&target).map_err(failed)?;
            return Ok(kept);
        }
    } else if let Some(exchanged) = rename::exchange(new, &target) {
        exchanged.map_err(failed)?;
        let kept = first_free(&target, |kept| rename::without_replacing(new, kept)).map_err(failed)?;
        sync_parent(&target).map_err(failed)?;
        return Ok(kept);
    }
    let kept = first_free(&target, |kept| rename::without_replacing(&target, kept)).map_err(failed)?;
    if let Err(error) = rename::without_replacing(new, &target) {
        let _ = rename::without_replacing(&kept, &target);
        return Err(failed(error));
    }
    sync_parent(&target).map_err(failed)?;
    Ok(kept)
}

/// Calls `give` with names beside `target` until one is free.
fn first_free(target: &Path, give: impl Fn(&Path) -> io::Result<()>) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or_else(|| io::Error::other("the path does not end with a name"))?;
    for n in 1..ATTEMPTS {
        let mut kept = name.to_os_string();
        kept.push(if n == 1 { ".orig".to_owned() } else { format!(".orig-{n}") });
        let kept = target.with_file_name(kept);
        match give(&kept) {
            Ok(()) => return Ok(kept),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// `NAME.repaired` beside a frame: the path of its repaired copy before the two exchange names.
pub(crate) fn beside(path: &Path) -> Result<PathBuf> {
    let failed = |e| Error::io("cannot repair the frame in its place", e).at_path(path);
    let target = fs::canonicalize(path).map_err(failed)?;
    let name =
        target.file_name().ok_or_else(|| failed(io::Error::other("the path does not end with a name")))?;
    let mut name = name.to_os_string();
    name.push(".repaired");
    Ok(target.with_file_name(name))
}
