//! Codecs and filters of the user, the ids that are taken, and what a chunk cannot say of itself.
//!
//! A frame names codecs and filters by number. Those that are built in are found by that number alone; any other is
//! found in the [`Registry`] that the caller hands in, or not at all: nothing is ever loaded because a file says so.

mod block;
mod context;
mod known;
mod table;

pub use block::{BlockCodec, BlockFilter, BlockInfo, BlockResult};
pub use context::Context;
pub(crate) use context::Setting;
pub(crate) use known::{FIRST_FREE, codec_label, filter_label};
pub use table::Registry;
pub(crate) use table::{UserCodec, UserFilter};

#[cfg(test)]
mod tests;
