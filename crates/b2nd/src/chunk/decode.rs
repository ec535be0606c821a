//! Decoding of chunks that are in memory: whole, or any range of their bytes, on all the threads that are given.

use super::cuts::Cuts;
use super::decoder::BlockDecoder;
use super::head::ChunkHead;
use super::head::Content;
use super::special;
use crate::codec::Codec;
use crate::error::Error;
use crate::error::Part;
use crate::error::Result;
use crate::exec::Exec;
use crate::exec::Scratch;
use crate::limits::zeroed;
use crate::registry::Context;
use std::mem::take;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::PoisonError;

/// The bytes of a stored chunk that are copied at a time.
const COPIED_BYTES: usize = 128 << 10;

/// The bytes that a thread copies or fills before it looks whether the call was cancelled.
const PART_BYTES: usize = 1 << 20;

/// Decompresses a whole chunk, on the threads of `exec`.
///
/// Bytes behind the chunk are left alone. `context` is what surrounds the chunk: a [`Context`], or the limits alone; that of
/// a frame is [`SChunk::context`](crate::schunk::FrameState::context).
///
/// ```
/// use b2nd::{Exec, Limits, Params};
/// use b2nd::chunk::{decode, encode};
/// let chunk = encode(b"some bytes, some bytes, and some more bytes", &Params::new(1), &Exec::new(1))?;
/// let bytes = decode(&chunk, &Limits::default(), &Exec::new(1))?;
/// assert_eq!(bytes, b"some bytes, some bytes, and some more bytes");
/// # Ok::<(), b2nd::Error>(())
/// ```
pub fn decode(chunk: &[u8], context: impl Into<Context>, exec: &Exec) -> Result<Vec<u8>> {
    let head = ChunkHead::parse(chunk, chunk.len() as u64, &context.into())?;
    let mut dst = zeroed("a decompressed chunk", u64::from(head.header().nbytes()))?;
    decode_parsed(&head, chunk, &mut dst, exec)?;
    Ok(dst)
}

/// Decompresses a whole chunk into `dst`, which has exactly its uncompressed size; `context` as in [`decode`].
///
/// ```
/// use b2nd::{Exec, Limits, Params};
/// use b2nd::chunk::{decode_into, encode};
/// let chunk = encode(&[3; 100], &Params::new(1), &Exec::new(1))?;
/// let mut bytes = [0; 100];
/// decode_into(&chunk, &mut bytes, &Limits::default(), &Exec::new(1))?;
/// assert_eq!(bytes, [3; 100]);
/// # Ok::<(), b2nd::Error>(())
/// ```
pub fn decode_into(chunk: &[u8], dst: &mut [u8], context: impl Into<Context>, exec: &Exec) -> Result<()> {
    let head = ChunkHead::parse(chunk, chunk.len() as u64, &context.into())?;
    let nbytes = head.header().nbytes() as usize;
    if dst.len() != nbytes {
        return Err(Error::length(
            nbytes,
            dst.len(),
            format!("the chunk holds {nbytes} bytes, and there is room for {}", dst.len()),
        ));
    }
    decode_parsed(&head, chunk, dst, exec)
}

/// Decompresses `dst.len()` bytes from uncompressed position `start` on, touching only the blocks that hold them; `context` as in
/// [`decode`].
///
/// ```
/// use b2nd::{Exec, Limits, Params};
/// use b2nd::chunk::{decode_range, encode};
/// let bytes: Vec<u8> = (0..100).collect();
/// let chunk = encode(&bytes, &Params::new(1), &Exec::new(1))?;
/// let mut few = [0; 3];
/// decode_range(&chunk, 40, &mut few, &Limits::default(), &Exec::new(1))?;
/// assert_eq!(few, [40, 41, 42]);
/// # Ok::<(), b2nd::Error>(())
/// ```
pub fn decode_range(
    chunk: &[u8],
    start: usize,
    dst: &mut [u8],
    context: impl Into<Context>,
    exec: &Exec,
) -> Result<()> {
    let head = ChunkHead::parse(chunk, chunk.len() as u64, &context.into())?;
    let nbytes = head.header().nbytes() as usize;
    let end = start.checked_add(dst.len()).filter(|end| *end <= nbytes).ok_or_else(|| {
        Error::out_of_bounds(
            start.saturating_add(dst.len()),
            nbytes,
            format!("{} bytes from {start} on are not inside the chunk of {nbytes} bytes", dst.len()),
        )
    })?;
    match head.content() {
        Content::Repeat(item) => fill(item, start, dst, exec),
        Content::Raw => {
            let header = head.header().header_len();
            copy_raw(chunk, header + start..header + end, dst, exec)
        }
        Content::Blocks => decode_blocks(&head, chunk, start, dst, exec),
    }
}

fn decode_parsed(head: &ChunkHead, chunk: &[u8], dst: &mut [u8], exec: &Exec) -> Result<()> {
    match head.content() {
        // Zeros in fresh memory are there already, but `dst` may be the caller's.
        Content::Repeat(item) => fill(item, 0, dst, exec),
        Content::Raw => {
            let header = head.header().header_len();
            copy_raw(chunk, header..header + dst.len(), dst, exec)
        }
        Content::Blocks => decode_blocks(head, chunk, 0, dst, exec),
    }
}

/// Fills `dst` with a repeated item, beginning `start` bytes into the repetition.
fn fill(item: &[u8], start: usize, dst: &mut [u8], exec: &Exec) -> Result<()> {
    in_parts(dst, exec, |at, part| special::fill(part, item, start + at))
}

