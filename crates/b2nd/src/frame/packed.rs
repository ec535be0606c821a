//! Chunk offsets in stored form: one compressed chunk, whose blocks are decoded when an offset in them is needed.

use super::offsets::as_index_error;
use crate::chunk::{BlockDecoder, ChunkHead, Content};
use crate::error::{Error, Part, Result};
use crate::exec::{ForkMutex, Scratch};
use crate::limits::{Limits, zeroed};
use crate::registry::Context;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Decoded bytes that are kept for good; every lookup in them is free of locks.
const KEPT_BYTES: usize = 8 << 20;
/// Decoded blocks that are kept besides, the one used last in front: of more than one, as many bytes as are kept for good.
const RECENT: usize = 4;
/// A block of this many bytes is decoded whole, whatever the size of the index. Of a larger one this much is decoded, where its
/// codec and filters allow it.
const BLOCK_BYTES: u64 = 8 << 20;
/// A larger block is decoded whole if it has at most this many bytes for each compressed byte of the index.
const BLOCK_RATIO: u64 = 4;
/// The least that is decoded of a block that is not decoded whole.
const START_BYTES: usize = 64 << 10;

/// The offsets of a block, decoded.
type Block = Arc<[i64]>;

/// Compressed chunk offsets with a bounded cache of decoded blocks.
pub(crate) struct PackedOffsets {
    /// The index chunk.
    chunk: Vec<u8>,
    head: ChunkHead,
    len: u64,
    per_block: u64,
    /// Whether blocks are too large to be decoded whole: a chunk of few bytes can claim one block of 512 MiB.
    oversize: bool,
    /// Blocks that are kept for good, up to [`KEPT_BYTES`].
    kept: Vec<OnceLock<Block>>,
    /// The decoded bytes of the blocks in `kept`.
    kept_bytes: AtomicUsize,
    /// Locked while a block is decoded, so that threads do not decode the same one. A forked child that inherited the lock as
    /// taken decodes without it.
    recent: ForkMutex<Recent>,
}

#[derive(Default)]
struct Recent {
    blocks: VecDeque<(usize, Block)>,
    /// The start of an oversize block.
    start: Option<(usize, Block)>,
    scratch: Scratch,
}

impl Recent {
    /// Block `n`, which becomes the one used last.
    fn find(&mut self, n: usize) -> Option<Block> {
        let at = self.blocks.iter().position(|(number, _)| *number == n)?;
        let found = self.blocks.remove(at)?;
        let block = Arc::clone(&found.1);
        self.blocks.push_front(found);
        Some(block)
    }
}

impl PackedOffsets {
    /// Parses the index chunk; `None` if its blocks cannot be decoded one by one.
    ///
    /// # Errors
    /// [`Error::Format`] when the chunk is damaged.
    pub(super) fn new(chunk: &[u8], limits: &Limits) -> Result<Option<Self>> {
        let limits = limits.clone().with_max_chunk_bytes(limits.max_index_bytes());
        let context = Context::new(limits);
        let head = ChunkHead::parse(chunk, chunk.len() as u64, &context).map_err(as_index_error)?;
        let header = head.header();
        if let Content::Repeat(value) = head.content() {
            // One of 8 bytes is one offset for all chunks; nothing else means anything, and there are no blocks behind it.
            let reason = format!("a value of {} bytes, repeated", value.len());
            return Err(Error::format(Part::Offsets, None, reason));
        }
        let block = u64::from(header.blocksize());
        let oversize = block.min(u64::from(header.nbytes())) > most_bytes(chunk);
        if header.is_variable() || block == 0 || !block.is_multiple_of(8) {
            return Ok(None);
        }
        let mut kept = Vec::new();
        let refused = |_| Error::out_of_memory("the chunk offsets", head.nblocks() as u64);
        kept.try_reserve_exact(head.nblocks()).map_err(refused)?;
        kept.resize_with(head.nblocks(), OnceLock::new);
        let mut bytes = Vec::new();
        let refused = |_| Error::out_of_memory("the chunk offsets", chunk.len() as u64);
        bytes.try_reserve_exact(chunk.len()).map_err(refused)?;
        bytes.extend_from_slice(chunk);
        Ok(Some(PackedOffsets {
            chunk: bytes,
            len: u64::from(header.nbytes()) / 8,
            per_block: block / 8,
            oversize,
            head,
            kept,
            kept_bytes: AtomicUsize::new(0),
            recent: ForkMutex::default(),
        }))
    }

