//! Arrays far away, on a server of the testkit.

#![cfg(feature = "http")]
#![cfg_attr(
    feature = "http",
    expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")
)]

mod blocking;
mod failing;
mod pinning;
mod reading;
mod redirects;
#[cfg(feature = "s3")]
mod s3;
mod support;
mod waves;
