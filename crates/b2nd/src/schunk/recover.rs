//! Headers of which only some sectors were written, found by the undo record at the end of the file: read as they were
//! before, and put right when the frame is opened for writing.

use super::drive::{drive, drive_outline, header_of, part};
use super::options::OpenOptions;
use crate::error::{Error, Result};
use crate::frame::digests::{copied_header, root_len};
use crate::frame::{
    FrameHeader, FrameIndex, HeaderState, Layout, TAIL, UndoRecord, record_len as undo_len, sector_end,
};
use crate::frame::{LayerPlace, layer_place};
use crate::io::{FileId, Mended, OpenedStore, ReadStore, WriteStep};
use crate::limits::Limits;
use std::sync::Arc;

/// An undo record that a commit left at the end of a file.
#[derive(Debug)]
pub(crate) struct Leftover {
    /// Where its frame starts in the store.
    pub(crate) frame: u64,
    /// Offset of the record.
    record: u64,
    /// The old header, if the one in the file is torn.
    pub(crate) torn: Option<Vec<u8>>,
}

/// Number of attempts to read a long header that is being written.
const ATTEMPTS: usize = 16;
/// Number of attempts to parse a frame that cannot be parsed.
const FEW_ATTEMPTS: usize = 3;

/// The undo record at the end of a store, when its frame is there and belongs to it.
pub(crate) fn leftover(store: &dyn ReadStore, limits: &Limits) -> Result<Option<Leftover>> {
    let len = store.len(FileId::Frame)?;
    let Some(tail_at) = len.checked_sub(TAIL as u64) else { return Ok(None) };
    let mut tail = [0; TAIL];
    store.read_at(FileId::Frame, tail_at, &mut tail)?;
    let Some(record_len) = undo_len(tail) else { return Ok(None) };
    let (Some(start), true) = (len.checked_sub(record_len), record_len / 2 <= limits.max_meta_bytes()) else {
        return Ok(None);
    };
    let mut buffer = Vec::new();
    let bytes = part(store, start, record_len, &mut buffer)?;
    let Some(record) = UndoRecord::parse(bytes) else { return Ok(None) };
    let Some(frame) = start.checked_sub(record.distance()) else { return Ok(None) };
    if record.header_len() > limits.max_meta_bytes() {
        return Ok(None);
    }
    let mut header = Vec::new();
    Ok(match record.judge(part(store, frame, record.header_len(), &mut header)?) {
        HeaderState::Unrelated => None,
        HeaderState::Whole => Some(Leftover { frame, record: start, torn: None }),
        HeaderState::Torn(old) => Some(Leftover { frame, record: start, torn: Some(old) }),
    })
}

/// Result of parsing a frame.
#[derive(Debug)]
pub(super) enum ParsedFrame {
    /// All but its chunks.
    All(Box<FrameIndex>),
    /// The header, the number of chunks, and where the trailer starts; the rest is read when it is asked for.
    Outline { header: Box<FrameHeader>, nchunks: u64, trailer_start: u64 },
}

impl ParsedFrame {
    fn header(&self) -> &FrameHeader {
        match self {
            ParsedFrame::All(index) => &index.header,
            ParsedFrame::Outline { header, .. } => header,
        }
    }
}

/// Parses a frame, as far as it is needed to open it: a writer needs all, and so does a frame whose index alone knows how many
/// chunks there are.
fn look(store: &dyn ReadStore, layout: Layout, options: &OpenOptions) -> Result<ParsedFrame> {
    if !options.write {
        let (header, trailer_start) = drive_outline(store, layout, &options.common.limits)?;
        if let Some(nchunks) = header.nchunks()
            && (!options.common.checks() || is_header_confirmed(store, &header, trailer_start)?)
        {
            return Ok(ParsedFrame::Outline { header: Box::new(header), nchunks, trailer_start });
        }
    }
    drive(store, layout, &options.common.limits).map(|index| ParsedFrame::All(Box::new(index)))
}

/// How many bytes of a trailer are read to find the checksums in it.
const TRAILER_START: u64 = 4 << 10;

