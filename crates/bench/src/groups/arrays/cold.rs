//! Files that the system does not keep in memory.

use b2nd_interop::Outcome;
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::path::Path;

/// Makes the system forget what it keeps of a file.
pub(super) fn forget(path: &Path) -> Outcome {
    let file = File::open(path)?;
    // What is not yet on the disk cannot be forgotten.
    file.sync_data()?;
    Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
}

/// Whether reading a file that was forgotten reads from a disk.
pub(super) fn can_forget(path: &Path, read: &mut dyn FnMut() -> Outcome) -> Outcome<bool> {
    if forget(path).is_err() {
        return Ok(false);
    }
    let before = crate::machine::disk_reads();
    read()?;
    Ok(before.zip(crate::machine::disk_reads()).is_some_and(|(before, after)| after > before))
}
