//! A sparse frame: a directory with `chunks.b2frame` and a file for each chunk. All names are built here.

use super::file;
use super::file::Positioned;
use super::fresh::{self, FreshTarget};
use super::held::{self, HeldDirectory};
use super::pin;
use super::rights::Rights;
use super::{FileId, ReadStore, WriteStep, WriteStore};
use crate::error::Error;
use crate::error::Part;
use crate::error::Result;
use std::fs;
use std::fs::File;
use std::io;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

/// The name of the frame itself in its directory.
pub(super) const FRAME_NAME: &str = "chunks.b2frame";

/// The files of a sparse frame, for reading.
#[derive(Debug, Clone)]
struct SparseFiles {
    /// The path of the frame, for errors.
    path: PathBuf,
    /// The directory of its files, which is a temporary one before the first commit.
    directory: PathBuf,
    /// The directory itself, which holds the state that is open; where a system opens directories.
    held: Option<Arc<HeldDirectory>>,
    /// The frame file of the state that is open. Each commit puts another file at its name, so what is read from this one is of one
    /// state.
    frame: Option<Arc<SparseFrameFile>>,
}

/// Describes a folder that has no sparse frame, for errors.
fn folder_kind(path: &Path) -> &'static str {
    const ZARR: [&str; 4] = ["zarr.json", ".zarray", ".zgroup", ".zmetadata"];
    if ZARR.iter().any(|name| path.join(name).exists()) {
        return "a Zarr store";
    }
    "a folder without chunks.b2frame"
}

/// A sparse frame in a directory.
#[derive(Debug)]
pub(crate) struct SparseDir {
    files: SparseFiles,
    write: bool,
    /// Permissions of the frame that is written or replaced; none for a new one.
    rights: Option<Rights>,
    /// The temporary directory, before the first commit.
    fresh: Option<FreshTarget>,
}

/// An open frame file, and its stamp when it was opened.
#[derive(Debug)]
struct SparseFrameFile {
    file: Positioned,
    stamp: Option<Stamp>,
}

impl SparseFrameFile {
    /// Where the system cannot compare open files, a writer opens the file at each read: it has to see a replaced one.
    fn keep(file: File, write: bool) -> Option<Self> {
        let stamp = file.metadata().ok().map(|metadata| Stamp::new(&metadata));
        (cfg!(unix) || !write).then(|| SparseFrameFile { file: Positioned::new(file), stamp })
    }
}

/// Metadata that distinguishes states of a frame file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    file: u64,
    len: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn new(metadata: &fs::Metadata) -> Self {
        #[cfg(unix)]
        let file = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let file = 0;
        Stamp { file, len: metadata.len(), modified: metadata.modified().ok() }
    }
    /// The stamp of the sparse frame at `path`; `None` if there is none.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        fs::symlink_metadata(path.join(FRAME_NAME)).ok().map(|metadata| Stamp::new(&metadata))
    }
}

impl SparseFiles {
    fn new(path: &Path, directory: &Path) -> Self {
        let held = HeldDirectory::new(directory).map(Arc::new);
        SparseFiles { path: path.to_path_buf(), directory: directory.to_path_buf(), held, frame: None }
    }
    fn file_path(&self, file: FileId) -> PathBuf {
        self.directory.join(file.name())
    }
    /// Opens a file of the frame by its path, without following links.
    fn open_file(&self, file: FileId, write: bool) -> Result<File> {
        let path = self.file_path(file);
        let metadata = fs::symlink_metadata(&path).map_err(|e| self.failed(file, e))?;
        super::open_regular(&path, &metadata, write, false)
    }
    /// Opens a file of the frame for reading: in the directory that was opened, whatever its path leads to by now.
    fn open_to_read(&self, file: FileId) -> Result<File> {
        let Some(held) = &self.held else { return self.open_file(file, false) };
        let name = file.name();
        let failed = |error| self.failed(file, error);
        if let (_, false) = held.look(&name).map_err(failed)? {
            // Checked before opening, because opening a device can have effects.
            return Err(self.not_regular(file));
        }
        let opened = held.open(&name).map_err(failed)?;
        match opened.metadata() {
            Ok(metadata) if metadata.is_file() => Ok(opened),
            _ => Err(self.not_regular(file)),
        }
    }
    fn not_regular(&self, file: FileId) -> Error {
        super::not_regular(&self.file_path(file))
    }
    /// The error where a file cannot be opened. A chunk file that the frame names and that is not there is a fault of the frame,
    /// unless another writer has replaced the directory or the frame file since: that may have taken it away.
    fn failed(&self, file: FileId, error: io::Error) -> Error {
        let path = &self.file_path(file);
        if error.kind() != io::ErrorKind::NotFound {
            return Error::io("cannot open the file", error).at_path(path);
        }
        if let Some(changed) = self.changed() {
            return changed;
        }
        match file {
            FileId::Chunk(_) => Error::format(Part::ChunkFile, None, "the file is missing").at_path(path),
            FileId::Frame => Error::io("cannot open the file", error).at_path(path),
        }
    }
    /// The error where the state that is open is no longer the one at the path.
    fn changed(&self) -> Option<Error> {
        if self.held.as_ref().is_some_and(|held| !held.is_at(&self.directory).unwrap_or(false)) {
            return Some(Error::changed("replaced it").at_path(&self.path));
        }
        // C-Blosc2 changes the file in its place.
        let known = self.frame.as_ref().and_then(|frame| frame.stamp)?;
        let same = Stamp::of(&self.directory) == Some(known);
        (!same).then(|| Error::changed("changed it").at_path(&self.path))
    }
}

