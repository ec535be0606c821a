//! A mutex that a forked child may inherit locked.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Longest wait for a lock that another process may have left locked.
const PATIENCE: Duration = Duration::from_millis(100);
/// Pause between two tries.
const PAUSE: Duration = Duration::from_micros(200);

/// A mutex that does not block for ever in a forked child.
///
/// A child inherits memory, not threads: a mutex that another thread held at the fork stays locked in the child. In the process
/// that made the mutex, a caller waits as long as it takes. In another one it waits for [`PATIENCE`] and then does without.
#[derive(Debug)]
pub(crate) struct ForkMutex<T> {
    mutex: Mutex<T>,
    /// Process that made the mutex.
    process: u32,
    /// Whether a wait ended in vain. Later callers try once, so that not each of them waits.
    abandoned: AtomicBool,
}

impl<T: Default> Default for ForkMutex<T> {
    fn default() -> Self {
        ForkMutex { mutex: Mutex::default(), process: std::process::id(), abandoned: AtomicBool::new(false) }
    }
}

impl<T> ForkMutex<T> {
    /// Locks the mutex; `None` if it may be locked for ever.
    pub(crate) fn lock(&self) -> Option<MutexGuard<'_, T>> {
        if let Some(guard) = self.try_lock() {
            return Some(guard);
        }
        if self.process == std::process::id() {
            return Some(self.mutex.lock().unwrap_or_else(PoisonError::into_inner));
        }
        let start = Instant::now();
        while !self.abandoned.load(Ordering::Relaxed) {
            std::thread::sleep(PAUSE);
            if let Some(guard) = self.try_lock() {
                return Some(guard);
            }
            if start.elapsed() >= PATIENCE {
                self.abandoned.store(true, Ordering::Relaxed);
            }
        }
        None
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.mutex.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Makes this process count as a forked child of the one that made the mutex.
    #[cfg(test)]
    pub(crate) fn pretend_forked(&mut self) {
        self.process = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forked_child_does_not_wait_for_ever() {
        let mut mutex = ForkMutex::<u8>::default();
        mutex.pretend_forked();
        let held = mutex.lock().unwrap();
        std::thread::scope(|scope| {
            assert!(scope.spawn(|| mutex.lock().is_none()).join().unwrap());
            // The second caller does not wait.
            let start = Instant::now();
            assert!(scope.spawn(|| (0..100).all(|_| mutex.lock().is_none())).join().unwrap());
            assert!(start.elapsed() < 50 * PATIENCE);
        });
        drop(held);
        assert!(mutex.lock().is_some());
    }

    #[test]
    fn the_process_that_made_it_waits_for_the_holder() {
        let mutex = ForkMutex::<u8>::default();
        let mut held = mutex.lock().unwrap();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| *mutex.lock().unwrap());
            std::thread::sleep(2 * PATIENCE);
            *held = 7;
            drop(held);
            assert_eq!(waiter.join().unwrap(), 7);
        });
    }
}
