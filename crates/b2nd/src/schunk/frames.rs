//! Files that hold several frames, one after another.

use super::drive::{part, supply};
use super::handle::SChunk;
use super::options::OpenOptions;
use super::recover;
use super::recover::Leftover;
use crate::error::{Error, Part, Result};
use crate::frame::Layout;
use crate::frame::{FrameHeader, FrameParser, MARK_LEN, ParseStep, find_mark};
use crate::io;
use crate::io::{FileId, MemoryStore, Opening, ReadStore};
use crate::limits::{Limits, zeroed};
use b2nd_kernel::lend::lend;
use std::ops::Range;
use std::path::Path;

/// A frame inside a file: its offset, and the contents of its header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameInfo {
    offset: u64,
    len: u64,
    nbytes: u64,
    cbytes: u64,
    version: u8,
    metalayers: Vec<String>,
}

impl FrameInfo {
    fn new(offset: u64, header: &FrameHeader) -> Self {
        FrameInfo {
            offset,
            len: header.frame_len(),
            nbytes: header.nbytes(),
            cbytes: header.cbytes(),
            version: header.version(),
            metalayers: header.metalayers().map(|(name, _)| name.text().to_owned()).collect(),
        }
    }
    /// Where it starts, in bytes from the start of the file: for [`OpenOptions::with_offset`].
    pub fn offset(&self) -> u64 {
        self.offset
    }
    /// The length of the frame in bytes.
    pub fn frame_len(&self) -> u64 {
        self.len
    }
    /// Uncompressed bytes of its chunks.
    pub fn nbytes(&self) -> u64 {
        self.nbytes
    }
    /// Compressed bytes of its chunks.
    pub fn cbytes(&self) -> u64 {
        self.cbytes
    }
    /// The format version of the frame.
    pub fn version(&self) -> u8 {
        self.version
    }
    /// The names of its metalayers, in stored order.
    pub fn metalayers(&self) -> impl Iterator<Item = &str> {
        self.metalayers.iter().map(String::as_str)
    }
    /// Whether a metalayer says that it holds an array.
    pub fn is_array(&self) -> bool {
        self.metalayers().any(|name| name == "b2nd" || name == "caterva")
    }
}

/// The frames of a file, in their order: where each is, and what its header says.
///
/// They are found one behind the other; bytes between them that are no frame are passed over, up to the next mark of a
/// header that has a length with the end of a frame there. Only headers and ends are looked at: a frame that is listed may
/// still be damaged. A sparse frame (a directory) has no such list.
///
/// ```
/// use b2nd::{Array, Dtype, OpenOptions, Options};
/// # let dir = std::env::temp_dir().join(format!("b2nd-doc-frames-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir).unwrap();
/// let path = dir.join("many.b2nd");
/// for day in 1..=3 {
///     let array = Options::new().create_in_memory(Dtype::parse("<f4")?, [24, day])?;
///     array.append_to(&path)?;
/// }
/// let frames = b2nd::schunk::frames(&path, &OpenOptions::new())?;
/// assert_eq!(frames.len(), 3);
/// let last = Array::open_with(&path, &OpenOptions::new().with_offset(frames[2].offset()))?;
/// assert_eq!(last.shape(), [24, 3]);
/// let second = Array::open_with(&path, &OpenOptions::new().with_frame(1))?;
/// assert_eq!(second.shape(), [24, 2]);
/// # std::fs::remove_dir_all(&dir).unwrap();
/// # Ok::<(), b2nd::Error>(())
/// ```
///
/// Of `options` the limits count, and the offset, from which on the file is searched.
///
/// # Errors
/// [`Error::Io`] when the file cannot be read; [`Error::Format`] when there is no frame in it; [`Error::Limit`] when a
/// file is full of headers that lead nowhere; [`Error::Usage`] for a directory.
pub fn frames(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Vec<FrameInfo>> {
    let path = path.as_ref();
    let opening = Opening { write: false, offset: options.offset, mmap: false };
    let (store, layout) = io::open(path, opening)?;
    if layout == Layout::Sparse {
        let shown = path.display();
        return Err(Error::usage(format!("{shown}: a sparse frame is a directory, not a file of frames")));
    }
    listed(store.as_read(), options).map_err(|error| error.at_path(path))
}

/// As [`frames`], of bytes in memory.
///
/// ```
/// # use b2nd::{Dtype, OpenOptions, Options};
/// let array = Options::new().create_in_memory(Dtype::parse("<f4")?, [10])?;
/// let bytes = [array.to_bytes()?, b"between".to_vec(), array.to_bytes()?].concat();
/// assert_eq!(b2nd::schunk::frames_in(&bytes, &OpenOptions::new())?.len(), 2);
/// # Ok::<(), b2nd::Error>(())
/// ```
///
/// # Errors
/// As [`frames`].
pub fn frames_in(bytes: &[u8], options: &OpenOptions) -> Result<Vec<FrameInfo>> {
    lend(bytes, |lent| listed(&MemoryStore::shared(lent).at(options.offset)?, options))
}

/// The frames of a store that starts at the offset of the options; at least one.
fn listed(store: &dyn ReadStore, options: &OpenOptions) -> Result<Vec<FrameInfo>> {
    let mut walk = FrameWalk::new(store, 0, &options.common.limits)?;
    let mut found = Vec::new();
    while let Some((at, header)) = walk.next()? {
        found.push(FrameInfo::new(options.offset.saturating_add(at), &header));
    }
    if found.is_empty() {
        return Err(Error::format(Part::FrameHeader, None, "there is no frame in it"));
    }
    Ok(found)
}

/// The options with an offset in the place of the number of a frame.
pub(super) fn resolve(store: &dyn ReadStore, options: &OpenOptions) -> Result<OpenOptions> {
    let Some(number) = options.frame else { return Ok(options.clone()) };
    let mut walk = FrameWalk::new(store, 0, &options.common.limits)?;
    let mut seen = 0;
    while let Some((at, _)) = walk.next()? {
        if seen == number {
            let offset = options.offset.saturating_add(at);
            return Ok(OpenOptions { offset, frame: None, ..options.clone() });
        }
        seen += 1;
    }
    Err(Error::missing(
        "frame",
        number,
        format!("there is no frame {number}: the file has {seen}, counted from 0"),
    ))
}

impl SChunk {
    /// An error if a write would overwrite what follows the frame in its file. A frame at a given offset (`placed`)
    /// must have nothing after it; otherwise only frames that follow are protected.
    pub(super) fn check_last(&self, placed: bool) -> Result<()> {
        if self.layout() == Layout::Sparse {
            return Ok(());
        }
        let (end, len) = (self.header.frame_len(), self.store.len(FileId::Frame)?);
        if end >= len {
            return Ok(());
        }
        let refused = |what: String| {
            let hint = "only the last frame of a file can be written; save a copy, or append one";
            let named = self.path().map(|path| format!("{}: ", path.display())).unwrap_or_default();
            Err(Error::usage(format!("{named}{what}: {hint}")))
        };
        if placed {
            return refused(format!("{} bytes follow the frame in its file", len - end));
        }
        if self.is_followed(end)? {
            return refused("another frame follows in its file".to_owned());
        }
        Ok(())
    }

    /// Whether there is a frame in the file of this one, from `start` on.
    pub(super) fn is_followed(&self, start: u64) -> Result<bool> {
        if self.layout() == Layout::Sparse {
            return Ok(false);
        }
        Ok(FrameWalk::new(self.store.as_ref(), start, self.limits())?.next()?.is_some())
    }
}

/// The bytes that are searched for the mark of a header in one go.
const WINDOW: u64 = 64 << 10;

/// Iterates over the frames of a file.
struct FrameWalk<'a> {
    store: &'a dyn ReadStore,
    limits: &'a Limits,
    at: u64,
    len: u64,
    /// Bytes that were read for marks that turned out to be none.
    wasted: u64,
    /// The frame whose header is torn, if any; the outer `None` means not searched yet.
    torn: Option<Option<Leftover>>,
    buffer: Vec<u8>,
}