impl SparseDir {
    /// Opens an existing directory.
    pub(crate) fn open(path: &Path, write: bool) -> Result<Self> {
        let mut store = Self::at(path, write);
        let frame = store.files.file_path(FileId::Frame);
        match fs::symlink_metadata(&frame) {
            // Checks that it can be written before the first commit.
            Ok(metadata) if write => drop(super::open_regular(&frame, &metadata, true, false)?),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::not_a_frame(folder_kind(path)).at_path(path));
            }
            Err(error) => return Err(Error::io("cannot open the frame", error).at_path(&frame)),
        }
        let opened = store.files.open_to_read(FileId::Frame)?;
        store.files.frame = SparseFrameFile::keep(opened, write).map(Arc::new);
        Ok(store)
    }
    /// An existing directory, for reading, whatever is in it.
    pub(super) fn unchecked(path: &Path) -> Self {
        let mut store = Self::at(path, false);
        let opened = store.files.open_to_read(FileId::Frame);
        store.files.frame = opened.ok().and_then(|file| SparseFrameFile::keep(file, false)).map(Arc::new);
        store
    }
    fn at(path: &Path, write: bool) -> Self {
        let rights = fs::canonicalize(path).ok().filter(|_| write).and_then(|path| Rights::of(&path));
        SparseDir { files: SparseFiles::new(path, path), write, rights, fresh: None }
    }
    /// A new directory for `path`, which leads to `target`; under a temporary name until it is published.
    pub(super) fn create(
        path: &Path,
        target: &Path,
        overwrite: bool,
        rights: Option<Rights>,
    ) -> Result<Self> {
        let fresh = FreshTarget::directory(target, overwrite, rights.as_ref())?;
        let files = SparseFiles::new(path, fresh.temporary());
        Ok(SparseDir { files, write: true, rights, fresh: Some(fresh) })
    }
    fn put(&mut self, file: FileId, bytes: &[u8], sync: bool) -> Result<()> {
        let path = self.files.file_path(file);
        let failed = |e| Error::io("cannot write the file", e).at_path(&path);
        let (fresh, mut temporary) = FreshTarget::file(&path, true, self.rights.as_ref())?;
        // The lock shows that the directory is in use and not left over.
        pin::hold(&temporary);
        temporary.write_all(bytes).map_err(failed)?;
        if sync {
            // Syncs the chunk files and the frame file before it replaces the old one.
            temporary.sync_data().map_err(failed)?;
            fresh::sync_directory(&self.files.directory).map_err(failed)?;
        }
        match file {
            // Another writer may have used the number: its chunk is not replaced, only an empty mark of a removed chunk.
            FileId::Chunk(_) if !bytes.is_empty() => fresh.rename_new(),
            FileId::Chunk(_) => fresh.rename(),
            FileId::Frame => {
                fresh.rename()?;
                let _ = temporary.unlock();
                self.files.frame = SparseFrameFile::keep(temporary, self.write).map(Arc::new);
                Ok(())
            }
        }
    }
}

/// The number in the name of a chunk file.
fn number(name: &std::ffi::OsStr) -> Option<u32> {
    let stem = name.to_str()?.strip_suffix(".chunk")?;
    if stem.len() == 8 { u32::from_str_radix(stem, 16).ok() } else { None }
}

impl FileId {
    /// The name of the file in the directory of a sparse frame.
    ///
    /// ```
    /// use b2nd::io::FileId;
    /// assert_eq!(FileId::Frame.name(), "chunks.b2frame");
    /// assert_eq!(FileId::Chunk(26).name(), "0000001A.chunk");
    /// ```
    pub fn name(self) -> String {
        match self {
            FileId::Frame => FRAME_NAME.to_owned(),
            FileId::Chunk(n) => format!("{n:08X}.chunk"),
        }
    }
}

