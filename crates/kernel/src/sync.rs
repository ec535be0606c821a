//! The synchronisation primitives of `share`: those of the standard library.
//!
//! `tests/share_model.rs` compiles `share` a second time, with the primitives of `loom` under these names.

pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub(crate) use std::thread::yield_now;
