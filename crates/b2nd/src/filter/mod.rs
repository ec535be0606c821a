//! Filters: what is done to a block before it is compressed, and undone after it is decompressed.
//!
//! Typed ids, the pipeline of six slots that users build and headers store, and its resolved form for one chunk. Knows
//! blocks as plain bytes; nothing of chunks, streams and codecs.

mod bitshuffle;
mod buffer;
mod bytedelta;
mod cells;
mod delta;
mod id;
mod pipeline;
mod resolve;
mod steps;
mod truncate;

pub(crate) use buffer::grown;
pub use id::Filter;
pub use pipeline::Pipeline;
pub(crate) use steps::Steps;

#[cfg(test)]
mod tests;
