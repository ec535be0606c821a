//! Codecs and filters of the user, the ids that are taken, and what a chunk cannot say of itself.
//!
//! A frame names codecs and filters by number. Those that are built in are found by that number alone; any other is
//! found in the [`Registry`] that the caller hands in, or not at all: nothing is ever loaded because a file says so.

mod block;
pub(crate) mod context;
mod known;
pub(crate) mod table;

pub use block::{BlockCodec, BlockFilter, BlockInfo, BlockResult};
pub(crate) use context::{Context, Setting};
pub(crate) use known::{FIRST_FREE, codec_label, filter_label};
pub(crate) use table::{Registry, UserCodec, UserFilter};

#[cfg(test)]
mod tests;
