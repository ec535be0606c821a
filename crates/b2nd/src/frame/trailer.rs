//! The trailer of a frame: vlmetalayers, each a chunk of its own, kept compressed so that a rewrite changes no byte.
//!
//! ```text
//! 94 01 | metalayer section | ce trailer_len | d8 fingerprint type, fingerprint ×16
//! ```
//!
//! The checksums are a vlmetalayer as well, the last one; they are kept apart from those of the user.

use super::digests::{Draft, LAYER, ROOT_START, Seal, StoredLayer, fingerprint, root_end, sealed};
use super::header::Dialect;
use super::metalayers;
use super::metalayers::Name;
use crate::error::{Error, Part, Result};
use crate::wire::Cursor;
use crate::wire::msgpack;
use std::ops::Range;
use std::sync::Arc;

/// From the marker of the trailer length to the end of the frame.
pub(super) const TAIL_LEN: usize = 23;
/// The shortest trailer that anyone accepts.
const MIN_LEN: u64 = 25;
/// The length of a trailer without vlmetalayers.
const EMPTY_LEN: usize = 2 + 1 + 3 + 3 + 3 + TAIL_LEN;
/// The name under which the user data of the betas is shown.
const USERMETA: &str = "usermeta";

/// The vlmetalayers of a frame.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trailer {
    entries: Vec<(Name, Vec<u8>)>,
    /// The chunk that holds the checksums.
    layer: Option<StoredLayer>,
    /// Whether that is the last entry, as b2nd writes it.
    layer_is_last: bool,
    seal: Seal,
}

impl PartialEq for Trailer {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries && self.seal == other.seal && self.told() == other.told()
    }
}

impl Trailer {
    /// The most vlmetalayers that are read or written. C-Blosc2 reads as many but cannot add one beyond 16.
    pub(crate) const MAX_ENTRIES: u16 = 8192;

    /// The length of the trailer, from the end of the frame; `room` bytes are there for it.
    pub(super) fn measure(tail: &[u8], room: u64) -> Result<u64> {
        let at = tail.len().saturating_sub(TAIL_LEN);
        let mut cursor = Cursor::new(tail, at, Part::Trailer);
        let len = cursor.u32("the trailer length").map_err(|_| {
            Error::format(
                Part::Trailer,
                None,
                "the frame does not end with a trailer: it is cut off or damaged",
            )
        })?;
        let len = u64::from(len);
        if len < MIN_LEN || len > room {
            return Err(Error::format(
                Part::Trailer,
                None,
                format!("a trailer length of {len} with room for {room}"),
            ));
        }
        Ok(len)
    }

    /// Reads a whole trailer.
    pub(super) fn parse(bytes: &[u8], dialect: Dialect) -> Result<Self> {
        let body =
            bytes.split_at_checked(bytes.len().saturating_sub(TAIL_LEN)).map_or(bytes, |(body, _)| body);
        let mut trailer = Trailer::default();
        let mut contents = Vec::new();
        let mut cursor = Cursor::new(body, 2, Part::Trailer);
        if dialect != Dialect::Current {
            let usermeta = cursor.bin32("the user metadata")?;
            if !usermeta.is_empty() {
                trailer.entries.push((Name::from_bytes(USERMETA.as_bytes()), usermeta.to_vec()));
            }
            if cursor.position() == body.len() {
                return Ok(trailer);
            }
        }
        for entry in metalayers::parse(body, cursor.position(), Self::MAX_ENTRIES, Part::Trailer)? {
            let content = body.get(entry.content.clone()).unwrap_or_default();
            contents.push(entry.content);
            trailer.layer_is_last = entry.name.bytes() == LAYER.as_bytes() && trailer.layer.is_none();
            if entry.name.bytes() == LAYER.as_bytes() && trailer.layer.is_none() {
                trailer.layer = Some(Arc::<[u8]>::from(content).into());
            } else {
                trailer.entries.push((entry.name, content.to_vec()));
            }
        }
        if dialect == Dialect::Current {
            let layer = trailer.layer.as_ref().map(StoredLayer::bytes);
            trailer.seal = seal(bytes, &mut contents, layer);
        }
        Ok(trailer)
    }

