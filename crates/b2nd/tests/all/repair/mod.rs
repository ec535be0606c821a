//! Repairs of damaged frames: what comes out opens and is sound, what is not said to be lost is what was written, and what is said
//! to be lost is damaged.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, in its helper functions too"
)]
#![expect(clippy::single_range_in_vec_init, reason = "a damage is a list of ranges, often of one")]

mod directories;
mod foreign;
mod own;
mod support;
