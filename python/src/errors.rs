//! Errors of the crate as exceptions of the package: `b2nd/_errors.py` has the tree, which mirrors `b2nd::Error`.

use b2nd::{Error, Fault};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::Path;

/// The exception for an error; one that cannot be made is the error that kept it from being made.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    exception(py, error).unwrap_or_else(|failure| failure)
}

/// A wrong use that the door notices itself.
pub(crate) fn usage(py: Python<'_>, message: impl Into<String>) -> PyErr {
    raised(py, &Error::Usage(message.into()))
}

fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let name = match error {
        Error::Io { .. } => "IoError",
        Error::Format(_) => "FormatError",
        Error::Unsupported { .. } => "UnsupportedError",
        Error::Locked(_) => "LockedError",
        Error::Changed { .. } => "ChangedError",
        Error::AlreadyExists { .. } => "ExistsError",
        Error::NotFound { .. } => "MissingError",
        Error::ReadOnly { .. } => "ReadOnlyError",
        Error::OutOfBounds { .. } => "BoundsError",
        Error::DtypeMismatch { .. } => "DtypeError",
        Error::Limit { .. } => "LimitError",
        Error::OutOfMemory { .. } => "OutOfMemoryError",
        Error::Cancelled => return Ok(PyKeyboardInterrupt::new_err(())),
        _ if error.fault() == Fault::Caller => "UsageError",
        _ => "Error",
    };
    let known = PyDict::new(py);
    let path = |path: Option<&Path>| path.map(|path| path.as_os_str().to_owned());
    match error {
        Error::Io { path: at, source, .. } => {
            known.set_item("errno", source.raw_os_error())?;
            known.set_item("filename", path(at.as_deref()))?;
        }
        Error::Format(format) => {
            known.set_item("part", format.part().name())?;
            known.set_item("offset", format.offset())?;
            known.set_item("chunk", format.chunk())?;
            known.set_item("block", format.block())?;
            known.set_item("path", path(format.path()))?;
        }
        Error::Unsupported { path: at, .. }
        | Error::Changed { path: at, .. }
        | Error::NotFound { path: at, .. }
        | Error::ReadOnly { path: at, .. } => {
            known.set_item("path", path(at.as_deref()))?;
        }
        Error::AlreadyExists { path: at, .. } => known.set_item("path", path(Some(at)))?,
        Error::OutOfBounds { axis, index, len, .. } => {
            known.set_item("axis", axis)?;
            known.set_item("index", index)?;
            known.set_item("length", len)?;
        }
        Error::Locked(locked) => {
            known.set_item("path", path(Some(locked.path())))?;
            known.set_item("holder", locked.holder().map(ToString::to_string))?;
        }
        Error::Limit { found, allowed, .. } => {
            known.set_item("found", found)?;
            known.set_item("allowed", allowed)?;
        }
        _ => {}
    }
    let make = py.import("b2nd._errors")?.getattr("make")?;
    Ok(PyErr::from_value(make.call1((name, error.to_string(), known))?))
}
