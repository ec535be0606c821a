//! What may go wrong with an answer.

use std::time::Duration;

/// A fault of one answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// This status without a useful body, and `Retry-After` where it is given.
    Status(u16, Option<String>),
    /// A redirect with this status to this URL.
    Redirect(u16, String),
    /// The connection is closed before the answer; nothing was done.
    NoAnswer,
    /// What is asked for is done, and the connection is closed before the answer.
    DropAnswer,
    /// The connection is closed after this many bytes of the body.
    ResetAfter(usize),
    /// The body has this many bytes too few, and headers that say so.
    Short(usize),
    /// The body has this many bytes too many, and headers that say so.
    Long(usize),
    /// The whole object with status 200 for a range.
    Whole,
    /// Another `Content-Range`.
    ContentRange(String),
    /// Another `ETag`.
    Tag(String),
    /// A body that does not end, without a length.
    Endless,
    /// A body that does not end, of this length by its header.
    EndlessOf(u64),
    /// This pause before the answer.
    Pause(Duration),
    /// One bit of the body is turned.
    FlipBit,
}
