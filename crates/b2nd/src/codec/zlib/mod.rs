//! zlib streams (RFC 1950: two header bytes, deflate, Adler-32), by the pure Rust `zlib-rs`.
//!
//! With the feature `c-codecs`, `libdeflate` writes at the middle levels where a look at the data says that it is the quicker.

#[cfg(feature = "c-codecs")]
mod quick;

use super::error::{broken, wrong_length};
use crate::error::Result;
use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush, Status};

/// The largest window of the format: 32 KiB.
const WINDOW_BITS: u8 = 15;

/// The engines, each made on first use and reset from then on.
#[derive(Default)]
pub(super) struct ZlibContext {
    deflate: Option<(u8, Deflate)>,
    inflate: Option<Inflate>,
    #[cfg(feature = "c-codecs")]
    quick: quick::DeflateContext,
}

impl ZlibContext {
    pub(super) fn compress(&mut self, clevel: u8, src: &[u8], dst: &mut [u8]) -> Result<Option<usize>> {
        #[cfg(feature = "c-codecs")]
        if quick::suits(clevel, src) {
            return Ok(self.quick.compress(clevel, src, dst));
        }
        // An engine's level is fixed here: a change of level is rare and a fresh engine leaves no doubt about
        // what is left over from the last one.
        if self.deflate.as_ref().is_none_or(|(level, _)| *level != clevel) {
            self.deflate = None;
        }
        let (_, deflate) =
            self.deflate.get_or_insert_with(|| (clevel, Deflate::new(i32::from(clevel), true, WINDOW_BITS)));
        deflate.reset();
        match deflate.compress(src, dst, DeflateFlush::Finish) {
            Ok(Status::StreamEnd) => Ok(usize::try_from(deflate.total_out()).ok()),
            Ok(Status::Ok | Status::BufError) => Ok(None),
            Err(error) => {
                self.deflate = None;
                Err(crate::Error::compression(format!("zlib cannot compress: {}", error.as_str())))
            }
        }
    }

    pub(super) fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let inflate = self.inflate.get_or_insert_with(|| Inflate::new(true, WINDOW_BITS));
        inflate.reset(true);
        let status = inflate.decompress(src, dst, InflateFlush::Finish);
        let written = usize::try_from(inflate.total_out()).unwrap_or(usize::MAX);
        match status {
            Ok(Status::StreamEnd) if inflate.total_in() != src.len() as u64 => {
                Err(broken("bytes follow the end of the zlib data"))
            }
            Ok(Status::StreamEnd) if written == dst.len() => Ok(()),
            Ok(Status::StreamEnd) => Err(wrong_length("zlib", written, dst.len())),
            Ok(Status::Ok | Status::BufError) if written == dst.len() => {
                Err(broken("the zlib data does not end at its last byte"))
            }
            Ok(Status::Ok | Status::BufError) => Err(broken("the zlib data is cut off")),
            Err(error) => Err(broken(format!("zlib: {}", error.as_str()))),
        }
    }
}
