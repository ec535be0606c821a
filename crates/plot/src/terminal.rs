//! The field as lines of text: two values a character in colour, one without.

use crate::Field;
use crate::colour::{ColourDepth, Rgb, nearest_256};
use crate::picture;
use crate::sample::resample;
use crate::scale::{Axis, Range};

/// From the least value to the greatest, without colour. A missing value is a blank.
const RAMP: [char; 9] = ['.', ':', '-', '=', '+', '*', '#', '%', '@'];
/// Lines that are not the plot: title, numbers of the columns, names of the axes, colour bar.
const AROUND: usize = 4;
/// With fewer columns or lines there is only the plot.
const BARE: (usize, usize) = (24, AROUND + 2);
/// The colour bar is not longer.
const LONGEST_BAR: usize = 64;
/// The colour bar is not made shorter for words beside it.
const SHORTEST_BAR: usize = 12;

/// How many lines show `field` in `width` columns with its own proportions: what to ask of [`terminal`], if the
/// screen has as many. A character counts as twice as high as it is wide.
#[must_use]
pub fn terminal_height(field: &Field, width: usize) -> usize {
    let columns = width.saturating_sub(gutter(field)).max(1);
    let shape = field.rows.max(1) as f64 / field.cols.max(1) as f64;
    let lines = (columns as f64 * shape / 2.0).round().clamp(2.0, 1000.0);
    lines as usize + AROUND
}

/// `field` as exactly `height` lines of exactly `width` columns, each ended by a newline.
///
/// The plot takes all the room, whatever its shape ([`terminal_height`] knows the right one). Titles are cut to
/// the room; control characters in them, and those that may not take one column, become question marks.
#[must_use]
pub fn terminal(field: &Field, width: usize, height: usize, colour: ColourDepth) -> String {
    let range = field.range();
    let gutter = gutter(field);
    let bare = width < BARE.0.max(gutter + 8) || height < BARE.1;
    let lines = if bare {
        plot_lines(field, &range, width, height, colour)
    } else {
        let (columns, rows) = (width - gutter, height - AROUND);
        let mut lines = vec![centred(&field.title, width)];
        let plot = plot_lines(field, &range, columns, rows, colour);
        for (number, cells) in row_numbers(field.row_axis(), rows).iter().zip(plot) {
            let mut line = text(&format!("{number:>0$} ", gutter - 1));
            line.extend(cells);
            lines.push(line);
        }
        lines.push(text(&column_numbers(field.col_axis(), gutter, columns)));
        lines.push(centred(&axis_names(field), width));
        lines.push(if field.is_coloured() {
            Vec::new()
        } else {
            bar(&range, &field.scale.label, width, colour)
        });
        lines
    };
    page(lines, width, colour)
}

/// Lines of this width as text.
pub(crate) fn page(lines: Vec<Vec<Cell>>, width: usize, colour: ColourDepth) -> String {
    let mut page = String::new();
    for mut line in lines {
        line.resize(width, Cell::Char(' '));
        write_line(&mut page, &line, colour);
    }
    page
}

/// What one column of a line shows.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Cell {
    /// Two colours, one above the other.
    Halves(Rgb, Rgb),
    /// A character in the terminal's own colours.
    Char(char),
}

/// Writes a line, with a change of colour only where it changes.
fn write_line(page: &mut String, line: &[Cell], colour: ColourDepth) {
    let mut pen = None;
    for &cell in line {
        let (wanted, c) = match cell {
            Cell::Halves(upper, lower) => (Some(Pen { upper, lower }), '\u{2580}'),
            Cell::Char(c) => (None, c),
        };
        if wanted != pen {
            page.push_str(&escape(wanted, colour));
            pen = wanted;
        }
        page.push(c);
    }
    if pen.is_some() {
        page.push_str(&escape(None, colour));
    }
    page.push('\n');
}

/// The colours that characters are written in: those of the upper and of the lower half.
#[derive(Clone, Copy, PartialEq)]
struct Pen {
    upper: Rgb,
    lower: Rgb,
}

fn escape(pen: Option<Pen>, colour: ColourDepth) -> String {
    match (pen, colour) {
        (_, ColourDepth::None) => String::new(),
        (None, _) => "\x1b[0m".into(),
        (Some(Pen { upper: u, lower: l }), ColourDepth::True) => {
            format!("\x1b[38;2;{};{};{};48;2;{};{};{}m", u[0], u[1], u[2], l[0], l[1], l[2])
        }
        (Some(Pen { upper: u, lower: l }), ColourDepth::Ansi256) => {
            format!("\x1b[38;5;{};48;5;{}m", nearest_256(u), nearest_256(l))
        }
    }
}

fn plot_lines(
    field: &Field,
    range: &Range,
    columns: usize,
    rows: usize,
    depth: ColourDepth,
) -> Vec<Vec<Cell>> {
    if columns == 0 || field.rows == 0 || field.cols == 0 {
        return vec![Vec::new(); rows];
    }
    let shape = [field.rows, field.cols];
    if depth == ColourDepth::None {
        if field.is_coloured() {
            let cells = picture::cells(field, range, [rows, columns]);
            let line =
                |colours: &[Rgb]| colours.iter().map(|&colour| Cell::Char(ramp(light(colour)))).collect();
            return cells.chunks_exact(columns).map(line).collect();
        }
        let cells = resample(field.shown(), shape, [rows, columns]);
        let line = |values: &[f64]| values.iter().map(|&v| Cell::Char(letter(v, range))).collect();
        return cells.chunks_exact(columns).map(line).collect();
    }
    let cells = picture::cells(field, range, [rows * 2, columns]);
    let line = |pair: &[Rgb]| {
        let (upper, lower) = pair.split_at(columns);
        let halves = |(&u, &l): (&Rgb, &Rgb)| Cell::Halves(u, l);
        upper.iter().zip(lower).map(halves).collect()
    };
    cells.chunks_exact(columns * 2).map(line).collect()
}