    /// Reads a trailer of `len` bytes without the segments of its checksums: from its first bytes, which end with the root, and
    /// its last. `None` where the fingerprint does not confirm them, and all of it has to be read.
    pub(super) fn parse_start(start: &[u8], tail: &[u8], len: usize) -> Result<Option<Self>> {
        let whole = len.saturating_sub(TAIL_LEN);
        let mut trailer = Trailer { layer_is_last: true, ..Trailer::default() };
        let mut contents = Vec::new();
        for entry in metalayers::parse_start(start, whole, 2, Self::MAX_ENTRIES, Part::Trailer)? {
            let is_layer = entry.name.bytes() == LAYER.as_bytes();
            let end = entry.content.end.min(start.len());
            let content = start.get(entry.content.start..end).unwrap_or_default();
            if (entry.content.end > end) != is_layer || trailer.layer.is_some() {
                return Ok(None);
            }
            contents.push(entry.content.start..end);
            match is_layer && entry.content.end == whole {
                true => trailer.layer = Some(StoredLayer::start(content.into(), entry.content.len())),
                false => trailer.entries.push((entry.name, content.to_vec())),
            }
        }
        let tail = tail.get(tail.len().saturating_sub(TAIL_LEN)..).unwrap_or_default();
        let reduced = [start, tail].concat();
        trailer.seal = seal(&reduced, &mut contents, trailer.layer.as_ref().map(StoredLayer::bytes));
        Ok(Some(trailer).filter(|trailer| trailer.seal == Seal::Intact))
    }

    /// A trailer with these entries, the checksums perhaps among them.
    pub(super) fn of(entries: Vec<(Name, Vec<u8>)>) -> Self {
        let mut trailer = Trailer::default();
        for (name, content) in entries {
            if name.bytes() == LAYER.as_bytes() && trailer.layer.is_none() {
                trailer.layer = Some(Arc::<[u8]>::from(content).into());
            } else {
                trailer.entries.push((name, content));
            }
        }
        trailer
    }

    /// The bytes of the trailer, with the chunk `layer` that holds the checksums, if there is one.
    pub(crate) fn encode_with(&self, layer: Option<&[u8]>) -> Result<Vec<u8>> {
        let mut out = vec![0x94, 0x01];
        let mut entries: Vec<(&[u8], &[u8])> =
            self.entries().map(|(name, chunk)| (name.bytes(), chunk)).collect();
        entries.extend(layer.map(|layer| (LAYER.as_bytes(), layer)));
        metalayers::write(&mut out, &entries, 0)?;
        let len = out.len().saturating_add(TAIL_LEN);
        let len = u32::try_from(len)
            .map_err(|_| Error::too_large(u32::MAX, "the vlmetalayers are too large for a frame"))?;
        msgpack::put_u32(&mut out, len);
        out.extend_from_slice(&[msgpack::FIXEXT_16, 0]);
        let seal = match layer {
            Some(layer) => {
                let found = metalayers::parse(&out, 2, Self::MAX_ENTRIES, Part::Trailer)?;
                let mut contents: Vec<_> = found.into_iter().map(|entry| entry.content).collect();
                fingerprint(&out, &mut contents, sealed(layer).unwrap_or_default())
            }
            None => [0; 16],
        };
        out.extend_from_slice(&seal);
        Ok(out)
    }

    /// The length of the trailer with a chunk of `layer` bytes for the checksums.
    pub(crate) fn len_with(&self, layer: Option<usize>) -> Result<usize> {
        // An entry has its name, with a byte for its length, its place, and its content with a length.
        let entry = |name: usize, content: usize| name.saturating_add(content).saturating_add(1 + 5 + 5);
        let entries = self.entries.iter().map(|(name, chunk)| entry(name.bytes().len(), chunk.len()));
        let layer = layer.map(|len| entry(LAYER.len(), len));
        let len = entries.chain(layer).fold(EMPTY_LEN, usize::saturating_add);
        let too_large = |_| Error::too_large(u32::MAX, "the vlmetalayers are too large for a frame");
        u32::try_from(len).map(|_| len).map_err(too_large)
    }

