//! Special chunks, whose items are all equal: their kinds, how they are written, and which item each repeats.

use super::MAX_BLOCK_BYTES;
use super::MAX_CHUNK_BYTES;
use super::header;
use super::header::ChunkHeader;
use super::params::Params;
use crate::error::Error;
use crate::error::Result;
use crate::filter::Pipeline;

/// A chunk of one repeated value, stored without a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Special {
    /// All bytes zero.
    Zeros,
    /// All items NaN (4- or 8-byte floats).
    Nan,
    /// All items one stored value.
    Value,
    /// Never written; read as zeros.
    Uninit,
}

impl Special {
    pub(super) fn from_id(id: u8) -> Option<Self> {
        match id {
            1 => Some(Special::Zeros),
            2 => Some(Special::Nan),
            3 => Some(Special::Value),
            4 => Some(Special::Uninit),
            _ => None,
        }
    }
    fn id(self) -> u8 {
        match self {
            Special::Zeros => 1,
            Special::Nan => 2,
            Special::Value => 3,
            Special::Uninit => 4,
        }
    }
}

const NAN_4: [u8; 4] = 0x7FC0_0000_u32.to_le_bytes();
const NAN_8: [u8; 8] = 0x7FF8_0000_0000_0000_u64.to_le_bytes();

/// The bytes that a special chunk of this kind repeats; `value` is what follows its header.
pub(super) fn repeated(kind: Special, typesize: u8, value: &[u8]) -> &[u8] {
    match (kind, typesize) {
        (Special::Value, _) => value,
        (Special::Nan, 4) => &NAN_4,
        (Special::Nan, _) => &NAN_8,
        (Special::Zeros | Special::Uninit, _) => &[0],
    }
}

/// Fills `dst` with `item` over and over, beginning `phase` bytes into it.
pub(super) fn fill(dst: &mut [u8], item: &[u8], phase: usize) {
    if let [byte] = item {
        dst.fill(*byte);
        return;
    }
    if item.is_empty() {
        return;
    }
    let (_, start) = item.split_at(phase % item.len());
    let (head, rest) = dst.split_at_mut(start.len().min(dst.len()));
    head.copy_from_slice(&start[..head.len()]);
    let first = item.len().min(rest.len());
    rest[..first].copy_from_slice(&item[..first]);
    // Each copy doubles what is done, so that short items cost no more than a plain copy.
    let mut done = first;
    while done < rest.len() {
        let (from, to) = rest.split_at_mut(done);
        let n = from.len().min(to.len());
        to[..n].copy_from_slice(&from[..n]);
        done += n;
    }
}

/// A special chunk of `nbytes`; `value` is the item of [`Special::Value`] and empty otherwise.
///
/// ```
/// use b2nd::Params;
/// use b2nd::chunk::{Special, decode, encode_special};
/// let chunk = encode_special(Special::Value, 4000, &7u32.to_le_bytes(), &Params::new(4))?;
/// assert_eq!(chunk.len(), 36);
/// let items = decode(&chunk, &b2nd::Limits::default(), &b2nd::Exec::new(1))?;
/// assert_eq!(items, 7u32.to_le_bytes().repeat(1000));
/// # Ok::<(), b2nd::Error>(())
/// ```
pub fn encode_special(kind: Special, nbytes: u32, value: &[u8], params: &Params) -> Result<Vec<u8>> {
    params.check_numbers()?;
    if params.short_header() {
        return Err(Error::compression("the 16-byte header of Blosc1 has no special chunks"));
    }
    if nbytes > MAX_CHUNK_BYTES {
        return Err(Error::above(
            MAX_CHUNK_BYTES,
            nbytes,
            format!("{nbytes} bytes are more than the {MAX_CHUNK_BYTES} that a chunk can hold"),
        ));
    }
    let typesize = params.stored_typesize();
    let width = match kind {
        Special::Value => value_width(value, nbytes)?,
        _ if !value.is_empty() => return Err(Error::usage("only Special::Value stores a value")),
        Special::Nan if !matches!(typesize, 4 | 8) => {
            return Err(Error::compression(format!(
                "NaN chunks are for floats of 4 or 8 bytes, not for items of {typesize}: write the NaN as a value"
            )));
        }
        Special::Zeros => 1,
        Special::Nan | Special::Uninit => u32::from(typesize),
    };
    if !nbytes.is_multiple_of(width) {
        return Err(Error::not_whole(
            width,
            nbytes,
            format!("{nbytes} bytes are not whole items of {width}"),
        ));
    }
    let blocksize = params.effective_blocksize(nbytes);
    let header = ChunkHeader {
        // Other readers repeat a value block by block.
        blocksize: if kind == Special::Value { (blocksize / width).max(1) * width } else { blocksize },
        ..zeros(typesize, nbytes, blocksize)
    };
    let mut chunk = Vec::with_capacity(header::LONG + value.len());
    let cbytes = header::LONG as u32 + if kind == Special::Value { width } else { 0 };
    let (bytes, len) = ChunkHeader { cbytes, blosc2_flags: kind.id() << 4, ..header }.to_bytes();
    chunk.extend_from_slice(&bytes[..len]);
    chunk.extend_from_slice(value);
    Ok(chunk)
}

fn value_width(value: &[u8], nbytes: u32) -> Result<u32> {
    match u32::try_from(value.len()) {
        Ok(width) if width > 0 && width <= nbytes.min(MAX_BLOCK_BYTES) => Ok(width),
        _ => Err(Error::usage(format!("a value of {} bytes for a chunk of {nbytes}", value.len()))),
    }
}

/// The header of a chunk of zeros.
pub(super) fn zeros(typesize: u8, nbytes: u32, blocksize: u32) -> ChunkHeader {
    ChunkHeader {
        version: header::VERSION,
        codec_version: 1,
        flags: header::FLAGS_SPECIAL,
        typesize,
        nbytes,
        blocksize,
        cbytes: header::LONG as u32,
        pipeline: Pipeline::none(),
        codec_id: 0,
        codec_meta: 0,
        flags2: 0,
        blosc2_flags: Special::Zeros.id() << 4,
    }
}
