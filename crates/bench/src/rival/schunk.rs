//! Super-chunks in files, chunk by chunk.

use super::library::Rival;
use super::terminated;
use b2nd_interop::Outcome;
use std::ffi::c_void;
use std::path::Path;
use std::ptr::NonNull;

/// An open super-chunk.
#[derive(Debug)]
pub(crate) struct SChunk<'r> {
    rival: &'r Rival,
    schunk: NonNull<c_void>,
}

impl Rival {
    /// Opens a super-chunk from a path.
    pub(crate) fn open_schunk(&self, path: &Path, threads: usize) -> Outcome<SChunk<'_>> {
        let url = terminated(path)?;
        self.set_threads(threads);
        // SAFETY: the text is terminated.
        let schunk = unsafe { (self.open_schunk)(url.as_ptr()) };
        let schunk = NonNull::new(schunk).ok_or("C-Blosc2 cannot open the super-chunk")?;
        Ok(SChunk { rival: self, schunk })
    }
}

/// A chunk whose header says that it has as many bytes as there are.
fn whole(chunk: &[u8]) -> Outcome<*mut u8> {
    let says = chunk.get(12..16).ok_or("short chunk")?.try_into().map(u32::from_le_bytes)?;
    if says as usize == chunk.len() { Ok(chunk.as_ptr().cast_mut()) } else { Err("not a whole chunk".into()) }
}

impl SChunk<'_> {
    /// Replaces a chunk by a compressed one.
    pub(crate) fn update(&mut self, n: u64, chunk: &[u8]) -> Outcome {
        let (at, bytes) = (i64::try_from(n)?, whole(chunk)?);
        // SAFETY: the chunk has as many bytes as its header says, the library copies it (`true`), and the handle is used by
        // this thread alone (`&mut self`).
        let n = unsafe { (self.rival.update_chunk)(self.schunk.as_ptr(), at, bytes, true) };
        if n > at { Ok(()) } else { Err(format!("C-Blosc2 error {n}").into()) }
    }
    /// Appends a compressed chunk.
    pub(crate) fn append(&mut self, chunk: &[u8]) -> Outcome {
        let bytes = whole(chunk)?;
        // SAFETY: as for `update`.
        let n = unsafe { (self.rival.append_chunk)(self.schunk.as_ptr(), bytes, true) };
        if n > 0 { Ok(()) } else { Err(format!("C-Blosc2 error {n}").into()) }
    }
    /// Decompresses a chunk into `out`, which has the right length.
    pub(crate) fn decompress(&mut self, n: u64, out: &mut [u8]) -> Outcome {
        let (at, len, to) = (i64::try_from(n)?, i32::try_from(out.len())?, out.as_mut_ptr().cast());
        // SAFETY: the buffer has the length given.
        let n = unsafe { (self.rival.decompress_chunk)(self.schunk.as_ptr(), at, to, len) };
        if n == len { Ok(()) } else { Err(format!("C-Blosc2 error {n}").into()) }
    }
}

impl Drop for SChunk<'_> {
    fn drop(&mut self) {
        // SAFETY: the super-chunk came from the library, and this is its last use.
        unsafe { (self.rival.free_schunk)(self.schunk.as_ptr()) };
    }
}
