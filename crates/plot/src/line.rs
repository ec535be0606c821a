//! A line: values along one axis, as a PNG image or as characters.

use std::io;

use crate::canvas::{Canvas, Rect};
use crate::colour::{ColourDepth, Rgb};
use crate::picture::{
    BARE, Columns, INK, LABEL, LABEL_GAP, LARGEST, LINE, NUMBER, PAD, PAPER, TICK, TICK_GAP, TITLE, descent,
    draw_title, draw_upwards, encoded,
};
use crate::scale::{Axis, Range};
use crate::terminal::{self, Cell};
use crate::{Scale, Texts};

/// The colour of the line.
const PEN: Rgb = [31, 95, 160];
/// Behind the line, at the numbers of the values.
const GRID: Rgb = [226, 226, 226];
/// Half the width of the line, in pixels.
const WEIGHT: f64 = 0.9;
/// A plot is this much wider than high, if it may be.
const PROPORTION: i32 = 2;
/// Lines of text that are not the plot.
const AROUND: usize = 4;

/// Values along one axis, and what is written around them.
///
/// ```
/// use b2nd_plot::{ColourDepth, Line, line_png, line_terminal};
/// let mut line = Line::new(vec![0.0, 1.0, 4.0, f64::NAN, 16.0]);
/// line.title = "squares".into();
/// assert!(line_png(&line, 600, 400)?.starts_with(b"\x89PNG"));
/// assert_eq!(line_terminal(&line, 40, 10, ColourDepth::None).lines().count(), 10);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Line {
    /// The values; the line has a gap where one is not finite.
    pub values: Vec<f64>,
    /// How values become heights; its colour map is not used.
    pub scale: Scale,
    /// Written above.
    pub title: String,
    /// Written below the axis.
    pub label: String,
    /// The number of the first value in its array.
    pub start: i64,
    /// From the number of a value to that of the next; not 0.
    pub step: i64,
    /// Written along the axis in the place of numbers.
    pub texts: Option<Texts>,
}

impl Line {
    /// A line without words, whose values count from 0.
    #[must_use]
    pub fn new(values: Vec<f64>) -> Self {
        Self { values, step: 1, ..Self::default() }
    }

    fn axis(&self) -> Axis<'_> {
        Axis { len: self.values.len(), start: self.start, step: self.step, texts: self.texts.as_ref() }
    }

    fn range(&self) -> Range {
        let all = Scale { limits: crate::Limits::Percentiles(0.0, 100.0), ..self.scale.clone() };
        // An outlier of a line is what one looks for.
        let scale = if self.scale.limits == crate::Limits::Auto { &all } else { &self.scale };
        Range::new(&self.values, scale)
    }

    /// The place of value `i` between the ends; `None` for a gap.
    fn place(&self, range: &Range, i: usize) -> Option<f64> {
        let v = *self.values.get(i)?;
        (v.is_finite() && range.is_shown(v)).then(|| range.place(v))
    }

    /// The lowest and the highest place among the values of one of `columns` columns; `None` for a gap.
    fn extent(&self, range: &Range, column: usize, columns: usize) -> Option<(f64, f64)> {
        let at = |column: usize| (column as f64 * self.values.len() as f64 / columns as f64) as usize;
        let first = at(column);
        let places = (first..at(column + 1).max(first + 1)).filter_map(|i| self.place(range, i));
        places.fold(None, |seen, place| {
            let (low, high) = seen.unwrap_or((place, place));
            Some((low.min(place), high.max(place)))
        })
    }
}

/// A PNG image of a line, no larger than `max_width` × `max_height` pixels (and 8192 × 8192).
///
/// Of more values than pixels each column shows the lowest and the highest.
///
/// # Errors
/// What the encoder of PNG files gives.
pub fn line_png(line: &Line, max_width: u32, max_height: u32) -> io::Result<Vec<u8>> {
    let [width, height] = [max_width, max_height].map(|side| side.clamp(1, LARGEST) as i32);
    let range = line.range();
    if width < BARE.0 || height < BARE.1 {
        let mut canvas = Canvas::new(width, height, PAPER);
        draw_line(&mut canvas, line, &range, Rect { x: 0, y: 0, w: width, h: height });
        return encoded(&canvas);
    }
    let has = |text: &str, pixels: i32| if text.is_empty() { 0 } else { pixels };
    let numbers = (2..=10).flat_map(|wanted| range.ticks(wanted));
    let widest = numbers.map(|(_, text)| NUMBER.length(&text)).max().unwrap_or(0);
    let left = PAD + has(&line.scale.label, LABEL.height() + LABEL_GAP) + widest + TICK + TICK_GAP;
    let top = PAD + has(&line.title, TITLE.height() + 18);
    let note = range.note().unwrap_or_default();
    let foot = TICK + TICK_GAP + NUMBER.height();
    let labelled = foot + has(&line.label, LABEL_GAP + LABEL.height() + descent(LABEL));
    let bottom = labelled + has(&note, LABEL_GAP + NUMBER.height()) + PAD;
    let w = (width - left - PAD - 8).max(1);
    let h = (height - top - bottom).min((w / PROPORTION).max(120)).max(1);
    let plot = Rect { x: left, y: top, w, h };
    let mut canvas = Canvas::new(width, top + h + bottom, PAPER);
    draw_values(&mut canvas, line, &range, plot);
    canvas.clip(Some(plot));
    draw_line(&mut canvas, line, &range, plot);
    canvas.clip(None);
    canvas.frame(plot.grown(1), LINE);
    Columns { axis: line.axis(), label: &line.label, plot }.draw(&mut canvas, width);
    let note = NUMBER.shortened(&note, width - 2 * PAD);
    canvas.text(plot.x, plot.y + h + labelled + LABEL_GAP, &note, NUMBER, INK);
    draw_title(&mut canvas, &line.title, plot, width);
    encoded(&canvas)
}

