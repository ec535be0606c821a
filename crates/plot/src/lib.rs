//! Pictures of a two-dimensional field, of colours, or of a line: a PNG image, or characters for a terminal.
//!
//! Both show the values through the same colour map, with a bar that explains it and the indices of the array
//! along the sides. Nothing here knows where the values come from. The letters are strokes on a grid of nodes,
//! in the source: no font file is read or embedded.
#![forbid(unsafe_code)]

mod canvas;
mod colour;
mod dates;
mod font;
mod limits;
mod line;
mod picture;
mod sample;
mod scale;
mod terminal;
#[cfg(test)]
mod tests;

pub use colour::{ColourDepth, Map};
pub use dates::days_since_1970;
pub use limits::{Limits, Scale};
pub use line::{Line, line_png, line_terminal};
pub use picture::png;
pub use terminal::{terminal, terminal_height};

/// A two-dimensional field and what is written around it.
///
/// ```
/// use b2nd_plot::{ColourDepth, Field, png, terminal};
///
/// let mut field = Field::new(2, 3, vec![0.0, 0.5, 1.0, 1.5, f64::NAN, 2.5]);
/// field.title = "six values".into();
/// let image = png(&field, 1200, 900)?;
/// assert!(image.starts_with(b"\x89PNG"));
/// let text = terminal(&field, 60, 12, ColourDepth::None);
/// assert_eq!(text.lines().count(), 12);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// The values, row by row; NaN is a missing value. What lacks at the end counts as missing, what is too
    /// many is not looked at.
    pub values: Vec<f64>,
    /// The colours of a picture that has its own, row by row; they are shown in the place of the values.
    pub colours: Vec<[u8; 3]>,
    /// How values become colours.
    pub scale: Scale,
    /// Written above.
    pub title: String,
    /// Written beside the rows.
    pub row_label: String,
    /// Written below the columns.
    pub col_label: String,
    /// The number of the first row in its array.
    pub row_start: i64,
    /// From the number of a row to that of the next; not 0.
    pub row_step: i64,
    /// The number of the first column in its array.
    pub col_start: i64,
    /// From the number of a column to that of the next; not 0.
    pub col_step: i64,
    /// Written along the rows in the place of their numbers.
    pub row_texts: Option<Texts>,
    /// Written along the columns in the place of their numbers.
    pub col_texts: Option<Texts>,
}

/// What is written along an axis in the place of numbers: coordinates, such as dates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texts {
    /// From the sample that one text is for to that of the next.
    pub every: usize,
    /// The texts; the first is for the first sample.
    pub texts: Vec<String>,
}

impl Field {
    /// A field without words, whose rows and columns count from 0.
    #[must_use]
    pub fn new(rows: usize, cols: usize, values: Vec<f64>) -> Self {
        Self {
            rows,
            cols,
            values,
            colours: Vec::new(),
            scale: Scale::default(),
            title: String::new(),
            row_label: String::new(),
            col_label: String::new(),
            row_start: 0,
            row_step: 1,
            col_start: 0,
            col_step: 1,
            row_texts: None,
            col_texts: None,
        }
    }

    /// The values that are part of the field.
    fn shown(&self) -> &[f64] {
        let count = self.rows.saturating_mul(self.cols);
        self.values.get(..count).unwrap_or(&self.values)
    }

    /// Whether it is a picture in its own colours.
    fn is_coloured(&self) -> bool {
        !self.colours.is_empty()
    }

    /// The range that the colour bar shows; there is none for colours.
    fn range(&self) -> scale::Range {
        let values = if self.is_coloured() { &[] } else { self.shown() };
        scale::Range::new(values, &self.scale)
    }

    fn row_axis(&self) -> scale::Axis<'_> {
        let texts = self.row_texts.as_ref();
        scale::Axis { len: self.rows, start: self.row_start, step: self.row_step, texts }
    }

    fn col_axis(&self) -> scale::Axis<'_> {
        let texts = self.col_texts.as_ref();
        scale::Axis { len: self.cols, start: self.col_start, step: self.col_step, texts }
    }
}

/// The example of the README runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
