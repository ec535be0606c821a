//! Work that other threads may join until its caller is done. A thread that comes later finds it closed, and nobody waits for it.
//!
//! A scope of threads waits for every thread that was started, and waking a sleeping thread takes longer than short work.

use crate::sync::{Arc, AtomicU64, Condvar, Mutex, MutexGuard, Ordering, spin_loop, yield_now};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Flag of the state: no thread may join any more.
const CLOSED: u64 = 1;
/// Unit of the active-worker count.
const INSIDE: u64 = 2;
/// Unit of the count of workers that have ever joined.
const CAME: u64 = 1 << 32;

/// Spins between two looks at the clock while the caller polls: about 0.3 µs.
const SPINS: usize = 8;

/// Pointer to the work, without its lifetime.
struct Work(*const (dyn Fn() + Sync));

// SAFETY: any thread may call a shared function that is `Sync`.
unsafe impl Send for Work {}
// SAFETY: as above.
unsafe impl Sync for Work {}

struct Shared {
    work: Work,
    /// The flag [`CLOSED`], the number of workers inside in units of [`INSIDE`], the number that ever joined in units of [`CAME`].
    state: AtomicU64,
    /// First panic of a worker.
    failure: Mutex<Option<Box<dyn Any + Send>>>,
    /// Signalled when the last worker leaves closed work.
    gone: Condvar,
}

impl Shared {
    fn failure(&self) -> MutexGuard<'_, Option<Box<dyn Any + Send>>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of workers inside.
    fn inside(&self) -> u64 {
        self.state.load(Ordering::Acquire) % CAME / INSIDE
    }

    /// Closes the work and returns how many workers joined.
    fn close(&self) -> usize {
        (self.state.fetch_or(CLOSED, Ordering::AcqRel) / CAME) as usize
    }

    /// Waits for the workers inside: polls for `linger`, then sleeps.
    fn wait(&self, linger: Duration) {
        let begun = Instant::now();
        while self.inside() > 0 && begun.elapsed() < linger {
            (0..SPINS).for_each(|_| spin_loop());
            // A worker may need this processor.
            yield_now();
        }
        let mut guard = self.failure();
        while self.inside() > 0 {
            guard = self.gone.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// An invitation to join some work, from any thread and at any time.
pub struct Invitation(Arc<Shared>);

impl Invitation {
    /// Whether the work is still open. It may be closed the moment after.
    pub fn is_open(&self) -> bool {
        self.0.state.load(Ordering::Relaxed) & CLOSED == 0
    }

    /// Runs the work and then `leaving`, unless the work is closed; returns whether it ran.
    ///
    /// A panic of the work is carried to the caller of [`share`].
    pub fn accept(self, leaving: impl FnOnce()) -> bool {
        let shared = &*self.0;
        let come = |state: u64| (state & CLOSED == 0).then(|| state + INSIDE + CAME);
        if shared.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, come).is_err() {
            return false;
        }
        // SAFETY: `share` borrows the work until it is closed and no worker is inside; this one has just joined.
        let work = unsafe { &*shared.work.0 };
        let inside = Inside(shared);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            let mut first = shared.failure();
            if first.is_none() {
                *first = Some(panic);
            } else {
                discard(panic);
            }
        }
        leaving();
        drop(inside);
        true
    }
}

/// Drops the payload of a panic. If the drop panics, drops that payload too, up to eight times; then leaks it.
fn discard(mut carried: Box<dyn Any + Send>) {
    for _ in 0..8 {
        match catch_unwind(AssertUnwindSafe(|| drop(carried))) {
            Ok(()) => return,
            Err(next) => carried = next,
        }
    }
    let _ = Box::leak(carried);
}

/// A worker inside, counted in the state until this is dropped.
struct Inside<'a>(&'a Shared);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        if self.0.state.fetch_sub(INSIDE, Ordering::AcqRel) % CAME == INSIDE + CLOSED {
            // With the lock held: otherwise the caller could check the count, miss this signal, and sleep for ever.
            let _guard = self.0.failure();
            self.0.gone.notify_all();
        }
    }
}

/// Runs `work` on this thread and on threads that accept an invitation meanwhile; returns when all have finished.
///
/// `invite` receives a function that makes invitations, and hands them out. When this thread has finished, it closes the work:
/// invitations that were not accepted are refused from then on, and `closed` is called with the number of those that were, also
/// when the work panics. This thread polls for the others for as long as it worked itself, at most for `linger`, and then sleeps.
///
/// ```
/// use b2nd_kernel::share::share;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use std::time::Duration;
/// let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
/// let work = || while next.fetch_add(1, Ordering::Relaxed) < 1000 {
///     done.fetch_add(1, Ordering::Relaxed);
/// };
/// share(&work, Duration::ZERO, |came| assert!(came <= 1), |invitation| {
///     let invitation = invitation();
///     std::thread::spawn(|| invitation.accept(|| ()));
/// });
/// assert_eq!(done.into_inner(), 1000);
/// ```
///
/// # Panics
/// If the work panics on any of the threads.
pub fn share(
    work: &(dyn Fn() + Sync),
    linger: Duration,
    closed: impl FnOnce(usize),
    invite: impl FnOnce(&dyn Fn() -> Invitation),
) {
    let work_ever: *const (dyn Fn() + Sync + '_) = work;
    // SAFETY: only the lifetime changes. `accept` dereferences the pointer only before `Closer`, below, has been dropped.
    let work_ever: *const (dyn Fn() + Sync + 'static) = unsafe { std::mem::transmute(work_ever) };
    let state = AtomicU64::new(0);
    let shared =
        Arc::new(Shared { work: Work(work_ever), state, failure: Mutex::default(), gone: Condvar::new() });
    let closer = Closer { shared: &shared, begun: Instant::now(), linger, closed: Some(closed) };
    invite(&|| Invitation(Arc::clone(&shared)));
    work();
    drop(closer);
    let failure = shared.failure().take();
    if let Some(panic) = failure {
        resume_unwind(panic);
    }
}

/// Closes the work when it is dropped: on return and on a panic.
struct Closer<'a, F: FnOnce(usize)> {
    shared: &'a Shared,
    begun: Instant,
    linger: Duration,
    closed: Option<F>,
}

impl<F: FnOnce(usize)> Drop for Closer<'_, F> {
    fn drop(&mut self) {
        let came = self.shared.close();
        // Waits even if `closed` panics.
        let _wait = Wait { shared: self.shared, linger: self.begun.elapsed().min(self.linger) };
        if let Some(closed) = self.closed.take() {
            closed(came);
        }
    }
}

/// Waits for the workers inside when it is dropped.
struct Wait<'a> {
    shared: &'a Shared,
    linger: Duration,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.shared.wait(self.linger);
        if std::thread::panicking() {
            // The caller's own panic continues; the payload of a worker is dropped.
            let failure = self.shared.failure().take();
            if let Some(panic) = failure {
                discard(panic);
            }
        }
    }
}
