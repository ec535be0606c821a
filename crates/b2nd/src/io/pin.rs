//! Who reads which state of a frame: a reader holds a shared lock on the frame for as long as it is open, and a writer asks
//! whether it is alone before it writes over bytes (or removes files) that an older state refers to.
//!
//! The locks are advisory and on whole files, so nobody else notices them. They end with the handle, however that ends.
//! Where a system has no such locks, or only mandatory ones, nobody is ever found to be alone.

use std::fs::File;
use std::fs::TryLockError;
use std::time::{Duration, Instant};

/// How long a reader waits while a writer looks whether it is alone. That takes microseconds, but the system may put the
/// writer aside just then; and a reader that went on without the lock would not keep its state.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a writer waits that had the lock a moment ago: whoever has it now may be no program of ours.
const MOMENT: Duration = Duration::from_millis(10);
/// How long either sleeps in between.
const PAUSE: Duration = Duration::from_micros(50);

/// Holds the state of the frame that is opened next. Never an error: where there are no locks, nothing is written over.
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

/// Whether no other handle holds the frame, of this process or another; this one holds it again afterwards.
pub(super) fn is_alone(file: &File) -> bool {
    if !cfg!(unix) {
        return false;
    }
    // In two steps, as not every system turns a shared lock into an exclusive one.
    let alone = file.unlock().is_ok() && file.try_lock().is_ok();
    let _ = file.unlock();
    hold_within(file, MOMENT);
    alone
}
