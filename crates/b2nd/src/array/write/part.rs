//! Chunks of which a write touches few blocks: only these are decoded and compressed again.

use super::Write;
use super::edit::Edit;
use super::stored::Stored;
use crate::chunk::ChunkHead;
use crate::chunk::DecodedBlocks;
use crate::chunk::Splice;
use crate::error::Result;
use crate::exec::Exec;
use crate::limits::resize;

impl Write<'_> {
    /// Puts the changed chunk into the place of what `out` holds, with the compressed bytes that it had but for the touched
    /// blocks. Returns whether it did: the chunk may better be compressed as a whole.
    ///
    /// `exec` has the threads for this chunk alone; `decoded` is memory for the touched blocks.
    pub(super) fn part(
        &self,
        edit: &impl Edit,
        stored: &Stored<'_>,
        exec: &Exec,
        decoded: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let Stored::Bytes(old) = stored else { return Ok(false) };
        let old = &old[..];
        let mut blocks = edit.blocks();
        blocks.sort_unstable();
        blocks.dedup();
        if self.processing.pre.is_some() || blocks.is_empty() || blocks.len() >= self.grid.blocks_per_chunk()
        {
            return Ok(false);
        }
        let (params, context) = (self.base.params(), self.base.context());
        let in_chunk = |error: crate::Error| error.in_chunk(edit.chunk());
        let head = ChunkHead::parse(old, old.len() as u64, context).map_err(in_chunk)?;
        let Some(splice) = Splice::new(old, &head, params, context)? else { return Ok(false) };
        self.change_some(edit, &splice, &blocks, exec, decoded, out).map_err(in_chunk)
    }

    /// Decodes some blocks into `decoded`, changes them, and compresses them.
    fn change_some(
        &self,
        edit: &impl Edit,
        splice: &Splice<'_>,
        numbers: &[usize],
        exec: &Exec,
        decoded: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let len = self.grid.block_bytes();
        resize("the blocks of a chunk", decoded, numbers.len() * len)?;
        splice.decode(DecodedBlocks { numbers, bytes: decoded }, exec)?;
        let start = |block| numbers.binary_search(&block).map_or(usize::MAX, |n| n * len);
        edit.change_blocks(decoded, &start)?;
        splice.encode(DecodedBlocks { numbers, bytes: decoded }, exec, out)
    }
}
