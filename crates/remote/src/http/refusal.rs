//! Answers that cannot be used, as errors that go through the client of the store.

use crate::error::Cause;
use std::fmt;
use std::time::Duration;

/// An answer that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The server is busy or has failed; the pause that it asks for.
    Busy(u16, Option<Duration>),
    /// Another status.
    Status(u16),
    /// The answer is not what was asked for.
    Answer(String),
    /// The body has another length than its range.
    Length { expected: u64, found: u64 },
    /// A redirect that is not followed.
    Redirect(String),
}

impl Refusal {
    pub(crate) fn cause(&self) -> Cause {
        match self {
            Refusal::Busy(status, _) => Cause::Busy(*status),
            Refusal::Status(status) => Cause::Status(*status),
            Refusal::Answer(reason) => Cause::Answer(reason.clone()),
            Refusal::Length { expected, found } => Cause::Length { expected: *expected, found: *found },
            Refusal::Redirect(reason) => Cause::Refused(reason.clone()),
        }
    }
    /// The pause that the server asks for.
    pub(crate) fn pause(&self) -> Option<Duration> {
        match self {
            Refusal::Busy(_, pause) => *pause,
            _ => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause().fmt(f)
    }
}

impl std::error::Error for Refusal {}