/// How light a colour is, 0 to 1.
fn light([red, green, blue]: Rgb) -> f64 {
    (0.2126 * f64::from(red) + 0.7152 * f64::from(green) + 0.0722 * f64::from(blue)) / 255.0
}

fn letter(v: f64, range: &Range) -> char {
    if v.is_finite() && range.is_shown(v) {
        ramp(range.fraction(v))
    } else if v.is_nan() {
        ' '
    } else if v == f64::INFINITY {
        '^'
    } else {
        'v'
    }
}

fn ramp(t: f64) -> char {
    let step = (t * RAMP.len() as f64) as usize;
    RAMP.get(step).or(RAMP.last()).copied().unwrap_or(' ')
}

/// The columns before the plot: the longest number of a row and a blank.
fn gutter(field: &Field) -> usize {
    field.row_axis().widest().chars().count() + 1
}

/// The number at each line of the plot; most lines have none.
fn row_numbers(axis: Axis<'_>, lines: usize) -> Vec<String> {
    let mut numbers = vec![String::new(); lines];
    for (position, text) in axis.ticks(3.0 * axis.len as f64 / lines as f64) {
        if let Some(number) = numbers.get_mut((position / axis.len as f64 * lines as f64) as usize) {
            *number = text;
        }
    }
    numbers
}

/// The line of numbers below the plot, each one beginning where its column is.
pub(crate) fn column_numbers(axis: Axis<'_>, gutter: usize, columns: usize) -> String {
    let mut line = " ".repeat(gutter);
    let gap = (axis.widest().len() + 2) as f64 * axis.len as f64 / columns as f64;
    for (position, text) in axis.ticks(gap) {
        let at = gutter + (position / axis.len as f64 * columns as f64) as usize;
        // The last one ends with the plot, if it must.
        let at = at.min((gutter + columns).saturating_sub(text.len()));
        if at < line.len() && line.len() > gutter {
            continue;
        }
        line.push_str(&" ".repeat(at.saturating_sub(line.len())));
        line.push_str(&text);
    }
    line
}

fn axis_names(field: &Field) -> String {
    match (field.row_label.as_str(), field.col_label.as_str()) {
        ("", "") => String::new(),
        (down, "") => format!("down: {down}"),
        ("", across) => format!("across: {across}"),
        (down, across) => format!("down: {down}, across: {across}"),
    }
}

/// The line that explains the colours: the least value, the map, the greatest, and what it does not show.
fn bar(range: &Range, label: &str, width: usize, depth: ColourDepth) -> Vec<Cell> {
    let plainly = depth == ColourDepth::None;
    let mut others = Vec::new();
    for (v, name) in range.others() {
        let colour = range.colour(v);
        let swatch = if plainly { Cell::Char(letter(v, range)) } else { Cell::Halves(colour, colour) };
        others.extend(text("  "));
        others.extend([swatch; 2]);
        others.extend(text(&format!(" {name}")));
    }
    let (low, high) = (range.text(range.low), range.text(range.high));
    // What is said besides has room only where the bar keeps some.
    for said in [label.to_owned(), range.note().unwrap_or_default()] {
        let words = low.chars().count() + high.chars().count() + 4 + others.len();
        if !said.is_empty() && words + said.chars().count() + SHORTEST_BAR < width {
            others.extend(text(&format!("  {said}")));
        }
    }
    let words = low.chars().count() + high.chars().count() + 2 + others.len();
    let mut line = if !range.finite {
        text("no finite value")
    } else if range.is_constant() {
        text(&format!("all {low}"))
    } else if words + 4 > width {
        text(&format!("{low} to {high}"))
    } else {
        let length = (width - words).min(LONGEST_BAR);
        let cell = |i: usize| {
            let t = (i as f64 + 0.5) / length as f64;
            let colour = range.colour_at(t);
            if plainly { Cell::Char(ramp(t)) } else { Cell::Halves(colour, colour) }
        };
        let mut line = text(&format!("{low} "));
        line.extend((0..length).map(cell));
        line.extend(text(&format!(" {high}")));
        line
    };
    line.extend(others);
    line
}

pub(crate) fn text(words: &str) -> Vec<Cell> {
    words.chars().map(|c| Cell::Char(safe(c))).collect()
}

pub(crate) fn centred(words: &str, width: usize) -> Vec<Cell> {
    let before = width.saturating_sub(words.chars().count()) / 2;
    let mut line = text(&" ".repeat(before));
    line.extend(text(words));
    line
}

/// `c` if it surely takes one column and moves nothing: ASCII, Latin, Greek and Cyrillic letters.
fn safe(c: char) -> char {
    match c {
        ' '..='~' | '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' | '\u{370}'..='\u{482}' => c,
        _ => '?',
    }
}
