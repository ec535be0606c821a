//! How the library makes the errors of the caller.

use super::Error;
use std::fmt::Display;
use std::path::Path;

/// Results carry errors by value, so an error stays as small as its largest variant for files.
const _: () = assert!(size_of::<Error>() <= size_of::<super::FormatError>());

impl Error {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Error::Usage(message.into())
    }

    pub(crate) fn state(message: impl Into<String>) -> Self {
        Error::State(message.into())
    }

    pub(crate) fn compression(message: impl Into<String>) -> Self {
        Error::Compression(message.into())
    }

    pub(crate) fn exists(path: &Path) -> Self {
        Error::AlreadyExists { path: path.to_path_buf() }
    }

    pub(crate) fn read_only() -> Self {
        Error::ReadOnly { path: None }
    }

    /// There is no `what` of this name.
    pub(crate) fn missing(what: &'static str, name: impl Display, message: impl Into<String>) -> Self {
        Error::NotFound { what, name: name.to_string(), message: message.into(), path: None }
    }

    /// Number `index` of `len`, which do not lie along an axis.
    pub(crate) fn out_of_bounds(
        index: impl TryInto<i64>,
        len: impl TryInto<u64>,
        message: impl Into<String>,
    ) -> Self {
        Self::outside(None, index, len, message)
    }

    /// An index of an axis: `shown` is how the message names it.
    pub(crate) fn index(
        axis: usize,
        index: impl TryInto<i64>,
        len: impl TryInto<u64> + Display,
        shown: impl Display,
    ) -> Self {
        let message = format!("index {shown} is out of range for axis {axis} with {len} items");
        Self::outside(Some(axis), index, len, message)
    }

    fn outside(
        axis: Option<usize>,
        index: impl TryInto<i64>,
        len: impl TryInto<u64>,
        message: impl Into<String>,
    ) -> Self {
        let index = index.try_into().unwrap_or(i64::MAX);
        Error::OutOfBounds { axis, index, len: saturated(len), message: message.into() }
    }

    pub(crate) fn shape(expected: &[u64], found: &[u64], message: impl Into<String>) -> Self {
        Error::ShapeMismatch { expected: expected.to_vec(), found: found.to_vec(), message: message.into() }
    }

    pub(crate) fn ndim(expected: usize, found: usize, message: impl Into<String>) -> Self {
        Error::NdimMismatch { expected, found, message: message.into() }
    }

    pub(crate) fn dtype(expected: impl Display, found: impl Display, message: impl Into<String>) -> Self {
        Error::DtypeMismatch {
            expected: expected.to_string(),
            found: found.to_string(),
            message: message.into(),
        }
    }

    pub(crate) fn length(
        expected: impl TryInto<u64>,
        found: impl TryInto<u64>,
        message: impl Into<String>,
    ) -> Self {
        Error::LengthMismatch {
            expected: saturated(expected),
            found: saturated(found),
            message: message.into(),
        }
    }

    /// A length `found` that is no multiple of `size`.
    pub(crate) fn not_whole(
        size: impl TryInto<u64>,
        found: impl TryInto<u64>,
        message: impl Into<String>,
    ) -> Self {
        Error::NotWhole { size: saturated(size), found: saturated(found), message: message.into() }
    }

    /// More than `most`; the number itself is not known, or too large for 64 bits.
    pub(crate) fn too_large(most: impl TryInto<u64>, message: impl Into<String>) -> Self {
        Error::TooLarge { most: saturated(most), found: None, message: message.into() }
    }

    /// More than `most`, which is `found`.
    pub(crate) fn above(
        most: impl TryInto<u64>,
        found: impl TryInto<u64>,
        message: impl Into<String>,
    ) -> Self {
        Error::TooLarge { most: saturated(most), found: found.try_into().ok(), message: message.into() }
    }

    pub(crate) fn syntax(text: impl Into<String>, message: impl Into<String>) -> Self {
        Error::Syntax { text: text.into(), message: message.into() }
    }
}

fn saturated(length: impl TryInto<u64>) -> u64 {
    length.try_into().unwrap_or(u64::MAX)
}
