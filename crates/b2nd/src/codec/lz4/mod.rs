//! LZ4 blocks without any frame or length prefix: the codecs `lz4` and `lz4hc`, which share one format.
//!
//! With the feature `c-codecs` the reference C library works; without it, safe Rust. Both read all that the
//! other writes; the tests of a build with the C library hold one against the other.

#[cfg(any(test, not(feature = "c-codecs")))]
mod pure;
#[cfg(feature = "c-codecs")]
mod reference;

#[cfg(not(feature = "c-codecs"))]
pub(super) use pure::{Context, STOPS, decompress, decompress_start};
#[cfg(feature = "c-codecs")]
pub(super) use reference::{Context, STOPS, decompress, decompress_start};

#[cfg(all(test, feature = "c-codecs"))]
pub(super) use pure::{Context as PureContext, decompress as pure_decompress};
