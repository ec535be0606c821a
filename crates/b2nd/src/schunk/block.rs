//! Single blocks of stored chunks: fetched as the store prefers, and decoded one after the other.

use super::snapshot::{FrameState, Place};
use crate::chunk;
use crate::chunk::{BlockDecoder, ChunkHead};
use crate::error::{Error, Result};
use crate::exec::Scratch;
use crate::io::{Merged, merge_ranges};
use crate::limits::zeroed;
use std::ops::Range;

impl FrameState {
    /// The uncompressed bytes of block `block` of chunk `n`, fetching little more of a stored chunk than that. For chunks whose
    /// blocks have lengths of their own as well; [`ChunkHeader::nblocks`](chunk::ChunkHeader::nblocks) says how many there are.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().with_chunks([8]).with_blocks([4]).create_in_memory(Dtype::parse("|u1")?, [8])?;
    /// a.write_bytes(s![], &[1, 2, 3, 4, 5, 6, 7, 8])?;
    /// assert_eq!(a.schunk().decompress_block(0, 1)?, [5, 6, 7, 8]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] where there is no such chunk or block, [`Error::Format`] where it is damaged.
    pub fn decompress_block(&self, n: u64, block: usize) -> Result<Vec<u8>> {
        let place = self.place(n)?;
        let read = || match place {
            Place::Special(_) => chunk::decode_block(&self.chunk(n)?, block, &self.context, &self.exec),
            Place::Stored { .. } => {
                let mut fetched = Vec::new();
                let head = self.read_head(n, place, self.chunk_nbytes(n), 0, &mut fetched)?;
                head.check_has_block(block)?;
                let mut bytes = Vec::new();
                self.exec.with_scratch(|scratch| {
                    let blocks = std::iter::once(block);
                    self.each_stream(
                        place,
                        &head,
                        blocks,
                        &mut fetched,
                        scratch,
                        |decoder, n, stream, scratch| {
                            bytes = zeroed("a block", head.decoded_len(n, stream)? as u64)?;
                            decoder.decode(n, stream, &mut bytes, scratch)
                        },
                    )
                })?;
                Ok(bytes)
            }
        };
        let mut bytes = read().map_err(|error: Error| self.located(error.in_chunk(n)))?;
        if let Some(post) = self.post() {
            self.give_block(post, n, block, self.old_cuts(n)?.range(block), &mut bytes)?;
        }
        Ok(bytes)
    }

    /// Fetches the `blocks` of a stored chunk and calls `work` with the decoder of the chunk, the number and the stream of each.
    ///
    /// Blocks that lie close together are fetched at once, as the [`RangeCosts`](crate::io::RangeCosts) of the store allow.
    /// The decoder has the reference block where a block needs it.
    pub(crate) fn each_stream<'h>(
        &self,
        place: Place,
        head: &'h ChunkHead,
        blocks: impl Iterator<Item = usize> + Clone,
        fetched: &mut Vec<u8>,
        scratch: &mut Scratch,
        mut work: impl FnMut(&BlockDecoder<'_, &'h ChunkHead>, usize, &[u8], &mut Scratch) -> Result<()>,
    ) -> Result<()> {
        let mut decoder = BlockDecoder::new(head);
        let mut others = blocks.clone().filter(|_| head.refers_to_first());
        let reference = others.find_map(|n| decoder.missing_reference(n));
        let span = |n: usize| {
            let span = head.block_span(n);
            span.start as u64..span.end as u64
        };
        let mut rest = blocks.clone();
        let mut runs = merge_ranges(blocks.map(span), self.range_costs()).peekable();
        if let Some(block) = &reference {
            // The reference block is read with the first run if that contains it.
            let lies_in =
                |run: &Merged| run.range.start <= block.start as u64 && block.end as u64 <= run.range.end;
            if !runs.peek().is_some_and(lies_in) {
                let stream = self.fetch(place, block.start as u64, block.len(), fetched)?;
                decoder.supply_reference(stream, scratch)?;
            }
        }
        for run in runs {
            let (start, len) = run.start_and_len();
            let streams = self.fetch(place, start, len, fetched)?;
            let stream = |span: Range<u64>| {
                let (from, to) = (span.start.wrapping_sub(start), span.end.wrapping_sub(start));
                streams.get(from as usize..to as usize).unwrap_or_default()
            };
            if let Some(block) = reference.clone().filter(|_| decoder.decoded(0).is_none()) {
                decoder.supply_reference(stream(block.start as u64..block.end as u64), scratch)?;
            }
            for n in rest.by_ref().take(run.count) {
                self.exec.check_cancelled()?;
                work(&decoder, n, stream(span(n)), scratch)?;
            }
        }
        decoder.release(scratch);
        Ok(())
    }
}
