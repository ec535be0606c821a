//! The options of the verbs that look at files, compare and mend them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Place, Threads, Work};

/// `b2nd info`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  b2nd info a.b2nd
  b2nd info a.b2nd --json | jq .shape
  b2nd info many.b2nd                   lists the frames of a file of several
  b2nd info many.b2nd --index 2         one of them
  b2nd info data/*.b2nd                 a table for each
  b2nd info dataset                     the arrays of a folder, such as xarray's, a line each

Of several files the exit code is that of the worst. --json has the attributes with their values,
but for those of more than 64 KiB.")]
pub(crate) struct Info {
    /// Arrays, other Blosc2 frames, files of several, bare chunks, or folders of arrays
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Print JSON: one object for each file
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) threads: Threads,
}

/// `b2nd verify`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  b2nd verify a.b2nd && echo sound
  b2nd verify data/*.b2nd               a line for each file
  b2nd verify a.b2nd --json | jq .damage

The exit code is 1 if anything is damaged, and of several files that of the worst. Each damaged
block is a line with the items that are lost. With --quiet, sound files are not listed. Files of
b2nd have checksums, which find every wrong bit. In files of other programs a flipped bit that
leaves a stream well-formed changes values, and nobody can tell. `b2nd repair` saves what is left.")]
pub(crate) struct Verify {
    /// Arrays, or any other Blosc2 frames
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Print JSON: one object in one line for each file
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) threads: Threads,
}

/// `b2nd compact`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  b2nd info a.b2nd          how much of the file is dead bytes
  b2nd compact a.b2nd

A writer fills most dead bytes again by itself. This writes a new file, without compressing
anything, and gives it the old one's name; who reads the old one keeps it. Of a directory, chunk
files that nothing refers to are removed, unless somebody reads an older state.")]
pub(crate) struct Compact {
    /// The array (or any other Blosc2 frame)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) threads: Threads,
}

/// `b2nd repair`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  b2nd repair torn.b2nd whole.b2nd
  b2nd repair torn.b2nd --in-place     the damaged file stays, as torn.b2nd.orig
  b2nd repair torn.b2nd whole.b2nd --fill zeros

Chunks that can be read are copied as they are. With checksums they are found wherever they lie, and
what does not match is not taken; without, a chunk is right that can be decoded, and where the list
of chunks is lost they are taken in the order in which they lie, which is said to be a guess. What
is lost is named, and holds NaN (floats) or nothing (others). The exit code is 0 if all is as it was
written, and 1 if anything is lost or was guessed.")]
pub(crate) struct Repair {
    /// The damaged array (or any other Blosc2 frame); it is only read
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The repaired one
    #[arg(value_name = "OUT", required_unless_present = "in_place", conflicts_with = "in_place")]
    pub(crate) output: Option<PathBuf>,
    /// Give the repaired one the name of the damaged one, which is kept as IN.orig
    #[arg(long)]
    pub(crate) in_place: bool,
    /// What lost items are: by default NaN in arrays of floats, and not initialised in others
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) fill: Option<LostFill>,
    /// Compute all checksums anew: the data that is there counts as right from then on
    #[arg(long)]
    pub(crate) renew_checksums: bool,
    /// Write a folder with a file for each chunk
    #[arg(long)]
    pub(crate) sparse: bool,
    /// Where in IN the frame starts, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub(crate) offset: u64,
    /// Replace OUT if it exists (only once the new one is whole)
    #[arg(long, conflicts_with = "in_place")]
    pub(crate) force: bool,
    /// Print what was found as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) threads: Threads,
}

/// What the items of lost chunks are.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LostFill {
    /// Zeros
    Zeros,
    /// NaN, of floats of 4 or 8 bytes
    Nan,
    /// Not initialised: read as zeros
    Uninit,
}

/// `b2nd diff`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  b2nd diff a.b2nd b.b2nd && echo equal
  b2nd diff a.b2nd a.npy                                  with what it was imported from
  b2nd diff a.b2nd b.b2nd --rtol 1e-6 --equal-nan         numbers that are close
  b2nd diff many.b2nd many.b2nd --index 0 --index-b 1     two frames of one file

Items are compared bit for bit, whatever the chunks, codec and layout. With --rtol, --atol or
--equal-nan numbers are compared as numpy.isclose does, also of different dtypes: a and b are equal
if |a - b| <= atol + rtol * |b|. A tolerance that is not given is 0. Items that are no numbers are
compared bit for bit. The exit code is 1 if the arrays differ.")]
pub(crate) struct Diff {
    /// One array, or a .npy file
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// The other array, or a .npy file
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// The frame of A that starts at this byte [default: the first, at 0]
    #[arg(long, value_name = "BYTES", conflicts_with = "index")]
    pub(crate) offset: Option<u64>,
    /// The frame of A of this number, counted from 0
    #[arg(long, value_name = "N")]
    pub(crate) index: Option<u64>,
    /// The frame of B that starts at this byte [default: the first, at 0]
    #[arg(long, value_name = "BYTES", conflicts_with = "index_b")]
    pub(crate) offset_b: Option<u64>,
    /// The frame of B of this number, counted from 0
    #[arg(long, value_name = "N")]
    pub(crate) index_b: Option<u64>,
    /// Relative tolerance, times the size of the number in B
    #[arg(long, value_name = "R", value_parser = tolerance)]
    pub(crate) rtol: Option<f64>,
    /// Absolute tolerance
    #[arg(long, value_name = "A", value_parser = tolerance)]
    pub(crate) atol: Option<f64>,
    /// Take NaN as equal to NaN, whatever its bits
    #[arg(long)]
    pub(crate) equal_nan: bool,
    /// Print what was found as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) work: Work,
}

/// A tolerance: a number of 0 or more.
fn tolerance(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value >= 0.0 => Ok(value),
        _ => Err("give a number of 0 or more, such as 1e-6".into()),
    }
}

/// What to do with an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AttrsAction {
    /// Show one
    Get,
    /// Add or replace one
    Set,
    /// Remove one
    Rm,
    /// Write all as one JSON object, to standard output or to the file NAME
    Export,
    /// Set all that a JSON object has, from the file NAME or from standard input (-), in one commit
    Import,
}

/// `b2nd attrs`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  b2nd attrs a.b2nd
  b2nd attrs a.b2nd get units
  b2nd attrs a.b2nd set units kelvin
  b2nd attrs a.b2nd set origin '{\"lat\": 52.1, \"lon\": 5.2}'
  b2nd attrs a.b2nd rm units
  b2nd attrs many.b2nd --index 2 get units
  b2nd attrs a.b2nd --json | jq .units
  b2nd attrs a.b2nd export attrs.json
  b2nd attrs b.b2nd import attrs.json     what attrs.json does not name stays

In JSON, bytes are {\"bin\": \"00ff\"}, extension types {\"ext\": 42, \"data\": \"00ff\"}, values without
MessagePack {\"hex\": \"00ff\"}, and NaN and infinities {\"float\": \"NaN\"}; `import` reads these back.
VALUE is JSON, or else a text. In Python: blosc2.open('a.b2nd').schunk.vlmeta['units']")]
pub(crate) struct Attrs {
    /// The array (or any other Blosc2 frame)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// What to do; without it all attributes are listed
    #[arg(value_enum, value_name = "get|set|rm|export|import")]
    pub(crate) action: Option<AttrsAction>,
    /// The attribute; of `export` and `import` the JSON file
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Its new value: JSON, or else a text
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) value: Option<String>,
    #[command(flatten)]
    pub(crate) place: Place,
    /// List all attributes as one JSON object
    #[arg(long, conflicts_with = "action")]
    pub(crate) json: bool,
    /// Replace the file of `export` if it exists
    #[arg(long)]
    pub(crate) force: bool,
}
