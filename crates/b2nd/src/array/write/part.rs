//! Chunks of which a write touches few blocks: only these are decoded and compressed again.

use super::Write;
use super::edit::Edit;
use super::stored::Stored;
use crate::chunk::ChunkHead;
use crate::chunk::Context;
use crate::chunk::Params;
use crate::chunk::Splice;
use crate::error::Result;
use crate::exec::Scratch;
use crate::limits::resize;

impl Write<'_> {
    /// Puts the changed chunk into the place of what `out` holds, with the compressed bytes that it had but for the touched
    /// blocks. Returns whether it did: the chunk may better be compressed as a whole. `share`: all threads would then work on it.
    pub(super) fn part(
        &self,
        edit: &impl Edit,
        stored: &Stored<'_>,
        share: bool,
        (params, context): (&Params, &Context),
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let Stored::Bytes(old) = stored else { return Ok(false) };
        let old = &old[..];
        let mut blocks = edit.blocks();
        blocks.sort_unstable();
        blocks.dedup();
        let threads = if share { self.exec.threads() } else { 1 };
        if self.processing.pre.is_some()
            || blocks.is_empty()
            || blocks.len() * threads >= self.grid.blocks_per_chunk()
        {
            return Ok(false);
        }
        let in_chunk = |error: crate::Error| error.in_chunk(edit.chunk());
        let head = ChunkHead::parse(old, old.len() as u64, context).map_err(in_chunk)?;
        let Some(splice) = Splice::new(old, &head, params, context)? else { return Ok(false) };
        let mut decoded = std::mem::take(&mut scratch.block);
        let result = self.change_some(edit, &splice, &blocks, &mut decoded, scratch, out);
        scratch.block = decoded;
        result.map_err(in_chunk)
    }

    /// Decodes some blocks into `decoded`, changes them, and compresses them.
    fn change_some(
        &self,
        edit: &impl Edit,
        splice: &Splice<'_>,
        blocks: &[usize],
        decoded: &mut Vec<u8>,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let bytes = self.grid.block_bytes();
        resize("the blocks of a chunk", decoded, blocks.len() * bytes)?;
        for (&block, to) in blocks.iter().zip(decoded.chunks_exact_mut(bytes)) {
            splice.decode(block, to, scratch)?;
        }
        edit.change_blocks(decoded, &|block| blocks.binary_search(&block).map_or(usize::MAX, |n| n * bytes))?;
        splice.encode(blocks, decoded, scratch, out)
    }
}
