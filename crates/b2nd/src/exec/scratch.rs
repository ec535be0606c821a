//! Buffers that are reused from block to block and from call to call.

use crate::codec;
use std::sync::Mutex;

/// What one thread needs to filter and (de)compress blocks. Buffers only grow.
#[derive(Default)]
pub(crate) struct Scratch {
    /// A decoded block on its way to its place.
    pub(crate) block: Vec<u8>,
    /// One side of the filter pipeline.
    pub(crate) front: Vec<u8>,
    /// The other side of the filter pipeline.
    pub(crate) back: Vec<u8>,
    /// The decoded first block of a chunk, which the delta filter refers to.
    pub(crate) reference: Vec<u8>,
    /// A stream that is being compressed.
    pub(crate) stream: Vec<u8>,
    /// Compressed bytes on their way from a file, or to their place in a chunk.
    pub(crate) fetched: Vec<u8>,
    /// A compressed chunk on its way to its store.
    pub(crate) packed: Vec<u8>,
    /// Contexts and hash tables of the codecs.
    pub(crate) codec: codec::State,
}

/// Larger compressed chunks do not leave their memory behind for the next one.
const MAX_KEPT_BYTES: usize = 16 << 20;

impl Scratch {
    /// Takes back memory for compressed chunks.
    pub(crate) fn keep_packed(&mut self, packed: Vec<u8>) {
        if packed.capacity() <= MAX_KEPT_BYTES {
            self.packed = packed;
        }
    }
}

/// Idle scratch memory of an [`Exec`](super::Exec) and its clones.
#[derive(Default)]
pub(super) struct ScratchPool(Mutex<Vec<Scratch>>);

impl ScratchPool {
    // `try_lock` on both sides: a lock that a forked child inherited as taken costs a fresh buffer, never a deadlock.
    pub(super) fn take(&self) -> Scratch {
        self.0.try_lock().ok().and_then(|mut idle| idle.pop()).unwrap_or_default()
    }
    pub(super) fn give(&self, scratch: Scratch) {
        if let Ok(mut idle) = self.0.try_lock()
            && idle.len() < 64
        {
            idle.push(scratch);
        }
    }
}
