//! Opening what a command reads, with errors that name the file.

use std::path::Path;

use b2nd::array::{Array, Dtype, OpenOptions};
use b2nd::schunk::SChunk;
use b2nd::{Error, Exec, Fault};

use crate::failure::{Failure, Result};

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
    Err(Failure::from(error).about(path))
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
