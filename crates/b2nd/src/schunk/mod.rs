//! The super-chunk: an open frame whose chunks can be fetched and replaced.

mod block;
mod cache;
mod export;
mod frames;
mod handle;
mod open;
mod options;
mod process;
mod relayout;
mod write;

pub use crate::frame::Layout;
pub use cache::CacheUse;
pub(crate) use cache::Key;
pub use frames::{FrameInfo, frames, frames_in};
pub(crate) use handle::Place;
pub use handle::SChunk;
pub(crate) use options::{FrameSpec, Target};
pub use options::{OpenOptions, SaveOptions};
pub use process::BlockPlace;
pub(crate) use process::{Hook, Processing};

#[cfg(test)]
mod tests;
