//! Threads that stay for the next call: waking one costs less than starting one.
//!
//! A call takes only threads that are idle, so it never waits for the work of another. After a fork the child has none of
//! them: it sees that by its process number, and starts its own. (A child in a process-number space of its own that has its
//! parent's number there would not see it.)

use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError, Weak};
use std::time::{Duration, Instant};

/// How long a caller that has nothing left to do waits awake for the threads that help it. Going to sleep and being woken takes 50 µs on
/// virtual machines, half of what two threads need for a MiB.
const LINGER: Duration = Duration::from_micros(100);

/// The pools of this process by their number of threads: as many as there are different numbers in use.
static POOLS: Mutex<BTreeMap<usize, Weak<Pool>>> = Mutex::new(BTreeMap::new());

/// Threads that wait for work.
struct Pool {
    /// Taken out only by `drop`.
    threads: Option<ThreadPool>,
    idle: AtomicUsize,
    process: u32,
}

impl Pool {
    fn start(threads: usize) -> Option<Self> {
        let builder = ThreadPoolBuilder::new().num_threads(threads).thread_name(|n| format!("b2nd-{n}"));
        // Where threads cannot be made, callers do the work themselves.
        let pool = builder.build().ok()?;
        Some(Pool { threads: Some(pool), idle: AtomicUsize::new(threads), process: std::process::id() })
    }

    /// The pool of so many threads that all of this process share.
    fn shared(threads: usize) -> Option<Arc<Self>> {
        // A lock that a forked child inherited as taken must not stop it.
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

/// A lock that its holder gives back soon, at the latest when it has started its threads; `None` after a while, as there may be no
/// holder any more.
fn lock_soon<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    for _ in 0..1000 {
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
        let threads = self.threads.take();
        if !self.is_ours() {
            // Its threads are in the parent: nobody would answer.
            let _ = ManuallyDrop::new(threads);
        }
    }
}

/// The pool of an [`Exec`](super::Exec) and its clones, started when it is needed first.
#[derive(Default)]
pub(super) struct Lazy(Mutex<Option<Arc<Pool>>>);

impl Lazy {
    /// Up to `wanted` threads that are idle now, of a pool of `threads`.
    pub(super) fn reserve(&self, threads: usize, wanted: usize) -> Option<Reserved> {
        // A thread of a pool that waits for others takes up any work meanwhile, that of this very call among it.
        if wanted == 0 || threads == 0 || rayon_core::current_thread_index().is_some() {
            return None;
        }
        let mut place = lock_soon(&self.0)?;
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
        pool.idle.fetch_update(Ordering::AcqRel, Ordering::Acquire, take).ok()?;
        Some(Reserved { pool, count })
    }
}

/// Threads that nobody else uses.
pub(super) struct Reserved {
    pool: Arc<Pool>,
    count: usize,
}

impl Reserved {
    /// How many.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Does `work` on all of them and on this thread, and waits for all.
    pub(super) fn run(self, work: &(impl Fn() + Sync)) {
        self.run_counted(&AtomicUsize::new(0), work);
    }

    /// As [`Reserved::run`]; counts in `done` who of the others is done.
    fn run_counted(mut self, done: &AtomicUsize, work: &(impl Fn() + Sync)) {
        let pool = self.pool.clone();
        let (Some(threads), idle) = (&pool.threads, &pool.idle) else { return work() };
        let (begun, wanted) = (Instant::now(), self.count);
        threads.in_place_scope(|scope| {
            while let Some(rest) = self.count.checked_sub(1) {
                self.count = rest;
                scope.spawn(move |_| {
                    let _back = (Back(idle), Back(done));
                    // A thread that waits inside a closure of the user, for work of its own in this pool, takes up whatever is
                    // there. The work that it is in the middle of must not come on top of itself: others do it.
                    if let Some(_busy) = Busy::enter() {
                        work();
                    }
                });
            }
            work();
            // The others have about as long a way to go; to sleep until they are there costs more than most of them need.
            linger(begun.elapsed().min(LINGER), || done.load(Ordering::Acquire) == wanted);
        });
    }
}

/// Waits for `done` at most so long, awake.
fn linger(most: Duration, done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() && begun.elapsed() < most {
        (0..8).for_each(|_| std::hint::spin_loop());
        // Whoever is waited for may need this processor.
        std::thread::yield_now();
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.pool.idle.fetch_add(self.count, Ordering::AcqRel);
    }
}

thread_local!(static BUSY: Cell<bool> = const { Cell::new(false) });

/// While a thread of a pool is at work.
struct Busy;

impl Busy {
    /// `None` where the thread is at work already.
    fn enter() -> Option<Self> {
        (!BUSY.replace(true)).then_some(Busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        BUSY.set(false);
    }
}

/// Says that a thread is done, also after a panic.
struct Back<'a>(&'a AtomicUsize);

impl Drop for Back<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forked_child_starts_threads_of_its_own() {
        let lazy = Lazy::default();
        let mut parents = Pool::start(6).unwrap();
        parents.process = std::process::id().wrapping_add(1);
        let parents = Arc::new(parents);
        *lazy.0.lock().unwrap() = Some(parents.clone());
        POOLS.lock().unwrap().insert(6, Arc::downgrade(&parents));
        let own = lazy.reserve(6, 6).unwrap();
        assert!(!Arc::ptr_eq(&own.pool, &parents) && own.count() == 6);
        assert!(Arc::ptr_eq(&own.pool, &Pool::shared(6).unwrap()));
    }

    #[test]
    fn a_caller_waits_awake_until_all_are_done_and_not_for_ever() {
        let begun = Instant::now();
        linger(Duration::from_secs(60), || true);
        assert!(begun.elapsed() < Duration::from_secs(30));
        linger(Duration::from_millis(2), || false);
        assert!(begun.elapsed() >= Duration::from_millis(2));
        // All of those that help say that they are done, by a panic too.
        let (lazy, done) = (Lazy::default(), AtomicUsize::new(0));
        let reserved = lazy.reserve(7, 7).unwrap();
        let (caller, others) = (std::thread::current().id(), reserved.count());
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            reserved.run_counted(&done, &|| {
                assert_eq!(
                    std::thread::current().id(),
                    caller,
                    "a thread of the pool, which this test stops"
                );
            });
        }));
        assert!(outcome.is_err());
        assert_eq!((done.into_inner(), lazy.reserve(7, 7).unwrap().count()), (others, others));
    }

    #[test]
    fn only_idle_threads_are_taken_and_all_come_back() {
        let (lazy, other) = (Lazy::default(), Lazy::default());
        let first = lazy.reserve(5, 9).unwrap();
        assert!(other.reserve(5, 5).is_none());
        drop(first);
        let done = AtomicUsize::new(0);
        for _ in 0..100 {
            other.reserve(5, 5).unwrap().run(&|| {
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        assert_eq!((done.into_inner(), lazy.reserve(5, 5).unwrap().count()), (600, 5));
    }
}
