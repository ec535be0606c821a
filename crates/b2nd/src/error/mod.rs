//! Errors, sorted by who is at fault: the file, the caller, the environment, or a limit.

mod format;
mod kind;
mod locked;
mod usage;
pub(crate) mod variants;

pub use format::{FormatError, Part};
pub use kind::file_kind;
pub use locked::{Holder, LockedError};
pub(crate) use variants::{Error, Fault, Result};