fn copy_raw(chunk: &[u8], from: Range<usize>, dst: &mut [u8], exec: &Exec) -> Result<()> {
    let from = chunk
        .get(from)
        .ok_or_else(|| Error::format(Part::Stream, chunk.len() as u64, "the stored chunk is cut off"))?;
    in_parts(dst, exec, |at, part| {
        // In pieces, because the system's copy bypasses the caches for longer ones.
        let from = from.get(at..).unwrap_or_default().chunks(COPIED_BYTES);
        for (to, from) in part.chunks_mut(COPIED_BYTES).zip(from) {
            to.copy_from_slice(from.get(..to.len()).unwrap_or_default());
        }
    })
}

/// Does `work` for parts of `dst`, each with its place in it, on all the threads that pay; tells the progress hook.
fn in_parts(dst: &mut [u8], exec: &Exec, work: impl Fn(usize, &mut [u8]) + Sync) -> Result<()> {
    let bytes = dst.len() as u64;
    if dst.len() < 2 * PART_BYTES || exec.threads() == 1 {
        for (n, part) in dst.chunks_mut(PART_BYTES).enumerate() {
            exec.check_cancelled()?;
            work(n * PART_BYTES, part);
        }
        exec.progress(bytes);
        return Ok(());
    }
    let parts: Vec<_> = dst.chunks_mut(PART_BYTES).map(Mutex::new).collect();
    // A copy is about as quick as LZ4.
    exec.run(parts.len(), Codec::Lz4.effort_to_read(bytes), |_, n| {
        let Some(part) = parts.get(n) else { return Ok(()) };
        let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
        work(n * PART_BYTES, &mut part);
        exec.progress(part.len() as u64);
        Ok(())
    })
}

/// Decodes the blocks of the `dst.len()` bytes from `start` on, each to its part of `dst`.
fn decode_blocks(head: &ChunkHead, chunk: &[u8], start: usize, dst: &mut [u8], exec: &Exec) -> Result<()> {
    if dst.is_empty() {
        return Ok(());
    }
    let cuts = head.cuts(chunk)?;
    let (first, last) = (cuts.block_at(start), cuts.block_at(start + dst.len() - 1));
    let mut decoder = BlockDecoder::new(head);
    let Some(span) = decoder.missing_reference(last) else {
        return DecodeJob { decoder: &decoder, chunk, cuts: &cuts, start, exec }.run(first, last, dst);
    };
    if start == 0 {
        // The first block is decoded in place, where the other threads can read it.
        let (reference, rest) = dst.split_at_mut(cuts.range(0).len().min(dst.len()));
        DecodeJob { decoder: &decoder, chunk, cuts: &cuts, start, exec }.run(0, 0, reference)?;
        let decoder = BlockDecoder::with_reference(head, reference);
        return DecodeJob { decoder: &decoder, chunk, cuts: &cuts, start: reference.len(), exec }
            .run(1, last, rest);
    }
    let stream = chunk.get(span).unwrap_or_default();
    exec.with_scratch(|scratch| decoder.supply_reference(stream, scratch))?;
    let result = DecodeJob { decoder: &decoder, chunk, cuts: &cuts, start, exec }.run(first, last, dst);
    exec.with_scratch(|scratch| decoder.release(scratch));
    result
}

struct DecodeJob<'a> {
    decoder: &'a BlockDecoder<'a, &'a ChunkHead>,
    chunk: &'a [u8],
    cuts: &'a Cuts,
    /// Where the destination is in the uncompressed chunk.
    start: usize,
    exec: &'a Exec,
}

impl DecodeJob<'_> {
    /// Decodes the blocks from `from` to `to` (included), which are those of `dst`.
    fn run(&self, from: usize, to: usize, dst: &mut [u8]) -> Result<()> {
        let bytes = dst.len() as u64;
        if from == to || self.exec.threads() == 1 {
            let mut rest = dst;
            return self.exec.with_scratch(|scratch| {
                (from..=to).try_for_each(|n| {
                    self.exec.check_cancelled()?;
                    let (part, after) = take(&mut rest).split_at_mut(self.part(n, bytes));
                    rest = after;
                    self.block(n, part, scratch)
                })
            });
        }
        let mut parts = Vec::with_capacity(to - from + 1);
        let mut rest = dst;
        for n in from..=to {
            let (part, after) = take(&mut rest).split_at_mut(self.part(n, bytes));
            rest = after;
            parts.push(Mutex::new(part));
        }
        let effort = self.decoder.head().header().codec().map_or(bytes, |codec| codec.effort_to_read(bytes));
        self.exec.run(parts.len(), effort, |scratch, task| {
            let Some(part) = parts.get(task) else { return Ok(()) };
            let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
            self.block(from + task, &mut part, scratch)
        })
    }

    /// How many of the `bytes` from the start of the destination on are in block `n`.
    fn part(&self, n: usize, bytes: u64) -> usize {
        let block = self.cuts.range(n);
        let end = self.start + bytes as usize;
        block.end.min(end) - block.start.max(self.start).min(end)
    }

    /// Decodes the part of block `n` that is in the destination.
    fn block(&self, n: usize, dst: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let stream = self.chunk.get(self.decoder.head().block_span(n)).unwrap_or_default();
        let block = self.cuts.range(n);
        let skip = self.start.saturating_sub(block.start);
        self.decoder.decode_part(n, block.len(), stream, skip, dst, scratch)?;
        self.exec.progress(dst.len() as u64);
        Ok(())
    }
}
