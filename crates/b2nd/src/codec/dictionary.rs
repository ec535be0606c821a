//! Dictionaries: bytes that the streams of a chunk may refer to as if they came before each of them.

use super::error::broken;
use super::{Codec, zstd};
use crate::error::Result;
use std::fmt;

/// The longest dictionary that is read: what C-Blosc2 2.x wrote at most. Since 3.0 it writes and reads 32 KiB.
pub(crate) const MAX_DICTIONARY_BYTES: usize = 128 << 10;

/// A dictionary, prepared for the codec whose streams refer to it, and for one direction.
pub(super) enum Dictionary {
    /// For LZ4 the bytes are all there is.
    Lz4(Box<[u8]>),
    /// For zstd, with entropy tables where it was trained.
    Zstd(Box<zstd::LibraryDictionary>),
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dictionary::Lz4(_) => "Lz4",
            Dictionary::Zstd(_) => "Zstd",
        })
    }
}

impl Dictionary {
    /// For decompressing.
    pub(super) fn for_reading(codec: Codec, bytes: &[u8]) -> Result<Self> {
        match codec {
            Codec::Lz4 | Codec::Lz4Hc => Ok(Dictionary::Lz4(bytes.into())),
            Codec::Zstd => Ok(Dictionary::Zstd(Box::new(zstd::LibraryDictionary::for_reading(bytes)?))),
            other => Err(broken(format!("{} has no dictionaries", other.name()))),
        }
    }

    /// For compressing at a level of 1 to 9.
    pub(super) fn for_writing(codec: Codec, clevel: u8, bytes: &[u8]) -> Result<Self> {
        match codec {
            Codec::Zstd => Ok(Dictionary::Zstd(Box::new(zstd::LibraryDictionary::for_writing(
                bytes,
                zstd::level(clevel),
            )?))),
            other => Self::for_reading(other, bytes),
        }
    }
}

/// Whether streams of this codec may refer to a dictionary.
pub(crate) fn has_dictionaries(codec: Codec) -> bool {
    matches!(codec, Codec::Lz4 | Codec::Lz4Hc | Codec::Zstd)
}

/// Makes a dictionary of at most `room` bytes out of `samples`, which lie one after another with these `lengths`. `None` where
/// they are no good for one.
///
/// For LZ4, and for zstd without the reference library, it is the first of the samples as they are.
pub(crate) fn train(codec: Codec, samples: &[u8], lengths: &[usize], room: usize) -> Result<Option<Vec<u8>>> {
    match codec {
        Codec::Lz4 | Codec::Lz4Hc => Ok(Some(first(samples, room))),
        Codec::Zstd => zstd::train(samples, lengths, room),
        _ => Ok(None),
    }
}

/// The first `room` bytes.
fn first(samples: &[u8], room: usize) -> Vec<u8> {
    samples.get(..room).unwrap_or(samples).to_vec()
}
