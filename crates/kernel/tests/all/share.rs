//! Sharing work with real threads; `tests/share_model.rs` tries all interleavings of a few of these cases.

#![expect(clippy::panic, reason = "a panic in a drop is what one test is about")]

use b2nd_kernel::share::{Invitation, share};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

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
                        thread::spawn(move || invitation.accept(|| _ = left.fetch_add(1, Ordering::Relaxed)));
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
                thread::spawn(move || receiver.iter().map(|i| i.accept(|| ())).filter(|&came| came).count()),
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
