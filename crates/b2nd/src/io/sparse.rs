//! A sparse frame: a directory with `chunks.b2frame` and a file for each chunk. All names are built here.

use super::FileId;
use super::Store;
use super::WriteStep;
use super::file;
use super::fresh::{self, Fresh};
use super::held::Held;
use crate::error::Error;
use crate::error::Part;
use crate::error::Result;
use std::fs;
use std::fs::File;
use std::io;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

/// The name of the frame itself in its directory.
pub(super) const FRAME_NAME: &str = "chunks.b2frame";

/// A sparse frame in a directory.
#[derive(Debug)]
pub(crate) struct SparseDir {
    path: PathBuf,
    write: bool,
    /// The directory itself, which holds the state that is open; where a system opens directories.
    held: Option<Held>,
    /// The temporary directory, before the first commit.
    fresh: Option<Fresh>,
}

impl SparseDir {
    /// Opens an existing directory.
    pub(crate) fn open(path: &Path, write: bool) -> Result<Self> {
        let store = SparseDir { path: path.to_path_buf(), write, held: Held::new(path), fresh: None };
        let frame = store.file_path(FileId::Frame);
        match fs::symlink_metadata(&frame) {
            Ok(metadata) => drop(super::open_regular(&frame, &metadata, write, false)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let reason = format!("not a sparse frame: no {FRAME_NAME}");
                return Err(Error::format(Part::FrameHeader, None, reason).at_path(path));
            }
            Err(error) => return Err(Error::io("cannot open the frame", error).at_path(&frame)),
        }
        Ok(store)
    }
    /// An existing directory, for reading, whatever is in it.
    pub(super) fn unchecked(path: &Path) -> Self {
        SparseDir { path: path.to_path_buf(), write: false, fresh: None, held: Held::new(path) }
    }
    /// A new directory, under a temporary name until it is published.
    pub(crate) fn create(path: &Path, overwrite: bool) -> Result<Self> {
        let fresh = Fresh::directory(path, overwrite)?;
        let held = Held::new(fresh.temporary());
        Ok(SparseDir { path: path.to_path_buf(), write: true, held, fresh: Some(fresh) })
    }
    fn directory(&self) -> &Path {
        self.fresh.as_ref().map_or(&self.path, Fresh::temporary)
    }
    fn file_path(&self, file: FileId) -> PathBuf {
        self.directory().join(name(file))
    }
    /// Opens a file of the frame by its path; a link is not followed, it may lead anywhere.
    fn open_file(&self, file: FileId, write: bool) -> Result<File> {
        let path = self.file_path(file);
        let metadata = fs::symlink_metadata(&path).map_err(|e| self.failed(file, e))?;
        super::open_regular(&path, &metadata, write, false)
    }
    /// Opens a file of the frame for reading: in the directory that was opened, whatever its path leads to by now.
    fn open_to_read(&self, file: FileId) -> Result<File> {
        let Some(held) = &self.held else { return self.open_file(file, false) };
        let name = name(file);
        let failed = |error| self.failed(file, error);
        if let (_, false) = held.look(&name).map_err(failed)? {
            // Before it is opened: that alone can do something to a device.
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
    /// but where the directory was replaced as a whole: that took its files with it.
    fn failed(&self, file: FileId, error: io::Error) -> Error {
        let path = &self.file_path(file);
        if error.kind() != io::ErrorKind::NotFound {
            return Error::io("cannot open the file", error).at_path(path);
        }
        if self.held.as_ref().is_some_and(|held| !held.is_at(self.directory()).unwrap_or(false)) {
            return Error::changed("replaced it").at_path(&self.path);
        }
        match file {
            FileId::Chunk(_) => Error::format(Part::ChunkFile, None, "the file is missing").at_path(path),
            FileId::Frame => Error::io("cannot open the file", error).at_path(path),
        }
    }
    fn put(&self, file: FileId, bytes: &[u8], sync: bool) -> Result<()> {
        let path = self.file_path(file);
        let failed = |e| Error::io("cannot write the file", e).at_path(&path);
        let (fresh, mut temporary) = Fresh::file(&path, true)?;
        temporary.write_all(bytes).map_err(failed)?;
        if sync {
            // What it refers to, and itself, before it takes the place of the old one.
            temporary.sync_data().map_err(failed)?;
            fresh::sync_directory(self.directory()).map_err(failed)?;
        }
        drop(temporary);
        match file {
            // Another writer may have used the number: its chunk is not replaced. Only the empty mark of one that is gone is.
            FileId::Chunk(_) if !bytes.is_empty() => fresh.rename_new(),
            _ => fresh.rename(),
        }
    }
}

/// The number that the name of a chunk file says.
fn number(name: &std::ffi::OsStr) -> Option<u32> {
    let stem = name.to_str()?.strip_suffix(".chunk")?;
    if stem.len() == 8 { u32::from_str_radix(stem, 16).ok() } else { None }
}

/// The name of a file of the frame.
fn name(file: FileId) -> String {
    match file {
        FileId::Frame => FRAME_NAME.to_owned(),
        FileId::Chunk(n) => format!("{n:08X}.chunk"),
    }
}

impl Store for SparseDir {
    fn len(&self, file: FileId) -> Result<u64> {
        let len = match &self.held {
            Some(held) => held.look(&name(file)).map(|(len, _)| len),
            None => fs::symlink_metadata(self.file_path(file)).map(|metadata| metadata.len()),
        };
        len.map_err(|e| self.failed(file, e))
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        let opened = self.open_to_read(file)?;
        file::read_once(opened, offset, buf)
            .map_err(|e| Error::io("cannot read the file", e).at_path(&self.file_path(file)))
    }
    fn slice(&self, _file: FileId) -> Option<&[u8]> {
        None
    }
    fn apply(&mut self, step: &WriteStep<'_>) -> Result<()> {
        if !self.write {
            return Err(super::read_only(Some(&self.path)));
        }
        match step {
            WriteStep::Put { file, bytes, sync } => self.put(*file, bytes, *sync),
            WriteStep::Sync { file: FileId::Frame } => fresh::sync_directory(self.directory())
                .map_err(|e| Error::io("cannot sync the frame", e).at_path(&self.path)),
            WriteStep::Sync { file } => {
                let path = self.file_path(*file);
                let opened = self.open_file(*file, true)?;
                opened.sync_data().map_err(|e| Error::io("cannot sync the file", e).at_path(&path))
            }
            WriteStep::Publish { sync } => self.fresh.take().map_or(Ok(()), |fresh| fresh.publish(*sync)),
            WriteStep::Remove { file: file @ FileId::Chunk(_) } => {
                let path = self.file_path(*file);
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
        let failed = |e| Error::io("cannot read the directory", e).at_path(&self.path);
        let mut last = None;
        for entry in fs::read_dir(self.directory()).map_err(failed)? {
            last = last.max(number(&entry.map_err(failed)?.file_name()));
        }
        Ok(last)
    }
    fn chunk_files(&self) -> Result<Vec<u32>> {
        let failed = |e| Error::io("cannot read the directory", e).at_path(&self.path);
        let mut all = Vec::new();
        for entry in fs::read_dir(self.directory()).map_err(failed)? {
            all.try_reserve(1).map_err(|_| Error::out_of_memory("the numbers of the chunk files", 4))?;
            all.extend(number(&entry.map_err(failed)?.file_name()));
        }
        Ok(all)
    }
    fn is_alone(&self) -> bool {
        self.held.as_ref().is_some_and(Held::is_alone)
    }
    fn check_place(&self) -> Result<()> {
        match self.held.as_ref().map_or(Ok(true), |held| held.is_at(self.directory())) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::changed("replaced it").at_path(&self.path)),
            Err(error) => Err(Error::io("cannot write the frame", error).at_path(&self.path)),
        }
    }
    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }
}
