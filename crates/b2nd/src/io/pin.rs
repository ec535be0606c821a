//! Who reads which state of a frame: a reader holds a shared lock on the frame for as long as it is open, and a writer asks
//! whether it is alone before it writes over bytes (or removes files) that an older state refers to.
//!
//! The locks are advisory and on whole files, so nobody else notices them. They end with the handle, however that ends.
//! Where a system has no such locks, or only mandatory ones, nobody is ever found to be alone.

use std::fs::File;
use std::fs::TryLockError;
use std::time::Duration;

/// How often a reader asks again while a writer looks whether it is alone, which takes microseconds.
const TRIES: u32 = 200;
/// How long it waits in between.
const PAUSE: Duration = Duration::from_micros(50);

/// Holds the state of the frame that is opened next. Never an error: where there are no locks, nothing is written over.
pub(super) fn hold(file: &File) {
    if !cfg!(unix) {
        return;
    }
    for _ in 0..TRIES {
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            Ok(()) | Err(TryLockError::Error(_)) => return,
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
    hold(file);
    alone
}
