//! Frames: header, metalayers, chunk offsets, trailer and vlmetalayers, contiguous and sparse. Parsing never touches a file.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

pub(crate) mod digests;
mod durability;
mod edit;
mod extents;
mod header;
mod legacy;
mod metalayers;
mod offsets;
mod packed;
mod parse;
pub(crate) mod plan;
pub(crate) mod salvage;
mod space;
mod torn;
mod trailer;

pub use durability::Durability;
pub(crate) use edit::Undo;
pub(crate) use header::{ChunkSizes, FrameHeader, HeaderFields, MARK_LEN, find_mark};
pub(crate) use metalayers::Name;
pub(crate) use offsets::{ChunkOffset, Offsets, SameChunks};
pub(crate) use parse::{FrameIndex, FrameParser, ParseStep};
pub(crate) use space::Space;
pub(crate) use torn::{HeaderState, TAIL, UndoRecord, record_len, sector_end, undo_record};
pub(crate) use trailer::{LayerPlace, Trailer, layer_place};

/// Layout of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Layout {
    /// One file (or buffer) holds everything.
    #[default]
    Contiguous,
    /// A directory with a file for each chunk.
    Sparse,
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "a test may fail")]
mod tests;
