//! Errors of streams that cannot be decoded.

use crate::error::{Error, Part};

/// A stream that its codec rejects: the reason names the codec.
pub(super) fn broken(reason: impl Into<String>) -> Error {
    Error::format(Part::Stream, None, reason)
}

/// A stream that is sound but ends before (or after) the `expected` bytes.
pub(super) fn wrong_length(codec: &str, found: usize, expected: usize) -> Error {
    broken(format!("the {codec} data decodes to {found} bytes instead of {expected}"))
}
