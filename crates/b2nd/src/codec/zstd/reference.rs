//! Zstandard by the reference C library, through the safe interface of `zstd-safe`.

use crate::codec::stream::{broken, wrong_length};
use crate::error::{Error, Result};
use zstd_safe::{CCtx, DCtx};

/// The two contexts, each made on first use.
#[derive(Default)]
pub(in crate::codec) struct Context {
    compress: Option<CCtx<'static>>,
    decompress: Option<DCtx<'static>>,
}

impl Context {
    pub(in crate::codec) fn compress(
        &mut self,
        clevel: u8,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Option<usize>> {
        let context = match &mut self.compress {
            Some(context) => context,
            empty => empty.insert(CCtx::try_create().ok_or_else(no_memory)?),
        };
        // The one-shot call takes its parameters from the level and from the length of `src`, so that the
        // tables of level 22 stay in proportion to a small block.
        match context.compress(dst, src, super::level(clevel)) {
            Ok(len) => Ok(Some(len)),
            Err(code) if code == DST_TOO_SMALL => Ok(None),
            Err(code) if code == NO_MEMORY => Err(no_memory()),
            Err(code) => {
                Err(Error::usage(format!("zstd cannot compress: {}", zstd_safe::get_error_name(code))))
            }
        }
    }

    pub(in crate::codec) fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let context = match &mut self.decompress {
            Some(context) => context,
            empty => empty.insert(DCtx::try_create().ok_or_else(no_memory)?),
        };
        // The one-shot call decodes straight into `dst`: the window that a frame claims is never allocated.
        match context.decompress(dst, src) {
            Ok(written) if written == dst.len() => Ok(()),
            Ok(written) => Err(wrong_length("zstd", written, dst.len())),
            Err(code) => Err(broken(format!("zstd: {}", zstd_safe::get_error_name(code)))),
        }
    }
}

/// The library's results are the error number, negated, in a `size_t`.
const DST_TOO_SMALL: usize = 70_usize.wrapping_neg();
const NO_MEMORY: usize = 64_usize.wrapping_neg();

fn no_memory() -> Error {
    Error::out_of_memory("a zstd context", 0)
}
