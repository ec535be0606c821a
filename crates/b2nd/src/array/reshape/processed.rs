//! Chunks of a new shape in the hands of the user's closures: what comes in is pre-processed as in a write, once, and what
//! was there is neither processed twice nor left without its way back.

use crate::array::Array;
use crate::array::grid::Grid;
use crate::array::process::ShownChunk;
use crate::array::process::process_block;
use crate::array::process::process_chunk;
use crate::array::read::ArrayField;
use crate::array::read::chunk::special_item;
use crate::array::reshape::recipe::Incoming;
use crate::array::reshape::recipe::PieceOrigin;
use crate::array::reshape::recipe::Recipe;
use crate::array::write::FreshChunk;
use crate::chunk::BlockSource;
use crate::error::Error;
use crate::error::Result;
use crate::limits::zeroed;
use b2nd_kernel::boxes::Source;
use b2nd_kernel::boxes::copy_box;

impl Recipe<'_> {
    /// Whether chunks of incoming arrays are changed by closures on their way, so that none comes along compressed.
    pub(super) fn is_processed(&self) -> bool {
        let Incoming::Arrays(joined) = &self.incoming else { return false };
        self.processing.pre.is_some() || joined.arrays.iter().any(|a| a.schunk.processing().post.is_some())
    }

    /// Whether items of the array as it was go the way to the user's items and back; else they stay as they are stored.
    fn has_way_back(&self) -> bool {
        self.processing.pre.is_some() && self.processing.post.is_some()
    }

    /// The items of an array that a chunk is put together from.
    pub(super) fn items_of<'a>(&self, array: &'a Array, from: PieceOrigin) -> ArrayField<'a> {
        let items = array.items();
        if from == PieceOrigin::Base && !self.has_way_back() { items.as_stored() } else { items }
    }

    /// A chunk as it is to be stored, where the closure for writing has a part in it. It is made of `fresh`, whose items are
    /// in C order, `lengths` along the axes.
    pub(super) fn processed(
        &self,
        position: &[u64],
        base: Option<&Array>,
        fresh: &FreshChunk<'_>,
        lengths: &[usize],
    ) -> Result<Option<Vec<u8>>> {
        let Some(pre) = &self.processing.pre else { return Ok(None) };
        let fills = matches!(self.incoming, Incoming::Fill { .. });
        let comes = base.is_none() || self.takes_new(position);
        if !self.has_way_back() && (fills || !comes) {
            return Ok(None);
        }
        let number = self.grid.chunk_number(position.iter().copied());
        let chunk = ShownChunk { number, position };
        let mut whole = laid_out(self.grid, fresh)?;
        if self.has_way_back() {
            if fills && comes {
                // A fill is not pre-processed, so the way there and back is for what a reader sees of it.
                let mut filled = self.filled(base)?;
                let mask = self.incoming_places(position, base.is_some(), lengths)?;
                if let Some(post) = &self.processing.post {
                    process_chunk(post, self.grid, chunk, &mut filled)?;
                }
                take(&mut whole, &filled, &mask);
            }
            process_chunk(pre, self.grid, chunk, &mut whole)?;
        } else if base.is_none() || self.all_new(position) {
            process_chunk(pre, self.grid, chunk, &mut whole)?;
        } else {
            // The rest of a block has been processed.
            let mask = self.incoming_places(position, true, lengths)?;
            let mut block = zeroed("a block", self.grid.block_bytes() as u64)?;
            let len = block.len().max(1);
            for (n, (kept, mask)) in whole.chunks_exact_mut(len).zip(mask.chunks_exact(len)).enumerate() {
                if mask.iter().any(|&bits| bits != 0) {
                    block.copy_from_slice(kept);
                    process_block(pre, self.grid, chunk, n, &mut block)?;
                    take(kept, &block, mask);
                }
            }
        }
        Ok(Some(whole))
    }

    /// A chunk of the fill value.
    fn filled(&self, base: Option<&Array>) -> Result<Vec<u8>> {
        let mut filled = zeroed("a chunk", self.grid.chunk_bytes() as u64)?;
        if let (Incoming::Fill { special, value }, Some(base)) = (&self.incoming, base) {
            let item = match value {
                Some(value) => value.clone(),
                None => special_item(*special, self.grid.itemsize(), base.schunk.limits())?,
            };
            filled.chunks_exact_mut(item.len().max(1)).for_each(|at| at.copy_from_slice(&item));
        }
        Ok(filled)
    }

    /// All bits set in the places of the chunk that get items or fills which the array did not have.
    fn incoming_places(&self, position: &[u64], has_base: bool, lengths: &[usize]) -> Result<Vec<u8>> {
        let itemsize = self.grid.itemsize();
        let bytes = lengths.iter().fold(itemsize as u64, |total, &n| total.saturating_mul(n as u64));
        let mut places = zeroed("a chunk", bytes)?;
        places.fill(0xff);
        let strides = Grid::strides(lengths, itemsize);
        let still = vec![0; lengths.len()];
        let nothing = zeroed("an item", itemsize as u64)?;
        let pieces = self.pieces(position, has_base);
        for piece in pieces.iter().filter(|piece| piece.from == PieceOrigin::Base) {
            let to = piece.inside.iter().zip(&strides).map(|(&at, &stride)| at * stride).sum();
            let source = Source { bytes: &nothing, offset: 0, strides: &still };
            if !copy_box(itemsize, &piece.counts, &mut places, to, &strides, source) {
                return Err(Error::usage("the items do not fit the chunk"));
            }
        }
        let strides = strides.into_iter().map(usize::cast_signed).collect();
        laid_out(self.grid, &FreshChunk::new(self.grid, position, &places, 0, strides))
    }
}

/// A chunk block by block, in a buffer of its own.
fn laid_out(grid: &Grid, fresh: &FreshChunk<'_>) -> Result<Vec<u8>> {
    let mut whole = zeroed("a chunk", grid.chunk_bytes() as u64)?;
    let (len, mut buffer) = (grid.block_bytes(), Vec::new());
    for (n, to) in whole.chunks_exact_mut(len.max(1)).enumerate() {
        to.copy_from_slice(fresh.block(n * len..(n + 1) * len, &mut buffer)?);
    }
    Ok(whole)
}

/// Takes the bits of `from` where those of `mask` are set.
fn take(to: &mut [u8], from: &[u8], mask: &[u8]) {
    for ((to, from), mask) in to.iter_mut().zip(from).zip(mask) {
        *to = (*from & mask) | (*to & !mask);
    }
}
