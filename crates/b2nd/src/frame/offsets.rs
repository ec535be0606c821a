//! The offsets of the chunks of a frame (its index): a little-endian `i64` for each, itself stored as one chunk.

use super::packed::PackedOffsets;
use crate::chunk;
use crate::chunk::Params;
use crate::chunk::Special;
use crate::chunk::SplitMode;
use crate::codec::Codec;
use crate::error::{Error, Part, Result};
use crate::exec::Exec;
use crate::filter::Pipeline;
use crate::limits::Limits;
use std::sync::Arc;

/// No chunks.
impl Default for Offsets {
    fn default() -> Self {
        Offsets::none()
    }
}

/// A parsed offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChunkOffset {
    /// Bytes from the end of the header, or the number of a chunk file.
    Stored(u64),
    /// No bytes: `Zeros`, `Nan` or `Uninit`.
    Special(Special),
}

const ZEROS: u8 = 0x81;
const NAN: u8 = 0x82;
const UNINIT: u8 = 0x84;

impl ChunkOffset {
    /// The meaning of a stored value.
    pub(crate) fn from_raw(raw: i64) -> Result<Self> {
        if let Ok(offset) = u64::try_from(raw) {
            return Ok(ChunkOffset::Stored(offset));
        }
        let [.., kind] = raw.to_le_bytes();
        // In this order: it decides what a value with several bits means to everyone else.
        [(ZEROS, Special::Zeros), (UNINIT, Special::Uninit), (NAN, Special::Nan)]
            .into_iter()
            .find(|(bit, _)| kind & bit & 0x7f != 0)
            .map(|(_, special)| ChunkOffset::Special(special))
            .ok_or_else(|| {
                Error::format(Part::Offsets, None, format!("an offset of unknown kind {kind:02x}"))
            })
    }
    /// The stored value; `None` for the special values that an offset cannot say.
    pub(crate) fn to_raw(self) -> Option<i64> {
        let kind = match self {
            ChunkOffset::Stored(offset) => return i64::try_from(offset).ok(),
            ChunkOffset::Special(Special::Zeros) => ZEROS,
            ChunkOffset::Special(Special::Nan) => NAN,
            ChunkOffset::Special(Special::Uninit) => UNINIT,
            ChunkOffset::Special(Special::Value) => return None,
        };
        Some(i64::from_le_bytes([0, 0, 0, 0, 0, 0, 0, kind]))
    }
}

/// All offsets of a frame.
#[derive(Debug, Clone)]
pub(crate) enum Offsets {
    /// The same for every chunk: what a new array has, at no cost for each chunk.
    Uniform { raw: i64, len: u64 },
    /// One for each chunk, compressed as in the file; a change turns them into [`Offsets::Each`].
    Packed(Arc<PackedOffsets>),
    /// One for each chunk.
    Each(Vec<i64>),
}

impl Offsets {
    /// The most chunks that a frame can have: the number of offsets that fit in one chunk.
    pub(crate) const MAX_CHUNKS: u64 = (i32::MAX as u64 - 32) / 8;

