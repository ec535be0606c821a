//! Work that other threads may join while it goes on. Who comes too late finds it closed, and is not waited for.
//!
//! A scope of threads waits for every thread that was ever asked, and asking one that sleeps takes longer than short work.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// No one comes in any more.
const CLOSED: u64 = 1;
/// One who is at work.
const INSIDE: u64 = 2;
/// One who has ever come in.
const CAME: u64 = 1 << 32;

/// The work, without its lifetime.
struct Work(*const (dyn Fn() + Sync));

// SAFETY: any thread may call a shared function that is `Sync`.
unsafe impl Send for Work {}
// SAFETY: as above.
unsafe impl Sync for Work {}

struct Shared {
    work: Work,
    /// [`CLOSED`], and how many are [`INSIDE`] and [`CAME`].
    state: AtomicU64,
    /// The first panic of those who came.
    failure: Mutex<Option<Box<dyn Any + Send>>>,
    gone: Condvar,
}

impl Shared {
    fn failure(&self) -> MutexGuard<'_, Option<Box<dyn Any + Send>>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inside(&self) -> u64 {
        self.state.load(Ordering::Acquire) % CAME / INSIDE
    }

    /// Lets no one in any more. How many came.
    fn close(&self) -> usize {
        (self.state.fetch_or(CLOSED, Ordering::AcqRel) / CAME) as usize
    }

    /// Waits for those who are inside: awake for as long as `linger`, then asleep.
    fn wait(&self, linger: Duration) {
        let begun = Instant::now();
        while self.inside() > 0 && begun.elapsed() < linger {
            (0..8).for_each(|_| std::hint::spin_loop());
            // Whoever is waited for may need this processor.
            std::thread::yield_now();
        }
        let mut guard = self.failure();
        while self.inside() > 0 {
            guard = self.gone.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The right to join some work, for any thread and any time.
pub struct Invitation(Arc<Shared>);

impl Invitation {
    /// Whether it does not come too late: it may the moment after.
    pub fn is_open(&self) -> bool {
        self.0.state.load(Ordering::Relaxed) & CLOSED == 0
    }

    /// Does the work too, and then `leaving`, unless it is closed already. Returns whether.
    ///
    /// A panic of the work goes to the one who shares it.
    pub fn accept(self, leaving: impl FnOnce()) -> bool {
        let shared = &*self.0;
        let come = |state: u64| (state & CLOSED == 0).then(|| state + INSIDE + CAME);
        if shared.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, come).is_err() {
            return false;
        }
        // SAFETY: `share` borrows the work until it has closed it and nobody is inside.
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

/// Frees what a panic carries; where that panics too, also what that one carries, but not for ever.
fn discard(mut carried: Box<dyn Any + Send>) {
    for _ in 0..8 {
        match catch_unwind(AssertUnwindSafe(|| drop(carried))) {
            Ok(()) => return,
            Err(next) => carried = next,
        }
    }
    let _ = Box::leak(carried);
}

/// One who is at work.
struct Inside<'a>(&'a Shared);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        if self.0.state.fetch_sub(INSIDE, Ordering::AcqRel) % CAME == INSIDE + CLOSED {
            // Under the lock, or it would come between the look and the sleep of the one who waits.
            let _guard = self.0.failure();
            self.0.gone.notify_all();
        }
    }
}

/// Does `work` on this thread and on those that accept an invitation meanwhile; returns when all are done.
///
/// `invite` is given what makes invitations, and hands them out. Who has not accepted when this thread is done comes too late;
/// `closed` is told at once how many did come, also on the way of a panic. This thread waits for them awake for as long as
/// it has worked, and no longer than `linger`, and then asleep.
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
/// When the work does, on any of the threads.
pub fn share(
    work: &(dyn Fn() + Sync),
    linger: Duration,
    closed: impl FnOnce(usize),
    invite: impl FnOnce(&dyn Fn() -> Invitation),
) {
    let work_ever: *const (dyn Fn() + Sync + '_) = work;
    // SAFETY: only the lifetime changes, and `accept` looks behind the pointer only while `Closer` below keeps the borrow.
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

/// Closes at the end of a share, however it ends.
struct Closer<'a, F: FnOnce(usize)> {
    shared: &'a Shared,
    begun: Instant,
    linger: Duration,
    closed: Option<F>,
}

impl<F: FnOnce(usize)> Drop for Closer<'_, F> {
    fn drop(&mut self) {
        let came = self.shared.close();
        // Also when `closed` panics.
        let _wait = Wait { shared: self.shared, linger: self.begun.elapsed().min(self.linger) };
        if let Some(closed) = self.closed.take() {
            closed(came);
        }
    }
}