impl ReadStore for SparseFiles {
    fn len(&self, file: FileId) -> Result<u64> {
        if let (FileId::Frame, Some(frame)) = (file, &self.frame) {
            return frame.file.len().map_err(|e| self.failed(file, e));
        }
        let len = match &self.held {
            Some(held) => held.look(&file.name()).map(|(len, _)| len),
            None => fs::symlink_metadata(self.file_path(file)).map(|metadata| metadata.len()),
        };
        match len.map_err(|e| self.failed(file, e))? {
            // An empty file marks a number that was in use.
            0 => self.changed().map_or(Ok(0), Err),
            len => Ok(len),
        }
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        let read = match (file, &self.frame) {
            (FileId::Frame, Some(frame)) => frame.file.read_exact_at(buf, offset),
            _ => file::read_once(self.open_to_read(file)?, offset, buf),
        };
        read.map_err(|e| Error::io("cannot read the file", e).at_path(&self.file_path(file)))
    }
    fn chunk_files(&self) -> Result<Vec<u32>> {
        let failed = |e| Error::io("cannot read the directory", e).at_path(&self.path);
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(failed)? {
            all.try_reserve(1).map_err(|_| Error::out_of_memory("the numbers of the chunk files", 4))?;
            all.extend(number(&entry.map_err(failed)?.file_name()));
        }
        Ok(all)
    }
    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }
}

impl ReadStore for SparseDir {
    fn len(&self, file: FileId) -> Result<u64> {
        self.files.len(file)
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.files.read_at(file, offset, buf)
    }
    fn chunk_files(&self) -> Result<Vec<u32>> {
        self.files.chunk_files()
    }
    fn path(&self) -> Option<&Path> {
        Some(&self.files.path)
    }
}

impl WriteStore for SparseDir {
    fn reader(&self) -> Arc<dyn ReadStore> {
        Arc::new(self.files.clone())
    }
    fn apply(&mut self, step: &WriteStep<'_>) -> Result<()> {
        if !self.write {
            return Err(super::read_only(Some(&self.files.path)));
        }
        match step {
            WriteStep::Put { file, bytes, sync } => self.put(*file, bytes, *sync),
            WriteStep::Sync { file: FileId::Frame } => fresh::sync_directory(&self.files.directory)
                .map_err(|e| Error::io("cannot sync the frame", e).at_path(&self.files.path)),
            WriteStep::Sync { file } => {
                let path = self.files.file_path(*file);
                // Its permissions may forbid writing now.
                let opened = self.files.open_file(*file, !cfg!(unix))?;
                opened.sync_data().map_err(|e| Error::io("cannot sync the file", e).at_path(&path))
            }
            WriteStep::Publish { sync } => {
                self.fresh.take().map_or(Ok(()), |fresh| fresh.publish(*sync))?;
                self.files.directory.clone_from(&self.files.path);
                Ok(())
            }
            WriteStep::Remove { file: file @ FileId::Chunk(_) } => {
                let path = self.files.file_path(*file);
                match fs::remove_file(&path) {
                    Err(e) if e.kind() != io::ErrorKind::NotFound => {
                        Err(Error::io("cannot remove the file", e).at_path(&path))
                    }
                    _ => Ok(()),
                }
            }
            WriteStep::WriteAt { file, .. } | WriteStep::SetLen { file, .. } | WriteStep::Remove { file } => {
                Err(super::no_such_file(*file))
            }
        }
    }
    fn last_chunk(&self) -> Result<Option<u32>> {
        let failed = |e| Error::io("cannot read the directory", e).at_path(&self.files.path);
        let mut last = None;
        for entry in fs::read_dir(&self.files.directory).map_err(failed)? {
            last = last.max(number(&entry.map_err(failed)?.file_name()));
        }
        Ok(last)
    }
    /// Snapshots of this process share the directory; the handle itself refers to it twice.
    fn is_alone(&self) -> bool {
        self.files.held.as_ref().is_some_and(|held| Arc::strong_count(held) <= 2 && held.is_alone())
    }
    fn check_place(&self) -> Result<()> {
        let failed = |e| Error::io("cannot write the frame", e).at_path(&self.files.path);
        let changed = |what| Err(Error::changed(what).at_path(&self.files.path));
        if !self
            .files
            .held
            .as_ref()
            .map_or(Ok(true), |held| held.is_at(&self.files.directory))
            .map_err(failed)?
        {
            return changed("replaced it");
        }
        let frame = self.files.frame.as_ref();
        let is_there =
            frame.map(|frame| held::is_at(frame.file.file(), &self.files.file_path(FileId::Frame)));
        if is_there.transpose().map_err(failed)? == Some(false) { changed("changed it") } else { Ok(()) }
    }
}
