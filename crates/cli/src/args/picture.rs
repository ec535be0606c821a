//! The options of `plot` and `demo`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Threads;
#[cfg(feature = "plot")]
use super::{Place, Work};

/// `b2nd plot`
#[cfg(feature = "plot")]
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  b2nd plot a.b2nd                      in the terminal; a deep array is cut in the middle
  b2nd plot a.b2nd --slice '0,:,:'
  b2nd plot a.b2nd --slice ':,-1' -o a.png --title 'Last column' --xlabel day
  b2nd plot a.b2nd --slice 0 --limits 250,310 --map heat
  b2nd plot t2m.b2nd --slice ':,60,0' --x time.b2nd     a line, with dates along it

A slice with one axis is a line. One of shape (H, W, 3) or (H, W, 4), of u1, u2 or floats from 0 to
1, is a picture in its own colours. Complex numbers are drawn by their modulus, and times by their
dates. Axes have the names of the attribute _ARRAY_DIMENSIONS, values those of long_name and units.
Without --limits and --percentiles the colours cover all values, but for outliers: where the middle
99 % of the values take less than a quarter of the range, the colours end there. The picture says
so.")]
pub(crate) struct Plot {
    /// The array
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) place: Place,
    /// The part to draw: one that leaves at most two axes longer than 1
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true)]
    pub(crate) slice: Option<String>,
    /// Draw a PNG file instead of text in the terminal
    #[arg(short, long, value_name = "OUT.png")]
    pub(crate) output: Option<PathBuf>,
    /// Values at the ends of the colours (of a line: of the axis)
    #[arg(long, value_name = "LO,HI", allow_hyphen_values = true, value_parser = pair)]
    pub(crate) limits: Option<(f64, f64)>,
    /// Percentiles at the ends of the colours, such as 2,98; 0,100 for all values
    #[arg(long, value_name = "P,Q", conflicts_with = "limits", value_parser = percentiles)]
    pub(crate) percentiles: Option<(f64, f64)>,
    /// Colours (of a line: the axis) by the logarithm of the values
    #[arg(long)]
    pub(crate) log: bool,
    /// Colour map; NAME_r is the map in reverse
    #[arg(long, value_name = "NAME", default_value = "viridis", value_parser = map_names())]
    pub(crate) map: Map,
    /// Written above [default: the name of the file and the slice]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Written below the columns [default: the name or the number of the axis]
    #[arg(long, value_name = "TEXT")]
    pub(crate) xlabel: Option<String>,
    /// Written beside the rows
    #[arg(long, value_name = "TEXT")]
    pub(crate) ylabel: Option<String>,
    /// Coordinates along the columns: an array or .npy file as long as the axis of FILE that is drawn there
    #[arg(long, value_name = "FILE")]
    pub(crate) x: Option<PathBuf>,
    /// Coordinates along the rows
    #[arg(long, value_name = "FILE")]
    pub(crate) y: Option<PathBuf>,
    /// Size: pixels of a PNG file, at most, or columns and lines of text [default: 1200x900, or the terminal's]
    #[arg(long, value_name = "WxH")]
    pub(crate) size: Option<PictureSize>,
    /// Take the items as this NumPy dtype of the same size, where the file does not say
    #[arg(long)]
    pub(crate) dtype: Option<String>,
    /// Replace OUT.png if it exists, and write binary data to a terminal
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) work: Work,
}

/// The name of a colour map, and whether it is reversed.
#[cfg(feature = "plot")]
pub(crate) type Map = b2nd_plot::Map;

/// All names of colour maps.
#[cfg(feature = "plot")]
fn map_names() -> impl clap::builder::TypedValueParser<Value = Map> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(Map::names()).map(|name| Map::from_name(&name).unwrap_or_default())
}

/// Two numbers, the first below the second.
#[cfg(feature = "plot")]
fn pair(text: &str) -> Result<(f64, f64), String> {
    let numbers = text.split_once(',').map(|(low, high)| (low.trim().parse(), high.trim().parse()));
    match numbers {
        Some((Ok(low), Ok(high))) if low < high && f64::is_finite(low) && f64::is_finite(high) => {
            Ok((low, high))
        }
        _ => Err("give two numbers, the lower one first, such as -5,40".into()),
    }
}

/// Two percentages, the first below the second.
#[cfg(feature = "plot")]
fn percentiles(text: &str) -> Result<(f64, f64), String> {
    match pair(text) {
        Ok((low, high)) if low >= 0.0 && high <= 100.0 => Ok((low, high)),
        _ => Err("give two percentages from 0 to 100, the lower one first, such as 2,98".into()),
    }
}

/// The width and the height of a picture.
#[cfg(feature = "plot")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PictureSize {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

#[cfg(feature = "plot")]
impl std::str::FromStr for PictureSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sides = text.split_once(['x', 'X', '×']).map(|(w, h)| (w.trim().parse(), h.trim().parse()));
        match sides {
            Some((Ok(width @ 1..=8192), Ok(height @ 1..=8192))) => Ok(PictureSize { width, height }),
            _ => Err("give width and height of 1 to 8192, such as 1200x900".into()),
        }
    }
}

/// `b2nd demo`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  b2nd demo
  b2nd demo /tmp/demo --size small")]
pub(crate) struct Demo {
    /// Where the files go
    #[arg(value_name = "DIR", default_value = "b2nd-demo")]
    pub(crate) dir: PathBuf,
    /// How much to make: full is some hundreds of MB, small a few
    #[arg(long, value_enum, default_value = "full")]
    pub(crate) size: DemoSize,
    /// Replace the files of an earlier demo in DIR
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) threads: Threads,
}

/// How large the field of the demo is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DemoSize {
    /// A few MB
    Small,
    /// Some hundreds of MB
    Full,
}
