//! Reads the blocks of one chunk from the store of the array.

use super::chunk::{ChunkRead, Wanted, special_item, wanted};
use super::task::{ChunkTask, Need};
use super::visit::Visit;
use crate::error::Result;
use crate::exec::Scratch;
use crate::schunk::Place;
use std::ops::Range;

/// Announces coming reads: the blocks of this chunk, and those of later chunks, whose heads it reads into the given memory.
pub(super) type Announce<'a> = dyn Fn(Place, &[Wanted], &mut Vec<u8>) + 'a;

/// Fetches what the [`ChunkTask`] of a chunk needs.
pub(super) struct ChunkFetch<'a, V: ?Sized> {
    pub(super) read: ChunkRead<'a, V>,
    /// Announces what is read after this chunk, where the store makes readers wait.
    pub(super) ahead: Option<&'a Announce<'a>>,
}

impl<V: Visit + ?Sized> ChunkFetch<'_, V> {
    /// Reads the blocks `range` of the visit.
    pub(super) fn run(&self, range: Range<usize>, scratch: &mut Scratch) -> Result<()> {
        let place = self.read.array.schunk.place(self.read.visit.chunk())?;
        match place {
            Place::Special(kind) => {
                let item = special_item(kind, self.read.grid().itemsize(), self.read.array.schunk.limits())?;
                let mut block = std::mem::take(&mut scratch.block);
                let result = self.read.repeat(&item, range.clone(), &mut block);
                scratch.block = block;
                result?;
            }
            Place::Stored { .. } => {
                // The buffers leave the scratch while the codecs use the rest of it.
                let mut fetched = std::mem::take(&mut scratch.fetched);
                let mut block = std::mem::take(&mut scratch.block);
                let result = self.stored(place, range.clone(), &mut fetched, &mut block, scratch);
                (scratch.fetched, scratch.block) = (fetched, block);
                result?;
            }
        }
        if self.read.array.schunk.exec().has_progress() {
            let items: usize = range.map(|index| self.read.visit.items(index)).sum();
            self.read.array.schunk.exec().progress((items * self.read.visit.part().size) as u64);
        }
        Ok(())
    }

    fn stored(
        &self,
        place: Place,
        range: Range<usize>,
        fetched: &mut Vec<u8>,
        block: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let (read, schunk) = (&self.read, &self.read.array.schunk);
        let mut wanted = wanted(read.visit, range);
        if read.cached {
            read.take_cached(place, &mut wanted)?;
            if wanted.is_empty() {
                return Ok(());
            }
        }
        let origin = read.origin(place, schunk.sums(read.visit.chunk(), place)?);
        let start = schunk.first_fetch(read.grid().blocks_per_chunk());
        let mut task = ChunkTask::new(origin, wanted, start, schunk.range_costs());
        let mut ahead = self.ahead;
        while let Some(need) = task.need() {
            if let Need::Blocks(_) = need
                && let Some(ahead) = ahead.take().filter(|_| schunk.is_slow())
            {
                ahead(place, task.wanted(), fetched);
            }
            let (Need::Head(range) | Need::Blocks(range)) = need;
            let bytes = schunk.fetch(place, range.start as u64, range.len(), fetched)?;
            task.accept(read, range.start, bytes, block, scratch)?;
        }
        Ok(())
    }
}
