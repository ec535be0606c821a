//! Arrays: shape, dtype and partition over a super-chunk; slices in, slices out.

mod attrs;
mod cast;
mod compression;
mod debug;
mod dtype;
mod element;
mod fill;
mod grid;
mod handle;
mod iterate;
#[cfg(feature = "ndarray")]
mod ndarray;
pub mod npy;
mod options;
mod partition;
mod process;
mod read;
mod reduce;
mod reshape;
mod selection;
mod shape;
mod stream;
mod structure;
mod suits;
mod typed;
mod verify;
mod view;
mod write;

pub use crate::limits::MAX_NDIM;
use crate::schunk::array_layer as meta;
pub use crate::schunk::array_layer::Revision;
pub(crate) use crate::schunk::array_layer::stored_geometry;
pub use crate::schunk::{BlockPlace, CacheUse, OpenOptions};
pub use crate::schunk::{Damage, Verified};
pub use attrs::{AttrValue, Attrs, AttrsMut};
pub use dtype::{ByteOrder, Dtype, Field, Kind, TimeBase, TimeUnit};
#[doc(hidden)]
pub use dtype::{bytes_repr, code_points_repr, str_repr};
pub use element::Element;
pub use fill::{FillJob, FillReceipt, Filled};
pub(crate) use grid::Grid;
pub use handle::{Array, ArraySnapshot};
pub use iterate::Chunk;
pub use options::{Fill, Options};
pub use partition::{DEFAULT_BLOCK_BYTES, DEFAULT_CHUNK_BYTES, partition};
pub use read::{ArrayField, Reader};
pub use reduce::{Over, Reduced};
pub use reshape::Resize;
pub use selection::{Axis, Ellipsis, NewAxis, ResolvedSelection, Selection, TakenAxis};
pub use shape::Shape;
pub use stream::{Slabs, StreamWriter};
pub use structure::{FieldElement, StructElement};
pub use view::{View, ViewMut};
pub use write::{ArrayWriter, Transaction};
