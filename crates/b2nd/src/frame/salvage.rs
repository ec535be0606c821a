//! What is left of a damaged frame: headers with wrong bytes in them, trailers wherever they lie, sections of which only some
//! entries can be read. What is read here is believed only as far as somebody above can check it.

use super::Layout;
use super::digests::{LAYER, Seal, sealed};
use super::header::{Dialect, FLAGS_AT, FrameHeader, HeaderFields, MAX_METALAYERS, METALAYERS_AT, TYPE_AT};
use super::metalayers;
use super::metalayers::Name;
use super::offsets;
use super::offsets::Offsets;
use super::trailer::{TAIL_LEN, Trailer};
use crate::chunk::ChunkHeader;
use crate::error::{Error, Part, Result};
use crate::limits::Limits;
use crate::wire::Cursor;
use crate::wire::msgpack;
use std::ops::Range;

/// The bytes that are the same in every header of today, and where.
const FIXED: [(usize, &[u8]); 13] = [
    (0, b"\x9e\xa8b2frame\0"),
    (10, &[msgpack::INT_32]),
    (15, &[msgpack::UINT_64]),
    (24, &[msgpack::FIXSTR | 4]),
    (29, &[msgpack::INT_64]),
    (38, &[msgpack::INT_64]),
    (47, &[msgpack::INT_32]),
    (52, &[msgpack::INT_32]),
    (57, &[msgpack::INT_32]),
    (62, &[msgpack::INT_16]),
    (65, &[msgpack::INT_16]),
    (69, &[msgpack::FIXEXT_16, 6]),
    (86, &[0]),
];
/// How many of them have to be right where a header is to be mended.
const ENOUGH: usize = 7;
/// The fields whose highest bit is never set, by their first byte.
const SIGNED: [usize; 5] = [30, 39, 48, 53, 58];

/// The length that the header says it has which starts with these bytes; it may be wrong.
pub(crate) fn header_len(prefix: &[u8], available: u64) -> Result<u64> {
    FrameHeader::measure(prefix, available).map(|(_, len)| len)
}

/// Reads the header at the start of `bytes`, which may go on after it.
pub(crate) fn read_header(bytes: &[u8]) -> Result<FrameHeader> {
    let (dialect, len) = FrameHeader::measure(bytes, bytes.len() as u64)?;
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    FrameHeader::parse(bytes.get(..len).unwrap_or_default(), dialect)
}

/// A header of today made of one that cannot be read: what is fixed is put right, fields that cannot be are set to nothing,
/// and metalayers that cannot be read are left out; their names where these are known.
///
/// # Errors
/// [`Error::Format`] where too little is left of it.
pub(crate) fn mend_header(bytes: &[u8], layout: Layout) -> Result<(FrameHeader, Vec<String>)> {
    let gone = || Error::format(Part::FrameHeader, 0, "too little is left of it to be mended");
    let mut raw = bytes.get(..METALAYERS_AT).ok_or_else(gone)?.to_vec();
    let right = FIXED.iter().filter(|(at, fixed)| bytes.get(*at..).is_some_and(|b| b.starts_with(fixed)));
    if right.count() < ENOUGH {
        return Err(gone());
    }
    for (at, fixed) in FIXED {
        put(&mut raw, at, fixed);
    }
    if let Some(flags) = raw.get_mut(FLAGS_AT).filter(|flags| !matches!(**flags & 0x0f, 2 | 3)) {
        *flags = 0x12;
    }
    put(&mut raw, TYPE_AT, &[u8::from(layout == Layout::Sparse)]);
    for at in SIGNED {
        if raw.get(at).is_some_and(|byte| byte & 0x80 != 0) {
            put(&mut raw, at, &[0; 4]);
        }
    }
    if raw.get(48..52).is_some_and(|typesize| typesize == [0; 4]) {
        put(&mut raw, 48, &1_i32.to_be_bytes());
    }
    let left = Left::of(bytes, METALAYERS_AT, MAX_METALAYERS);
    let entries: Vec<(&[u8], &[u8])> =
        left.contents(bytes).map(|(name, content)| (name.bytes(), content)).collect();
    metalayers::write(&mut raw, &entries, 1)?;
    let len = i32::try_from(raw.len()).map_err(|_| gone())?;
    put(&mut raw, 11, &len.to_be_bytes());
    Ok((FrameHeader::parse(&raw, Dialect::Current)?, left.lost))
}

