//! Arrays: shape, dtype and partition over a super-chunk; slices in, slices out.

mod dtype;
mod grid;
mod handle;
mod meta;
mod options;
mod partition;
mod read;
mod selection;
mod verify;
mod write;

pub use crate::schunk::OpenOptions;
pub use dtype::Dtype;
pub use grid::MAX_NDIM;
pub use handle::Array;
pub use meta::Revision;
pub use options::{Fill, Options};
pub use partition::{DEFAULT_BLOCK_BYTES, DEFAULT_CHUNK_BYTES, partition};
pub use selection::{Axis, Ellipsis, NewAxis, Selection};
pub use verify::Damage;
pub use write::{ArrayWriter, Transaction};
