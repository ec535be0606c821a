//! The PNG image of a field: where everything goes, and drawing it there.

use std::io;

use crate::Field;
use crate::canvas::{Canvas, Face, Rect};
use crate::colour::{ABOVE, BELOW, MISSING, Rgb, viridis};
use crate::sample::resample;
use crate::scale::{Axis, Range};

const PAPER: Rgb = [255, 255, 255];
const INK: Rgb = [45, 45, 45];
const LINE: Rgb = [90, 90, 90];

const TITLE: Face = Face::of(2.25);
const LABEL: Face = Face::of(2.0);
const NUMBER: Face = Face::of(1.75);

/// Around everything.
const PAD: i32 = 18;
/// The length of a tick, and the gap between it and its number.
const TICK: i32 = 6;
const TICK_GAP: i32 = 6;
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
const BARE: (i32, i32) = (260, 200);
/// The largest picture, whatever is asked.
const LARGEST: u32 = 8192;

/// A PNG image of `field`, no larger than `max_width` × `max_height` pixels (and 8192 × 8192).
///
/// The shape of the field is kept unless it is very long and thin. Fewer samples than pixels become squares of
/// a whole number of pixels; more are averaged. If the room is too small for words, they are left out.
pub fn png(field: &Field, max_width: u32, max_height: u32) -> io::Result<Vec<u8>> {
    let canvas = draw(field, max_width.clamp(1, LARGEST) as i32, max_height.clamp(1, LARGEST) as i32);
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
    let range = Range::of(field.shown());
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
    draw_columns(&mut canvas, field, &layout);
    draw_bar(&mut canvas, &range, &layout);
    draw_legend(&mut canvas, &range, &layout);
    let title = TITLE.shortened(&field.title, layout.width - 2 * PAD);
    let middle = layout.plot.x + layout.plot.w / 2;
    let at = between(middle - TITLE.length(&title) / 2, PAD, layout.width - PAD - TITLE.length(&title));
    canvas.text(at, PAD, &title, TITLE, INK);
    canvas
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
        if upright.plot.h >= LOW {
            return upright;
        }
        Self::with_bar(field, range, max_width, max_height, true)
    }

    fn with_bar(field: &Field, range: &Range, max_width: i32, max_height: i32, lying: bool) -> Self {
        let has = |present: bool, pixels: i32| if present { pixels } else { 0 };
        let beside_tick = TICK + TICK_GAP;
        let row_number = NUMBER.length(&field.row_axis().widest());
        let left = PAD + has(!field.row_label.is_empty(), LABEL.height() + 14) + row_number + beside_tick;
        let top = PAD + has(!field.title.is_empty(), TITLE.height() + 18);
        let under = beside_tick
            + NUMBER.height()
            + has(!field.col_label.is_empty(), 14 + LABEL.height() + descent(LABEL));
        let legend = has(range.missing || range.above || range.below, APART - 4 + NUMBER.height());
        let bar_room = APART + BAR + beside_tick;
        let (right, bottom) = if lying {
            (PAD + APART, under + bar_room + NUMBER.height() + legend + PAD)
        } else {
            (bar_room + widest_value(range) + PAD, under + legend + PAD)
        };
        let (w, h) = plot_size(field, max_width - left - right, max_height - top - bottom);
        let mut plot = Rect { x: left, y: top, w, h };
        // A lying bar of a narrow plot, and the title, may need more than the plot's width.
        let bar_length = if lying { w.max(4 * widest_value(range)).max(120) } else { h };
        let wanted = (left + w.max(has(lying, bar_length)) + right).max(TITLE.length(&field.title) + 2 * PAD);
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
fn descent(face: Face) -> i32 {
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

fn between(v: i32, low: i32, high: i32) -> i32 {
    v.min(high).max(low)
}

fn draw_cells(canvas: &mut Canvas, field: &Field, range: &Range, plot: Rect) {
    if field.rows == 0 || field.cols == 0 {
        canvas.fill(plot, PAPER);
        return;
    }
    let cells = resample(field.shown(), [field.rows, field.cols], [plot.h as usize, plot.w as usize]);
    for (y, line) in (plot.y..).zip(cells.chunks_exact(plot.w as usize)) {
        for (x, &v) in (plot.x..).zip(line) {
            canvas.put(x, y, range.colour(v));
        }
    }
}

/// The pixel of a position along an axis, from the start of the plot.
fn pixel_of(position: f64, axis: Axis, length: i32) -> i32 {
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
    let label = LABEL.shortened(&field.row_label, layout.height - 2 * PAD);
    let length = LABEL.length(&label);
    let start = between(plot.y + (plot.h + length) / 2, PAD + length, layout.height - PAD);
    let x = edge - TICK_GAP - NUMBER.length(&axis.widest()) - 14 - LABEL.height();
    canvas.text(x, start, &label, Face { upwards: true, ..LABEL }, INK);
}

fn draw_columns(canvas: &mut Canvas, field: &Field, layout: &Layout) {
    let (axis, plot) = (field.col_axis(), layout.plot);
    let gap = f64::from(NUMBER.length(&axis.widest()) + 18) * axis.len as f64 / f64::from(plot.w);
    let edge = plot.y + plot.h + 1;
    let centred = |text: &str, face: Face, middle: i32| {
        let length = face.length(text);
        between(middle - length / 2, 4, layout.width - 4 - length)
    };
    for (position, text) in axis.ticks(gap) {
        let x = plot.x + pixel_of(position, axis, plot.w);
        canvas.fill(Rect { x, y: edge, w: 1, h: TICK }, LINE);
        canvas.text(centred(&text, NUMBER, x), edge + TICK + TICK_GAP, &text, NUMBER, INK);
    }
    let label = LABEL.shortened(&field.col_label, layout.width - 2 * PAD);
    let y = edge + TICK + TICK_GAP + NUMBER.height() + 14;
    canvas.text(centred(&label, LABEL, plot.x + plot.w / 2), y, &label, LABEL, INK);
}

fn draw_bar(canvas: &mut Canvas, range: &Range, layout: &Layout) {
    let bar = layout.bar;
    let length = if layout.lying { bar.w } else { bar.h };
    if !range.finite {
        return;
    }
    for i in 0..length {
        let t = if range.is_constant() { 0.5 } else { (f64::from(i) + 0.5) / f64::from(length) };
        let colour = viridis(t);
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
    let kinds = [(range.missing, MISSING, "NaN"), (range.above, ABOVE, "+inf"), (range.below, BELOW, "-inf")];
    let (mut x, side) = (layout.plot.x - 1, NUMBER.height());
    for (_, colour, name) in kinds.into_iter().filter(|(present, ..)| *present) {
        let swatch = Rect { x, y: layout.legend, w: side, h: side };
        canvas.fill(swatch, colour);
        canvas.frame(swatch, LINE);
        canvas.text(x + side + 8, layout.legend, name, NUMBER, INK);
        x += side + 8 + NUMBER.length(name) + APART;
    }
}
