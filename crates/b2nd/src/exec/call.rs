//! One call: the choice of its threads, its tasks, and the note of its end.

use super::policy::POLICY;
use super::pool;
use super::{Exec, Scratch};
use crate::error::{Error, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A call that has begun. Dropping it notes its end, so that a call that follows at once counts as part of the same burst.
pub(crate) struct Call<'a> {
    exec: &'a Exec,
    threads: usize,
    effort: u64,
    /// Accumulated effort of back-to-back calls, this one included; `None` if threads could not have helped.
    burst: Option<u64>,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if let Some(burst) = self.burst {
            self.exec.pool.note_end(burst);
        }
    }
}

impl<'a> Call<'a> {
    pub(super) fn new(exec: &'a Exec, tasks: usize, effort: u64) -> Self {
        let (threads, burst) = choose(exec, tasks, effort);
        Call { exec, threads, effort, burst }
    }

    /// Whether the work is worth other threads than the caller's.
    pub(crate) fn is_shared(&self) -> bool {
        self.threads > 1
    }

    /// Runs the tasks as [`Exec::run`] does. `tasks` may differ from what the call was begun with; its threads stay.
    pub(crate) fn run<F>(self, tasks: usize, work: F) -> Result<()>
    where
        F: Fn(&mut Scratch, usize) -> Result<()> + Sync,
    {
        let threads = self.threads.min(tasks);
        if threads > 1 {
            return self.run_on(threads, tasks, &work);
        }
        self.exec.with_scratch(|scratch| {
            (0..tasks).try_for_each(|task| {
                self.exec.check_cancelled()?;
                work(scratch, task)
            })
        })
    }

    fn run_on<F>(&self, threads: usize, tasks: usize, work: &F) -> Result<()>
    where
        F: Fn(&mut Scratch, usize) -> Result<()> + Sync,
    {
        let next = AtomicUsize::new(0);
        let failure: Mutex<Option<(usize, Error)>> = Mutex::new(None);
        let worker = || {
            self.exec.with_scratch(|scratch| {
                loop {
                    let task = next.fetch_add(1, Ordering::Relaxed);
                    if task >= tasks {
                        return;
                    }
                    if let Err(error) = self.exec.check_cancelled().and_then(|()| work(scratch, task)) {
                        next.store(tasks, Ordering::Relaxed);
                        let mut first = failure.lock().unwrap_or_else(PoisonError::into_inner);
                        if first.as_ref().is_none_or(|(other, _)| task < *other) {
                            *first = Some((task, error));
                        }
                        return;
                    }
                }
            });
        };
        self.on_threads(threads, &worker);
        let failure = failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Does `work` on up to `threads` threads, the caller's among them.
    fn on_threads(&self, threads: usize, work: &(impl Fn() + Sync)) {
        let reserved = self.exec.pool.reserve(self.exec.threads() - 1, threads - 1);
        let missing = threads - 1 - reserved.as_ref().map_or(0, pool::Reserved::count);
        let here = || match reserved {
            Some(reserved) => reserved.run(work),
            None => work(),
        };
        let new = missing.min(POLICY.new_threads(self.effort));
        if new == 0 {
            return here();
        }
        std::thread::scope(|scope| {
            for _ in 0..new {
                // Without a new thread, the caller's own does its share.
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            here();
        });
    }
}

/// Number of threads for a call that begins now, and the accumulated effort of its burst if its work can be shared.
pub(super) fn choose(exec: &Exec, tasks: usize, effort: u64) -> (usize, Option<u64>) {
    let threads = exec.threads().min(tasks);
    if threads <= 1 || effort < POLICY.share_from {
        return (1, None);
    }
    let before = exec.pool.burst();
    let pays = effort >= POLICY.wake_from || finds_threads(exec, before);
    let threads = if pays { threads.min(POLICY.threads(effort)) } else { 1 };
    (threads, Some(before.saturating_add(effort)))
}

/// Whether a burst of short calls has threads awake, or is long enough to wake or to start them.
fn finds_threads(exec: &Exec, burst: u64) -> bool {
    let starts_all = POLICY.burst_to_start(exec.threads() - 1);
    burst >= POLICY.wake_from && (burst >= starts_all || exec.pool.has_threads())
}
