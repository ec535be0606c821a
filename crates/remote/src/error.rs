//! What went wrong with a request.

use crate::shown::shown_text;
use b2nd::Error;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

/// A request that failed: inside [`b2nd::Error::Io`], as the source of the source.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use b2nd_remote::{AsyncArray, RemoteError, RemoteOptions};
/// use std::sync::Arc;
/// let store = Arc::new(object_store::memory::InMemory::new());
/// let error = AsyncArray::open(store, "none.b2nd", &RemoteOptions::new()).await.unwrap_err();
/// assert!(error.is_not_found());
/// assert_eq!(RemoteError::of(&error).unwrap().object(), "none.b2nd");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteError {
    object: String,
    range: Option<Range<u64>>,
    cause: Cause,
    tries: u32,
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "network"), allow(dead_code, reason = "only servers answer with a status"))]
pub(crate) enum Cause {
    /// No such object.
    NotFound,
    /// The server refuses the caller.
    Refused(String),
    /// A status that no request can help.
    Status(u16),
    /// A status of a server that is busy or has failed.
    Busy(u16),
    /// The connection failed, or ended before its time.
    Connection(String),
    /// Nothing came for too long.
    Stalled,
    /// The body has another number of bytes than it must have.
    Length { expected: u64, found: u64 },
    /// The server answers something else than was asked for.
    Answer(String),
    /// Anything else.
    Other(String),
}

impl Cause {
    /// Whether the same request may succeed later.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Cause::Busy(_) | Cause::Connection(_) | Cause::Stalled | Cause::Length { .. })
    }
    fn kind(&self) -> io::ErrorKind {
        match self {
            Cause::NotFound => io::ErrorKind::NotFound,
            Cause::Refused(_) => io::ErrorKind::PermissionDenied,
            Cause::Connection(_) => io::ErrorKind::ConnectionAborted,
            Cause::Stalled => io::ErrorKind::TimedOut,
            Cause::Length { .. } => io::ErrorKind::UnexpectedEof,
            Cause::Answer(_) => io::ErrorKind::InvalidData,
            Cause::Status(_) | Cause::Busy(_) | Cause::Other(_) => io::ErrorKind::Other,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::NotFound => write!(f, "there is no such object"),
            Cause::Refused(reason) if reason.is_empty() => write!(f, "access is refused"),
            Cause::Refused(reason) => write!(f, "access is refused: {reason}"),
            Cause::Status(status) => write!(f, "the server answers with status {status}"),
            Cause::Busy(status) => write!(f, "the server is busy or has failed: status {status}"),
            Cause::Connection(reason) => write!(f, "the connection failed: {reason}"),
            Cause::Stalled => write!(f, "nothing came for too long"),
            Cause::Length { expected, found } => {
                write!(f, "the answer has {found} bytes in place of {expected}")
            }
            Cause::Answer(reason) => write!(f, "the answer does not fit the request: {reason}"),
            Cause::Other(reason) => write!(f, "{reason}"),
        }
    }
}

impl RemoteError {
    /// `object` is shown as it is: a URL without secrets, or a path.
    pub(crate) fn new(object: &str, range: Option<Range<u64>>, cause: Cause, tries: u32) -> Self {
        RemoteError { object: object.to_owned(), range, cause, tries }
    }

    /// The error of the request, where `error` is of one.
    pub fn of(error: &Error) -> Option<&RemoteError> {
        match error {
            Error::Io { source, .. } => source.get_ref()?.downcast_ref(),
            _ => None,
        }
    }
    /// The URL of the object without secrets, or its path in the store.
    pub fn object(&self) -> &str {
        &self.object
    }
    /// The bytes of the object that were asked for; `None` where that was not a range.
    pub fn range(&self) -> Option<Range<u64>> {
        self.range.clone()
    }
    /// How often it was tried.
    pub fn tries(&self) -> u32 {
        self.tries
    }
    /// The status that the server answered with, where that is the cause.
    pub fn status(&self) -> Option<u16> {
        match self.cause {
            Cause::Status(status) | Cause::Busy(status) => Some(status),
            Cause::NotFound => Some(404),
            _ => None,
        }
    }
    /// As an error of the library.
    pub(crate) fn into_error(self) -> Error {
        let source = io::Error::new(self.cause.kind(), self);
        Error::Io { action: "cannot fetch", path: None, source }
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(range) = &self.range {
            write!(f, "bytes {} to {} of ", range.start, range.end)?;
        }
        write!(f, "{}: {}", self.object, shown_text(&self.cause.to_string()))?;
        if self.tries > 1 {
            write!(f, " ({} tries)", self.tries)?;
        }
        Ok(())
    }
}

impl std::error::Error for RemoteError {}

/// The error of an object that was replaced.
pub(crate) fn changed(object: &str) -> Error {
    Error::Changed { what: "changed it", path: Some(PathBuf::from(object)) }
}
