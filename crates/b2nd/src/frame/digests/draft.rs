//! Writing the layer: segments from the entries of the chunks in their order, then the root, once header and offsets are known.

use super::layer::{Layer, STATE_SHIFT};
use super::{BEFORE, EntryTrust, FIXED, LISTED, MAGIC, MARKER, MOST_BYTES, SEGMENT, VERSION};
use crate::chunk;
use crate::chunk::Params;
use crate::chunk::Sums;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::wire::msgpack;
use std::sync::Arc;
use std::sync::OnceLock;

/// The segments of a layer that is being written.
#[derive(Debug)]
pub(crate) struct Drafting {
    identity: [u64; 2],
    nchunks: u64,
    body: Vec<u8>,
    listed: Vec<u8>,
    count: u32,
    /// The segment that chunks come into: its number, a word for each of its chunks, and their entries.
    open: Option<(u64, Vec<u8>, Vec<u8>)>,
}

impl Drafting {
    /// A layer for this many chunks.
    pub(crate) fn new(identity: [u64; 2], nchunks: u64) -> Self {
        Drafting { identity, nchunks, body: Vec::new(), listed: Vec::new(), count: 0, open: None }
    }

    /// Adds the entries of chunk `n`. Chunks must come in ascending order; those without entries may be left out.
    pub(crate) fn put(&mut self, n: u64, entries: &[u64]) -> Result<()> {
        let identity = self.identity;
        let bound = (0..).zip(entries).map(|(index, entry)| entry ^ chunk::mix(identity, n, index));
        self.add(n, EntryTrust::Sure, entries.len(), bound)
    }

    /// The entries of chunk `n`, as they were stored for it or for another number.
    pub(crate) fn carry(&mut self, n: u64, state: EntryTrust, sums: &Sums) -> Result<()> {
        let identity = self.identity;
        if (sums.chunk, sums.identity) == (n, identity) {
            return self.add(n, state, sums.count, sums.words());
        }
        let entries = (0..sums.count).map(|index| sums.get(index).unwrap_or(0));
        let bound = (0..).zip(entries).map(|(index, entry)| entry ^ chunk::mix(identity, n, index));
        self.add(n, state, sums.count, bound)
    }

    /// The entries of all chunks of segment `number` of `layer`, which has as many chunks there as this one will have, as they are
    /// stored, unread: where the segment is damaged it stays so. Whether it can be taken so.
    pub(crate) fn carry_segment(&mut self, number: u64, layer: &Layer) -> Result<bool> {
        let chunks = |nchunks: u64| nchunks.saturating_sub(number.saturating_mul(SEGMENT)).min(SEGMENT);
        if layer.identity != self.identity || chunks(layer.nchunks) != chunks(self.nchunks) {
            return Ok(false);
        }
        let Some((segment, digest)) = layer.segment(number, SEGMENT) else { return Ok(false) };
        self.close()?;
        if !self.is_too_long() {
            self.put_segment(number, segment, digest)?;
        }
        Ok(true)
    }

    fn add(
        &mut self,
        n: u64,
        state: EntryTrust,
        count: usize,
        entries: impl Iterator<Item = u64>,
    ) -> Result<()> {
        let number = n / SEGMENT;
        if self.open.as_ref().is_none_or(|open| open.0 != number) {
            self.close()?;
            let chunks = self.nchunks.saturating_sub(number.saturating_mul(SEGMENT)).min(SEGMENT);
            let table = vec![0; usize::try_from(chunks.saturating_mul(4)).unwrap_or(0)];
            self.open = Some((number, table, Vec::new()));
        }
        if self.is_too_long() {
            return Ok(());
        }
        let Some((_, table, stored)) = &mut self.open else { return Ok(()) };
        let at = usize::try_from((n % SEGMENT).saturating_mul(4)).unwrap_or(usize::MAX);
        let word = u32::try_from(count).unwrap_or(0) | state.bits() << STATE_SHIFT;
        let Some(place) = table.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<4>) else {
            return Err(Error::usage(format!("chunk {n} is not among those that have checksums")));
        };
        *place = word.to_le_bytes();
        let more = count.saturating_mul(8);
        stored.try_reserve(more).map_err(|_| refused(more))?;
        entries.for_each(|entry| stored.extend_from_slice(&entry.to_le_bytes()));
        Ok(())
    }

    /// Whether there will be no layer: an index of a few bytes can name one stored chunk millions of times.
    fn is_too_long(&self) -> bool {
        self.held() > MOST_BYTES
    }

    /// The bytes of all segments so far.
    pub(super) fn held(&self) -> u64 {
        let open =
            self.open.as_ref().map_or(0, |(_, table, entries)| table.len().saturating_add(entries.len()));
        self.body.len().saturating_add(open) as u64
    }

    /// Ends the open segment.
    fn close(&mut self) -> Result<()> {
        let Some((number, mut segment, entries)) = self.open.take() else { return Ok(()) };
        segment.try_reserve(entries.len()).map_err(|_| refused(entries.len()))?;
        segment.extend_from_slice(&entries);
        self.put_segment(number, &segment, chunk::hash(&segment))
    }

    fn put_segment(&mut self, number: u64, segment: &[u8], digest: u64) -> Result<()> {
        self.body.try_reserve(segment.len()).map_err(|_| refused(segment.len()))?;
        for word in [number, self.body.len() as u64, segment.len() as u64, digest] {
            self.listed.extend_from_slice(&word.to_le_bytes());
        }
        self.body.extend_from_slice(segment);
        self.count = self.count.saturating_add(1);
        Ok(())
    }

    /// All but the root; `vlmetalayers` are the digests of the others, in their order. `None` where a layer would be too long.
    pub(crate) fn finish(mut self, vlmetalayers: Vec<u64>) -> Result<Option<Draft>> {
        self.close()?;
        let draft = Draft { segments: self, vlmetalayers, finished: OnceLock::new() };
        Ok(Some(draft).filter(|draft| !draft.segments.is_too_long()))
    }
}

