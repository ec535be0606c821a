//! The text of an N-dimensional array, byte for byte as NumPy 2 prints it with its default options, or with another threshold or precision.
//!
//! Knows items as bytes and a dtype, and nothing of files: [`needed`] says which items the text shows, the caller reads
//! them, and [`format()`] writes the text. From a huge array only its corners are read.

mod calendar;
mod digits;
mod edges;
mod float;
mod item;
mod lines;
mod plain;
mod scalar;

#[cfg(feature = "plot")]
pub(crate) use calendar::plural;
pub use edges::{edge_shape, needed};
pub(crate) use plain::{Values, csv_header, to_csv, to_json};
pub use scalar::scalar;

use std::ops::Range;

use b2nd::{Dtype, Error, Result};

/// What `numpy.printoptions` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Above this number of items, only the edges are shown.
    pub threshold: u64,
    /// The most digits after the point of floats.
    pub precision: usize,
}

impl Default for Style {
    fn default() -> Self {
        Style { threshold: 1000, precision: 8 }
    }
}

/// How many items an edge has.
const EDGE: u64 = 3;
/// The longest line.
const LINE_WIDTH: usize = 75;

/// The text of an array of `shape`, whose items `edge` are those of the ranges of [`needed`], in C order.
///
/// As `str(array)` in NumPy, without the line feed that `print` adds.
///
/// # Errors
/// [`Error::Usage`] when `edge` does not have the bytes of those items.
///
/// ```
/// use b2nd::Dtype;
/// let text = b2nd_cli::text::format(&Dtype::parse("|u1")?, &[2, 2], &[1, 2, 30, 4], Default::default())?;
/// assert_eq!(text, "[[ 1  2]\n [30  4]]");
/// # Ok::<(), b2nd::Error>(())
/// ```
pub fn format(dtype: &Dtype, shape: &[u64], edge: &[u8], style: Style) -> Result<String> {
    let count: Option<usize> = edge_shape(shape, style)
        .iter()
        .try_fold(1u64, |n, &axis| n.checked_mul(axis))
        .and_then(|n| n.try_into().ok());
    let Some(count) = count.filter(|n| n.checked_mul(dtype.itemsize()) == Some(edge.len())) else {
        return Err(Error::Usage("the bytes do not fit the items to print".to_string()));
    };
    if count == 0 {
        return Ok("[]".to_string());
    }
    let items = cut(edge, count, dtype.itemsize());
    if shape.is_empty() {
        return Ok(items.first().map(|bytes| scalar::text(dtype, bytes)).unwrap_or_default());
    }
    let formatter = item::Formatter::new(dtype, &items, item::Context::Array, style);
    let words: Vec<String> = items.iter().map(|bytes| formatter.text(bytes)).collect();
    Ok(lines::lay_out(shape, &words, style))
}

/// `count` items of `size` bytes each; `bytes` has them all.
fn cut(bytes: &[u8], count: usize, size: usize) -> Vec<&[u8]> {
    (0..count).map(|n| bytes.get(n * size..(n + 1) * size).unwrap_or_default()).collect()
}

/// The ranges of one axis that are shown.
fn shown(summarised: bool, len: u64) -> Vec<Range<u64>> {
    if summarised && len > 2 * EDGE {
        vec![0..EDGE, len - EDGE..len]
    } else {
        std::iter::once(0..len).collect()
    }
}
