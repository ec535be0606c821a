//! Decodes everything and says what cannot be read, by chunk, block and array region.

use crate::array::Array;
use crate::array::read::misfit::has_blocks_of;
use crate::error::Error;
use crate::error::Result;
use crate::schunk::walk::{self, Chunks, DamagedBlock};
use crate::schunk::{Damage, FrameState, Verified};
use std::ops::Range;

impl Array {
    /// Decodes every block, and checks it where there are checksums. Damage is listed by blocks, or by chunks where no block can
    /// be found, in order; chunks that follow one another and are damaged alike are one entry.
    ///
    /// Chunks that the index puts in the same place are decoded once. Memory: blocks, and at most 16 bytes for each stored chunk.
    ///
    /// Without damage all items can be read. That they are right is known of chunks that match their checksums: most codecs
    /// do not notice a flipped bit that leaves their stream well-formed.
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("<f8")?, [10, 10])?;
    /// assert!(a.verify()?.is_sound());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// What is not the file's fault: [`Error::Cancelled`], [`Error::OutOfMemory`], [`Error::Limit`], and [`Error::Io`]
    /// unless a chunk file is missing or short.
    pub fn verify(&self) -> Result<Verified> {
        walk::verify(self)
    }

    /// The damage of some chunks, or of some blocks of the one chunk, whose items alone (`own`) are lost then.
    pub(crate) fn damage_at(
        &self,
        chunks: Range<u64>,
        blocks: Option<Range<u32>>,
        own: bool,
        error: Error,
    ) -> Damage {
        let (start, stop) = match &blocks {
            Some(blocks) if own && blocks.len() == 1 => {
                let position = self.grid.chunk_position(chunks.start);
                self.grid.block_box(&position, &self.grid.block_position(blocks.start as usize))
            }
            _ => self.box_of(&chunks),
        };
        Damage::new(chunks, blocks, start, stop, error.at(self.schunk.path()))
    }

    /// The smallest box of items that holds some chunks which follow one another.
    fn box_of(&self, chunks: &Range<u64>) -> (Vec<u64>, Vec<u64>) {
        let last = chunks.end.saturating_sub(1).max(chunks.start);
        let (first, last) = (self.grid.chunk_position(chunks.start), self.grid.chunk_position(last));
        let (mut start, _) = self.grid.chunk_box(&first);
        let (_, mut stop) = self.grid.chunk_box(&last);
        let common = first.iter().zip(&last).take_while(|(one, other)| one == other).count();
        // Behind the axis along which they go on, whole rows are among them.
        start.iter_mut().skip(common.saturating_add(1)).for_each(|start| *start = 0);
        stop.iter_mut()
            .zip(self.grid.shape())
            .skip(common.saturating_add(1))
            .for_each(|(stop, len)| *stop = *len);
        (start, stop)
    }
}

impl Chunks for Array {
    fn schunk(&self) -> &FrameState {
        &self.schunk
    }
    fn due(&self, _: u64) -> Option<u32> {
        Some(u32::try_from(self.grid.chunk_bytes()).unwrap_or(u32::MAX))
    }
    fn nblocks(&self) -> usize {
        self.grid.blocks_per_chunk()
    }
    fn damage(&self, chunks: Range<u64>, block: Option<DamagedBlock<'_>>, error: Error) -> Damage {
        // In the oldest files a block of the chunk is no box of the array, and with delta all blocks need the first: all
        // of the chunk is in doubt.
        let own = block.is_some_and(|DamagedBlock { number, head }| {
            has_blocks_of(head, &self.grid) && !(number == 0 && head.refers_to_first())
        });
        self.damage_at(chunks, block.map(DamagedBlock::range), own, error)
    }
}
