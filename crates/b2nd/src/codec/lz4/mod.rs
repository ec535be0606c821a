//! LZ4 blocks without any frame or length prefix: the codecs `lz4` and `lz4hc`, which share one format.
//!
//! Reading is ours, in every build. With the feature `c-codecs` the reference C library writes; without it, safe Rust. Each writes
//! what the other reads; the tests of a build with the C library hold all decoders against each other.

#[cfg(any(test, not(feature = "c-codecs")))]
mod pure;
#[cfg(feature = "c-codecs")]
mod reference;
#[cfg(test)]
mod tests;

#[cfg(not(feature = "c-codecs"))]
pub(super) use pure::Lz4Context;
#[cfg(feature = "c-codecs")]
pub(super) use reference::Lz4Context;

#[cfg(all(test, feature = "c-codecs"))]
pub(super) use pure::Lz4Context as PureContext;

use crate::codec::error::wrong_length;
use crate::error::{Error, Part, Result};
use b2nd_kernel::cpu::Level;
use b2nd_kernel::lz4;

/// Decompresses `src`, which must fill `dst` exactly.
pub(super) fn decompress(dictionary: Option<&[u8]>, src: &[u8], dst: &mut [u8]) -> Result<()> {
    filled(lz4::decode(Level::detect(), dictionary.unwrap_or_default(), src, dst), dst)
}

/// Decompresses the first bytes that `src` stands for, as many as `dst` has room for; what follows is not looked at.
pub(super) fn decompress_start(dictionary: Option<&[u8]>, src: &[u8], dst: &mut [u8]) -> Result<()> {
    filled(lz4::decode_start(Level::detect(), dictionary.unwrap_or_default(), src, dst), dst)
}

fn filled(decoded: std::result::Result<usize, lz4::Defect>, dst: &[u8]) -> Result<()> {
    match decoded {
        Ok(written) if written == dst.len() => Ok(()),
        Ok(written) => Err(wrong_length("LZ4", written, dst.len())),
        Err(defect) => {
            Err(Error::format(Part::Stream, defect.offset as u64, format!("LZ4: {}", defect.reason)))
        }
    }
}
