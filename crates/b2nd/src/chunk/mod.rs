//! Chunks: the compressed bytes of up to 2 GiB of items, cut into blocks that decode on their own. No I/O here.
//!
//! A header describes a chunk; `ChunkHead` adds the offsets of its blocks; `BlockDecoder` decodes them one at a time,
//! wherever their bytes come from. Independent of frames, files and shapes.

mod assembly;
mod blocks;
mod cuts;
mod decode;
mod decoder;
mod dictionary;
mod digest;
mod encode;
mod head;
mod header;
pub(crate) mod params;
mod soundness;
mod special;
mod splice;
mod streams;
mod variable;

pub use crate::registry::context::Context;
pub(crate) use blocks::{ItemRuns, start_for};
pub(crate) use cuts::Cuts;
pub use decode::{decode, decode_into, decode_range};
pub(crate) use decoder::BlockDecoder;
pub(crate) use digest::{Sums, hash, hashes, head_len, mix};
pub(crate) use encode::{BlockSource, encode_from, encode_one};
pub use encode::{encode, encode_into, encode_with};
pub(crate) use head::{ChunkHead, Content, Start};
pub use header::ChunkHeader;
pub use params::auto_blocksize;
pub(crate) use params::{Params, SplitMode};
pub(crate) use soundness::{check, each_block};
pub use special::{Special, encode_special};
pub(crate) use splice::{DecodedBlocks, Splice};
pub use variable::{decode_block, encode_blocks};

/// The most uncompressed bytes that a chunk can hold: 2 GiB − 33 bytes.
pub const MAX_CHUNK_BYTES: u32 = i32::MAX as u32 - 32;

/// The most uncompressed bytes that a block can hold.
pub const MAX_BLOCK_BYTES: u32 = 536_866_816;

#[cfg(test)]
mod tests;
