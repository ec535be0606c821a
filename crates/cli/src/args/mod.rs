//! The command line: verbs, their options and their examples.

mod inspect;
mod picture;
mod shell;
mod storage;
mod values;
mod version;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use inspect::{Attrs, AttrsAction, Compact, Diff, Info, LostFill, Repair, Verify};
pub(crate) use picture::{Demo, DemoSize};
#[cfg(feature = "plot")]
pub(crate) use picture::{PictureSize, Plot};
pub(crate) use shell::{Completions, Man};
pub(crate) use storage::{Storage, Threads, Work};
pub(crate) use values::{Lengths, OpenLengths};

/// N-dimensional arrays, compressed in chunks and blocks: store them, look into them, read any part of them.
///
/// The files are those of Blosc2 (.b2nd): python-blosc2 opens what this program writes, and the other way round.
#[derive(Debug, Parser)]
#[command(
    name = "b2nd",
    version,
    long_version = version::long(),
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = MAIN_EXAMPLES
)]
pub(crate) struct Cli {
    /// Print results and errors only: no progress bar, no notes, no line about what was written
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Also say on standard error what is opened, with how many threads, and how long the command took
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const MAIN_EXAMPLES: &str = "\
First steps:
  b2nd demo                            make, store, cut and draw an example
  b2nd import a.npy a.b2nd             compress a NumPy file
  b2nd append a.b2nd more.npy          and one more behind it
  b2nd info a.b2nd                     what is in it
  b2nd slice a.b2nd '10:20,:,5'        print a part of it
  b2nd export a.b2nd b.npy             and back to NumPy

Slices are written as in NumPy: '10:20,:,-5', '::-1', '...,0', 'None,3', '[0,2],:'. A part may be
the name of a .npy file of indices or of a mask: ':,land.npy'. Quote slices, for the shell's sake.
Exit codes: 0 good; 1 damaged data, or a difference found; 2 wrong usage, or a file of another kind;
3 disk, permissions, locks, memory or a limit; 130 interrupted with Ctrl-C
(143, 129: by SIGTERM, SIGHUP).
`b2nd VERB --help` shows the options of a verb, with examples.";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Compress a .npy file, raw bytes or standard input into an array
    Import(Import),
    /// Append a .npy file, raw bytes, standard input or another array to an array, along an axis
    Append(Append),
    /// Write an array, or a slice of it, as a .npy file
    Export(Export),
    /// Write the decompressed bytes of an array, a frame or a bare chunk
    Cat(Cat),
    /// Show shape, dtype, chunks, codec, sizes and metalayers
    Info(Info),
    /// Print a slice as NumPy prints it, or write it as .npy
    Slice(Slice),
    /// Draw a 2-d slice, in the terminal or as PNG
    #[cfg(feature = "plot")]
    Plot(Plot),
    /// Rewrite a file, or a slice of it, with other parameters or in the newest revision
    Convert(Convert),
    /// Decode everything, and say what is damaged
    Verify(Verify),
    /// Give back the room that changes have left in a file
    Compact(Compact),
    /// Write what can be read of a damaged file as a new one, and say what is lost
    Repair(Repair),
    /// Compare two arrays
    Diff(Diff),
    /// List, show, set and remove attributes (vlmetalayers)
    Attrs(Attrs),
    /// Make an example field, store it, cut it, draw it
    Demo(Demo),
    /// Write the completions of this command for a shell
    Completions(Completions),
    /// Write the manual page of this command
    Man(Man),
}

/// `b2nd import`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  b2nd import a.npy a.b2nd
  b2nd import a.npy a.b2nd --chunks 16,64,64 --blocks 4,32,32 --codec lz4 --filter bitshuffle
  b2nd import a.npy small.b2nd --level 9 --filter trunc_prec:10,shuffle     (lossy: keeps 10 bits)
  b2nd import values.raw a.b2nd --dtype '<f4' --shape 100,200     (-1,200: as many as there are)
  python make.py | b2nd import - a.b2nd --force")]
pub(crate) struct Import {
    /// The input: a .npy file, raw bytes (with --dtype and --shape), or - for standard input
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The array to make
    #[arg(value_name = "OUT.b2nd")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) storage: Storage,
    #[command(flatten)]
    pub(crate) raw: Raw,
    /// Replace OUT.b2nd if it exists (only once the new one is whole)
    #[arg(long)]
    pub(crate) force: bool,
}

