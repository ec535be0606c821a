//! The section of named contents that headers and trailers share: a map of names to offsets, then the contents.

use crate::error::{Error, Part, Result};
use crate::wire::Cursor;
use crate::wire::msgpack;
use std::ops::Range;

/// The name of a metalayer: any bytes, kept as they are; not UTF-8 is shown with replacement characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    bytes: Vec<u8>,
    text: String,
}

impl Name {
    /// The longest name that can be written, in bytes.
    pub(crate) const MAX_BYTES: usize = msgpack::FIXSTR_MAX;

    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        Name { bytes: bytes.to_vec(), text: String::from_utf8_lossy(bytes).into_owned() }
    }
    /// A name to write: 1 to 31 bytes.
    pub(crate) fn new(text: &str) -> Result<Self> {
        if text.is_empty() || text.len() > Self::MAX_BYTES {
            let len = text.len();
            return Err(Error::length(
                Self::MAX_BYTES,
                len,
                format!("the name of a metalayer has 1 to 31 bytes, not {len}"),
            ));
        }
        Ok(Name { bytes: text.as_bytes().to_vec(), text: text.to_owned() })
    }
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A metalayer: its name, and where its content is from the start of the header or trailer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LayerEntry {
    pub(crate) name: Name,
    pub(crate) content: Range<usize>,
}

/// Reads the section at `start` of `bytes`, which are a whole header or trailer; at most `max` entries.
///
/// Contents are found by their offsets, as everyone does: the size of the map, the number of values and their order are
/// not looked at.
pub(super) fn parse(bytes: &[u8], start: usize, max: u16, part: Part) -> Result<Vec<LayerEntry>> {
    parse_start(bytes, bytes.len(), start, max, part)
}

/// As [`parse`], of a header or trailer of `whole` bytes whose first are `bytes`: contents may end behind those.
pub(super) fn parse_start(
    bytes: &[u8],
    whole: usize,
    start: usize,
    max: u16,
    part: Part,
) -> Result<Vec<LayerEntry>> {
    let mut cursor = Cursor::new(bytes, start, part);
    cursor.marker(msgpack::ARRAY_3, "the metalayer section")?;
    cursor.u16(msgpack::UINT_16, "the size of the metalayer map")?;
    let at = cursor.clone();
    let count = cursor.u16(msgpack::MAP_16, "the metalayer map")?;
    if count > max {
        return Err(at.error(format!("{count} metalayers are more than the {max} allowed")));
    }
    let mut entries = Vec::with_capacity(usize::from(count));
    let mut total = 0usize;
    for _ in 0..count {
        let name = Name::from_bytes(cursor.fixstr("the name of a metalayer")?);
        let at = cursor.clone();
        let offset = cursor.i32("the offset of a metalayer")?;
        let offset =
            usize::try_from(offset).map_err(|_| at.error("the offset of a metalayer is negative"))?;
        let mut value = Cursor::new(bytes, offset, part);
        let len = value.bin32_len("the content of a metalayer")?;
        let end = value.position().checked_add(len).filter(|end| *end <= whole);
        let end = end.ok_or_else(|| value.error("the content of a metalayer is cut off"))?;
        // Contents that share bytes would cost more when they are copied than the file has.
        total = total.saturating_add(len);
        if total > whole {
            return Err(at.error("the metalayers overlap"));
        }
        entries.push(LayerEntry { name, content: end.saturating_sub(len)..end });
    }
    Ok(entries)
}

/// Reads the names and offsets of the section at `start` of `bytes`, which may end behind its map.
pub(super) fn directory(bytes: &[u8], start: usize, max: u16, part: Part) -> Result<Vec<(Vec<u8>, u64)>> {
    let mut cursor = Cursor::new(bytes, start, part);
    cursor.marker(msgpack::ARRAY_3, "the metalayer section")?;
    cursor.u16(msgpack::UINT_16, "the size of the metalayer map")?;
    let count = cursor.u16(msgpack::MAP_16, "the metalayer map")?.min(max);
    let mut found = Vec::new();
    for _ in 0..count {
        let name = cursor.fixstr("the name of a metalayer")?.to_vec();
        let offset = cursor.i32("the offset of a metalayer")?;
        found.push((name, u64::try_from(offset).unwrap_or(u64::MAX)));
    }
    Ok(found)
}

/// Appends the section that names these contents to `out`, whose start is the start of the header or trailer.
///
/// `idx_extra` is what the stored size of the map counts beside the map itself: 1 in a header, 0 in a trailer.
pub(super) fn write(out: &mut Vec<u8>, entries: &[(&[u8], &[u8])], idx_extra: usize) -> Result<()> {
    let too_large = || Error::too_large(u16::MAX, "the metalayers are too large for a frame");
    let map_len =
        entries.iter().fold(6usize, |sum, (name, _)| sum.saturating_add(name.len()).saturating_add(6));
    // The field has 16 bits and nobody reads it; thousands of vlmetalayers wrap it in the reference too.
    let idx = map_len.saturating_add(idx_extra) as u16;
    let count = u16::try_from(entries.len()).map_err(|_| too_large())?;
    out.push(msgpack::ARRAY_3);
    msgpack::put_u16(out, msgpack::UINT_16, idx);
    let values_at =
        out.len().checked_sub(3).and_then(|cd| cd.checked_add(map_len)).and_then(|v| v.checked_add(3));
    let mut offset = values_at.ok_or_else(too_large)?;
    msgpack::put_u16(out, msgpack::MAP_16, count);
    for (name, content) in entries {
        msgpack::put_fixstr(out, name);
        msgpack::put_i32(out, i32::try_from(offset).map_err(|_| too_large())?);
        offset = offset.saturating_add(5).saturating_add(content.len());
    }
    msgpack::put_u16(out, msgpack::ARRAY_16, count);
    for (_, content) in entries {
        msgpack::put_bin32(out, u32::try_from(content.len()).map_err(|_| too_large())?, content);
    }
    Ok(())
}
