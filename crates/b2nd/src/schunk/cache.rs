//! A bounded cache of decompressed blocks, shared by the threads that read one handle.
//!
//! The key of a block has the offset of its chunk as well as its numbers. A changed chunk is stored elsewhere, so a write
//! makes no entry stale. Offsets are reused after a rollback or a new list of chunks, which clear the cache, and
//! when dead bytes are overwritten, which drops their entries.

use crate::exec::ForkMutex;
use crate::frame::plan::FileId;
use crate::schunk::Place;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::MutexGuard;

/// What an entry costs besides its block: its key twice, its slot, and the spare room of both tables.
const ENTRY_BYTES: u64 = 256;

/// Size and hits of a block cache, from [`SChunk::block_cache`](crate::schunk::FrameState::block_cache).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CacheUse {
    /// The most bytes that it may use.
    pub capacity: u64,
    /// The bytes that it takes: the blocks, and 256 for each.
    pub bytes: u64,
    /// Blocks in it.
    pub blocks: u64,
    /// Number of reads of a block that found it in the cache.
    pub hits: u64,
    /// Blocks that were looked for and decoded.
    pub misses: u64,
}

/// Which block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BlockKey {
    chunk: u64,
    file: FileId,
    offset: u64,
    block: usize,
}

impl BlockKey {
    /// The key of a block of a stored chunk.
    pub(crate) fn new(chunk: u64, place: Place, block: usize) -> Option<Self> {
        match place {
            Place::Stored { file, offset, .. } => Some(BlockKey { chunk, file, offset, block }),
            Place::Special(_) => None,
        }
    }
}

/// The cache of one handle. It holds post-processed blocks, as readers see them.
#[derive(Debug, Default)]
pub(crate) struct BlockCache {
    capacity: u64,
    clock: ForkMutex<Clock>,
}

/// Blocks in a circle (CLOCK eviction): a hand goes round and evicts blocks not used since it last passed.
#[derive(Debug, Default)]
struct Clock {
    slots: Vec<Slot>,
    places: HashMap<BlockKey, usize>,
    /// The highest chunk offset among the cached blocks.
    highest: u64,
    hand: usize,
    bytes: u64,
    hits: u64,
    misses: u64,
}

#[derive(Debug)]
struct Slot {
    key: BlockKey,
    block: Arc<Vec<u8>>,
    used: bool,
}

fn cost(block: &[u8]) -> u64 {
    (block.len() as u64).saturating_add(ENTRY_BYTES)
}

impl BlockCache {
    /// A cache of `capacity` bytes; 0: none.
    pub(crate) fn new(capacity: u64) -> Self {
        BlockCache { capacity, clock: ForkMutex::default() }
    }

    /// Whether a read of `blocks` blocks of `block_bytes` uses the cache: not if it would evict everything.
    pub(crate) fn admits(&self, blocks: u64, block_bytes: usize) -> bool {
        self.capacity > 0 && blocks.saturating_mul(block_bytes as u64 + ENTRY_BYTES) <= self.capacity
    }

    /// `None` in a forked child that inherited the lock as taken: it does without the cache.
    fn lock(&self) -> Option<MutexGuard<'_, Clock>> {
        self.clock.lock()
    }

    pub(crate) fn get(&self, key: BlockKey) -> Option<Arc<Vec<u8>>> {
        self.lock()?.get(key)
    }

    pub(crate) fn put(&self, key: BlockKey, block: Arc<Vec<u8>>) {
        if cost(&block) <= self.capacity
            && let Some(mut clock) = self.lock()
        {
            clock.put(key, block, self.capacity);
        }
    }

    pub(crate) fn clear(&self) {
        // Where the lock cannot be had, the blocks cannot be read either.
        let Some(mut clock) = self.lock() else { return };
        *clock = Clock { hits: clock.hits, misses: clock.misses, ..Clock::default() };
    }

    /// Drops the blocks of chunks that started between these bytes of the frame.
    pub(crate) fn forget(&self, bytes: Range<u64>) {
        let Some(mut clock) = self.lock() else { return };
        // A frame that grows puts its chunks behind all others: these need no look at all blocks for each chunk.
        if bytes.start <= clock.highest {
            clock.forget(|key| key.file == FileId::Frame && bytes.contains(&key.offset));
        }
    }

    pub(crate) fn usage(&self) -> CacheUse {
        let Some(clock) = self.lock() else { return CacheUse::default() };
        let (blocks, capacity) = (clock.slots.len() as u64, self.capacity);
        CacheUse { capacity, bytes: clock.bytes, blocks, hits: clock.hits, misses: clock.misses }
    }
}

