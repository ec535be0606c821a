//! Writing LZ4 and LZ4 HC by the reference C library, through the safe interface of `lzzzz`.

use crate::error::{Error, Result};

/// Nothing: `lzzzz` keeps one working memory for each thread itself.
#[derive(Default)]
pub(in crate::codec) struct Lz4Context {}

impl Lz4Context {
    #[expect(clippy::unused_self, reason = "the pure build keeps its tables here")]
    pub(in crate::codec) fn compress_fast(
        &mut self,
        clevel: u8,
        dictionary: Option<&[u8]>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Option<usize>> {
        // The only failure is a result that does not fit.
        if let Some(dictionary) = dictionary {
            let mut stream = lzzzz::lz4::Compressor::with_dict(dictionary).map_err(no_memory)?;
            return Ok(stream.next(src, dst, 10 - i32::from(clevel)).ok());
        }
        Ok(lzzzz::lz4::compress(src, dst, 10 - i32::from(clevel)).ok())
    }

    #[expect(clippy::unused_self, reason = "the pure build keeps its tables here")]
    pub(in crate::codec) fn compress_high(
        &mut self,
        clevel: u8,
        dictionary: Option<&[u8]>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Option<usize>> {
        if let Some(dictionary) = dictionary {
            let stream = lzzzz::lz4_hc::Compressor::with_dict(dictionary, i32::from(clevel));
            return Ok(stream.map_err(no_memory)?.next(src, dst).ok());
        }
        Ok(lzzzz::lz4_hc::compress(src, dst, i32::from(clevel)).ok())
    }
}

fn no_memory(_: lzzzz::Error) -> Error {
    Error::out_of_memory("an LZ4 stream", 0)
}