/// What the items of raw input are.
#[derive(Debug, Clone, Args)]
pub(crate) struct Raw {
    /// NumPy dtype of raw input, such as '<f4', '>i2', '|S10', 'datetime64[ns]'
    #[arg(long)]
    pub(crate) dtype: Option<String>,
    /// Shape of raw input, C order; -1 stands for what the size of the file leaves for one axis [default: -1]
    #[arg(long, requires = "dtype", value_name = "100,200", allow_hyphen_values = true)]
    pub(crate) shape: Option<OpenLengths>,
}

/// `b2nd append`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  b2nd append a.b2nd more.npy
  b2nd append a.b2nd column.npy --axis 1
  b2nd append year.b2nd february.b2nd     its chunks are taken over as they are, if they fit
  python make.py | b2nd append a.b2nd -
  b2nd append a.b2nd values.raw --dtype '<f4' --shape 10,200

The other axes must have the same lengths. An input with one axis less is one slab: a (360, 720)
map goes behind the others of a (12, 360, 720) array. All of it becomes visible at once, or nothing
does. Last chunks that were not full are stored anew, and what they took stays in the file unused:
`b2nd convert` makes a file without that.")]
pub(crate) struct Append {
    /// The array that grows
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// What to append: a .npy file, another array, raw bytes (with --dtype and --shape), or - for standard input
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The axis that grows; -1 is the last
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true)]
    pub(crate) axis: i32,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) raw: Raw,
    #[command(flatten)]
    pub(crate) work: Work,
}

/// `b2nd export`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  b2nd export a.b2nd a.npy
  b2nd export a.b2nd part.npy --slice '0:10,:,5'
  b2nd export a.b2nd - | ssh host 'cat > a.npy'
  b2nd export old.b2nd a.npy --dtype '<f8'      (a file whose dtype is not stored)")]
pub(crate) struct Export {
    /// The array
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The .npy file to make, or - for standard output
    #[arg(value_name = "OUT.npy")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Only this part, as in NumPy
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true)]
    pub(crate) slice: Option<String>,
    /// Take the items as this NumPy dtype of the same size, where the file does not say
    #[arg(long)]
    pub(crate) dtype: Option<String>,
    /// Replace OUT.npy if it exists (only once the new one is whole), and write binary data to a terminal
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) work: Work,
}

/// Which frame of a file is meant.
#[derive(Debug, Clone, Copy, Args, Default)]
pub(crate) struct Place {
    /// The frame that starts at this byte of the file [default: the first, at 0]
    #[arg(long, value_name = "BYTES", conflicts_with = "index")]
    pub(crate) offset: Option<u64>,
    /// The frame of this number, counted from 0, in a file of several; `b2nd info` lists them
    #[arg(long, value_name = "N")]
    pub(crate) index: Option<u64>,
}

/// `b2nd cat`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  b2nd cat a.b2nd -o a.raw
  b2nd cat a.b2nd | sha256sum
  b2nd cat chunk.bin | head -c 64 | xxd
  b2nd cat many.b2nd --index 2 -o third.raw

The items of an array come in C order and in the byte order of its dtype; those of other frames
chunk after chunk. A bare chunk is one of Blosc or Blosc2 by itself, with nothing before or after
it.")]
pub(crate) struct Cat {
    /// An array, any other Blosc2 frame, or a bare chunk
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Write a file instead of standard output (-)
    #[arg(short, long, value_name = "OUT.raw", default_value = "-", hide_default_value = true)]
    pub(crate) output: PathBuf,
    /// Replace OUT.raw if it exists (only once the new one is whole), and write binary data to a terminal
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) work: Work,
}

/// `b2nd slice`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  b2nd slice a.b2nd '10:20,:,5'
  b2nd slice a.b2nd -1                  the last item of the first axis
  b2nd slice a.b2nd '-5:,::-1'          steps and negative numbers, as in NumPy
  b2nd slice a.b2nd '[0,2],:'           a list of indices; lists are paired, as in NumPy
  b2nd slice a.b2nd 'land.npy' -o b.npy the items where a mask is true
  b2nd slice a.b2nd '...,0' -o part.npy
  b2nd slice a.b2nd '0' --full --precision 3
  b2nd slice a.b2nd '0' --format csv > plane.csv
  b2nd slice a.b2nd ':,3' --format json | jq add")]
