//! ZFP: lossy compression of floats, by a library behind the feature `zfp`. One stream is one block, without a header of its own.

#[cfg(not(feature = "zfp"))]
mod absent;
#[cfg(feature = "zfp")]
mod library;
#[cfg(all(test, feature = "zfp"))]
mod tests;

use super::Codec;
use crate::error::{Error, Result};
use crate::registry::BlockInfo;

#[cfg(not(feature = "zfp"))]
pub(super) use absent::{compress, decompress};
#[cfg(feature = "zfp")]
pub(super) use library::{compress, decompress};

/// The shortest block along any axis.
const LEAST: u32 = 4;

/// Whether such blocks can be written: an [`Error::Compression`] says why not.
pub(super) fn check(codec: Codec, info: &BlockInfo<'_>) -> Result<()> {
    if cfg!(not(feature = "zfp")) {
        return Err(Error::unsupported(format!("{} without the feature zfp", codec.name())));
    }
    let name = codec.name();
    let wrong = match info.block_shape {
        _ if info.typesize != 4 && info.typesize != 8 => {
            format!("{name} works on floats of 4 or 8 bytes, not on items of {}", info.typesize)
        }
        None => format!("{name} needs the shape of the blocks, which only an array has"),
        Some(shape) if !(1..=4).contains(&shape.len()) => {
            format!("{name} works in one to four dimensions, not in {}", shape.len())
        }
        Some(shape) if shape.iter().any(|&length| length < LEAST) => {
            format!("{name} needs blocks of {LEAST} items or more along each axis: {shape:?} are too short")
        }
        Some(_) if codec == Codec::ZfpRate && info.meta == 0 => {
            format!("{name} needs a codec meta of 1 or more: the percentage of the size that is left")
        }
        Some(_) => return Ok(()),
    };
    Err(Error::compression(wrong))
}
