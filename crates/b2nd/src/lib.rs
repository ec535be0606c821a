//! N-dimensional arrays, compressed in chunks and blocks, in the Blosc2 formats.
//!
//! The floors of the crate, from the bytes up; a floor never imports one above it:
//! `error`, `limits` → `wire` → `codec`, `filter` → `exec` → `chunk` → `frame` → `io` → `schunk` → `array`.
#![forbid(unsafe_code)]

pub mod array;
pub mod chunk;
pub mod codec;
pub mod error;
pub mod exec;
pub mod filter;
pub mod frame;
pub mod io;
pub mod limits;
pub mod schunk;
mod wire;

pub use array::{
    Array, ArrayWriter, Axis, Damage, Dtype, Element, Ellipsis, Fill, NewAxis, Options, Resize, Selection,
    Transaction,
};
pub use chunk::{Params, SplitMode};
pub use codec::Codec;
pub use error::{Error, Fault, Part, Result};
pub use exec::{Cancel, Exec};
pub use filter::{Filter, Pipeline};
pub use limits::Limits;
pub use schunk::{Layout, OpenOptions, SChunk};

/// The Rust of the README runs as a test.
#[cfg(all(doctest, feature = "ndarray"))]
#[doc = include_str!("../../../README.md")]
struct Readme;
