//! What is said on standard error, and how much of it.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU8, Ordering};

/// How much is said besides results and errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) enum Talk {
    /// Nothing.
    Quiet,
    /// Notes, a progress bar, and a line about what was written.
    Normal,
    /// Also what is opened, and how long it took.
    Verbose,
}

/// The command line sets it once, before any work: messages come from everywhere.
static TALK: AtomicU8 = AtomicU8::new(Talk::Normal as u8);

/// Sets how much is said from now on.
pub(crate) fn set_talk(talk: Talk) {
    TALK.store(talk as u8, Ordering::Relaxed);
}

/// Whether as much is said as `talk` asks for.
pub(crate) fn talks(talk: Talk) -> bool {
    TALK.load(Ordering::Relaxed) >= talk as u8
}

/// Writes a line to standard error. Where that is closed or full the line is lost, and the work goes on.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Writes a note to standard error, unless the user wants quiet.
pub(crate) fn note(line: &str) {
    if talks(Talk::Normal) {
        tell(line);
    }
}

/// Writes a detail to standard error, where the user asked for them.
pub(crate) fn detail(line: impl FnOnce() -> String) {
    if talks(Talk::Verbose) {
        tell(&format!("b2nd: {}", line()));
    }
}
