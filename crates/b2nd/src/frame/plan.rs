//! Writes as data: an ordered list of steps, so that a crash can be replayed at every one of them.

use super::Durability;
use super::FrameHeader;
use super::Layout;
use super::Offsets;
use super::Trailer;
use super::digests::Draft;
use super::{sector_end, undo_record};
use crate::error::{Error, Result};
use crate::exec::Exec;
use std::borrow::Cow;

/// A file of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileId {
    /// The frame itself: the whole of a contiguous one, `chunks.b2frame` of a sparse one.
    Frame,
    /// A numbered chunk file of a sparse frame.
    Chunk(u32),
}

/// One step of a write plan.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum WriteStep<'a> {
    /// Writes bytes at an offset, growing the file where needed.
    WriteAt {
        /// The file.
        file: FileId,
        /// Offset in the file, in bytes.
        offset: u64,
        /// The bytes to write.
        bytes: Cow<'a, [u8]>,
    },
    /// Makes or replaces a whole file: a temporary name, then a rename. The file of a chunk is made, or replaced by an
    /// empty one, never replaced by another chunk: one that is there is an error
    /// ([`AlreadyExists`](std::io::ErrorKind::AlreadyExists)).
    Put {
        /// The file.
        file: FileId,
        /// Its content.
        bytes: Cow<'a, [u8]>,
        /// Whether the content, and the files that it refers to, are on the medium before the rename.
        sync: bool,
    },
    /// Sets the length of a file.
    SetLen {
        /// The file.
        file: FileId,
        /// The length in bytes.
        len: u64,
    },
    /// Waits until everything written so far to the file is on the medium.
    Sync {
        /// The file.
        file: FileId,
    },
    /// Gives a new frame its name: it becomes visible at its path, whole. Nothing to do in memory.
    Publish {
        /// Whether the name is on the medium when this is done.
        sync: bool,
    },
    /// Removes an unreferenced chunk file; a missing one is no error.
    Remove {
        /// The file.
        file: FileId,
    },
}

/// Input of the plan of a commit.
#[derive(Debug)]
pub(crate) struct Commit<'a> {
    /// The new header, except for its lengths.
    pub(crate) header: &'a FrameHeader,
    pub(crate) offsets: &'a Offsets,
    pub(crate) trailer: &'a Trailer,
    /// The checksums, where the frame has them.
    pub(crate) digests: Option<&'a Draft>,
    /// Contiguous: the end of all chunks. A copy appends there.
    pub(crate) end: u64,
    /// Sparse: the bytes of all chunk files.
    pub(crate) chunk_bytes: u64,
    /// Sparse: chunk files that were put since the last commit and are referred to.
    pub(crate) added: &'a [u32],
    /// Sparse: chunk files that nothing refers to after this commit.
    pub(crate) obsolete: &'a [u32],
    /// Sparse: a chunk file that is unreferenced after this commit, and whose number must not be reused.
    pub(crate) emptied: Option<u32>,
    /// Whether the frame has no name yet.
    pub(crate) first: bool,
    /// Contiguous: where in its file the frame starts.
    pub(crate) start: u64,
    /// Contiguous: the old header, if it spans sectors, and the length of the file from there on.
    pub(crate) long: Option<(&'a FrameHeader, u64)>,
    pub(crate) durability: Durability,
}

impl Commit<'_> {
    /// The undo record to write before `header`, if one is needed, and its offset, past everything else.
    fn undo(&self, header: &FrameHeader) -> Result<Option<(u64, Vec<u8>)>> {
        let Some((old, len)) = self.long else { return Ok(None) };
        let at = header.frame_len().max(len);
        Ok(undo_record(old.bytes(), header.bytes(), self.start, at)?.map(|record| (at, record)))
    }
}