pub(crate) struct Slice {
    /// The array
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The part, as in NumPy: '10:20,:,5'
    #[arg(value_name = "SLICE", allow_hyphen_values = true)]
    pub(crate) slice: String,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Write a .npy file (- for standard output) instead of printing
    #[arg(short, long, value_name = "OUT.npy", conflicts_with_all = ["full", "threshold", "precision", "format"])]
    pub(crate) output: Option<PathBuf>,
    /// Print every value; without it, slices of more than 1000 items show their edges only
    #[arg(long)]
    pub(crate) full: bool,
    /// Show the edges only of slices of more than N items [default: 1000]
    #[arg(long, value_name = "N", conflicts_with = "full")]
    pub(crate) threshold: Option<u64>,
    /// Write at most N digits after the point of floats [default: 8 as text, all in csv and json]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=400))]
    pub(crate) precision: Option<u16>,
    /// How values are printed: csv and json have every value, and need no more memory than --memory
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: SliceFormat,
    /// Take the items as this NumPy dtype of the same size, where the file does not say
    #[arg(long)]
    pub(crate) dtype: Option<String>,
    /// Replace OUT.npy if it exists, and write binary data to a terminal
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) work: Work,
}

/// How `b2nd slice` prints values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SliceFormat {
    /// As NumPy prints them
    Text,
    /// A line for each row (the last axis), without a header but for structured items
    Csv,
    /// Nested lists; NaN and infinities are the texts "NaN", "Infinity" and "-Infinity"
    Json,
}

/// `b2nd convert`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  b2nd convert old.cat new.b2nd                      caterva to b2nd
  b2nd convert a.b2nd b.b2nd --codec lz4 --level 9
  b2nd convert a.b2nd b.b2nd --chunks 1,512,512      for reads of single planes
  b2nd convert dir.b2nd one.b2nd                     a sparse array as one file (--sparse: back)
  b2nd convert many.b2nd third.b2nd --index 2        one frame of a file of several
  b2nd convert a.b2nd part.b2nd --slice '10:20,:,5'  a part of it, as an array of its own
  b2nd convert a.b2nd small.b2nd --dtype '<f4'       other items, as astype in NumPy

What is not said stays as it is, metalayers and attributes among them; a slice that the chunks of IN
do not suit gets new ones. A frame without an array is copied chunk by chunk, as it is compressed:
of the options only --sparse is for it.")]
pub(crate) struct Convert {
    /// Any file that b2nd reads
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The array to make
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Only this part, as in NumPy
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true)]
    pub(crate) slice: Option<String>,
    #[command(flatten)]
    pub(crate) storage: Storage,
    /// Convert the items to this NumPy dtype, as astype does; where IN does not say its dtype, take them as this one of the
    /// same size
    #[arg(long)]
    pub(crate) dtype: Option<String>,
    /// The shape, to check IN's against
    #[arg(long, value_name = "100,200")]
    pub(crate) shape: Option<Lengths>,
    /// Replace OUT if it exists (only once the new one is whole)
    #[arg(long)]
    pub(crate) force: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn examples_are_no_wider_than_help_is_printed() {
        let all = Cli::command();
        for command in all.get_subcommands().chain([&all]) {
            let text = command.get_after_help().unwrap().to_string();
            for line in text.lines() {
                assert!(line.chars().count() <= 100, "{}: {line}", command.get_name());
            }
        }
    }

    #[test]
    fn slices_may_begin_with_a_hyphen_and_options_still_count() {
        for line in [
            vec!["b2nd", "slice", "f", "-5:,:", "-o", "out.npy"],
            vec!["b2nd", "slice", "f", "-o", "out.npy", "-5:,:"],
            vec!["b2nd", "slice", "-o", "out.npy", "f", "-5:,:"],
        ] {
            let Verb::Slice(slice) = Cli::try_parse_from(&line).unwrap().verb else { panic!("{line:?}") };
            assert_eq!((slice.slice.as_str(), slice.output), ("-5:,:", Some("out.npy".into())), "{line:?}");
        }
        let Verb::Slice(slice) = Cli::try_parse_from(["b2nd", "slice", "f", "-1"]).unwrap().verb else {
            panic!()
        };
        assert_eq!(slice.slice, "-1");
    }
}