    /// No chunks.
    pub(crate) fn none() -> Self {
        Offsets::Each(Vec::new())
    }
    /// The number of chunks.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Offsets::Uniform { len, .. } => *len,
            Offsets::Packed(packed) => packed.len(),
            Offsets::Each(all) => all.len() as u64,
        }
    }
    /// Hashes them: the same for the same offsets, however they are kept.
    ///
    /// # Errors
    /// [`Error::Format`] when stored offsets are damaged.
    pub(crate) fn hash(&self, hasher: &mut impl std::hash::Hasher) -> Result<()> {
        hasher.write(&self.len().to_le_bytes());
        match (self, self.all_equal()?) {
            (_, Some(raw)) => hasher.write(&raw.to_le_bytes()),
            (_, None) => self.each_block(|_, block| {
                block.iter().for_each(|raw| hasher.write(&raw.to_le_bytes()));
                Ok(())
            })?,
        }
        Ok(())
    }
    /// The stored value of chunk `n`.
    pub(crate) fn raw(&self, n: u64) -> Result<i64> {
        let found = match self {
            Offsets::Uniform { raw, len } => Some(*raw).filter(|_| n < *len),
            Offsets::Packed(packed) if n < packed.len() => return packed.raw(n),
            Offsets::Packed(_) => None,
            Offsets::Each(all) => usize::try_from(n).ok().and_then(|n| all.get(n)).copied(),
        };
        found.ok_or_else(|| {
            Error::out_of_bounds(
                n,
                self.len(),
                format!("there is no chunk {n}: the frame has {}", self.len()),
            )
        })
    }
    /// Calls `work` with the stored values in their order, some thousand at a time, and the number of the first of them.
    /// Holds one block of them decoded.
    pub(crate) fn each_block(&self, mut work: impl FnMut(u64, &[i64]) -> Result<()>) -> Result<()> {
        match self {
            Offsets::Uniform { raw, len } => {
                let block = [*raw; 2048];
                let mut first = 0u64;
                while first < *len {
                    let count = (len.saturating_sub(first)).min(block.len() as u64);
                    work(first, block.get(..usize::try_from(count).unwrap_or(0)).unwrap_or_default())?;
                    first = first.saturating_add(count);
                }
                Ok(())
            }
            Offsets::Packed(packed) => (0..packed.nblocks()).try_for_each(|n| {
                let first = packed.per_block().saturating_mul(n as u64);
                work(first, &packed.block(n)?)
            }),
            Offsets::Each(all) => work(0, all),
        }
    }
    /// Calls `work` with each chunk that is more than an offset: its number and its stored value.
    pub(crate) fn each_stored(&self, mut work: impl FnMut(u64, i64) -> Result<()>) -> Result<()> {
        if matches!(self, Offsets::Uniform { raw: ..0, .. }) {
            return Ok(());
        }
        self.each_block(|first, block| {
            let mut stored = (first..).zip(block).filter(|(_, raw)| **raw >= 0);
            stored.try_for_each(|(n, raw)| work(n, *raw))
        })
    }
    /// The parsed offset of chunk `n`.
    pub(crate) fn get(&self, n: u64) -> Result<ChunkOffset> {
        ChunkOffset::from_raw(self.raw(n)?).map_err(|error| error.in_chunk(n))
    }
    /// The highest number of a chunk file, if there is one.
    pub(crate) fn max_stored(&self) -> Result<Option<u64>> {
        if let Offsets::Uniform { raw, len } = self {
            return Ok(u64::try_from(*raw).ok().filter(|_| *len > 0));
        }
        let mut highest = None;
        self.each_block(|_, block| {
            highest = highest.max(block.iter().copied().max());
            Ok(())
        })?;
        Ok(highest.and_then(|raw| u64::try_from(raw).ok()))
    }

    /// The numbers of all chunks, grouped by their stored value.
    pub(crate) fn groups(&self) -> Result<SameChunks> {
        if let Offsets::Uniform { len, .. } = self {
            return Ok(SameChunks::All(*len));
        }
        let refused = || Error::out_of_memory("the chunk offsets", self.len().saturating_mul(16));
        let len = usize::try_from(self.len()).map_err(|_| refused())?;
        let mut sorted = Vec::new();
        sorted.try_reserve_exact(len).map_err(|_| refused())?;
        self.each_block(|first, block| {
            sorted.extend(block.iter().copied().zip(first..));
            Ok(())
        })?;
        sorted.sort_unstable();
        let mut starts = Vec::new();
        starts.try_reserve_exact(len).map_err(|_| refused())?;
        let (mut at, mut before) = (0usize, None);
        for (raw, _) in &sorted {
            if before != Some(*raw) {
                starts.push(at);
                before = Some(*raw);
            }
            at = at.saturating_add(1);
        }
        Ok(SameChunks::Sorted { sorted, starts })
    }

    /// Takes the index chunk; it must hold `nchunks` offsets where that is known. Blocks of it are decoded when they are asked
    /// for.
    pub(super) fn decode(chunk: &[u8], nchunks: Option<u64>, limits: &Limits) -> Result<Self> {
        let len = u64::from(measure(chunk, nchunks, limits)?.nbytes()) / 8;
        if len == 0 {
            return Ok(Offsets::none());
        }
        if let Some(raw) = uniform_value(chunk) {
            return Ok(Offsets::Uniform { raw, len });
        }
        if let Some(packed) = PackedOffsets::new(chunk, limits)? {
            return Ok(Offsets::Packed(Arc::new(packed)));
        }
        // The limit on chunks is about data; the index has its own.
        let limits = limits.clone().with_max_chunk_bytes(limits.max_index_bytes());
        let bytes = chunk::decode(chunk, &limits, &Exec::new(1)).map_err(as_index_error)?;
        let mut all = Vec::new();
        all.try_reserve_exact(bytes.len() / 8)
            .map_err(|_| Error::out_of_memory("the chunk offsets", bytes.len() as u64))?;
        all.extend(bytes.as_chunks::<8>().0.iter().map(|raw| i64::from_le_bytes(*raw)));
        Ok(Offsets::Each(all))
    }

    /// The index chunk, compressed as everyone compresses it.
    pub(crate) fn encode(&self, exec: &Exec) -> Result<Vec<u8>> {
        let params = Params::new(8)
            .with_codec(Codec::BloscLz)
            .with_clevel(5)
            .with_pipeline(Pipeline::from_bytes([0, 0, 0, 0, 0, 1], [0; 6]))
            .with_split(SplitMode::Never)
            .with_blocksize(Some(16 * 1024));
        let nbytes = u32::try_from(self.len().saturating_mul(8))
            .ok()
            .filter(|_| self.len() <= Self::MAX_CHUNKS)
            .ok_or_else(|| {
                Error::above(
                    Self::MAX_CHUNKS,
                    self.len(),
                    format!("{} chunks are too many for a frame: make chunks larger", self.len()),
                )
            })?;
        match self.all_equal()? {
            Some(raw) if raw < 0 => {
                chunk::encode_special(Special::Value, nbytes, &raw.to_le_bytes(), &params)
            }
            _ => {
                let mut bytes = Vec::new();
                bytes
                    .try_reserve_exact(usize::try_from(nbytes).unwrap_or(usize::MAX))
                    .map_err(|_| Error::out_of_memory("the chunk offsets", u64::from(nbytes)))?;
                self.each_block(|_, block| {
                    block.iter().for_each(|raw| bytes.extend_from_slice(&raw.to_le_bytes()));
                    Ok(())
                })?;
                chunk::encode(&bytes, &params, exec)
            }
        }
    }

    fn all_equal(&self) -> Result<Option<i64>> {
        match self {
            Offsets::Uniform { raw, .. } => Ok(Some(*raw)),
            Offsets::Packed(packed) => {
                let first = packed.raw(0)?;
                for n in 0..packed.nblocks() {
                    if packed.block(n)?.iter().any(|raw| *raw != first) {
                        return Ok(None);
                    }
                }
                Ok(Some(first))
            }
            Offsets::Each(all) => {
                let Some((first, rest)) = all.split_first() else { return Ok(None) };
                Ok(rest.iter().all(|raw| raw == first).then_some(*first))
            }
        }
    }

    /// Whether they are the same as others.
    ///
    /// # Errors
    /// [`Error::Format`] when stored offsets are damaged.
    pub(crate) fn is_same_as(&self, other: &Offsets) -> Result<bool> {
        match (self, other) {
            _ if self.len() != other.len() => return Ok(false),
            (Offsets::Uniform { raw, .. }, Offsets::Uniform { raw: others, .. }) => return Ok(raw == others),
            (Offsets::Packed(one), Offsets::Packed(two)) if one.chunk() == two.chunk() => return Ok(true),
            (Offsets::Each(one), Offsets::Each(two)) => return Ok(one == two),
            _ => {}
        }
        let mut same = true;
        self.each_block(|first, block| {
            for (n, raw) in (first..).zip(block) {
                same = same && other.raw(n)? == *raw;
            }
            Ok(())
        })?;
        Ok(same)
    }
}

