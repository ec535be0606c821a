//! What is damaged in a super-chunk, what another program has changed, and what cannot be told.

use super::snapshot::{FrameState, Place};
use super::walk::{self, Chunks, DamagedBlock};
use crate::chunk;
use crate::chunk::{ChunkHeader, Context};
use crate::error::{Error, Fault, Part, Result};
use crate::exec::Exec;
use crate::frame::digests::EntryTrust;
use crate::limits::Limits;
use std::ops::Range;

/// Damaged chunks that follow one another, or damaged blocks of one chunk, as [`FrameState::verify`] and
/// [`Array::verify`](crate::Array::verify) find them.
#[derive(Debug)]
#[non_exhaustive]
pub struct Damage {
    /// The number of the chunk: of the first one, where several are damaged.
    pub chunk: u64,
    /// The number of the block inside the chunk: of the first one, where several are damaged. `None` when nothing of the chunk
    /// can be read.
    pub block: Option<u32>,
    /// How many blocks of the chunk are damaged, from `block` on; or how many chunks, where `block` is `None`.
    pub count: u64,
    /// The first item of the array region that is lost, along each axis. Of a super-chunk that is no array: along its one row of
    /// items, or nothing where chunks differ in size. Of several chunks: of the smallest box that holds them all.
    pub start: Vec<u64>,
    /// One past its last item, along each axis. Nothing is lost where it is not above `start` (padding).
    pub stop: Vec<u64>,
    /// What is wrong with the first of them; [`FormatError::bytes`](crate::error::FormatError::bytes) has the bytes of the file
    /// where a checksum says so.
    pub error: Error,
}

impl Damage {
    /// The numbers of the chunks: one, where blocks are damaged.
    pub fn chunks(&self) -> Range<u64> {
        let count = if self.block.is_some() { 1 } else { self.count };
        self.chunk..self.chunk.saturating_add(count)
    }

    /// The chunks and blocks in words: `chunk 7`, `chunks 7 to 9 (3 chunks)`, `chunk 7, block 2`.
    pub fn place(&self) -> String {
        let several = |thing: &str, first: u64| {
            let (last, count) = (first.saturating_add(self.count.saturating_sub(1)), self.count);
            if count == 1 {
                format!("{thing} {first}")
            } else {
                format!("{thing}s {first} to {last} ({count} {thing}s)")
            }
        };
        match self.block {
            Some(block) => format!("chunk {}, {}", self.chunk, several("block", u64::from(block))),
            None => several("chunk", self.chunk),
        }
    }
}

/// What [`FrameState::verify`] and [`Array::verify`](crate::Array::verify) find.
///
/// The lists have at most 10,000 entries each, fewer where [`Limits::max_index_bytes`] has less than 512 bytes for each; the
/// counts beside them are of all.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Verified {
    /// What is damaged, in order.
    pub damage: Vec<Damage>,
    /// How many chunks and blocks are damaged: all of them, listed in `damage` or not.
    pub damaged: u64,
    /// Chunks that do not match a checksum from before another program wrote to the frame, in order: its work, or damage.
    /// They can be decoded.
    pub stale: Vec<u64>,
    /// The number of these chunks, listed in `stale` or not.
    pub stale_chunks: u64,
    /// Stored chunks all of which matches its checksums.
    pub matching: u64,
    /// Stored chunks that no checksum tells anything about.
    pub unchecked: u64,
}

/// The most entries of a list of damage.
const MOST_LISTED: u64 = 10_000;
/// About what an entry costs, its texts included.
const LISTED_BYTES: u64 = 512;

/// The most entries that a list of damaged or stale chunks has.
pub(crate) fn most_listed(limits: &Limits) -> usize {
    usize::try_from((limits.max_index_bytes() / LISTED_BYTES).clamp(1, MOST_LISTED)).unwrap_or(usize::MAX)
}

/// Checksum status of a chunk that decodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChecksumStatus {
    Matching,
    Stale,
    Unchecked,
}

impl Verified {
    /// Whether nothing is damaged.
    pub fn is_sound(&self) -> bool {
        self.damaged == 0
    }
    /// The number of damaged chunks and blocks that are not listed, as there are too many.
    pub fn unlisted(&self) -> u64 {
        let listed = self.damage.iter().fold(0u64, |sum, damage| sum.saturating_add(damage.count));
        self.damaged.saturating_sub(listed)
    }
    /// Notes chunks that can be decoded; at most `most` are listed.
    pub(super) fn note(&mut self, status: ChecksumStatus, chunks: Range<u64>, most: usize) {
        let count = chunks.end.saturating_sub(chunks.start);
        match status {
            ChecksumStatus::Matching => self.matching = self.matching.saturating_add(count),
            ChecksumStatus::Unchecked => self.unchecked = self.unchecked.saturating_add(count),
            ChecksumStatus::Stale => {
                self.stale_chunks = self.stale_chunks.saturating_add(count);
                self.stale.extend(chunks.take(most.saturating_sub(self.stale.len())));
            }
        }
    }
}

impl FrameState {
    /// Checksum status of chunk `n`, which decodes and has the bytes `chunk`.
    pub(crate) fn checksum_status(&self, n: u64, place: Place, chunk: &[u8]) -> Result<ChecksumStatus> {
        Ok(match self.known_sums(n, place)? {
            // A read has checked it.
            Some((EntryTrust::Sure, _)) if self.digests()?.check => ChecksumStatus::Matching,
            Some((EntryTrust::Doubtful, sums)) if sums.check_chunk(chunk).is_ok() => ChecksumStatus::Matching,
            Some((EntryTrust::Doubtful, _)) => ChecksumStatus::Stale,
            _ => ChecksumStatus::Unchecked,
        })
    }

