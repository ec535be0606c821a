//! The PNG image of a field: where everything goes, and drawing it there.

use std::io;

use crate::Field;
use crate::canvas::{Canvas, Face, Rect};
use crate::colour::Rgb;
use crate::sample::{resample, resample_colours};
use crate::scale::{Axis, Range};

pub(crate) const PAPER: Rgb = [255, 255, 255];
pub(crate) const INK: Rgb = [45, 45, 45];
pub(crate) const LINE: Rgb = [90, 90, 90];

pub(crate) const TITLE: Face = Face::of(2.25);
pub(crate) const LABEL: Face = Face::of(2.0);
pub(crate) const NUMBER: Face = Face::of(1.75);

/// Around everything.
pub(crate) const PAD: i32 = 18;
/// The length of a tick, and the gap between it and its number.
pub(crate) const TICK: i32 = 6;
pub(crate) const TICK_GAP: i32 = 6;
/// From numbers to the label beside them.
pub(crate) const LABEL_GAP: i32 = 14;
/// Between two things that do not belong together.
const APART: i32 = 24;
/// The short side of the colour bar.
const BAR: i32 = 20;
/// No side of a plot is shorter, however thin the field, if there is room.
const THIN: i32 = 64;
/// A sample is not drawn larger.
const LARGEST_SAMPLE: i32 = 128;
/// Plots that are lower carry their colour bar below.
const LOW: i32 = 170;
/// In less room than this (width, height) there is only the plot.
pub(crate) const BARE: (i32, i32) = (260, 200);
/// The largest picture, whatever is asked.
pub(crate) const LARGEST: u32 = 8192;

/// A PNG image of `field`, no larger than `max_width` × `max_height` pixels (and 8192 × 8192).
///
/// The shape of the field is kept unless it is very long and thin. Fewer samples than pixels become squares of
/// a whole number of pixels; more are averaged. If the room is too small for words, they are left out.
pub fn png(field: &Field, max_width: u32, max_height: u32) -> io::Result<Vec<u8>> {
    let [width, height] = [max_width, max_height].map(|side| side.clamp(1, LARGEST) as i32);
    encoded(&draw(field, width, height))
}

/// A canvas as a PNG file.
pub(crate) fn encoded(canvas: &Canvas) -> io::Result<Vec<u8>> {
    let mut file = Vec::new();
    let (width, height) = canvas.size();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(canvas.bytes())?;
    writer.finish()?;
    Ok(file)
}

/// Draws `field`.
fn draw(field: &Field, max_width: i32, max_height: i32) -> Canvas {
    let range = field.range();
    if max_width < BARE.0 || max_height < BARE.1 {
        let (w, h) = plot_size(field, max_width, max_height);
        let plot = Rect { x: 0, y: 0, w, h };
        let mut canvas = Canvas::new(w, h, PAPER);
        draw_cells(&mut canvas, field, &range, plot);
        return canvas;
    }
    let layout = Layout::of(field, &range, max_width, max_height);
    let mut canvas = Canvas::new(layout.width, layout.height, PAPER);
    draw_cells(&mut canvas, field, &range, layout.plot);
    canvas.frame(layout.plot.grown(1), LINE);
    draw_rows(&mut canvas, field, &layout);
    let columns = Columns { axis: field.col_axis(), label: &field.col_label, plot: layout.plot };
    columns.draw(&mut canvas, layout.width);
    draw_bar(&mut canvas, &range, &layout);
    draw_label(&mut canvas, field, &range, &layout);
    draw_legend(&mut canvas, &range, &layout);
    draw_title(&mut canvas, &field.title, layout.plot, layout.width);
    canvas
}

/// Writes the title over the middle of the plot.
pub(crate) fn draw_title(canvas: &mut Canvas, title: &str, plot: Rect, width: i32) {
    let title = TITLE.shortened(title, width - 2 * PAD);
    let middle = plot.x + plot.w / 2;
    let at = between(middle - TITLE.length(&title) / 2, PAD, width - PAD - TITLE.length(&title));
    canvas.text(at, PAD, &title, TITLE, INK);
}

