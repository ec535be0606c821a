//! The error type, and the party at fault.

use super::{FormatError, LockedError, Part, file_kind};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The result of an operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The party that has to act on an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The file (or buffer) holds something that the format forbids, or that this build cannot read.
    File,
    /// The caller asked for something that cannot be done.
    Caller,
    /// The operating system refused or failed.
    Environment,
    /// A limit that the caller set, or its default, was passed.
    Limit,
}

/// Everything that can go wrong. [`Error::fault`] names the party at fault.
///
/// ```
/// use b2nd::{Error, Fault};
/// let error = b2nd::Array::open("no such file.b2nd").unwrap_err();
/// assert_eq!(error.fault(), Fault::Environment);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused or failed.
    #[error("{}{action}: {source}", path_prefix(path.as_deref()))]
    Io {
        /// What was being done, as a verb phrase such as `cannot open the file`.
        action: &'static str,
        /// The file, where there is one.
        path: Option<PathBuf>,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The file breaks its format: it is damaged, cut off, or not such a file.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The file is sound but uses something that this build cannot read.
    #[error("{}unsupported {what}", path_prefix(path.as_deref()))]
    Unsupported {
        /// What it is, with its id: `codec 37`, `filter 160`, `dtype |O`.
        what: String,
        /// The file, where there is one.
        path: Option<PathBuf>,
    },
    /// Another handle or process has the frame for itself: nothing was done, and it may work later.
    #[error("{0}")]
    Locked(Box<LockedError>),
    /// Another writer has committed since this handle was opened or last refreshed. Nothing of it was touched; this handle
    /// goes on reading what it opened, as far as that still exists: the files of a directory that was overwritten as a whole
    /// do not, and reading them is this error too.
    #[error(
        "{}another writer has {what} since it was opened; refresh it or open it again, then repeat what was not written",
        path_prefix(path.as_deref())
    )]
    Changed {
        /// What the other has done, as in `changed it`.
        what: &'static str,
        /// The file, where there is one.
        path: Option<PathBuf>,
    },
    /// Something exists at a path where a new frame was to be made, and overwriting was not asked for.
    #[error("{}: it exists already, and overwriting was not asked for", path.display())]
    #[non_exhaustive]
    AlreadyExists {
        /// What exists.
        path: PathBuf,
    },
    /// A field, metalayer or frame of this name does not exist. [`Error::is_not_found`] is true for missing files too.
    #[error("{}{message}", path_prefix(path.as_deref()))]
    #[non_exhaustive]
    NotFound {
        /// The kind of the thing: `field`, `metalayer`, `frame`, `job`.
        what: &'static str,
        /// Its name, or its number.
        name: String,
        /// The message, without the file.
        message: String,
        /// The file, where there is one.
        path: Option<PathBuf>,
    },
    /// A change of something that was opened for reading only.
    #[error("{}opened for reading only: open it for writing to change it", path_prefix(path.as_deref()))]
    #[non_exhaustive]
    ReadOnly {
        /// The file, where there is one.
        path: Option<PathBuf>,
    },
    /// An index, or the number of an axis, chunk or block, lies outside what there is.
    ///
    /// ```
    /// # use b2nd::{s, Dtype, Error, Options};
    /// let array = Options::new().create_in_memory(Dtype::parse("<i4")?, [9, 5])?;
    /// let error = array.read_bytes(s![.., 7]).unwrap_err();
    /// assert!(matches!(error, Error::OutOfBounds { axis: Some(1), index: 7, len: 5, .. }));
    /// # Ok::<(), Error>(())
    /// ```
    #[error("{message}")]
    #[non_exhaustive]
    OutOfBounds {
        /// The axis, where the index is one of an axis.
        axis: Option<usize>,
        /// The index or number; of a range that starts inside, its end.
        index: i64,
        /// How many there are.
        len: u64,
        /// The message.
        message: String,
    },
    /// Two shapes do not fit each other.
    #[error("{message}")]
    #[non_exhaustive]
    ShapeMismatch {
        /// The shape that would fit.
        expected: Vec<u64>,
        /// The shape that was given.
        found: Vec<u64>,
        /// The message.
        message: String,
    },
    /// A shape, selection or order of axes is for another number of axes.
    #[error("{message}")]
    #[non_exhaustive]
    NdimMismatch {
        /// The number of axes that would fit.
        expected: usize,
        /// The number that was given.
        found: usize,
        /// The message.
        message: String,
    },
    /// Items of one dtype are taken for another, or one cannot be converted to the other.
    #[error("{message}")]
    #[non_exhaustive]
    DtypeMismatch {
        /// The dtype that would fit, in NumPy's notation.
        expected: String,
        /// The dtype that was given.
        found: String,
        /// The message.
        message: String,
    },
    /// A buffer, value or list has another length than it must have.
    #[error("{message}")]
    #[non_exhaustive]
    LengthMismatch {
        /// The length that would fit, in bytes; of lists and masks, in entries.
        expected: u64,
        /// The length that was given.
        found: u64,
        /// The message.
        message: String,
    },
    /// A length is no multiple of the size of an item, or of a slab.
    #[error("{message}")]
    #[non_exhaustive]
    NotWhole {
        /// The size of one, in bytes; of points, in numbers.
        size: u64,
        /// The length that was given.
        found: u64,
        /// The message.
        message: String,
    },
    /// More than the format, or this machine, can hold.
    #[error("{message}")]
    #[non_exhaustive]
    TooLarge {
        /// The most that is possible.
        most: u64,
        /// What was asked for, where that is a number of 64 bits.
        found: Option<u64>,
        /// The message.
        message: String,
    },
    /// A text cannot be parsed: a dtype, a slice, a pipeline of filters, a receipt.
    #[error("{message}")]
    #[non_exhaustive]
    Syntax {
        /// The text, or the part of it that is not understood.
        text: String,
        /// The message.
        message: String,
    },
    /// Codec, filters and their parameters do not fit each other or the items.
    #[error("{0}")]
    Compression(String),
    /// The object is in a state in which this cannot be done: a transaction that failed, a stream that is finished.
    #[error("{0}")]
    State(String),
    /// The caller asked for something else that cannot be done, such as options that contradict each other.
    #[error("{0}")]
    Usage(String),
    /// A [`Limits`](crate::Limits) value was passed.
    #[error("{what} needs {found} bytes, and the limit is {allowed}")]
    Limit {
        /// What the bytes are for.
        what: &'static str,
        /// How many bytes the input asks for.
        found: u64,
        /// How many bytes are allowed.
        allowed: u64,
    },
    /// Memory could not be reserved.
    #[error("out of memory: {what} needs {bytes} bytes")]
    OutOfMemory {
        /// What the bytes are for.
        what: &'static str,
        /// How many bytes were asked for.
        bytes: u64,
    },
    /// The operation was cancelled through its [`Cancel`](crate::Cancel).
    #[error("cancelled")]
    Cancelled,
}