/// The chunks of a frame in groups of the same stored value, in the order of these.
#[derive(Debug)]
pub(crate) enum SameChunks {
    /// All chunks are one group.
    All(u64),
    /// Values with the numbers of their chunks, and where each group starts.
    Sorted { sorted: Vec<(i64, u64)>, starts: Vec<usize> },
}

/// The chunks of a group behind its first.
#[derive(Debug)]
pub(crate) enum Others<'a> {
    Range(u64),
    Listed(&'a [(i64, u64)]),
}

impl SameChunks {
    /// The number of groups.
    pub(crate) fn len(&self) -> usize {
        match self {
            SameChunks::All(len) => usize::from(*len > 0),
            SameChunks::Sorted { starts, .. } => starts.len(),
        }
    }
    /// The first chunk of a group, and the others.
    pub(crate) fn get(&self, group: usize) -> Option<(u64, Others<'_>)> {
        match self {
            SameChunks::All(len) => (group < self.len()).then_some((0, Others::Range(*len))),
            SameChunks::Sorted { sorted, starts } => {
                let end = starts.get(group.checked_add(1)?).copied().unwrap_or(sorted.len());
                let (first, others) = sorted.get(*starts.get(group)?..end)?.split_first()?;
                Some((first.1, Others::Listed(others)))
            }
        }
    }
}