/// Where the parts of a picture with words are.
pub(crate) struct Layout {
    width: i32,
    height: i32,
    /// The plot, without its frame.
    pub(crate) plot: Rect,
    /// The colour bar, without its frame.
    pub(crate) bar: Rect,
    /// Whether the bar lies below the plot.
    lying: bool,
    /// Upper edge of the line that explains what is not finite.
    legend: i32,
}

impl Layout {
    /// The layout of a picture of `field`, whose values have that range.
    pub(crate) fn of(field: &Field, range: &Range, max_width: i32, max_height: i32) -> Self {
        let upright = Self::with_bar(field, range, max_width, max_height, false);
        if upright.plot.h >= LOW || field.is_coloured() {
            return upright;
        }
        Self::with_bar(field, range, max_width, max_height, true)
    }

    fn with_bar(field: &Field, range: &Range, max_width: i32, max_height: i32, lying: bool) -> Self {
        let has = |present: bool, pixels: i32| if present { pixels } else { 0 };
        let beside_tick = TICK + TICK_GAP;
        let labelled = !field.scale.label.is_empty() && !field.is_coloured();
        let row_number = NUMBER.length(&field.row_axis().widest());
        let left =
            PAD + has(!field.row_label.is_empty(), LABEL.height() + LABEL_GAP) + row_number + beside_tick;
        let top = PAD + has(!field.title.is_empty(), TITLE.height() + 18);
        let under = beside_tick
            + NUMBER.height()
            + has(!field.col_label.is_empty(), LABEL_GAP + LABEL.height() + descent(LABEL));
        let explained = range.others().next().is_some() || range.note().is_some();
        let legend = has(explained, APART - 4 + NUMBER.height());
        let label = has(labelled, LABEL_GAP + LABEL.height());
        let bar_room = has(!field.is_coloured(), APART + BAR + beside_tick);
        let (right, bottom) = if lying {
            (
                PAD + APART,
                under + bar_room + NUMBER.height() + has(labelled, label + descent(LABEL)) + legend + PAD,
            )
        } else {
            (bar_room + widest_value(range) + label + PAD, under + legend + PAD)
        };
        let (w, h) = plot_size(field, max_width - left - right, max_height - top - bottom);
        let mut plot = Rect { x: left, y: top, w, h };
        // A lying bar of a narrow plot, and the title, may need more than the plot's width.
        let bar_length = if lying { w.max(4 * widest_value(range)).max(120) } else { h };
        let note = left + NUMBER.length(&range.note().unwrap_or_default()) + PAD;
        let wanted = (left + w.max(has(lying, bar_length)) + right)
            .max(TITLE.length(&field.title) + 2 * PAD)
            .max(note);
        let width = wanted.min(max_width);
        let bar_length = if lying { bar_length.min(width - left - right) } else { h };
        // What the title adds is shared between the sides.
        let shift = (width - left - right - w.max(has(lying, bar_length))).max(0) / 2;
        plot.x += shift;
        let end = top + h + under;
        let bar = if lying {
            Rect { x: plot.x, y: end + APART, w: bar_length, h: BAR }
        } else {
            Rect { x: plot.x + w + APART, y: top, w: BAR, h }
        };
        let height = (top + h + bottom).min(max_height);
        Self { width, height, plot, bar, lying, legend: height - PAD - NUMBER.height() }
    }
}

/// How far letters reach below their line.
pub(crate) fn descent(face: Face) -> i32 {
    (2.0 * face.pitch) as i32
}

/// The widest number that the colour bar may carry, however many it carries.
fn widest_value(range: &Range) -> i32 {
    let numbers = (2..=8).flat_map(|wanted| range.ticks(wanted));
    numbers.map(|(_, text)| NUMBER.length(&text)).max().unwrap_or(0)
}