/// Draws the numbers of the values, a line behind each, and what they are.
fn draw_values(canvas: &mut Canvas, line: &Line, range: &Range, plot: Rect) {
    let mut widest = 0;
    for (v, text) in range.ticks((plot.h / (NUMBER.height() + 32)).clamp(1, 10) as usize) {
        let y = plot.y + height_of(range.fraction(v), plot.h);
        canvas.fill(Rect { x: plot.x, y, w: plot.w, h: 1 }, GRID);
        canvas.fill(Rect { x: plot.x - 1 - TICK, y, w: TICK, h: 1 }, LINE);
        let length = NUMBER.length(&text);
        widest = widest.max(length);
        canvas.text(plot.x - 1 - TICK - TICK_GAP - length, y - NUMBER.height() / 2, &text, NUMBER, INK);
    }
    let x = plot.x - 1 - TICK - TICK_GAP - widest - LABEL_GAP - LABEL.height();
    draw_upwards(canvas, &line.scale.label, x.max(4), plot, plot.y + plot.h + PAD);
}

/// The pixel of a place between the ends, from the top of a plot of this height. Places far outside are drawn less far.
fn height_of(place: f64, height: i32) -> i32 {
    ((1.0 - place.clamp(-3.0, 4.0)) * f64::from(height - 1)).round() as i32
}

fn draw_line(canvas: &mut Canvas, line: &Line, range: &Range, plot: Rect) {
    let len = line.values.len();
    if len > 2 * plot.w as usize {
        return draw_columns(canvas, line, range, plot);
    }
    let point = |i: usize| {
        let x = f64::from(plot.x) + (i as f64 + 0.5) / len as f64 * f64::from(plot.w);
        line.place(range, i).map(|place| (x, f64::from(plot.y + height_of(place, plot.h)) + 0.5))
    };
    for i in 0..len {
        let Some(here) = point(i) else { continue };
        match point(i + 1) {
            Some(next) => canvas.strokes(&[[here, next]], WEIGHT, PEN),
            // A value between two gaps is a dot.
            None if i == 0 || point(i - 1).is_none() => canvas.strokes(&[[here, here]], 2.0 * WEIGHT, PEN),
            None => {}
        }
    }
}

/// Draws the extent of each column, down or up to where the one before ended.
fn draw_columns(canvas: &mut Canvas, line: &Line, range: &Range, plot: Rect) {
    let mut before: Option<(i32, i32)> = None;
    for column in 0..plot.w {
        let extent = line.extent(range, column as usize, plot.w as usize);
        let span = extent.map(|(low, high)| (height_of(high, plot.h), height_of(low, plot.h)));
        if let Some((top, bottom)) = span {
            let (last_top, last_bottom) = before.unwrap_or((top, bottom));
            let (top, bottom) = (top.min(last_bottom), bottom.max(last_top));
            canvas.fill(Rect { x: plot.x + column, y: plot.y + top, w: 1, h: bottom - top + 2 }, PEN);
        }
        before = span;
    }
}

/// A line as exactly `height` lines of exactly `width` columns, each ended by a newline.
#[must_use]
pub fn line_terminal(line: &Line, width: usize, height: usize, colour: ColourDepth) -> String {
    let range = line.range();
    let rows = height.saturating_sub(AROUND);
    let ticks = range.ticks((rows / 3).clamp(1, 8));
    let widest = ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
    let gutter = widest + 1;
    if rows < 2 || width < gutter + 8 {
        return terminal::page(plot_cells(line, &range, width, height), width, colour);
    }
    let mut numbers = vec![String::new(); rows];
    for (v, text) in ticks {
        if let Some(number) = numbers.get_mut(row_of(range.fraction(v), rows)) {
            *number = text;
        }
    }
    let mut lines = vec![terminal::centred(&line.title, width)];
    for (number, cells) in numbers.iter().zip(plot_cells(line, &range, width - gutter, rows)) {
        let mut row = terminal::text(&format!("{number:>widest$} "));
        row.extend(cells);
        lines.push(row);
    }
    lines.push(terminal::text(&terminal::column_numbers(line.axis(), gutter, width - gutter)));
    let named =
        |name: &str, text: &str| if text.is_empty() { String::new() } else { format!("{name}: {text}") };
    let words = [named("across", &line.label), named("up", &line.scale.label)];
    lines.push(terminal::centred(
        &words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", "),
        width,
    ));
    lines.push(terminal::centred(&range.note().unwrap_or_default(), width));
    terminal::page(lines, width, colour)
}

/// The row of a place between the ends.
fn row_of(place: f64, rows: usize) -> usize {
    ((1.0 - place.clamp(0.0, 1.0)) * rows.saturating_sub(1) as f64).round() as usize
}

/// The plot of a line as characters.
fn plot_cells(line: &Line, range: &Range, columns: usize, rows: usize) -> Vec<Vec<Cell>> {
    let mut cells = vec![vec![Cell::Char(' '); columns]; rows];
    for column in 0..if line.values.is_empty() { 0 } else { columns } {
        let Some((low, high)) = line.extent(range, column, columns) else { continue };
        if high < 0.0 || low > 1.0 {
            continue;
        }
        for row in cells.iter_mut().take(row_of(low, rows) + 1).skip(row_of(high, rows)) {
            if let Some(cell) = row.get_mut(column) {
                *cell = Cell::Char('*');
            }
        }
    }
    cells
}
