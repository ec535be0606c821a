//! `b2nd slice`: a part of an array, printed or as a `.npy` file.

use crate::args::{Slice, Work};
use crate::failure::{Outcome, Result};
use crate::view::View;
use crate::{open, output, text};

pub(super) fn run(args: &Slice) -> Result<Outcome> {
    let work = Work::default();
    if let Some(path) = args.output.as_ref().filter(|path| !output::is_standard(path)) {
        output::check_apart(&args.file, path)?;
        output::check_free(path, args.force)?;
    }
    if let Some(path) = &args.output {
        output::check_terminal(path, args.force)?;
    }
    let array = open::array(&args.file, args.place, args.dtype.as_deref(), work.exec())?;
    let view = View::parse(array.shape(), Some(&args.slice))?;
    match &args.output {
        Some(path) => super::export::write(&array, &view, path, args.force, &work)?,
        None if view.is_scalar() => {
            let items = array.read_bytes(view.whole()?)?;
            output::print(&format!("{}\n", text::scalar(array.dtype(), &items)))?;
        }
        None => output::print(&crate::show::view(&array, &view)?)?,
    }
    Ok(Outcome::Good)
}
