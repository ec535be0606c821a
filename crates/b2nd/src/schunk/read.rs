//! Items out of a super-chunk: chunks, blocks, ranges and single items. Only the blocks that hold them are read.

use super::snapshot::{FrameState, Place};
use crate::chunk;
use crate::chunk::{ChunkHead, Content, Cuts, Start};
use crate::error::{Error, Part, Result};
use crate::exec::{Exec, Scratch};
use crate::frame::ChunkSizes;
use crate::io::{Merged, RangeCosts, merge_ranges};
use crate::limits::{Limits, zeroed};
use std::iter::Peekable;
use std::mem::take;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The least that the first read of a chunk asks for: header, block offsets, and with luck a small chunk whole.
const FIRST_FETCH: usize = 4 << 10;
/// Single items that lie closer than this are read as one range, in bytes: about a block.
const GATHER_GAP: u64 = 32 << 10;
/// The most that is read at a time for single items, in bytes.
const GATHER_BYTES: u64 = 32 << 20;

/// The most chunks of which items are read at a time.
const BATCH_CHUNKS: usize = 1 << 15;

/// Neighbouring items in one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ItemRun {
    pub(super) chunk: u64,
    /// Where they are in the chunk, in bytes.
    pub(super) start: usize,
    /// Their offset in the result, in bytes.
    pub(super) at: usize,
    pub(super) len: usize,
}

