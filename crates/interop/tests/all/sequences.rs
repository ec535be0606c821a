//! Random sequences of operations: b2nd and C-Blosc2 in turn on one file, NumPy as the truth.

use b2nd_interop::Outcome;
use b2nd_interop::python;
use b2nd_interop::sequence::run::Tally;
use b2nd_interop::sequence::run::run;

/// The sequences of a short run; `B2ND_SEQUENCES` sets another number.
const SEQUENCES: u64 = 5000;
const SEED: u64 = 20_261_121;
/// Every operation is done at least this often in a run of [`SEQUENCES`], by the two writers together.
const LEAST: u64 = 500;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A folder in memory where there is one: the sequences are about contents, and syncing to a disk is most of their time.
fn folder() -> Outcome<tempfile::TempDir> {
    let memory = std::path::Path::new("/dev/shm");
    Ok(if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? })
}

#[test]
fn random_sequences_of_operations_give_what_numpy_gives() -> Outcome {
    let Some(python) = python::find_for("sequences.py", "blosc2")? else { return Ok(()) };
    let folder = folder()?;
    let (count, seed) = (setting("B2ND_SEQUENCES", SEQUENCES), setting("B2ND_SEED", SEED));
    let half = count / 2;
    let results = std::thread::scope(|scope| {
        let (python, folder) = (&python, folder.path());
        let halves =
            [0..half, half..count].map(|range| scope.spawn(move || run(python, folder, seed, range)));
        halves.map(std::thread::ScopedJoinHandle::join)
    });
    let (mut tally, mut failures) = (Tally::new(), Vec::new());
    for result in results {
        let (part, failed) = result.map_err(|_| "a runner panicked")??;
        for (name, [ours, theirs]) in part {
            let sum = tally.entry(name).or_default();
            *sum = [sum[0] + ours, sum[1] + theirs];
        }
        failures.extend(failed);
    }
    println!("{count} sequences, seed {seed}, {} failures; times done by b2nd and C-Blosc2:", failures.len());
    for (name, [ours, theirs]) in &tally {
        println!("  {name:17} {ours:6} {theirs:6}");
    }
    assert!(failures.is_empty(), "{}", failures.into_iter().take(10).collect::<Vec<_>>().join("\n"));
    for (name, [ours, theirs]) in tally {
        let least = LEAST * count / SEQUENCES;
        assert!(ours + theirs >= least, "{name} was done {} times only", ours + theirs);
    }
    Ok(())
}
