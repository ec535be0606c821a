//! Zstandard by the reference C library, through the safe interface of `zstd-safe`.

use crate::codec::error::{broken, wrong_length};
use crate::error::{Error, Result};
use b2nd_kernel::cpu::Level;
use zstd_safe::{CCtx, CDict, DCtx, DDict};

/// Whether our decoder is faster than this library on this machine: without the instructions for bits it is a tenth slower.
pub(in crate::codec) fn is_slower() -> bool {
    matches!(Level::detect(), Level::Avx2 | Level::Avx512)
}

/// The two contexts, each made on first use.
#[derive(Default)]
pub(in crate::codec) struct LibraryContext {
    compress: Option<CCtx<'static>>,
    decompress: Option<DCtx<'static>>,
}

impl LibraryContext {
    /// With a dictionary for writing, at the level it was made for; else at `clevel`.
    pub(in crate::codec) fn compress(
        &mut self,
        clevel: u8,
        dictionary: Option<&LibraryDictionary>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Option<usize>> {
        let context = match &mut self.compress {
            Some(context) => context,
            empty => empty.insert(CCtx::try_create().ok_or_else(no_memory)?),
        };
        // The one-shot call takes its parameters from the level and from the length of `src`, so that the
        // tables of level 22 stay in proportion to a small block.
        let result = match dictionary {
            Some(LibraryDictionary::Writing(dictionary)) => {
                context.compress_using_cdict(dst, src, dictionary)
            }
            _ => context.compress(dst, src, super::level(clevel)),
        };
        match result {
            Ok(len) => Ok(Some(len)),
            Err(code) if code == DST_TOO_SMALL => Ok(None),
            Err(code) if code == NO_MEMORY => Err(no_memory()),
            Err(code) => {
                Err(Error::compression(format!("zstd cannot compress: {}", zstd_safe::get_error_name(code))))
            }
        }
    }

    pub(in crate::codec) fn decompress(
        &mut self,
        dictionary: Option<&LibraryDictionary>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<()> {
        let context = match &mut self.decompress {
            Some(context) => context,
            empty => empty.insert(DCtx::try_create().ok_or_else(no_memory)?),
        };
        // The one-shot call decodes straight into `dst`: the window that a frame claims is never allocated.
        let result = match dictionary {
            Some(LibraryDictionary::Reading(dictionary)) => {
                context.decompress_using_ddict(dst, src, dictionary)
            }
            _ => context.decompress(dst, src),
        };
        match result {
            Ok(written) if written == dst.len() => Ok(()),
            Ok(written) => Err(wrong_length("zstd", written, dst.len())),
            Err(code) => Err(broken(format!("zstd: {}", zstd_safe::get_error_name(code)))),
        }
    }
}

/// A dictionary, digested for one direction.
pub(in crate::codec) enum LibraryDictionary {
    Reading(DDict<'static>),
    Writing(CDict<'static>),
}

impl LibraryDictionary {
    pub(in crate::codec) fn for_reading(bytes: &[u8]) -> Result<Self> {
        // The library does not say why it refuses; memory for so little is hardly ever missing.
        DDict::try_create(bytes)
            .map(LibraryDictionary::Reading)
            .ok_or_else(|| broken("the zstd dictionary is damaged"))
    }

    pub(in crate::codec) fn for_writing(bytes: &[u8], level: i32) -> Result<Self> {
        CDict::try_create(bytes, level).map(LibraryDictionary::Writing).ok_or_else(no_memory)
    }
}

/// A dictionary of at most `room` bytes with what the samples have in common, and with entropy tables. `None` where they have
/// too little, or are too few.
pub(in crate::codec) fn train(samples: &[u8], lengths: &[usize], room: usize) -> Result<Option<Vec<u8>>> {
    if lengths.iter().try_fold(0, |sum: usize, len| sum.checked_add(*len)) != Some(samples.len()) {
        return Err(Error::usage("the lengths of the samples of a dictionary do not add up to their bytes"));
    }
    let mut dictionary = crate::limits::zeroed("a dictionary", room as u64)?;
    match zstd_safe::train_from_buffer(&mut dictionary[..], samples, lengths) {
        Ok(len) if len > 0 => {
            dictionary.truncate(len);
            Ok(Some(dictionary))
        }
        _ => Ok(None),
    }
}

/// The library's results are the error number, negated, in a `size_t`.
const DST_TOO_SMALL: usize = 70_usize.wrapping_neg();
const NO_MEMORY: usize = 64_usize.wrapping_neg();

fn no_memory() -> Error {
    Error::out_of_memory("a zstd context", 0)
}
