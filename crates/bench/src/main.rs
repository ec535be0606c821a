//! b2nd and C-Blosc2 side by side in one process: `cargo run --release -p b2nd-bench -- [--quick | --smoke]`.
//!
//! C-Blosc2 is the shared library in the installed `blosc2` package of Python, or the one that `--rival PATH` names.
//! Prints tables in Markdown; `--json OUT.json` keeps the numbers. Contents are verified before anything is timed.

mod arrays;
mod chunks;
mod data;
mod measure;
mod operations;
mod report;
mod rival;
mod streaming;
#[cfg(test)]
mod tests;

use b2nd_interop::{Outcome, python};
use measure::Effort;
use report::Cell;
use rival::Rival;
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

const USAGE: &str = "usage: b2nd-bench [--quick | --smoke] [--rival PATH] [--json OUT.json]";

/// How much to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Everything.
    Full,
    /// A selection, within three minutes.
    Quick,
    /// Contents only: small data, one round.
    Smoke,
}

#[derive(Debug)]
struct Arguments {
    mode: Mode,
    rival: Option<PathBuf>,
    json: Option<PathBuf>,
}

fn arguments() -> Outcome<Arguments> {
    let mut found = Arguments { mode: Mode::Full, rival: None, json: None };
    let mut given = std::env::args_os().skip(1);
    while let Some(argument) = given.next() {
        match argument.to_str() {
            Some("--quick") => found.mode = Mode::Quick,
            Some("--smoke") => found.mode = Mode::Smoke,
            Some("--rival") => found.rival = Some(given.next().ok_or(USAGE)?.into()),
            Some("--json") => found.json = Some(given.next().ok_or(USAGE)?.into()),
            _ => return Err(USAGE.into()),
        }
    }
    Ok(found)
}

/// The shared library in the installed package; `None` where there is no package and none is demanded.
fn installed_rival() -> Outcome<Option<PathBuf>> {
    let Some(python) = python::find()? else { return Ok(None) };
    let ask = "import blosc2, pathlib; print(pathlib.Path(blosc2.__file__).parent / 'lib' / 'libblosc2.so')";
    let output = Command::new(python.program()).args(["-c", ask]).output()?;
    Ok(Some(String::from_utf8(output.stdout)?.trim().into()))
}

fn measure_all(rival: &Rival, mode: Mode) -> Outcome<Vec<Cell>> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if processors > 1 { vec![1, processors.min(8)] } else { vec![1] };
    let every: Vec<(u8, u8)> =
        [1, 5, 9].into_iter().flat_map(|level| (0..3).map(move |f| (level, f))).collect();
    let few = vec![(1, 1), (5, 1), (9, 1), (5, 0), (5, 2)];
    let effort = |millis, least| Effort { budget: Duration::from_millis(millis), least };
    let (chunk_bytes, effort, levels_and_filters, shape, codecs) = match mode {
        Mode::Full => (8 << 20, effort(1000, 5), every, [40, 32, 64, 64], &["blosclz", "lz4", "zstd"][..]),
        Mode::Quick => (2 << 20, effort(100, 3), few, [24, 32, 48, 48], &["lz4", "zstd"][..]),
        Mode::Smoke => (128 << 10, effort(0, 1), every, [6, 9, 11, 13], &["blosclz", "lz4", "zstd"][..]),
    };
    let mut sources = vec![data::smooth(chunk_bytes), data::walk(chunk_bytes)];
    let mut cells = Vec::new();
    let mut scope = chunks::Scope { effort, threads: threads.clone(), levels_and_filters };
    for source in &sources {
        chunks::run(rival, source, &scope, &mut cells)?;
    }
    sources.extend(data::real(chunk_bytes)?);
    (scope.levels_and_filters, scope.threads) = (vec![(5, 1)], vec![1]);
    for source in &sources[2..] {
        chunks::run(rival, source, &scope, &mut cells)?;
    }
    let subject = match mode {
        Mode::Smoke => arrays::Subject::new(shape, [3, 4, 8, 5], [2, 2, 3, 5]),
        _ => arrays::Subject::new(shape, [8, 16, 32, 32], [2, 8, 16, 16]),
    };
    for &threads in &threads {
        for codec in codecs {
            arrays::run(rival, &subject, codec, threads, effort, &mut cells)?;
        }
        arrays::updates(rival, &subject, threads, effort, &mut cells)?;
        operations::run(rival, &subject, threads, effort, &mut cells)?;
        streaming::run(&subject, threads, effort, &mut cells)?;
    }
    chunks::noise(rival, &sources[0], effort, &mut cells)?;
    Ok(cells)
}

/// The processor, as the system calls it.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|l| l.strip_prefix("model name")).and_then(|l| l.split_once(": "));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{}, {processors} processors, {}",
        model.map_or("unknown", |(_, name)| name),
        std::env::consts::ARCH
    )
}

fn main() -> Outcome {
    if let Some(result) = streaming::child(std::env::args_os().skip(1)) {
        return result;
    }
    let arguments = arguments()?;
    let path = match arguments.rival {
        Some(path) => path,
        None => match installed_rival()? {
            Some(path) => path,
            None => return Ok(()),
        },
    };
    let rival = Rival::load(&path)?;
    let cells = measure_all(&rival, arguments.mode)?;
    if arguments.mode == Mode::Smoke {
        println!("{} comparisons with C-Blosc2 {}: contents equal", cells.len(), rival.version());
        return Ok(());
    }
    let versions = json!({"b2nd": env!("CARGO_PKG_VERSION"), "c-blosc2": rival.version()});
    println!("# b2nd and C-Blosc2 {}\n\n{}", rival.version(), machine());
    println!(
        "\nRatios above 1: b2nd is better. Both sides use the same data, threads, parameters and blocks."
    );
    print!("{}", report::markdown(&cells));
    if let Some(path) = arguments.json {
        std::fs::write(path, serde_json::to_string_pretty(&report::json(&cells, &machine(), &versions))?)?;
    }
    Ok(())
}
