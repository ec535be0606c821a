//! Runs the built `b2nd` command as a user does: each verb, each exit code, and what is left behind on failure.
//!
//! What is right is computed here, by index arithmetic on plain bytes; the library is only used to make odd files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests, also outside of #[test] functions")]

mod append;
mod attrs;
mod cat;
mod compare;
mod convert;
mod export;
#[cfg(feature = "remote")]
mod far;
mod import;
mod inspect;
#[cfg(unix)]
mod interrupt;
mod many;
mod memory;
#[cfg(all(unix, feature = "c-codecs", feature = "plot", feature = "zfp"))]
mod pages;
mod pictures;
mod print;
mod readme;
mod real;
mod repair;
#[cfg(target_os = "linux")]
mod streams;
mod support;
mod usage;
mod values;
