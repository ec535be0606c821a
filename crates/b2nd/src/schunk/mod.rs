//! The super-chunk: an open frame whose chunks can be fetched and replaced.

mod cache;
mod export;
mod handle;
mod options;
mod process;
mod relayout;
mod write;

pub use crate::frame::Layout;
pub use cache::CacheUse;
pub(crate) use cache::Key;
pub(crate) use handle::Place;
pub use handle::SChunk;
pub use options::OpenOptions;
pub(crate) use options::{FrameSpec, Target};
pub use process::BlockPlace;
pub(crate) use process::{Hook, Processing};

#[cfg(test)]
mod tests;
