//! Worker threads that wait for the next call: waking a thread costs less than starting one.
//!
//! A call invites idle threads only, and waits only for those that join before its own work is done. After a fork the child has
//! no threads: the pool sees that the process id differs, and starts others. (In a new pid namespace a child may have the id of
//! its parent; the pool does not detect that.)

use super::policy::POLICY;
use b2nd_kernel::share::{Invitation, share};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::time::Instant;

/// How often [`lock_soon`] tries. Each try gives up the processor, so a holder that exists has time to finish.
const LOCK_ATTEMPTS: usize = 1000;

/// The pools of this process, by their number of threads.
static POOLS: Mutex<BTreeMap<usize, Weak<Pool>>> = Mutex::new(BTreeMap::new());

/// Worker threads, which end when the pool is dropped.
struct Pool {
    line: Arc<CacheLine>,
    /// Process that started the threads.
    process: u32,
}

/// Queue of invitations, and the state of the workers that serve it.
#[derive(Default)]
struct CacheLine {
    waiting: Mutex<Waiting>,
    /// Wakes sleeping workers: there are new invitations, or the pool ends.
    news: Condvar,
    /// Wake generation, polled by spinning workers. It is advanced after the lock is released: a worker that sees it takes the lock.
    generation: AtomicUsize,
    /// Workers that no call has reserved.
    idle: AtomicUsize,
}

#[derive(Default)]
struct Waiting {
    /// Invitations of open calls, at most one for each worker.
    invitations: VecDeque<Invitation>,
    /// Workers that poll the generation.
    awake: usize,
    /// Workers that wait for `news`.
    asleep: usize,
    /// Set when the pool is dropped.
    over: bool,
}

impl Waiting {
    /// Number of workers to wake: each worker that polls takes one invitation without being woken.
    fn to_wake(&self) -> usize {
        self.invitations.len().saturating_sub(self.awake).min(self.asleep)
    }
}

impl CacheLine {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues invitations and wakes workers for them.
    fn invite(&self, invitations: impl Iterator<Item = Invitation>) {
        let mut waiting = self.lock();
        waiting.invitations.extend(invitations);
        let to_wake = waiting.to_wake();
        drop(waiting);
        self.generation.fetch_add(1, Ordering::Release);
        (0..to_wake).for_each(|_| self.news.notify_one());
    }

    /// Makes the workers end.
    fn end(&self) {
        self.lock().over = true;
        self.generation.fetch_add(1, Ordering::Release);
        self.news.notify_all();
    }

    /// The next invitation, once there is one; `None` when the pool ends.
    fn next(&self) -> Option<Invitation> {
        let mut waiting = self.lock();
        let mut begun = Instant::now();
        loop {
            if !waiting.invitations.is_empty() || waiting.over {
                return waiting.invitations.pop_front();
            }
            if begun.elapsed() >= POLICY.poll {
                waiting.asleep += 1;
                waiting = self.news.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                waiting.asleep -= 1;
                begun = Instant::now();
                continue;
            }
            let seen = self.generation.load(Ordering::Acquire);
            waiting.awake += 1;
            drop(waiting);
            while self.generation.load(Ordering::Acquire) == seen && begun.elapsed() < POLICY.poll {
                // Another thread may need this processor.
                std::thread::yield_now();
            }
            waiting = self.lock();
            waiting.awake -= 1;
        }
    }

    /// Body of a worker thread.
    fn serve(&self) {
        while let Some(invitation) = self.next() {
            invitation.accept(|| _ = self.idle.fetch_add(1, Ordering::AcqRel));
        }
    }
}

impl Pool {
    /// Starts `threads` workers, or as many as the system allows; `None` if it allows none.
    fn start(threads: usize) -> Option<Self> {
        let line = Arc::new(CacheLine::default());
        let start = |n: &usize| {
            let line = Arc::clone(&line);
            std::thread::Builder::new().name(format!("b2nd-{n}")).spawn(move || line.serve()).is_ok()
        };
        let started = (0..threads).take_while(start).count();
        line.idle.store(started, Ordering::Release);
        (started > 0).then(|| Pool { line, process: std::process::id() })
    }

    /// The pool of `threads` workers that this process shares.
    fn shared(threads: usize) -> Option<Arc<Self>> {
        // A forked child may inherit the lock as taken: it goes on without it.
        let Some(mut pools) = lock_soon(&POOLS) else { return Pool::start(threads).map(Arc::new) };
        let known = pools.get(&threads).and_then(Weak::upgrade).filter(|pool| pool.is_ours());
        if known.is_some() {
            return known;
        }
        let new = Arc::new(Pool::start(threads)?);
        pools.insert(threads, Arc::downgrade(&new));
        Some(new)
    }

    fn is_ours(&self) -> bool {
        self.process == std::process::id()
    }
}

/// Locks a mutex that is held for a short time only, at most while threads are started. Gives up after [`LOCK_ATTEMPTS`]: in a
/// forked child the holder may not exist.
fn lock_soon<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    for _ in 0..LOCK_ATTEMPTS {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
    None
}

