//! Reads and writes the streams of one block. Each stream: an `i32` length, then the payload.
//!
//! ```text
//! 0            n zeros, nothing follows          n            n bytes as they are
//! -255 .. -1   n times that byte, negated;       1 .. n - 1   so many compressed bytes
//!              one token byte follows, bit 0 set
//! ```
//!
//! `n` is the uncompressed length, from the block. Independent of filters and of block offsets.

use crate::codec;
use crate::codec::Engine;
use crate::error::Error;
use crate::error::Part;
use crate::error::Result;
use crate::filter::grown;
use b2nd_kernel::runs;

/// The token of a run.
const TOKEN_RUN: u8 = 1;

fn wrong(offset: usize, reason: impl Into<String>) -> Error {
    Error::format(Part::Stream, offset as u64, reason)
}

/// Reads the streams at the start of `bytes`, `streams` of them, each for its part of `dst`.
pub(super) fn read(
    engine: &Engine,
    bytes: &[u8],
    streams: usize,
    dst: &mut [u8],
    state: &mut codec::CodecState,
) -> Result<()> {
    let n = dst.len() / streams.max(1);
    if n == 0 || n * streams != dst.len() {
        return Err(wrong(0, format!("{} bytes cannot be split into {streams} streams", dst.len())));
    }
    let mut rest = bytes;
    for part in dst.chunks_exact_mut(n) {
        let offset = bytes.len() - rest.len();
        rest = read_one(engine, rest, offset, part, state)?;
    }
    Ok(())
}

/// Reads the same part from the start of each of the streams at the start of `bytes`, `streams` of them, which stand for `whole`
/// bytes altogether. What follows these parts is not looked at.
pub(super) fn read_starts(
    engine: &Engine,
    bytes: &[u8],
    streams: usize,
    whole: usize,
    dst: &mut [u8],
    state: &mut codec::CodecState,
) -> Result<()> {
    let (n, part) = (whole / streams.max(1), dst.len() / streams.max(1));
    if part == 0 || part > n || n * streams != whole || part * streams != dst.len() {
        return Err(wrong(
            0,
            format!("{} of {whole} bytes cannot be split into {streams} streams", dst.len()),
        ));
    }
    let mut rest = bytes;
    for to in dst.chunks_exact_mut(part) {
        let offset = bytes.len() - rest.len();
        rest = read_part(engine, rest, offset, to, n, state)?;
    }
    Ok(())
}

/// Reads one stream, `offset` bytes into its block; returns what follows it.
fn read_one<'a>(
    engine: &Engine,
    bytes: &'a [u8],
    offset: usize,
    dst: &mut [u8],
    state: &mut codec::CodecState,
) -> Result<&'a [u8]> {
    let n = dst.len();
    read_part(engine, bytes, offset, dst, n, state)
}

/// Reads the start of one stream that stands for `whole` bytes, or all of it.
fn read_part<'a>(
    engine: &Engine,
    bytes: &'a [u8],
    offset: usize,
    dst: &mut [u8],
    whole: usize,
    state: &mut codec::CodecState,
) -> Result<&'a [u8]> {
    let cut = || wrong(offset, "the stream does not end inside the chunk");
    let (size, rest) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
    let size = i32::from_le_bytes(*size);
    if size == 0 {
        dst.fill(0);
        return Ok(rest);
    }
    if let Ok(len) = usize::try_from(size) {
        if len > whole {
            return Err(wrong(offset, format!("{len} compressed bytes for {whole}")));
        }
        let (stream, rest) = rest.split_at_checked(len).ok_or_else(cut)?;
        if len == whole {
            dst.copy_from_slice(stream.get(..dst.len()).unwrap_or_default());
        } else if dst.len() == whole {
            engine.decompress(stream, dst, state)?;
        } else {
            engine.decompress_start(stream, dst, whole, state)?;
        }
        return Ok(rest);
    }
    let byte = u8::try_from(size.unsigned_abs())
        .map_err(|_| wrong(offset, format!("{size} is not a valid length of a stream")))?;
    match rest.split_first() {
        Some((token, rest)) if token & TOKEN_RUN != 0 => {
            dst.fill(byte);
            Ok(rest)
        }
        Some((token, _)) => Err(wrong(offset, format!("{token} is not a valid token of a run"))),
        None => Err(cut()),
    }
}

/// Output for streams: the end of a buffer whose memory is not cleared before it is written. Bytes of the buffer
/// past that end are from an earlier use, and are cut off when this is dropped.
pub(super) struct Sink<'a> {
    buffer: &'a mut Vec<u8>,
    /// The position behind the last byte written.
    end: usize,
    /// A stream that would end here or later is not written.
    limit: usize,
}

