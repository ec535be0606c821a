//! Arrays behind a URL: in object stores and behind HTTP.

use std::path::Path;

use b2nd::{Array, Exec};

use crate::args::Place;
use crate::failure::{Failure, Result};
use crate::shown::{Shown as _, url};

/// Opens the array behind a URL.
pub(crate) fn open(address: &str, place: Place, exec: Exec) -> Result<Array> {
    if place.index.is_some() || place.offset.is_some() {
        return Err(Failure::usage(
            "--index and --offset are for files: a URL names one array",
            "copy the object to a file first, or name an object of one array",
        ));
    }
    fetch(address, exec)
}

#[cfg(feature = "remote")]
fn fetch(address: &str, exec: Exec) -> Result<Array> {
    use b2nd_remote::RemoteOptions;
    let frame = b2nd::FrameOptions::new().with_exec(exec);
    Ok(b2nd_remote::open_with(address, &RemoteOptions::new().with_frame_options(frame))?)
}

#[cfg(not(feature = "remote"))]
fn fetch(address: &str, _: Exec) -> Result<Array> {
    let shown = Path::new(address).shown();
    Err(Failure::usage(
        format!("{shown}: this build of b2nd reads files only"),
        "build it with the feature `remote` to read URLs",
    ))
}

/// Refuses a URL where something is written.
pub(crate) fn check_written(path: &Path) -> Result<()> {
    if url(path).is_none() {
        return Ok(());
    }
    Err(Failure::usage(
        format!("{}: the command writes files only", path.shown()),
        "write a file, and copy it to the store",
    ))
}
