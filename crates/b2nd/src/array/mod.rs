//! Arrays: shape, dtype and partition over a super-chunk; slices in, slices out.

pub(crate) mod attrs;
mod cast;
mod compression;
mod debug;
pub(crate) mod dtype;
pub(crate) mod element;
mod fill;
mod grid;
pub(crate) mod handle;
mod iterate;
#[cfg(feature = "ndarray")]
mod ndarray;
pub mod npy;
pub(crate) mod options;
mod partition;
mod process;
pub(crate) mod read;
pub(crate) mod reduce;
pub(crate) mod reshape;
pub(crate) mod selection;
pub(crate) mod shape;
pub(crate) mod stream;
pub(crate) mod structure;
mod suits;
mod typed;
mod verify;
pub(crate) mod view;
pub(crate) mod write;

pub use crate::limits::MAX_NDIM;
use crate::schunk::array_layer as meta;
pub use crate::schunk::array_layer::Revision;
pub(crate) use crate::schunk::array_layer::stored_geometry;
pub(crate) use dtype::Dtype;
pub use dtype::{ByteOrder, Field, Kind, TimeBase, TimeUnit};
// The command prints items with the table of printable characters that dtypes are written with.
#[doc(hidden)]
pub use dtype::{bytes_repr, code_points_repr, str_repr};
pub(crate) use element::Element;
pub use fill::{FillJob, FillReceipt, Filled};
pub(crate) use grid::Grid;
pub(crate) use handle::Array;
pub use handle::ArraySnapshot;
pub use iterate::Chunk;
pub(crate) use options::{Fill, Options};
pub use partition::{DEFAULT_BLOCK_BYTES, DEFAULT_CHUNK_BYTES, partition};
pub(crate) use read::ArrayField;
pub use read::Reader;
pub(crate) use reduce::{Over, Reduced};
pub(crate) use reshape::Resize;
pub(crate) use selection::{Axis, Selection};
pub(crate) use shape::Shape;
#[cfg(test)]
pub(crate) use stream::Slabs;
pub(crate) use stream::StreamWriter;
pub use structure::FieldElement;
#[cfg(feature = "ndarray")]
pub(crate) use view::View;
pub(crate) use write::ArrayWriter;
#[cfg(test)]
pub(crate) use write::Transaction;
