//! Protects the states that readers use: a reader holds a shared lock on the frame while it is open, and a writer checks
//! that it is alone before it overwrites bytes (or removes files) that an older state refers to.
//!
//! The locks are advisory and on whole files, so other programs do not notice them. The system releases them with the
//! handle. On systems without such locks, or with mandatory ones only, a writer never counts as alone.

use std::fs::File;
use std::fs::TryLockError;
use std::time::{Duration, Instant};

/// How long a reader waits while a writer checks whether it is alone. That takes microseconds, but the system may
/// suspend the writer just then. A reader that went on without the lock could lose its state.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a writer tries to get back the lock that it had: a foreign program may hold it now.
const MOMENT: Duration = Duration::from_millis(10);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_micros(50);

/// Protects the state of the frame that is opened next. Never fails: without locks, writers overwrite nothing.
pub(super) fn hold(file: &File) {
    hold_within(file, PATIENCE);
}

fn hold_within(file: &File, patience: Duration) {
    if !cfg!(unix) {
        return;
    }
    let mut waited = None;
    loop {
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock)
                if waited.is_none_or(|since: Instant| since.elapsed() < patience) =>
            {
                waited.get_or_insert_with(Instant::now);
                std::thread::sleep(PAUSE);
            }
            _ => return,
        }
    }
}

/// Whether no other handle, in any process, holds the frame. This handle holds it again afterwards.
pub(super) fn is_alone(file: &File) -> bool {
    if !cfg!(unix) {
        return false;
    }
    // In two steps, because not every system can convert a shared lock into an exclusive one.
    let alone = file.unlock().is_ok() && file.try_lock().is_ok();
    let _ = file.unlock();
    hold_within(file, MOMENT);
    alone
}
