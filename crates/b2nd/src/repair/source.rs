//! The damaged frame: its bytes, whatever they are.

use crate::chunk::ChunkHeader;
use crate::error::{Error, Part, Result};
use crate::frame::Layout;
use crate::io::{FileId, Listing, ReadStore};
use crate::limits::resize;
use crate::schunk::is_damage;
use std::sync::Arc;

/// The longest header of a chunk.
pub(super) const CHUNK_HEADER: u64 = 32;

/// A damaged frame.
#[derive(Debug)]
pub(super) struct DamagedFrame {
    pub(super) store: Arc<dyn ReadStore>,
    pub(super) layout: Layout,
    /// The length of the frame file.
    pub(super) len: u64,
    pub(super) listing: Listing,
}

impl DamagedFrame {
    pub(super) fn new(store: Arc<dyn ReadStore>, layout: Layout, listing: Listing) -> Result<Self> {
        let len = match store.len(FileId::Frame) {
            // What is left then are chunk files.
            Err(error) if layout == Layout::Sparse && is_damage(&error) => 0,
            found => found?,
        };
        Ok(DamagedFrame { store, layout, len, listing })
    }

    /// Bytes of the frame file from `at` on, as many of `len` as are there.
    pub(super) fn part(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read(FileId::Frame, self.len, at, len, &mut bytes)?;
        Ok(bytes)
    }

    fn read(&self, file: FileId, end: u64, at: u64, len: u64, to: &mut Vec<u8>) -> Result<()> {
        let len = len.min(end.saturating_sub(at));
        resize("a part of the frame", to, usize::try_from(len).unwrap_or(usize::MAX))?;
        if to.is_empty() { Ok(()) } else { self.store.read_at(file, at, to) }
    }

    /// The bytes of the chunk at a place (a position in the frame file, or the number of a chunk file), as many as it says it has
    /// and are there.
    ///
    /// # Errors
    /// [`Error::Format`] where no chunk begins there.
    pub(super) fn chunk(&self, place: u64, to: &mut Vec<u8>) -> Result<ChunkHeader> {
        let (file, at, end) = match self.layout {
            Layout::Contiguous => (FileId::Frame, place, self.len),
            Layout::Sparse => {
                let number = u32::try_from(place).map_err(|_| {
                    Error::format(Part::Offsets, None, format!("there is no chunk file {place:X}"))
                })?;
                let file = FileId::Chunk(number);
                (file, 0, self.store.len(file)?)
            }
        };
        self.read(file, end, at, CHUNK_HEADER, to)?;
        let header = ChunkHeader::parse(to)?;
        self.read(file, end, at, u64::from(header.cbytes()), to)?;
        Ok(header)
    }
}

/// A part of the frame file that moves along it.
pub(super) struct Window<'a> {
    source: &'a DamagedFrame,
    at: u64,
    bytes: Vec<u8>,
}

/// The bytes that are read at a time.
const WINDOW: u64 = 1 << 20;

impl<'a> Window<'a> {
    pub(super) fn new(source: &'a DamagedFrame) -> Self {
        Window { source, at: 0, bytes: Vec::new() }
    }
    /// The bytes from `at` on: at least `need` of them, unless the file ends before.
    pub(super) fn from(&mut self, at: u64, need: usize) -> Result<&[u8]> {
        let end = self.at.saturating_add(self.bytes.len() as u64);
        let wanted = at.saturating_add(need as u64).min(self.source.len);
        if at < self.at || wanted > end {
            let len = WINDOW.max(need as u64);
            self.at = at;
            self.source.read(FileId::Frame, self.source.len, at, len, &mut self.bytes)?;
        }
        let skip = usize::try_from(at.saturating_sub(self.at)).unwrap_or(usize::MAX);
        Ok(self.bytes.get(skip..).unwrap_or_default())
    }
}
