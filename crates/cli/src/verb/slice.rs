//! `b2nd slice`: a part of an array, printed or as a `.npy` file.

use b2nd::Array;

use crate::args::{Slice, SliceFormat};
use crate::failure::{Failure, Outcome, Result};
use crate::text::{Style, Values};
use crate::view::View;
use crate::{open, output, report, show, text};

pub(super) fn run(args: &Slice) -> Result<Outcome> {
    if let Some(path) = &args.output {
        output::check_output(&args.file, path, args.force)?;
    }
    let array = open::array(&args.file, args.place, args.dtype.as_deref(), args.work.exec())?;
    let view = View::parse(array.shape(), Some(&args.slice))?;
    let values = Values { precision: args.precision.map(usize::from) };
    let budget = args.work.budget();
    match (&args.output, args.format) {
        (Some(path), _) => super::export::write(&array, &view, path, args.force, &args.work)?,
        (None, SliceFormat::Csv) => show::csv(&array, &view, values, budget)?,
        (None, SliceFormat::Json) => show::json(&array, &view, values, budget)?,
        (None, SliceFormat::Text) if view.is_scalar() => {
            let items = array.read_bytes(view.whole()?)?;
            output::print(&format!("{}\n", text::scalar(array.dtype(), &items)))?;
        }
        (None, SliceFormat::Text) => {
            let style = style(args);
            check_memory(args, &array, &view, style)?;
            output::print(&show::view(&array, &view, style)?)?;
        }
    }
    Ok(Outcome::Good)
}

/// How values are printed as text.
fn style(args: &Slice) -> Style {
    let default = Style::default();
    let threshold = if args.full { u64::MAX } else { args.threshold.unwrap_or(default.threshold) };
    Style { threshold, precision: args.precision.map_or(default.precision, usize::from) }
}

/// Refuses to lay out more items than the memory holds: the width of a column depends on all of them.
fn check_memory(args: &Slice, array: &Array, view: &View, style: Style) -> Result<()> {
    /// A text, its place in the list of texts, and the page that is made of them.
    const TEXT: u64 = 64;
    let items = text::edge_shape(&view.shape(), style).iter().fold(1u64, |n, &len| n.saturating_mul(len));
    let bytes = items.saturating_mul(array.dtype().itemsize() as u64 + TEXT);
    if items > Style::default().threshold && bytes > args.work.budget() {
        let message = format!("to print {items} items as text takes about {}", report::bytes(bytes));
        return Err(Failure::Shown {
            outcome: Outcome::Environment,
            message,
            hint: "--format csv and --format json print any number of items; --memory allows more".into(),
        });
    }
    Ok(())
}
