//! `b2nd plot`: a plane of an array as a picture.

use std::env;
use std::io::IsTerminal;

use b2nd::array::{Array, Axis};
use b2nd_plot::{ColourDepth, Field, png, terminal, terminal_height};

use crate::args::{Plot, Work};
use crate::failure::{Failure, Outcome, Result};
use crate::tiling::Region;
use crate::view::{Along, View};
use crate::{numeric, open, output, report};

/// The most values that are read: of a larger plane every second row, third row, … is taken.
const MOST_VALUES: u64 = 1 << 24;
/// The size of a PNG picture, at most.
const PICTURE: (u32, u32) = (1200, 900);

pub(super) fn run(args: &Plot) -> Result<Outcome> {
    if let Some(path) = args.output.as_ref().filter(|path| !output::is_standard(path)) {
        output::check_apart(&args.file, path)?;
        output::check_free(path, args.force)?;
    }
    if let Some(path) = &args.output {
        output::check_terminal(path, args.force)?;
    }
    let array = open::array(&args.file, args.place, args.dtype.as_deref(), Work::default().exec())?;
    let view = match &args.slice {
        Some(text) => View::parse(array.shape(), Some(text))?,
        None => middle(array.shape())?,
    };
    let mut field = field(&array, &view)?;
    field.title = format!("{} {}", args.file.file_name().unwrap_or_default().to_string_lossy(), view.text());
    if args.slice.is_none() && array.shape().len() > 2 {
        output::tell(&format!("b2nd: no --slice given: drawing the middle, --slice '{}'", view.text()));
    }
    match &args.output {
        None => {
            let (width, height) = terminal_size();
            let height = terminal_height(&field, width).min(height.saturating_sub(1)).max(8);
            let mut text = terminal(&field, width, height, colour_depth());
            if !text.ends_with('\n') {
                text.push('\n');
            }
            output::print(&text)?;
        }
        Some(path) => {
            let image =
                png(&field, PICTURE.0, PICTURE.1).map_err(|error| Failure::io("draw", path, &error))?;
            if output::is_standard(path) {
                output::print_bytes(&image)?;
            } else {
                output::write_file(path, &image, args.force)?;
                output::print(&format!("{}: {} by {} values\n", path.display(), field.rows, field.cols))?;
            }
        }
    }
    Ok(Outcome::Good)
}

/// All of an axis.
const WHOLE: Axis = Axis::Range { start: None, stop: None, step: 1 };

/// The last two axes that make a picture, in the middle of the others. Short ones, such as the colours of a photograph,
/// make none.
fn middle(shape: &[u64]) -> Result<View> {
    if shape.contains(&0) {
        return Err(nothing(shape));
    }
    let mut lengths = shape.to_vec();
    lengths.sort_unstable();
    let second = lengths.len().checked_sub(2).and_then(|n| lengths.get(n)).copied().unwrap_or(0);
    let mut drawn: Vec<usize> =
        (0..shape.len()).filter(|&d| shape.get(d).is_some_and(|&len| len > second / 4)).collect();
    drawn.drain(..drawn.len().saturating_sub(2));
    let axis = |(d, len): (usize, &u64)| {
        if drawn.contains(&d) { WHOLE } else { Axis::Index(i64::try_from(len / 2).unwrap_or(0)) }
    };
    View::new(shape, &shape.iter().enumerate().map(axis).collect::<Vec<Axis>>())
}

fn nothing(shape: &[u64]) -> Failure {
    Failure::usage(
        format!("there is nothing to draw in shape {}", report::lengths(shape)),
        "choose a part that has items",
    )
}

/// The plane of a view, as numbers.
pub(super) fn field(array: &Array, view: &View) -> Result<Field> {
    let shape = view.shape();
    if shape.contains(&0) {
        return Err(nothing(&shape));
    }
    let long: Vec<usize> = (0..shape.len()).filter(|&d| shape.get(d).is_some_and(|&len| len > 1)).collect();
    let (row_axis, col_axis) = match *long {
        [] => (None, None),
        [col] => (None, Some(col)),
        [row, col] => (Some(row), Some(col)),
        _ => {
            let message = format!(
                "the slice leaves shape {}: more than two axes are longer than 1",
                report::lengths(&shape)
            );
            return Err(Failure::usage(
                message,
                "give --slice with an integer for each other axis, such as '0,:,:'",
            ));
        }
    };
    let len = |axis: Option<usize>| axis.and_then(|d| shape.get(d).copied()).unwrap_or(1);
    let (every_row, every_col) = thinning(len(row_axis), len(col_axis));
    let every: Vec<u64> = (0..shape.len())
        .map(|d| {
            if Some(d) == row_axis {
                every_row
            } else if Some(d) == col_axis {
                every_col
            } else {
                1
            }
        })
        .collect();
    let thin = view.thinned(array.shape(), &every)?;
    let shape = thin.shape();
    let items = thin.read(array, &Region { start: vec![0; shape.len()], stop: shape.clone() })?;
    let Some(values) = numeric::to_f64(array.dtype(), &items) else {
        let message = format!("items of dtype {} cannot be drawn", array.dtype());
        return Err(Failure::usage(message, "numbers and booleans can; --dtype says what raw items are"));
    };
    let native = |axis: Option<usize>| {
        usize::try_from(axis.and_then(|d| shape.get(d).copied()).unwrap_or(1)).unwrap_or(usize::MAX)
    };
    let mut field = Field::new(native(row_axis), native(col_axis), values);
    let along = thin.along()?;
    let labelled = |axis: Option<usize>| label(axis.and_then(|d| along.get(d).copied()));
    (field.row_label, field.row_start, field.row_step) = labelled(row_axis);
    (field.col_label, field.col_start, field.col_step) = labelled(col_axis);
    Ok(field)
}

