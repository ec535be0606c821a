//! Where a chunk is cut into blocks: every so many bytes, or wherever its writer liked.

use crate::error::Error;
use crate::error::Part;
use crate::error::Result;
use std::ops::Range;

/// The places of the blocks in the uncompressed chunk.
#[derive(Debug, Clone)]
pub(crate) enum Cuts {
    Regular {
        nbytes: usize,
        blocksize: usize,
    },
    /// Where each block ends.
    Variable(Vec<u32>),
}

impl Cuts {
    pub(crate) fn regular(nbytes: u32, blocksize: u32) -> Self {
        Cuts::Regular { nbytes: nbytes as usize, blocksize: blocksize as usize }
    }

    /// Blocks of these lengths, which must be `nbytes` together.
    pub(super) fn variable(
        nbytes: u32,
        nblocks: usize,
        lengths: impl Iterator<Item = Result<usize>>,
    ) -> Result<Self> {
        let mut ends = Vec::new();
        ends.try_reserve_exact(nblocks)
            .map_err(|_| Error::out_of_memory("the blocks of a chunk", nblocks as u64 * 4))?;
        let mut end = 0;
        for len in lengths {
            end += len? as u64;
            if end > u64::from(nbytes) {
                break;
            }
            ends.push(end as u32);
        }
        if end == u64::from(nbytes) {
            return Ok(Cuts::Variable(ends));
        }
        let relation = if end > u64::from(nbytes) { "more" } else { "fewer" };
        Err(Error::format(
            Part::Stream,
            None,
            format!("the blocks have {relation} bytes than the chunk, {nbytes}"),
        ))
    }

    /// The range of block `n`; empty if there is no such block.
    pub(crate) fn range(&self, n: usize) -> Range<usize> {
        match self {
            Cuts::Regular { nbytes, blocksize } => {
                let start = n.saturating_mul(*blocksize).min(*nbytes);
                start..start.saturating_add(*blocksize).min(*nbytes)
            }
            Cuts::Variable(ends) => {
                let end = |n: usize| ends.get(n).copied().unwrap_or_default() as usize;
                if n < ends.len() { n.checked_sub(1).map_or(0, end)..end(n) } else { 0..0 }
            }
        }
    }

    /// The block that holds a byte of the chunk.
    pub(crate) fn block_at(&self, byte: usize) -> usize {
        match self {
            Cuts::Regular { blocksize, .. } => byte / blocksize,
            Cuts::Variable(ends) => ends.partition_point(|&end| end as usize <= byte),
        }
    }
}
