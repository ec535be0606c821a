//! Files that are made: never over an existing one unasked, and never half of one under the final name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};
use crate::far;
use crate::leftover;
use crate::shown::Shown as _;
pub(crate) use crate::talk::{Talk, detail, note, set_talk, talks, tell};

/// Whether a path means standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Refuses standard input and output for a frame.
pub(crate) fn check_named(path: &Path) -> Result<()> {
    if is_standard(path) {
        return Err(Failure::usage(
            "-: arrays need random access, so standard input and output cannot be used",
            "give the name of a file (`./-` for a file named `-`); `import` reads a stream, `export` writes one",
        ));
    }
    Ok(())
}

/// Refuses an output that exists, unless `force` says otherwise and it is something that may be replaced.
pub(crate) fn check_free(path: &Path, force: bool) -> Result<()> {
    far::check_written(path)?;
    // A link is followed, as the library does; one that leads nowhere is a link.
    let kind = match fs::metadata(path).or_else(|_| fs::symlink_metadata(path)) {
        Ok(meta) => meta.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            check_folder(path)?;
            leftover::remove(path);
            return Ok(());
        }
        Err(error) => return Err(Failure::io("look at the output", path, &error)),
    };
    if !force {
        return Err(exists(path));
    }
    leftover::remove(path);
    if kind.is_dir() && !is_sparse_frame(path) {
        let message = format!("{}: is a folder, and not of a sparse array", path.shown());
        return Err(Failure::usage(
            message,
            "--force replaces arrays and files, nothing else: choose another name",
        ));
    }
    if !(kind.is_dir() || kind.is_file() || kind.is_symlink()) {
        let message = format!("{}: is neither a file nor a folder", path.shown());
        return Err(Failure::usage(message, "write to `-` for standard output, or choose another name"));
    }
    Ok(())
}

fn exists(path: &Path) -> Failure {
    let message = format!("{}: exists already", path.shown());
    Failure::usage(message, "give --force to replace it, or choose another name")
}

fn check_folder(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    if folder.is_dir() {
        return Ok(());
    }
    let missing = io::Error::new(io::ErrorKind::NotFound, format!("there is no folder {}", folder.shown()));
    Err(Failure::io("make the output", path, &missing)
        .with_hint("make the folder first, or check the spelling"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether a folder holds a sparse frame and nothing else.
fn is_sparse_frame(path: &Path) -> bool {
    let Ok(entries) = fs::read_dir(path) else { return false };
    let mut frame = false;
    for entry in entries {
        let Ok(entry) = entry else { return false };
        let name = entry.file_name();
        let name = name.to_string_lossy();
        frame |= name == "chunks.b2frame";
        let temporary = name.starts_with('.') && name.contains(".tmp-");
        if name != "chunks.b2frame" && name != ".b2lock" && !name.ends_with(".chunk") && !temporary {
            return false;
        }
    }
    frame
}

/// Refuses to write an output over (or inside) the input it is made from.
pub(crate) fn check_apart(input: &Path, output: &Path) -> Result<()> {
    let Ok(from) = input.canonicalize() else { return Ok(()) };
    let to = output.canonicalize().ok();
    let inside =
        folder_of(output).canonicalize().is_ok_and(|folder| from.is_dir() && folder.starts_with(&from));
    if to.as_ref() == Some(&from) || inside || to.is_some_and(|to| same_file(&from, &to)) {
        let message = format!("{}: is the input itself", output.shown());
        return Err(Failure::usage(
            message,
            "write to another name, and rename it afterwards to replace the input",
        ));
    }
    Ok(())
}

#[cfg(unix)]
fn same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path: &Path| fs::metadata(path).map(|meta| (meta.dev(), meta.ino()));
    matches!((id(a), id(b)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(not(unix))]
fn same_file(_: &Path, _: &Path) -> bool {
    false
}

/// Where a path leads after all links at its end, whether something is there or not.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        if !fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_symlink()) {
            return Ok(path);
        }
        path = folder_of(&path).join(fs::read_link(&path)?);
    }
    Err(io::Error::other("too many symbolic links"))
}

/// How many links in a row are followed.
const MOST_LINKS: usize = 40;

/// Lets only the owner open a file that is made.
#[cfg(unix)]
fn close(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn close(_: &mut OpenOptions) {}

/// Gives a file the permissions and the owner of another, as far as the system lets us.
#[cfg(unix)]
fn give_rights(file: &File, old: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let Ok(own) = file.metadata() else { return };
    let mut mode = old.mode() & 0o777;
    if (own.uid(), own.gid()) != (old.uid(), old.gid())
        && fchown(file, Some(old.uid()), Some(old.gid())).is_err()
        && own.gid() != old.gid()
        && fchown(file, None, Some(old.gid())).is_err()
    {
        // What the old group was allowed is not for ours, but for what all others are.
        mode &= !0o070 | (mode & 0o007) << 3;
    }
    let _ = file.set_permissions(fs::Permissions::from_mode(mode));
}

#[cfg(not(unix))]
fn give_rights(file: &File, old: &fs::Metadata) {
    let _ = file.set_permissions(old.permissions());
}

/// The path of a temporary file beside `path`.
fn beside(path: &Path, what: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".tmp-{}-{what}", std::process::id()));
    path.with_file_name(name)
}