fn put(raw: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = at.checked_add(bytes.len()).and_then(|end| raw.get_mut(at..end)) {
        place.copy_from_slice(bytes);
    }
}

/// A header for chunks like this one, of which nothing else is known.
pub(crate) fn header_for_chunks(chunk: &ChunkHeader, layout: Layout, variable: bool) -> Result<FrameHeader> {
    let params = crate::chunk::Params::new(u32::from(chunk.typesize()))
        .with_codec(chunk.codec().unwrap_or(crate::codec::Codec::Zstd))
        .with_pipeline(*chunk.pipeline())
        .with_blocksize(Some(chunk.blocksize()).filter(|_| !chunk.is_variable()));
    let chunksize = if variable { 0 } else { chunk.nbytes() };
    FrameHeader::build(&HeaderFields { layout, params: &params, chunksize, nbytes: 0 }, &[])
}

/// What is left of a section of named contents.
#[derive(Debug, Default)]
struct Left {
    entries: Vec<(Name, Range<usize>)>,
    lost: Vec<String>,
}

impl Left {
    /// As [`metalayers::parse`], but entries that cannot be read are left out.
    fn of(bytes: &[u8], start: usize, max: u16) -> Self {
        let mut left = Left::default();
        let mut cursor = Cursor::new(bytes, start.saturating_add(5), Part::Metalayer);
        let Ok(count) = cursor.array::<2>("the metalayer map").map(u16::from_be_bytes) else { return left };
        let mut total = 0usize;
        for _ in 0..count.min(max) {
            let Ok(name) = cursor.fixstr("the name of a metalayer") else { break };
            let name = Name::from_bytes(name);
            let content = cursor.i32("the offset of a metalayer").and_then(|offset| {
                let mut value =
                    Cursor::new(bytes, usize::try_from(offset).unwrap_or(usize::MAX), Part::Metalayer);
                let len = value.bin32("the content of a metalayer")?.len();
                total = total.saturating_add(len);
                Ok(value.position().saturating_sub(len)..value.position())
            });
            match content {
                Ok(content) if total <= bytes.len() => left.entries.push((name, content)),
                _ => left.lost.push(name.text().to_owned()),
            }
        }
        left
    }

    fn contents<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = (&'a Name, &'a [u8])> {
        self.entries.iter().map(|(name, content)| (name, bytes.get(content.clone()).unwrap_or_default()))
    }
}

/// The mark that a trailer of today starts with.
pub(crate) const TRAILER_MARK: [u8; 3] = [0x94, 0x01, msgpack::ARRAY_3];
/// From the start of the length of a trailer to the end of the frame.
pub(crate) const TRAILER_END: usize = TAIL_LEN;

/// Where in `bytes` the length of a trailer may stand, at `from` or after it: where it is, and the length.
pub(crate) fn find_trailer_end(bytes: &[u8], from: usize) -> Option<(usize, u64)> {
    let rest = bytes.get(from..)?;
    let looks = |w: &[u8]| matches!(w, [msgpack::UINT_32, _, _, _, _, msgpack::FIXEXT_16]);
    let at = rest.windows(6).position(looks)?;
    let len = rest.get(at..)?.get(1..)?.first_chunk::<4>()?;
    Some((at.checked_add(from)?, u64::from(u32::from_be_bytes(*len))))
}

/// The length of the trailer of a frame that ends with `tail`; `room` bytes are there for it.
pub(crate) fn trailer_len(tail: &[u8], room: u64) -> Result<u64> {
    Trailer::measure(tail, room)
}