impl Drop for Pool {
    fn drop(&mut self) {
        // In a forked child the workers do not exist, and the lock may stay taken for ever.
        if self.is_ours() {
            self.line.end();
        }
    }
}

/// The pool of an [`Exec`](super::Exec) and its clones, started by the first call that needs it.
pub(super) struct Lazy {
    pool: Mutex<Option<Arc<Pool>>>,
    made: Instant,
    /// End of the last call whose work could be shared, in nanoseconds after `made`; 0 before the first.
    last: AtomicU64,
    /// Accumulated effort of the back-to-back calls up to that one.
    burst: AtomicU64,
}

impl Default for Lazy {
    fn default() -> Self {
        Lazy {
            pool: Mutex::default(),
            made: Instant::now(),
            last: AtomicU64::new(0),
            burst: AtomicU64::new(0),
        }
    }
}

impl Lazy {
    /// The time, and whether a call ended less than a burst gap ago.
    fn now(&self) -> (u64, bool) {
        let now = u64::try_from(self.made.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let last = self.last.load(Ordering::Relaxed);
        (now, last > 0 && u128::from(now.saturating_sub(last)) < POLICY.burst_gap.as_nanos())
    }

    /// Accumulated effort of the burst that a call continues if it begins now.
    pub(super) fn burst(&self) -> u64 {
        if self.now().1 { self.burst.load(Ordering::Relaxed) } else { 0 }
    }

    /// Notes that a call ends whose work could be shared, and the accumulated effort of its burst.
    pub(super) fn note_end(&self, burst: u64) {
        self.burst.store(burst, Ordering::Relaxed);
        self.last.store(self.now().0.max(1), Ordering::Relaxed);
    }

    /// Accumulated effort that the last call noted; 0 before the first.
    #[cfg(test)]
    pub(super) fn noted(&self) -> u64 {
        self.burst.load(Ordering::Relaxed)
    }

    /// Whether the workers are started.
    pub(super) fn has_threads(&self) -> bool {
        lock_soon(&self.pool).is_some_and(|pool| pool.as_ref().is_some_and(|pool| pool.is_ours()))
    }

    /// Reserves up to `wanted` idle workers of a pool of `threads`.
    pub(super) fn reserve(&self, threads: usize, wanted: usize) -> Option<Reserved> {
        if wanted == 0 || threads == 0 {
            return None;
        }
        let mut place = lock_soon(&self.pool)?;
        let pool = match place.as_ref().filter(|pool| pool.is_ours()) {
            Some(pool) => pool.clone(),
            None => place.insert(Pool::shared(threads)?).clone(),
        };
        drop(place);
        let mut count = 0;
        let take = |idle: usize| {
            count = idle.min(wanted);
            (count > 0).then(|| idle - count)
        };
        pool.line.idle.fetch_update(Ordering::AcqRel, Ordering::Acquire, take).ok()?;
        Some(Reserved { pool, count })
    }
}

/// Workers that are reserved for one call.
pub(super) struct Reserved {
    pool: Arc<Pool>,
    count: usize,
}

impl Reserved {
    /// Number of workers.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Does `work` on this thread and on the workers that join in time, and waits for these.
    pub(super) fn run(mut self, work: &(impl Fn() + Sync)) {
        let asked = std::mem::take(&mut self.count);
        let line = &*self.pool.line;
        let closed = |came: usize| {
            // A worker that joined marks itself idle when it leaves; the others are idle at once.
            if came < asked {
                line.lock().invitations.retain(Invitation::is_open);
                line.idle.fetch_add(asked - came, Ordering::AcqRel);
            }
        };
        share(work, POLICY.linger, closed, |invitation| {
            line.invite((0..asked).map(|_| invitation()));
        });
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.pool.line.idle.fetch_add(self.count, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Wraps a pool that no other test uses.
    fn alone(pool: Pool) -> Lazy {
        Lazy { pool: Mutex::new(Some(Arc::new(pool))), ..Lazy::default() }
    }

    #[test]
    fn a_call_that_begins_soon_after_another_continues_its_burst() {
        let lazy = Lazy::default();
        assert_eq!(lazy.burst(), 0);
        // The test may be interrupted for longer than the gap: one success of many is enough.
        let in_a_burst = || {
            lazy.note_end(7);
            lazy.burst()
        };
        assert!((0..1000).any(|_| in_a_burst() == 7));
        std::thread::sleep(POLICY.burst_gap);
        assert_eq!(lazy.burst(), 0);
    }

    #[test]
    fn only_as_many_are_woken_as_those_awake_leave_over() {
        let mut waiting = Waiting::default();
        share(
            &|| (),
            Duration::ZERO,
            |_| (),
            |invitation| waiting.invitations.extend((0..3).map(|_| invitation())),
        );
        let mut woken = |awake, asleep| {
            (waiting.awake, waiting.asleep) = (awake, asleep);
            waiting.to_wake()
        };
        assert_eq!([woken(0, 0), woken(2, 0), woken(0, 2), woken(1, 5), woken(5, 5)], [0, 0, 2, 2, 0]);
    }

    #[test]
    fn one_awake_is_not_promised_twice() {
        // One is awake and two sleep; the first call takes the one, the second has to wake another.
        let line = CacheLine::default();
        (line.lock().awake, line.lock().asleep) = (1, 2);
        share(
            &|| (),
            Duration::ZERO,
            |_| (),
            |invitation| {
                line.invite(std::iter::once(invitation()));
                assert_eq!(line.lock().to_wake(), 0);
                line.invite(std::iter::once(invitation()));
                assert_eq!(line.lock().to_wake(), 1);
            },
        );
    }

    #[test]
    fn a_forked_child_starts_threads_of_its_own() {
        let lazy = Lazy::default();
        let mut parents = Pool::start(41).unwrap();
        parents.process = std::process::id().wrapping_add(1);
        let parents = Arc::new(parents);
        *lazy.pool.lock().unwrap() = Some(parents.clone());
        POOLS.lock().unwrap().insert(41, Arc::downgrade(&parents));
        let own = lazy.reserve(41, 41).unwrap();
        assert!(!Arc::ptr_eq(&own.pool, &parents) && own.count() == 41);
        assert!(Arc::ptr_eq(&own.pool, &Pool::shared(41).unwrap()));
    }

    #[test]
    fn only_idle_threads_are_taken_and_all_come_back() {
        let (lazy, other) = (Lazy::default(), Lazy::default());
        let first = lazy.reserve(43, 99).unwrap();
        assert!(other.reserve(43, 43).is_none());
        drop(first);
        let done = AtomicUsize::new(0);
        for _ in 0..100 {
            // Too short for most to come: they are not waited for, and idle all the same.
            other.reserve(43, 43).unwrap().run(&|| _ = done.fetch_add(1, Ordering::Relaxed));
        }
        assert!((100..=4400).contains(&done.into_inner()));
        assert_eq!(lazy.reserve(43, 43).unwrap().count(), 43);
    }

    #[test]
    fn threads_that_come_help_and_come_back_also_from_a_panic() {
        // Of its own: the one that all share has guests of other tests.
        let lazy = alone(Pool::start(7).unwrap());
        let (caller, here) = (std::thread::current().id(), AtomicUsize::new(0));
        let all_come = || {
            here.fetch_add(1, Ordering::Relaxed);
            while here.load(Ordering::Relaxed) < 8 {
                std::thread::yield_now();
            }
        };
        lazy.reserve(7, 7).unwrap().run(&all_come);
        assert_eq!((here.swap(0, Ordering::Relaxed), lazy.reserve(7, 7).unwrap().count()), (8, 7));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            lazy.reserve(7, 7).unwrap().run(&|| {
                all_come();
                assert_eq!(
                    std::thread::current().id(),
                    caller,
                    "a thread of the pool, which this test stops"
                );
            });
        }));
        assert!(outcome.is_err());
        assert_eq!(lazy.reserve(7, 7).unwrap().count(), 7);
    }

