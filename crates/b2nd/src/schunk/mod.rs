//! The super-chunk: an open frame whose chunks can be fetched and replaced.

mod block;
mod export;
mod frames;
mod handle;
mod open;
mod options;
mod relayout;
mod write;

pub use crate::frame::Layout;
pub use frames::{FrameInfo, frames, frames_in};
pub(crate) use handle::Place;
pub use handle::SChunk;
pub(crate) use options::{FrameSpec, Target};
pub use options::{OpenOptions, SaveOptions};

#[cfg(test)]
mod tests;
