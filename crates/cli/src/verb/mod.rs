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
mod slice;
mod verify;

use crate::args::Verb;
use crate::failure::{Outcome, Result};

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
    }
}
