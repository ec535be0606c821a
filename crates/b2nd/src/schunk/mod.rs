//! The super-chunk: an open frame whose chunks can be fetched and replaced.

mod export;
mod handle;
mod options;
mod recut;
mod refresh;
mod relayout;
mod write;

pub use crate::frame::Layout;
pub(crate) use handle::Place;
pub use handle::SChunk;
pub use options::OpenOptions;
pub(crate) use options::{FrameSpec, Target};

#[cfg(test)]
mod tests;