fn refused(bytes: usize) -> Error {
    Error::out_of_memory("checksums", bytes as u64)
}

/// A layer that is complete except for what only the commit knows.
#[derive(Debug)]
pub(crate) struct Draft {
    segments: Drafting,
    vlmetalayers: Vec<u64>,
    finished: OnceLock<Arc<[u8]>>,
}

impl Draft {
    fn root_len(&self, header_len: usize) -> usize {
        let lists = self.segments.listed.len().saturating_add(self.vlmetalayers.len().saturating_mul(8));
        FIXED.saturating_add(header_len).saturating_add(8).saturating_add(lists)
    }

    /// The length of the chunk that will hold the layer, in a frame with a header of this length.
    pub(crate) fn stored_len(&self, header_len: usize) -> usize {
        BEFORE.saturating_add(self.root_len(header_len)).saturating_add(self.segments.body.len())
    }

    /// The chunk that holds the layer of a frame with this header and these stored offsets.
    pub(crate) fn store(&self, header: &[u8], offsets: &[u8]) -> Result<Arc<[u8]>> {
        let too_large = || Error::too_large(u32::MAX, "the checksums are too large for a frame");
        let small = |len: usize| u32::try_from(len).map_err(|_| too_large());
        let mut root = MAGIC.to_vec();
        root.extend_from_slice(&VERSION.to_le_bytes());
        root.extend_from_slice(&small(self.root_len(header.len()))?.to_le_bytes());
        let [first, second] = self.segments.identity;
        for word in [first, second, self.segments.nchunks, SEGMENT, chunk::hash(offsets)] {
            root.extend_from_slice(&word.to_le_bytes());
        }
        root.extend_from_slice(&small(header.len())?.to_le_bytes());
        root.extend_from_slice(header);
        root.extend_from_slice(&small(self.vlmetalayers.len())?.to_le_bytes());
        self.vlmetalayers.iter().for_each(|digest| root.extend_from_slice(&digest.to_le_bytes()));
        root.extend_from_slice(&self.segments.count.to_le_bytes());
        root.extend_from_slice(&self.segments.listed);
        let mut content = Vec::new();
        let len = root.len().saturating_add(self.segments.body.len());
        let room = len.saturating_add(MARKER);
        content.try_reserve_exact(room).map_err(|_| Error::out_of_memory("checksums", room as u64))?;
        msgpack::put_bin32(&mut content, small(len)?, &root);
        content.extend_from_slice(&self.segments.body);
        let stored = chunk::encode(&content, &Params::new(1).with_clevel(0), &Exec::new(1))?;
        debug_assert_eq!(
            (stored.len(), self.segments.listed.len() % LISTED),
            (self.stored_len(header.len()), 0)
        );
        let stored: Arc<[u8]> = stored.into();
        Ok(Arc::clone(self.finished.get_or_init(|| stored)))
    }

    /// The result of [`Draft::store`].
    pub(crate) fn stored(&self) -> Option<Arc<[u8]>> {
        self.finished.get().cloned()
    }
}
