//! The version of an object that all answers must be of.

use b2nd::Error;
use object_store::ObjectMeta;
use std::fmt;

/// By what the versions of an object are told apart.
///
/// An answer of another version is an error, so that a read never mixes two.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pin {
    /// A strong entity tag: it differs for any two versions.
    Tag(String),
    /// The date of the last change in milliseconds since 1970, and the length: two changes within a second may look equal.
    DateAndLength {
        /// Milliseconds since 1970.
        modified: i64,
        /// The length of the object.
        len: u64,
    },
    /// Nothing but the length, which was allowed by [`RemoteOptions::with_allow_unpinned`](crate::RemoteOptions::with_allow_unpinned).
    Length(u64),
}

impl Pin {
    /// The pin of the version that an answer is of.
    pub(crate) fn of(meta: &ObjectMeta, allow_unpinned: bool) -> Result<Self, Error> {
        if let Some(tag) = strong_tag(meta) {
            return Ok(Pin::Tag(tag.to_owned()));
        }
        match meta.last_modified.timestamp_millis() {
            // What the client for HTTP gives where the server says nothing.
            0 if allow_unpinned => Ok(Pin::Length(meta.size)),
            0 => Err(Error::Usage(
                "the server gives neither a strong ETag nor a date, so a change of the object could not be noticed while it is \
                 read: allow that with `with_allow_unpinned`, or the option `allow_unpinned`"
                    .to_owned(),
            )),
            modified => Ok(Pin::DateAndLength { modified, len: meta.size }),
        }
    }

    /// Whether an answer is of this version, as far as that can be told.
    pub(crate) fn admits(&self, meta: &ObjectMeta) -> bool {
        match self {
            Pin::Tag(tag) => strong_tag(meta) == Some(tag),
            Pin::DateAndLength { modified, len } => {
                meta.last_modified.timestamp_millis() == *modified && meta.size == *len
            }
            Pin::Length(len) => meta.size == *len,
        }
    }

    /// The tag, for a condition.
    pub(crate) fn tag(&self) -> Option<&str> {
        match self {
            Pin::Tag(tag) => Some(tag),
            _ => None,
        }
    }
}

fn strong_tag(meta: &ObjectMeta) -> Option<&str> {
    meta.e_tag.as_deref().filter(|tag| !tag.is_empty() && !tag.starts_with("W/"))
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pin::Tag(tag) => write!(f, "pinned by its tag {tag}"),
            Pin::DateAndLength { .. } => write!(f, "pinned by date and length"),
            Pin::Length(_) => write!(f, "not pinned: only its length is compared"),
        }
    }
}
