//! A store on the disk of the testkit: it does what the stores of files and directories do, call by call.

use b2nd::io::{FileId, ReadStore, WriteStep, WriteStore};
use b2nd::{Error, Layout, Result};
use b2nd_testkit::disk::Disk;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// The name of a contiguous frame.
pub(crate) const NAME: &str = "a";
/// The name of the frame file of a sparse frame.
pub(crate) const FRAME: &str = "chunks.b2frame";

/// The files of one frame on a disk.
#[derive(Debug, Clone)]
pub(crate) struct DiskStore {
    disk: Arc<Mutex<Disk>>,
    layout: Layout,
    /// Where a contiguous frame starts in its file.
    base: usize,
    /// Contiguous: the number of the file, which it keeps when another takes its name.
    file: usize,
    /// Contiguous: its name, before it is published.
    temporary: Option<String>,
}

fn failed(what: &str) -> Error {
    Error::Io {
        action: "cannot use the disk of a test",
        path: None,
        source: io::Error::other(what.to_owned()),
    }
}

fn chunk_name(number: u32) -> String {
    format!("{number:08X}.chunk")
}

impl DiskStore {
    /// The frame that is on this disk, or a place for one.
    pub(crate) fn new(disk: &Arc<Mutex<Disk>>, layout: Layout, base: usize) -> Self {
        let mut locked = disk.lock().unwrap();
        let file = locked
            .find(NAME)
            .unwrap_or_else(|| if layout == Layout::Contiguous { locked.create(NAME) } else { 0 });
        drop(locked);
        DiskStore { disk: Arc::clone(disk), layout, base, file, temporary: None }
    }
    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap()
    }
    /// The number of a file, and where the frame starts in it.
    fn place(&self, disk: &Disk, file: FileId) -> Result<(usize, usize)> {
        let found = match (self.layout, file) {
            (Layout::Contiguous, FileId::Frame) => return Ok((self.file, self.base)),
            (Layout::Contiguous, FileId::Chunk(_)) => None,
            (Layout::Sparse, FileId::Frame) => disk.find(FRAME),
            (Layout::Sparse, FileId::Chunk(n)) => disk.find(&chunk_name(n)),
        };
        found.map(|file| (file, 0)).ok_or_else(|| failed("no such file"))
    }
    /// A whole file under a temporary name, then renamed.
    fn put(&mut self, file: FileId, bytes: &[u8], sync: bool) {
        let shared = Arc::clone(&self.disk);
        let mut disk = shared.lock().unwrap();
        if self.layout == Layout::Contiguous && self.temporary.is_some() {
            disk.set_len(self.file, self.base);
            return disk.write(self.file, self.base, bytes);
        }
        let name = match (self.layout, file) {
            (Layout::Contiguous, _) => NAME.to_owned(),
            (Layout::Sparse, FileId::Frame) => FRAME.to_owned(),
            (Layout::Sparse, FileId::Chunk(n)) => chunk_name(n),
        };
        let temporary = disk.temporary(&name);
        let new = disk.create(&temporary);
        if self.layout == Layout::Contiguous {
            let before = disk.content(self.file)[..self.base].to_vec();
            disk.write(new, 0, &before);
            self.file = new;
        }
        disk.write(new, self.base, bytes);
        if sync {
            disk.sync(new);
        }
        // A directory is waited for before the name (the chunk files), a lone file after it.
        if sync && self.layout == Layout::Sparse {
            disk.sync_names();
        }
        disk.rename(&temporary, &name);
        if sync && self.layout == Layout::Contiguous {
            disk.sync_names();
        }
    }
}

impl ReadStore for DiskStore {
    fn len(&self, file: FileId) -> Result<u64> {
        let disk = self.disk();
        let (file, base) = self.place(&disk, file)?;
        Ok(disk.content(file).len().saturating_sub(base) as u64)
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        let disk = self.disk();
        let (file, base) = self.place(&disk, file)?;
        let found = disk.content(file).get(base + offset as usize..).and_then(|rest| rest.get(..buf.len()));
        buf.copy_from_slice(found.ok_or_else(|| failed("a read past the end"))?);
        Ok(())
    }
    fn start(&self) -> u64 {
        self.base as u64
    }
    fn chunk_files(&self) -> Result<Vec<u32>> {
        let disk = self.disk();
        let names = disk.names().filter(|_| self.layout == Layout::Sparse);
        Ok(names.filter_map(|name| u32::from_str_radix(name.strip_suffix(".chunk")?, 16).ok()).collect())
    }
}

impl WriteStore for DiskStore {
    fn reader(&self) -> Arc<dyn ReadStore> {
        Arc::new(self.clone())
    }
    fn apply(&mut self, step: &WriteStep<'_>) -> Result<()> {
        if let WriteStep::Put { file, bytes, sync } = step {
            self.put(*file, bytes, *sync);
            return Ok(());
        }
        let published = if let WriteStep::Publish { .. } = step { self.temporary.take() } else { None };
        let mut disk = self.disk();
        match step {
            WriteStep::WriteAt { file, offset, bytes } => {
                let (file, base) = self.place(&disk, *file)?;
                disk.write(file, base + *offset as usize, bytes);
            }
            WriteStep::SetLen { file, len } => {
                let (file, base) = self.place(&disk, *file)?;
                disk.set_len(file, base + *len as usize);
            }
            WriteStep::Sync { file: FileId::Frame } if self.layout == Layout::Sparse => disk.sync_names(),
            WriteStep::Sync { file } => {
                let (file, _) = self.place(&disk, *file)?;
                disk.sync(file);
            }
            WriteStep::Remove { file: FileId::Chunk(n) } if self.layout == Layout::Sparse => {
                disk.remove(&chunk_name(*n));
            }
            WriteStep::Publish { sync } => {
                if let Some(temporary) = published {
                    disk.rename(&temporary, NAME);
                    if *sync {
                        disk.sync_names();
                    }
                }
            }
            other => return Err(failed(&format!("no place for {other:?}"))),
        }
        Ok(())
    }
    fn successor(&self) -> Result<Option<Box<dyn WriteStore>>> {
        if self.layout == Layout::Sparse {
            return Ok(None);
        }
        let mut disk = self.disk();
        let temporary = disk.temporary(NAME);
        let file = disk.create(&temporary);
        let before = disk.content(self.file)[..self.base].to_vec();
        disk.write(file, 0, &before);
        drop(disk);
        Ok(Some(Box::new(DiskStore { file, temporary: Some(temporary), ..self.clone() })))
    }
    fn last_chunk(&self) -> Result<Option<u32>> {
        Ok(self.chunk_files()?.into_iter().max())
    }
    // Nobody reads an older state, so bytes and files of it are free as soon as a crash cannot bring it back.
    fn is_alone(&self) -> bool {
        true
    }
}
