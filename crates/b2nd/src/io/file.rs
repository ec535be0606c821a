//! A contiguous frame in a file: positioned reads and writes, no shared cursor.

use super::fresh::FreshTarget;
use super::held;
use super::pin;
use super::rights::Rights;
use super::{FileId, ReadStore, WriteStep, WriteStore};
use crate::error::Error;
use crate::error::Result;
use std::fs;
use std::fs::File;
use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

/// An open file that holds a contiguous frame, for reading.
#[derive(Debug)]
struct FrameFile {
    path: PathBuf,
    file: Positioned,
    /// Where the frame starts.
    base: u64,
}

impl FrameFile {
    fn new(path: &Path, file: File, base: u64) -> Arc<Self> {
        pin::hold(&file);
        Arc::new(FrameFile { path: path.to_path_buf(), file: Positioned::new(file), base })
    }
    fn failed(&self, action: &'static str, error: io::Error) -> Error {
        Error::io(action, error).at_path(&self.path)
    }
    /// Converts an offset in the frame to one in the file.
    fn at(&self, offset: u64) -> Result<u64> {
        let too_large = || self.failed("cannot find a place in the file", io::ErrorKind::InvalidInput.into());
        self.base.checked_add(offset).ok_or_else(too_large)
    }
}

impl ReadStore for FrameFile {
    fn len(&self, file: FileId) -> Result<u64> {
        match file {
            FileId::Frame => {
                let metadata = self.file.0.metadata().map_err(|e| self.failed("cannot read the frame", e))?;
                Ok(metadata.len().saturating_sub(self.base))
            }
            FileId::Chunk(_) => Err(super::no_such_file(file)),
        }
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        match file {
            FileId::Frame => {
                let at = self.at(offset)?;
                self.file.read_exact_at(buf, at).map_err(|e| self.failed("cannot read the frame", e))
            }
            FileId::Chunk(_) => Err(super::no_such_file(file)),
        }
    }
    fn reads_ahead(&self) -> bool {
        Positioned::READS_AHEAD
    }
    fn will_read(&self, file: FileId, offset: u64, len: u64) {
        if let (FileId::Frame, Ok(at)) = (file, self.at(offset)) {
            self.file.will_read(at, len);
        }
    }
    fn start(&self) -> u64 {
        self.base
    }
    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }
}

/// A contiguous frame in a file.
#[derive(Debug)]
pub(crate) struct FileStore {
    /// The open file, which snapshots share.
    frame: Arc<FrameFile>,
    write: bool,
    /// The temporary name, before the first commit.
    fresh: Option<FreshTarget>,
}

impl FileStore {
    /// Opens an existing file, in which the frame starts at `base`.
    pub(crate) fn open(path: &Path, write: bool, base: u64) -> Result<Self> {
        let metadata = fs::metadata(path).map_err(|e| Error::io("cannot open the frame", e).at_path(path))?;
        let file = super::open_regular(path, &metadata, write, true)?;
        Ok(FileStore { frame: FrameFile::new(path, file, base), write, fresh: None })
    }
    /// A new file for `path`, which leads to `target`; under a temporary name until it is published.
    pub(super) fn create(
        path: &Path,
        target: &Path,
        overwrite: bool,
        rights: Option<&Rights>,
    ) -> Result<Self> {
        let (fresh, file) = FreshTarget::file(target, overwrite, rights)?;
        Ok(FileStore { frame: FrameFile::new(path, file, 0), write: true, fresh: Some(fresh) })
    }
    /// A new file that takes the place of this one when it is published, with what stands before the frame.
    fn successor(&self) -> Result<Self> {
        let FrameFile { path, base, .. } = &*self.frame;
        let failed = |e| self.frame.failed("cannot replace the frame", e);
        // A link stays a link: what it leads to is replaced.
        let target = fs::canonicalize(path).map_err(failed)?;
        let (fresh, file) = FreshTarget::file(&target, true, Rights::of(&target).as_ref())?;
        let frame = FrameFile::new(path, file, *base);
        self.copy_start(&frame.file).map_err(failed)?;
        Ok(FileStore { frame, write: true, fresh: Some(fresh) })
    }
    fn file(&self) -> &File {
        &self.frame.file.0
    }
    /// Replaces the frame, and all that follows it, by these bytes.
    fn put(&mut self, bytes: &[u8], sync: bool) -> Result<()> {
        let failed = |e| Error::io("cannot write the frame", e).at_path(&self.frame.path);
        let base = self.frame.base;
        if self.fresh.is_some() {
            self.file().set_len(base).map_err(failed)?;
            return self.frame.file.write_all_at(bytes, base).map_err(failed);
        }
        let new = self.successor()?;
        new.frame.file.write_all_at(bytes, base).map_err(failed)?;
        if sync {
            new.file().sync_data().map_err(failed)?;
        }
        new.fresh.map_or(Ok(()), |fresh| fresh.publish(sync))?;
        self.frame = new.frame;
        Ok(())
    }
    /// Copies what stands in the file before the frame.
    fn copy_start(&self, to: &Positioned) -> io::Result<()> {
        let base = self.frame.base;
        let mut buffer = vec![0; usize::try_from(base.min(COPY)).unwrap_or(0)];
        let mut at = 0;
        while at < base {
            let len = usize::try_from((base - at).min(COPY)).unwrap_or(0);
            let part = buffer.get_mut(..len).unwrap_or_default();
            self.frame.file.read_exact_at(part, at)?;
            to.write_all_at(part, at)?;
            at += len as u64;
        }
        Ok(())
    }
}

