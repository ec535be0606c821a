//! Compressed chunks on their way into a super-chunk, from many threads at once.

use crate::error::Result;
use crate::exec::Exec;
use crate::limits::copied;
use crate::schunk::SChunk;
use std::collections::BTreeMap;
use std::ops::DerefMut;
use std::sync::Condvar;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;

/// How often a waiting thread looks whether the work was cancelled.
pub(crate) const CANCEL_CHECK: Duration = Duration::from_millis(20);

/// Puts compressed chunks into the super-chunk in order; who is too far ahead waits, so that memory stays bounded.
pub(crate) struct Queue<S> {
    state: Mutex<QueueState<S>>,
    moved: Condvar,
    ahead: usize,
}

struct QueueState<S> {
    schunk: S,
    next: usize,
    waiting: BTreeMap<usize, (u64, Vec<u8>)>,
    failed: bool,
}

impl<S: DerefMut<Target = SChunk>> Queue<S> {
    /// A queue in which nobody gets more than `ahead` tasks ahead of the next one to be put.
    pub(crate) fn new(schunk: S, ahead: usize) -> Self {
        let state = QueueState { schunk, next: 0, waiting: BTreeMap::new(), failed: false };
        Queue { state: Mutex::new(state), moved: Condvar::new(), ahead }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be held while a task is worked on: lets nobody wait for a chunk whose thread panics.
    pub(crate) fn alarm(&self) -> Alarm<'_, S> {
        Alarm(self)
    }

    /// Works on the super-chunk itself, between chunks.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut SChunk) -> R) -> R {
        work(&mut self.lock().schunk)
    }

    /// The super-chunk, when all is put.
    pub(crate) fn into_inner(self) -> S {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).schunk
    }

    /// Takes the chunk of task `task`, or how it failed; puts it, and those that waited for it, when all before it have come.
    pub(crate) fn push(&self, task: usize, chunk: u64, encoded: Result<&[u8]>, exec: &Exec) -> Result<()> {
        let mut state = self.lock();
        let encoded = match encoded {
            Ok(encoded) => encoded,
            Err(error) => {
                state.failed = true;
                self.moved.notify_all();
                return Err(error);
            }
        };
        while !state.failed && task > state.next + self.ahead {
            // A thread that stops for a cancellation says nothing here, so who waits for it looks now and then.
            exec.check_cancelled()?;
            let waited = self.moved.wait_timeout(state, CANCEL_CHECK).unwrap_or_else(PoisonError::into_inner);
            state = waited.0;
        }
        let result = if task == state.next {
            state.put(chunk, encoded).and_then(|()| state.put_ready())
        } else {
            copied("a chunk", encoded).map(|encoded| drop(state.waiting.insert(task, (chunk, encoded))))
        };
        state.failed |= result.is_err();
        self.moved.notify_all();
        result
    }
}

/// Lets nobody wait for a chunk whose thread panics.
pub(crate) struct Alarm<'q, S: DerefMut<Target = SChunk>>(&'q Queue<S>);

impl<S: DerefMut<Target = SChunk>> Drop for Alarm<'_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().failed = true;
            self.0.moved.notify_all();
        }
    }
}

impl<S: DerefMut<Target = SChunk>> QueueState<S> {
    fn put_ready(&mut self) -> Result<()> {
        while !self.failed
            && let Some((chunk, encoded)) = self.waiting.remove(&self.next)
        {
            self.put(chunk, &encoded)?;
        }
        Ok(())
    }

    /// Puts the chunk whose turn it is.
    fn put(&mut self, chunk: u64, encoded: &[u8]) -> Result<()> {
        if !self.failed {
            self.schunk.put_chunk(chunk, encoded)?;
            self.next += 1;
        }
        Ok(())
    }
}
