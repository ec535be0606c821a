//! Headers of which only some sectors were written, found by the undo record at the end of the file: read as they were
//! before, and put right when the frame is opened for writing.

use super::frames;
use super::handle::drive;
use super::options::OpenOptions;
use crate::error::{Error, Result};
use crate::frame::{FrameIndex, HeaderState, Layout, TAIL, UndoRecord, record_len, sector_end};
use crate::io::{FileId, Mended, Store, WriteStep};
use crate::limits::Limits;

/// What a commit left at the end of a file.
#[derive(Debug)]
pub(crate) struct Leftover {
    /// Where its frame starts in the store.
    pub(crate) frame: u64,
    /// Where the record starts.
    record: u64,
    /// The old header, where the one that is there is torn.
    pub(crate) torn: Option<Vec<u8>>,
}

/// How often a long header that is just being written is read again.
const ATTEMPTS: usize = 16;
/// How often what cannot be parsed is looked at again.
const FEW_ATTEMPTS: usize = 3;

/// The undo record at the end of a store, when its frame is there and belongs to it.
pub(crate) fn leftover(store: &dyn Store, limits: &Limits) -> Result<Option<Leftover>> {
    let len = store.len(FileId::Frame)?;
    let Some(tail_at) = len.checked_sub(TAIL as u64) else { return Ok(None) };
    let mut tail = [0; TAIL];
    store.read_at(FileId::Frame, tail_at, &mut tail)?;
    let Some(record_len) = record_len(tail) else { return Ok(None) };
    let (Some(start), true) = (len.checked_sub(record_len), record_len / 2 <= limits.max_meta_bytes()) else {
        return Ok(None);
    };
    let mut buffer = Vec::new();
    let bytes = frames::part(store, start, record_len, &mut buffer)?;
    let Some(record) = UndoRecord::parse(bytes) else { return Ok(None) };
    let Some(frame) = start.checked_sub(record.distance()) else { return Ok(None) };
    if record.header_len() > limits.max_meta_bytes() {
        return Ok(None);
    }
    let mut header = Vec::new();
    Ok(match record.judge(frames::part(store, frame, record.header_len(), &mut header)?) {
        HeaderState::Unrelated => None,
        HeaderState::Whole => Some(Leftover { frame, record: start, torn: None }),
        HeaderState::Torn(old) => Some(Leftover { frame, record: start, torn: Some(old) }),
    })
}

/// Parses the frame that a store has; one whose header is torn as it was before.
pub(super) fn parse(
    store: Box<dyn Store>,
    layout: Layout,
    options: &OpenOptions,
) -> Result<(Box<dyn Store>, FrameIndex)> {
    let mut attempts = 0;
    loop {
        let found = drive(store.as_ref(), layout, &options.limits);
        let Some(long) = is_in_question(store.as_ref(), layout, &found)? else {
            return found.map(|index| (store, index));
        };
        attempts += 1;
        // Where it is not clear, a writer may have been at it between two looks.
        let clear = match (leftover(store.as_ref(), &options.limits), &found) {
            (Ok(Some(left)), _) if left.frame == 0 && (options.write || left.torn.is_some()) => {
                return mended(store, layout, options, left);
            }
            (Ok(_), Ok(index)) => !long || is_still_there(store.as_ref(), index)?,
            (Ok(_), Err(_)) => attempts >= FEW_ATTEMPTS,
            (Err(error), _) if attempts >= ATTEMPTS => return Err(found.err().unwrap_or(error)),
            (Err(_), _) => false,
        };
        if clear || attempts >= ATTEMPTS {
            return found.map(|index| (store, index));
        }
    }
}

/// Whether a record has to be looked for; and whether the header, so far whole, is one that can be torn.
fn is_in_question(store: &dyn Store, layout: Layout, found: &Result<FrameIndex>) -> Result<Option<bool>> {
    Ok(match found {
        _ if layout == Layout::Sparse => None,
        Err(Error::Format(_) | Error::Limit { .. } | Error::Unsupported { .. }) => Some(false),
        Err(_) => None,
        Ok(index) if sector_end(store.start(), index.header.len()).is_some() => Some(true),
        Ok(index) => (store.len(FileId::Frame)? > index.header.frame_len()).then_some(false),
    })
}

/// Whether the header that was parsed is still the one that is there.
fn is_still_there(store: &dyn Store, index: &FrameIndex) -> Result<bool> {
    let mut buffer = Vec::new();
    Ok(frames::part(store, 0, index.header.len(), &mut buffer)? == index.header.bytes())
}

/// A frame with what a commit left behind: cleared away for who writes, looked through for who reads.
fn mended(
    mut store: Box<dyn Store>,
    layout: Layout,
    options: &OpenOptions,
    left: Leftover,
) -> Result<(Box<dyn Store>, FrameIndex)> {
    let file = FileId::Frame;
    match left.torn {
        Some(header) if options.write => {
            store.apply(&WriteStep::WriteAt { file, offset: 0, bytes: header.into() })?;
            store.apply(&WriteStep::Sync { file })?;
        }
        Some(header) => store = Box::new(Mended::new(store, header)),
        None => {}
    }
    let index = drive(store.as_ref(), layout, &options.limits)?;
    if options.write {
        // All that follows the frame is the commit's that was cut off, or of an older state than that, or the record.
        // Of a frame that shares its file no state ever reached further.
        let cut = options.offset > 0 || store.is_alone();
        let len = if cut { index.header.frame_len() } else { left.record };
        store.apply(&WriteStep::SetLen { file, len })?;
    }
    Ok((store, index))
}
