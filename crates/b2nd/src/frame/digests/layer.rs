//! Reading the layer: the root at once, segments when they are needed.

use super::seal::{StoredLayer, plain};
use super::{FIXED, LISTED, MAGIC, MARKER, VERSION};
use crate::chunk;
use crate::chunk::Sums;
use crate::error::{Error, Part, Result};
use crate::exec::Exec;
use crate::limits::Limits;
use crate::wire::Cursor;
use std::ops::Range;
use std::sync::Arc;
use std::sync::OnceLock;

/// State of the entries of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryTrust {
    /// b2nd wrote the chunk: what does not match is damaged.
    Sure,
    /// Another program has written to the frame since: what does not match may be its work.
    Doubtful,
}

impl EntryTrust {
    pub(super) fn bits(self) -> u32 {
        match self {
            EntryTrust::Sure => 1,
            EntryTrust::Doubtful => 2,
        }
    }
    fn from_bits(bits: u32) -> Option<Self> {
        [EntryTrust::Sure, EntryTrust::Doubtful].into_iter().find(|state| state.bits() == bits)
    }
}

/// Where the state is in the word of a chunk.
pub(super) const STATE_SHIFT: u32 = 30;

/// The checksums of a frame, as they are stored.
#[derive(Debug)]
pub(crate) struct Layer {
    /// The stored layer, or its start with the root.
    bytes: Arc<[u8]>,
    pub(crate) identity: [u64; 2],
    pub(crate) nchunks: u64,
    per_segment: u64,
    pub(crate) offsets: u64,
    header: Range<usize>,
    vlmetalayers: Vec<u64>,
    segments: Vec<LayerSegment>,
    /// Whether segments do not overlap.
    apart: bool,
    /// Whether entries of damaged segments are given out, as doubtful.
    loose: bool,
}

#[derive(Debug)]
struct LayerSegment {
    number: u64,
    bytes: Range<usize>,
    /// The bytes, where the layer has only its start.
    fetched: OnceLock<Arc<[u8]>>,
    digest: u64,
    /// Where the entries of each chunk start, counted in entries; `None` where the segment is damaged.
    starts: OnceLock<Option<Vec<u32>>>,
    whole: OnceLock<bool>,
}

impl Layer {
    /// Parses the layer from its chunk, which another program may have compressed.
    pub(crate) fn parse(stored: &StoredLayer, limits: &Limits) -> Result<Self> {
        match plain(&stored.bytes) {
            Some(at) => Self::read(stored, at),
            None => {
                let header = chunk::ChunkHeader::parse(&stored.bytes)?;
                let meta = limits.max_meta_bytes();
                Limits::check("the checksums", u64::from(header.nbytes()), meta)?;
                let limits = limits.clone().with_max_chunk_bytes(meta);
                let content: Arc<[u8]> = chunk::decode(&stored.bytes, &limits, &Exec::new(1))?.into();
                Self::read(&content.into(), 0)
            }
        }
    }

    /// Reads the content that starts at `at`.
    fn read(stored: &StoredLayer, at: usize) -> Result<Self> {
        let bytes = &stored.bytes;
        let mut cursor = Cursor::new(bytes, at, Part::Checksums);
        let len = cursor.bin32_len("the checksums")?;
        let base = at.saturating_add(MARKER);
        let end = base.saturating_add(len);
        let content = bytes.get(base..end.min(bytes.len())).filter(|_| end <= stored.len);
        let content = content.ok_or_else(|| cursor.error("the checksums are cut off"))?;
        if !content.starts_with(&MAGIC) {
            return Err(cursor.error("the mark of checksums is missing"));
        }
        let mut cursor = Cursor::new(content, MAGIC.len(), Part::Checksums);
        let version = little_32(&mut cursor)?;
        if version != VERSION {
            return Err(Error::unsupported(format!("checksums of version {version}")));
        }
        let root_len = little_32(&mut cursor)?;
        let identity = [little_64(&mut cursor)?, little_64(&mut cursor)?];
        let nchunks = little_64(&mut cursor)?;
        let per_segment = little_64(&mut cursor)?;
        let offsets = little_64(&mut cursor)?;
        let header_len = little_32(&mut cursor)? as usize;
        if !(1..=1 << 24).contains(&per_segment) || cursor.position() != FIXED {
            return Err(cursor.error(format!("segments of {per_segment} chunks")));
        }
        let start = base.saturating_add(cursor.position());
        cursor.take(header_len, "the copy of the header")?;
        let header = start..start.saturating_add(header_len);
        let count = little_32(&mut cursor)?;
        let words = cursor.take((count as usize).saturating_mul(8), "the digests of vlmetalayers")?;
        let vlmetalayers = words.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let body = (root_len as usize).checked_add(base);
        let body = body.ok_or_else(|| cursor.error("a root of such a length"))?;
        let segments = segments(&mut cursor, body, stored.len)?;
        let apart =
            segments.windows(2).all(|two| matches!(two, [one, next] if one.bytes.end <= next.bytes.start));
        // Each segment that is fetched is kept by itself: together they must not be longer than the layer.
        if !apart && bytes.len() < stored.len {
            return Err(cursor.error("the segments overlap"));
        }
        let bytes = Arc::clone(bytes);
        Ok(Layer {
            bytes,
            identity,
            nchunks,
            per_segment,
            offsets,
            header,
            vlmetalayers,
            segments,
            apart,
            loose: false,
        })
    }

