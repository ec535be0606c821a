//! Working memory of filters that is grown once and then reused as it is.

use crate::error::Error;
use crate::error::Result;

/// The first `len` bytes of `buffer`, with whatever an earlier use left in them. Grows fallibly, never shrinks.
pub(crate) fn grown<'a>(buffer: &'a mut Vec<u8>, len: usize, what: &'static str) -> Result<&'a mut [u8]> {
    if buffer.len() < len {
        buffer.try_reserve_exact(len - buffer.len()).map_err(|_| Error::out_of_memory(what, len as u64))?;
        buffer.resize(len, 0);
    }
    Ok(&mut buffer[..len])
}