impl Clock {
    fn get(&mut self, key: BlockKey) -> Option<Arc<Vec<u8>>> {
        let found = self.places.get(&key).and_then(|&n| self.slots.get_mut(n));
        let Some(slot) = found else {
            self.misses += 1;
            return None;
        };
        slot.used = true;
        self.hits += 1;
        Some(slot.block.clone())
    }

    fn put(&mut self, key: BlockKey, block: Arc<Vec<u8>>, capacity: u64) {
        // Two threads may have decoded it at the same time.
        if self.places.contains_key(&key) {
            return;
        }
        let more = cost(&block);
        while self.bytes.saturating_add(more) > capacity && !self.slots.is_empty() {
            self.evict();
        }
        self.highest = self.highest.max(key.offset);
        // A new block starts unused, so that blocks read only once are evicted first.
        self.places.insert(key, self.slots.len());
        self.slots.push(Slot { key, block, used: false });
        self.bytes += more;
    }

    fn forget(&mut self, gone: impl Fn(&BlockKey) -> bool) {
        let mut at = 0;
        while let Some(slot) = self.slots.get(at) {
            if gone(&slot.key) { self.take_out(at) } else { at += 1 }
        }
    }

    /// Takes out the next block that was not used since the hand came by.
    fn evict(&mut self) {
        loop {
            if self.hand >= self.slots.len() {
                self.hand = 0;
            }
            match self.slots.get_mut(self.hand) {
                Some(slot) if slot.used => {
                    slot.used = false;
                    self.hand += 1;
                }
                Some(_) => break,
                None => return,
            }
        }
        self.take_out(self.hand);
    }

    /// Removes the block of a slot, and moves the last block there.
    fn take_out(&mut self, at: usize) {
        let gone = self.slots.swap_remove(at);
        self.places.remove(&gone.key);
        self.bytes -= cost(&gone.block);
        if let Some(moved) = self.slots.get(at) {
            self.places.insert(moved.key, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u64) -> BlockKey {
        BlockKey { chunk: n, file: FileId::Frame, offset: 100 * n, block: 0 }
    }

    #[test]
    fn the_bound_holds_and_what_is_used_stays() {
        let cache = BlockCache::new(10 * (1000 + ENTRY_BYTES));
        for n in 0..1000 {
            cache.put(key(n), Arc::new(vec![n as u8; 1000]));
            // One block is asked for all the time.
            assert_eq!(cache.get(key(0)).unwrap()[0], 0);
            let used = cache.usage();
            assert!(used.bytes <= used.capacity && used.blocks == (n + 1).min(10), "{used:?}");
        }
        assert_eq!(cache.get(key(999)).unwrap()[0], 999u64 as u8);
        assert!(cache.get(key(500)).is_none());
        assert_eq!((cache.usage().hits, cache.usage().misses), (1001, 1));
    }

    #[test]
    fn what_is_too_large_is_not_kept() {
        let cache = BlockCache::new(1000);
        cache.put(key(1), Arc::new(vec![0; 1000]));
        assert!(cache.get(key(1)).is_none() && !cache.admits(1, 1000));
        cache.put(key(1), Arc::new(vec![0; 700]));
        assert!(cache.get(key(1)).is_some());
        cache.clear();
        assert!(cache.get(key(1)).is_none());
        assert_eq!(cache.usage().bytes, 0);
    }

    #[test]
    fn places_stay_right_while_blocks_of_all_sizes_come_and_go() {
        let mut cache = BlockCache::new(20_000);
        for n in 0..5000u64 {
            cache.put(key(n * 31 % 97), Arc::new(vec![(n * 31 % 97) as u8; 1 + (n * 7 % 3000) as usize]));
            let asked = n * 13 % 97;
            if let Some(block) = cache.get(key(asked)) {
                assert_eq!(block[0], asked as u8);
            }
            if n % 500 == 499 {
                let cache_without = std::mem::take(&mut cache);
                cache_without.forget(1000..3000);
                let left: Vec<_> = (0..97).filter(|n| cache_without.get(key(*n)).is_some()).collect();
                assert!(!left.is_empty() && left.iter().all(|n| !(10..30).contains(n)), "{left:?}");
                cache = cache_without;
            }
            let clock = cache.lock().unwrap();
            assert_eq!(clock.places.len(), clock.slots.len());
            assert_eq!(clock.bytes, clock.slots.iter().map(|s| cost(&s.block)).sum::<u64>());
            assert!(clock.bytes <= 20_000);
        }
    }
}
