//! N-dimensional arrays, compressed in chunks and blocks, in the Blosc2 formats.
//!
//! The floors of the crate, from the bytes up; a floor never imports one above it:
//! `error`, `limits` → `wire` → `registry` → `codec`, `filter` → `exec` → `chunk` → `frame` → `io` → `schunk` → `array`.
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
pub mod registry;
pub mod schunk;
mod wire;

pub use array::{
    Array, ArrayField, ArrayWriter, Axis, Damage, Dtype, Element, Ellipsis, Fill, NewAxis, Options, Over,
    Reduced, Resize, Selection, Slabs, StreamWriter, Transaction, View, ViewMut,
};
pub use chunk::{Params, SplitMode};
pub use codec::Codec;
pub use error::{Error, Fault, Part, Result};
pub use exec::{Cancel, Exec};
pub use filter::{Filter, Pipeline};
pub use limits::Limits;
pub use registry::Registry;
pub use schunk::{BlockPlace, CacheUse, FrameInfo, Layout, OpenOptions, SChunk, SaveOptions};

/// The Rust of the README runs as a test.
#[cfg(all(doctest, feature = "ndarray"))]
#[doc = include_str!("../../../README.md")]
struct Readme;
