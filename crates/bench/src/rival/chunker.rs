//! Chunks without a frame around them.

use super::library::{Rival, Setting};
use b2nd_interop::Outcome;
use std::ffi::c_void;
use std::ptr::NonNull;

impl Rival {
    /// A context that compresses and decompresses chunks.
    pub(crate) fn chunker(&self, setting: Setting) -> Outcome<Chunker<'_>> {
        // SAFETY: the structure has the library's own layout (checked) and holds no pointers but null.
        let cctx = unsafe { (self.create_cctx)(self.cparams(setting)) };
        // SAFETY: as above.
        let dctx = unsafe { (self.create_dctx)(self.dparams(setting.threads)) };
        let contexts = NonNull::new(cctx).zip(NonNull::new(dctx)).ok_or("C-Blosc2 refused the parameters")?;
        Ok(Chunker { rival: self, cctx: contexts.0, dctx: contexts.1 })
    }
}

/// Contexts for chunks.
#[derive(Debug)]
pub(crate) struct Chunker<'r> {
    rival: &'r Rival,
    cctx: NonNull<c_void>,
    dctx: NonNull<c_void>,
}

impl Chunker<'_> {
    /// Compresses into `out`; the number of bytes.
    pub(crate) fn compress(&mut self, src: &[u8], out: &mut [u8]) -> Outcome<usize> {
        let (from, to) = (src.as_ptr().cast(), out.as_mut_ptr().cast());
        // SAFETY: both buffers have the lengths given, and the context is used by this thread alone (`&mut self`).
        let n = unsafe {
            (self.rival.compress)(
                self.cctx.as_ptr(),
                from,
                i32::try_from(src.len())?,
                to,
                i32::try_from(out.len())?,
            )
        };
        usize::try_from(n).ok().filter(|&n| n > 0).ok_or_else(|| format!("C-Blosc2 error {n}").into())
    }
    /// Decompresses into `out`, which has the right length.
    pub(crate) fn decompress(&mut self, chunk: &[u8], out: &mut [u8]) -> Outcome {
        let (from, to) = (chunk.as_ptr().cast(), out.as_mut_ptr().cast());
        // SAFETY: as for `compress`.
        let n = unsafe {
            (self.rival.decompress)(
                self.dctx.as_ptr(),
                from,
                i32::try_from(chunk.len())?,
                to,
                i32::try_from(out.len())?,
            )
        };
        if usize::try_from(n) == Ok(out.len()) { Ok(()) } else { Err(format!("C-Blosc2 error {n}").into()) }
    }
}

impl Drop for Chunker<'_> {
    fn drop(&mut self) {
        // SAFETY: the context came from the library, and this is its last use.
        unsafe { (self.rival.free_ctx)(self.cctx.as_ptr()) };
        // SAFETY: as above.
        unsafe { (self.rival.free_ctx)(self.dctx.as_ptr()) };
    }
}
