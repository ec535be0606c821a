//! Crashes at every moment of random changes: what is found afterwards is the state before or after a change, never a
//! mixture, and never less than what was acknowledged.
//!
//! `B2ND_CRASH_RUNS` sets how many runs of changes there are for each kind of frame, `B2ND_CRASH_SEED` the first seed.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, in its helper functions too"
)]

mod check;
mod mutants;
mod store;
mod work;

use b2nd::{Durability, Layout};
use b2nd_testkit::rng::Rng;
use check::Report;
use work::Setup;

/// A number from the environment, or this one.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs of this kind, and every crash of them.
fn survive(setup: Setup, runs: u64) -> Report {
    let mut all = Report::default();
    let first = number("B2ND_CRASH_SEED", 1);
    for seed in first..first + number("B2ND_CRASH_RUNS", runs) {
        let mut rng = Rng::new(seed);
        let run =
            work::run(setup, &mut rng).unwrap_or_else(|error| panic!("seed {seed}, {setup:?}: {error}"));
        let report = check::check(&run, &mut rng);
        if let Some(wrong) = report.wrong.first() {
            let (bad, of) = (report.wrong.len(), report.crashes);
            panic!("seed {seed}, {setup:?}: {bad} of {of} crashes; the first left {wrong}");
        }
        all.add(report);
    }
    println!("seeds from {first} on, {setup:?}: {all:?}");
    assert!(all.old > 0 && all.new > 0, "{all:?}");
    all
}

const FULL: Setup = Setup {
    layout: Layout::Contiguous,
    durability: Durability::Full,
    base: 0,
    array: false,
    extra: 0,
    changes: 6,
};

#[test]
fn files_survive_every_crash() {
    let report = survive(FULL, 24);
    assert!(report.crashes > 2000, "{report:?}");
    survive(Setup { base: 1234, ..FULL }, 8);
}

#[test]
fn directories_survive_every_crash() {
    let report = survive(Setup { layout: Layout::Sparse, ..FULL }, 8);
    assert!(report.crashes > 2000, "{report:?}");
}

#[test]
fn arrays_survive_every_crash() {
    survive(Setup { array: true, ..FULL }, 16);
    survive(Setup { array: true, layout: Layout::Sparse, ..FULL }, 3);
}

#[test]
fn what_is_only_ordered_is_some_commit_after_every_crash() {
    for layout in [Layout::Contiguous, Layout::Sparse] {
        for array in [false, true] {
            let report = survive(Setup { layout, array, durability: Durability::Ordered, ..FULL }, 3);
            assert!(report.earlier > 0, "{report:?}");
        }
    }
}

#[test]
fn a_killed_process_breaks_nothing_that_waits_for_nothing() {
    for layout in [Layout::Contiguous, Layout::Sparse] {
        survive(Setup { layout, durability: Durability::None, ..FULL }, 16);
    }
}
