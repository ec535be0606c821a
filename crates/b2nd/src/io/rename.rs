//! Renames that replace nothing, or trade places: in one step where the system has such a call.

use std::fs;
use std::io;
use std::path::Path;

/// Renames `from` to `to`; an error ([`io::ErrorKind::AlreadyExists`]) if `to` exists.
///
/// If the system cannot do that in one step, a file gets a second name before it loses the first, which is equivalent. For
/// a directory the target is only checked before the rename.
pub(super) fn without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    match system::without_replacing(from, to) {
        Some(renamed) => renamed,
        None => slowly(from, to),
    }
}

fn slowly(from: &Path, to: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(from)?.is_dir() {
        match fs::hard_link(from, to) {
            Ok(()) => return fs::remove_file(from),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // Not all file systems have hard links.
            Err(_) => {}
        }
    }
    match fs::symlink_metadata(to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(from, to),
        Err(error) => Err(error),
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
    }
}

/// Exchanges two names in one step; `None` if the system or the file system cannot.
pub(super) fn exchange(one: &Path, other: &Path) -> Option<io::Result<()>> {
    system::exchange(one, other)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod system {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    use std::io;
    use std::path::Path;

    fn rename(from: &Path, to: &Path, flags: RenameFlags) -> Option<io::Result<()>> {
        match renameat_with(CWD, from, CWD, to, flags) {
            // Errors of an old kernel, or of a file system that does not know the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP | Errno::PERM) => None,
            done => Some(done.map_err(io::Error::from)),
        }
    }
    pub(super) fn without_replacing(from: &Path, to: &Path) -> Option<io::Result<()>> {
        rename(from, to, RenameFlags::NOREPLACE)
    }
    pub(super) fn exchange(one: &Path, other: &Path) -> Option<io::Result<()>> {
        rename(one, other, RenameFlags::EXCHANGE)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod system {
    use std::io;
    use std::path::Path;

    pub(super) fn without_replacing(_from: &Path, _to: &Path) -> Option<io::Result<()>> {
        None
    }
    pub(super) fn exchange(_one: &Path, _other: &Path) -> Option<io::Result<()>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_replaced_either_way() {
        let base = std::env::temp_dir().join(format!("b2nd-rename-{}", std::process::id()));
        for (n, rename) in [without_replacing, slowly].into_iter().enumerate() {
            let _ = fs::remove_dir_all(&base);
            fs::create_dir_all(base.join("folder")).unwrap();
            fs::create_dir_all(base.join("other")).unwrap();
            fs::write(base.join("file"), b"new").unwrap();
            fs::write(base.join("taken"), b"old").unwrap();
            for (from, to) in
                [("file", "taken"), ("file", "folder"), ("folder", "other"), ("folder", "taken")]
            {
                let error = rename(&base.join(from), &base.join(to)).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{n}: {from} to {to}");
            }
            assert_eq!(fs::read(base.join("taken")).unwrap(), b"old");
            rename(&base.join("file"), &base.join("free")).unwrap();
            rename(&base.join("folder"), &base.join("room")).unwrap();
            assert_eq!(fs::read(base.join("free")).unwrap(), b"new");
            assert!(
                base.join("room").is_dir() && !base.join("folder").exists() && !base.join("file").exists()
            );
        }
        if let Some(done) = exchange(&base.join("free"), &base.join("room")) {
            done.unwrap();
            assert!(base.join("free").is_dir());
            assert_eq!(fs::read(base.join("room")).unwrap(), b"new");
        }
        fs::remove_dir_all(&base).unwrap();
    }
}
