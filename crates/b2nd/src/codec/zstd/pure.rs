//! Zstandard in pure Rust.

use crate::codec::stream::{broken, wrong_length};
use crate::error::Result;
use structured_zstd::decoding::{ContentChecksum, FrameDecoder};
use structured_zstd::encoding::{CompressionLevel, FrameCompressor};

/// The decoder, made on first use, and a buffer for results: the encoder wants to grow its output.
#[derive(Default)]
pub(in crate::codec) struct Context {
    decompress: Option<Box<FrameDecoder>>,
    buffer: Vec<u8>,
}

impl Context {
    pub(in crate::codec) fn compress(
        &mut self,
        clevel: u8,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Option<usize>> {
        // The engine cannot cross threads as this context may, so it lives for one call only.
        let level = CompressionLevel::from_level(super::level(clevel));
        let mut encoder: FrameCompressor = FrameCompressor::new(level);
        encoder.set_content_checksum(false);
        encoder.compress_independent_frame_into(src, &mut self.buffer);
        let Some(to) = dst.get_mut(..self.buffer.len()) else { return Ok(None) };
        to.copy_from_slice(&self.buffer);
        Ok(Some(self.buffer.len()))
    }

    pub(in crate::codec) fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let decoder = self.decompress.get_or_insert_with(|| {
            let mut decoder = Box::new(FrameDecoder::new());
            decoder.set_content_checksum(ContentChecksum::Verify);
            decoder
        });
        // Straight into `dst`: the window that a frame claims is never allocated.
        match decoder.decode_all(src, dst) {
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
