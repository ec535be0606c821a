//! Stores: where the bytes of a frame are read from, and where changes of it are written to.

use super::{FileId, Machine, WriteStep};
use crate::error::{Error, Result};
use std::fmt::Debug;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// How a store prefers to be read: what the reader joins into one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RangeCosts {
    /// Two wanted ranges are read as one when at most this many bytes lie between them.
    pub gap: u64,
    /// Ranges are not joined beyond this many bytes; a single wanted range may be longer.
    pub most: u64,
    /// A chunk of at most this many bytes is asked for whole by a [`Reader`](crate::array::Reader), not its head first.
    pub whole: u64,
}

impl RangeCosts {
    /// For files: a gap of 16 KiB, about what a system call costs in copied bytes, and at most 256 KiB, which stay in the
    /// processor's cache until they are decoded.
    pub const FILE: RangeCosts = RangeCosts::new(16 << 10, 256 << 10);

    /// Costs with these values. Chunks of up to four gaps are asked for whole.
    pub const fn new(gap: u64, most: u64) -> Self {
        RangeCosts { gap, most, whole: gap.saturating_mul(4) }
    }
    /// The same, with chunks of up to `whole` bytes asked for whole.
    #[must_use]
    pub const fn with_whole(mut self, whole: u64) -> Self {
        self.whole = whole;
        self
    }
}

impl Default for RangeCosts {
    fn default() -> Self {
        RangeCosts::FILE
    }
}

/// The files of one frame, for reading: the frame itself and, in a sparse frame, the numbered chunk files.
///
/// Reads take `&self` and come from many threads at once. Offsets count from the start of the frame, wherever that is in
/// what a store stands for. Implement this for bytes of another kind (an object store, an archive, a page cache) and open
/// with [`SChunk::open_store`](crate::SChunk::open_store), where an example is.
pub trait ReadStore: Send + Sync + Debug {
    /// The length of a file in bytes. [`FileId::Frame`] extends to the end of the store; the frame may end before that.
    fn len(&self, file: FileId) -> Result<u64>;
    /// Fills `buf` from `offset` on; an end of file before that is an error.
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()>;
    /// Fills several buffers, each from its offset on, in any order. By default one [`read_at`](ReadStore::read_at) after the
    /// other; a store that can fetch ranges at the same time overrides it.
    fn read_ranges(&self, file: FileId, ranges: &mut [(u64, &mut [u8])]) -> Result<()> {
        ranges.iter_mut().try_for_each(|(offset, buf)| self.read_at(file, *offset, buf))
    }
    /// The bytes of a range that is in memory in one piece; `None` otherwise, and then it is read.
    fn slice(&self, file: FileId, range: Range<u64>) -> Option<&[u8]> {
        let _ = (file, range);
        None
    }
    /// The numbers of all chunk files that are there, referred to or not, in any order.
    fn chunk_files(&self) -> Result<Vec<u32>> {
        Ok(Vec::new())
    }
    /// Whether all bytes are in memory, so that reading never waits.
    fn is_in_memory(&self) -> bool {
        false
    }
    /// Costs by which a reader decides which ranges to join.
    fn range_costs(&self) -> RangeCosts {
        RangeCosts::FILE
    }
    /// How many bytes of the file come before the frame. A header that lies in one sector of 512 bytes is written whole or not
    /// at all; of any other the old one is kept, past the end of the frame, until the new one is there.
    fn start(&self) -> u64 {
        0
    }
    /// Whether [`will_read`](ReadStore::will_read) does anything. Where it does, and reads had to wait lately, a read of many
    /// chunks looks at the headers of those that come next early, to tell where their blocks are.
    fn reads_ahead(&self) -> bool {
        false
    }
    /// Announces bytes that are likely to be read soon, so that they can be fetched while others are decoded.
    ///
    /// A hint, from any thread, that should return at once. Later reads may have other bounds; ranges may repeat
    /// or overlap, may reach past the end of what is there, and may not be read at all when something fails before.
    fn will_read(&self, file: FileId, offset: u64, len: u64) {
        let _ = (file, offset, len);
    }
    /// Whether [`answer`](ReadStore::answer) does anything: whether a read is better left to the store as a whole.
    fn answers(&self) -> bool {
        false
    }
    /// Fetches what a read asks for until it is done, many ranges at the same time. Reads of selections come here where the store
    /// [`answers`](ReadStore::answers), unless blocks are looked for in the block cache.
    ///
    /// # Errors
    /// What the machine returns, and where something cannot be fetched.
    fn answer(&self, machine: &mut dyn Machine) -> Result<()> {
        let _ = machine;
        Err(Error::usage("the store reads ranges one by one"))
    }
    /// The path of the frame, where it has one.
    fn path(&self) -> Option<&Path> {
        None
    }
}