    /// Decodes every chunk, and checks it where there are checksums.
    ///
    /// Chunks that the index puts in the same place are decoded once. Memory: blocks, and at most 16 bytes for each stored chunk.
    ///
    /// ```
    /// use b2nd::{OpenOptions, Params, SChunk};
    /// use b2nd::schunk::CreateOptions;
    /// let options = CreateOptions::new(Params::new(1)).with_checksums(true);
    /// let schunk = options.create_with_in_memory(|t| t.append(b"what is kept"))?;
    /// let mut bytes = schunk.to_bytes()?;
    /// let at = bytes.windows(4).position(|w| w == b"kept").unwrap();
    /// bytes[at] ^= 1;
    /// let damaged = SChunk::from_bytes(bytes, &OpenOptions::new())?;
    /// let found = damaged.verify()?;
    /// assert_eq!((found.damaged, found.damage[0].chunk), (1, 0));
    /// assert!(damaged.decompress_chunk(0).is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// What is not the file's fault: [`Error::Cancelled`], [`Error::OutOfMemory`], [`Error::Limit`], and [`Error::Io`]
    /// unless a chunk file is missing or short.
    pub fn verify(&self) -> Result<Verified> {
        walk::verify(self)
    }

    /// The vlmetalayers that do not match their checksums or cannot be decompressed, with their names, in stored order.
    ///
    /// They are decompressed block by block, and nothing of them is kept. A block that has more than 16 MiB and more than 16
    /// times the bytes that are stored is not decompressed: [`Error::Limit`] says so.
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("<f8")?, [10])?;
    /// a.set_vlmetalayer("units", b"\xa1K")?;
    /// assert!(a.schunk().damaged_vlmetalayers()?.is_empty());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Format`] when the trailer is damaged, [`Error::Io`] when it cannot be read.
    pub fn damaged_vlmetalayers(&self) -> Result<Vec<(String, Error)>> {
        let mut damaged = Vec::new();
        for (n, (name, stored)) in self.trailer()?.entries().enumerate() {
            let name = name.text();
            let checked = self.check_digest(n, name, stored).and_then(|()| {
                let checked = check_vlmetalayer(stored, self.limits(), &self.exec);
                checked.map_err(|error| match error {
                    Error::Format(inner) => {
                        let reason = format!("`{name}`: {}: {}", inner.part().name(), inner.reason());
                        self.located(Error::format(Part::Vlmetalayer, None, reason))
                    }
                    other => other,
                })
            });
            damaged.extend(checked.err().map(|error| (name.to_owned(), error)));
        }
        Ok(damaged)
    }

    /// The items of some chunks, where all have the same size.
    fn items_of(&self, chunks: &Range<u64>) -> (Vec<u64>, Vec<u64>) {
        let (size, typesize) = (u64::from(self.chunksize()), u64::from(self.header.params().typesize()));
        let first = |n: u64| n.saturating_mul(size) / typesize;
        let (start, stop) = (first(chunks.start), first(chunks.end).min(self.nitems()));
        if size == 0 { (Vec::new(), Vec::new()) } else { (vec![start], vec![stop]) }
    }

    /// The damage of some chunks, or of some blocks of the first of them.
    pub(crate) fn damage_at(&self, chunks: Range<u64>, blocks: Option<Range<u32>>, error: Error) -> Damage {
        let (start, stop) = self.items_of(&chunks);
        Damage::new(chunks, blocks, start, stop, error)
    }
}

impl Damage {
    pub(crate) fn new(
        chunks: Range<u64>,
        blocks: Option<Range<u32>>,
        start: Vec<u64>,
        stop: Vec<u64>,
        error: Error,
    ) -> Self {
        let (block, count) = match blocks {
            Some(blocks) => (Some(blocks.start), u64::from(blocks.end.saturating_sub(blocks.start))),
            None => (None, chunks.end.saturating_sub(chunks.start)),
        };
        let error = match block {
            Some(block) => error.in_block(block),
            None => error,
        };
        Damage { chunk: chunks.start, block, count, start, stop, error: error.in_chunk(chunks.start) }
    }
}

impl Chunks for FrameState {
    fn schunk(&self) -> &FrameState {
        self
    }
    fn due(&self, n: u64) -> Option<u32> {
        self.chunk_nbytes(n)
    }
    fn nblocks(&self) -> usize {
        0
    }
    fn damage(&self, chunks: Range<u64>, block: Option<DamagedBlock<'_>>, error: Error) -> Damage {
        self.damage_at(chunks, block.map(DamagedBlock::range), self.located(error))
    }
}

/// The longest block of a vlmetalayer that is decompressed to check it, however short it is compressed.
const CHECKED_BLOCK: u64 = 16 << 20;

/// Decompresses a vlmetalayer block by block, and keeps nothing of it.
pub(crate) fn check_vlmetalayer(stored: &[u8], limits: &Limits, exec: &Exec) -> Result<()> {
    let header = ChunkHeader::parse(stored)?;
    if u64::from(header.cbytes()) != stored.len() as u64 {
        let reason = format!("a chunk of {} bytes in {}", header.cbytes(), stored.len());
        return Err(Error::format(Part::ChunkHeader, 12, reason));
    }
    let most = limits.max_meta_bytes();
    let context = Context::from(&limits.clone().with_max_chunk_bytes(most));
    let block = CHECKED_BLOCK.max((stored.len() as u64).saturating_mul(16)).min(most);
    chunk::check(stored, &context, block, &exec.clone().without_progress())
}

/// Whether an error is the file's: a chunk file that is missing or short counts.
pub(crate) fn is_damage(error: &Error) -> bool {
    match error {
        Error::Io { source, .. } => {
            matches!(source.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::UnexpectedEof)
        }
        other => other.fault() == Fault::File,
    }
}
