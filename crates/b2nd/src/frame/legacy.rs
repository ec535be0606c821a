//! The headers of the betas (before 2.0.0-rc1): read, never written.
//!
//! `9d` (beta.2 to beta.5, Caterva 0.2 to 0.4): as today up to byte 52, then `d2` chunk size, 57 and 60 threads, 63 has
//! usermeta, 64 `d8`, number of filters, ids ×8 and meta ×8 (packed), 82 metalayers. `9b` and `9c` (beta.1): the same
//! up to 63, which says whether metalayers follow at 64.

use super::Layout;
use super::header;
use super::header::{Dialect, FrameHeader, MAX_METALAYERS};
use super::metalayers;
use crate::chunk::Params;
use crate::codec::Codec;
use crate::error::{Part, Result};
use crate::filter::Pipeline;
use crate::wire::Cursor;
use crate::wire::msgpack;

pub(super) const BETA1_MIN_HEADER: usize = 64;
pub(super) const BETA5_METALAYERS_AT: usize = 82;

pub(super) fn parse(raw: &[u8], dialect: Dialect) -> Result<FrameHeader> {
    let mut cursor = Cursor::new(raw, 15, Part::FrameHeader);
    let frame_len = cursor.u64("the frame length")?;
    cursor.marker(msgpack::FIXSTR | 4, "the flags")?;
    let [flags, _, codec, _] = cursor.array("the flags")?;
    let nbytes = header::size(&mut cursor, "the uncompressed size")?;
    let cbytes = header::size(&mut cursor, "the compressed size")?;
    let typesize = header::typesize(&mut cursor)?;
    let chunksize = header::chunksize(&mut cursor, nbytes)?;
    let params =
        Params::new(typesize).with_codec(Codec::from_id(codec & 0x0f)).with_clevel((codec >> 4).min(9));
    let (version, pipeline, metalayers_at) = match dialect {
        Dialect::Beta1 => (0, Pipeline::default(), BETA1_MIN_HEADER),
        _ => (1, filters(raw)?, BETA5_METALAYERS_AT),
    };
    let metalayers = if raw.len() == metalayers_at {
        Vec::new()
    } else {
        metalayers::parse(raw, metalayers_at, MAX_METALAYERS, Part::FrameHeader)?
    };
    Ok(FrameHeader {
        raw: raw.to_vec(),
        dialect,
        version,
        flags,
        layout: Layout::Contiguous,
        frame_len,
        nbytes,
        cbytes,
        chunksize,
        params: params.with_pipeline(pipeline),
        metalayers,
    })
}

/// The filters of a `9d` header: only the used slots are stored, without gaps.
fn filters(raw: &[u8]) -> Result<Pipeline> {
    let mut cursor = Cursor::new(raw, 64, Part::FrameHeader);
    cursor.marker(msgpack::FIXEXT_16, "the filters")?;
    let at = cursor.clone();
    let count = cursor.byte("the filters")?;
    if count > 8 {
        return Err(at.error(format!("{count} filters, and 8 is the most")));
    }
    let [i0, i1, i2, i3, i4, i5, _, _] = cursor.array("the filters")?;
    let [m0, m1, m2, m3, m4, m5, _, _] = cursor.array("the filters")?;
    Ok(Pipeline::from_bytes([i0, i1, i2, i3, i4, i5], [m0, m1, m2, m3, m4, m5]))
}