    /// What a commit writes behind the last chunk, and its length: offsets and trailer, with the checksums of `digests`.
    pub(super) fn tail_len(&self, header_len: usize, offsets: &[u8], digests: Option<&Draft>) -> Result<u64> {
        let layer = digests.map(|draft| draft.stored_len(header_len));
        Ok((offsets.len() as u64).saturating_add(self.len_with(layer)? as u64))
    }

    /// Appends the trailer to the stored offsets; `header` is as it will be written.
    pub(super) fn append_to(
        &self,
        offsets: &mut Vec<u8>,
        header: &[u8],
        digests: Option<&Draft>,
    ) -> Result<()> {
        let layer = digests.map(|draft| draft.store(header, offsets)).transpose()?;
        offsets.extend_from_slice(&self.encode_with(layer.as_deref())?);
        Ok(())
    }

    /// The chunk that holds the checksums, and what the fingerprint says of it.
    pub(crate) fn checksums(&self) -> (Option<&StoredLayer>, Seal) {
        (self.layer.as_ref(), self.seal)
    }
    /// The stored checksums as far as they tell one trailer from another: with a fingerprint that holds, the root is enough.
    fn told(&self) -> Option<&[u8]> {
        let layer = self.layer.as_ref()?;
        layer.sealed().filter(|_| self.seal == Seal::Intact).or(Some(layer.bytes()))
    }
    /// Where the stored checksums start in the frame that ends at `end` with this trailer, where they are its last entry.
    pub(crate) fn layer_start(&self, end: u64) -> Option<u64> {
        let layer = self.layer.as_ref().filter(|_| self.layer_is_last)?;
        end.checked_sub((TAIL_LEN as u64).checked_add(layer.len() as u64)?)
    }
    /// Where the segments of the checksums are in the frame that ends at `end` with this trailer, where its fingerprint holds: it
    /// speaks for them, by the digests in the root.
    pub(crate) fn segments(&self, end: u64) -> Range<u64> {
        let sealed_last = self.seal == Seal::Intact && self.layer_is_last;
        let layer = self.layer.as_ref().filter(|_| sealed_last);
        let len = layer
            .map_or(0, |layer| layer.len().saturating_sub(layer.sealed().map_or(layer.len(), <[u8]>::len)));
        let end = end.saturating_sub(TAIL_LEN as u64);
        end.saturating_sub(len as u64)..end
    }
    /// Takes for the checksums what looks like them, where their name is wrong.
    pub(super) fn adopt_checksums(&mut self) {
        let found = self.entries.iter().position(|(_, content)| sealed(content).is_some());
        if let (None, Some(found)) = (&self.layer, found) {
            self.layer = Some(Arc::<[u8]>::from(self.entries.remove(found).1).into());
        }
    }
    /// Takes the place of the checksums that are there.
    pub(crate) fn set_checksums(&mut self, layer: Option<Arc<[u8]>>) {
        self.seal = if layer.is_some() { Seal::Intact } else { Seal::None };
        self.layer_is_last = layer.is_some();
        self.layer = layer.map(StoredLayer::from);
    }

    /// Hashes the vlmetalayers and the checksums.
    pub(crate) fn hash(&self, hasher: &mut impl std::hash::Hasher) {
        for (name, chunk) in self.entries() {
            hasher.write(&(name.bytes().len() as u64).to_le_bytes());
            hasher.write(name.bytes());
            hasher.write(&(chunk.len() as u64).to_le_bytes());
            hasher.write(chunk);
        }
        hasher.write(self.told().unwrap_or_default());
    }

