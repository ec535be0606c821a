//! Threads, cancellation and progress, passed by value: nothing that a fork could break.

mod call;
mod lock;
mod policy;
mod pool;
mod scratch;

pub(crate) use call::Call;
pub(crate) use lock::ForkMutex;
pub(crate) use scratch::Scratch;

use crate::error::{Error, Result};
use scratch::ScratchPool;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A switch that stops the operations that hold a clone of it.
///
/// ```
/// use b2nd::{Cancel, Exec};
/// let cancel = Cancel::new();
/// let exec = Exec::new(2).with_cancel(cancel.clone());
/// cancel.cancel();
/// assert!(cancel.is_cancelled());
/// # let _ = exec;
/// ```
#[derive(Clone, Default)]
pub struct Cancel {
    thrown: Arc<AtomicBool>,
    asked: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl std::fmt::Debug for Cancel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cancel").field("thrown", &self.thrown).finish_non_exhaustive()
    }
}

impl Cancel {
    /// A switch that is not thrown.
    pub fn new() -> Self {
        Self::default()
    }
    /// A switch that also polls a closure.
    ///
    /// The threads that do the work, the caller's among them, call it before each chunk or block: it should return fast.
    /// An operation ends when the closure returns `true` to one of its threads; other operations with the same switch go on.
    ///
    /// ```
    /// use b2nd::{Cancel, Dtype, Error, Exec, Options};
    /// let enough = std::time::Instant::now();
    /// let cancel = Cancel::asking(move || enough.elapsed().as_secs() < 3600);
    /// let a = Options::new().create_in_memory(Dtype::of::<u8>(), [4])?.to_bytes()?;
    /// let options = b2nd::OpenOptions::new().with_exec(Exec::new(1).with_cancel(cancel));
    /// let a = b2nd::Array::from_bytes(a, &options)?;
    /// assert!(matches!(a.read_bytes(()), Err(Error::Cancelled)));
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn asking(ask: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Cancel { thrown: Arc::default(), asked: Some(Arc::new(ask)) }
    }
    /// Stops every operation that looks at this switch, at its next block.
    pub fn cancel(&self) {
        self.thrown.store(true, Ordering::Relaxed);
    }
    /// Whether [`Cancel::cancel`] was called, or the closure of [`Cancel::asking`] says so.
    pub fn is_cancelled(&self) -> bool {
        self.thrown.load(Ordering::Relaxed) || self.asked.as_ref().is_some_and(|ask| ask())
    }
}

type ProgressHook = Arc<dyn Fn(u64) + Send + Sync>;

/// How work is done: on how many threads, with which [`Cancel`] switch and progress hook.
///
/// Threads are started by the first call that needs them, shared by all `Exec`s with the same number of threads, and end with the
/// last of these. A call does not wait for threads that wake up after its work is done. A process may fork between calls: the
/// child starts threads of its own. Cloning is cheap and shares the reusable buffers.
///
/// ```
/// use b2nd::Exec;
/// let exec = Exec::new(4).with_progress(|bytes| println!("{bytes} bytes more"));
/// assert_eq!(exec.threads(), 4);
/// ```
#[derive(Clone)]
pub struct Exec {
    threads: NonZeroUsize,
    cancel: Option<Cancel>,
    progress: Option<ProgressHook>,
    scratch: Arc<ScratchPool>,
    pool: Arc<pool::Lazy>,
}

impl std::fmt::Debug for Exec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exec").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl Default for Exec {
    /// All the processors that this process may use.
    fn default() -> Self {
        Exec::new(std::thread::available_parallelism().map_or(1, NonZeroUsize::get))
    }
}

impl Exec {
    /// Work on `threads` threads, the caller's among them; 0 counts as 1.
    pub fn new(threads: usize) -> Self {
        Exec {
            threads: NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN),
            cancel: None,
            progress: None,
            scratch: Arc::default(),
            pool: Arc::default(),
        }
    }
    /// Stops when `cancel` is thrown; the operation then returns [`Error::Cancelled`].
    #[must_use]
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }
    /// Calls `hook` with the number of uncompressed bytes just done, from whichever thread did them.
    #[must_use]
    pub fn with_progress(mut self, hook: impl Fn(u64) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(hook));
        self
    }
    /// A copy without the progress hook, for a part of an operation that reports its progress itself.
    pub(crate) fn without_progress(mut self) -> Self {
        self.progress = None;
        self
    }
    /// A copy for the caller's thread alone, without the progress hook, for a part of an operation that has threads of its own.
    pub(crate) fn single(&self) -> Self {
        Exec { threads: NonZeroUsize::MIN, ..self.clone().without_progress() }
    }
    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads.get()
    }

    /// An error when the switch was thrown.
    pub(crate) fn check_cancelled(&self) -> Result<()> {
        if self.cancel.as_ref().is_some_and(Cancel::is_cancelled) { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Whether there is a progress hook.
    pub(crate) fn has_progress(&self) -> bool {
        self.progress.is_some()
    }

    /// Calls the progress hook with `bytes`.
    pub(crate) fn progress(&self, bytes: u64) {
        if let Some(hook) = &self.progress {
            hook(bytes);
        }
    }

    /// Lends scratch memory to `work`, on this thread.
    pub(crate) fn with_scratch<R>(&self, work: impl FnOnce(&mut Scratch) -> R) -> R {
        let mut scratch = self.scratch.take();
        let result = work(&mut scratch);
        self.scratch.give(scratch);
        result
    }

    /// Begins a call of `tasks` tasks and decides on how many threads it runs; it ends when the [`Call`] is dropped.
    ///
    /// `effort` is the time that the work takes, in bytes that LZ4 writes in it
    /// ([`Codec::effort_to_write`](crate::Codec), [`Codec::effort_to_read`](crate::Codec)).
    pub(crate) fn call(&self, tasks: usize, effort: u64) -> Call<'_> {
        Call::new(self, tasks, effort)
    }

    /// Runs `work(scratch, task)` for every task below `tasks`, on as many threads as the `effort` pays for.
    ///
    /// Every task that starts runs to its end. The first failure (by task number, among those that ran) or a
    /// cancellation stops the rest and is returned.
    pub(crate) fn run<F>(&self, tasks: usize, effort: u64, work: F) -> Result<()>
    where
        F: Fn(&mut Scratch, usize) -> Result<()> + Sync,
    {
        self.call(tasks, effort).run(tasks, work)
    }
}

#[cfg(test)]
mod tests;