/// The plot's width and height in the room there is.
fn plot_size(field: &Field, room_w: i32, room_h: i32) -> (i32, i32) {
    let (room_w, room_h) = (room_w.max(1), room_h.max(1));
    let (cols, rows) = (field.cols.max(1), field.rows.max(1));
    let factor = (f64::from(room_w) / cols as f64).min(f64::from(room_h) / rows as f64);
    let side = |samples: usize, room: i32| {
        let scaled = if factor >= 1.0 {
            samples as i32 * (factor as i32).min(LARGEST_SAMPLE)
        } else {
            (samples as f64 * factor).round() as i32
        };
        let least = if samples < THIN as usize { THIN / samples as i32 * samples as i32 } else { THIN };
        scaled.max(least).clamp(1, room)
    };
    (side(cols, room_w), side(rows, room_h))
}

pub(crate) fn between(v: i32, low: i32, high: i32) -> i32 {
    v.min(high).max(low)
}

fn draw_cells(canvas: &mut Canvas, field: &Field, range: &Range, plot: Rect) {
    if field.rows == 0 || field.cols == 0 {
        canvas.fill(plot, PAPER);
        return;
    }
    let cells = cells(field, range, [plot.h as usize, plot.w as usize]);
    for (y, line) in (plot.y..).zip(cells.chunks_exact(plot.w as usize)) {
        for (x, &colour) in (plot.x..).zip(line) {
            canvas.put(x, y, colour);
        }
    }
}

/// The colours of a field as so many rows and columns.
pub(crate) fn cells(field: &Field, range: &Range, shape: [usize; 2]) -> Vec<Rgb> {
    let samples = [field.rows, field.cols];
    if field.is_coloured() {
        return resample_colours(&field.colours, samples, shape);
    }
    resample(field.shown(), samples, shape).into_iter().map(|v| range.colour(v)).collect()
}

/// The pixel of a position along an axis, from the start of the plot.
pub(crate) fn pixel_of(position: f64, axis: Axis<'_>, length: i32) -> i32 {
    let at = position / axis.len.max(1) as f64 * f64::from(length);
    between(at as i32, 0, length - 1)
}

fn draw_rows(canvas: &mut Canvas, field: &Field, layout: &Layout) {
    let (axis, plot) = (field.row_axis(), layout.plot);
    let gap = f64::from(NUMBER.height() + 12) * axis.len as f64 / f64::from(plot.h);
    let edge = plot.x - 1 - TICK;
    for (position, text) in axis.ticks(gap) {
        let y = plot.y + pixel_of(position, axis, plot.h);
        canvas.fill(Rect { x: edge, y, w: TICK, h: 1 }, LINE);
        let x = edge - TICK_GAP - NUMBER.length(&text);
        canvas.text(x, y - NUMBER.height() / 2, &text, NUMBER, INK);
    }
    let x = edge - TICK_GAP - NUMBER.length(&axis.widest()) - LABEL_GAP - LABEL.height();
    draw_upwards(canvas, &field.row_label, x, plot, layout.height);
}

/// Writes a label upwards beside the middle of a plot, on a canvas of this height.
pub(crate) fn draw_upwards(canvas: &mut Canvas, label: &str, x: i32, plot: Rect, height: i32) {
    let label = LABEL.shortened(label, height - 2 * PAD);
    let length = LABEL.length(&label);
    let start = between(plot.y + (plot.h + length) / 2, PAD + length, height - PAD);
    canvas.text(x, start, &label, Face { upwards: true, ..LABEL }, INK);
}

/// Writes what the values are beside the colour bar, or below it.
fn draw_label(canvas: &mut Canvas, field: &Field, range: &Range, layout: &Layout) {
    let (bar, label) = (layout.bar, &field.scale.label);
    if label.is_empty() || field.is_coloured() {
        return;
    }
    let beside = TICK + TICK_GAP + LABEL_GAP + 1;
    if !layout.lying {
        let x = bar.x + bar.w + beside + widest_value(range);
        return draw_upwards(canvas, label, x, bar, layout.height);
    }
    let label = LABEL.shortened(label, layout.width - 2 * PAD);
    let length = LABEL.length(&label);
    let x = between(bar.x + (bar.w - length) / 2, 4, layout.width - 4 - length);
    canvas.text(x, bar.y + bar.h + beside + NUMBER.height(), &label, LABEL, INK);
}

