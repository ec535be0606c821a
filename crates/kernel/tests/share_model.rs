//! All interleavings and memory orders of shared work, tried by `loom`: `cargo test -p b2nd-kernel --features model --test share_model`.
//!
//! `share.rs` is compiled here with loom's primitives in place of those of `std`. Each model is a caller and one or two workers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

#[path = "../src/share.rs"]
#[allow(unsafe_code, unreachable_pub, reason = "the source of the library, of which this is a second copy")]
mod share;

/// The names that `share.rs` imports.
mod sync {
    pub(crate) use loom::hint::spin_loop;
    pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};
    pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(crate) use loom::thread::yield_now;
}

use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicUsize;
use loom::thread::{self, JoinHandle};
use share::{Invitation, share};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Memory that the work borrows. Loom reports an access that is not ordered after the one before it.
struct Borrowed(UnsafeCell<u32>);

#[expect(unsafe_code, reason = "loom checks each access")]
// SAFETY: loom checks that no two threads access the cell at the same time, unless both read.
unsafe impl Sync for Borrowed {}

impl Borrowed {
    fn new() -> Self {
        Borrowed(UnsafeCell::new(7))
    }
    /// A read on any thread, as by work that runs.
    #[expect(unsafe_code, reason = "loom checks each access")]
    fn read(&self) -> u32 {
        // SAFETY: loom checks that no other thread writes.
        self.0.with(|value| unsafe { *value })
    }
    /// A write on the caller's thread, as by an owner whose borrow has ended.
    #[expect(unsafe_code, reason = "loom checks each access")]
    fn overwrite(&self) {
        // SAFETY: loom checks that no other thread reads or writes.
        self.0.with_mut(|value| unsafe { *value = 0 });
    }
}

/// Tries all interleavings, or those with at most this number of preemptions.
fn model(preemptions: Option<usize>, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.check(body);
}

/// Starts `count` workers that accept an invitation each; the threads return whether they worked.
fn start(
    workers: &Workers,
    count: usize,
    invitation: &dyn Fn() -> Invitation,
    left: &sync::Arc<AtomicUsize>,
) {
    for _ in 0..count {
        let (invitation, left) = (invitation(), sync::Arc::clone(left));
        let leave = move || _ = left.fetch_add(1, Ordering::Relaxed);
        let worker = thread::spawn(move || invitation.accept(leave));
        workers.lock().unwrap().push(worker);
    }
}

type Workers = Mutex<Vec<JoinHandle<bool>>>;

/// Shares `work` with `count` workers, which have left when this returns or unwinds; how many joined in time.
fn share_with(count: usize, workers: &Workers, work: &(dyn Fn() + Sync)) -> usize {
    let left = sync::Arc::new(AtomicUsize::new(0));
    let mut joined = 0;
    share(work, Duration::ZERO, |n| joined = n, |invitation| start(workers, count, invitation, &left));
    assert_eq!(left.load(Ordering::Relaxed), joined, "a worker that joined has not left");
    joined
}

/// Joins the threads; how many of them worked.
fn worked(workers: Workers) -> usize {
    let threads = workers.into_inner().unwrap().into_iter();
    threads.map(|thread| thread.join().unwrap()).filter(|&worked| worked).count()
}

/// Two units of work, each of which the caller or a worker must do exactly once.
fn units(workers_count: usize, preemptions: Option<usize>) {
    model(preemptions, move || {
        let (next, done) = (AtomicUsize::new(0), [AtomicUsize::new(0), AtomicUsize::new(0)]);
        let workers = Workers::default();
        let joined = share_with(workers_count, &workers, &|| {
            while let Some(unit) = done.get(next.fetch_add(1, Ordering::Relaxed)) {
                unit.fetch_add(1, Ordering::Relaxed);
            }
        });
        assert_eq!(done.each_ref().map(|unit| unit.load(Ordering::Relaxed)), [1, 1]);
        assert_eq!(worked(workers), joined);
    });
}

#[test]
fn each_unit_is_done_once() {
    units(1, None);
    units(2, Some(3));
}

#[test]
fn no_worker_touches_what_the_work_borrows_after_the_share_returns() {
    for (count, preemptions) in [(1, None), (2, Some(3))] {
        model(preemptions, move || {
            let (borrowed, workers) = (Borrowed::new(), Workers::default());
            let joined = share_with(count, &workers, &|| assert_eq!(borrowed.read(), 7));
            borrowed.overwrite();
            // Also those that came too late have not touched it, and were not counted.
            assert_eq!(worked(workers), joined);
        });
    }
}

#[test]
fn an_invitation_is_refused_when_the_share_has_returned() {
    model(None, || {
        let late = Mutex::new(None);
        share(
            &|| (),
            Duration::ZERO,
            |joined| assert_eq!(joined, 0),
            |invitation| {
                *late.lock().unwrap() = Some(invitation());
            },
        );
        let late = late.into_inner().unwrap().unwrap();
        assert!(!late.is_open());
        let thread = thread::spawn(move || late.accept(|| unreachable!()));
        assert!(!thread.join().unwrap());
    });
}

#[test]
fn the_first_panic_of_a_worker_reaches_the_caller_when_all_have_left() {
    for (count, preemptions) in [(1, None), (2, Some(3))] {
        model(preemptions, move || {
            let (borrowed, workers) = (Borrowed::new(), Workers::default());
            let calls = AtomicUsize::new(0);
            let work = || {
                // The caller is the first or a later one: its call is told apart by its number, not by its thread.
                let number = calls.fetch_add(1, Ordering::Relaxed);
                assert_eq!(borrowed.read(), 7);
                if number > 0 {
                    resume_unwind(Box::new(number));
                }
            };
            let outcome = catch_unwind(AssertUnwindSafe(|| share_with(count, &workers, &work)));
            borrowed.overwrite();
            let calls = calls.load(Ordering::Relaxed);
            match outcome {
                Ok(joined) => assert_eq!((joined, calls), (0, 1), "a panic of a worker is lost"),
                Err(panic) => assert!(panic.is::<usize>() && calls > 1),
            }
            assert_eq!(worked(workers), calls - 1);
        });
    }
}
