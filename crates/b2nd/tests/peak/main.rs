//! Bounds on peak memory: an allocator counts the bytes of the whole process, so one test runs at a time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

mod damage;
mod far;
mod hostile;
mod reduction_cost;
mod stream_memory;

use peak_alloc::PeakAlloc;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Keeps the other tests of this program waiting until it is dropped.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
