//! `b2nd plot`: a plane of an array as a picture, or a line.

mod coordinates;
mod picture;
mod plane;
mod values;

use std::env;
use std::io::IsTerminal;

use b2nd::{Array, Axis};
use b2nd_plot::{ColourDepth, Limits, Scale, Texts};

pub(super) use self::picture::{Look, Picture};
use crate::args::{PictureSize, Plot};
use crate::failure::{Failure, Outcome, Result};
use crate::shown::Shown as _;
use crate::view::View;
use crate::{open, output, report};

/// The size of a PNG picture, at most.
pub(super) const PICTURE: PictureSize = PictureSize { width: 1200, height: 900 };

pub(super) fn run(args: &Plot) -> Result<Outcome> {
    if let Some(path) = &args.output {
        output::check_output(&args.file, path, args.force)?;
    }
    let array = open::array(&args.file, args.place, args.dtype.as_deref(), args.work.exec())?;
    let view = match &args.slice {
        Some(text) => View::parse(array.shape(), Some(text))?,
        None => middle(array.shape(), values::are_colours(&array))?,
    };
    if args.slice.is_none() && view.shape() != array.shape() {
        output::note(&format!("b2nd: no --slice given: drawing the middle, --slice '{}'", view.text()));
    }
    let picture = Picture::new(&array, &view, &look(args, &array, &view)?, args.work.budget())?;
    match &args.output {
        None => {
            let mut text = picture.terminal(args.size, screen(), colour_depth());
            if !text.ends_with('\n') {
                text.push('\n');
            }
            output::print(&text)?;
        }
        Some(path) => {
            let image = picture
                .png(args.size.unwrap_or(PICTURE))
                .map_err(|error| Failure::io("draw", path, &error))?;
            if output::is_standard(path) {
                output::print_bytes(&image)?;
            } else {
                output::write_file(path, &image, args.force)?;
                output::summary(&format!("{}: {}", path.shown(), picture.summary()))?;
            }
        }
    }
    Ok(Outcome::Good)
}

/// How the command line wants the picture.
fn look(args: &Plot, array: &Array, view: &View) -> Result<Look> {
    let limits = match (args.limits, args.percentiles) {
        (Some((low, _)), _) if args.log && low <= 0.0 => {
            return Err(Failure::usage(
                format!("--limits begins with {low}, which has no logarithm"),
                "with --log give a lower limit above 0, or leave --limits out",
            ));
        }
        (Some((low, high)), _) => Limits::Fixed(low, high),
        (None, Some((low, high))) => Limits::Percentiles(low, high),
        (None, None) => Limits::Auto,
    };
    let along = |path: &Option<std::path::PathBuf>, option, axis: Option<usize>| -> Result<Option<Texts>> {
        path.as_ref().map(|path| coordinates::texts(path, option, array, view, axis)).transpose()
    };
    let [rows, columns] = plane::axes(view, values::can_be_colours(array))?;
    let file = args.file.file_name().unwrap_or_default().to_string_lossy();
    Ok(Look {
        title: args.title.clone().unwrap_or_else(|| format!("{file} {}", view.text())),
        is_titled: args.title.is_some(),
        x_label: args.xlabel.clone(),
        y_label: args.ylabel.clone(),
        x_texts: along(&args.x, "--x", columns)?,
        y_texts: along(&args.y, "--y", rows)?,
        scale: Scale { limits, log: args.log, map: args.map, ..Scale::default() },
        dimensions: report::dimensions(array).unwrap_or_default(),
    })
}

/// All of an axis.
const WHOLE: Axis = Axis::Range { start: None, stop: None, step: 1 };

/// The last two axes that make a picture, in the middle of the others. Short ones, such as two components, make none. Of an
/// array that holds colours, the last three.
fn middle(shape: &[u64], coloured: bool) -> Result<View> {
    if shape.contains(&0) {
        return Err(nothing(shape));
    }
    if coloured {
        let first = shape.len().saturating_sub(3);
        let axis = |(d, len): (usize, &u64)| {
            if d >= first { WHOLE } else { Axis::Index(i64::try_from(len / 2).unwrap_or(0)) }
        };
        return View::new(shape, &shape.iter().enumerate().map(axis).collect::<Vec<Axis>>());
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

pub(super) fn nothing(shape: &[u64]) -> Failure {
    Failure::usage(
        format!("there is nothing to draw in shape {}", report::lengths(shape)),
        "choose a part that has items",
    )
}

/// The columns and lines of a terminal.
#[derive(Debug, Clone, Copy)]
struct Screen {
    columns: usize,
    lines: usize,
}

/// The terminal that the command writes to.
fn screen() -> Screen {
    let number = |name| env::var(name).ok().and_then(|text| text.parse::<usize>().ok()).filter(|&n| n > 0);
    let (width, height) = terminal_size::terminal_size()
        .map_or((80, 24), |(width, height)| (usize::from(width.0), usize::from(height.0)));
    Screen {
        columns: number("COLUMNS").unwrap_or(width).clamp(20, 400),
        lines: number("LINES").unwrap_or(height).clamp(10, 400),
    }
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
    fn the_title_says_the_slice() {
        let text = |slice| View::parse(&[300, 400], slice).unwrap().text().to_owned();
        assert_eq!(text(None), ":,:");
        assert_eq!(text(Some("100:200:2, 300:100:-1")), "100:200:2,300:100:-1");
        assert_eq!(text(Some("...,[0,2]")), "...,[0, 2]");
        assert_eq!(text(Some(":,[0,1,2,3,4,5,6,7,8]")), ":,[0, 1, 2, 3, 4, 5, 6, …]");
        assert_eq!(middle(&[9, 8, 7], false).unwrap().text(), "4,:,:");
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
            assert_eq!(middle(shape, false).unwrap().text(), want, "{shape:?}");
        }
        assert_eq!(middle(&[512, 512, 3], true).unwrap().text(), ":,:,:");
        assert_eq!(middle(&[9, 32, 32, 4], true).unwrap().text(), "4,:,:,:");
    }
}
