//! Permissions and owner of what is replaced: the new file or directory gets them before any data is in it.

use std::fs;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The most links in a row that are followed, as in Linux.
const MOST_LINKS: usize = 40;

/// Follows all links at the end of a path; the target need not exist.
///
/// # Errors
/// The system's error, if a link cannot be read or links form a loop.
pub(super) fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        if !fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink()) {
            return Ok(path);
        }
        let to = fs::read_link(&path)?;
        path = path.parent().map_or_else(|| to.clone(), |parent| parent.join(&to));
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Permissions and owner of a frame: those of its file, or of its directory and the files in it.
#[derive(Debug, Clone)]
pub(super) struct Rights {
    file: fs::Metadata,
    directory: Option<fs::Metadata>,
}

impl Rights {
    /// Permissions and owner of the frame at `path`, which is no link; `None` if there is none.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(path).ok()?;
        if found.is_file() {
            return Some(Rights { file: found, directory: None });
        }
        let file = fs::symlink_metadata(path.join(super::sparse::FRAME_NAME)).ok();
        let file = file.filter(|file| found.is_dir() && file.is_file())?;
        Some(Rights { file, directory: Some(found) })
    }

    /// Sets them on a file, as far as the system allows.
    pub(super) fn give(&self, file: &File) {
        // The data matters more: permissions that cannot be set are no error.
        let _ = system::give(file, &self.file, false);
    }

    /// Sets them on a directory, as far as the system allows. Permissions of a file get the right to search where
    /// they allow reading.
    pub(super) fn give_directory(&self, directory: &Path) {
        let Ok(opened) = File::open(directory) else { return };
        let _ = match &self.directory {
            Some(old) => system::give(&opened, old, false),
            None => system::give(&opened, &self.file, true),
        };
    }
}

/// Options for a file that only its owner may open until its permissions are set.
pub(super) fn closed(options: &mut fs::OpenOptions) -> &mut fs::OpenOptions {
    system::closed(options)
}

/// Makes a directory that only its owner may open until its permissions are set.
pub(super) fn make_closed_directory(path: &Path) -> io::Result<()> {
    system::make_closed_directory(path)
}

#[cfg(unix)]
mod system {
    use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
    use std::io;
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
    use std::path::Path;

    pub(super) fn give(file: &File, from: &Metadata, search: bool) -> io::Result<()> {
        let (own, group) = (file.metadata()?, from.gid());
        let mut mode = from.mode() & 0o777;
        if search {
            mode |= (mode & 0o444) >> 2;
        }
        if (own.uid(), own.gid()) != (from.uid(), group)
            && fchown(file, Some(from.uid()), Some(group)).is_err()
            && own.gid() != group
            && fchown(file, None, Some(group)).is_err()
        {
            // The group differs from the old one, so it gets the permissions of all others.
            mode &= !0o070 | (mode & 0o007) << 3;
        }
        if own.mode() & 0o777 == mode { Ok(()) } else { file.set_permissions(Permissions::from_mode(mode)) }
    }
    pub(super) fn closed(options: &mut OpenOptions) -> &mut OpenOptions {
        options.mode(0o600)
    }
    pub(super) fn make_closed_directory(path: &Path) -> io::Result<()> {
        DirBuilder::new().mode(0o700).create(path)
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::{self, File, Metadata, OpenOptions};
    use std::io;
    use std::path::Path;

    pub(super) fn give(file: &File, from: &Metadata, _search: bool) -> io::Result<()> {
        if from.is_file() { file.set_permissions(from.permissions()) } else { Ok(()) }
    }
    pub(super) fn closed(options: &mut OpenOptions) -> &mut OpenOptions {
        options
    }
    pub(super) fn make_closed_directory(path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }
}