    /// The number of chunks.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The index chunk.
    pub(super) fn chunk(&self) -> &[u8] {
        &self.chunk
    }

    /// The number of blocks.
    pub(super) fn nblocks(&self) -> usize {
        self.kept.len()
    }

    /// The number of offsets in a block; the last may have fewer.
    pub(super) fn per_block(&self) -> u64 {
        self.per_block
    }

    /// The stored value of chunk `n`, which is there.
    pub(super) fn raw(&self, n: u64) -> Result<i64> {
        let block =
            n.checked_div(self.per_block).and_then(|block| usize::try_from(block).ok()).unwrap_or(usize::MAX);
        let at = n.checked_rem(self.per_block).and_then(|at| usize::try_from(at).ok()).unwrap_or(usize::MAX);
        let find = |block: &Block| block.get(at).copied();
        let found = match self.kept.get(block).and_then(OnceLock::get) {
            Some(block) => find(block),
            None if self.oversize => find(&self.start(block, at)?),
            None => find(&self.block(block)?),
        };
        found.ok_or_else(|| Error::format(Part::Offsets, None, format!("there is none for chunk {n}")))
    }

    /// The start of block `n`, at least up to its offset `at`.
    fn start(&self, n: usize, at: usize) -> Result<Block> {
        let needed = at.saturating_add(1).saturating_mul(8);
        Limits::check("a block of the chunk offsets", needed as u64, BLOCK_BYTES)?;
        let mut recent = self.recent.lock();
        if let Some((number, start)) = recent.as_ref().and_then(|recent| recent.start.as_ref())
            && *number == n
            && at < start.len()
        {
            return Ok(Arc::clone(start));
        }
        let len = needed.next_power_of_two().max(START_BYTES).min(self.head.block_len(n));
        let mut bytes = zeroed("chunk offsets", len as u64)?;
        let stream = self.chunk.get(self.head.block_span(n)).unwrap_or_default();
        let mut own = Scratch::default();
        let scratch = recent.as_mut().map_or(&mut own, |recent| &mut recent.scratch);
        let decoded = BlockDecoder::new(&self.head).decode_start(n, stream, &mut bytes, scratch);
        if !decoded.map_err(as_index_error)? {
            Limits::check("a block of the chunk offsets", self.per_block.saturating_mul(8), BLOCK_BYTES)?;
        }
        let start = offsets_of(&bytes);
        if let Some(recent) = &mut recent {
            recent.start = Some((n, Arc::clone(&start)));
        }
        Ok(start)
    }

    /// The offsets of block `n`.
    ///
    /// # Errors
    /// [`Error::Format`] when it is damaged; [`Error::Limit`] when it is out of proportion to the stored index.
    pub(super) fn block(&self, n: usize) -> Result<Block> {
        if let Some(block) = self.kept.get(n).and_then(OnceLock::get) {
            return Ok(Arc::clone(block));
        }
        if self.oversize {
            Limits::check("a block of the chunk offsets", self.per_block.saturating_mul(8), BLOCK_BYTES)?;
        }
        let mut recent = self.recent.lock();
        if let Some(block) = recent.as_mut().and_then(|recent| recent.find(n)) {
            return Ok(block);
        }
        let first = match n {
            1.. if self.head.refers_to_first() => {
                drop(recent);
                let first = self.block(0)?;
                recent = self.recent.lock();
                Some(first.iter().flat_map(|raw| raw.to_le_bytes()).collect::<Vec<u8>>())
            }
            _ => None,
        };
        let mut own = Scratch::default();
        let scratch = recent.as_mut().map_or(&mut own, |recent| &mut recent.scratch);
        let block = self.decode(n, first.as_deref().unwrap_or_default(), scratch)?;
        if !self.keep(n, &block)
            && let Some(mut recent) = recent
        {
            let room =
                KEPT_BYTES.checked_div(block.len().saturating_mul(8)).unwrap_or(RECENT).clamp(1, RECENT);
            recent.blocks.truncate(room.saturating_sub(1));
            recent.blocks.push_front((n, Arc::clone(&block)));
        }
        Ok(block)
    }

