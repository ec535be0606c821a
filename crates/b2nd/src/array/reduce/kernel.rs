//! Reductions of items: typed kernels, and the same on bytes for callers that only move blocks.

use crate::array::reduce::geometry::BlockRows;
use crate::error::Error;
use crate::error::Result;

/// A reduction of items of one type.
pub(super) trait Kernel: Sync {
    /// An item as it lies in a block, in the byte order of this machine.
    type Item: bytemuck::AnyBitPattern;
    /// Accumulator of one item of the result.
    type State: Clone + Send;

    /// The accumulator of no items.
    fn empty(&self) -> Self::State;
    /// Adds items that all belong to one state.
    fn row(&self, state: &mut Self::State, items: &[Self::Item]);
    /// Adds item `i` to state `i`.
    fn each(&self, states: &mut [Self::State], items: &[Self::Item]) {
        for (state, item) in states.iter_mut().zip(items) {
            self.row(state, std::slice::from_ref(item));
        }
    }
    /// The state after `count` items of this value; `count` is not 0.
    fn repeat(&self, item: Self::Item, count: u64) -> Self::State;
    /// Merges another state into this one.
    fn join(&self, into: &mut Self::State, other: &Self::State);
    /// Writes the item of the result for a state that has seen `count` items.
    fn finish(&self, state: &Self::State, count: u64, out: &mut [u8]);

    /// Takes in the items of a block.
    fn block(&self, walk: &BlockRows, items: &[Self::Item], states: &mut [Self::State]) -> Result<()> {
        walk.rows(|row| {
            let items = &items[row.items..][..walk.len()];
            if walk.reduces_rows() {
                self.row(&mut states[row.states], items);
            } else {
                self.each(&mut states[row.states..][..walk.len()], items);
            }
        });
        Ok(())
    }
}

/// A [`Kernel`] on the bytes of blocks.
pub(super) trait Reduction<S>: Sync {
    fn empty(&self) -> S;
    fn repeat(&self, item: &[u8], count: u64) -> Result<S>;
    fn join(&self, into: &mut S, other: &S);
    fn finish(&self, state: &S, count: u64, out: &mut [u8]);
    fn block(&self, walk: &BlockRows, block: &[u8], states: &mut [S]) -> Result<()>;
}

impl<K: Kernel> Reduction<K::State> for K {
    fn empty(&self) -> K::State {
        Kernel::empty(self)
    }
    fn repeat(&self, item: &[u8], count: u64) -> Result<K::State> {
        let item = bytemuck::try_pod_read_unaligned(item).map_err(|_| misplaced())?;
        Ok(Kernel::repeat(self, item, count))
    }
    fn join(&self, into: &mut K::State, other: &K::State) {
        Kernel::join(self, into, other);
    }
    fn finish(&self, state: &K::State, count: u64, out: &mut [u8]) {
        Kernel::finish(self, state, count, out);
    }
    fn block(&self, walk: &BlockRows, block: &[u8], states: &mut [K::State]) -> Result<()> {
        let items = bytemuck::try_cast_slice(block).map_err(|_| misplaced())?;
        Kernel::block(self, walk, items, states)
    }
}

fn misplaced() -> Error {
    Error::usage("the items of a block do not have the size and place of their type")
}

/// The bytes of a result's item.
pub(super) fn put<T: bytemuck::NoUninit>(item: T, out: &mut [u8]) {
    out.copy_from_slice(bytemuck::bytes_of(&item));
}
