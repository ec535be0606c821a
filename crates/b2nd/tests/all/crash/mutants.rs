//! The proof can fail: commits that write in another order, or leave out a wait, are found.

use super::check::{Report, check};
use super::work::{self, Run, Setup};
use super::{FULL, LONG, number};
use b2nd::{Durability, Layout};
use b2nd_testkit::disk::Event;
use b2nd_testkit::rng::Rng;

/// The crashes of a few runs whose log was changed.
fn crashes_of(setup: Setup, mutate: fn(&mut Vec<Event>, Setup)) -> Report {
    let mut all = Report::default();
    for seed in 1..=number("B2ND_CRASH_RUNS", if setup.is_long() { 8 } else { 2 }) {
        let mut rng = Rng::new(seed);
        let mut run: Run = work::run(setup, &mut rng).unwrap();
        mutate(run.disk.log_mut(), setup);
        all.add(check(&run, &mut rng));
    }
    println!("{} of {} crashes", all.wrong.len(), all.crashes);
    all
}

fn assert_found(setup: Setup, mutate: fn(&mut Vec<Event>, Setup)) {
    let report = crashes_of(setup, mutate);
    assert!(!report.wrong.is_empty(), "{setup:?}: {report:?}");
}

const SPARSE: Setup = Setup { layout: Layout::Sparse, ..FULL };

#[test]
fn a_run_that_is_not_mutated_is_right() {
    assert_eq!(crashes_of(FULL, |_, _| {}).wrong.len(), 0);
}

#[test]
fn a_header_that_comes_before_its_data_is_found() {
    let early = |log: &mut Vec<Event>, setup: Setup| {
        let is_header = |event: &Event| matches!(event, Event::Write { at, .. } if *at == setup.base);
        for n in 1..log.len() {
            if is_header(&log[n]) && matches!(log[n - 1], Event::Sync(_)) {
                log.swap(n - 1, n);
            }
        }
    };
    assert_found(FULL, early);
    assert_found(Setup { durability: Durability::Ordered, ..FULL }, early);
}

#[test]
fn a_commit_that_waits_for_nothing_is_found() {
    for setup in [FULL, SPARSE, Setup { durability: Durability::Ordered, ..FULL }] {
        assert_found(setup, |log, _| log.retain(|event| !matches!(event, Event::Sync(_) | Event::SyncNames)));
    }
}

#[test]
fn a_commit_that_does_not_wait_for_its_header_is_found() {
    assert_found(FULL, |log, _| {
        let ends: Vec<usize> = (0..log.len()).filter(|n| matches!(log[*n], Event::Done(_))).collect();
        for end in ends.into_iter().rev() {
            if let Some(sync) = log[..end].iter().rposition(|event| matches!(event, Event::Sync(_))) {
                log.remove(sync);
            }
        }
    });
}

#[test]
fn chunk_files_that_are_not_waited_for_are_found() {
    assert_found(SPARSE, |log, _| log.retain(|event| !matches!(event, Event::Sync(_))));
    assert_found(SPARSE, |log, _| log.retain(|event| !matches!(event, Event::SyncNames)));
}

#[test]
fn long_headers_without_an_undo_record_are_found() {
    for setup in LONG {
        assert_found(setup, |log, _| {
            log.retain(
                |event| !matches!(event, Event::Write { bytes, .. } if bytes.ends_with(b"b2undo\0\x01")),
            );
        });
    }
}

#[test]
fn an_undo_record_that_goes_before_the_header_is_there_is_found() {
    let early = |log: &mut Vec<Event>, _: Setup| {
        for n in 1..log.len() {
            if matches!(log[n], Event::SetLen { .. }) && matches!(log[n - 1], Event::Sync(_)) {
                log.swap(n - 1, n);
            }
        }
    };
    let setup = LONG[1];
    assert_found(setup, early);
    assert_found(Setup { durability: Durability::Ordered, ..setup }, early);
}

#[test]
fn files_that_go_too_early_are_found() {
    assert_found(SPARSE, |log, _| {
        // Each removal before what it waited for.
        for n in 0..log.len() {
            if let Event::Unname(name) = &log[n]
                && !name.contains("tmp")
            {
                let gone = log.remove(n);
                let before =
                    log[..n].iter().rposition(|event| matches!(event, Event::SyncNames)).unwrap_or(0);
                log.insert(before, gone);
            }
        }
    });
}