/// The steps of a commit, and the header as it is after them.
///
/// Every prefix of the steps leaves the frame in its old or its new state: old bytes stay until the header (or the
/// frame file of a sparse frame), written last in one step, stops referring to them. `place` allocates space in a
/// contiguous frame for offsets and trailer of a given length: past all chunks, where no header on the medium refers
/// to.
pub(crate) fn plan_commit(
    commit: &Commit<'_>,
    place: &dyn Fn(u64) -> u64,
    exec: &Exec,
) -> Result<(FrameHeader, Vec<WriteStep<'static>>)> {
    let mut header = commit.header.clone();
    let mut tail = if header.nbytes() == 0 { Vec::new() } else { commit.offsets.encode(exec)? };
    let has_vlmeta = !commit.trailer.is_empty() || commit.digests.is_some();
    let tail_len = commit.trailer.tail_len(header.bytes().len(), &tail, commit.digests)?;
    let too_large = || Error::too_large(i64::MAX as u64, "the frame is too large");
    let frame = FileId::Frame;
    let durability = commit.durability;
    let mut steps = Vec::new();
    let mut undo = None;
    if header.layout() == Layout::Contiguous && header.nbytes() > 0 {
        let end = place(tail_len);
        let cbytes = end.checked_sub(header.len()).ok_or_else(too_large)?;
        let frame_len = end.checked_add(tail_len).filter(|len| i64::try_from(*len).is_ok());
        header.set_lengths(frame_len.ok_or_else(too_large)?, cbytes, has_vlmeta);
        sign(&mut header, commit);
        commit.trailer.append_to(&mut tail, header.bytes(), commit.digests)?;
        steps.push(WriteStep::WriteAt { file: frame, offset: end, bytes: tail.into() });
        undo = commit.undo(&header)?;
        steps.extend(undo.iter().map(|(at, record)| WriteStep::WriteAt {
            file: frame,
            offset: *at,
            bytes: record.clone().into(),
        }));
        if !commit.first && durability.orders() {
            steps.push(WriteStep::Sync { file: frame });
        }
        steps.push(WriteStep::WriteAt { file: frame, offset: 0, bytes: header.bytes().to_vec().into() });
    } else {
        // The frame file holds no chunks: it is small, and replaced as a whole.
        let cbytes = if header.layout() == Layout::Sparse { sparse_cbytes(commit)? } else { 0 };
        let frame_len = header.len().checked_add(tail_len).ok_or_else(too_large)?;
        header.set_lengths(frame_len, cbytes, has_vlmeta);
        sign(&mut header, commit);
        commit.trailer.append_to(&mut tail, header.bytes(), commit.digests)?;
        if durability.orders() {
            steps.extend(commit.added.iter().map(|n| WriteStep::Sync { file: FileId::Chunk(*n) }));
        }
        let bytes = [header.bytes(), &tail].concat().into();
        steps.push(WriteStep::Put { file: frame, bytes, sync: durability.orders() });
    }
    // The name of a new frame refers to all of it; and files go after the name of the frame that does without them.
    let removes = !commit.obsolete.is_empty() || commit.emptied.is_some();
    // The record stays until the header is certainly whole: the next chunk is written over it.
    let settles = commit.first || removes || undo.is_some();
    if durability.keeps() || settles && durability.orders() {
        steps.push(WriteStep::Sync { file: frame });
    }
    steps.extend(undo.map(|(len, _)| WriteStep::SetLen { file: frame, len }));
    if commit.first {
        steps.push(WriteStep::Publish { sync: durability.keeps() });
    }
    steps.extend(commit.obsolete.iter().map(|n| WriteStep::Remove { file: FileId::Chunk(*n) }));
    let put_empty = |n| WriteStep::Put { file: FileId::Chunk(n), bytes: Cow::Borrowed(&[]), sync: false };
    steps.extend(commit.emptied.map(put_empty));
    Ok((header, steps))
}

/// The last steps of a new frame whose chunks are written already, and its header after them.
///
/// Behind other frames of a file (`behind`), where there is no name to give at the end, the header comes after everything
/// else is on the medium: a copy that is cut off is no frame.
pub(crate) fn plan_copy(
    copy: &Commit<'_>,
    behind: bool,
    exec: &Exec,
) -> Result<(FrameHeader, Vec<WriteStep<'static>>)> {
    let mut header = copy.header.clone();
    if header.layout() == Layout::Sparse {
        return plan_commit(copy, &|_| copy.end, exec);
    }
    let too_large = || Error::too_large(i64::MAX as u64, "the frame is too large");
    let mut tail = if header.nbytes() == 0 { Vec::new() } else { copy.offsets.encode(exec)? };
    let tail_len = copy.trailer.tail_len(header.bytes().len(), &tail, copy.digests)?;
    let frame_len = copy.end.checked_add(tail_len).filter(|len| i64::try_from(*len).is_ok());
    let cbytes = copy.end.checked_sub(header.len()).ok_or_else(too_large)?;
    let has_vlmeta = !copy.trailer.is_empty() || copy.digests.is_some();
    header.set_lengths(frame_len.ok_or_else(too_large)?, cbytes, has_vlmeta);
    sign(&mut header, copy);
    copy.trailer.append_to(&mut tail, header.bytes(), copy.digests)?;
    let file = FileId::Frame;
    let mut steps = vec![WriteStep::WriteAt { file, offset: copy.end, bytes: tail.into() }];
    let durability = copy.durability;
    let mut first = header.bytes();
    if behind && durability.orders() {
        // Its first sector makes it a frame: the rest of a long header is there before.
        let cut = sector_end(copy.start, header.len());
        if let Some((start, rest)) = cut.and_then(|cut| first.split_at_checked(cut)) {
            let (offset, bytes) = (start.len() as u64, rest.to_vec().into());
            steps.push(WriteStep::WriteAt { file, offset, bytes });
            first = start;
        }
        steps.push(WriteStep::Sync { file });
    }
    steps.push(WriteStep::WriteAt { file, offset: 0, bytes: first.to_vec().into() });
    if durability.keeps() || !behind && durability.orders() {
        steps.push(WriteStep::Sync { file });
    }
    steps.push(WriteStep::Publish { sync: durability.keeps() });
    Ok((header, steps))
}

/// The compressed bytes that the header of a sparse frame names.
///
/// C-Blosc2 takes the numbers of chunk files for offsets: it refuses a frame with one above the compressed bytes less a
/// chunk header. After many updates of few small chunks the numbers are that high, so the sum is rounded up to them.
fn sparse_cbytes(commit: &Commit<'_>) -> Result<u64> {
    const CHUNK_HEADER: u64 = 32;
    let highest = commit.offsets.max_stored()?;
    Ok(commit.chunk_bytes.max(highest.map_or(0, |number| number.saturating_add(CHUNK_HEADER))))
}

/// With checksums, marks the header as written by b2nd, so that a header rewritten by another program is not taken
/// for damage.
fn sign(header: &mut FrameHeader, commit: &Commit<'_>) {
    header.sign(commit.digests.is_some());
}