/// Waits when it goes.
struct Wait<'a> {
    shared: &'a Shared,
    linger: Duration,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.shared.wait(self.linger);
        if std::thread::panicking() {
            // The caller's own panic goes on in its place.
            let failure = self.shared.failure().take();
            if let Some(panic) = failure {
                discard(panic);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn who_comes_in_time_works_and_is_waited_for() {
        for linger in [Duration::ZERO, LONG] {
            let (met, done, left) = (Barrier::new(3), AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
            let caller = thread::current().id();
            let work = || {
                met.wait();
                // The others need longer than the caller.
                if thread::current().id() != caller {
                    thread::sleep(Duration::from_millis(5));
                }
                done.fetch_add(1, Ordering::Relaxed);
            };
            let mut came = 0;
            share(
                &work,
                linger,
                |n| came = n,
                |invitation| {
                    for _ in 0..2 {
                        let (invitation, left) = (invitation(), Arc::clone(&left));
                        thread::spawn(move || invitation.accept(|| _ = left.fetch_add(1, Ordering::Relaxed)));
                    }
                },
            );
            assert_eq!((came, done.into_inner(), left.load(Ordering::Relaxed)), (2, 3, 2));
        }
    }

    #[test]
    fn who_comes_too_late_is_turned_away_and_not_waited_for() {
        let (kept, mut came, done) = (Mutex::new(None), 9, AtomicUsize::new(0));
        let work = || _ = done.fetch_add(1, Ordering::Relaxed);
        share(&work, LONG, |n| came = n, |invitation| *kept.lock().unwrap() = Some(invitation()));
        let late = kept.into_inner().unwrap().unwrap();
        assert!(!late.accept(|| panic!("not let in")));
        assert_eq!((came, done.into_inner()), (0, 1));
    }

    #[test]
    fn panics_reach_the_caller_when_nobody_is_inside_any_more() {
        let caller = thread::current().id();
        for who in ["caller", "guest"] {
            let (met, gone) = (Barrier::new(2), AtomicUsize::new(0));
            let mut came = 0;
            let work = || {
                met.wait();
                let here = if thread::current().id() == caller { "caller" } else { "guest" };
                if here == "guest" {
                    thread::sleep(Duration::from_millis(5));
                    gone.fetch_add(1, Ordering::Relaxed);
                }
                assert_ne!(here, who, "a panic of this test");
            };
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                share(
                    &work,
                    Duration::ZERO,
                    |n| came = n,
                    |invitation| {
                        let invitation = invitation();
                        thread::spawn(|| invitation.accept(|| ()));
                    },
                );
            }));
            assert!(outcome.is_err(), "{who}");
            assert_eq!((came, gone.into_inner()), (1, 1), "{who}");
        }
    }

    #[test]
    fn the_caller_sees_its_own_panic_or_the_first_of_a_guest() {
        let caller = thread::current().id();
        for panics in ["guests", "caller too", "closed too", "invite too"] {
            let (first, met, left) = (AtomicUsize::new(0), Barrier::new(3), Arc::new(AtomicUsize::new(0)));
            let work = || {
                met.wait();
                if thread::current().id() == caller {
                    assert_ne!(panics, "caller too");
                    return;
                }
                if first.fetch_add(1, Ordering::Relaxed) == 0 {
                    std::panic::panic_any("first");
                }
                while left.load(Ordering::Relaxed) == 0 {
                    thread::yield_now();
                }
                std::panic::panic_any("second");
            };
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                share(
                    &work,
                    Duration::ZERO,
                    |came| {
                        assert_eq!(came, 2);
                        assert_ne!(panics, "closed too");
                    },
                    |invitation| {
                        for _ in 0..2 {
                            let (invitation, left) = (invitation(), Arc::clone(&left));
                            thread::spawn(move || {
                                invitation.accept(|| _ = left.fetch_add(1, Ordering::Relaxed))
                            });
                        }
                        if panics == "invite too" {
                            // The work is not begun here: in the caller's place.
                            met.wait();
                            std::panic::panic_any("invite");
                        }
                    },
                );
            }));
            let said = *outcome.unwrap_err().downcast_ref::<&str>().unwrap_or(&"the caller's");
            let wanted = match panics {
                "guests" => "first",
                "invite too" => "invite",
                _ => "the caller's",
            };
            assert_eq!(said, wanted, "{panics}");
        }
    }

    /// What a panic carries, that panics when it goes.
    struct Heavy(Arc<AtomicUsize>);

    impl Drop for Heavy {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            std::panic::panic_any("it goes");
        }
    }

    #[test]
    fn what_other_panics_carry_is_freed_and_may_panic_at_that() {
        let caller = thread::current().id();
        for all in [false, true] {
            let (freed, met) = (Arc::new(AtomicUsize::new(0)), Barrier::new(4));
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                share(
                    &|| {
                        met.wait();
                        if thread::current().id() != caller {
                            std::panic::panic_any(Heavy(Arc::clone(&freed)));
                        }
                        assert!(!all);
                    },
                    Duration::ZERO,
                    |came| assert_eq!(came, 3),
                    |invitation| {
                        for _ in 0..3 {
                            let invitation = invitation();
                            thread::spawn(|| invitation.accept(|| ()));
                        }
                    },
                );
            }));
            let said = outcome.unwrap_err();
            // The first of them is the caller's, unless the caller has its own.
            assert_eq!((said.is::<Heavy>(), freed.load(Ordering::Relaxed)), (!all, if all { 3 } else { 2 }));
            assert_eq!(catch_unwind(AssertUnwindSafe(|| drop(said))).is_err(), !all);
        }
    }

    #[test]
    fn many_short_shares_lose_nothing() {
        let (senders, guests): (Vec<_>, Vec<_>) = (0..3)
            .map(|_| {
                let (sender, receiver) = std::sync::mpsc::channel::<Invitation>();
                (
                    sender,
                    thread::spawn(move || {
                        receiver.iter().map(|i| i.accept(|| ())).filter(|&came| came).count()
                    }),
                )
            })
            .unzip();
        let mut all = 0;
        for round in 0..3000 {
            let (next, sum) = (AtomicU64::new(0), AtomicU64::new(0));
            let work = || loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= 50 {
                    return;
                }
                sum.fetch_add(n, Ordering::Relaxed);
            };
            share(
                &work,
                Duration::from_micros(round % 3 * 20),
                |n| all += n,
                |invitation| {
                    senders.iter().for_each(|sender| sender.send(invitation()).unwrap());
                },
            );
            assert_eq!(sum.into_inner(), 49 * 50 / 2);
        }
        drop(senders);
        let came: usize = guests.into_iter().map(|guest| guest.join().unwrap()).sum();
        assert_eq!(came, all);
    }
}
