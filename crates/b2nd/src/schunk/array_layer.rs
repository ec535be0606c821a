//! The metalayer of an array, in every published revision: bytes to geometry and dtype text, and back.
//!
//! The version byte is 0 in all of them, so they are told apart by what is there (`docs/FORMAT.md`). How the stored block shape
//! is read depends on the version of the frame, so a copy in a newer frame may need other bytes.

use super::snapshot::FrameState;
use super::snapshot::Place;
use crate::error::Error;
use crate::error::Part;
use crate::error::Result;
use crate::limits::MAX_NDIM;

/// Which published revision of the metalayer a file carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Revision {
    /// `b2nd` with 7 fields, the revision that b2nd writes.
    B2nd7,
    /// `b2nd` with 6 fields (or marked so), the dtype as a name.
    B2nd6,
    /// `b2nd` with 5 fields, no dtype.
    B2nd5,
    /// `caterva` with 5 fields.
    Caterva5,
    /// `caterva` in a frame of version 1 whose chunks are not cut into blocks.
    CatervaPartshape,
}

impl Revision {
    /// `b2nd-7`, `b2nd-6`, `b2nd-5`, `caterva-5` or `caterva-partshape`.
    ///
    /// ```
    /// assert_eq!(b2nd::array::Revision::B2nd7.name(), "b2nd-7");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Revision::B2nd7 => "b2nd-7",
            Revision::B2nd6 => "b2nd-6",
            Revision::B2nd5 => "b2nd-5",
            Revision::Caterva5 => "caterva-5",
            Revision::CatervaPartshape => "caterva-partshape",
        }
    }
}

/// The fields of a metalayer, as they are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArrayMeta {
    pub(crate) revision: Revision,
    pub(crate) shape: Vec<u64>,
    pub(crate) chunks: Vec<u64>,
    /// As stored: the oldest files have anything here.
    pub(crate) blocks: Vec<i32>,
    pub(crate) dtype: Option<String>,
}

impl ArrayMeta {
    /// The block shape, where every length of it is between 1 and that of the chunk.
    fn plausible_blocks(&self) -> Option<Vec<u64>> {
        let blocks: Vec<u64> = self.blocks.iter().map(|&b| u64::try_from(b).ok()).collect::<Option<_>>()?;
        blocks.iter().zip(&self.chunks).all(|(&b, &c)| b > 0 && b <= c).then_some(blocks)
    }

    /// Number of item slots of a chunk cut into `blocks`, padding included.
    fn chunk_places(&self, blocks: &[u64]) -> Option<u64> {
        self.chunks.iter().zip(blocks).try_fold(1u64, |total, (&chunk, &block)| {
            total.checked_mul(chunk.checked_next_multiple_of(block)?)
        })
    }
}

impl FrameState {
    /// The metalayer that describes an array: its name, and its content.
    pub(crate) fn array_layer(&self) -> Option<(&'static str, &[u8])> {
        let find = |name: &'static str| {
            let found = self.metalayers().find(|(other, _)| *other == name);
            found.map(|(_, content)| (name, content))
        };
        find(NAME).or_else(|| find(OLD_NAME))
    }

    /// Whether the chunks have the blocks that the metalayer names. In frames of the betas it may name anything: the block
    /// shape has to be plausible, to give the chunk size of the frame, and to agree with the first stored chunk.
    pub(crate) fn has_stated_blocks(&self, meta: &ArrayMeta) -> Result<bool> {
        if self.version() >= 2 {
            return Ok(true);
        }
        let Some(blocks) = meta.plausible_blocks() else { return Ok(false) };
        let Some(places) = meta.chunk_places(&blocks) else { return Ok(false) };
        let itemsize = self.stored_itemsize(places);
        if places.checked_mul(itemsize) != Some(u64::from(self.chunksize())) {
            return Ok(false);
        }
        // Not more than the chunk, so no product overflows.
        let block_bytes = blocks.iter().product::<u64>().saturating_mul(itemsize);
        let groups = self.same_chunks()?;
        for (n, _) in (0..groups.len()).filter_map(|group| groups.get(group)) {
            let place = self.place(n)?;
            if let Place::Stored { .. } = place {
                return Ok(u64::from(self.chunk_header(n, place)?.blocksize()) == block_bytes);
            }
        }
        Ok(true)
    }

    /// The item size, from chunks of `places` items. Some frames store 1 for items of more than 255 bytes.
    fn stored_itemsize(&self, places: u64) -> u64 {
        let (typesize, chunksize) = (u64::from(self.header.params().typesize()), u64::from(self.chunksize()));
        match chunksize.checked_rem(places) {
            Some(0) if typesize == 1 && chunksize > 0 => chunksize / places.max(1),
            _ => typesize,
        }
    }

    /// The name of the array's metalayer and its new content, where a frame of the current version would read the stored
    /// bytes as another array: that of an array whose chunks do not have the blocks that it names.
    pub(super) fn new_array_layer(&self) -> Result<Option<(&'static str, Vec<u8>)>> {
        let Some((name, content)) = self.array_layer().filter(|_| !self.header.is_current()) else {
            return Ok(None);
        };
        // What is no array here is none in the copy either.
        let Ok(meta) = parse(name, content) else { return Ok(None) };
        if self.has_stated_blocks(&meta)? {
            return Ok(None);
        }
        let places = meta.chunk_places(&meta.chunks).unwrap_or(0);
        let dtype = meta.dtype.unwrap_or_else(|| format!("|V{}", self.stored_itemsize(places)));
        Ok(Some((name, write(&meta.shape, &meta.chunks, &meta.chunks, &dtype))))
    }
}

