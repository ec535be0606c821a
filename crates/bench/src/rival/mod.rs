//! C-Blosc2 in this process: the few functions that are compared, behind safe doors.
//!
//! The only unsafe folder of this crate. The library is loaded at run time, so nothing of it is built or linked.
#![expect(unsafe_code, reason = "calls into a C library that is loaded at run time")]

mod array;
mod chunker;
mod filters;
mod library;
mod schunk;

pub(crate) use array::{Array, Plan};
pub(crate) use chunker::Chunker;
pub(crate) use filters::Filter;
pub(crate) use library::{Rival, Setting};
pub(crate) use schunk::SChunk;

use b2nd_interop::Outcome;
use std::ffi::CString;
use std::path::Path;

/// A path as C wants it.
fn terminated(path: &Path) -> Outcome<CString> {
    Ok(CString::new(path.to_str().ok_or("path is not UTF-8")?)?)
}