/// Whether the header is the one that was written with the checksums, or the frame has no checksums. Where it is not, or that
/// costs more than a look, all of the trailer tells.
fn is_header_confirmed(store: &dyn ReadStore, header: &FrameHeader, trailer_start: u64) -> Result<bool> {
    let room = header.frame_len().saturating_sub(trailer_start);
    let mut buffer = Vec::new();
    let start = part(store, trailer_start, room.min(TRAILER_START), &mut buffer)?;
    let place = match layer_place(start, header) {
        LayerPlace::None => return Ok(true),
        LayerPlace::Unknown => return Ok(false),
        LayerPlace::At(place) => place,
    };
    let wanted = root_len(header.len());
    let Some(rest) = room.checked_sub(place).filter(|rest| *rest >= wanted) else { return Ok(false) };
    let at = trailer_start.saturating_add(place);
    let root = part(store, at, rest.min(wanted), &mut buffer)?;
    Ok(copied_header(root) == Some(header.bytes()))
}

/// Parses the frame that a store has; one whose header is torn as it was before.
pub(super) fn parse(
    store: OpenedStore,
    layout: Layout,
    options: &OpenOptions,
) -> Result<(OpenedStore, ParsedFrame)> {
    let mut attempts = 0;
    loop {
        let found = look(store.as_read(), layout, options);
        let Some(long) = is_in_question(store.as_read(), layout, &found)? else {
            return found.map(|found| (store, found));
        };
        attempts += 1;
        // If the result is ambiguous, a writer may have changed the frame between two reads.
        let clear = match (leftover(store.as_read(), &options.common.limits), &found) {
            (Ok(Some(left)), _) if left.frame == 0 && (options.write || left.torn.is_some()) => {
                return mended(store, layout, options, left);
            }
            (Ok(_), Ok(found)) => !long || is_still_there(store.as_read(), found.header())?,
            (Ok(_), Err(_)) => attempts >= FEW_ATTEMPTS,
            (Err(error), _) if attempts >= ATTEMPTS => return Err(found.err().unwrap_or(error)),
            (Err(_), _) => false,
        };
        if clear || attempts >= ATTEMPTS {
            return found.map(|found| (store, found));
        }
    }
}

/// Whether to look for a record; and whether the header, intact so far, is long enough to be torn.
fn is_in_question(
    store: &dyn ReadStore,
    layout: Layout,
    found: &Result<ParsedFrame>,
) -> Result<Option<bool>> {
    Ok(match found {
        _ if layout == Layout::Sparse => None,
        Err(Error::Format(_) | Error::Limit { .. } | Error::Unsupported { .. }) => Some(false),
        Err(_) => None,
        Ok(found) if sector_end(store.start(), found.header().len()).is_some() => Some(true),
        Ok(found) => (store.len(FileId::Frame)? > found.header().frame_len()).then_some(false),
    })
}

/// Whether the file still has the header that was parsed.
fn is_still_there(store: &dyn ReadStore, header: &FrameHeader) -> Result<bool> {
    Ok(header_of(store, header.len())? == header.bytes())
}

/// Handles a frame with an undo record: a writer restores the header, a reader reads through the record.
fn mended(
    mut store: OpenedStore,
    layout: Layout,
    options: &OpenOptions,
    left: Leftover,
) -> Result<(OpenedStore, ParsedFrame)> {
    let file = FileId::Frame;
    match left.torn {
        Some(header) if options.write => {
            store.apply(&WriteStep::WriteAt { file, offset: 0, bytes: header.into() })?;
            store.apply(&WriteStep::Sync { file })?;
        }
        Some(header) => store = OpenedStore::Read(Arc::new(Mended::new(store.reader(), header))),
        None => {}
    }
    let found = look(store.as_read(), layout, options)?;
    if options.write {
        // All that follows the frame is the commit's that was cut off, or of an older state than that, or the record.
        // Of a frame that shares its file no state ever reached further.
        let cut = options.offset > 0 || store.is_alone();
        let len = if cut { found.header().frame_len() } else { left.record };
        store.apply(&WriteStep::SetLen { file, len })?;
    }
    Ok((store, found))
}
