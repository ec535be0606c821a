//! `b2nd slice`: a part of an array, printed or as a `.npy` file.

use crate::args::{Slice, Work};
use crate::failure::{Outcome, Result};
use crate::view::View;
use crate::{open, output, text};
use b2nd::array::{Array, Axis, Selection};

pub(super) fn run(args: &Slice) -> Result<Outcome> {
    let work = Work::default();
    if let Some(path) = args.output.as_ref().filter(|path| !output::is_standard(path)) {
        output::check_apart(&args.file, path)?;
        output::check_free(path, args.force)?;
    }
    let array = open::array(&args.file, args.place, args.dtype.as_deref(), work.exec())?;
    let view = View::parse(array.shape(), Some(&args.slice))?;
    match &args.output {
        Some(path) => super::export::write(&array, &view, path, args.force, &work)?,
        None if is_scalar(&array, &args.slice)? => {
            let items = array.read_bytes(view.whole())?;
            output::print(&format!("{}\n", text::scalar(array.dtype(), &items)))?;
        }
        None => output::print(&crate::show::view(&array, &view)?)?,
    }
    Ok(Outcome::Good)
}

/// Whether NumPy gives a scalar and not an array without axes, which it prints otherwise: an index for every axis, no `...`.
fn is_scalar(array: &Array, slice: &str) -> Result<bool> {
    let selection = Selection::parse(slice)?;
    let axes = selection.axes().unwrap_or_default();
    let indices = axes.iter().all(|axis| matches!(axis, Axis::Index(_)));
    Ok(indices && array.ndim() > 0 && axes.len() == array.ndim())
}
