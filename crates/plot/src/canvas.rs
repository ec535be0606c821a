//! A canvas of pixels: rectangles and text, clipped at its edges. Knows nothing of fields.

use crate::colour::Rgb;
use crate::font::{self, Stroke};

/// A rectangle of pixels; it may reach beyond the canvas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Rect {
    /// Left edge.
    pub(crate) x: i32,
    /// Upper edge.
    pub(crate) y: i32,
    /// Width.
    pub(crate) w: i32,
    /// Height.
    pub(crate) h: i32,
}

impl Rect {
    /// The rectangle with `margin` more on each side.
    pub(crate) fn grown(self, margin: i32) -> Self {
        Self { x: self.x - margin, y: self.y - margin, w: self.w + 2 * margin, h: self.h + 2 * margin }
    }
}

/// How text is drawn: the distance between the nodes of a letter, in pixels, and which way it runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Face {
    /// Pixels from node to node.
    pub(crate) pitch: f64,
    /// Whether it runs upwards.
    pub(crate) upwards: bool,
}

impl Face {
    /// Text from left to right.
    pub(crate) const fn of(pitch: f64) -> Self {
        Self { pitch, upwards: false }
    }

    /// How long `text` is, in pixels.
    pub(crate) fn length(self, text: &str) -> i32 {
        let nodes: f64 = text.chars().map(|c| font::glyph(c).width + GAP).sum();
        ((nodes - GAP).max(0.0) * self.pitch + 2.0 * self.weight()).ceil() as i32
    }

    /// How high its capitals are, in pixels.
    pub(crate) fn height(self) -> i32 {
        (font::ASCENT * self.pitch + 2.0 * self.weight()).ceil() as i32
    }

    /// `text`, or as much of its beginning as has room in `room` pixels.
    pub(crate) fn shortened(self, text: &str, room: i32) -> String {
        if self.length(text) <= room {
            return text.into();
        }
        let mut kept: Vec<char> = text.chars().take(400).collect();
        while kept.pop().is_some() {
            let shorter: String = kept.iter().chain(&['.'; 3]).collect();
            if self.length(&shorter) <= room {
                return shorter;
            }
        }
        String::new()
    }

    /// Half the width of a stroke.
    fn weight(self) -> f64 {
        self.pitch * 0.27 + 0.3
    }
}

/// Nodes from the last column of one letter to the first of the next.
const GAP: f64 = 2.0;

/// A canvas.
pub(crate) struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<Rgb>,
    /// Nothing is drawn outside of it.
    clip: Option<Rect>,
}

impl Canvas {
    /// A canvas of one colour.
    pub(crate) fn new(width: i32, height: i32, colour: Rgb) -> Self {
        let (width, height) = (width.max(1) as usize, height.max(1) as usize);
        Self { width, height, pixels: vec![colour; width * height], clip: None }
    }

    /// Its width and height.
    pub(crate) fn size(&self) -> (u32, u32) {
        (self.width as u32, self.height as u32)
    }

    /// Its pixels, row by row.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.pixels.as_flattened()
    }

    /// Draws only inside a rectangle from now on, or everywhere.
    pub(crate) fn clip(&mut self, to: Option<Rect>) {
        self.clip = to;
    }

    fn pixel(&mut self, x: i32, y: i32) -> Option<&mut Rgb> {
        let inside = |Rect { x: left, y: top, w, h }: Rect| {
            (left..left + w).contains(&x) && (top..top + h).contains(&y)
        };
        if !self.clip.is_none_or(inside) {
            return None;
        }
        let (x, y) = (usize::try_from(x).ok()?, usize::try_from(y).ok()?);
        if x < self.width { self.pixels.get_mut(y * self.width + x) } else { None }
    }

    /// Gives one pixel a colour.
    pub(crate) fn put(&mut self, x: i32, y: i32, colour: Rgb) {
        if let Some(pixel) = self.pixel(x, y) {
            *pixel = colour;
        }
    }

    /// Fills a rectangle.
    pub(crate) fn fill(&mut self, rect: Rect, colour: Rgb) {
        for y in rect.y..rect.y + rect.h {
            for x in rect.x..rect.x + rect.w {
                self.put(x, y, colour);
            }
        }
    }

    /// Draws the edge of a rectangle, one pixel wide, inside it.
    pub(crate) fn frame(&mut self, Rect { x, y, w, h }: Rect, colour: Rgb) {
        self.fill(Rect { x, y, w, h: 1 }, colour);
        self.fill(Rect { x, y: y + h - 1, w, h: 1 }, colour);
        self.fill(Rect { x, y, w: 1, h }, colour);
        self.fill(Rect { x: x + w - 1, y, w: 1, h }, colour);
    }

    /// Draws `text` from (x, y): the upper left corner of its capitals, as one reads it.
    pub(crate) fn text(&mut self, x: i32, y: i32, text: &str, face: Face, colour: Rgb) {
        let weight = face.weight();
        let mut along = weight;
        for c in text.chars() {
            let glyph = font::glyph(c);
            let place = |(column, row): (f64, f64)| {
                let (u, v) = (along + column * face.pitch, weight + row * face.pitch);
                let (dx, dy) = if face.upwards { (v, -u) } else { (u, v) };
                (f64::from(x) + dx, f64::from(y) + dy)
            };
            let strokes: Vec<Stroke> = glyph.strokes.iter().map(|stroke| stroke.map(place)).collect();
            self.strokes(&strokes, weight, colour);
            along += (glyph.width + GAP) * face.pitch;
        }
    }

    /// Draws strokes with round ends as one shape: where two meet, the edge is not drawn twice.
    pub(crate) fn strokes(&mut self, strokes: &[Stroke], weight: f64, colour: Rgb) {
        let ends = || strokes.iter().flatten();
        let reach = weight + 1.0;
        let left = ends().map(|p| p.0).fold(f64::INFINITY, f64::min) - reach;
        let right = ends().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max) + reach;
        let top = ends().map(|p| p.1).fold(f64::INFINITY, f64::min) - reach;
        let bottom = ends().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max) + reach;
        if strokes.is_empty() {
            return;
        }
        for y in top as i32..=bottom as i32 {
            for x in left as i32..=right as i32 {
                let (middle_x, middle_y) = (f64::from(x) + 0.5, f64::from(y) + 0.5);
                let distances = strokes.iter().map(|stroke| distance(middle_x, middle_y, *stroke));
                let nearest = distances.fold(f64::INFINITY, f64::min);
                let ink = (weight + 0.5 - nearest).clamp(0.0, 1.0);
                if let Some(pixel) = self.pixel(x, y) {
                    for (below, above) in pixel.iter_mut().zip(colour) {
                        *below = (f64::from(*below) * (1.0 - ink) + f64::from(above) * ink).round() as u8;
                    }
                }
            }
        }
    }
}

fn distance(x: f64, y: f64, [a, b]: Stroke) -> f64 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = dx * dx + dy * dy;
    let along = ((x - a.0) * dx + (y - a.1) * dy) / length.max(1e-9);
    let t = along.clamp(0.0, 1.0);
    (x - a.0 - t * dx).hypot(y - a.1 - t * dy)
}