fn path_prefix(path: Option<&Path>) -> String {
    path.map(|p| format!("{}: ", p.display())).unwrap_or_default()
}

impl Error {
    /// Who has to act on this error.
    pub fn fault(&self) -> Fault {
        match self {
            Error::Io { .. } | Error::OutOfMemory { .. } | Error::Locked(_) | Error::Changed { .. } => {
                Fault::Environment
            }
            Error::Format(_) | Error::Unsupported { .. } => Fault::File,
            Error::AlreadyExists { .. }
            | Error::NotFound { .. }
            | Error::ReadOnly { .. }
            | Error::OutOfBounds { .. }
            | Error::ShapeMismatch { .. }
            | Error::NdimMismatch { .. }
            | Error::DtypeMismatch { .. }
            | Error::LengthMismatch { .. }
            | Error::NotWhole { .. }
            | Error::TooLarge { .. }
            | Error::Syntax { .. }
            | Error::Compression(_)
            | Error::State(_)
            | Error::Usage(_)
            | Error::Cancelled => Fault::Caller,
            Error::Limit { .. } => Fault::Limit,
        }
    }

    /// Whether what was named does not exist: a file, or a field, metalayer or frame inside one.
    ///
    /// ```
    /// assert!(b2nd::Array::open("no such file.b2nd").unwrap_err().is_not_found());
    /// ```
    pub fn is_not_found(&self) -> bool {
        match self {
            Error::Io { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
            Error::NotFound { .. } => true,
            _ => false,
        }
    }

    /// Whether something exists where a new frame was to be made: found before it is made, or by the operating system.
    pub fn is_already_exists(&self) -> bool {
        match self {
            Error::Io { source, .. } => source.kind() == std::io::ErrorKind::AlreadyExists,
            Error::AlreadyExists { .. } => true,
            _ => false,
        }
    }

    /// The file breaks its format in `part`, `offset` bytes from the start of that part.
    pub(crate) fn format(part: Part, offset: impl Into<Option<u64>>, reason: impl Into<String>) -> Self {
        Error::Format(FormatError::new(part, offset.into(), reason.into()))
    }

    /// The file is no frame at all; `found` says what it is instead.
    pub(crate) fn not_a_frame(found: &str) -> Self {
        Error::Format(FormatError::not_a_frame(format!("it is {found}")))
    }

    /// The file is no frame at all: it begins with these bytes.
    pub(crate) fn no_frame_begins_with(head: &[u8]) -> Self {
        Error::Format(FormatError::not_a_frame(match file_kind(head) {
            Some(kind) => format!("it is {kind}"),
            None => "it begins with other bytes".into(),
        }))
    }

    /// Bytes of the file do not match their checksum.
    pub(crate) fn mismatch(part: Part, bytes: Range<u64>) -> Self {
        let Range { start, end } = bytes;
        let reason =
            format!("bytes {start}..{end} of the file do not match their checksum: the file is damaged");
        let mut error = FormatError::new(part, None, reason);
        error.set_bytes(bytes);
        Error::Format(error)
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Error::Unsupported { what: what.into(), path: None }
    }

    pub(crate) fn limit(what: &'static str, found: u64, allowed: u64) -> Self {
        Error::Limit { what, found, allowed }
    }

    pub(crate) fn out_of_memory(what: &'static str, bytes: u64) -> Self {
        Error::OutOfMemory { what, bytes }
    }

    pub(crate) fn changed(what: &'static str) -> Self {
        Error::Changed { what, path: None }
    }

    pub(crate) fn io(action: &'static str, source: std::io::Error) -> Self {
        Error::Io { action, path: None, source }
    }

    /// The same error, with the file it is about (kept when one is known already).
    #[must_use]
    pub fn at_path(mut self, at: &Path) -> Self {
        match &mut self {
            Error::Io { path, .. }
            | Error::Unsupported { path, .. }
            | Error::Changed { path, .. }
            | Error::NotFound { path, .. }
            | Error::ReadOnly { path } => {
                path.get_or_insert_with(|| at.to_path_buf());
            }
            Error::Format(format) => format.set_path(at),
            _ => {}
        }
        self
    }

    /// As [`Error::at_path`], where there may be no path.
    #[must_use]
    pub(crate) fn at(self, path: Option<&Path>) -> Self {
        match path {
            Some(path) => self.at_path(path),
            None => self,
        }
    }

    /// The same error, with the number of the chunk it is about (kept when one is known already).
    #[must_use]
    pub(crate) fn in_chunk(mut self, nchunk: u64) -> Self {
        if let Error::Format(format) = &mut self {
            format.set_chunk(nchunk);
        }
        self
    }

    /// The same error, with the bytes of the file that it is about (kept when they are known already).
    #[must_use]
    pub(crate) fn in_bytes(mut self, bytes: Range<u64>) -> Self {
        if let Error::Format(format) = &mut self
            && format.bytes().is_none()
        {
            format.set_bytes(bytes);
        }
        self
    }

    /// The same error, with the number of the block inside its chunk (kept when one is known already).
    #[must_use]
    pub(crate) fn in_block(mut self, nblock: u32) -> Self {
        if let Error::Format(format) = &mut self {
            format.set_block(nblock);
        }
        self
    }
}
