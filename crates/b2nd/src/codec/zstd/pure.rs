//! Zstandard in pure Rust.

use crate::codec::error::{broken, wrong_length};
use crate::error::{Error, Result};
use structured_zstd::decoding::{ContentChecksum, Dictionary as Parsed, DictionaryHandle, FrameDecoder};
use structured_zstd::encoding::{CompressionLevel, FrameCompressor};

/// Whether our decoder is faster than this library: always.
#[cfg(not(feature = "c-codecs"))]
pub(in crate::codec) fn is_slower() -> bool {
    true
}

/// The level at which the library compresses.
fn level(clevel: u8) -> i32 {
    match super::level(clevel) {
        // Its search for this level (two hash tables) writes frames of other bytes on big-endian machines, as of 0.2.6.
        3 if cfg!(target_endian = "big") => 5,
        level => level,
    }
}

/// The decoder, made on first use, and a buffer for results: the encoder wants to grow its output.
#[derive(Default)]
pub(in crate::codec) struct LibraryContext {
    decompress: Option<Box<FrameDecoder>>,
    buffer: Vec<u8>,
}

impl LibraryContext {
    pub(in crate::codec) fn compress(
        &mut self,
        clevel: u8,
        dictionary: Option<&LibraryDictionary>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Option<usize>> {
        // The engine cannot cross threads as this context may, so it lives for one call only.
        let level = CompressionLevel::from_level(level(clevel));
        let mut encoder: FrameCompressor = FrameCompressor::new(level);
        encoder.set_content_checksum(false);
        if let Some(LibraryDictionary::Writing(bytes)) = dictionary {
            let refused = |error| Error::compression(format!("the zstd dictionary cannot be used: {error}"));
            encoder.set_dictionary_from_bytes(bytes).map_err(refused)?;
        }
        encoder.compress_independent_frame_into(src, &mut self.buffer);
        let Some(to) = dst.get_mut(..self.buffer.len()) else { return Ok(None) };
        to.copy_from_slice(&self.buffer);
        Ok(Some(self.buffer.len()))
    }

    pub(in crate::codec) fn decompress(
        &mut self,
        dictionary: Option<&LibraryDictionary>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<()> {
        let decoder = self.decompress.get_or_insert_with(|| {
            let mut decoder = Box::new(FrameDecoder::new());
            decoder.set_content_checksum(ContentChecksum::Verify);
            decoder
        });
        // Straight into `dst`: the window that a frame claims is never allocated.
        let result = match dictionary {
            Some(LibraryDictionary::Reading(handle)) => decoder.decode_all_with_dict_handle(src, dst, handle),
            _ => decoder.decode_all(src, dst),
        };
        match result {
            Ok(written) if written == dst.len() => Ok(()),
            Ok(written) => Err(wrong_length("zstd", written, dst.len())),
            Err(error) => {
                // What a broken frame leaves behind is not worth trusting.
                self.decompress = None;
                Err(broken(format!("zstd: {error}")))
            }
        }
    }
}

/// A dictionary, parsed for one direction.
pub(in crate::codec) enum LibraryDictionary {
    Reading(DictionaryHandle),
    /// The encoder lives for one call, and reads it anew.
    Writing(Box<[u8]>),
}

impl LibraryDictionary {
    pub(in crate::codec) fn for_reading(bytes: &[u8]) -> Result<Self> {
        let parsed = Parsed::from_serialized_or_raw_content(bytes)
            .map_err(|error| broken(format!("the zstd dictionary is damaged: {error}")))?;
        Ok(LibraryDictionary::Reading(parsed.into_handle()))
    }

    #[cfg_attr(
        feature = "c-codecs",
        expect(clippy::unnecessary_wraps, reason = "as in the build that this one is held against")
    )]
    pub(in crate::codec) fn for_writing(bytes: &[u8], _level: i32) -> Result<Self> {
        Ok(LibraryDictionary::Writing(bytes.into()))
    }
}

/// The first of the samples: content without entropy tables.
#[cfg(not(feature = "c-codecs"))]
pub(in crate::codec) fn train(samples: &[u8], _lengths: &[usize], room: usize) -> Result<Option<Vec<u8>>> {
    Ok(Some(samples.get(..room).unwrap_or(samples).to_vec()))
}
