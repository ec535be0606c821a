//! A chunk in which some blocks are replaced: the others keep their compressed bytes.

use super::decoder::BlockDecoder;
use super::encode::Plan;
use super::head::ChunkHead;
use super::head::Content;
use super::header::ChunkHeader;
use super::params::Params;
use super::streams::Sink;
use crate::error::Error;
use crate::error::Result;
use crate::exec::Scratch;
use crate::registry::Context;

/// How blocks of one chunk are replaced.
pub(crate) struct Splice<'a> {
    head: &'a ChunkHead,
    old: &'a [u8],
    plan: Plan,
}

impl<'a> Splice<'a> {
    /// `None` where the blocks of the chunk `old` cannot stand beside ones that are compressed with `params`: they have other
    /// filters or another codec, or depend on each other.
    pub(crate) fn new(
        old: &'a [u8],
        head: &'a ChunkHead,
        params: &Params,
        context: &Context,
    ) -> Result<Option<Self>> {
        if head.content() != Content::Blocks || head.refers_to_first() || params.dictionary() {
            return Ok(None);
        }
        let header = head.header();
        let plan = Plan::new(header.nbytes() as usize, params, context)?;
        // A dictionary, or blocks of variable length, would show in the flags.
        let alike = ChunkHeader { cbytes: header.cbytes, ..plan.header().clone() } == *header;
        Ok(alike.then_some(Splice { head, old, plan }))
    }

    /// Decodes a block as it was.
    pub(crate) fn decode(&self, block: usize, to: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let stream = self.old.get(self.head.block_span(block)).unwrap_or_default();
        BlockDecoder::new(self.head).decode(block, stream, to, scratch)
    }

    /// Puts the new chunk into the place of what `out` holds, with the blocks `changed`, in ascending order, whose uncompressed
    /// bytes follow each other in `decoded`. Returns whether there is one: where the result gains nothing, or
    /// is nothing but zeros, the chunk is better made anew.
    pub(crate) fn encode(
        &self,
        changed: &[usize],
        decoded: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let mut sink = Sink::over(out);
        let result = self.blocks(changed, decoded, &mut sink, scratch);
        if let Ok(true) = result {
            let cbytes = sink.end() as u32;
            sink.patch(12, &cbytes.to_le_bytes());
        } else {
            sink.rewind();
        }
        result
    }

    fn blocks(
        &self,
        changed: &[usize],
        mut decoded: &[u8],
        sink: &mut Sink<'_>,
        scratch: &mut Scratch,
    ) -> Result<bool> {
        let plan = &self.plan;
        plan.put_head(sink)?;
        let body = sink.end();
        sink.set_limit(body + plan.no_gain_from());
        let mut changed = changed.iter().copied().peekable();
        for n in 0..plan.nblocks() {
            plan.note_block(n, sink.end(), sink);
            if changed.next_if_eq(&n).is_some() {
                let (block, rest) = decoded
                    .split_at_checked(plan.block_range(n).len())
                    .ok_or_else(|| Error::usage(format!("block {n} is not among those that are decoded")))?;
                if !plan.encode_block(block, None, sink, scratch)? {
                    return Ok(false);
                }
                decoded = rest;
            } else {
                // Blocks that overlap, as a forged chunk may have them, are stopped below once they are too long.
                sink.put(self.old.get(self.head.block_span(n)).unwrap_or_default())?;
            }
            if sink.end() - body >= plan.no_gain_from() {
                return Ok(false);
            }
        }
        Ok(!plan.is_all_zeros(sink.end() - body))
    }
}
