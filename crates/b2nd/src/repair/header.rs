//! The header of a damaged frame: its own, one that is put right, or one that other parts of the file make up.

use super::report::Repaired;
use super::source::DamagedFrame;
use crate::array::{Grid, stored_geometry};
use crate::chunk::ChunkHeader;
use crate::error::{Error, Part, Result};
use crate::frame::salvage::{header_len, mend_header, read_header};
use crate::frame::{ChunkSizes, FrameHeader, MARK_LEN, find_mark};
use crate::limits::Limits;
use crate::schunk::leftover;

/// A header, and where in the file its frame starts.
#[derive(Debug, Clone)]
pub(super) struct FoundHeader {
    pub(super) base: u64,
    pub(super) header: FrameHeader,
}

/// What the first read asks for: most headers whole.
const PREFIX: u64 = 1024;
/// What is looked at of a header that does not say how long it is.
const MENDED: u64 = 1 << 20;

/// The header that starts at `base`, if one can be read there.
pub(super) fn at(source: &DamagedFrame, base: u64, limits: &Limits) -> Result<Option<FrameHeader>> {
    let prefix = source.part(base, PREFIX)?;
    let len = match header_len(&prefix, source.len.saturating_sub(base)) {
        Ok(len) if len <= limits.max_meta_bytes() => len,
        _ => return Ok(None),
    };
    let found = read_header(&source.part(base, len)?).ok();
    Ok(found.filter(|header| header.layout() == source.layout))
}

/// The frame's own header, at the start of the file; where a commit left it torn, the one before.
pub(super) fn own(
    source: &DamagedFrame,
    limits: &Limits,
    report: &mut Repaired,
) -> Result<Option<FoundHeader>> {
    if let Ok(Some(left)) = leftover(source.store.as_ref(), limits)
        && let Some(header) = left.torn.and_then(|old| read_header(&old).ok())
    {
        report.restored(
            Part::FrameHeader,
            "a commit that was cut off left it torn: as it was before, from the undo record",
        );
        return Ok(Some(FoundHeader { base: left.frame, header }));
    }
    Ok(at(source, 0, limits)?.map(|header| FoundHeader { base: 0, header }))
}

/// The header at the start of the file with its fixed bytes put right, where enough of it is left.
pub(super) fn mended(source: &DamagedFrame, report: &mut Repaired) -> Result<Option<FoundHeader>> {
    let Ok((header, lost)) = mend_header(&source.part(0, MENDED)?, source.layout) else { return Ok(None) };
    report.restored(Part::FrameHeader, "bytes that are the same in every header were not");
    report.lost_metalayers.extend(lost.into_iter().map(|name| (Part::Metalayer, name)));
    Ok(Some(FoundHeader { base: 0, header }))
}

/// The first header that can be read anywhere in the file.
pub(super) fn anywhere(
    source: &DamagedFrame,
    limits: &Limits,
    report: &mut Repaired,
) -> Result<Option<FoundHeader>> {
    let mut window = super::source::Window::new(source);
    let (mut at, mut wasted) = (0u64, 0u64);
    while wasted <= source.len.saturating_mul(4).saturating_add(1 << 20) {
        let bytes = window.from(at, MARK_LEN)?;
        if bytes.len() < MARK_LEN {
            break;
        }
        let Some(found) = find_mark(bytes) else {
            at = at.saturating_add((bytes.len() - (MARK_LEN - 1)) as u64);
            continue;
        };
        at = at.saturating_add(found as u64);
        if let Some(header) = self::at(source, at, limits)? {
            report.restored(Part::FrameHeader, format!("found {at} bytes behind the start of the file"));
            return Ok(Some(FoundHeader { base: at, header }));
        }
        let claimed = header_len(&source.part(at, PREFIX)?, source.len).unwrap_or(0);
        wasted = wasted.saturating_add(claimed).saturating_add(PREFIX);
        at = at.saturating_add(1);
    }
    Ok(None)
}

/// The uncompressed bytes of all chunks, where their number is known.
pub(super) fn nchunks(header: &FrameHeader) -> Option<u64> {
    (header.chunksize() > 0).then(|| header.nbytes().div_ceil(u64::from(header.chunksize())))
}

/// Holds the sizes in a header that nothing vouches for against the shape of the array; `first` is a chunk of the frame, `listed`
/// the number of chunks that its offsets are for.
pub(super) fn agree(
    header: &mut FrameHeader,
    first: Option<&ChunkHeader>,
    listed: Option<u64>,
    report: &mut Repaired,
) -> Result<()> {
    let Some(grid) = grid(header) else { return Ok(()) };
    let (size, nbytes) = (grid.chunk_bytes() as u64, (grid.chunk_bytes() as u64).checked_mul(grid.nchunks()));
    let (Some(nbytes), Ok(size)) = (nbytes, u32::try_from(size)) else { return Ok(()) };
    if grid.nchunks() == 0 {
        return Ok(());
    }
    if header.chunksize() != size && first.is_some_and(|first| first.nbytes() == size) {
        let found = header.chunksize();
        report.restored(
            Part::FrameHeader,
            format!("chunks of {size} bytes, not {found}: from the shape of the array and a chunk"),
        );
        header.set_chunk_sizes(ChunkSizes::Fixed(size));
    }
    let other = nchunks(header).is_some_and(|n| listed == Some(n));
    if header.chunksize() == size && header.nbytes() != nbytes && !other {
        let found = header.nbytes();
        report.restored(
            Part::FrameHeader,
            format!("{nbytes} bytes in all, not {found}: from the shape of the array"),
        );
        header.set_nbytes(nbytes)?;
    }
    Ok(())
}

/// The geometry of the array that the header describes.
pub(super) fn grid(header: &FrameHeader) -> Option<Grid> {
    let meta = stored_geometry(header.metalayers().map(|(name, content)| (name.text(), content)))?;
    let blocks: Option<Vec<u64>> = meta.blocks.iter().map(|b| u64::try_from(*b).ok()).collect();
    Grid::new(&meta.shape, &meta.chunks, &blocks?, header.params().typesize() as usize).ok()
}

/// The error of a file in which nothing is left to begin with.
pub(super) fn nothing() -> Error {
    Error::format(
        Part::FrameHeader,
        None,
        "nothing of a frame can be found: no header, no copy of one, and no chunk that could be read",
    )
}