/// How many rows and columns to go on at a time, so that no more than [`MOST_VALUES`] are read.
fn thinning(rows: u64, cols: u64) -> (u64, u64) {
    let side = MOST_VALUES.isqrt();
    if rows.saturating_mul(cols) <= MOST_VALUES {
        (1, 1)
    } else if rows <= side {
        (1, cols.div_ceil(MOST_VALUES / rows.max(1)))
    } else if cols <= side {
        (rows.div_ceil(MOST_VALUES / cols.max(1)), 1)
    } else {
        (rows.div_ceil(side), cols.div_ceil(side))
    }
}

/// The name of an axis of the picture, its first index and the step from one to the next. Along lists the entries are
/// counted.
fn label(along: Option<Along>) -> (String, i64, i64) {
    match along {
        None | Some(Along::New) => (String::new(), 0, 1),
        Some(Along::Range { axis, start, step }) => {
            (format!("axis {axis}"), i64::try_from(start).unwrap_or(i64::MAX), step)
        }
        Some(Along::List { axis }) => (format!("entries of the list along axis {axis}"), 0, 1),
        Some(Along::Points) => ("entries of the lists".into(), 0, 1),
    }
}

fn terminal_size() -> (usize, usize) {
    let number = |name| env::var(name).ok().and_then(|text| text.parse::<usize>().ok()).filter(|&n| n > 0);
    let (width, height) = terminal_size::terminal_size()
        .map_or((80, 24), |(width, height)| (usize::from(width.0), usize::from(height.0)));
    (number("COLUMNS").unwrap_or(width).clamp(20, 400), number("LINES").unwrap_or(height).clamp(10, 400))
}

fn colour_depth() -> ColourDepth {
    let is = |name, test: fn(&str) -> bool| env::var(name).is_ok_and(|value| test(&value));
    if is("NO_COLOR", |v| !v.is_empty()) || !std::io::stdout().is_terminal() {
        return ColourDepth::None;
    }
    if is("COLORTERM", |v| v == "truecolor" || v == "24bit") || is("TERM", |v| v.ends_with("direct")) {
        return ColourDepth::True;
    }
    if is("TERM", |v| !v.is_empty() && v != "dumb") { ColourDepth::Ansi256 } else { ColourDepth::None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_planes_are_thinned_to_the_bound() {
        for (rows, cols) in
            [(1, 1), (4096, 4096), (5000, 5000), (1, 1 << 40), (1 << 40, 3), (1 << 30, 1 << 30)]
        {
            let (r, c) = thinning(rows, cols);
            assert!(rows.div_ceil(r) * cols.div_ceil(c) <= MOST_VALUES, "{rows} {cols}");
        }
        assert_eq!(thinning(4096, 4096), (1, 1));
    }

    #[test]
    fn the_title_says_the_slice() {
        let text = |slice| View::parse(&[300, 400], slice).unwrap().text().to_owned();
        assert_eq!(text(None), ":,:");
        assert_eq!(text(Some("100:200:2, 300:100:-1")), "100:200:2,300:100:-1");
        assert_eq!(text(Some("...,[0,2]")), "...,[0, 2]");
        assert_eq!(text(Some(":,[0,1,2,3,4,5,6,7,8]")), ":,[0, 1, 2, 3, 4, 5, 6, …]");
        assert_eq!(middle(&[9, 8, 7]).unwrap().text(), "4,:,:");
    }

    #[test]
    fn the_middle_is_cut_where_there_is_a_picture() {
        for (shape, want) in [
            (&[512, 512, 3][..], ":,:,1"),
            (&[128, 96, 24, 2], ":,:,12,1"),
            (&[1000, 64, 64], "500,:,:"),
            (&[2, 3, 241, 480], "1,1,:,:"),
            (&[1, 1, 5], "0,:,:"),
            (&[3, 500], ":,:"),
            (&[5], ":"),
            (&[], ""),
        ] {
            assert_eq!(middle(shape).unwrap().text(), want, "{shape:?}");
        }
    }
}
