//! What commands that were killed have left: removed where a command writes, named where one only reads.

use std::fmt::Write as _;
use std::path::Path;

use b2nd::schunk::{leftovers, remove_leftovers};

use crate::shown::Shown as _;
use crate::talk;

/// Removes what ended processes have left beside the output `path`, and says so on standard error.
///
/// Failures are not shown: nothing that is left over hinders the work, and a writer that has the file is named when it is opened.
pub(crate) fn remove(path: &Path) {
    for file in remove_leftovers(path).unwrap_or_default() {
        talk::note(&format!("note: removed {}, left by a process that has ended", file.shown()));
    }
}

/// A line for each file that ended processes have left beside `path`.
pub(crate) fn lines(path: &Path) -> String {
    let mut text = String::new();
    for file in leftovers(path).unwrap_or_default() {
        let _ = writeln!(
            text,
            "left over: {}: its process has ended; the next command that writes {} removes it",
            file.shown(),
            path.shown()
        );
    }
    text
}
