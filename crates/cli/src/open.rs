//! Opening what a command reads, with errors that name the file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use b2nd::array::{Array, Dtype, OpenOptions};
use b2nd::schunk::SChunk;
use b2nd::{Error, Exec, Fault};

use crate::failure::{Failure, Result};
use crate::output;

/// What a file turned out to be.
pub(crate) enum Opened {
    /// An array.
    Array(Box<Array>),
    /// A frame that says nothing of an array.
    Frame(Box<SChunk>),
}

impl Opened {
    /// The frame.
    pub(crate) fn schunk(&self) -> &SChunk {
        match self {
            Opened::Array(array) => array.schunk(),
            Opened::Frame(schunk) => schunk,
        }
    }
}

/// Opens an array or any other frame.
pub(crate) fn any(path: &Path, exec: Exec) -> Result<Opened> {
    output::check_named(path)?;
    let options = OpenOptions::new().with_exec(exec);
    let error = match Array::open_with(path, &options) {
        Ok(array) => return Ok(Opened::Array(Box::new(array))),
        Err(error) => error,
    };
    if error.fault() == Fault::File
        && let Ok(schunk) = SChunk::open(path, &options)
        && !has_array_metalayer(&schunk)
    {
        return Ok(Opened::Frame(Box::new(schunk)));
    }
    Err(refused(path, error))
}

/// The failure to open `path`: a file that is of another kind altogether is not called damaged.
pub(crate) fn refused(path: &Path, error: Error) -> Failure {
    if error.fault() == Fault::File
        && let Some((what, hint)) = other_kind(path)
    {
        return Failure::usage(format!("{}: is {what}", path.display()), hint);
    }
    Failure::from(error).about(path)
}

/// What a file is that is no frame, and what to do with it.
fn other_kind(path: &Path) -> Option<(&'static str, &'static str)> {
    if path.is_dir() {
        let frame = path.join("chunks.b2frame").exists();
        return (!frame).then_some((
            "a folder, and not a sparse array",
            "a sparse array is a folder with a file chunks.b2frame in it",
        ));
    }
    let mut file = File::open(path).ok()?;
    let len = file.metadata().ok()?.len();
    let mut head = [0; 16];
    file.read_exact(&mut head).ok()?;
    if head.starts_with(b"\x93NUMPY") {
        return Some(("a NumPy file, not a Blosc2 one", "`b2nd import FILE OUT.b2nd` makes an array of it"));
    }
    // A chunk begins with its version, and bytes 12 to 16 are its length.
    let [1..=6, .., a, b, c, d] = head else { return None };
    (u64::from(u32::from_le_bytes([a, b, c, d])) == len).then_some((
        "a bare Blosc chunk, not an array or frame",
        "this command reads frames; chunks are for `b2nd::chunk::decode` of the Rust crate",
    ))
}

fn has_array_metalayer(schunk: &SChunk) -> bool {
    schunk.metalayers().any(|(name, _)| name == "b2nd" || name == "caterva")
}

/// Opens an array for reading, its items taken as `dtype` if one is given.
pub(crate) fn array(path: &Path, dtype: Option<&str>, exec: Exec) -> Result<Array> {
    let opened = match any(path, exec)? {
        Opened::Array(array) => Ok(*array),
        Opened::Frame(_) => Err(Failure::damaged(
            format!("{}: is a Blosc2 frame, but not an array", path.display()),
            "`b2nd info` shows what is known of it",
        )),
    };
    let mut array = opened?;
    if let Some(text) = dtype {
        set_dtype(&mut array, text)?;
    }
    Ok(array)
}

/// Parses a dtype that the user gave.
pub(crate) fn dtype(text: &str) -> Result<Dtype> {
    Dtype::parse(text).map_err(|error| {
        let message = match error {
            Error::Unsupported { .. } | Error::Usage(_) => format!("--dtype '{text}': {error}"),
            other => return Failure::from(other),
        };
        Failure::usage(
            message,
            "give a NumPy dtype such as '<f4', '>i2', 'uint8', '|S10' or 'datetime64[ns]'",
        )
    })
}

fn set_dtype(array: &mut Array, text: &str) -> Result<()> {
    let wanted = dtype(text)?;
    let have = array.dtype();
    if wanted.itemsize() != have.itemsize() {
        let message = format!(
            "--dtype '{text}' has items of {} bytes, and the file has {}",
            wanted.itemsize(),
            have.itemsize()
        );
        return Err(Failure::usage(message, "the option says what the bytes mean; it converts nothing"));
    }
    if *have != Dtype::raw(have.itemsize()) && wanted != *have {
        let message = format!("--dtype '{text}': the file says that its items are {have}");
        return Err(Failure::usage(message, "the option is for files that do not say; it converts nothing"));
    }
    array.set_dtype(wanted)?;
    Ok(())
}
