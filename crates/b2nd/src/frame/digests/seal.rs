//! The fingerprint of a trailer: over its skeleton, which is everything but the contents of vlmetalayers, and the root.

use super::{BEFORE, FIXED, MAGIC, MARKER};
use std::ops::Range;
use std::sync::Arc;
use twox_hash::XxHash3_128;

/// The chunk that holds the checksums: all of it, or its start up to the end of the root.
#[derive(Debug, Clone)]
pub(crate) struct StoredLayer {
    pub(super) bytes: Arc<[u8]>,
    /// The length of the chunk.
    pub(super) len: usize,
}

impl StoredLayer {
    /// The start of a chunk of `len` bytes.
    pub(crate) fn start(bytes: Arc<[u8]>, len: usize) -> Self {
        StoredLayer { bytes, len }
    }
    /// The length of the chunk.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
    /// The part that the fingerprint covers.
    pub(crate) fn sealed(&self) -> Option<&[u8]> {
        sealed(&self.bytes)
    }
    /// The bytes that are at hand.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl From<Arc<[u8]>> for StoredLayer {
    fn from(bytes: Arc<[u8]>) -> Self {
        StoredLayer { len: bytes.len(), bytes }
    }
}

/// Result of checking the fingerprint of a trailer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Seal {
    /// There is none: another program wrote the trailer, or there are no checksums.
    #[default]
    None,
    /// It matches.
    Intact,
    /// It does not match.
    Broken,
}

/// The part of the stored layer that the fingerprint covers, from its first byte to the end of the root; `None` where it is not
/// as b2nd writes it.
pub(crate) fn sealed(stored: &[u8]) -> Option<&[u8]> {
    stored.get(..root_end(stored)?)
}

/// The fingerprint of a trailer whose bytes, up to the fingerprint, are `trailer`; `contents` are those of its vlmetalayers.
pub(crate) fn fingerprint(trailer: &[u8], contents: &mut [Range<usize>], root: &[u8]) -> [u8; 16] {
    contents.sort_unstable_by_key(|range| range.start);
    let mut hasher = XxHash3_128::new();
    let mut at = 0;
    for content in contents.iter() {
        hasher.write(trailer.get(at..content.start).unwrap_or_default());
        at = at.max(content.end);
    }
    hasher.write(trailer.get(at..).unwrap_or_default());
    hasher.write(root);
    // Zero means no fingerprint.
    hasher.finish_128().max(1).to_le_bytes()
}

/// Offset of the layer's bytes in its chunk `stored`, if it is stored as b2nd writes it.
pub(super) fn plain(stored: &[u8]) -> Option<usize> {
    sealed(stored).and(BEFORE.checked_sub(MARKER))
}

/// End of the root in a stored layer that begins with `start`; `None` if that is not enough to tell.
pub(crate) fn root_end(start: &[u8]) -> Option<usize> {
    let root = start.get(BEFORE..)?;
    let len = root.strip_prefix(&MAGIC)?.get(4..)?.first_chunk::<4>()?;
    let len = usize::try_from(u32::from_le_bytes(*len)).ok().filter(|len| *len >= FIXED)?;
    BEFORE.checked_add(len)
}

/// How many bytes of the stored layer [`root_end`] looks at.
pub(crate) const ROOT_START: usize = BEFORE + FIXED;

/// How many bytes of the stored layer hold the copy of a header of this length.
pub(crate) fn root_len(header_len: u64) -> u64 {
    (BEFORE.saturating_add(FIXED) as u64).saturating_add(header_len)
}

/// The copy of the header in the start of a stored layer, where it is as b2nd writes it.
pub(crate) fn copied_header(stored: &[u8]) -> Option<&[u8]> {
    let root = stored.get(BEFORE..)?;
    root.strip_prefix(&MAGIC)?;
    let (fixed, rest) = root.split_at_checked(FIXED)?;
    let len = fixed.last_chunk::<4>().map(|len| u32::from_le_bytes(*len))?;
    rest.get(..usize::try_from(len).ok()?)
}
