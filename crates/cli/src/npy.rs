//! The header of a `.npy` file, read from a stream. What it says is parsed by the library.

use std::io::{self, Read};
use std::path::Path;

use b2nd::Error;
use b2nd::array::npy::{Header, PREFIX_LEN, header_len};
use b2nd::error::file_kind;

use crate::failure::{Failure, Result};
use crate::open;
use crate::shown::Shown as _;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads the header of `name` from its start; the items come next.
pub(crate) fn read_header(name: &Path, from: &mut dyn Read) -> Result<Header> {
    let mut bytes = Vec::new();
    read_up_to(name, from, PREFIX_LEN, &mut bytes)?;
    let known = bytes.len().min(MAGIC.len());
    if bytes.get(..known) != MAGIC.get(..known) || bytes.is_empty() {
        return Err(no_npy(name, &bytes));
    }
    let about = |error: b2nd::Error| match error {
        Error::Unsupported { .. } => Failure::usage(
            format!("{}: {error}", name.shown()),
            "convert the items in NumPy, such as with items.astype('f8'), and save them again",
        ),
        error => Failure::from(error)
            .about(name)
            .with_hint("the input must be complete: numpy.load(…) tells more, or make the file again"),
    };
    let len = header_len(&bytes).map_err(about)?;
    read_up_to(name, from, len, &mut bytes)?;
    Header::parse(&bytes).map_err(about)
}

/// An input that is no `.npy` file, by the bytes that it begins with.
fn no_npy(name: &Path, head: &[u8]) -> Failure {
    let shown = name.shown();
    if head.is_empty() {
        return Failure::usage(
            format!("{shown}: is empty"),
            "give a .npy file, or raw bytes with --dtype and --shape",
        );
    }
    if !open::is_unlike(head) {
        return Failure::usage(
            format!("{shown}: is a Blosc2 file already"),
            "`b2nd convert IN OUT.b2nd` rewrites one, with other chunks, codec or filters",
        );
    }
    let raw = "for raw bytes say what they are, with --dtype and --shape";
    match file_kind(head) {
        Some("a text") | None => Failure::usage(format!("{shown}: is not a .npy file"), raw),
        Some(kind) => {
            Failure::usage(format!("{shown}: is {kind}, not a .npy file"), open::advice(Some(kind)))
        }
    }
}

/// Reads until there are `len` bytes, or the stream ends.
fn read_up_to(name: &Path, from: &mut dyn Read, len: usize, bytes: &mut Vec<u8>) -> Result<()> {
    let more = len.saturating_sub(bytes.len()) as u64;
    let read: io::Result<usize> = from.take(more).read_to_end(bytes);
    read.map(drop).map_err(|error| Failure::io("read", name, &error))
}