    /// Whether there are no vlmetalayers, the checksums aside.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
    /// Whether anything is in it, be it checksums.
    pub(crate) fn is_there(&self) -> bool {
        !self.is_empty() || self.layer.is_some()
    }
    /// Names and compressed contents, in stored order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&Name, &[u8])> {
        self.entries.iter().map(|(name, chunk)| (name, chunk.as_slice()))
    }
    /// The compressed content of a name (the first one of that name).
    pub(crate) fn get(&self, name: &str) -> Option<&[u8]> {
        self.entries().find(|(found, _)| found.text() == name).map(|(_, chunk)| chunk)
    }
    /// Adds or replaces an entry; `chunk` is its compressed content.
    pub(crate) fn set(&mut self, name: &str, chunk: Vec<u8>) -> Result<()> {
        if name == LAYER {
            return Err(Error::usage(format!("`{LAYER}` is the name of the checksums: choose another")));
        }
        if let Some((_, place)) = self.entries.iter_mut().find(|(found, _)| found.text() == name) {
            *place = chunk;
            return Ok(());
        }
        if self.entries.len() >= usize::from(Self::MAX_ENTRIES) {
            return Err(Error::too_large(
                Self::MAX_ENTRIES as u64,
                format!("a frame has at most {} vlmetalayers", Self::MAX_ENTRIES),
            ));
        }
        self.entries.push((Name::new(name)?, chunk));
        Ok(())
    }
    /// Removes an entry; whether there was one.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|(found, _)| found.text() != name);
        self.entries.len() != before
    }
    /// Removes the entries at these places, in ascending order.
    pub(crate) fn remove_places(&mut self, places: &[usize]) {
        let mut at = 0..;
        self.entries.retain(|_| at.next().is_none_or(|at| places.binary_search(&at).is_err()));
    }
}

/// Where the checksums are in a trailer, as its first bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LayerPlace {
    /// There are none.
    None,
    /// They are stored this many bytes from the start of the trailer.
    At(u64),
    /// The first bytes do not tell.
    Unknown,
}

/// How much of a trailer has to be read to leave out the segments of its checksums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WithoutSegments {
    /// So many bytes from its start.
    First(usize),
    /// All of it: there are no segments, or they are not where b2nd puts them.
    All,
}

/// Finds how much of a trailer, whose first bytes are `start`, comes before the segments of its checksums. Where those bytes do
/// not tell, it is how many do, which are more than there are.
pub(super) fn without_segments(start: &[u8], header: &super::FrameHeader) -> WithoutSegments {
    let LayerPlace::At(place) = layer_place(start, header) else { return WithoutSegments::All };
    let Ok(place) = usize::try_from(place) else { return WithoutSegments::All };
    match start.get(place..).filter(|layer| layer.len() >= ROOT_START) {
        Some(layer) => match root_end(layer) {
            Some(end) => WithoutSegments::First(place.saturating_add(end)),
            None => WithoutSegments::All,
        },
        None => WithoutSegments::First(place.saturating_add(ROOT_START)),
    }
}

/// Looks for the checksums in the first bytes of the trailer of a frame with this header.
pub(crate) fn layer_place(start: &[u8], header: &super::FrameHeader) -> LayerPlace {
    if header.dialect != Dialect::Current {
        return LayerPlace::None;
    }
    match metalayers::directory(start, 2, Trailer::MAX_ENTRIES, Part::Trailer) {
        Err(_) => LayerPlace::Unknown,
        Ok(entries) => match entries.iter().find(|(name, _)| name == LAYER.as_bytes()) {
            // The marker of its content has five bytes.
            Some((_, offset)) => LayerPlace::At(offset.saturating_add(5)),
            None => LayerPlace::None,
        },
    }
}

/// What the fingerprint of a whole trailer says.
fn seal(bytes: &[u8], contents: &mut [std::ops::Range<usize>], layer: Option<&[u8]>) -> Seal {
    let Some((before, stored)) = bytes.split_last_chunk::<16>() else { return Seal::None };
    let kind = before.last().copied().unwrap_or(0);
    match layer {
        _ if *stored == [0; 16] => Seal::None,
        // Somebody else's fingerprint, of a kind that nobody writes today.
        None if kind != 0 => Seal::None,
        None => Seal::Broken,
        Some(layer) => match sealed(layer) {
            Some(root) if fingerprint(before, contents, root) == *stored => Seal::Intact,
            _ => Seal::Broken,
        },
    }
}
