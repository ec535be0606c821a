//! Many readers or one writer at an array, without a lock that a forked child could inherit as taken for ever.

use crate::errors::usage;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::time::{Duration, Instant};

/// What a gate guards. Nobody sleeps inside the lock's own queue: who finds it taken lets go of the interpreter, looks again soon,
/// and listens to signals.
pub(crate) struct Gate<T> {
    kept: RwLock<T>,
    writers: AtomicUsize,
    process: u32,
}

/// How long a child waits for a holder that may have stayed in its parent.
const FORKED_PATIENCE: Duration = Duration::from_millis(500);
/// How long readers leave a writer the first go.
const COURTESY: Duration = Duration::from_millis(5);
const LONGEST_SLEEP: Duration = Duration::from_millis(2);

impl<T> Gate<T> {
    pub(crate) fn new(kept: T) -> Self {
        Gate { kept: RwLock::new(kept), writers: AtomicUsize::new(0), process: std::process::id() }
    }

    pub(crate) fn read(&self, py: Python<'_>) -> PyResult<RwLockReadGuard<'_, T>> {
        self.wait(py, |waited| {
            let courtesy = waited < COURTESY && self.writers.load(Ordering::Relaxed) > 0 && !self.is_forked();
            if courtesy { None } else { taken(self.kept.try_read()) }
        })
    }

    pub(crate) fn write(&self, py: Python<'_>) -> PyResult<RwLockWriteGuard<'_, T>> {
        self.writers.fetch_add(1, Ordering::Relaxed);
        let got = self.wait(py, |_| taken(self.kept.try_write()));
        self.writers.fetch_sub(1, Ordering::Relaxed);
        got
    }

    fn is_forked(&self) -> bool {
        self.process != std::process::id()
    }

    fn wait<G>(&self, py: Python<'_>, look: impl Fn(Duration) -> Option<G>) -> PyResult<G> {
        if let Some(guard) = look(Duration::ZERO) {
            return Ok(guard);
        }
        let (from, mut sleep) = (Instant::now(), Duration::from_micros(5));
        loop {
            py.detach(|| std::thread::sleep(sleep));
            if let Some(guard) = look(from.elapsed()) {
                return Ok(guard);
            }
            py.check_signals()?;
            if self.is_forked() && from.elapsed() > FORKED_PATIENCE {
                return Err(usage(
                    py,
                    "another thread was using this array when the process forked: open it again in this process",
                ));
            }
            sleep = (sleep * 2).min(LONGEST_SLEEP);
        }
    }
}

/// The guard, where there is one to have. What a panic left is looked at as it is: the crate does not panic, and what it cannot
/// use it says.
fn taken<G>(tried: Result<G, TryLockError<G>>) -> Option<G> {
    match tried {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