/// Reads a trailer of today, which is all of `bytes`; its checksums also where their name is wrong.
pub(crate) fn read_trailer(bytes: &[u8]) -> Result<Trailer> {
    let mut trailer = Trailer::parse(bytes, Dialect::Current)?;
    if trailer.checksums().1 == Seal::Broken {
        trailer.adopt_checksums();
    }
    Ok(trailer)
}

/// What can be read of the trailer that starts with `bytes`, which may be cut off or go on after it; and the names of what
/// cannot. `None` where there is none.
///
/// Every content is a chunk, which knows its own length, and they lie one behind the other in the order of their names: so one
/// wrong byte among names, places and lengths costs one of them at most.
pub(crate) fn salvage_trailer(bytes: &[u8]) -> Option<(Trailer, Vec<String>)> {
    if !bytes.starts_with(&TRAILER_MARK[..2]) {
        return None;
    }
    let mut cursor = Cursor::new(bytes, 7, Part::Trailer);
    let count =
        cursor.array::<2>("the metalayer map").map(u16::from_be_bytes).ok()?.min(Trailer::MAX_ENTRIES);
    let (mut kept, mut lost, mut total) = (Vec::new(), Vec::new(), 0usize);
    let (mut next, mut readable) = (None, true);
    for _ in 0..count {
        let name = cursor.fixstr("the name of a metalayer").ok().filter(|_| readable).map(Name::from_bytes);
        readable &= name.is_some();
        if name.is_none() && next.is_none() {
            break;
        }
        let marked = cursor.array::<5>("the offset of a metalayer").ok().filter(|_| readable);
        let place = marked.and_then(|[_, offset @ ..]| usize::try_from(i32::from_be_bytes(offset)).ok());
        let content = [place, next].into_iter().flatten().find_map(|place| chunk_behind(bytes, place));
        if let Some(content) = &content {
            total = total.saturating_add(content.len());
            next = Some(content.end);
        } else if !readable {
            // More are announced than there are, or nothing more can be found.
            lost.extend(name.map(|name| name.text().to_owned()));
            break;
        }
        match (name, content.filter(|_| total <= bytes.len())) {
            (Some(name), Some(content)) => kept.push((name, bytes.get(content)?.to_vec())),
            // The checksums are known by their own mark.
            (None, Some(content))
                if bytes.get(content.clone()).is_some_and(|chunk| sealed(chunk).is_some()) =>
            {
                kept.push((Name::from_bytes(LAYER.as_bytes()), bytes.get(content)?.to_vec()));
            }
            (name, _) => {
                lost.push(
                    name.map_or_else(
                        || "whose name cannot be read".to_owned(),
                        |name| name.text().to_owned(),
                    ),
                );
            }
        }
    }
    // The checksums come last, whatever was announced.
    if let Some(content) = next.and_then(|next| chunk_behind(bytes, next)).and_then(|range| bytes.get(range))
        && sealed(content).is_some()
    {
        kept.push((Name::from_bytes(LAYER.as_bytes()), content.to_vec()));
    }
    Some((Trailer::of(kept), lost)).filter(|(trailer, lost)| trailer.is_there() || !lost.is_empty())
}

/// The chunk that is the content at a place, behind its marker and length.
fn chunk_behind(bytes: &[u8], place: usize) -> Option<Range<usize>> {
    let start = place.checked_add(5)?;
    let header = ChunkHeader::parse(bytes.get(start..)?).ok()?;
    let end = start.checked_add(header.cbytes() as usize)?;
    (end <= bytes.len()).then_some(start..end)
}

/// The header of the chunk of offsets that starts with these bytes, for so many chunks.
pub(crate) fn offsets_header(start: &[u8], nchunks: Option<u64>, limits: &Limits) -> Result<ChunkHeader> {
    offsets::measure(start, nchunks, limits)
}

/// Reads the chunk of offsets.
pub(crate) fn read_offsets(chunk: &[u8], nchunks: Option<u64>, limits: &Limits) -> Result<Offsets> {
    Offsets::decode(chunk, nchunks, limits)
}