impl<'a> FrameWalk<'a> {
    fn new(store: &'a dyn ReadStore, at: u64, limits: &'a Limits) -> Result<Self> {
        let len = store.len(FileId::Frame)?;
        Ok(FrameWalk { store, limits, at, len, wasted: 0, torn: None, buffer: Vec::new() })
    }

    /// The next frame: where it starts, and its header.
    fn next(&mut self) -> Result<Option<(u64, FrameHeader)>> {
        while let Some(at) = self.mark()? {
            match self.outline(at) {
                Ok(header) => {
                    self.at = at.saturating_add(header.frame_len());
                    return Ok(Some((at, header)));
                }
                Err(error @ (Error::Io { .. } | Error::OutOfMemory { .. })) => return Err(error),
                Err(_) => self.at = at.saturating_add(1),
            }
            // A few bytes may claim a header of any length: without a bound a small file could cost the square of it.
            Limits::check("the search for frames", self.wasted, self.limits.max_index_bytes())?;
        }
        Ok(None)
    }

    /// Offset of the next header mark from the current position on.
    fn mark(&mut self) -> Result<Option<u64>> {
        loop {
            let len = self.len.saturating_sub(self.at).min(WINDOW);
            if len < MARK_LEN as u64 {
                return Ok(None);
            }
            let bytes = part(self.store, self.at, len, &mut self.buffer)?;
            if let Some(found) = find_mark(bytes) {
                return Ok(Some(self.at.saturating_add(found as u64)));
            }
            // The last bytes may be the first of a mark.
            self.at = self.at.saturating_add(len - (MARK_LEN as u64 - 1));
        }
    }

    /// The header of the frame that starts at `at`, when its end is there too.
    fn outline(&mut self, at: u64) -> Result<FrameHeader> {
        let mut parser = FrameParser::outline(self.len.saturating_sub(at), self.limits)?;
        if self.torn.is_none() {
            self.torn = Some(recover::leftover(self.store, self.limits)?);
        }
        let torn =
            self.torn.iter().flatten().find(|left| left.frame == at).and_then(|left| left.torn.as_ref());
        let mut read = 0;
        loop {
            match parser.step() {
                ParseStep::Done(index) => return Ok(index.header),
                ParseStep::Need(range) => {
                    read += range.end.saturating_sub(range.start);
                    let supplied = match torn {
                        None => supply(&mut parser, self.store, at, range, &mut self.buffer),
                        Some(header) => supply_mended(&mut parser, self.store, at, range, header),
                    };
                    if let Err(error) = supplied {
                        self.wasted = self.wasted.saturating_add(read);
                        return Err(error);
                    }
                }
            }
        }
    }
}

/// Supplies a parser with the bytes of a frame that starts at `at` and whose header is torn.
fn supply_mended(
    parser: &mut FrameParser,
    store: &dyn ReadStore,
    at: u64,
    range: Range<u64>,
    header: &[u8],
) -> Result<()> {
    let mut bytes = zeroed("part of a frame", range.end.saturating_sub(range.start))?;
    store.read_at(FileId::Frame, at.saturating_add(range.start), &mut bytes)?;
    io::mend(header, range.start, &mut bytes);
    parser.supply(&bytes)
}
