//! Zstandard frames: one complete frame for each stream.
//!
//! Frames as chunks have them are decoded by a decoder of ours, where that is faster; what it refuses (dictionaries, checksums, no
//! content size, damage) goes to a library, which decides. At the lowest level short streams are encoded by an encoder of ours, all
//! else by the library. With the feature `c-codecs` that is the reference C library; without it, pure Rust. Each reads all that the
//! others write; the tests of a build with the C library hold one against the other.

#[cfg(any(test, not(feature = "c-codecs")))]
mod pure;
#[cfg(feature = "c-codecs")]
mod reference;
#[cfg(test)]
mod tests;

#[cfg(not(feature = "c-codecs"))]
use pure as library;
#[cfg(feature = "c-codecs")]
use reference as library;

pub(super) use library::{LibraryDictionary, train};
#[cfg(all(test, feature = "c-codecs"))]
pub(super) use pure::{LibraryContext as PureContext, LibraryDictionary as PureDictionary};

use crate::error::Result;
use crate::limits;
use b2nd_kernel::cpu::Level;
use b2nd_kernel::zstd::{Decoder, Encoder};

/// Our decoder and our encoder, made on first use, and the contexts of the library.
#[derive(Default)]
pub(super) struct ZstdContext {
    ours: Option<Box<Decoder>>,
    encoder: Option<Encoder>,
    library: library::LibraryContext,
}

impl ZstdContext {
    /// With a dictionary for writing, at the level it was made for; else at `clevel`.
    pub(super) fn compress(
        &mut self,
        clevel: u8,
        dictionary: Option<&LibraryDictionary>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Option<usize>> {
        // On every machine: what is written shall not depend on it.
        if clevel == 1 && dictionary.is_none() && src.len() <= Encoder::MOST {
            let ours = self.encoder.get_or_insert_with(Encoder::new);
            return Ok(ours.encode(Level::detect(), src, dst));
        }
        self.library.compress(clevel, dictionary, src, dst)
    }

    /// Decompresses `src`, which must fill `dst` exactly.
    pub(super) fn decompress(
        &mut self,
        dictionary: Option<&LibraryDictionary>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<()> {
        if dictionary.is_none() && stops() {
            let ours = self.ours.get_or_insert_with(Box::default);
            if ours.decode(Level::detect(), src, dst).is_ok() {
                return Ok(());
            }
        }
        self.library.decompress(dictionary, src, dst)
    }

    /// Decompresses the first of the `whole` bytes that `src` stands for, as many as `dst` has room for; what follows is not
    /// looked at, but in frames that our decoder refuses.
    pub(super) fn decompress_start(&mut self, src: &[u8], dst: &mut [u8], whole: usize) -> Result<()> {
        let ours = self.ours.get_or_insert_with(Box::default);
        if ours.decode_start(Level::detect(), src, whole, dst).is_ok() {
            return Ok(());
        }
        let mut all = limits::zeroed("a stream", whole as u64)?;
        self.library.decompress(None, src, &mut all)?;
        dst.copy_from_slice(all.get(..dst.len()).unwrap_or_default());
        Ok(())
    }
}

/// Whether our decoder, which can stop anywhere, is the one that reads.
pub(super) fn stops() -> bool {
    library::is_slower()
}

/// The Zstandard level for a level of 1 to 9, as C-Blosc2 maps it.
pub(super) fn level(clevel: u8) -> i32 {
    match clevel {
        9.. => 22,
        _ => 2 * i32::from(clevel) - 1,
    }
}
