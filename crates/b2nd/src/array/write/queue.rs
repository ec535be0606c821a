//! Compressed chunks on their way into a super-chunk, from many threads at once.

use crate::array::grid::Grid;
use crate::array::read::chunk::special_item;
use crate::chunk;
use crate::chunk::Special;
use crate::error::Result;
use crate::exec::Exec;
use crate::limits::copied;
use crate::limits::zeroed;
use crate::schunk::Place;
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

/// A chunk that is to be changed.
pub(crate) enum Stored {
    Special(Special),
    Bytes(Vec<u8>),
}

impl Stored {
    /// The memory of the bytes, for another chunk.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        match self {
            Stored::Special(_) => Vec::new(),
            Stored::Bytes(bytes) => bytes,
        }
    }

    /// The uncompressed bytes of the chunk, which is chunk `number`.
    pub(crate) fn decode(&self, number: u64, grid: &Grid, context: &chunk::Context) -> Result<Vec<u8>> {
        let mut whole = zeroed("a chunk", grid.chunk_bytes() as u64)?;
        match self {
            Stored::Special(kind) => {
                let item = special_item(*kind, grid.itemsize(), context.limits())?;
                if item.iter().any(|&b| b != 0) {
                    whole.chunks_exact_mut(item.len()).for_each(|at| at.copy_from_slice(&item));
                }
            }
            Stored::Bytes(bytes) => {
                chunk::decode_into(bytes, &mut whole, context, &Exec::new(1))
                    .map_err(|e| e.in_chunk(number))?;
            }
        }
        Ok(whole)
    }
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

    /// How chunks are compressed, and with whose codecs and filters.
    pub(crate) fn params(&self) -> (chunk::Params, chunk::Context) {
        let state = self.lock();
        (state.schunk.params().clone(), state.schunk.context().clone())
    }

    /// A chunk as it is now. `buffer` takes its bytes; [`Stored::into_buffer`] gives it back.
    pub(crate) fn chunk(&self, number: u64, mut buffer: Vec<u8>) -> Result<Stored> {
        let state = self.lock();
        let place = state.schunk.place(number)?;
        if let Place::Special(kind) = place {
            return Ok(Stored::Special(kind));
        }
        let len = usize::try_from(state.schunk.chunk_header(number, place)?.cbytes()).unwrap_or(usize::MAX);
        state.schunk.copy_out(place, len, &mut buffer).map_err(|e| e.in_chunk(number))?;
        state.schunk.check_bytes(number, place, &buffer)?;
        Ok(Stored::Bytes(buffer))
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
