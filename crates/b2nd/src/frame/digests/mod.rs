//! The checksums of a frame, kept in one vlmetalayer of its trailer: `docs/FORMAT.md` has the bytes.
//!
//! The layer is a *root* (what header and offsets have to be, and where the segments are) and *segments* of the entries of some
//! thousand chunks each, which are looked at when a chunk of theirs is read. The trailer's fingerprint seals the root. Knows the
//! bytes of the layer; what is read and written when is decided above.

mod compare;
mod draft;
mod layer;
mod seal;

pub(crate) use compare::check_header;
pub(crate) use draft::{Draft, Drafting};
pub(crate) use layer::{EntryTrust, Layer};
pub(crate) use seal::{ROOT_START, Seal, StoredLayer, copied_header, root_end, root_len};
pub(super) use seal::{fingerprint, sealed};

/// The reserved name of the layer.
pub(crate) const LAYER: &str = "b2nd.digests";
/// The first bytes of the root.
const MAGIC: [u8; 8] = *b"b2nd\0sum";
const VERSION: u32 = 1;
/// Chunks of a segment.
pub(crate) const SEGMENT: u64 = 4096;
/// The header of the chunk that holds the layer, and the marker of its content with its length.
const BEFORE: usize = 32 + MARKER;
const MARKER: usize = 5;
/// Bytes of the root before its copy of the header.
const FIXED: usize = 8 + 4 + 4 + 16 + 8 + 8 + 8 + 4;
/// Bytes of a segment's entry in the root.
const LISTED: usize = 8 + 8 + 8 + 8;
/// The longest layer: longer ones are not written.
pub(crate) const MOST_BYTES: u64 = 192 << 20;

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "a test may fail")]
mod tests;
