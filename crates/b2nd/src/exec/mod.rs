//! Threads, cancellation and progress, passed by value: nothing that a fork could break.

mod pool;
mod scratch;

pub(crate) use scratch::Scratch;

use crate::error::{Error, Result};
use scratch::ScratchPool;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

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
    /// A switch that asks a closure too, at every look: for those who learn only on a thread of their own, or only by asking,
    /// that something is to end.
    ///
    /// It is asked on the threads that do the work, the caller's among them, before each chunk or block: it should answer fast.
    /// The operation whose thread hears `true` ends; others that hold the switch do not.
    ///
    /// ```
    /// use b2nd::{Cancel, Error, Exec, Options};
    /// let enough = std::time::Instant::now();
    /// let cancel = Cancel::asking(move || enough.elapsed().as_secs() < 3600);
    /// let a = Options::new().create_memory::<u8>([4])?.to_bytes()?;
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
/// Threads are started when a call needs them first, shared by all that ask for the same number of them, and end with the last
/// of these. A call does not wait for those of them that wake up when it is done. A process may fork between calls: the child starts its own. Cloning is cheap and shares the reusable buffers.
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

/// Work that has begun.
pub(crate) struct Call {
    /// On how many threads it is done.
    pub(crate) threads: usize,
    /// What the row of calls comes to with it, where others could help.
    row: Option<u64>,
}

/// From this effort on it pays to wake another thread.
const WAKE_FROM: u64 = 128 * 1024;

/// From this effort on it pays to share work with a thread that is awake.
const SHARE_FROM: u64 = 16 * 1024;

/// For one more of them.
const SHARE_EACH: u64 = 8 * 1024;

/// From this effort on it pays to start a thread.
const START_FROM: u64 = 1024 * 1024;

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
    /// The same threads and switch, for a part of an operation that reports its progress itself.
    pub(crate) fn without_progress(mut self) -> Self {
        self.progress = None;
        self
    }
    /// The same switch and scratch memory on the caller's thread, for a part of an operation that has threads of its own.
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

    /// Whether anybody listens to the progress.
    pub(crate) fn has_progress(&self) -> bool {
        self.progress.is_some()
    }

    /// Tells the progress hook of `bytes` more.
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

    /// Begins work of so many tasks that takes as long as writing `effort` bytes by LZ4
    /// ([`Codec::effort_to_write`](crate::Codec), [`Codec::effort_to_read`](crate::Codec)).
    pub(crate) fn begin(&self, tasks: usize, effort: u64) -> Call {
        let threads = self.threads().min(tasks);
        if threads <= 1 || effort < SHARE_FROM {
            return Call { threads: 1, row: None };
        }
        let before = self.pool.row();
        let pays = effort >= WAKE_FROM || self.is_in_use(before);
        let threads = if pays { threads.min(count(effort / SHARE_EACH)) } else { 1 };
        Call { threads, row: Some(before.saturating_add(effort)) }
    }

    /// Notes the end of what began: the next call may follow at once.
    pub(crate) fn end(&self, call: &Call) {
        if let Some(row) = call.row {
            self.pool.ends(row);
        }
    }

    /// Whether short calls in a row have come to so much that threads are awake, or that it pays to wake them or to start them.
    fn is_in_use(&self, row: u64) -> bool {
        let all = START_FROM.saturating_mul(self.threads() as u64 - 1);
        row >= WAKE_FROM && (row >= all || self.pool.has_threads())
    }

    /// Runs `work(scratch, task)` for every task below `tasks`, on as many threads as the `effort` pays for.
    ///
    /// Every task that starts runs to its end. The first failure (by task number, among those that ran) or a
    /// cancellation stops the rest and is returned.
    pub(crate) fn run<F>(&self, tasks: usize, effort: u64, work: F) -> Result<()>
    where
        F: Fn(&mut Scratch, usize) -> Result<()> + Sync,
    {
        let call = self.begin(tasks, effort);
        let result = if call.threads <= 1 {
            self.with_scratch(|scratch| {
                (0..tasks).try_for_each(|task| {
                    self.check_cancelled()?;
                    work(scratch, task)
                })
            })
        } else {
            self.run_on(call.threads, tasks, effort, &work)
        };
        self.end(&call);
        result
    }

    fn run_on<F>(&self, threads: usize, tasks: usize, effort: u64, work: &F) -> Result<()>
    where
        F: Fn(&mut Scratch, usize) -> Result<()> + Sync,
    {
        let next = AtomicUsize::new(0);
        let failure: Mutex<Option<(usize, Error)>> = Mutex::new(None);
        let worker = || {
            self.with_scratch(|scratch| {
                loop {
                    let task = next.fetch_add(1, Ordering::Relaxed);
                    if task >= tasks {
                        return;
                    }
                    if let Err(error) = self.check_cancelled().and_then(|()| work(scratch, task)) {
                        next.store(tasks, Ordering::Relaxed);
                        let mut first = failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                        if first.as_ref().is_none_or(|(other, _)| task < *other) {
                            *first = Some((task, error));
                        }
                        return;
                    }
                }
            });
        };
        self.on_threads(threads, effort, &worker);
        let failure = failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        failure.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Does `work` on up to so many threads, the caller's among them.
    fn on_threads(&self, threads: usize, effort: u64, work: &(impl Fn() + Sync)) {
        let reserved = self.pool.reserve(self.threads() - 1, threads - 1);
        let missing = threads - 1 - reserved.as_ref().map_or(0, pool::Reserved::count);
        let here = || match reserved {
            Some(reserved) => reserved.run(work),
            None => work(),
        };
        let new = missing.min(count(effort / START_FROM));
        if new == 0 {
            return here();
        }
        std::thread::scope(|scope| {
            for _ in 0..new {
                // A thread that cannot be made is not missed: the caller's own does the work.
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            here();
        });
    }
}

/// As many as there can be where there are more than that.
fn count(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
