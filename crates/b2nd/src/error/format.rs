//! Where and how a file breaks its format.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A part of a file, as the format names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// The header of a frame.
    FrameHeader,
    /// The chunk that holds the offsets of all chunks.
    Offsets,
    /// The trailer of a frame.
    Trailer,
    /// A metalayer in the header of a frame (`b2nd` and `caterva` among them).
    Metalayer,
    /// A vlmetalayer in the trailer of a frame.
    Vlmetalayer,
    /// The header of a chunk.
    ChunkHeader,
    /// The block offsets of a chunk.
    BlockOffsets,
    /// A compressed stream of a block.
    Stream,
    /// A file of a sparse frame.
    ChunkFile,
    /// The checksums of a frame.
    Checksums,
    /// The header of a `.npy` file.
    NpyHeader,
}

impl Part {
    /// The part in words: `frame header`, `block offsets`.
    pub fn name(self) -> &'static str {
        match self {
            Part::FrameHeader => "frame header",
            Part::Offsets => "chunk offsets",
            Part::Trailer => "trailer",
            Part::Metalayer => "metalayer",
            Part::Vlmetalayer => "vlmetalayer",
            Part::ChunkHeader => "chunk header",
            Part::BlockOffsets => "block offsets",
            Part::Stream => "stream",
            Part::ChunkFile => "chunk file",
            Part::Checksums => "checksums",
            Part::NpyHeader => ".npy header",
        }
    }
}

/// A break of the format: which part, where in it, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatError {
    part: Part,
    offset: Option<u64>,
    chunk: Option<u64>,
    block: Option<u32>,
    path: Option<PathBuf>,
    reason: String,
    /// Bytes of the file that do not match their checksum, or cannot be read.
    bytes: Option<Range<u64>>,
    /// It is not a damaged frame, but something else.
    not_a_frame: bool,
}

impl FormatError {
    pub(super) fn new(part: Part, offset: Option<u64>, reason: String) -> Self {
        FormatError {
            part,
            offset,
            chunk: None,
            block: None,
            path: None,
            reason,
            bytes: None,
            not_a_frame: false,
        }
    }
    pub(super) fn not_a_frame(reason: String) -> Self {
        FormatError { not_a_frame: true, ..FormatError::new(Part::FrameHeader, None, reason) }
    }
    pub(super) fn set_bytes(&mut self, bytes: Range<u64>) {
        self.bytes = Some(bytes);
    }
    pub(super) fn set_path(&mut self, path: &Path) {
        self.path.get_or_insert_with(|| path.to_path_buf());
    }
    pub(super) fn set_chunk(&mut self, chunk: u64) {
        self.chunk.get_or_insert(chunk);
    }
    pub(super) fn set_block(&mut self, block: u32) {
        self.block.get_or_insert(block);
    }

    /// The part of the file that is broken.
    pub fn part(&self) -> Part {
        self.part
    }
    /// Whether the file is no Blosc2 frame at all, and not a damaged one: a file of another kind, or a folder without a sparse
    /// frame.
    ///
    /// ```
    /// use b2nd::{Error, OpenOptions, SChunk};
    /// let picture = b"\x89PNG\r\n\x1a\n".repeat(20);
    /// let error = SChunk::from_bytes(picture, &OpenOptions::new()).unwrap_err();
    /// assert_eq!(error.to_string(), "not a Blosc2 frame: it is a PNG picture");
    /// assert!(matches!(error, Error::Format(format) if format.is_not_a_frame()));
    /// ```
    pub fn is_not_a_frame(&self) -> bool {
        self.not_a_frame
    }
    /// The offset in bytes from the start of that part, where one byte is to blame.
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }
    /// The number of the chunk, for parts of a chunk.
    pub fn chunk(&self) -> Option<u64> {
        self.chunk
    }
    /// The number of the block inside its chunk, for parts of a block.
    pub fn block(&self) -> Option<u32> {
        self.block
    }
    /// The file, where there is one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }
    /// The bytes of the file that do not match their checksum, where that is what is wrong, or that a repair could not read:
    /// counted from the start of the frame, or of the file of the chunk in a sparse one.
    pub fn bytes(&self) -> Option<Range<u64>> {
        self.bytes.clone()
    }
    /// What is wrong, in words.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        if self.not_a_frame {
            return write!(f, "not a Blosc2 frame: {}", self.reason);
        }
        write!(f, "damaged {}", self.part.name())?;
        match (self.chunk, self.block) {
            (Some(chunk), Some(block)) => write!(f, " of chunk {chunk}, block {block}")?,
            (Some(chunk), None) => write!(f, " of chunk {chunk}")?,
            (None, Some(block)) => write!(f, " of block {block}")?,
            (None, None) => {}
        }
        if let Some(offset) = self.offset {
            write!(f, " at byte {offset}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for FormatError {}
