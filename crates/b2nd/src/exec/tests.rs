use super::*;
use std::sync::atomic::AtomicU64;

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

#[test]
fn a_failure_stops_the_rest_and_is_returned() {
    let error = Exec::new(3)
        .run(1 << 40, u64::MAX, |_, task| if task >= 10 { Err(Error::usage("stop")) } else { Ok(()) });
    assert!(matches!(error, Err(Error::Usage(_))));
}

#[test]
fn a_thrown_switch_stops_serial_and_parallel_work() {
    for threads in [1, 3] {
        let cancel = Cancel::new();
        let exec = Exec::new(threads).with_cancel(cancel.clone());
        let result = exec.run(1 << 40, u64::MAX, |_, task| {
            if task == 5 {
                cancel.cancel();
            }
            Ok(())
        });
        assert!(matches!(result, Err(Error::Cancelled)));
    }
}
