//! N-dimensional arrays, compressed in chunks and blocks, in the Blosc2 formats.
//!
//! ```
//! use b2nd::{Array, Dtype, Options, s};
//! let path = std::env::temp_dir().join("first-wind.b2nd");
//! let mut wind = Options::new().with_overwrite(true).create(&path, Dtype::parse("<f4")?, [24, 181, 360])?;
//! wind.write_items(s![0], &vec![7.5f32; 181 * 360])?;
//!
//! let wind = Array::open(&path)?;
//! assert_eq!(wind.read_items::<f32>(s![..2, 90, 100..104;2])?, [7.5, 7.5, 0.0, 0.0]);
//! # Ok::<(), b2nd::Error>(())
//! ```
//!
//! | to | see |
//! |---|---|
//! | make an array | [`Options`]: `create`, `create_in_memory`, `create_from`; [`Shape`], [`Dtype::of`]; [`Options::with_codec`], `with_clevel`, `with_filters`; [`Fill`] for what it holds at first |
//! | make one of slabs, in little memory | [`Options::stream`], [`Slabs`] |
//! | make one of others | [`Options::copy`], [`Options::slice`], [`Options::concatenate`], [`Options::stack`], [`Options::reshape`], [`Options::astype`] |
//! | open one | [`Array::open`], [`Array::open_with`] and [`OpenOptions`] (for writing, of several frames in a file, mapped, with a cache), [`Array::from_bytes`] |
//! | read and write a part | [`s!`], [`Selection`]; [`Array::read_items`], [`Array::write_items`], the same with bytes, with a cast, or with the crate `ndarray` (`read`, `read_as`, `read_into_array`, `write`) |
//! | change the shape | [`Array::resize`], [`Array::append_items`], [`Array::insert_items`], [`Array::delete`], [`Array::extend`] |
//! | look at it under other axes | [`Array::transpose`], [`Array::squeeze`], [`Array::expand_dims`]: a [`View`] |
//! | reduce it | [`Array::sum`], [`Array::mean`], [`Array::max`], [`Array::argmax`] and more, along the axes of an [`Over`] |
//! | store Rust structures | [`struct_element!`] |
//! | read one field of a structure | [`Array::field`] |
//! | walk through its chunks | [`Array::iter_chunks`], [`Array::par_chunks`] |
//! | name values beside the items | [`Array::attrs`], [`Array::attrs_mut`], [`AttrValue`]; any type of yours with the feature `serde` |
//! | make many writes visible at once | [`Array::transaction`] |
//! | set threads, cancel, watch | [`Exec`], [`Cancel`] |
//! | set the same options for everything | [`FrameOptions`] |
//! | write with others | [`OpenOptions::with_owner_lock`], [`B2Lock`], [`Array::refresh`] |
//! | open files that nobody vouches for | [`Limits`], [`Array::verify`] |
//! | save what is left of a damaged file | [`repair()`], [`repair_in_place`], [`repair_bytes`] |
//! | bring a codec or filter along | [`Registry`] |
//! | work below the arrays | [`SChunk`], and the modules [`schunk`] and [`chunk`] |
//!
//! An [`Error`] says who is at fault: the file, the caller, the environment, or a limit.
//!
//! The floors of the crate, from the bytes up; a floor never imports one above it:
//! `error`, `limits` → `wire` → `registry` → `codec`, `filter` → `exec` → `chunk` → `frame` → `io` → `schunk` → `array` → `repair`.
#![forbid(unsafe_code)]

pub mod array;
pub mod chunk;
mod codec;
pub mod error;
mod exec;
mod filter;
mod frame;
pub mod io;
mod limits;
pub mod registry;
mod repair;
pub mod schunk;
mod wire;

// Each public item has one path: here what most programs name, in the modules the rest.
pub use array::attrs::{AttrValue, Attrs, AttrsMut};
pub use array::dtype::Dtype;
pub use array::element::Element;
pub use array::handle::Array;
pub use array::options::{Fill, Options};
pub use array::read::ArrayField;
pub use array::reduce::{Over, Reduced};
pub use array::reshape::Resize;
pub use array::selection::{Axis, Ellipsis, NewAxis, ResolvedSelection, Selection, TakenAxis};
pub use array::shape::Shape;
pub use array::stream::{Slabs, StreamWriter};
pub use array::structure::StructElement;
pub use array::view::{View, ViewMut};
pub use array::write::{ArrayWriter, Transaction};
pub use chunk::params::{Params, SplitMode};
pub use codec::Codec;
pub use error::variants::{Error, Fault, Result};
pub use exec::{Cancel, Exec};
pub use filter::{Filter, Pipeline};
pub use frame::{Durability, Layout};
pub use io::b2lock::B2Lock;
pub use limits::Limits;
pub use registry::table::Registry;
pub use repair::{Guess, RepairOptions, Repaired, repair, repair_bytes, repair_in_place};
pub use schunk::cache::CacheUse;
pub use schunk::frame_options::FrameOptions;
pub use schunk::handle::SChunk;
pub use schunk::hooks::BlockPlace;
pub use schunk::options::{OpenOptions, SaveOptions};
pub use schunk::verify::{Damage, Verified};

/// The Rust of the README runs as a test.
#[cfg(all(doctest, feature = "ndarray"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The Rust of the book runs as a test, page by page.
#[cfg(all(doctest, feature = "ndarray"))]
mod book {
    #[doc = include_str!("../../../book/src/start/rust.md")]
    struct GettingStarted;
    #[doc = include_str!("../../../book/src/howto/import.md")]
    struct Import;
    #[doc = include_str!("../../../book/src/howto/read.md")]
    struct Read;
    #[doc = include_str!("../../../book/src/howto/append.md")]
    struct Append;
    #[doc = include_str!("../../../book/src/howto/many-writers.md")]
    struct ManyWriters;
    #[doc = include_str!("../../../book/src/howto/recover.md")]
    struct Recover;
}
