//! LZ4 and LZ4 HC by the reference C library, through the safe interface of `lzzzz`.

use crate::codec::stream::{broken, wrong_length};
use crate::error::Result;

/// Nothing: `lzzzz` keeps one working memory for each thread itself.
#[derive(Default)]
pub(in crate::codec) struct Context {}

impl Context {
    #[expect(clippy::unused_self, reason = "the pure build keeps its tables here")]
    pub(in crate::codec) fn compress_fast(
        &mut self,
        clevel: u8,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Option<usize>> {
        // The only failure is a result that does not fit.
        Ok(lzzzz::lz4::compress(src, dst, 10 - i32::from(clevel)).ok())
    }

    #[expect(clippy::unused_self, reason = "the pure build keeps its tables here")]
    pub(in crate::codec) fn compress_high(
        &mut self,
        clevel: u8,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Option<usize>> {
        Ok(lzzzz::lz4_hc::compress(src, dst, i32::from(clevel)).ok())
    }
}

pub(in crate::codec) fn decompress(src: &[u8], dst: &mut [u8]) -> Result<()> {
    match lzzzz::lz4::decompress(src, dst) {
        Ok(written) if written == dst.len() => Ok(()),
        Ok(written) => Err(wrong_length("LZ4", written, dst.len())),
        Err(_) => Err(broken("not an LZ4 block of this length")),
    }
}
