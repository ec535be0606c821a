//! Arrays: made, read whole, in parts and by selections, changed; in memory and in files.

mod asks;
mod cold;
mod growth;
mod memory;
mod reads;
mod shared;
mod slices;
mod subject;
mod update;
mod whole;

pub(super) use asks::Operation;
pub(super) use subject::{SUBJECTS, Subject, TYPESIZE, open_options};
pub(super) use whole::create;
pub(super) use {growth::run as growth, memory::run as memory, shared::run as shared};

use crate::bench::Bench;
use b2nd_interop::Outcome;
use std::ffi::OsString;

/// The work of a child process, where the arguments ask for one.
pub(crate) fn child(arguments: impl Iterator<Item = OsString> + Clone) -> Option<Outcome> {
    memory::child(arguments.clone()).or_else(|| slices::child(arguments))
}

/// Where an array lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In memory, as one frame.
    Memory,
    /// In a file that the system keeps in memory.
    Disk,
    /// In a file of which the system keeps nothing.
    Cold,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Place::Memory => "in memory",
            Place::Disk => "on disk",
            Place::Cold => "on disk, cache dropped",
        }
    }
}

/// Measures making, reading and changing both arrays.
pub(super) fn run(bench: &mut Bench<'_>) -> Outcome {
    for name in SUBJECTS {
        let subject = Subject::new(name, bench.mode)?;
        whole::run(bench, &subject)?;
        reads::run(bench, &subject)?;
        drop(subject);
        update::run(bench, &Subject::bare(name, bench.mode)?)?;
    }
    Ok(())
}
