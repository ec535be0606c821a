//! `b2nd compact`: a file without the dead bytes that changes have left.

use std::time::Instant;

use b2nd::SChunk;

use crate::args::Compact;
use crate::failure::{Failure, Outcome, Result};
use crate::shown::Shown as _;
use crate::{leftover, open, output, report};

pub(super) fn run(args: &Compact) -> Result<Outcome> {
    let started = Instant::now();
    output::check_named(&args.file)?;
    let options = open::options(args.place, args.threads.exec()).with_write(true);
    leftover::remove(&args.file);
    let opened = SChunk::open(&args.file, &options);
    let mut schunk = opened.map_err(|error| open::unwritable(&args.file, error))?;
    let about = |error: b2nd::Error| Failure::from(error).about(&args.file);
    let before = schunk.space().map_err(about)?;
    schunk.compact().map_err(about)?;
    let after = schunk.space().map_err(about)?;
    let text = format!(
        "{}: {} → {}, {} of dead bytes left, {}",
        args.file.shown(),
        report::bytes(before.stored),
        report::bytes(after.stored),
        report::bytes(after.dead()),
        report::seconds(started.elapsed()),
    );
    output::summary(&text)?;
    Ok(Outcome::Good)
}