impl<'a> Sink<'a> {
    /// A sink that overwrites the contents of `buffer`.
    pub(super) fn over(buffer: &'a mut Vec<u8>) -> Self {
        Sink { buffer, end: 0, limit: usize::MAX }
    }
    /// Sets the length from which output is not worth writing.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }
    /// Whether a stream of `len` bytes would be too long.
    fn is_full(&self, len: usize) -> bool {
        self.end + 4 + len >= self.limit
    }
    /// The position behind the last byte written.
    pub(super) fn end(&self) -> usize {
        self.end
    }
    /// Discards what was written.
    pub(super) fn rewind(&mut self) {
        self.rewind_to(0);
    }
    /// Forgets what was written from `end` on.
    pub(super) fn rewind_to(&mut self, end: usize) {
        self.end = end.min(self.end);
    }
    /// All of the buffer, resized to `len` bytes, to be overwritten: its contents are unspecified.
    pub(super) fn again(&mut self, len: usize) -> Result<&mut [u8]> {
        reserve(self.buffer, len)?;
        self.buffer.resize(len, 0);
        self.end = len;
        Ok(self.buffer)
    }
    /// Makes room for `len` bytes more, and not for many more than that.
    pub(super) fn expect(&mut self, len: usize) -> Result<()> {
        reserve(self.buffer, self.end + len)
    }
    /// Like [`expect`](Self::expect), if the size of the chunk is unknown: growing by half keeps the copies few.
    fn grow(&mut self, len: usize) -> Result<()> {
        if self.buffer.capacity() - self.end < len { self.expect(len.max(self.end / 2)) } else { Ok(()) }
    }
    /// Appends bytes.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let there = (self.buffer.len() - self.end).min(bytes.len());
        let (over, behind) = bytes.split_at(there);
        self.buffer[self.end..][..there].copy_from_slice(over);
        if !behind.is_empty() {
            self.grow(bytes.len())?;
            self.buffer.extend_from_slice(behind);
        }
        self.end += bytes.len();
        Ok(())
    }
    /// Appends a stream with its length.
    fn put_stream(&mut self, bytes: &[u8]) -> Result<()> {
        self.put(&(bytes.len() as u32).to_le_bytes())?;
        self.put(bytes)
    }
    /// Appends a block as `streams` streams that are not compressed.
    pub(super) fn put_streams(&mut self, block: &[u8], streams: usize) -> Result<()> {
        split(block, streams).try_for_each(|part| self.put_stream(part))
    }
    /// The `len` bytes after the end, to be written in place, if the buffer has them: their contents are unspecified.
    fn room(&mut self, len: usize) -> Option<&mut [u8]> {
        self.buffer.get_mut(self.end..self.end + len)
    }
    /// Overwrites bytes that are written already.
    pub(super) fn patch(&mut self, start: usize, bytes: &[u8]) {
        if let Some(to) = self.buffer[..self.end].get_mut(start..start + bytes.len()) {
            to.copy_from_slice(bytes);
        }
    }
}

impl Drop for Sink<'_> {
    fn drop(&mut self) {
        self.buffer.truncate(self.end);
    }
}

/// Parameters for the streams of a block.
#[derive(Debug, Clone)]
pub(super) struct Coder {
    pub(super) engine: Engine,
    pub(super) clevel: u8,
    /// Whether runs may be written.
    pub(super) runs: bool,
}

impl Coder {
    /// Writes `block` as `streams` streams; `aside` is working memory. `false`: up to the sink's limit only.
    pub(super) fn write(
        &self,
        block: &[u8],
        streams: usize,
        sink: &mut Sink<'_>,
        aside: &mut Vec<u8>,
        state: &mut codec::CodecState,
    ) -> Result<bool> {
        for part in split(block, streams) {
            if !self.write_one(part, sink, aside, state)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn write_one(
        &self,
        part: &[u8],
        sink: &mut Sink<'_>,
        aside: &mut Vec<u8>,
        state: &mut codec::CodecState,
    ) -> Result<bool> {
        if self.runs
            && let Some(byte) = runs::uniform(part)
        {
            sink.put(&(-i32::from(byte)).to_le_bytes())?;
            if byte != 0 {
                sink.put(&[TOKEN_RUN])?;
            }
            return Ok(true);
        }
        // A result as long as the data would be read as the data itself, so it gets no room.
        let most = part.len() - 1;
        let (mut packed, mut in_place) = (None, false);
        if !self.engine.spares(self.clevel, part, state) {
            // If the buffer has no initialised memory left, the stream is compressed elsewhere and copied: clearing
            // memory for the longest result would take longer.
            let to = match sink.room(4 + most) {
                Some(room) => {
                    in_place = true;
                    &mut room[4..]
                }
                None => grown(aside, most, "a compressed stream")?,
            };
            packed = self.engine.compress(self.clevel, part, to, state)?.filter(|len| *len > 0);
        }
        let len = packed.unwrap_or(part.len());
        if sink.is_full(len) {
            return Ok(false);
        }
        match packed {
            Some(len) if in_place => {
                sink.put(&(len as u32).to_le_bytes())?;
                sink.end += len;
            }
            Some(len) => sink.put_stream(&aside[..len])?,
            None => sink.put_stream(part)?,
        }
        Ok(true)
    }
}

/// The parts of a block that are streams of their own.
fn split(block: &[u8], streams: usize) -> std::slice::ChunksExact<'_, u8> {
    block.chunks_exact((block.len() / streams.max(1)).max(1))
}

/// Makes `buffer` large enough for `len` bytes, whatever it holds, and not for many more.
pub(super) fn reserve(buffer: &mut Vec<u8>, len: usize) -> Result<()> {
    let more = len.saturating_sub(buffer.len());
    buffer.try_reserve_exact(more).map_err(|_| Error::out_of_memory("a chunk", len as u64))
}
