//! The matrix, both ways: every codec with every filter on every kind of dtype, at least 20 arrays of each.
//!
//! `B2ND_SEED` sets the seed, `B2ND_ROUNDS` the number of arrays of each combination.

use b2nd_interop::case::{self, Case, Coverage};
use b2nd_interop::generate;
use b2nd_interop::python;
use b2nd_interop::{Outcome, check, write};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn seed() -> u64 {
    number("B2ND_SEED", 20_261_121)
}

fn count() -> u64 {
    number("B2ND_ROUNDS", Coverage::LEAST as u64) * generate::round()
}

/// Prints the table, and fails for cases that failed and for thin coverage.
fn conclude(what: &str, cases: &[Case], failures: &[String]) -> Outcome {
    let mut coverage = Coverage::default();
    cases.iter().for_each(|case| coverage.add(case));
    println!("{what}: {} arrays, {} mismatches, seed {}", coverage.total(), failures.len(), seed());
    println!("{}", coverage.table());
    assert_eq!(coverage.total() as u64, count());
    assert!(coverage.total() >= 2000, "too few arrays");
    if number("B2ND_ROUNDS", 0) == 0 {
        let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md"))?;
        let total = coverage.total();
        assert!(readme.contains(&format!("[{},{:03} arrays]", total / 1000, total % 1000)), "{total} arrays");
    }
    assert!(failures.is_empty(), "{}", failures.iter().take(30).cloned().collect::<Vec<_>>().join("\n"));
    assert_eq!(coverage.gaps(), Vec::<String>::new(), "thin coverage");
    Ok(())
}

#[test]
fn b2nd_reads_what_python_blosc2_writes() -> Outcome {
    let Some(python) = python::find()? else { return Ok(()) };
    println!("{}", python.versions);
    let folder = tempfile::tempdir()?;
    python.run_halves("write", folder.path(), seed(), count())?;
    let files = case::load(folder.path())?;
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for (cases, expected) in &files {
            let (failures, folder) = (&failures, folder.path());
            scope.spawn(move || {
                for case in cases {
                    if let Err(error) = check::check(case, folder, expected) {
                        let told = format!("case {}: {error} in {case:?}", case.id);
                        failures.lock().unwrap_or_else(PoisonError::into_inner).push(told);
                    }
                }
            });
        }
    });
    let cases: Vec<Case> = files.into_iter().flat_map(|(cases, _)| cases).collect();
    conclude("python-blosc2 → b2nd", &cases, &failures.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Writes all cases on two threads; the cases that were written, and what failed.
fn write_all(folder: &Path) -> Outcome<(Vec<Case>, Vec<String>)> {
    let (next, done, failures) = (AtomicU64::new(0), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2)
            .map(|worker| {
                let (next, done, failures) = (&next, &done, &failures);
                scope.spawn(move || -> Outcome {
                    let mut expected = Vec::new();
                    let mut lines = std::fs::File::create(folder.join(format!("cases-{worker}.jsonl")))?;
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        if index >= count() {
                            break;
                        }
                        match write::write(seed(), index, folder, &mut expected) {
                            Ok(case) => {
                                writeln!(lines, "{}", serde_json::to_string(&case)?)?;
                                done.lock().unwrap_or_else(PoisonError::into_inner).push(case);
                            }
                            Err(error) => {
                                let case = generate::make(seed(), index).case;
                                failures
                                    .lock()
                                    .unwrap_or_else(PoisonError::into_inner)
                                    .push(format!("case {index}: {error} in {case:?}"));
                            }
                        }
                    }
                    Ok(std::fs::write(folder.join(format!("expected-{worker}.bin")), expected)?)
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a worker panicked")?)
    })?;
    Ok((
        done.into_inner().unwrap_or_else(PoisonError::into_inner),
        failures.into_inner().unwrap_or_else(PoisonError::into_inner),
    ))
}

/// How many arrays with truncation there are, and how many of them hold other items than were given.
///
/// Chunks that are stored as they are keep whole items, so a case alone proves little; most cases must be truncated.
fn truncated(folder: &Path) -> Outcome<(usize, usize)> {
    let (mut all, mut cut) = (0, 0);
    for (cases, expected) in case::load(folder)? {
        for case in cases.iter().filter(|c| c.filter == "trunc_prec" && c.clevel > 0 && c.data.nbytes > 0) {
            let given = generate::make(seed(), case.id).data;
            let signed = case.filters_meta[4].cast_signed();
            let exact = b2nd_interop::items::truncated(&given, case.typesize as usize, signed);
            if exact != given {
                all += 1;
                cut += usize::from(case.data.of(&expected)? == exact);
            }
        }
    }
    Ok((all, cut))
}

#[test]
fn python_blosc2_reads_what_b2nd_writes() -> Outcome {
    let Some(python) = python::find()? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let (cases, mut failures) = write_all(folder.path())?;
    let found = python.run_halves("check", folder.path(), seed(), count());
    if let Err(error) = found {
        failures.push(error.to_string());
    }
    let (all, cut) = truncated(folder.path())?;
    println!("{cut} of {all} arrays with items to truncate are truncated throughout");
    assert!(all >= 20 && cut * 2 > all, "{cut} of {all}");
    conclude("b2nd → python-blosc2", &cases, &failures)
}