/// The bytes that are copied in one go.
const COPY: u64 = 1 << 20;

impl ReadStore for FileStore {
    fn len(&self, file: FileId) -> Result<u64> {
        self.frame.len(file)
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.frame.read_at(file, offset, buf)
    }
    fn start(&self) -> u64 {
        self.frame.base
    }
    fn path(&self) -> Option<&Path> {
        Some(&self.frame.path)
    }
}

impl WriteStore for FileStore {
    fn reader(&self) -> Arc<dyn ReadStore> {
        Arc::<FrameFile>::clone(&self.frame)
    }
    fn apply(&mut self, step: &WriteStep<'_>) -> Result<()> {
        let frame = &self.frame;
        if !self.write {
            return Err(super::read_only(Some(&frame.path)));
        }
        match step {
            WriteStep::WriteAt { file: FileId::Frame, offset, bytes } => {
                let at = frame.at(*offset)?;
                frame.file.write_all_at(bytes, at).map_err(|e| frame.failed("cannot write the frame", e))
            }
            WriteStep::Put { file: FileId::Frame, bytes, sync } => self.put(bytes, *sync),
            WriteStep::SetLen { file: FileId::Frame, len } => {
                let len = frame.at(*len)?;
                self.file().set_len(len).map_err(|e| frame.failed("cannot set the length of the frame", e))
            }
            WriteStep::Sync { file: FileId::Frame } => {
                self.file().sync_data().map_err(|e| frame.failed("cannot sync the frame", e))
            }
            WriteStep::Publish { sync } => self.fresh.take().map_or(Ok(()), |fresh| fresh.publish(*sync)),
            WriteStep::WriteAt { file, .. }
            | WriteStep::Put { file, .. }
            | WriteStep::SetLen { file, .. }
            | WriteStep::Sync { file }
            | WriteStep::Remove { file } => Err(super::no_such_file(*file)),
        }
    }
    /// Snapshots of this process share the open file; the handle itself refers to it twice.
    fn is_alone(&self) -> bool {
        Arc::strong_count(&self.frame) <= 2 && pin::is_alone(self.file())
    }
    fn successor(&self) -> Result<Option<Box<dyn WriteStore>>> {
        Ok(Some(Box::new(FileStore::successor(self)?)))
    }
    fn check_place(&self) -> Result<()> {
        match held::is_at(self.file(), &self.frame.path) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::changed("replaced it").at_path(&self.frame.path)),
            Err(error) => Err(self.frame.failed("cannot write the frame", error)),
        }
    }
}

/// A file that many threads read and write by offset.
#[cfg(any(unix, windows))]
#[derive(Debug)]
pub(super) struct Positioned(File);

#[cfg(any(unix, windows))]
impl Positioned {
    pub(super) fn new(file: File) -> Self {
        Positioned(file)
    }
}

#[cfg(unix)]
impl Positioned {
    pub(super) fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, buf, offset)
    }
    pub(super) fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.0, bytes, offset)
    }
}

#[cfg(windows)]
impl Positioned {
    pub(super) fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(&self.0, buf, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => {
                    buf = buf.get_mut(n..).unwrap_or_default();
                    offset = offset.saturating_add(n as u64);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
    pub(super) fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match std::os::windows::fs::FileExt::seek_write(&self.0, bytes, offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => {
                    bytes = bytes.get(n..).unwrap_or_default();
                    offset = offset.saturating_add(n as u64);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
impl Positioned {
    const READS_AHEAD: bool = true;

    /// Asks the system to read ahead; a refusal is no error.
    fn will_read(&self, offset: u64, len: u64) {
        let mut at = 0;
        while let Some(step) = std::num::NonZeroU64::new(ADVICE.min(len - at)) {
            let place = offset.saturating_add(at);
            let _ = rustix::fs::fadvise(&self.0, place, Some(step), rustix::fs::Advice::WillNeed);
            at += step.get();
        }
    }
}

/// Length of one `posix_fadvise`: Linux may cut a longer one to the size of one disk request.
#[cfg(any(target_os = "linux", target_os = "android"))]
const ADVICE: u64 = 128 << 10;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
impl Positioned {
    const READS_AHEAD: bool = false;

    fn will_read(&self, _: u64, _: u64) {}
}

/// Systems without positioned reads have one cursor for each file: a lock keeps seek and read together.
#[cfg(not(any(unix, windows)))]
#[derive(Debug)]
pub(super) struct Positioned(File, std::sync::Mutex<()>);

#[cfg(not(any(unix, windows)))]
impl Positioned {
    pub(super) fn new(file: File) -> Self {
        Positioned(file, std::sync::Mutex::new(()))
    }
    pub(super) fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        use std::io::{Read, Seek};
        let _guard = self.1.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (&self.0).seek(io::SeekFrom::Start(offset))?;
        (&self.0).read_exact(buf)
    }
    pub(super) fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        use std::io::{Seek, Write};
        let _guard = self.1.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (&self.0).seek(io::SeekFrom::Start(offset))?;
        (&self.0).write_all(bytes)
    }
}

impl Positioned {
    /// The open file.
    pub(super) fn file(&self) -> &File {
        &self.0
    }
    /// Its length in bytes.
    pub(super) fn len(&self) -> io::Result<u64> {
        self.0.metadata().map(|metadata| metadata.len())
    }
}

/// Reads one range of a file that is open for nothing else.
pub(super) fn read_once(file: File, offset: u64, buf: &mut [u8]) -> io::Result<()> {
    Positioned::new(file).read_exact_at(buf, offset)
}
