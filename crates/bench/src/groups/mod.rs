//! The groups of the table.

mod arrays;
mod chunks;
mod files;
mod filters;
mod open;
mod own;
#[cfg(feature = "rivals")]
mod pure;

use crate::bench::Bench;
use b2nd_interop::Outcome;
use std::ffi::OsString;

/// The work of a child that measures its own memory, where the arguments ask for one.
pub(crate) fn child(arguments: &[OsString]) -> Option<Outcome> {
    arrays::child(arguments.iter().cloned()).or_else(|| open::child(arguments.iter().cloned()))
}

/// The names of the groups.
pub(crate) mod name {
    /// Compression of chunks.
    pub(crate) const COMPRESSION: &str = "compression";
    /// Decompression of chunks.
    pub(crate) const DECOMPRESSION: &str = "decompression";
    /// Sizes of chunks and files.
    pub(crate) const SIZE: &str = "size";
    /// Filters alone.
    pub(crate) const FILTERS: &str = "filters";
    /// Filters next to a memory copy.
    pub(crate) const COPY: &str = "filters and memory copy";
    /// Whole arrays.
    pub(crate) const WHOLE: &str = "array whole";
    /// Hyperplanes, boxes and items.
    pub(crate) const PARTS: &str = "array parts";
    /// Orthogonal, coordinates, strided.
    pub(crate) const SELECTIONS: &str = "selections";
    /// Overwriting and appending.
    pub(crate) const UPDATE: &str = "array update";
    /// Two threads on one handle.
    pub(crate) const SHARED: &str = "shared handle";
    /// Opening large files.
    pub(crate) const OPEN: &str = "open";
    /// Overwriting chunks of growing files.
    pub(crate) const OVERWRITE: &str = "overwrite";
    /// Appending chunks to growing files.
    pub(crate) const APPEND: &str = "append";
    /// The levels of durability.
    pub(crate) const DURABILITY: &str = "update durability";
    /// Peak memory.
    pub(crate) const MEMORY: &str = "memory";
    /// Peak memory of making and changing.
    pub(crate) const MEMORY_OF_WRITES: &str = "memory of writes";
    /// Time against size and threads.
    pub(crate) const GROWTH: &str = "growth";
    /// What the rival does not have.
    pub(crate) const OWN: &str = "own ways";
    /// The other implementation in Rust.
    #[cfg(feature = "rivals")]
    pub(crate) const PURE: &str = "pure rust";
}

type Measure = fn(&mut Bench<'_>) -> Outcome;

/// What measures, with the groups that it makes cells of. What shares files and data is measured together.
const MEASURES: &[(&[&str], Measure)] = &[
    (&[name::COMPRESSION, name::DECOMPRESSION, name::SIZE], chunks::run),
    (&[name::FILTERS, name::COPY], filters::run),
    (&[name::WHOLE, name::PARTS, name::SELECTIONS, name::UPDATE], arrays::run),
    (&[name::SHARED], arrays::shared),
    (&[name::OPEN], open::run),
    (&[name::OVERWRITE, name::APPEND, name::DURABILITY], files::run),
    (&[name::MEMORY, name::MEMORY_OF_WRITES], arrays::memory),
    (&[name::GROWTH], arrays::growth),
    (&[name::OWN], own::run),
    #[cfg(feature = "rivals")]
    (&[name::PURE], pure::run),
];

/// All groups.
pub(crate) fn names() -> Vec<&'static str> {
    MEASURES.iter().flat_map(|(groups, _)| *groups).copied().collect()
}

/// Measures the groups that are named, with those that are measured together with them; all where none is named.
pub(crate) fn run(bench: &mut Bench<'_>, only: &[String]) -> Outcome {
    for (groups, measure) in MEASURES {
        if only.is_empty() || groups.iter().any(|group| only.iter().any(|name| name == group)) {
            measure(bench)?;
        }
    }
    Ok(())
}