    /// The same layer for repairs: entries of damaged segments are returned too, as doubtful.
    pub(crate) fn loosely(self) -> Self {
        Layer { loose: true, ..self }
    }

    /// The chunks whose entries are damaged: the first and the last of each segment.
    pub(crate) fn damaged(&self) -> impl Iterator<Item = (u64, u64)> {
        self.segments.iter().filter(|segment| !self.is_whole(segment)).map(|segment| {
            let first = segment.number.saturating_mul(self.per_segment);
            (first, first.saturating_add(self.per_segment).min(self.nchunks).saturating_sub(1))
        })
    }

    /// The chunks that may have entries, in order.
    pub(crate) fn listed(&self) -> impl Iterator<Item = Range<u64>> {
        let readable = |segment: &&LayerSegment| {
            let first = segment.number.saturating_mul(self.per_segment);
            once(&segment.starts, || self.starts(segment, first)).is_some()
        };
        self.segments.iter().filter(readable).map(|segment| {
            let first = segment.number.saturating_mul(self.per_segment);
            first..first.saturating_add(self.per_segment).min(self.nchunks)
        })
    }

    fn is_whole(&self, segment: &LayerSegment) -> bool {
        let bytes = || self.bytes_of(segment);
        *once(&segment.whole, || bytes().is_some_and(|bytes| chunk::hash(bytes) == segment.digest))
    }

    /// The bytes of a segment, where they are at hand.
    fn bytes_of<'a>(&'a self, segment: &'a LayerSegment) -> Option<&'a [u8]> {
        match segment.fetched.get() {
            Some(fetched) => Some(fetched),
            // Known to be damaged, so nothing is fetched.
            None if segment.bytes.is_empty() => Some(&[]),
            None => self.bytes.get(segment.bytes.clone()),
        }
    }

    /// The segment that has the entries of chunk `n`.
    fn segment_of(&self, n: u64) -> Option<(usize, &LayerSegment)> {
        let number = n.checked_div(self.per_segment).unwrap_or(0);
        let at = self.segments.binary_search_by_key(&number, |segment| segment.number).ok()?;
        self.segments.get(at).map(|segment| (at, segment))
    }

    /// The segment with the entries of chunk `n`, and where in the stored layer it is, unless it is at hand.
    pub(crate) fn missing_segment(&self, n: u64) -> Option<(usize, Range<usize>)> {
        let (at, segment) = self.segment_of(n)?;
        (self.bytes_of(segment).is_none()).then(|| (at, segment.bytes.clone()))
    }

    /// Takes the bytes of a segment that [`Layer::missing_segment`] named; whether they match their digest.
    pub(crate) fn supply_segment(&self, at: usize, bytes: &[u8]) -> bool {
        let Some(segment) = self.segments.get(at) else { return false };
        let matches = bytes.len() == segment.bytes.len() && chunk::hash(bytes) == segment.digest;
        if matches {
            once(&segment.fetched, || bytes.into());
        }
        matches
    }

    /// The error for a segment that does not match its digest.
    pub(crate) fn damaged_segment(&self, at: usize) -> Error {
        let number = self.segments.get(at).map_or(0, |segment| segment.number);
        let first = number.saturating_mul(self.per_segment);
        let last = first.saturating_add(self.per_segment.saturating_sub(1));
        Error::format(Part::Checksums, None, format!("those of chunks {first} to {last}"))
    }

    /// The header of the frame that was written with this layer.
    pub(crate) fn header(&self) -> &[u8] {
        self.bytes.get(self.header.clone()).unwrap_or_default()
    }

    /// What the stored bytes of vlmetalayer `n` hash to.
    pub(crate) fn vlmetalayer(&self, n: usize) -> Option<u64> {
        self.vlmetalayers.get(n).copied()
    }

    /// What the stored bytes of all vlmetalayers hash to, in their order.
    pub(crate) fn vlmetalayers(&self) -> &[u64] {
        &self.vlmetalayers
    }

    /// The stored bytes of a segment, and what they have to hash to, where they can go into another layer unread: where segments
    /// have so many chunks, and lie as b2nd puts them, so that all of them together are no longer than this layer.
    pub(super) fn segment(&self, number: u64, per_segment: u64) -> Option<(&[u8], u64)> {
        if self.per_segment != per_segment || self.loose || !self.apart {
            return None;
        }
        let found = self.segments.binary_search_by_key(&number, |segment| segment.number).ok()?;
        let segment = self.segments.get(found)?;
        Some((self.bytes_of(segment)?, segment.digest))
    }