/// The files of one frame, for a writer.
pub trait WriteStore: ReadStore {
    /// The store as it is now, for snapshots of the frame: what is written later does not change the bytes that a snapshot
    /// refers to.
    fn reader(&self) -> Arc<dyn ReadStore>;
    /// Applies one step of a write plan.
    ///
    /// Steps come in an order that keeps the frame whole at every moment, as long as none takes effect on the medium
    /// later than a [`WriteStep::Sync`] of its file.
    fn apply(&mut self, step: &WriteStep<'_>) -> Result<()>;
    /// A store for another frame that takes the place of this one at its first commit; `None` where there is no such
    /// thing, as in a directory.
    fn successor(&self) -> Result<Option<Box<dyn WriteStore>>> {
        Ok(None)
    }
    /// The highest number of a chunk file that is there, referred to or not: new ones get higher numbers, so that a reader of
    /// an older state of the frame never takes them for its own. `None` where no other reader can exist.
    fn last_chunk(&self) -> Result<Option<u32>> {
        Ok(None)
    }
    /// Whether no other handle reads the frame in a state before the last commit, so that what that state alone refers to may
    /// go: bytes are written over, chunk files removed. `false` where it cannot be known: then nothing of it goes.
    fn is_alone(&self) -> bool {
        false
    }
    /// Whether the frame is still what its path leads to: an error when another file has taken its place.
    fn check_place(&self) -> Result<()> {
        Ok(())
    }
    /// Takes the bytes of [`FileId::Frame`] out without a copy, where the store owns them in one piece; it is empty after that.
    fn take_frame(&mut self) -> Option<Vec<u8>> {
        None
    }
}

/// A store that was opened: for reading, or for writing too.
#[derive(Debug)]
pub(crate) enum OpenedStore {
    Read(Arc<dyn ReadStore>),
    Write(Box<dyn WriteStore>),
}

impl OpenedStore {
    /// The store, for reading.
    pub(crate) fn as_read(&self) -> &dyn ReadStore {
        match self {
            OpenedStore::Read(store) => store.as_ref(),
            OpenedStore::Write(store) => store.as_ref(),
        }
    }
    /// The store, for a snapshot.
    pub(crate) fn reader(&self) -> Arc<dyn ReadStore> {
        match self {
            OpenedStore::Read(store) => Arc::clone(store),
            OpenedStore::Write(store) => store.reader(),
        }
    }
    /// Applies one step of a write plan.
    pub(crate) fn apply(&mut self, step: &WriteStep<'_>) -> Result<()> {
        match self {
            OpenedStore::Read(store) => Err(super::read_only(store.path())),
            OpenedStore::Write(store) => store.apply(step),
        }
    }
    /// See [`WriteStore::last_chunk`].
    pub(crate) fn last_chunk(&self) -> Result<Option<u32>> {
        match self {
            OpenedStore::Read(_) => Ok(None),
            OpenedStore::Write(store) => store.last_chunk(),
        }
    }
    /// See [`WriteStore::check_place`].
    pub(crate) fn check_place(&self) -> Result<()> {
        match self {
            OpenedStore::Read(_) => Ok(()),
            OpenedStore::Write(store) => store.check_place(),
        }
    }
    /// See [`WriteStore::successor`].
    pub(crate) fn successor(&self) -> Result<Option<Box<dyn WriteStore>>> {
        match self {
            OpenedStore::Read(_) => Ok(None),
            OpenedStore::Write(store) => store.successor(),
        }
    }
    /// See [`WriteStore::take_frame`].
    pub(crate) fn take_frame(&mut self) -> Option<Vec<u8>> {
        match self {
            OpenedStore::Read(_) => None,
            OpenedStore::Write(store) => store.take_frame(),
        }
    }
    /// See [`WriteStore::is_alone`].
    pub(crate) fn is_alone(&self) -> bool {
        matches!(self, OpenedStore::Write(store) if store.is_alone())
    }
}
