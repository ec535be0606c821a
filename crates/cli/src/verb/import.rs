//! `b2nd import`: a `.npy` file, raw bytes or a stream becomes an array.

use std::time::Instant;

use b2nd::{Params, Selection};

use crate::args::Import;
use crate::failure::{Failure, Outcome, Result, STORAGE_HINT};
use crate::input::Input;
use crate::progress::Progress;
use crate::shown::Shown as _;
use crate::tiling::Grid;
use crate::{open, output, report};

pub(super) fn run(args: &Import) -> Result<Outcome> {
    let started = Instant::now();
    output::check_named(&args.output)?;
    output::check_apart(&args.input, &args.output)?;
    output::check_free(&args.output, args.force)?;
    let mut input = Input::open(&args.input, open::raw(&args.raw, &args.input)?)?;
    let kind = input.kind().clone();
    let itemsize = u32::try_from(kind.dtype.itemsize()).map_err(|_| {
        Failure::usage(format!("items of dtype {} are too large", kind.dtype), "an item has less than 2 GiB")
    })?;
    let progress = Progress::new("import", input.nbytes());
    let mut writer = args
        .storage
        .options(&kind.shape, Params::new(itemsize))?
        .with_overwrite(args.force)
        .with_exec(progress.watch(args.storage.work.exec()))
        .create_uncommitted(&args.output, kind.dtype.clone(), &kind.shape)
        .map_err(|error| Failure::from(error).with_usage_hint(STORAGE_HINT))?;

    let budget = args.storage.work.budget();
    let axes = kind.shape.iter().zip(writer.array().chunks()).map(|(&n, &chunk)| Grid::new(n, chunk));
    let tiling = input.tiling(axes.collect(), budget);
    input.prepare(&tiling, &args.output)?;
    let mut items = Vec::new();
    for region in tiling.boxes() {
        input.read(&region, &mut items, budget)?;
        let place = if kind.fortran { region.reversed() } else { region };
        writer.write_bytes(Selection::from_box(&place.start, &place.stop), &items)?;
    }
    input.check_end()?;
    drop(items);
    let array = writer.commit()?;
    drop(progress);
    let name = args.output.shown();
    output::summary(&report::stored(&name, &array, started.elapsed()))?;
    Ok(Outcome::Good)
}
