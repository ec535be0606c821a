//! Filters by themselves, on a whole buffer.

use super::library::Rival;
use b2nd_interop::Outcome;

/// A filter, or its inverse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filter {
    /// Bytes of the same place side by side.
    Shuffle,
    /// Its inverse.
    Unshuffle,
    /// Bits of the same place side by side.
    Bitshuffle,
    /// Its inverse.
    Bitunshuffle,
}

impl Rival {
    /// Filters `src` into `dst`, which has the same length.
    pub(crate) fn filter(&self, filter: Filter, typesize: u8, src: &[u8], dst: &mut [u8]) -> Outcome {
        let len = i32::try_from(src.len())?;
        if src.len() != dst.len() {
            return Err("two buffers of one length are needed".into());
        }
        let (from, to) = (src.as_ptr().cast(), dst.as_mut_ptr().cast());
        // SAFETY: both buffers have the length given, and they cannot overlap (`&` and `&mut`).
        let n = unsafe { (self.filters[filter as usize])(i32::from(typesize), len, from, to) };
        if n == len { Ok(()) } else { Err(format!("C-Blosc2 error {n}").into()) }
    }
}
