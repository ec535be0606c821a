//! Chunks of which a write touches few blocks: only these are decoded and compressed again.

use super::Write;
use super::edit::Edit;
use super::queue::Stored;
use crate::chunk::ChunkHead;
use crate::chunk::Context;
use crate::chunk::Params;
use crate::chunk::Splice;
use crate::error::Result;
use crate::exec::Scratch;
use crate::limits::zeroed;

impl Write<'_> {
    /// Puts the changed chunk into the place of what `out` holds, with the compressed bytes that it had but for the touched
    /// blocks. Returns whether it did: the chunk may better be compressed as a whole. `share`: all threads would then work on it.
    pub(super) fn part(
        &self,
        edit: &impl Edit,
        stored: &Stored,
        share: bool,
        (params, context): (&Params, &Context),
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let Stored::Bytes(old) = stored else { return Ok(false) };
        let mut blocks = edit.blocks();
        blocks.sort_unstable();
        blocks.dedup();
        let threads = if share { self.exec.threads() } else { 1 };
        if self.processing.pre.is_some() || blocks.len() * threads >= self.grid.blocks_per_chunk() {
            return Ok(false);
        }
        let in_chunk = |error: crate::Error| error.in_chunk(edit.chunk());
        let head = ChunkHead::parse(old, old.len() as u64, context).map_err(in_chunk)?;
        let Some(splice) = Splice::new(old, &head, params, context)? else { return Ok(false) };
        // Of fresh zeros only the pages that are used cost anything.
        let mut whole = zeroed("a chunk", self.grid.chunk_bytes() as u64)?;
        for &block in &blocks {
            let Some(to) = whole.get_mut(head.block_range(block)) else { return Ok(false) };
            let stream = old.get(head.block_span(block)).unwrap_or_default();
            head.decode_block(block, stream, None, to, scratch).map_err(in_chunk)?;
        }
        edit.change(&mut whole)?;
        splice.encode(&blocks, &whole, scratch, out)
    }
}
