//! Placeholder.

mod dtype;
mod element;

pub use dtype::{ByteOrder, Dtype, Field, Kind, TimeBase, TimeUnit};
#[doc(hidden)]
pub use dtype::{bytes_repr, code_points_repr, str_repr};
pub use element::Element;
