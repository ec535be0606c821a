//! Without the feature `zfp`.

use super::Codec;
use crate::error::{Error, Result};
use crate::registry::BlockInfo;

fn absent(codec: Codec) -> Error {
    Error::unsupported(format!("{} without the feature zfp", codec.name()))
}

/// Refuses to compress.
pub(crate) fn compress(codec: Codec, _: &BlockInfo<'_>, _: &[u8], _: &mut [u8]) -> Result<Option<usize>> {
    Err(absent(codec))
}

/// Refuses to decompress.
pub(crate) fn decompress(codec: Codec, _: &BlockInfo<'_>, _: &[u8], _: &mut [u8]) -> Result<()> {
    Err(absent(codec))
}
