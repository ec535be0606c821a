//! The super-chunk: an open frame whose chunks can be fetched and replaced.

mod copy;
mod create;
mod edit;
mod export;
mod handle;
mod info;
mod items;
mod options;
mod read;
mod relayout;
mod transaction;
mod write;

pub use crate::frame::Layout;
pub use create::CreateOptions;
pub(crate) use handle::Place;
pub use handle::SChunk;
pub use info::{ChunkInfo, ChunkPlace};
pub use options::OpenOptions;
pub(crate) use options::{FrameSpec, Target};
pub use transaction::Transaction;

#[cfg(test)]
mod tests;