    /// Keeps a decoded block permanently, if there is room for it.
    fn keep(&self, n: usize, block: &Block) -> bool {
        let Some(place) = self.kept.get(n) else { return false };
        let bytes = block.len().saturating_mul(8);
        let add = |kept: usize| kept.checked_add(bytes).filter(|kept| *kept <= KEPT_BYTES);
        if self.kept_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_err() {
            return false;
        }
        if place.set(Arc::clone(block)).is_err() {
            // Another thread has kept the block meanwhile.
            self.kept_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
        true
    }

    /// Decodes block `n`; `first` is the decoded first block, where it refers to that.
    fn decode(&self, n: usize, first: &[u8], scratch: &mut Scratch) -> Result<Block> {
        let mut bytes = zeroed("chunk offsets", self.head.block_len(n) as u64)?;
        let stream = self.chunk.get(self.head.block_span(n)).unwrap_or_default();
        BlockDecoder::with_reference(&self.head, first)
            .decode(n, stream, &mut bytes, scratch)
            .map_err(as_index_error)?;
        Ok(offsets_of(&bytes))
    }
}

/// The most bytes of a block that is decoded whole, of an index stored in `chunk`.
fn most_bytes(chunk: &[u8]) -> u64 {
    BLOCK_BYTES.max(BLOCK_RATIO.saturating_mul(chunk.len() as u64))
}

fn offsets_of(bytes: &[u8]) -> Block {
    bytes.as_chunks::<8>().0.iter().map(|raw| i64::from_le_bytes(*raw)).collect()
}

impl std::fmt::Debug for PackedOffsets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} offsets in {} compressed bytes", self.len, self.chunk.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{self, Params};
    use crate::codec::Codec;
    use crate::exec::Exec;
    use crate::filter::Pipeline;
    use crate::frame::Offsets;

    fn of_forked_child(chunk: &[u8]) -> PackedOffsets {
        let mut packed = PackedOffsets::new(chunk, &Limits::default()).unwrap().unwrap();
        packed.recent.pretend_forked();
        packed
    }

    /// Reads offsets, which are squares, on another thread while this one holds the lock.
    fn assert_read(packed: &PackedOffsets, numbers: std::ops::Range<u64>) {
        let _held = packed.recent.lock().unwrap();
        let read =
            || numbers.for_each(|n| assert_eq!(packed.raw(n).unwrap(), n.saturating_mul(n).cast_signed()));
        std::thread::scope(|scope| scope.spawn(read).join().unwrap());
    }

    #[test]
    fn a_forked_child_that_inherits_the_lock_decodes_without_it() {
        let offsets = Offsets::Each((0..5000i64).map(|n| n * n).collect());
        let chunk = offsets.encode(&Exec::new(1)).unwrap();
        let packed = of_forked_child(&chunk);
        assert_read(&packed, 0..5000);
        assert!(
            packed.kept.iter().all(|block| block.get().is_some()),
            "blocks are kept for good all the same"
        );
        let packed = of_forked_child(&chunk);
        packed.kept_bytes.store(KEPT_BYTES, Ordering::Relaxed);
        assert_read(&packed, 0..20);
        assert!(packed.kept.iter().all(|block| block.get().is_none()));
    }

    #[test]
    fn a_forked_child_that_inherits_the_lock_decodes_the_start_of_a_block_without_it() {
        let bytes: Vec<u8> = (0..50_000i64).flat_map(|n| (n * n).to_le_bytes()).collect();
        let params = Params::new(8)
            .with_codec(Codec::Lz4)
            .with_pipeline(Pipeline::none())
            .with_blocksize(Some(4 * u32::try_from(START_BYTES).unwrap()));
        let mut packed = of_forked_child(&chunk::encode(&bytes, &params, &Exec::new(1)).unwrap());
        packed.oversize = true;
        assert_read(&packed, 0..20);
        assert!(packed.kept.iter().all(|block| block.get().is_none()));
    }
}
