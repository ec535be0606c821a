//! Zstandard frames: one complete frame for each stream.
//!
//! With the feature `c-codecs` the reference C library works; without it, pure Rust. Both read all that the
//! other writes; the tests of a build with the C library hold one against the other.

#[cfg(any(test, not(feature = "c-codecs")))]
mod pure;
#[cfg(feature = "c-codecs")]
mod reference;

#[cfg(not(feature = "c-codecs"))]
pub(super) use pure::{Context, Dictionary, train};
#[cfg(feature = "c-codecs")]
pub(super) use reference::{Context, Dictionary, train};

#[cfg(all(test, feature = "c-codecs"))]
pub(super) use pure::{Context as PureContext, Dictionary as PureDictionary};

/// The Zstandard level for a level of 1 to 9, as C-Blosc2 maps it.
pub(super) fn level(clevel: u8) -> i32 {
    match clevel {
        9.. => 22,
        _ => 2 * i32::from(clevel) - 1,
    }
}
