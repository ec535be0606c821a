//! LZ4 and LZ4 HC by the reference C library, through the safe interface of `lzzzz`.

use crate::codec::stream::{broken, wrong_length};
use crate::error::{Error, Result};

/// Nothing: `lzzzz` keeps one working memory for each thread itself.
#[derive(Default)]
pub(in crate::codec) struct Context {}

impl Context {
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

pub(in crate::codec) fn decompress(dictionary: Option<&[u8]>, src: &[u8], dst: &mut [u8]) -> Result<()> {
    let result = match dictionary {
        Some(dictionary) => lzzzz::lz4::decompress_with_dict(src, dst, dictionary),
        None => lzzzz::lz4::decompress(src, dst),
    };
    match result {
        Ok(written) if written == dst.len() => Ok(()),
        Ok(written) => Err(wrong_length("LZ4", written, dst.len())),
        Err(_) => Err(broken("not an LZ4 block of this length")),
    }
}

/// Whether [`decompress_start`] is worth calling: the library copies a match that the end cuts byte by byte, and in shuffled
/// blocks that is most of a stream.
pub(in crate::codec) const STOPS: bool = false;

/// The first `dst.len()` bytes of the `whole` that `src` stands for; what follows is not looked at.
pub(in crate::codec) fn decompress_start(src: &[u8], dst: &mut [u8], whole: usize) -> Result<()> {
    match lzzzz::lz4::decompress_partial(src, dst, whole) {
        Ok(written) if written == dst.len() => Ok(()),
        Ok(written) => Err(wrong_length("LZ4", written, dst.len())),
        Err(_) => Err(broken("not an LZ4 block of this length")),
    }
}

fn no_memory(_: lzzzz::Error) -> Error {
    Error::out_of_memory("an LZ4 stream", 0)
}
