//! The blocks of a chunk on their way together: encoded by many threads, put in order, whichever is ready first.

use super::encode::EncodePlan;
use super::streams::Sink;
use crate::error::Result;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// A run of consecutive encoded blocks.
pub(super) struct Run {
    /// The start of each block.
    pub(super) starts: Vec<usize>,
    pub(super) packed: Vec<u8>,
}

/// Puts runs of blocks in order.
pub(super) struct Assembly<'a> {
    plan: &'a EncodePlan,
    /// Whether the chunk is shorter as it is: asked for often, and so without the lock.
    pointless: AtomicBool,
    state: Mutex<AssemblyState<'a>>,
}

struct AssemblyState<'a> {
    sink: Sink<'a>,
    /// The run, and the block, that come next.
    next: usize,
    block: usize,
    /// Runs that were ready before their turn.
    early: BTreeMap<usize, Run>,
    /// Memory of such runs, to be used again: fresh memory costs more than a copy.
    spare: Vec<Vec<u8>>,
    /// The length of all blocks so far, the early ones among them.
    len: usize,
}

impl<'a> Assembly<'a> {
    /// Appends to the contents of `sink`.
    pub(super) fn new(plan: &'a EncodePlan, sink: Sink<'a>) -> Self {
        let state = AssemblyState { sink, next: 0, block: 0, early: BTreeMap::new(), spare: vec![], len: 0 };
        Assembly { plan, pointless: AtomicBool::new(false), state: Mutex::new(state) }
    }

    /// Whether storing the data as it is takes no more than the blocks so far.
    pub(super) fn is_pointless(&self) -> bool {
        self.pointless.load(Ordering::Relaxed)
    }

    /// Adds run `r`; returns memory to reuse for the next one.
    pub(super) fn add(&self, r: usize, run: Run) -> Result<Vec<u8>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.len += run.packed.len();
        if state.len >= self.plan.no_gain_from() {
            self.pointless.store(true, Ordering::Relaxed);
            state.early.clear();
            return Ok(run.packed);
        }
        if r != state.next {
            state.early.insert(r, run);
            return Ok(state.spare.pop().unwrap_or_default());
        }
        state.put(self.plan, &run)?;
        while let Some(run) = {
            let next = state.next;
            state.early.remove(&next)
        } {
            state.put(self.plan, &run)?;
            state.spare.push(run.packed);
        }
        Ok(run.packed)
    }

    /// All that was put.
    pub(super) fn into_sink(self) -> Sink<'a> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).sink
    }
}

impl AssemblyState<'_> {
    fn put(&mut self, plan: &EncodePlan, run: &Run) -> Result<()> {
        let at = self.sink.end();
        for start in &run.starts {
            plan.note_block(self.block, at + start, &mut self.sink);
            self.block += 1;
        }
        self.next += 1;
        self.sink.put(&run.packed)
    }
}
