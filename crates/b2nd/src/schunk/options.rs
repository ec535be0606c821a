//! Options for opening a frame and for making one.

use super::frame_options::{FrameOptions, frame_builder};
use crate::chunk::Params;
use crate::chunk::Special;
use crate::frame::Layout;
use std::path::Path;

/// How a frame is opened: for reading by default.
///
/// ```
/// use b2nd::{Exec, Limits, OpenOptions};
/// let options = OpenOptions::new()
///     .with_write(true)
///     .with_limits(Limits::default().with_max_index_bytes(1 << 20))
///     .with_exec(Exec::new(2));
/// # let _ = options;
/// ```
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    pub(crate) common: FrameOptions,
    pub(crate) write: bool,
    pub(crate) offset: u64,
    pub(crate) frame: Option<u64>,
    pub(crate) mmap: bool,
}

frame_builder! { OpenOptions: all }

impl OpenOptions {
    /// Read only, default limits, all processors.
    pub fn new() -> Self {
        Self::default()
    }
    /// Opens for writing too.
    #[must_use]
    pub fn with_write(mut self, write: bool) -> Self {
        self.write = write;
        self
    }
    /// Opens the frame that starts `offset` bytes into the file (or into the bytes), as python-blosc2's `offset=` does.
    ///
    /// For writing it must be the last thing in its file: see [`OpenOptions::with_frame`].
    #[must_use]
    pub fn with_offset(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }
    /// Opens frame `number` of a file that holds several, as [`frames`](super::frames) lists them, from 0 on.
    ///
    /// Only the last frame of a file can be opened for writing: a frame grows at its end, over what follows there. A
    /// frame that is neither the first nor has a given place (offset 0, no number) may have bytes after it that are no frame,
    /// such as an interrupted commit leaves: those are written over. Any other frame must end where its file ends.
    #[must_use]
    pub fn with_frame(mut self, number: u64) -> Self {
        self.frame = Some(number);
        self
    }
    /// Maps the file into memory instead of reading it: blocks are decoded from where they are, without a copy. For
    /// contiguous frames, for reading only, with the feature `mmap`.
    ///
    /// Nobody may cut or change the file meanwhile. A read of bytes that another process cut off ends this process
    /// (SIGBUS on Unix, an exception on Windows), where a file that is read gives an error: so this is never the default.
    #[must_use]
    pub fn with_mmap(mut self, mmap: bool) -> Self {
        self.mmap = mmap;
        self
    }
}

/// How a frame is saved: as one file, and not over an existing one, by default.
///
/// ```
/// use b2nd::{Layout, SaveOptions};
/// let options = SaveOptions::new().with_layout(Layout::Sparse).with_overwrite(true);
/// # let _ = options;
/// ```
///
/// A copy is no handle, and its chunks stay as they are: of [`FrameOptions`] it takes exec, durability, checksums, and the
/// owner lock. Without an [`Exec`](crate::Exec) of its own it has threads and cancellation of the handle that is saved;
/// with one, progress counts the bytes of the compressed chunks.
#[derive(Debug, Clone, Default)]
pub struct SaveOptions {
    pub(crate) common: FrameOptions,
    pub(crate) layout: Layout,
    pub(crate) overwrite: bool,
}

frame_builder! { SaveOptions: exec, durability, checksums, owner_lock }

impl SaveOptions {
    /// One file; a path that exists is an error.
    pub fn new() -> Self {
        Self::default()
    }
    /// Sets the layout: one file, or a directory with a file for each chunk.
    #[must_use]
    pub fn with_layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }
    /// Replaces what exists at the path when the copy is complete.
    #[must_use]
    pub fn with_overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }
}

/// Target of a new frame.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FrameTarget<'p> {
    /// Memory.
    Memory,
    /// A path; it appears there, whole, at the first commit. An existing one is an error unless `overwrite`.
    Path { path: &'p Path, overwrite: bool },
}

/// Contents of a new frame.
#[derive(Debug, Clone)]
pub(crate) struct FrameSpec {
    pub(crate) layout: Layout,
    pub(crate) params: Params,
    /// Uncompressed bytes of every chunk; the real block size is in `params`.
    pub(crate) chunksize: u32,
    /// The number of chunks, all of them special at first.
    pub(crate) nchunks: u64,
    /// What the chunks are at first (`Value` is not allowed: put real chunks).
    pub(crate) fill: Special,
    pub(crate) metalayers: Vec<(String, Vec<u8>)>,
    /// Names with uncompressed contents.
    pub(crate) vlmetalayers: Vec<(String, Vec<u8>)>,
}
