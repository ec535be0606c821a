//! b2nd and C-Blosc2 side by side in one process: `cargo run --release -p b2nd-bench -- [--quick | --smoke]`.
//!
//! C-Blosc2 is the shared library in the installed `blosc2` package of Python, or the one that `--rival PATH` names.
//! Prints tables in Markdown; `--json OUT.json` keeps the numbers, and the page beside them as `OUT.md`. Contents are
//! verified where they are timed; where the two differ, the run fails. `docs/PERFORMANCE.md` says what is measured and how.

#[cfg(all(feature = "rivals", feature = "c-codecs"))]
compile_error!(
    "the codecs of blosc2-pure-rs export the names of the C libraries: build with --no-default-features"
);

mod arguments;
mod bench;
mod cover;
mod data;
mod groups;
mod machine;
mod measure;
mod report;
mod rival;
#[cfg(test)]
mod tests;

use arguments::{Arguments, Mode};
use b2nd_interop::{Outcome, python};
use bench::Bench;
use rival::Rival;
use std::path::PathBuf;
use std::process::Command;

/// The shared library in the installed package; `None` where there is no package and none is demanded.
fn installed_rival() -> Outcome<Option<PathBuf>> {
    let Some(python) = python::find()? else { return Ok(None) };
    let ask = "import blosc2, pathlib; print(pathlib.Path(blosc2.__file__).parent / 'lib' / 'libblosc2.so')";
    let output = Command::new(python.program()).args(["-c", ask]).output()?;
    Ok(Some(String::from_utf8(output.stdout)?.trim().into()))
}

fn main() -> Outcome {
    if let Some(result) = groups::child(&std::env::args_os().skip(1).collect::<Vec<_>>()) {
        return result;
    }
    let arguments = Arguments::parse(std::env::args_os().skip(1), &groups::names())?;
    let path = match arguments.rival {
        Some(path) => path,
        None => match installed_rival()? {
            Some(path) => path,
            None => return Ok(()),
        },
    };
    let rival = Rival::load(&path)?;
    let mut bench = Bench::new(&rival, path, arguments.mode)?;
    groups::run(&mut bench, &arguments.only)?;
    let seconds = bench.seconds();
    let (cells, skipped) = bench.finish();
    if arguments.mode == Mode::Smoke {
        println!("{} comparisons with C-Blosc2 {}: contents equal", cells.len(), rival.version());
        return Ok(());
    }
    let versions = vec![
        ("b2nd", env!("CARGO_PKG_VERSION").to_string()),
        ("commit", machine::commit()),
        ("c-blosc2", rival.version().to_string()),
        ("codecs", if cfg!(feature = "c-codecs") { "C" } else { "pure Rust" }.to_string()),
        ("mode", arguments.mode.name().to_string()),
    ];
    let machine = machine::machine();
    let run = report::Run { mode: arguments.mode.name(), machine, versions, cells, skipped, seconds };
    let page = report::markdown(&run);
    print!("{page}");
    if let Some(path) = arguments.json {
        std::fs::write(&path, serde_json::to_string_pretty(&report::json(&run))?)?;
        std::fs::write(path.with_extension("md"), page)?;
    }
    Ok(())
}
