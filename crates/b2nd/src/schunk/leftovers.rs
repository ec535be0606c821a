//! Files that killed writers have left beside a frame.

use crate::error::Result;
use crate::io;
use std::path::{Path, PathBuf};

/// The temporary files and owner locks of processes that ended in the middle of writing the frame at `path`.
///
/// Only processes of this machine count, and only files that nobody has locked. Nothing is changed, and nothing of it hinders a
/// reader or the next writer. There need not be a frame at `path`.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("b2nd-doc-left-{}.b2nd", std::process::id()));
/// assert!(b2nd::schunk::leftovers(&path)?.is_empty());
/// # Ok::<(), b2nd::Error>(())
/// ```
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the folder cannot be read.
pub fn leftovers(path: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
    io::leftovers::find(path.as_ref())
}

/// Removes what [`leftovers`] finds, holding the owner lock of the frame, and returns the removed paths.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("b2nd-doc-remove-left-{}.b2nd", std::process::id()));
/// let removed = b2nd::schunk::remove_leftovers(&path)?;
/// assert!(removed.is_empty());
/// # Ok::<(), b2nd::Error>(())
/// ```
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the folder cannot be read or written; [`Error::Locked`](crate::Error::Locked) where a
/// writer has the frame. Nothing is removed then.
pub fn remove_leftovers(path: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
    io::leftovers::remove(path.as_ref())
}
