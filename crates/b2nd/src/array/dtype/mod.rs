//! The types of items, as NumPy names them: parsed from the text in a file, written back as the same text.
//!
//! Texts are literal data with bounded depth and length, never evaluated. This floor knows layouts
//! (sizes, offsets, byte orders), and neither arrays nor files.

mod bytes;
mod layout;
mod literal;
mod parse;
mod printable;
mod repr;
mod time;
mod write;

#[cfg(test)]
mod tests;

pub use layout::{ByteOrder, Dtype, Field, Kind};
pub(crate) use literal::Literal;
pub(crate) use parse::from_literal;
#[doc(hidden)]
pub use repr::{bytes_repr, code_points_repr, str_repr};
pub use time::{TimeBase, TimeUnit};