impl Others<'_> {
    /// The number of chunks.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Others::Range(end) => end.saturating_sub(1),
            Others::Listed(listed) => listed.len() as u64,
        }
    }
    #[cfg(test)]
    /// The chunks, in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        let (range, listed) = match self {
            Others::Range(end) => (1..*end, &[][..]),
            Others::Listed(listed) => (0..0, *listed),
        };
        range.chain(listed.iter().map(|(_, n)| *n))
    }
}

/// The header of an index chunk, checked against what the frame says; `start` has its first bytes or all.
pub(super) fn measure(start: &[u8], nchunks: Option<u64>, limits: &Limits) -> Result<chunk::ChunkHeader> {
    let header = chunk::ChunkHeader::parse(start).map_err(as_index_error)?;
    let nbytes = u64::from(header.nbytes());
    let expected = nchunks.map_or(nbytes & !7, |n| n.saturating_mul(8));
    if nbytes != expected || nbytes / 8 > Offsets::MAX_CHUNKS {
        let count = nchunks.map_or_else(|| "all".to_owned(), |n| n.to_string());
        return Err(Error::format(Part::Offsets, 4, format!("{nbytes} bytes of offsets for {count} chunks")));
    }
    Limits::check("the chunk offsets", nbytes, limits.max_index_bytes())?;
    Ok(header)
}

/// The one value of an index chunk that repeats it.
fn uniform_value(chunk: &[u8]) -> Option<i64> {
    let header = chunk::ChunkHeader::parse(chunk).ok()?;
    match header.special()? {
        Special::Zeros | Special::Uninit => return Some(0),
        Special::Value if header.cbytes() == 40 => {}
        _ => return None,
    }
    chunk.get(32..)?.first_chunk::<8>().map(|raw| i64::from_le_bytes(*raw))
}

/// What breaks inside the index chunk is a break of the index.
pub(super) fn as_index_error(error: Error) -> Error {
    match error {
        Error::Format(inner) => {
            Error::format(Part::Offsets, None, format!("{}: {}", inner.part().name(), inner.reason()))
        }
        other => other,
    }
}
