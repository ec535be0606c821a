//! What an input may cost: the bounds that are checked before a number from a file becomes a buffer.

use crate::error::{Error, Result};

/// The most dimensions that the format has.
pub const MAX_NDIM: usize = 16;

/// Bounds on what one open or one read may allocate on the word of its input.
///
/// A file can claim any size: a 32-byte chunk of zeros stands for up to 2 GiB. Every such number is held
/// against these limits before memory is reserved for it.
///
/// ```
/// use b2nd::Limits;
/// let strict = Limits::default().with_max_chunk_bytes(16 << 20).with_max_index_bytes(1 << 20);
/// assert_eq!(strict.max_chunk_bytes(), 16 << 20);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    max_chunk_bytes: u64,
    max_index_bytes: u64,
    max_meta_bytes: u64,
    max_read_bytes: u64,
}

impl Limits {
    /// Default for [`Limits::max_chunk_bytes`]: 2 GiB − 1, the format's own bound.
    pub const DEFAULT_MAX_CHUNK_BYTES: u64 = (1 << 31) - 1;
    /// Default for [`Limits::max_index_bytes`]: 1 GiB, an index of 134 million chunks.
    pub const DEFAULT_MAX_INDEX_BYTES: u64 = 1 << 30;
    /// Default for [`Limits::max_meta_bytes`]: 256 MiB.
    pub const DEFAULT_MAX_META_BYTES: u64 = 256 << 20;
    /// Default for [`Limits::max_read_bytes`]: 64 GiB in one result that the library allocates itself.
    pub const DEFAULT_MAX_READ_BYTES: u64 = 64 << 30;

    /// The largest uncompressed size of one chunk, in bytes.
    pub fn max_chunk_bytes(&self) -> u64 {
        self.max_chunk_bytes
    }
    /// The largest uncompressed size of the index of chunks (8 bytes a chunk).
    pub fn max_index_bytes(&self) -> u64 {
        self.max_index_bytes
    }
    /// The largest header, the largest trailer, and the largest decompressed vlmetalayer, in bytes each.
    pub fn max_meta_bytes(&self) -> u64 {
        self.max_meta_bytes
    }
    /// The largest result that a read allocates itself, in bytes (`read_into` has no such bound).
    pub fn max_read_bytes(&self) -> u64 {
        self.max_read_bytes
    }
    /// Sets [`Limits::max_chunk_bytes`].
    #[must_use]
    pub fn with_max_chunk_bytes(mut self, bytes: u64) -> Self {
        self.max_chunk_bytes = bytes;
        self
    }
    /// Sets [`Limits::max_index_bytes`].
    #[must_use]
    pub fn with_max_index_bytes(mut self, bytes: u64) -> Self {
        self.max_index_bytes = bytes;
        self
    }
    /// Sets [`Limits::max_meta_bytes`].
    #[must_use]
    pub fn with_max_meta_bytes(mut self, bytes: u64) -> Self {
        self.max_meta_bytes = bytes;
        self
    }
    /// Sets [`Limits::max_read_bytes`].
    #[must_use]
    pub fn with_max_read_bytes(mut self, bytes: u64) -> Self {
        self.max_read_bytes = bytes;
        self
    }

    /// An error when `found` bytes are more than `allowed` for what `what` names.
    pub(crate) fn check(what: &'static str, found: u64, allowed: u64) -> Result<()> {
        if found > allowed { Err(Error::limit(what, found, allowed)) } else { Ok(()) }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_chunk_bytes: Self::DEFAULT_MAX_CHUNK_BYTES,
            max_index_bytes: Self::DEFAULT_MAX_INDEX_BYTES,
            max_meta_bytes: Self::DEFAULT_MAX_META_BYTES,
            max_read_bytes: Self::DEFAULT_MAX_READ_BYTES,
        }
    }
}

/// A zeroed buffer of `len` bytes, reserved fallibly: for sizes that an input or a request names.
pub(crate) fn zeroed(what: &'static str, len: u64) -> Result<Vec<u8>> {
    let refused = || Error::out_of_memory(what, len);
    let length = usize::try_from(len).map_err(|_| refused())?;
    bytemuck::allocation::try_zeroed_vec(length).map_err(|()| refused())
}

/// A copy of bytes, in memory of their own size that is reserved fallibly.
pub(crate) fn copied(what: &'static str, bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = reserved(what, bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// An empty vector with room for `len` values, reserved fallibly.
pub(crate) fn reserved<T>(what: &'static str, len: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let bytes = len.saturating_mul(size_of::<T>()) as u64;
    values.try_reserve_exact(len).map_err(|_| Error::out_of_memory(what, bytes))?;
    Ok(values)
}

/// Makes a buffer `len` bytes long, reserving fallibly; what it held before stays, as whoever asks overwrites it all.
pub(crate) fn resize(what: &'static str, buffer: &mut Vec<u8>, len: usize) -> Result<()> {
    if let Some(more) = len.checked_sub(buffer.len()) {
        buffer.try_reserve_exact(more).map_err(|_| Error::out_of_memory(what, len as u64))?;
    }
    buffer.resize(len, 0);
    Ok(())
}