/// The name of the metalayer that b2nd writes.
pub(crate) const NAME: &str = "b2nd";
/// The name before 2023.
pub(crate) const OLD_NAME: &str = "caterva";

/// The bytes before the axes and their three markers: what every axis takes 19 bytes more than.
const GEOMETRY_AT: usize = 6;
const ARRAY_OF: u8 = 0x90;
const INT64: u8 = 0xd3;
const INT32: u8 = 0xd2;
const STR32: u8 = 0xdb;

/// Parses the metalayer called `name` (one of [`NAME`] and [`OLD_NAME`]).
pub(crate) fn parse(name: &str, content: &[u8]) -> Result<ArrayMeta> {
    let mut cursor = LayerCursor { content, at: 0 };
    let fields = cursor.byte()?.wrapping_sub(ARRAY_OF);
    if !(5..=7).contains(&fields) {
        return Err(match fields {
            3 => Error::unsupported("caterva metalayer of 3 fields (Caterva 0.1)"),
            _ => Error::format(
                Part::Metalayer,
                0,
                format!(
                    "'{name}' starts with {:#04x}, not an array of 5 to 7 fields",
                    fields.wrapping_add(ARRAY_OF)
                ),
            ),
        });
    }
    let _version = cursor.byte()?;
    let ndim = usize::from(cursor.byte()?);
    if ndim > MAX_NDIM {
        return Err(Error::format(
            Part::Metalayer,
            2,
            format!("{ndim} dimensions, and the format allows {MAX_NDIM}"),
        ));
    }
    // The markers of the inner arrays are not checked: for 16 dimensions every writer gets them wrong.
    cursor.byte()?;
    let shape = (0..ndim).map(|_| cursor.length::<8>(INT64)).collect::<Result<Vec<_>>>()?;
    cursor.byte()?;
    let chunks = (0..ndim).map(|_| cursor.length::<4>(INT32)).collect::<Result<Vec<_>>>()?;
    cursor.byte()?;
    let blocks = (0..ndim).map(|_| cursor.int32()).collect::<Result<Vec<_>>>()?;
    let dtype = cursor.dtype()?;
    let revision = match (name, fields, &dtype) {
        (OLD_NAME, ..) => Revision::Caterva5,
        (_, 5, _) | (_, _, None) => Revision::B2nd5,
        (_, 6, _) => Revision::B2nd6,
        _ => Revision::B2nd7,
    };
    Ok(ArrayMeta { revision, shape, chunks, blocks, dtype })
}

/// Parses the array metalayer among these metalayers.
pub(crate) fn stored_geometry<'a>(
    mut metalayers: impl Iterator<Item = (&'a str, &'a [u8])>,
) -> Option<ArrayMeta> {
    let (name, content) = metalayers.find(|(name, _)| *name == NAME || *name == OLD_NAME)?;
    parse(name, content).ok()
}

