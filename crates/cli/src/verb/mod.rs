//! The verbs: one file each.

mod append;
mod attrs;
mod cat;
mod compact;
mod convert;
mod demo;
mod diff;
mod export;
mod import;
mod info;
#[cfg(feature = "plot")]
mod plot;
mod repair;
mod shell;
mod slice;
mod verify;

use std::path::{Path, PathBuf};

use crate::args::Verb;
use crate::failure::{Failure, Outcome, Result};
use crate::{interrupt, output};

/// Does what the command line says.
pub(crate) fn run(verb: &Verb) -> Result<Outcome> {
    match verb {
        Verb::Import(args) => import::run(args),
        Verb::Append(args) => append::run(args),
        Verb::Export(args) => export::run(args),
        Verb::Cat(args) => cat::run(args),
        Verb::Info(args) => info::run(args),
        Verb::Slice(args) => slice::run(args),
        #[cfg(feature = "plot")]
        Verb::Plot(args) => plot::run(args),
        Verb::Convert(args) => convert::run(args),
        Verb::Verify(args) => verify::run(args),
        Verb::Compact(args) => compact::run(args),
        Verb::Repair(args) => repair::run(args),
        Verb::Diff(args) => diff::run(args),
        Verb::Attrs(args) => attrs::run(args),
        Verb::Demo(args) => demo::run(args),
        Verb::Completions(args) => shell::completions(args),
        Verb::Man(args) => shell::man(args),
    }
}

/// The worst of the outcomes of several files, each of which is done whatever the others give. Failures are told at once.
fn each_file(files: &[PathBuf], mut run: impl FnMut(&Path) -> Result<Outcome>) -> Result<Outcome> {
    let mut worst = Outcome::Good;
    for file in files {
        let outcome = match run(file) {
            Ok(outcome) => outcome,
            // One file fails as any other command does; after a signal, or without a reader, nothing more is done.
            Err(failure @ Failure::OutputClosed) => return Err(failure),
            Err(failure) if files.len() == 1 || interrupt::is_wanted() => return Err(failure),
            Err(failure) => {
                output::tell(&failure.to_string());
                failure.outcome()
            }
        };
        worst = worst.max(outcome);
    }
    Ok(worst)
}
