//! The trailers in a file: that of the frame, and those of older states, which lie about until something is written over them.

use super::source::{DamagedFrame, Window};
use crate::error::Result;
use crate::frame::Trailer;
use crate::frame::digests::Seal;
use crate::frame::salvage::{TRAILER_END, TRAILER_MARK, find_trailer_end, read_trailer, trailer_len};
use crate::limits::Limits;

/// A trailer, and where it lies in the file.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) trailer: Trailer,
}

impl Tail {
    /// Whether the fingerprint says that the checksums in it are whole.
    pub(super) fn is_sealed(&self) -> bool {
        self.trailer.checksums().1 == Seal::Intact
    }
}

/// The trailer that ends at `end`, if one can be read there.
pub(super) fn ending_at(source: &DamagedFrame, end: u64, limits: &Limits) -> Result<Option<Tail>> {
    let Some(tail_at) = end.checked_sub(TRAILER_END as u64).filter(|_| end <= source.len) else {
        return Ok(None);
    };
    let tail = source.part(tail_at, TRAILER_END as u64)?;
    let Ok(len) = trailer_len(&tail, end) else { return Ok(None) };
    let start = end.saturating_sub(len);
    if len > limits.max_meta_bytes() || source.part(start, 3)? != TRAILER_MARK {
        return Ok(None);
    }
    Ok(read_trailer(&source.part(start, len)?).ok().map(|trailer| Tail { start, end, trailer }))
}

/// Hands every trailer of the file to `visit`. What claims to be one and is not costs no more than the file is long, in all, a
/// few times over.
pub(super) fn each(
    source: &DamagedFrame,
    limits: &Limits,
    mut visit: impl FnMut(Tail) -> Result<()>,
) -> Result<()> {
    let mut window = Window::new(source);
    let mut wasted = 0u64;
    let most = source.len.saturating_mul(4).saturating_add(1 << 20);
    let mut at = 0;
    while at < source.len && wasted <= most {
        let bytes = window.from(at, TRAILER_END)?;
        let Some((found, len)) = find_trailer_end(bytes, 0) else {
            // The last bytes may be the first of a mark.
            at = at.saturating_add((bytes.len() as u64).saturating_sub(5).max(1));
            continue;
        };
        let found = at.saturating_add(found as u64);
        at = found.saturating_add(1);
        let end = found.saturating_add(TRAILER_END as u64);
        if len > end {
            continue;
        }
        wasted = wasted.saturating_add(len);
        if let Some(tail) = ending_at(source, end, limits)? {
            visit(tail)?;
        }
    }
    Ok(())
}
