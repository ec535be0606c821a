//! The door to the codecs: picks one by id, bounds what goes in, and turns its verdict into an error.

use super::{Codec, blosclz, lz4, zlib, zstd};
use crate::error::{Error, Part, Result};

/// The longest stream or result, from the format: block sizes are `i32`. It keeps every length inside the C `int`
/// of the reference codecs.
const MAX_LEN: usize = i32::MAX as usize;

/// Reusable memory of the codecs (contexts, hash tables): one for each thread that works, made empty and filled on use.
#[derive(Default)]
pub(crate) struct State {
    blosclz: blosclz::Encoder,
    lz4: lz4::Context,
    zlib: zlib::Context,
    zstd: zstd::Context,
}

/// Compresses `src` into `dst`. `Ok(None)`: the result does not fit `dst` or there is nothing to gain. Level 1 to 9.
pub(crate) fn compress(
    codec: Codec,
    clevel: u8,
    src: &[u8],
    dst: &mut [u8],
    state: &mut State,
) -> Result<Option<usize>> {
    let clevel = clevel.min(9);
    if clevel == 0 || src.is_empty() || dst.is_empty() || src.len() > MAX_LEN {
        return match codec {
            Codec::Other(id) => Err(Error::unsupported(format!("codec {id}"))),
            _ => Ok(None),
        };
    }
    let room = dst.len().min(MAX_LEN);
    let dst = &mut dst[..room];
    match codec {
        Codec::BloscLz => Ok(state.blosclz.encode(clevel, src, dst)),
        Codec::Lz4 => state.lz4.compress_fast(clevel, src, dst),
        Codec::Lz4Hc => state.lz4.compress_high(clevel, src, dst),
        Codec::Zlib => state.zlib.compress(clevel, src, dst),
        Codec::Zstd => state.zstd.compress(clevel, src, dst),
        Codec::Other(id) => Err(Error::unsupported(format!("codec {id}"))),
    }
}

/// Decompresses `src`, which must fill `dst` exactly; else an [`Error::Format`](crate::Error::Format) of [`Part::Stream`](crate::Part::Stream).
pub(crate) fn decompress(codec: Codec, src: &[u8], dst: &mut [u8], state: &mut State) -> Result<()> {
    if src.len() > MAX_LEN || dst.len() > MAX_LEN {
        return Err(Error::format(Part::Stream, None, "longer than the format allows"));
    }
    match codec {
        Codec::BloscLz => blosclz::decode(src, dst)
            .map_err(|defect| Error::format(Part::Stream, defect.offset as u64, defect.reason)),
        Codec::Lz4 | Codec::Lz4Hc => lz4::decompress(src, dst),
        Codec::Zlib => state.zlib.decompress(src, dst),
        Codec::Zstd => state.zstd.decompress(src, dst),
        Codec::Other(id) => Err(Error::unsupported(format!("codec {id}"))),
    }
}

/// A stream that its codec rejects: the reason names the codec.
pub(super) fn broken(reason: impl Into<String>) -> Error {
    Error::format(Part::Stream, None, reason)
}

/// A stream that is sound but ends before (or after) the `expected` bytes.
pub(super) fn wrong_length(codec: &str, found: usize, expected: usize) -> Error {
    broken(format!("the {codec} data stands for {found} bytes instead of {expected}"))
}
