//! The super-chunk: an open frame whose chunks can be fetched and replaced.

mod export;
mod handle;
mod options;
mod write;

pub use crate::frame::Layout;
pub(crate) use handle::Place;
pub use handle::SChunk;
pub use options::OpenOptions;
pub(crate) use options::{FrameSpec, Target};

<<<<<<< HEAD
#[cfg(test)]
mod tests;
=======
/// How a frame is opened: for reading by default.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    pub(crate) write: bool,
    pub(crate) limits: Limits,
    pub(crate) exec: Exec,
}

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
    /// Sets what the file may cost.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
    /// Sets threads, cancellation and progress of the operations on it.
    #[must_use]
    pub fn with_exec(mut self, exec: Exec) -> Self {
        self.exec = exec;
        self
    }
}

/// Where a new frame goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target<'p> {
    /// Memory.
    Memory,
    /// A path; it appears there, whole, at the first commit. An existing one is an error unless `overwrite`.
    Path { path: &'p Path, overwrite: bool },
}

/// What a new frame holds.
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

/// Where a chunk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nowhere: the offset itself says what it holds (`Zeros`, `Nan` or `Uninit`).
    Special(Special),
    /// In `file`, `offset` bytes from its start; at most `available` bytes are there for it.
    Stored { file: FileId, offset: u64, available: u64 },
}

/// An open frame.
#[derive(Debug)]
pub struct SChunk {}

impl SChunk {
    /// Opens a contiguous frame (a file) or a sparse one (a directory).
    pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let _ = (path.as_ref(), options);
        todo!()
    }
    /// Opens a contiguous frame in memory.
    pub fn from_bytes(bytes: Vec<u8>, options: &OpenOptions) -> Result<Self> {
        let _ = (bytes, options);
        todo!()
    }
    /// A new frame. Nothing is visible at a path before the first [`SChunk::commit`]; dropped before it, nothing remains.
    pub(crate) fn create(target: Target<'_>, spec: FrameSpec, options: &OpenOptions) -> Result<Self> {
        let _ = (target, spec, options);
        todo!()
    }
    /// The number of chunks.
    pub fn nchunks(&self) -> u64 {
        todo!()
    }
    /// Uncompressed bytes of all chunks.
    pub fn nbytes(&self) -> u64 {
        todo!()
    }
    /// Compressed bytes of all chunks (in a contiguous frame the length of its data section, gaps included).
    pub fn cbytes(&self) -> u64 {
        todo!()
    }
    /// The length of the frame in bytes (of `chunks.b2frame` in a sparse one).
    pub fn frame_len(&self) -> u64 {
        todo!()
    }
    /// Uncompressed bytes of a chunk; 0 when chunks differ in size.
    pub fn chunksize(&self) -> u32 {
        todo!()
    }
    /// Contiguous or sparse.
    pub fn layout(&self) -> Layout {
        todo!()
    }
    /// The format version of the frame: 1, 2 or 3 (0 for the first beta's).
    pub fn version(&self) -> u8 {
        todo!()
    }
    /// How new chunks are compressed, as the header says.
    pub fn params(&self) -> &Params {
        todo!()
    }
    /// Changes how new chunks are compressed, for this handle.
    pub fn set_params(&mut self, params: Params) {
        let _ = params;
        todo!()
    }
    /// Threads, cancellation and progress.
    pub fn exec(&self) -> &Exec {
        todo!()
    }
    /// Changes threads, cancellation and progress.
    pub fn set_exec(&mut self, exec: Exec) {
        let _ = exec;
        todo!()
    }
    /// What the file may cost.
    pub fn limits(&self) -> &Limits {
        todo!()
    }
    /// The path, where there is one.
    pub fn path(&self) -> Option<&Path> {
        todo!()
    }
    /// The metalayers of the header: names and contents, in stored order.
    pub fn metalayers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        std::iter::empty()
    }
    /// The names of the vlmetalayers, in stored order.
    pub fn vlmetalayer_names(&self) -> impl Iterator<Item = &str> {
        std::iter::empty()
    }
    /// The decompressed content of a vlmetalayer; `None` when there is no such name.
    pub fn vlmetalayer(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let _ = name;
        todo!()
    }
    /// Adds or replaces a vlmetalayer (effective at the next commit).
    pub fn set_vlmetalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let _ = (name, content);
        todo!()
    }
    /// Removes a vlmetalayer (effective at the next commit); whether there was one.
    pub fn remove_vlmetalayer(&mut self, name: &str) -> Result<bool> {
        let _ = name;
        todo!()
    }
    /// Where chunk `n` is.
    pub(crate) fn place(&self, n: u64) -> Result<Place> {
        let _ = n;
        todo!()
    }
    /// Bytes `start..start+len` of a stored chunk: borrowed from memory, or read into `buffer` (cleared first).
    pub(crate) fn fetch<'a>(
        &'a self,
        place: Place,
        start: u64,
        len: usize,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        let _ = (place, start, len, buffer);
        todo!()
    }
    /// The compressed bytes of chunk `n`; a special chunk is made up.
    pub fn chunk(&self, n: u64) -> Result<Cow<'_, [u8]>> {
        let _ = n;
        todo!()
    }
    /// Stores the bytes of a chunk as chunk `n`: written now, past the end; visible to others at the next commit.
    ///
    /// A chunk of zeros, NaN or uninitialised items becomes a special offset.
    pub(crate) fn put_chunk(&mut self, n: u64, chunk: &[u8]) -> Result<()> {
        let _ = (n, chunk);
        todo!()
    }
    /// Makes chunk `n` special (`Zeros`, `Nan` or `Uninit`).
    pub(crate) fn put_special(&mut self, n: u64, kind: Special) -> Result<()> {
        let _ = (n, kind);
        todo!()
    }
    /// Makes everything since the last commit visible: offsets and trailer past the old end, sync, then the header in one write.
    pub fn commit(&mut self) -> Result<()> {
        todo!()
    }
    /// Forgets everything since the last commit.
    pub fn rollback(&mut self) -> Result<()> {
        todo!()
    }
    /// The whole frame as one contiguous buffer, compact (no gaps), metalayers and vlmetalayers kept byte for byte.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        todo!()
    }
}
>>>>>>> 5c518cf (Encode and decode chunks, with filters, on any number of threads)
