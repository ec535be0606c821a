//! Buffers that are reused from block to block and from call to call.

use crate::codec;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What one thread needs to filter and (de)compress blocks. Buffers only grow while a call goes on.
#[derive(Default)]
pub(crate) struct Scratch {
    /// A decoded block before its items are copied to the result.
    pub(crate) block: Vec<u8>,
    /// One side of the filter pipeline.
    pub(crate) front: Vec<u8>,
    /// The other side of the filter pipeline.
    pub(crate) back: Vec<u8>,
    /// The decoded first block of a chunk, which the delta filter refers to.
    pub(crate) reference: Vec<u8>,
    /// A stream that is being compressed.
    pub(crate) stream: Vec<u8>,
    /// Compressed bytes read from a file, or before they are copied into a chunk.
    pub(crate) fetched: Vec<u8>,
    /// A compressed chunk before it is written to the store.
    pub(crate) packed: Vec<u8>,
    /// Which items of a block are taken, as runs.
    pub(crate) runs: Vec<Range<u32>>,
    /// Contexts and hash tables of the codecs.
    pub(crate) codec: codec::CodecState,
}

/// Larger buffers are freed at the end of a call.
const MAX_KEPT_BYTES: usize = 16 << 20;

impl Scratch {
    /// Frees buffers that are too large to keep.
    fn trim(&mut self) {
        let Scratch { block, front, back, reference, stream, fetched, packed, .. } = self;
        for buffer in [block, front, back, reference, stream, fetched, packed] {
            if buffer.capacity() > MAX_KEPT_BYTES {
                *buffer = Vec::new();
            }
        }
        if self.runs.capacity() > MAX_KEPT_BYTES / size_of::<Range<u32>>() {
            self.runs = Vec::new();
        }
    }
}

/// Idle scratch memory of an [`Exec`](super::Exec) and its clones, on several shelves so that threads
/// rarely contend for one.
#[derive(Default)]
pub(super) struct ScratchPool([Shelf; SHELVES]);

/// Each shelf has its own cache line, to avoid false sharing.
#[derive(Default)]
#[repr(align(128))]
struct Shelf(Mutex<Vec<Scratch>>);

const SHELVES: usize = 8;

/// The most buffers of one shelf.
const DEPTH: usize = 8;

/// The shelf that this thread tries first.
fn own_shelf() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static OWN: Cell<Option<usize>> = const { Cell::new(None) });
    OWN.with(|own| {
        own.get().unwrap_or_else(|| {
            let shelf = NEXT.fetch_add(1, Ordering::Relaxed);
            own.set(Some(shelf));
            shelf
        })
    })
}

impl ScratchPool {
    /// The shelves, this thread's own first.
    fn shelves(&self) -> impl Iterator<Item = &Mutex<Vec<Scratch>>> {
        let own = own_shelf();
        (0..SHELVES).filter_map(move |n| self.0.get((own + n) % SHELVES)).map(|shelf| &shelf.0)
    }
    // `try_lock` on both sides: a lock that a forked child inherited as taken costs a fresh buffer, never a deadlock.
    pub(super) fn take(&self) -> Scratch {
        let found = self.shelves().find_map(|shelf| shelf.try_lock().ok().and_then(|mut idle| idle.pop()));
        found.unwrap_or_default()
    }
    pub(super) fn give(&self, mut scratch: Scratch) {
        scratch.trim();
        let free = self.shelves().find_map(|shelf| shelf.try_lock().ok().filter(|idle| idle.len() < DEPTH));
        if let Some(mut idle) = free {
            idle.push(scratch);
        }
    }
}