impl FrameState {
    /// Decompresses chunk `n`.
    ///
    /// ```
    /// use b2nd::Params;
    /// use b2nd::schunk::CreateOptions;
    /// let mut schunk = CreateOptions::new(Params::new(1)).create_in_memory()?;
    /// schunk.append(b"one chunk")?;
    /// assert_eq!(schunk.decompress_chunk(0)?, b"one chunk");
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] where there is no such chunk; [`Error::Format`] when it is damaged; [`Error::Limit`]
    /// when it is larger than the limits allow.
    pub fn decompress_chunk(&self, n: u64) -> Result<Vec<u8>> {
        let nbytes = u64::from(self.nbytes_of_chunk(n)?);
        Limits::check("a decompressed chunk", nbytes, self.limits().max_chunk_bytes())?;
        let mut items = zeroed("a decompressed chunk", nbytes)?;
        self.read_pieces(&[ItemRun { chunk: n, start: 0, at: 0, len: items.len() }], &mut items, true)?;
        Ok(items)
    }

    /// The number of items.
    pub fn nitems(&self) -> u64 {
        self.nbytes() / u64::from(self.header.params().typesize())
    }

    /// The bytes of items `range`, on all threads; only the blocks that hold them are read.
    ///
    /// ```
    /// use b2nd::Params;
    /// use b2nd::schunk::CreateOptions;
    /// let mut schunk = CreateOptions::new(Params::new(2)).with_chunksize(8).create_in_memory()?;
    /// schunk.extend(&(0..10u16).flat_map(u16::to_le_bytes).collect::<Vec<u8>>())?;
    /// assert_eq!(schunk.read_items(3..6)?, [3, 0, 4, 0, 5, 0]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] for items that are not there; [`Error::Format`] when a chunk is damaged;
    /// [`Error::Limit`] when the result or a chunk is larger than the limits allow.
    pub fn read_items(&self, range: Range<u64>) -> Result<Vec<u8>> {
        let count = range.end.saturating_sub(range.start);
        let nbytes = count.saturating_mul(u64::from(self.header.params().typesize()));
        if range.start > range.end || range.end > self.nitems() {
            let (start, end, nitems) = (range.start, range.end, self.nitems());
            return Err(Error::out_of_bounds(end, nitems, format!("items {start} to {end} of {nitems}")));
        }
        Limits::check("the items", nbytes, self.limits().max_read_bytes())?;
        let mut items = zeroed("the items", nbytes)?;
        self.read_items_into(range.start, &mut items)?;
        Ok(items)
    }

    /// As [`FrameState::read_items`], into memory of the caller: as many whole items as it has room for.
    ///
    /// # Errors
    /// As [`FrameState::read_items`], and [`Error::NotWhole`] for room for half an item.
    pub fn read_items_into(&self, start: u64, items: &mut [u8]) -> Result<()> {
        self.read_span(start, items, true)
    }

    /// Reads all items from `start` on that `items` has room for; `process`: through the closure for reading.
    pub(super) fn read_span(&self, start: u64, items: &mut [u8], process: bool) -> Result<()> {
        let typesize = u64::from(self.header.params().typesize());
        self.check_span(start, items.len() as u64)?;
        let (mut rest, mut at) = (items, start);
        while !rest.is_empty() {
            // Bounds the batch: a tiny index can name very many tiny chunks, and each costs more memory than it holds.
            let count = self.items_of_batch(at)?.max(1).min(rest.len() as u64 / typesize);
            let len = usize::try_from(count.saturating_mul(typesize)).unwrap_or(usize::MAX).min(rest.len());
            let (now, later) = take(&mut rest).split_at_mut(len);
            self.read_pieces(&self.pieces(at, len as u64)?, now, process)?;
            (rest, at) = (later, at.saturating_add(count));
        }
        Ok(())
    }

    /// Number of items from item `at` on that one batch of chunks holds.
    fn items_of_batch(&self, at: u64) -> Result<u64> {
        let typesize = u64::from(self.header.params().typesize());
        if let ChunkSizes::Fixed(size) = self.header.chunk_sizes() {
            return Ok(u64::from(size).saturating_mul(BATCH_CHUNKS as u64) / typesize);
        }
        let (ends, from) = (self.ends()?, at.saturating_mul(typesize));
        let first = ends.partition_point(|end| *end <= from);
        let end = ends.get(first.saturating_add(BATCH_CHUNKS)).copied().unwrap_or(self.nbytes());
        Ok(end.saturating_sub(from) / typesize)
    }

    /// The bytes that `len` bytes from item `start` on are, where they are items that are there.
    fn check_span(&self, start: u64, len: u64) -> Result<Range<u64>> {
        let typesize = u64::from(self.header.params().typesize());
        if !len.is_multiple_of(typesize) {
            return Err(Error::not_whole(
                typesize,
                len,
                format!("{len} bytes are not whole items of {typesize} bytes"),
            ));
        }
        let from = start.checked_mul(typesize);
        let to = from.and_then(|from| from.checked_add(len)).filter(|to| *to <= self.nbytes());
        let (Some(from), Some(to)) = (from, to) else {
            let (count, nitems) = (len / typesize, self.nitems());
            return Err(Error::out_of_bounds(
                start.saturating_add(count),
                nitems,
                format!("{count} items from {start} on are requested, and the frame has {nitems}"),
            ));
        };
        Ok(from..to)
    }

    /// The bytes of single items, in the order of `numbers`, which may repeat. Each block is decompressed once for
    /// neighbours in that order.
    ///
    /// ```
    /// use b2nd::Params;
    /// use b2nd::schunk::CreateOptions;
    /// let mut schunk = CreateOptions::new(Params::new(1)).with_chunksize(3).create_in_memory()?;
    /// schunk.extend(b"abcdefgh")?;
    /// assert_eq!(schunk.gather_items(&[7, 0, 0, 4])?, b"haae");
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`FrameState::read_items`].
    pub fn gather_items(&self, numbers: &[u64]) -> Result<Vec<u8>> {
        let typesize = self.header.params().typesize() as usize;
        let nbytes = (numbers.len() as u64).saturating_mul(typesize as u64);
        Limits::check("the items", nbytes, self.limits().max_read_bytes())?;
        let mut items = zeroed("the items", nbytes)?;
        // In the order of the frame, so that items of one block come together.
        let mut order: Vec<(u64, usize)> = Vec::new();
        order.try_reserve_exact(numbers.len()).map_err(|_| Error::out_of_memory("the items", nbytes))?;
        order.extend(numbers.iter().copied().zip(0..));
        order.sort_unstable();
        let per = |bytes: u64| (bytes / typesize as u64).max(1);
        let costs = RangeCosts::new(per(GATHER_GAP).saturating_sub(1), per(GATHER_BYTES));
        let spans = order.iter().map(|(number, _)| *number..number.saturating_add(1));
        let mut merged = merge_ranges(spans, costs).peekable();
        let mut rest = &order[..];
        while !rest.is_empty() {
            let (taken, ranges) = next_ranges(&mut merged, costs.most);
            let (now, later) = rest.split_at_checked(taken).unwrap_or((rest, &[]));
            rest = later;
            let count: u64 = ranges.iter().map(|range| range.end - range.start).sum();
            let mut found = zeroed("the items", count.saturating_mul(typesize as u64))?;
            let (mut pieces, mut at) = (Vec::new(), 0);
            for range in &ranges {
                let len = (range.end - range.start).saturating_mul(typesize as u64);
                let placed = self.pieces(range.start, len)?.into_iter();
                pieces.extend(placed.map(|piece| ItemRun { at: piece.at + at, ..piece }));
                at += len as usize;
            }
            self.read_pieces(&pieces, &mut found, true)?;
            let (mut ranges, mut at) = (ranges.into_iter(), 0);
            let mut range = ranges.next().unwrap_or(0..0);
            for (number, to) in now {
                while *number >= range.end {
                    at += (range.end - range.start) as usize;
                    range = ranges.next().unwrap_or(0..u64::MAX);
                }
                let from = (at + (number - range.start) as usize) * typesize;
                let item = found.get(from..from + typesize);
                if let (Some(item), Some(place)) = (item, items.get_mut(to * typesize..(to + 1) * typesize)) {
                    place.copy_from_slice(item);
                }
            }
        }
        Ok(items)
    }

    /// In which chunks `len` bytes from item `start` on are.
    pub(super) fn pieces(&self, start: u64, len: u64) -> Result<Vec<ItemRun>> {
        let Range { start: from, end: to } = self.check_span(start, len)?;
        let (mut pieces, mut at) = (Vec::new(), from);
        let size = match self.header.chunk_sizes() {
            ChunkSizes::Fixed(size) => Some(u64::from(size)),
            _ => None,
        };
        let ends = if size.is_none() { self.ends()? } else { &[] };
        let mut chunk = match size {
            Some(size) => from / size,
            None => ends.partition_point(|end| *end <= from) as u64,
        };
        while at < to {
            let (first, end) = match size {
                Some(size) => (chunk * size, (chunk + 1) * size),
                None => {
                    let end = |n: usize| ends.get(n).copied().unwrap_or(to);
                    let n = chunk as usize;
                    (if n == 0 { 0 } else { end(n - 1) }, end(n))
                }
            };
            let end = end.min(to);
            pieces.try_reserve(1).map_err(|_| Error::out_of_memory("the chunks to read", len))?;
            let (start, len) = ((at - first) as usize, (end - at) as usize);
            if len > 0 {
                pieces.push(ItemRun { chunk, start, at: (at - from) as usize, len });
            }
            at = end;
            chunk += 1;
        }
        Ok(pieces)
    }

    /// Where each chunk ends in the uncompressed bytes, of a frame whose chunks differ in size.
    fn ends(&self) -> Result<&[u64]> {
        if let Some(ends) = self.ends.get() {
            return Ok(ends);
        }
        let mut ends = Vec::new();
        let count = usize::try_from(self.nchunks()).unwrap_or(usize::MAX);
        ends.try_reserve_exact(count)
            .map_err(|_| Error::out_of_memory("the sizes of the chunks", self.nchunks().saturating_mul(8)))?;
        let mut end = 0u64;
        for n in 0..self.nchunks() {
            self.exec.check_cancelled()?;
            end = end.saturating_add(u64::from(self.nbytes_of_chunk(n)?));
            if end > self.nbytes() {
                break;
            }
            ends.push(end);
        }
        if end != self.nbytes() {
            let more = if end > self.nbytes() { " or more" } else { "" };
            let reason = format!("{} uncompressed bytes, and the chunks have {end}{more}", self.nbytes());
            return Err(self.located(Error::format(Part::FrameHeader, 29, reason)));
        }
        Ok(self.ends.get_or_init(|| ends))
    }

    /// Reads pieces that follow each other in `items`, on all threads; `process`: through the closure for reading.
    pub(super) fn read_pieces(&self, pieces: &[ItemRun], items: &mut [u8], process: bool) -> Result<()> {
        let total = items.len() as u64;
        let pieces = self.cut(pieces)?;
        let mut tasks = Vec::new();
        tasks
            .try_reserve_exact(pieces.len())
            .map_err(|_| Error::out_of_memory("the chunks to read", total))?;
        let mut rest = items;
        for piece in pieces {
            let (part, after) = take(&mut rest).split_at_mut(piece.len);
            rest = after;
            tasks.push((piece, Mutex::new(part)));
        }
        // Each decodes a block at least, of some KiB.
        let decoded = total.max((tasks.len() as u64).saturating_mul(4 << 10));
        let effort = self.params().codec().effort_to_read(decoded);
        self.exec.run(tasks.len(), effort, |scratch, n| {
            let Some((piece, part)) = tasks.get(n) else { return Ok(()) };
            let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
            let mut fetched = take(&mut scratch.fetched);
            let result = match self.post().filter(|_| process) {
                Some(post) => {
                    self.read_processed(post, piece.chunk, piece.start, &mut part, scratch, &mut fetched)
                }
                None => self.read_stored_part(piece.chunk, piece.start, &mut part, scratch, &mut fetched),
            };
            scratch.fetched = fetched;
            self.exec.progress(piece.len as u64);
            result
        })
    }

    /// Cuts pieces at block borders if there are too few for all threads.
    fn cut(&self, pieces: &[ItemRun]) -> Result<Vec<ItemRun>> {
        let threads = self.exec.threads();
        if threads < 2 || pieces.len() >= threads {
            return Ok(pieces.to_vec());
        }
        let mut parts = Vec::new();
        for piece in pieces {
            let place = self.place(piece.chunk)?;
            let block = match place {
                Place::Special(_) => piece.len,
                Place::Stored { .. } => {
                    let header = self.chunk_header(piece.chunk, place)?;
                    if header.is_variable() { piece.len } else { header.blocksize() as usize }
                }
            };
            let block = block.max(1);
            let step = piece.len.div_ceil(threads).div_ceil(block).max(1).saturating_mul(block);
            let end = piece.start + piece.len;
            let mut start = piece.start;
            while start < end {
                let next = (start - start % block).saturating_add(step).min(end);
                parts.push(ItemRun {
                    start,
                    at: piece.at + (start - piece.start),
                    len: next - start,
                    ..*piece
                });
                start = next;
            }
        }
        Ok(parts)
    }

    /// Reads the bytes of a chunk from `start` on, as they are stored.
    pub(super) fn read_stored_part(
        &self,
        n: u64,
        start: usize,
        items: &mut [u8],
        scratch: &mut Scratch,
        fetched: &mut Vec<u8>,
    ) -> Result<()> {
        let place = self.place(n)?;
        let read = match place {
            Place::Special(_) => {
                let chunk = self.chunk(n)?;
                chunk::decode_range(&chunk, start, items, &self.context, &Exec::new(1))
            }
            Place::Stored { .. } => self.read_stored(n, place, start, items, scratch, fetched),
        };
        read.map_err(|error| self.located(error.in_chunk(n)))
    }

    fn read_stored(
        &self,
        n: u64,
        place: Place,
        start: usize,
        items: &mut [u8],
        scratch: &mut Scratch,
        fetched: &mut Vec<u8>,
    ) -> Result<()> {
        let head = self.read_head(n, place, self.chunk_nbytes(n), 0, fetched)?;
        let inside = start.checked_add(items.len()).is_some_and(|end| end <= head.header().nbytes() as usize);
        if !inside {
            return Err(Error::out_of_bounds(
                start.saturating_add(items.len()),
                head.header().nbytes(),
                format!("{} bytes from {start} on are outside the chunk", items.len()),
            ));
        }
        match head.content() {
            Content::Repeat(_) => {
                let chunk = self.fetch(place, 0, head.header().cbytes() as usize, fetched)?;
                chunk::decode_range(chunk, start, items, &self.context, &Exec::new(1))
            }
            // Bytes that are checked come in whole blocks.
            Content::Raw if !head.has_sums() => {
                let at = head.header().header_len() + start;
                items.copy_from_slice(self.fetch(place, at as u64, items.len(), fetched)?);
                Ok(())
            }
            Content::Blocks if head.header().is_variable() => {
                // Lengths of variable blocks are stored in the blocks themselves.
                let chunk = self.fetch(place, 0, head.header().cbytes() as usize, fetched)?;
                head.check_blocks(chunk)?;
                chunk::decode_range(chunk, start, items, &self.context, &self.exec.single())
            }
            Content::Raw | Content::Blocks => self.read_blocks(place, &head, start, items, scratch, fetched),
        }
    }

    /// Reads the bytes of a chunk from `start` on, whose blocks have the size that its head says.
    fn read_blocks(
        &self,
        place: Place,
        head: &ChunkHead,
        start: usize,
        items: &mut [u8],
        scratch: &mut Scratch,
        fetched: &mut Vec<u8>,
    ) -> Result<()> {
        let Some(last) = items.len().checked_sub(1).and_then(|len| start.checked_add(len)) else {
            return Ok(());
        };
        let cuts = Cuts::regular(head.header().nbytes(), head.header().blocksize());
        let blocks = cuts.block_at(start)..cuts.block_at(last).saturating_add(1);
        let mut rest = items;
        self.each_stream(place, head, blocks, fetched, scratch, |decoder, n, stream, scratch| {
            let block = cuts.range(n);
            let skip = start.saturating_sub(block.start);
            let len = block.len().saturating_sub(skip).min(rest.len());
            let (part, after) = take(&mut rest).split_at_mut(len);
            rest = after;
            decoder.decode_part(n, block.len(), stream, skip, part, scratch)
        })
    }

    /// How many bytes the first read of a chunk of `nblocks` blocks asks for.
    pub(crate) fn first_fetch(&self, nblocks: usize) -> usize {
        nblocks.saturating_mul(4).saturating_add(32).max(FIRST_FETCH)
    }

    /// Fetches and checks the header and block offsets of chunk `n`, which is stored, of `due` uncompressed bytes (where that is known)
    /// and about `nblocks` blocks.
    pub(crate) fn read_head(
        &self,
        n: u64,
        place: Place,
        due: Option<u32>,
        nblocks: usize,
        fetched: &mut Vec<u8>,
    ) -> Result<ChunkHead> {
        let Place::Stored { available, .. } = place else {
            return Err(Error::usage("a special chunk has no header"));
        };
        let mut got = usize::try_from(available).unwrap_or(usize::MAX).min(self.first_fetch(nblocks));
        let sums = self.sums(n, place)?;
        // A dictionary is known by its length only when that length was fetched.
        loop {
            let bytes = self.fetch(place, 0, got, fetched)?;
            match ChunkHead::from_start(bytes, available, due, sums.as_ref(), &self.context)? {
                Start::Head(head) => return Ok(head),
                Start::Longer(len) => got = len,
            }
        }
    }
}

/// The next ranges of a gather, with at most `most` items in all, and the number of wanted items in them.
fn next_ranges(merged: &mut Peekable<impl Iterator<Item = Merged>>, most: u64) -> (usize, Vec<Range<u64>>) {
    let (mut taken, mut ranges, mut left) = (0usize, Vec::new(), most);
    let len = |range: &Range<u64>| range.end.saturating_sub(range.start);
    while let Some(Merged { count, range }) =
        merged.next_if(|next| ranges.is_empty() || len(&next.range) <= left)
    {
        taken = taken.saturating_add(count);
        left = left.saturating_sub(len(&range));
        ranges.push(range);
    }
    (taken, ranges)
}
