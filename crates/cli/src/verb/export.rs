//! `b2nd export`: an array, or a part of it, becomes a `.npy` file.

use std::path::Path;

use b2nd::Array;
use b2nd::array::npy;

use crate::args::{Export, Work};
use crate::failure::{Failure, Outcome, Result};
use crate::output::{self, Draft};
use crate::progress::Progress;
use crate::shown::Shown as _;
use crate::tiling::{Tiling, runs};
use crate::view::View;
use crate::{open, report};

pub(super) fn run(args: &Export) -> Result<Outcome> {
    let standard = output::is_standard(&args.output);
    output::check_output(&args.file, &args.output, args.force)?;
    let array = open::array(&args.file, args.place, args.dtype.as_deref(), args.work.exec())?;
    let view = View::parse(array.shape(), args.slice.as_deref())?;
    write(&array, &view, &args.output, args.force, &args.work)?;
    if !standard {
        let shape = report::lengths(&view.shape());
        output::summary(&format!("{}: {shape} {}", args.output.shown(), array.dtype()))?;
    }
    Ok(Outcome::Good)
}

/// Writes a view of an array as `.npy` to a file, or to standard output.
pub(super) fn write(array: &Array, view: &View, path: &Path, force: bool, work: &Work) -> Result<()> {
    let header = npy::Header::new(array.dtype().clone(), view.shape(), false).to_bytes()?;
    write_items(array, view, &header, path, force, work)
}

/// Writes `header` and the items of a view, in C order, to a file or to standard output.
pub(super) fn write_items(
    array: &Array,
    view: &View,
    header: &[u8],
    path: &Path,
    force: bool,
    work: &Work,
) -> Result<()> {
    let itemsize = array.dtype().itemsize() as u64;
    let shape = view.shape();
    let nbytes = shape.iter().fold(itemsize, |n, len| n.saturating_mul(*len));
    let progress = Progress::new("export", nbytes);
    let grid = view.grid(array.chunks())?;
    let budget = (work.budget() / view.cost(array.dtype().itemsize())).max(1);
    if output::is_standard(path) {
        output::print_bytes(header)?;
        for region in Tiling::in_order(&grid, budget).boxes() {
            let items = view.read(array, &region)?;
            output::print_bytes(&items)?;
            progress.add(items.len() as u64);
        }
        return Ok(());
    }
    let mut draft = Draft::new(path, "out")?;
    draft.write_at(0, header)?;
    for region in Tiling::of_cells(&grid, budget).boxes() {
        let items = view.read(array, &region)?;
        let mut rest = items.as_slice();
        for (first, count) in runs(&shape, &region) {
            let len = usize::try_from(count * itemsize).unwrap_or(usize::MAX);
            let Some((now, later)) = rest.split_at_checked(len) else { break };
            draft.write_at(header.len() as u64 + first * itemsize, now)?;
            rest = later;
        }
        progress.add(items.len() as u64);
    }
    // Nothing was left out, and the length is right even for an array without items.
    draft
        .file()
        .set_len(header.len() as u64 + nbytes)
        .map_err(|error| Failure::io("finish the file", path, &error))?;
    draft.keep(force)
}
