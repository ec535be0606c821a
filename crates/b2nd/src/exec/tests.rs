use super::call::choose;
use super::policy::POLICY;
use super::*;
use std::sync::atomic::{AtomicU64, AtomicUsize};

#[test]
fn every_task_runs_once_on_any_number_of_threads() {
    for threads in [0, 1, 2, 7] {
        let seen: Vec<AtomicU64> = (0..1000).map(|_| AtomicU64::new(0)).collect();
        Exec::new(threads)
            .run(seen.len(), u64::MAX, |_, task| {
                seen[task].fetch_add(1, Ordering::Relaxed);
                Ok(())
            })
            .unwrap();
        assert!(seen.iter().all(|n| n.load(Ordering::Relaxed) == 1));
    }
}

/// More tasks than anybody waits for, on machines of any width.
const MANY: usize = usize::MAX / 1024;

#[test]
fn a_failure_stops_the_rest_and_is_returned() {
    let error = Exec::new(3).run(
        MANY,
        u64::MAX,
        |_, task| if task >= 10 { Err(Error::usage("stop")) } else { Ok(()) },
    );
    assert!(matches!(error, Err(Error::Usage(_))));
}

#[test]
fn a_thrown_switch_stops_serial_and_parallel_work() {
    for threads in [1, 3] {
        let cancel = Cancel::new();
        let exec = Exec::new(threads).with_cancel(cancel.clone());
        let result = exec.run(MANY, u64::MAX, |_, task| {
            if task == 5 {
                cancel.cancel();
            }
            Ok(())
        });
        assert!(matches!(result, Err(Error::Cancelled)));
    }
}

#[test]
fn calls_at_the_same_time_share_the_threads_and_none_waits_for_another() {
    let held = std::sync::Barrier::new(2);
    let exec = Exec::new(3);
    std::thread::scope(|scope| {
        let (other, held) = (exec.clone(), &held);
        scope.spawn(move || {
            // All the threads there are, until the other call is done.
            other.run(3, u64::MAX, |_, task| {
                if task == 0 {
                    held.wait();
                }
                Ok(())
            })
        });
        for _ in 0..100 {
            exec.run(10, u64::MAX, |_, _| Ok(())).unwrap();
        }
        held.wait();
    });
}

#[test]
fn scratch_memory_is_found_again_also_by_threads_at_the_same_time() {
    let (exec, fresh) = (Exec::new(1), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    exec.with_scratch(|scratch| {
                        fresh.fetch_add(u64::from(scratch.block.is_empty()), Ordering::Relaxed);
                        scratch.block.resize(1000, 7);
                    });
                }
            });
        }
    });
    // One for each thread, and a few where two met.
    assert!(fresh.load(Ordering::Relaxed) <= 40, "{fresh:?}");
}

