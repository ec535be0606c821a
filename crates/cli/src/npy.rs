//! The header of a `.npy` file, read from a stream. What it says is parsed by the library.

use std::io::{self, Read};
use std::path::Path;

use b2nd::array::npy::{Header, PREFIX_LEN, header_len};

use crate::failure::{Failure, Result};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads the header of `name` from its start; the items come next.
pub(crate) fn read_header(name: &Path, from: &mut dyn Read) -> Result<Header> {
    let mut bytes = Vec::new();
    read_up_to(name, from, PREFIX_LEN, &mut bytes)?;
    let known = bytes.len().min(MAGIC.len());
    if bytes.get(..known) != MAGIC.get(..known) || bytes.is_empty() {
        let what = if bytes.is_empty() { "is empty" } else { "is not a .npy file" };
        let message = format!("{}: {what}", name.display());
        return Err(Failure::usage(message, "for raw bytes say what they are, with --dtype and --shape"));
    }
    let about = |error: b2nd::Error| {
        let failure = Failure::from(error).about(name);
        failure.with_hint(
            "the input must be whole, and of numbers, texts or structures: numpy.load(…) says more",
        )
    };
    let len = header_len(&bytes).map_err(about)?;
    read_up_to(name, from, len, &mut bytes)?;
    Header::parse(&bytes).map_err(about)
}

/// Reads until there are `len` bytes, or the stream ends.
fn read_up_to(name: &Path, from: &mut dyn Read, len: usize, bytes: &mut Vec<u8>) -> Result<()> {
    let more = len.saturating_sub(bytes.len()) as u64;
    let read: io::Result<usize> = from.take(more).read_to_end(bytes);
    read.map(drop).map_err(|error| Failure::io("read", name, &error))
}