/// What is written below a plot.
pub(crate) struct Columns<'a> {
    pub(crate) axis: Axis<'a>,
    pub(crate) label: &'a str,
    pub(crate) plot: Rect,
}

impl Columns<'_> {
    /// Draws ticks, numbers and the label, on a canvas of this width.
    pub(crate) fn draw(&self, canvas: &mut Canvas, width: i32) {
        let Columns { axis, plot, .. } = *self;
        let gap = f64::from(NUMBER.length(&axis.widest()) + 18) * axis.len as f64 / f64::from(plot.w);
        let edge = plot.y + plot.h + 1;
        let centred = |text: &str, face: Face, middle: i32| {
            let length = face.length(text);
            between(middle - length / 2, 4, width - 4 - length)
        };
        for (position, text) in axis.ticks(gap) {
            let x = plot.x + pixel_of(position, axis, plot.w);
            canvas.fill(Rect { x, y: edge, w: 1, h: TICK }, LINE);
            canvas.text(centred(&text, NUMBER, x), edge + TICK + TICK_GAP, &text, NUMBER, INK);
        }
        let label = LABEL.shortened(self.label, width - 2 * PAD);
        let y = edge + TICK + TICK_GAP + NUMBER.height() + LABEL_GAP;
        canvas.text(centred(&label, LABEL, plot.x + plot.w / 2), y, &label, LABEL, INK);
    }
}

fn draw_bar(canvas: &mut Canvas, range: &Range, layout: &Layout) {
    let bar = layout.bar;
    let length = if layout.lying { bar.w } else { bar.h };
    if !range.finite {
        return;
    }
    for i in 0..length {
        let t = if range.is_constant() { 0.5 } else { (f64::from(i) + 0.5) / f64::from(length) };
        let colour = range.colour_at(t);
        if layout.lying {
            canvas.fill(Rect { x: bar.x + i, w: 1, ..bar }, colour);
        } else {
            canvas.fill(Rect { y: bar.y + bar.h - 1 - i, h: 1, ..bar }, colour);
        }
    }
    canvas.frame(bar.grown(1), LINE);
    let room = if layout.lying { widest_value(range) + 24 } else { NUMBER.height() + 32 };
    for (v, text) in range.ticks((length / room).clamp(1, 8) as usize) {
        let along = between((range.fraction(v) * f64::from(length)) as i32, 0, length - 1);
        if layout.lying {
            let (x, y) = (bar.x + along, bar.y + bar.h + 1);
            canvas.fill(Rect { x, y, w: 1, h: TICK }, LINE);
            let width = NUMBER.length(&text);
            let left = between(x - width / 2, 4, layout.width - 4 - width);
            canvas.text(left, y + TICK + TICK_GAP, &text, NUMBER, INK);
        } else {
            let (x, y) = (bar.x + bar.w + 1, bar.y + bar.h - 1 - along);
            canvas.fill(Rect { x, y, w: TICK, h: 1 }, LINE);
            canvas.text(x + TICK + TICK_GAP, y - NUMBER.height() / 2, &text, NUMBER, INK);
        }
    }
}

fn draw_legend(canvas: &mut Canvas, range: &Range, layout: &Layout) {
    let (mut x, side) = (layout.plot.x - 1, NUMBER.height());
    for (v, name) in range.others() {
        let swatch = Rect { x, y: layout.legend, w: side, h: side };
        canvas.fill(swatch, range.colour(v));
        canvas.frame(swatch, LINE);
        canvas.text(x + side + 8, layout.legend, name, NUMBER, INK);
        x += side + 8 + NUMBER.length(name) + APART;
    }
    let note = NUMBER.shortened(&range.note().unwrap_or_default(), layout.width - PAD - x);
    canvas.text(x, layout.legend, &note, NUMBER, INK);
}
