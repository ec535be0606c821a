//! Copies within the decoded output, for the decoders of LZ4 and Zstandard.

#[expect(unsafe_code, reason = "reads and writes behind which there is room")]
mod copies;
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls of functions for instructions that a token proves")
)]
mod pattern;

pub(crate) use copies::{SPILL, copy, copy_match, copy_match_exactly, few, read, write};
pub(crate) use pattern::{Plain, Repeat};
