//! What crashes leave is opened by C-Blosc2 too: images of power cuts and kills, and frames whose writers were killed.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, in its helper functions too"
)]

#[path = "../../../b2nd/tests/all/kill/run.rs"]
mod kill;
#[path = "../../../b2nd/tests/all/crash/store.rs"]
mod store;
#[path = "../../../b2nd/tests/all/crash/work.rs"]
mod work;

use b2nd::{Durability, Layout, OpenOptions, SChunk};
use b2nd_interop::python::{self, Server};
use b2nd_testkit::disk::{Crash, Cut, Effort};
use b2nd_testkit::rng::Rng;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;
use work::{Run, Seen, Setup};

fn digests(chunks: &[Vec<u8>]) -> Vec<Value> {
    let hex =
        |chunk: &Vec<u8>| Sha256::digest(chunk).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    chunks.iter().map(|chunk| json!(hex(chunk))).collect()
}

/// What C-Blosc2 reads of the chunks of a frame.
fn ask(server: &mut Server, path: &Path) -> Value {
    let answer = server.ask(&json!({"op": "schunk", "path": path}));
    answer.unwrap_or_else(|error| panic!("{}: {error}", path.display()))["chunks"].clone()
}

/// Puts what a crash left into a folder; the path of the frame.
fn put(crash: &Crash, setup: Setup, folder: &Path) -> std::path::PathBuf {
    let path = folder.join("frame.b2frame");
    let _ = std::fs::remove_file(&path);
    let _ = std::fs::remove_dir_all(&path);
    if setup.layout == Layout::Contiguous {
        std::fs::write(&path, &crash.files[store::NAME]).unwrap();
    } else {
        std::fs::create_dir(&path).unwrap();
        crash.files.iter().for_each(|(name, bytes)| std::fs::write(path.join(name), bytes).unwrap());
    }
    path
}

fn compare(run: &Run, server: &mut Server, rng: &mut Rng, share: u64) -> [usize; 2] {
    let folder = tempfile::tempdir().unwrap();
    let mut counts = [0; 2];
    let effort = Effort { random: 300, sectors: 24, odd: 5 };
    let mut choice = rng.clone();
    run.disk.crashes(effort, rng, &mut |crash| {
        if crash.cut == Cut::Power && run.setup.durability == Durability::None || !choice.chance(share) {
            return;
        }
        let path = put(crash, run.setup, folder.path());
        if run.setup.is_long() {
            // C-Blosc2 knows no undo record: whoever opens for writing puts the header right.
            drop(SChunk::open(&path, &OpenOptions::new().with_write(true)).unwrap());
        }
        let found = ask(server, &path);
        let is = |state: Option<&Seen>| state.is_some_and(|seen| found == json!(digests(&seen.chunks)));
        let old = is(run.states.get(crash.done));
        assert!(old || is(run.states.get(crash.done + 1)), "{:?}: {}", run.setup, crash.story);
        counts[usize::from(!old)] += 1;
    });
    counts
}

#[test]
fn c_blosc2_opens_what_crashes_leave() -> b2nd_interop::Outcome {
    let Some(python) = python::find()? else { return Ok(()) };
    let mut server = python.serve()?;
    let full = Setup {
        layout: Layout::Contiguous,
        durability: Durability::Full,
        base: 0,
        array: false,
        extra: 0,
        changes: 6,
    };
    let sparse = Setup { layout: Layout::Sparse, ..full };
    let long = Setup { extra: 700, ..full };
    for (setup, runs, share) in [(full, 8, 30), (sparse, 3, 20), (long, 8, 50)] {
        let mut counts = [0; 2];
        for seed in 1..=runs {
            let mut rng = Rng::new(seed);
            let run = work::run(setup, &mut rng)?;
            let found = compare(&run, &mut server, &mut rng, share);
            counts = [counts[0] + found[0], counts[1] + found[1]];
        }
        println!("{setup:?}: {counts:?} images hold the old and the new chunks");
        assert!(counts[0] > 300 && counts[1] > 5, "{counts:?}");
    }
    Ok(())
}

#[test]
#[ignore = "what the next test starts, to be killed"]
fn child() {
    kill::child();
}

#[test]
fn c_blosc2_opens_what_killed_writers_leave() -> b2nd_interop::Outcome {
    let Some(python) = python::find()? else { return Ok(()) };
    let mut server = python.serve()?;
    for (name, layout) in [("interop-file", Layout::Contiguous), ("interop-directory", Layout::Sparse)] {
        for kills in 3..8 {
            let (folder, path, model) = kill::kill_writers(name, layout, kills);
            // The header is long: was it torn, it is put right here.
            drop(SChunk::open(&path, &OpenOptions::new().with_write(true))?);
            assert_eq!(ask(&mut server, &path), json!(digests(&model.chunks)), "{layout:?}, {kills} kills");
            drop(folder);
        }
    }
    Ok(())
}