#[test]
fn work_inside_work_is_done() {
    let exec = Exec::new(2);
    let total = AtomicU64::new(0);
    exec.run(8, u64::MAX, |_, _| {
        exec.run(8, u64::MAX, |_, _| {
            total.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
    })
    .unwrap();
    assert_eq!(total.into_inner(), 64);
}

#[test]
fn a_panic_in_work_leaves_the_threads_usable() {
    let exec = Exec::new(54);
    for _ in 0..5 {
        let work = std::panic::AssertUnwindSafe(|| {
            exec.run(99, u64::MAX, |_, task| if task == 1 { panic!("on purpose") } else { Ok(()) })
        });
        assert!(std::panic::catch_unwind(work).is_err());
    }
    assert_eq!(exec.pool.reserve(53, 53).map(|reserved| reserved.count()), Some(53));
}

#[test]
fn a_first_call_of_few_tasks_starts_all_the_threads() {
    let exec = Exec::new(48);
    exec.run(2, u64::MAX, |_, _| Ok(())).unwrap();
    assert_eq!(exec.pool.reserve(47, 47).map(|reserved| reserved.count()), Some(47));
}

#[test]
fn tasks_that_wait_for_those_before_them_may_share_work_of_their_own() {
    // As in a write whose closure reads. A thread that helped another's work while in the middle of a task would wait for itself.
    for _ in 0..200 {
        let (exec, done, inner) = (Exec::new(3), AtomicUsize::new(0), AtomicUsize::new(0));
        exec.run(30, u64::MAX, |_, task| {
            exec.run(3, POLICY.start_from - 1, |_, _| {
                inner.fetch_add(1, Ordering::Relaxed);
                Ok(())
            })?;
            while done.load(Ordering::Acquire) < task {
                std::thread::yield_now();
            }
            done.store(task + 1, Ordering::Release);
            Ok(())
        })
        .unwrap();
        assert_eq!((done.into_inner(), inner.into_inner()), (30, 90));
    }
}

#[test]
fn threads_are_as_many_as_the_effort_pays_for() {
    let exec = Exec::new(80);
    let threads = |effort| choose(&exec, 60, effort).0;
    assert_eq!(
        [0, 16_383, 16_384, 131_071, 131_072, 147_456, u64::MAX].map(threads),
        [1, 1, 1, 1, 16, 18, 60]
    );
}

#[test]
fn short_calls_are_shared_in_a_burst() {
    // Each call continues a burst of this effort. Repeated, as the test may be interrupted for longer than the gap.
    let in_a_burst = |exec: &Exec, burst: Option<u64>, effort| {
        let again = || {
            burst.into_iter().for_each(|burst| exec.pool.note_end(burst));
            choose(exec, 60, effort).0
        };
        (0..1000).map(|_| again()).max().unwrap()
    };
    let exec = Exec::new(80);
    assert_eq!(in_a_burst(&exec, Some(79 * POLICY.start_from), POLICY.share_from - 1), 1);
    assert_eq!(in_a_burst(&exec, Some(79 * POLICY.start_from), POLICY.share_from), 2);
    assert_eq!(in_a_burst(&exec, Some(79 * POLICY.start_from), POLICY.wake_from - 1), 15);
    std::thread::sleep(std::time::Duration::from_millis(1));
    assert_eq!(in_a_burst(&exec, None, POLICY.wake_from - 1), 1);
    // Shorter, where threads would have to be started, and where they are there.
    assert_eq!(in_a_burst(&exec, Some(79 * POLICY.start_from - 1), POLICY.share_from), 1);
    drop(exec.pool.reserve(79, 1));
    assert_eq!(in_a_burst(&exec, Some(POLICY.wake_from), POLICY.share_from), 2);
    assert_eq!(in_a_burst(&exec, Some(POLICY.wake_from - 1), POLICY.share_from), 1);
    std::thread::sleep(std::time::Duration::from_millis(1));
    assert_eq!(choose(&exec, 60, POLICY.share_from).0, 1);
}

#[test]
fn efforts_of_a_burst_add_up() {
    let exec = Exec::new(2);
    let sum = (0..1000).map(|_| {
        exec.run(2, POLICY.share_from, |_, _| Ok(())).unwrap();
        choose(&exec, 2, POLICY.share_from).1.unwrap()
    });
    assert!(sum.max().unwrap() > 3 * POLICY.share_from);
    std::thread::sleep(std::time::Duration::from_millis(1));
    assert_eq!(choose(&exec, 2, POLICY.share_from).1, Some(POLICY.share_from));
    let burst = |tasks, effort| choose(&exec, tasks, effort).1;
    assert_eq!((burst(1, u64::MAX), burst(2, POLICY.share_from - 1)), (None, None));
}

#[test]
fn a_call_ends_once_however_it_ends() {
    let noted_after = |call: &dyn Fn(&Exec)| {
        let exec = Exec::new(2);
        call(&exec);
        exec.pool.noted()
    };
    for effort in [POLICY.share_from, u64::MAX / 2] {
        assert_eq!(noted_after(&|exec| drop(exec.call(2, effort))), effort);
        assert_eq!(noted_after(&|exec| exec.run(2, effort, |_, _| Ok(())).unwrap()), effort);
        assert_eq!(noted_after(&|exec| exec.call(9, effort).run(2, |_, _| Ok(())).unwrap()), effort);
        let fails = |exec: &Exec| assert!(exec.run(2, effort, |_, _| Err(Error::usage("stop"))).is_err());
        assert_eq!(noted_after(&fails), effort);
        let panics = |exec: &Exec| {
            let work = || exec.run(2, effort, |_, _| std::panic::resume_unwind(Box::new("on purpose")));
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err());
        };
        assert_eq!(noted_after(&panics), effort);
    }
}

#[test]
fn a_switch_that_asks_ends_the_work_whose_thread_hears_it() {
    use std::cell::Cell;
    thread_local!(static ENOUGH: Cell<bool> = const { Cell::new(false) });
    for threads in [1, 4] {
        let exec = Exec::new(threads).with_cancel(Cancel::asking(|| ENOUGH.get()));
        let done = AtomicUsize::new(0);
        let count = |_: &mut Scratch, _| {
            done.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(std::time::Duration::from_micros(50));
            Ok(())
        };
        exec.run(500, u64::MAX, count).unwrap();
        assert_eq!(done.swap(0, Ordering::Relaxed), 500);
        ENOUGH.set(true);
        assert!(matches!(exec.run(MANY, u64::MAX, count), Err(Error::Cancelled)));
        assert!(done.load(Ordering::Relaxed) < MANY);
        ENOUGH.set(false);
        exec.run(10, u64::MAX, count).unwrap();
    }
}