    /// The entries of chunk `n`, which starts at `offset` of its file; `None` if it has none.
    ///
    /// # Errors
    /// [`Error::Format`] when the segment that has them is damaged.
    pub(crate) fn sums(&self, n: u64, offset: u64) -> Result<Option<(EntryTrust, Sums)>> {
        let Some((at, segment)) = self.segment_of(n) else { return Ok(None) };
        if self.bytes_of(segment).is_none() {
            return Err(self.damaged_segment(at));
        }
        let first = segment.number.saturating_mul(self.per_segment);
        let index = usize::try_from(n.saturating_sub(first)).unwrap_or(usize::MAX);
        let starts = once(&segment.starts, || self.starts(segment, first)).as_ref();
        let starts = starts.ok_or_else(|| self.damaged_segment(at))?;
        let Some(start) = starts.get(index).copied() else { return Ok(None) };
        let word = self.word(segment, index);
        let Some(state) = EntryTrust::from_bits(word >> STATE_SHIFT) else { return Ok(None) };
        let state = if self.is_whole(segment) { state } else { EntryTrust::Doubtful };
        let (entries, base) = match segment.fetched.get() {
            Some(fetched) => (fetched, 0),
            None => (&self.bytes, segment.bytes.start),
        };
        let entries = Arc::clone(entries);
        let table = starts.len().saturating_mul(4);
        let at = base.saturating_add(table).saturating_add((start as usize).saturating_mul(8));
        let count = (word & ((1 << STATE_SHIFT) - 1)) as usize;
        let sums = Sums { entries, at, count, identity: self.identity, chunk: n, offset };
        Ok(Some((state, sums)))
    }

    /// The word of a chunk in the table of its segment.
    fn word(&self, segment: &LayerSegment, index: usize) -> u32 {
        let table = self.bytes_of(segment).unwrap_or_default();
        let word = table.get(index.saturating_mul(4)..).and_then(<[u8]>::first_chunk::<4>);
        word.map_or(0, |word| u32::from_le_bytes(*word))
    }

    /// Checks a segment, and finds where the entries of its chunks are.
    fn starts(&self, segment: &LayerSegment, first: u64) -> Option<Vec<u32>> {
        let bytes = self.bytes_of(segment)?;
        if !self.loose && !self.is_whole(segment) {
            return None;
        }
        let count = usize::try_from(self.nchunks.checked_sub(first)?.min(self.per_segment)).ok()?;
        let (table, entries) = bytes.split_at_checked(count.checked_mul(4)?)?;
        let mut starts = Vec::new();
        starts.try_reserve_exact(count).ok()?;
        let mut at = 0u32;
        for word in table.as_chunks::<4>().0 {
            starts.push(at);
            at = at.checked_add(u32::from_le_bytes(*word) & ((1 << STATE_SHIFT) - 1))?;
        }
        (u64::from(at).checked_mul(8)? == entries.len() as u64).then_some(starts)
    }
}

/// The value of `place`, made where there is none. It is made before the place is locked: a forked child would wait for ever for
/// a thread that its parent has.
fn once<T>(place: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    if let Some(value) = place.get() {
        return value;
    }
    let value = make();
    place.get_or_init(|| value)
}

/// The list of segments at the end of the root; `body` is where they start in `len` bytes.
fn segments(cursor: &mut Cursor<'_>, body: usize, len: usize) -> Result<Vec<LayerSegment>> {
    let count = little_32(cursor)? as usize;
    let listed = cursor.take(count.saturating_mul(LISTED), "the list of segments")?;
    let mut segments: Vec<LayerSegment> = Vec::new();
    segments.try_reserve_exact(count).map_err(|_| Error::out_of_memory("checksums", count as u64))?;
    let mut listed = Cursor::new(listed, 0, Part::Checksums);
    for _ in 0..count {
        let number = little_64(&mut listed)?;
        let place = usize::try_from(little_64(&mut listed)?).unwrap_or(usize::MAX);
        let size = usize::try_from(little_64(&mut listed)?).unwrap_or(usize::MAX);
        let digest = little_64(&mut listed)?;
        let start = body.saturating_add(place);
        let end = start.saturating_add(size);
        if end > len || segments.last().is_some_and(|last| last.number >= number) {
            return Err(listed.error(format!("segment {number} is out of place")));
        }
        segments.push(LayerSegment {
            number,
            bytes: start..end,
            fetched: OnceLock::new(),
            digest,
            starts: OnceLock::new(),
            whole: OnceLock::new(),
        });
    }
    Ok(segments)
}

fn little_32(cursor: &mut Cursor<'_>) -> Result<u32> {
    cursor.array("the checksums").map(u32::from_le_bytes)
}

fn little_64(cursor: &mut Cursor<'_>) -> Result<u64> {
    cursor.array("the checksums").map(u64::from_le_bytes)
}