/// A file that goes away when it is dropped, unless it is kept.
#[derive(Debug)]
pub(crate) struct Draft {
    file: File,
    path: PathBuf,
    target: PathBuf,
    kept: bool,
}

impl Draft {
    /// A file beside `target`, for reading and writing.
    pub(crate) fn new(target: &Path, what: &str) -> Result<Self> {
        let failed = |path: &Path, error: &io::Error| Failure::io("make the file", path, error);
        // A link stays a link, and what is replaced keeps its permissions and owner.
        let target = follow(target).map_err(|error| failed(target, &error))?;
        let replaced = fs::metadata(&target).ok().filter(fs::Metadata::is_file);
        let path = beside(&target, what);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        if replaced.is_some() {
            close(&mut options);
        }
        let file = options.open(&path).map_err(|error| failed(&path, &error))?;
        // The lock shows other processes that the file is in use.
        let _ = file.try_lock_shared();
        if let Some(old) = replaced {
            give_rights(&file, &old);
        }
        Ok(Draft { file, path, target, kept: false })
    }

    /// The file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Writes `bytes` at `offset`.
    pub(crate) fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let file = &mut self.file;
        file.seek(SeekFrom::Start(offset))
            .and_then(|_| file.write_all(bytes))
            .map_err(|error| Failure::io("write", &self.target, &error))
    }

    /// Gives the file its final name, replacing an existing one only with `force`.
    pub(crate) fn keep(mut self, force: bool) -> Result<()> {
        let failed = |error: &io::Error| Failure::io("finish the file", &self.target, error);
        if force {
            // What is replaced must not be lost to a crash before the new bytes are on the disk.
            self.file.sync_data().map_err(|error| failed(&error))?;
        } else {
            match fs::hard_link(&self.path, &self.target) {
                // The name is ours; the other one goes when this is dropped.
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return Err(exists(&self.target));
                }
                // Not every file system has links: then a look is all there is.
                Err(_) if fs::symlink_metadata(&self.target).is_ok() => return Err(exists(&self.target)),
                Err(_) => {}
            }
        }
        fs::rename(&self.path, &self.target).map_err(|error| failed(&error))?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.kept {
            // Nothing can be done about a file that stays; its name says what it is.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes a small file whole.
pub(crate) fn write_file(path: &Path, bytes: &[u8], force: bool) -> Result<()> {
    let mut draft = Draft::new(path, "out")?;
    draft.write_at(0, bytes)?;
    draft.keep(force)
}

/// Refuses an output that is the input, that exists, or that is a terminal; the last two unless `force`.
pub(crate) fn check_output(input: &Path, output: &Path, force: bool) -> Result<()> {
    if !is_standard(output) {
        check_apart(input, output)?;
        check_free(output, force)?;
    }
    check_terminal(output, force)
}

/// Refuses binary data on a terminal, which would be left with unreadable signs and settings; `force` allows it.
fn check_terminal(path: &Path, force: bool) -> Result<()> {
    if is_standard(path) && !force && io::stdout().is_terminal() {
        return Err(Failure::usage(
            "standard output is a terminal, and the data is binary",
            "send it to a file (`> FILE`) or to another program (`| PROGRAM`); --force writes it anyway",
        ));
    }
    Ok(())
}

/// Writes a line about what was done to standard output, unless the user wants quiet.
pub(crate) fn summary(line: &str) -> Result<()> {
    if talks(Talk::Normal) { print(&format!("{line}\n")) } else { Ok(()) }
}

/// Writes to standard output, to the end.
pub(crate) fn print(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

/// Writes bytes to standard output, to the end.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| Failure::stdout(&error))
}