    #[test]
    fn who_does_not_come_is_idle_at_once_and_out_of_the_line() {
        let line = Arc::new(CacheLine::default());
        line.idle.store(3, Ordering::Relaxed);
        // Without any threads: as if they never woke up.
        let lazy = alone(Pool { line: Arc::clone(&line), process: std::process::id() });
        let done = AtomicUsize::new(0);
        lazy.reserve(3, 2).unwrap().run(&|| {
            done.fetch_add(1, Ordering::Relaxed);
            assert_eq!((line.idle.load(Ordering::Relaxed), line.lock().invitations.len()), (1, 2));
        });
        assert_eq!(
            (done.into_inner(), line.idle.load(Ordering::Relaxed), line.lock().invitations.len()),
            (1, 3, 0)
        );
    }

    #[test]
    fn while_one_works_the_others_are_idle() {
        let lazy = alone(Pool::start(2).unwrap());
        let line = Arc::clone(&lazy.pool.lock().unwrap().as_ref().unwrap().line);
        let (caller, guests, begun) = (std::thread::current().id(), AtomicUsize::new(0), Instant::now());
        let until = |reached: &dyn Fn() -> bool| {
            while !reached() && begun.elapsed() < Duration::from_secs(60) {
                std::thread::yield_now();
            }
        };
        lazy.reserve(2, 2).unwrap().run(&|| {
            if std::thread::current().id() == caller {
                until(&|| guests.load(Ordering::Relaxed) > 0);
            } else if guests.fetch_add(1, Ordering::Relaxed) == 0 {
                until(&|| line.idle.load(Ordering::Relaxed) == 1);
            }
        });
        assert!(begun.elapsed() < Duration::from_secs(60));
        assert_eq!(line.idle.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn threads_end_with_their_pool() {
        let pool = Pool::start(3).unwrap();
        let (line, begun) = (Arc::downgrade(&pool.line), Instant::now());
        drop(pool);
        while line.strong_count() > 0 {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::yield_now();
        }
    }
}
