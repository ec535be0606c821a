//! The super-chunk: an open frame whose chunks can be fetched and replaced.

mod block;
mod cache;
mod changes;
mod commit;
mod copy;
mod create;
mod digests;
mod edit;
mod export;
mod foreign;
mod frames;
mod handle;
mod info;
mod items;
mod open;
mod options;
mod pace;
mod process;
mod read;
mod recover;
mod recut;
mod refresh;
mod relayout;
mod space;
mod special;
mod transaction;
mod verify;
mod write;

pub use crate::frame::{Durability, Layout};
pub use crate::io::B2Lock;
pub use cache::CacheUse;
pub(crate) use cache::Key;
pub use create::CreateOptions;
pub use frames::{FrameInfo, frames, frames_in};
pub(crate) use handle::Place;
pub use handle::SChunk;
pub use info::{ChunkInfo, ChunkPlace};
pub(crate) use options::{FrameSpec, Target};
pub use options::{OpenOptions, SaveOptions};
pub use process::BlockPlace;
pub(crate) use process::{Hook, Processing};
pub(crate) use recover::leftover;
pub use space::SpaceUse;
pub use transaction::Transaction;
pub use verify::{Damage, Verified};
pub(crate) use verify::{Standing, is_damage};

#[cfg(test)]
mod tests;
