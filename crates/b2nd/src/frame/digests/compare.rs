//! A header beside the copy of it that was written with the checksums.

use crate::error::{Error, Part, Result};
use crate::frame::Header;
use std::ops::Range;

/// The numbers of threads, which nobody reads: 0 in a header of ours, and something else once C-Blosc2 has written the header.
const THREADS: Range<usize> = 62..68;

/// Whether the header is the one of the copy, but for what another program may have changed: C-Blosc2 writes the header alone
/// when the content of a metalayer changes.
///
/// # Errors
/// [`Error::Format`] where it is damaged: something else differs, or just one bit, in a header that is ours otherwise.
pub(crate) fn check_header(header: &Header, copy: &[u8]) -> Result<()> {
    let found = header.bytes();
    let differs: Vec<usize> = (0..found.len().max(copy.len()))
        .filter(|at| found.get(*at) != copy.get(*at) && !THREADS.contains(at))
        .collect();
    let (Some(first), Some(last)) = (differs.first(), differs.last()) else { return Ok(()) };
    let content = |at: &usize| header.metalayers.iter().find(|entry| entry.content.contains(at));
    if found.len() != copy.len() || !differs.iter().all(|at| content(at).is_some()) {
        return Err(Error::mismatch(Part::FrameHeader, *first as u64..(*last as u64).saturating_add(1)));
    }
    let bits = |at: &usize| match (found.get(*at), copy.get(*at)) {
        (Some(found), Some(copy)) => (found ^ copy).count_ones(),
        _ => 8,
    };
    let rewritten = found.get(THREADS) != copy.get(THREADS);
    if rewritten || differs.iter().map(bits).sum::<u32>() > 1 {
        return Ok(());
    }
    let name = content(first).map_or("", |entry| entry.name.text());
    let reason = format!(
        "one bit of `{name}`, at byte {first} of the file, is not as it was written: the file is damaged, or another program \
         changed no more than that. Without checks it opens as it is; renewed checksums accept it"
    );
    Err(Error::format(Part::Metalayer, None, reason))
}