/// The newest revision of the metalayer.
pub(crate) fn write(shape: &[u64], chunks: &[u64], blocks: &[u64], dtype: &str) -> Vec<u8> {
    let ndim = shape.len() as u8;
    // Computed as for fewer dimensions: with 16 this is not the msgpack marker, but it is what all readers expect.
    let marker = ARRAY_OF.wrapping_add(ndim);
    let mut out = vec![ARRAY_OF + 7, 0, ndim, marker];
    for &length in shape {
        out.push(INT64);
        out.extend((length as i64).to_be_bytes());
    }
    for lengths in [chunks, blocks] {
        out.push(marker);
        for &length in lengths {
            out.push(INT32);
            out.extend((length as i32).to_be_bytes());
        }
    }
    out.extend([0, STR32]);
    out.extend((dtype.len() as u32).to_be_bytes());
    out.extend(dtype.as_bytes());
    out
}

/// The same metalayer with another geometry of as many dimensions; every revision has it in the same places.
pub(crate) fn with_geometry(
    content: &[u8],
    shape: &[u64],
    chunks: &[u64],
    blocks: &[u64],
) -> Result<Vec<u8>> {
    let new = write(shape, chunks, blocks, "");
    let mut out = content.to_vec();
    let (first, end) = (3, GEOMETRY_AT + shape.len() * 19);
    match (out.get_mut(first..end), new.get(first..end), content.get(2)) {
        (Some(out), Some(new), Some(&ndim)) if usize::from(ndim) == shape.len() => out.copy_from_slice(new),
        _ => return Err(Error::format(Part::Metalayer, None, "the array metalayer is cut off")),
    }
    Ok(out)
}

struct LayerCursor<'a> {
    content: &'a [u8],
    at: usize,
}

