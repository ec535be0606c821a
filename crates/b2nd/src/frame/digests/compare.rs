//! A header beside the copy of it that was written with the checksums.

use crate::error::{Error, Part, Result};
use crate::frame::FrameHeader;
use crate::wire::msgpack;
use std::ops::Range;

/// The numbers of threads, with their markers: 0 in a header of ours, at least 1 in every header that C-Blosc2 writes.
const THREADS: Range<usize> = 62..68;
/// Fields that C-Blosc2 rewrites in a header without changing the rest of the file: codec, level and split mode,
/// block size, numbers of threads, and the pipeline. They only affect chunks written later. Metalayers may change as
/// well.
const REWRITTEN: [Range<usize>; 4] = [27..29, 53..57, THREADS, 70..87];

/// Whether another program has rewritten the header since the copy of it was made: C-Blosc2 writes the header alone when a
/// metalayer changes, as in a change of shape that needs no other chunks.
///
/// # Errors
/// [`Error::Format`] where it differs from the copy in any other way: it is damaged, or no program that we know wrote it.
pub(crate) fn check_header(header: &FrameHeader, copy: &[u8]) -> Result<bool> {
    let found = header.bytes();
    let differs: Vec<usize> =
        (0..found.len().max(copy.len())).filter(|at| found.get(*at) != copy.get(*at)).collect();
    let (Some(first), Some(last)) = (differs.first(), differs.last()) else { return Ok(false) };
    let content = |at: &usize| header.metalayers.iter().find(|entry| entry.content.contains(at));
    let same_len = found.len() == copy.len();
    let range = *first as u64..(*last as u64).saturating_add(1);
    if same_len && is_signed_by_another(found) && found.get(THREADS) != copy.get(THREADS) {
        let known = |at: &usize| REWRITTEN.iter().any(|range| range.contains(at)) || content(at).is_some();
        if differs.iter().all(known) {
            return Ok(true);
        }
        let Range { start, end } = range;
        let reason = format!(
            "another program has rewritten it and changed what belongs to the chunks (bytes {start}..{end} of the file), or the \
             file is damaged. Without checks it opens as it is; renewed checksums accept it"
        );
        return Err(Error::format(Part::FrameHeader, None, reason));
    }
    match content(first) {
        Some(entry) if same_len && differs.iter().all(|at| entry.content.contains(at)) => {
            let (name, Range { start, end }) = (entry.name.text(), range);
            let reason = format!(
                "`{name}`: bytes {start}..{end} of the file do not match their checksum: the file is damaged. Without checks it \
                 opens as it is; renewed checksums accept it"
            );
            Err(Error::format(Part::Metalayer, None, reason))
        }
        _ => Err(Error::mismatch(Part::FrameHeader, range)),
    }
}

/// Whether the numbers of threads are such as C-Blosc2 writes.
fn is_signed_by_another(header: &[u8]) -> bool {
    let number = |high: u8, low: u8| i16::from_be_bytes([high, low]);
    match header.get(THREADS) {
        Some(&[msgpack::INT_16, a, b, msgpack::INT_16, c, d]) => number(a, b) > 0 && number(c, d) > 0,
        _ => false,
    }
}
