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

use b2nd::schunk::{CreateOptions, frames_in};
use b2nd::{Durability, Exec, Layout, OpenOptions, Params, SChunk};
use b2nd_testkit::disk::{Disk, Event, Files};
use b2nd_testkit::rng::Rng;
use check::Report;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use store::{DiskStore, NAME};
use work::{Run, Setup};

/// A number from the environment, or this one.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// How often bytes were written, besides headers, where the file had been written before.
fn written_again(run: &Run) -> usize {
    let mut ends = BTreeMap::new();
    let mut again = |event: &Event| {
        let Event::Write { file, at, bytes } = event else { return false };
        let (end, stop) = (ends.entry(*file).or_insert(0), at + bytes.len());
        let again = *at > run.setup.base && stop <= *end;
        *end = stop.max(*end);
        again
    };
    run.disk.log().iter().filter(|event| again(event)).count()
}

/// Runs of this kind, and every crash of them.
fn survive(setup: Setup, runs: u64) -> Report {
    let mut all = Report::default();
    let first = number("B2ND_CRASH_SEED", 1);
    for seed in first..first + number("B2ND_CRASH_RUNS", runs) {
        let mut rng = Rng::new(seed);
        let run =
            work::run(setup, &mut rng).unwrap_or_else(|error| panic!("seed {seed}, {setup:?}: {error}"));
        all.again += written_again(&run);
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

/// Headers that do not lie in one sector: long ones, and one across the edge of two pages.
const LONG: [Setup; 3] = [
    Setup { extra: 700, ..FULL },
    Setup { base: 4096 - 82, ..FULL },
    Setup { base: 4096 - 82, array: true, ..FULL },
];

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
fn bytes_that_are_written_again_are_needed_by_no_crash() {
    for durability in [Durability::Full, Durability::Ordered] {
        for array in [false, true] {
            let report = survive(Setup { durability, array, changes: 20, ..FULL }, 6);
            assert!(report.again > 10, "{report:?}");
        }
    }
}

#[test]
fn a_killed_process_breaks_nothing_that_waits_for_nothing() {
    for layout in [Layout::Contiguous, Layout::Sparse] {
        survive(Setup { layout, durability: Durability::None, ..FULL }, 16);
    }
}

#[test]
fn headers_that_no_sector_holds_survive_every_crash() {
    for setup in LONG {
        survive(setup, 8);
        survive(Setup { durability: Durability::Ordered, ..setup }, 4);
        survive(Setup { durability: Durability::None, ..setup }, 4);
    }
}

#[test]
fn a_frame_that_is_appended_to_a_file_is_whole_or_none() {
    let options = OpenOptions::new().with_exec(Exec::new(1));
    for extra in [0, 700, 5000] {
        let mut rng = Rng::new(extra as u64);
        let new = CreateOptions::new(Params::new(4)).with_metalayer("long", rng.bytes(extra));
        let frame = new.create_with_in_memory(|t| t.extend(&[7; 9000])).unwrap();
        let old = frame.to_bytes().unwrap();
        let disk = Arc::new(Mutex::new(Disk::new(&Files::from([(NAME.to_owned(), old.clone())]))));
        let mut store = DiskStore::new(&disk, Layout::Contiguous, old.len());
        frame.save_to_store(&mut store, Layout::Contiguous).unwrap();
        disk.lock().unwrap().done(1);
        let mut counts = [0; 2];
        disk.lock().unwrap().crashes(check::QUICK, &mut rng, &mut |crash| {
            let bytes = &crash.files[NAME];
            let found = frames_in(bytes, &options).unwrap();
            assert!(found.len() == 1 + crash.done || crash.done == 0 && found.len() == 2, "{}", crash.story);
            for frame in &found {
                let options = options.clone().with_offset(frame.offset());
                let items = SChunk::from_bytes(bytes.clone(), &options).unwrap().read_items(0..2250).unwrap();
                assert_eq!(items, [7; 9000], "{}", crash.story);
            }
            counts[found.len() - 1] += 1;
        });
        assert!(counts[0] > 10 && counts[1] > 1, "{counts:?}");
    }
}