impl<'a> LayerCursor<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(count);
        let taken = end.and_then(|end| self.content.get(self.at..end)).ok_or_else(|| {
            Error::format(
                Part::Metalayer,
                self.at as u64,
                format!("the array metalayer ends after {} bytes", self.content.len()),
            )
        })?;
        self.at += count;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8> {
        self.bytes(1).map(|b| b.first().copied().unwrap_or(0))
    }

    fn marked<const N: usize>(&mut self, marker: u8) -> Result<[u8; N]> {
        let at = self.at as u64;
        let found = self.byte()?;
        if found != marker {
            return Err(Error::format(
                Part::Metalayer,
                at,
                format!("found marker {found:#04x} instead of {marker:#04x}"),
            ));
        }
        let mut value = [0; N];
        value.copy_from_slice(self.bytes(N)?);
        Ok(value)
    }

    fn length<const N: usize>(&mut self, marker: u8) -> Result<u64> {
        let at = self.at as u64;
        let bytes = self.marked::<N>(marker)?;
        let negative = bytes.first().is_some_and(|b| b & 0x80 != 0);
        if negative {
            return Err(Error::format(Part::Metalayer, at, "a negative length"));
        }
        Ok(bytes.iter().fold(0, |value, &b| value << 8 | u64::from(b)))
    }

    fn int32(&mut self) -> Result<i32> {
        self.marked::<4>(INT32).map(i32::from_be_bytes)
    }

    /// The end of the metalayer: nothing, a dtype text, or a format byte and a dtype text.
    fn dtype(&mut self) -> Result<Option<String>> {
        let tail = self.content.get(self.at..).unwrap_or_default();
        let Some(&first) = tail.first() else { return Ok(None) };
        if first != STR32 {
            self.byte()?;
            if first != 0 {
                // Only NumPy's notation (0) is defined; text in another one is ignored.
                return Ok(None);
            }
            if self.at == self.content.len() {
                return Ok(None);
            }
        }
        let length = self.marked::<4>(STR32)?;
        let text = self.bytes(u32::from_be_bytes(length) as usize)?;
        Ok(Some(String::from_utf8_lossy(text).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The example of the format notes: (20,17) in chunks (8,9) and blocks (3,4), `<i4`.
    const SAMPLE: &[u8] = b"\x97\x00\x02\x92\xd3\0\0\0\0\0\0\0\x14\xd3\0\0\0\0\0\0\0\x11\x92\xd2\0\0\0\x08\xd2\0\0\0\x09\x92\xd2\0\0\0\x03\xd2\0\0\0\x04\x00\xdb\0\0\0\x03<i4";

    #[test]
    fn the_newest_revision_byte_for_byte() {
        assert_eq!(write(&[20, 17], &[8, 9], &[3, 4], "<i4"), SAMPLE);
        assert_eq!(write(&[], &[], &[], "<f8"), b"\x97\x00\x00\x90\x90\x90\x00\xdb\0\0\0\x03<f8");
        let meta = parse(NAME, SAMPLE).unwrap();
        assert_eq!(meta.revision, Revision::B2nd7);
        assert_eq!((meta.shape, meta.chunks, meta.blocks), (vec![20, 17], vec![8, 9], vec![3, 4]));
        assert_eq!(meta.dtype.as_deref(), Some("<i4"));
    }

    #[test]
    fn another_geometry_leaves_the_rest_as_it_is() {
        let due = [&write(&[40, 1], &[8, 9], &[3, 4], "")[..44], &SAMPLE[44..], b"more"].concat();
        let found = with_geometry(&[SAMPLE, b"more"].concat(), &[40, 1], &[8, 9], &[3, 4]).unwrap();
        assert_eq!(found, due);
        let old = [b"\x95", &SAMPLE[1..44]].concat();
        let found = with_geometry(&old, &[7, 6], &[5, 4], &[3, 2]).unwrap();
        let meta = parse(OLD_NAME, &found).unwrap();
        assert_eq!(
            (meta.revision, meta.shape, meta.chunks, meta.blocks),
            (Revision::Caterva5, vec![7, 6], vec![5, 4], vec![3, 2])
        );
        assert!(with_geometry(&SAMPLE[..40], &[7, 6], &[5, 4], &[3, 2]).is_err());
        assert!(with_geometry(SAMPLE, &[7], &[5], &[3]).is_err());
        let scalar = write(&[], &[], &[], "<f8");
        assert_eq!(with_geometry(&scalar, &[], &[], &[]).unwrap(), scalar);
    }

    #[test]
    fn absurd_numbers_of_dimensions_are_refused() {
        for ndim in 17..=u8::MAX {
            // Room for all of them: only the number is wrong.
            let mut bytes = SAMPLE.to_vec();
            bytes[2] = ndim;
            bytes.resize(8192, INT64);
            assert!(matches!(parse(NAME, &bytes), Err(Error::Format(_))), "{ndim}");
        }
    }

    #[test]
    fn older_revisions_by_what_is_there() {
        let body = &SAMPLE[1..44];
        let with = |marker: u8, tail: &[u8]| [&[marker], body, tail].concat();
        let read = |name: &str, bytes: Vec<u8>| parse(name, &bytes).map(|m| (m.revision, m.dtype)).unwrap();
        let text = |t: &str| Some(t.to_string());
        assert_eq!(read(OLD_NAME, with(0x95, b"")), (Revision::Caterva5, None));
        assert_eq!(read(NAME, with(0x95, b"")), (Revision::B2nd5, None));
        assert_eq!(read(NAME, with(0x96, b"\xdb\0\0\0\x05uint8")), (Revision::B2nd6, text("uint8")));
        assert_eq!(read(NAME, with(0x96, b"\0\xdb\0\0\0\x03|u1")), (Revision::B2nd6, text("|u1")));
        assert_eq!(read(NAME, with(0x97, b"\0\xdb\0\0\0\x03|u1 and more")), (Revision::B2nd7, text("|u1")));
        assert!(matches!(parse(OLD_NAME, &with(0x93, b"")), Err(Error::Unsupported { .. })));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(shape in proptest::collection::vec((0u64..1 << 40, 0u64..1 << 31, 0u64..1 << 31), 0..17), text in ".{0,30}") {
            let shape_of = |f: fn(&(u64, u64, u64)) -> u64| shape.iter().map(f).collect::<Vec<u64>>();
            let (shape, chunks, blocks) = (shape_of(|s| s.0), shape_of(|s| s.1), shape_of(|s| s.2));
            let meta = parse(NAME, &write(&shape, &chunks, &blocks, &text)).unwrap();
            prop_assert_eq!(meta.blocks.iter().map(|&b| b as u64).collect::<Vec<_>>(), blocks);
            prop_assert_eq!((meta.shape, meta.chunks, meta.dtype), (shape, chunks, Some(text)));
        }

        #[test]
        fn damaged_bytes_never_panic(at in 0usize..60, bit in 0u8..8, cut in 0usize..60) {
            let mut bytes = SAMPLE.to_vec();
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << bit;
            }
            bytes.truncate(cut);
            let _ = parse(NAME, &bytes);
        }
    }
}
