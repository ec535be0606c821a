//! Arrays far away, on a server of the testkit.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]
#![cfg(feature = "http")]

mod blocking;
mod failing;
mod pinning;
mod reading;
mod redirects;
mod support;
mod waves;
