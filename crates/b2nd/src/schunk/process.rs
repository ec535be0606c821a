//! Closures that change the bytes of blocks: before they are compressed, and after they are decompressed.

use super::hooks::{BlockPlace, Hook};
use super::snapshot::{FrameState, Place};
use crate::chunk::{ChunkHead, Cuts, Params};
use crate::error::{Error, Result};
use crate::exec::Scratch;
use crate::limits::zeroed;
use std::borrow::Cow;
use std::ops::Range;

/// Calls the closures of a super-chunk without an array. Arrays call them with the position of each block.
impl FrameState {
    fn pre(&self) -> Option<&Hook> {
        self.processing.pre.as_ref().filter(|_| self.context.block_shape().is_none())
    }
    pub(super) fn post(&self) -> Option<&Hook> {
        self.processing.post.as_ref().filter(|_| self.context.block_shape().is_none())
    }

    /// Pre-processes `items`, which are all of chunk `n`.
    pub(super) fn pre_processed<'a>(&self, n: u64, items: &'a [u8]) -> Result<Cow<'a, [u8]>> {
        let Some(pre) = self.pre() else { return Ok(Cow::Borrowed(items)) };
        let mut whole = copied(items)?;
        self.give_blocks(pre, n, &self.new_cuts(items.len()), 0..items.len(), &mut whole)?;
        Ok(Cow::Owned(whole))
    }

    /// Pre-processes chunk `n` after `items` replace a part of it from `start` on, possibly past its end;
    /// `whole` is its stored content.
    pub(super) fn pre_processed_part(
        &self,
        n: u64,
        whole: &mut Vec<u8>,
        start: usize,
        items: &[u8],
    ) -> Result<()> {
        let span = start..start.saturating_add(items.len());
        let more = span.end.saturating_sub(whole.len());
        whole.try_reserve_exact(more).map_err(|_| Error::out_of_memory("a chunk", span.end as u64))?;
        let put = |whole: &mut Vec<u8>| {
            whole.resize(whole.len().max(span.end), 0);
            if let Some(place) = whole.get_mut(span.clone()) {
                place.copy_from_slice(items);
            }
        };
        let Some(pre) = self.pre() else {
            put(whole);
            return Ok(());
        };
        if let Some(post) = self.post() {
            // Post-processes, changes and pre-processes again, which leaves items that are not written unchanged.
            self.give_blocks(post, n, &self.old_cuts(n)?, 0..whole.len(), whole)?;
            put(whole);
            return self.give_blocks(pre, n, &self.new_cuts(whole.len()), 0..whole.len(), whole);
        }
        // Without a closure for reading, only written items may be processed: the others have been already.
        let mut processed = copied(whole)?;
        processed.try_reserve_exact(more).map_err(|_| Error::out_of_memory("a chunk", span.end as u64))?;
        put(&mut processed);
        self.give_blocks(pre, n, &self.new_cuts(processed.len()), span.clone(), &mut processed)?;
        whole.resize(processed.len(), 0);
        if let (Some(to), Some(from)) = (whole.get_mut(span.clone()), processed.get(span.clone())) {
            to.copy_from_slice(from);
        }
        Ok(())
    }

    /// Reads the bytes of chunk `n` from `start` on and gives the blocks that have them to `post`, each of them whole.
    pub(super) fn read_processed(
        &self,
        post: &Hook,
        n: u64,
        start: usize,
        items: &mut [u8],
        scratch: &mut Scratch,
        fetched: &mut Vec<u8>,
    ) -> Result<()> {
        let Some(last) = items.len().checked_sub(1) else { return Ok(()) };
        let cuts = self.old_cuts(n)?;
        let (first, last) = (cuts.block_at(start), cuts.block_at(start.saturating_add(last)));
        let span = cuts.range(first).start..cuts.range(last).end;
        let mut blocks = zeroed("the blocks to process", span.len() as u64)?;
        self.read_stored_part(n, span.start, &mut blocks, scratch, fetched)?;
        for block in first..=last {
            let range = cuts.range(block);
            let bytes = blocks.get_mut(range.start - span.start..range.end - span.start).unwrap_or_default();
            self.give_block(post, n, block, range, bytes)?;
        }
        let found = blocks.get(start - span.start..).and_then(|tail| tail.get(..items.len()));
        items.copy_from_slice(found.ok_or_else(|| Error::usage("a read past the end of a chunk"))?);
        Ok(())
    }

    /// Gives the blocks that have bytes of `span` to a closure.
    fn give_blocks(
        &self,
        hook: &Hook,
        n: u64,
        cuts: &Cuts,
        span: Range<usize>,
        whole: &mut [u8],
    ) -> Result<()> {
        let mut block = cuts.block_at(span.start);
        loop {
            let range = cuts.range(block);
            if range.is_empty() || range.start >= span.end {
                return Ok(());
            }
            self.give_block(hook, n, block, range.clone(), whole.get_mut(range).unwrap_or_default())?;
            block += 1;
        }
    }

    /// Calls a closure with one block.
    pub(super) fn give_block(
        &self,
        hook: &Hook,
        n: u64,
        block: usize,
        range: Range<usize>,
        bytes: &mut [u8],
    ) -> Result<()> {
        let typesize = self.header.params().typesize() as usize;
        let (start, stop) = ((range.start / typesize) as u64, range.end.div_ceil(typesize) as u64);
        let place = BlockPlace {
            chunk: n,
            block,
            offset: range.start,
            start: &[start],
            stop: &[stop],
            shape: &[stop - start],
            typesize,
        };
        hook(&place, bytes)
    }

    /// How a chunk of `nbytes` will be cut.
    fn new_cuts(&self, nbytes: usize) -> Cuts {
        let nbytes = u32::try_from(nbytes).unwrap_or(u32::MAX);
        Cuts::regular(nbytes, self.params.effective_blocksize(nbytes).max(1))
    }

    /// The blocks of chunk `n`.
    pub(super) fn old_cuts(&self, n: u64) -> Result<Cuts> {
        let place = self.place(n)?;
        if let Place::Special(_) = place {
            let params = Params::new(self.header.params().typesize());
            let nbytes = self.nbytes_of_chunk(n)?;
            let params = params.with_blocksize(self.header.params().blocksize());
            return Ok(Cuts::regular(nbytes, params.effective_blocksize(nbytes).max(1)));
        }
        let header = self.chunk_header(n, place)?;
        if !header.is_variable() {
            return Ok(Cuts::regular(header.nbytes(), header.blocksize().max(1)));
        }
        let chunk = self.chunk(n)?;
        ChunkHead::parse(&chunk, chunk.len() as u64, &self.context)?.cuts(&chunk)
    }
}

fn copied(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = zeroed("a chunk", bytes.len() as u64)?;
    copy.copy_from_slice(bytes);
    Ok(copy)
}
