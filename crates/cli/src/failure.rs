//! How a command ends: exit codes, and errors as they are shown to the user.
//!
//! Exit codes: 0 good, 1 damaged data (or a difference), 2 wrong usage, 3 environment or a limit, 130 interrupted,
//! 143 and 129 ended by SIGTERM and SIGHUP.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use crate::shown::Shown as _;
use b2nd::{Error, Fault};

/// The result of a step of a command.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// How a command ended, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// 0: done, and nothing is wrong.
    Good,
    /// 1: data is damaged, or two arrays differ.
    Damaged,
    /// 2: the command line asks for something that cannot be done.
    Usage,
    /// 3: the operating system refused, memory ran out, or a limit was passed.
    Environment,
    /// 130: the user pressed Ctrl-C; 143 or 129: a signal asked for an end.
    Interrupted,
}

impl Outcome {
    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Outcome::Good => 0,
            Outcome::Damaged => 1,
            Outcome::Usage => 2,
            Outcome::Environment => 3,
            Outcome::Interrupted => crate::interrupt::exit_code(),
        }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        ExitCode::from(outcome.code())
    }
}

/// What to do when the library refuses a codec or a filter for an array.
pub(crate) const STORAGE_HINT: &str =
    "--codec, --filter and --blocks have to suit each other and the array: --help says what each takes";

/// Why a command stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Whoever read our output went away: nothing to say, nothing wrong.
    OutputClosed,
    /// An error to show.
    Shown {
        /// The exit code.
        outcome: Outcome,
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: String,
    },
}

impl Failure {
    /// The command line asks for something that cannot be done.
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Failure::Shown { outcome: Outcome::Usage, message: message.into(), hint: hint.into() }
    }

    /// Input data is damaged or cut off.
    pub(crate) fn damaged(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Failure::Shown { outcome: Outcome::Damaged, message: message.into(), hint: hint.into() }
    }

    /// The operating system refused `action` on `path`.
    pub(crate) fn io(action: &str, path: &Path, error: &io::Error) -> Self {
        Failure::Shown {
            outcome: Outcome::Environment,
            message: format!("{}: cannot {action}: {error}", path.shown()),
            hint: io_hint(error.kind()).into(),
        }
    }

    /// Standard output refused.
    pub(crate) fn stdout(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::OutputClosed;
        }
        Failure::io("write", Path::new("standard output"), error)
    }

    /// The exit code.
    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            Failure::OutputClosed => Outcome::Good,
            Failure::Shown { outcome, .. } => *outcome,
        }
    }

    /// The same failure with another hint.
    #[must_use]
    pub(crate) fn with_hint(mut self, text: impl Into<String>) -> Self {
        if let Failure::Shown { hint, .. } = &mut self {
            *hint = text.into();
        }
        self
    }

    /// The same failure, with this hint where the command line is at fault.
    #[must_use]
    pub(crate) fn with_usage_hint(self, text: &str) -> Self {
        if self.outcome() == Outcome::Usage { self.with_hint(text) } else { self }
    }

    /// The same failure, its message preceded by the name of the file (unless it is there already).
    #[must_use]
    pub(crate) fn about(mut self, path: &Path) -> Self {
        if let Failure::Shown { message, .. } = &mut self {
            let name = path.shown();
            if !message.starts_with(&name) {
                *message = format!("{name}: {message}");
            }
        }
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::OutputClosed => Ok(()),
            Failure::Shown { message, hint, .. } => {
                write!(f, "b2nd: {message}")?;
                if hint.is_empty() { Ok(()) } else { write!(f, "\nhint: {hint}") }
            }
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        let (outcome, hint) = match &error {
            Error::Io { source, .. } => (Outcome::Environment, io_hint(source.kind())),
            Error::AlreadyExists { .. } => {
                (Outcome::Usage, "give --force to replace it, or choose another name")
            }
            Error::Locked(_) => (Outcome::Environment, "nothing was changed: run the command again later"),
            Error::Changed { .. } => {
                (Outcome::Environment, "neither change was lost: run the command again on the current state")
            }
            Error::OutOfMemory { .. } => {
                (Outcome::Environment, "give less --memory or fewer --threads, or choose smaller --chunks")
            }
            Error::Unsupported { .. } => (
                Outcome::Damaged,
                "the file may be sound, but this program cannot read that part; `b2nd info` shows what it can read",
            ),
            other => match other.fault() {
                Fault::File => (
                    Outcome::Damaged,
                    "is it a Blosc2 file? `b2nd verify FILE` says what is damaged, `b2nd repair FILE NEW.b2nd` saves the rest",
                ),
                Fault::Limit if matches!(other, Error::Limit { what, .. } if what.contains("chunk offsets")) => {
                    (
                        Outcome::Environment,
                        "the file is damaged or forged: its index claims far more chunks than it has bytes for",
                    )
                }
                Fault::Limit => (Outcome::Environment, "read a smaller part at a time, with --slice"),
                Fault::Environment => (Outcome::Environment, io_hint(io::ErrorKind::Other)),
                _ => (Outcome::Usage, "`b2nd --help` and `b2nd VERB --help` show the forms with examples"),
            },
        };
        Failure::Shown { outcome, message, hint: hint.into() }
    }
}

fn io_hint(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound => "check the spelling of the path",
        io::ErrorKind::PermissionDenied => "check the permissions of the file and of its folder",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room on the disk, then run the command again"
        }
        io::ErrorKind::ReadOnlyFilesystem => "choose an output on a disk that can be written",
        io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory => {
            "check whether the path is a file or a folder"
        }
        io::ErrorKind::OutOfMemory => "give less --memory or fewer --threads",
        _ => "the operating system refused; the files are as they were",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forged_index_is_called_so() {
        let limit = |what| Failure::from(Error::Limit { what, found: 1 << 29, allowed: 1 << 23 }).to_string();
        assert!(limit("a block of the chunk offsets").contains("forged"));
        assert!(limit("the result").contains("--slice"));
    }
}
