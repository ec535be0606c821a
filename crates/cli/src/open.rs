//! Opening what a command reads, with errors that name the file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use b2nd::chunk::ChunkHeader;
use b2nd::error::file_kind;
use b2nd::{Array, Dtype, Error, Exec, Fault, OpenOptions, SChunk};

use crate::args::{Place, Raw};
use crate::failure::{Failure, Result};
use crate::far;
use crate::leftover;
use crate::output;
use crate::report;
use crate::shown::{self, Shown as _};

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

/// How a frame is opened that a command line names.
pub(crate) fn options(place: Place, exec: Exec) -> OpenOptions {
    let options = OpenOptions::new().with_exec(exec).with_offset(place.offset.unwrap_or(0));
    match place.index {
        Some(index) => options.with_frame(index),
        None => options,
    }
}

/// Opens an array or any other frame.
pub(crate) fn any(path: &Path, place: Place, exec: Exec) -> Result<Opened> {
    output::check_named(path)?;
    let threads = exec.threads();
    if let Some(url) = shown::url(path) {
        let array = far::open(url, place, exec)?;
        output::detail(|| opened(path, &array, threads));
        return Ok(Opened::Array(Box::new(array)));
    }
    let options = options(place, exec);
    let error = match Array::open_with(path, &options) {
        Ok(array) => {
            output::detail(|| opened(path, &array, threads));
            return Ok(Opened::Array(Box::new(array)));
        }
        Err(error) => error,
    };
    if error.fault() == Fault::File
        && let Ok(schunk) = SChunk::open(path, &options)
        && !has_array_metalayer(&schunk)
    {
        return Ok(Opened::Frame(Box::new(schunk)));
    }
    let lost = match &error {
        // No such number, or an offset behind the end of the file.
        Error::NotFound { .. } | Error::OutOfBounds { .. } | Error::Usage(_) => {
            place.index.is_some() || place.offset.is_some()
        }
        other => other.fault() == Fault::File && place.offset.is_some_and(|offset| offset > 0),
    };
    let failure = refused(path, error);
    Err(if lost {
        failure.with_hint("`b2nd info FILE` lists the frames of a file of several")
    } else {
        failure
    })
}

/// What is said of an array that was opened.
fn opened(path: &Path, array: &Array, threads: usize) -> String {
    format!(
        "opened {}: {} {}, chunks {}, blocks {}, {}, {}; {}",
        path.shown(),
        report::lengths(array.shape()),
        report::dtype(array.dtype()),
        report::lengths(array.chunks()),
        report::lengths(array.blocks()),
        report::params(array.schunk().params()),
        report::bytes(array.schunk().cbytes()),
        report::count(threads as u64, "thread"),
    )
}

/// As [`any`]; what python-blosc2 stores in the place of data is opened as a frame, to be described.
pub(crate) fn described(path: &Path, place: Place, exec: Exec) -> Result<Opened> {
    any(path, place, exec.clone()).or_else(|failure| match SChunk::open(path, &options(place, exec)) {
        Ok(schunk) if schunk.stored_object().is_some() => Ok(Opened::Frame(Box::new(schunk))),
        _ => Err(failure),
    })
}

/// The failure to open `path`. A file of another kind is reported as such, not as damaged.
pub(crate) fn refused(path: &Path, error: Error) -> Failure {
    if error.fault() == Fault::File
        && let Some((what, hint)) = other_kind(path)
    {
        return Failure::usage(format!("{}: is {what}", path.shown()), hint);
    }
    if error.fault() == Fault::File
        && let Some(head) = unlike(path)
    {
        return if is_headless(path, &head) {
            Failure::damaged(
                format!("{}: is not a Blosc2 file, or its beginning is damaged", path.shown()),
                "`b2nd repair FILE NEW.b2nd` looks for what is left of a Blosc2 file",
            )
        } else {
            other_file(path, &head)
        };
    }
    Failure::from(error).about(path)
}

/// The failure to open `path` for writing.
pub(crate) fn unwritable(path: &Path, error: Error) -> Failure {
    let (old, fault) = (matches!(error, Error::Unsupported { .. }), error.fault());
    let failure = refused(path, error);
    if old {
        let hint = "`b2nd convert FILE NEW.b2nd` writes an array in the newest format, which can be changed";
        return failure.with_hint(hint);
    }
    match fault {
        // It opens for reading, so that is what is left to be asked for.
        Fault::Caller => {
            failure.with_hint("`b2nd convert FILE NEW.b2nd --index N` makes a file of one frame")
        }
        _ => failure,
    }
}

/// Opens an array for writing.
pub(crate) fn writable(path: &Path, place: Place, exec: Exec) -> Result<Array> {
    far::check_written(path)?;
    // What is no array is explained as for reading.
    array(path, place, None, exec.clone())?;
    leftover::remove(path);
    let options = options(place, exec).with_write(true);
    Array::open_with(path, &options).map_err(|error| unwritable(path, error))
}

/// What a file is that is no frame, and what to do with it.
fn other_kind(path: &Path) -> Option<(&'static str, &'static str)> {
    if path.is_dir() {
        return other_folder(path);
    }
    if path.file_name().is_some_and(|name| name == "chunks.b2frame") {
        return Some(("a part of a sparse array", "give the folder in which it lies"));
    }
    let mut file = File::open(path).ok()?;
    let len = file.metadata().ok()?.len();
    let mut head = [0; 16];
    file.read_exact(&mut head).ok()?;
    if head.starts_with(b"\x93NUMPY") {
        return Some(("a NumPy file, not a Blosc2 one", "`b2nd import FILE OUT.b2nd` makes an array of it"));
    }
    is_chunk(&head, len).then_some((
        "a bare Blosc chunk, not an array or frame",
        "`b2nd cat FILE` writes its bytes, `b2nd info FILE` shows what it says of itself",
    ))
}

/// What a folder is that is no sparse array, and what to do with it.
pub(crate) fn other_folder(path: &Path) -> Option<(&'static str, &'static str)> {
    if path.join("chunks.b2frame").exists() {
        return None;
    }
    let zarr = ["zarr.json", ".zarray", ".zgroup", ".zmetadata"];
    Some(if zarr.iter().any(|name| path.join(name).exists()) {
        ("a Zarr store, not a Blosc2 file", FROM_PYTHON)
    } else {
        ("a folder, and not a sparse array", "a sparse array is a folder with a file chunks.b2frame in it")
    })
}

/// What to do with arrays of other libraries.
const FROM_PYTHON: &str =
    "read it in Python with its own library and numpy.save the array: `b2nd import` takes .npy files";

/// What to do with a file of another kind.
pub(crate) fn advice(kind: Option<&str>) -> &'static str {
    match kind {
        Some(kind) if kind.contains(".npz") => {
            "unzip it: a .npz file holds a .npy file for each array, and `b2nd import` takes these"
        }
        Some(kind) if [".nc", "FITS", "GRIB", "Parquet", "pickle"].iter().any(|name| kind.contains(name)) => {
            FROM_PYTHON
        }
        _ => {
            "`b2nd import FILE OUT.b2nd` makes an array of a .npy file, and with --dtype and --shape of raw bytes"
        }
    }
}

/// A file that begins as no frame does.
fn other_file(path: &Path, head: &[u8]) -> Failure {
    let kind = file_kind(head);
    let message = match kind {
        Some(kind) => format!("{}: is {kind}, not a Blosc2 file", path.shown()),
        None => format!("{}: is not a Blosc2 file", path.shown()),
    };
    Failure::usage(message, advice(kind))
}

/// The first bytes of a file that begins with less than half of what every frame begins with.
fn unlike(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path).and_then(|file| file.take(512).read_to_end(&mut head)).ok()?;
    is_unlike(&head).then_some(head)
}

/// Whether bytes begin with less than half of what every frame begins with.
pub(crate) fn is_unlike(head: &[u8]) -> bool {
    head.iter().zip(b"\x9e\xa8b2frame").filter(|(a, b)| a == b).count() < 5
}

/// Whether a file that does not begin as a frame may have been one: it is empty, begins with zeros, or ends as frames do.
fn is_headless(path: &Path, head: &[u8]) -> bool {
    // The end of a trailer: a number of 32 bits, and a fingerprint of 16 bytes, each after its marker.
    let ends = || -> io::Result<bool> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::End(-23))?;
        let mut end = [0; 6];
        file.read_exact(&mut end)?;
        Ok(matches!(end, [0xce, _, _, _, _, 0xd8]))
    };
    head.iter().all(|&byte| byte == 0) || ends().unwrap_or(false)
}

/// Whether a file of `len` bytes that begins with `head` is a chunk by itself: that begins with its version, and bytes 12
/// to 16 are its length.
fn is_chunk(head: &[u8; 16], len: u64) -> bool {
    let [1..=6, .., a, b, c, d] = *head else { return false };
    u64::from(u32::from_le_bytes([a, b, c, d])) == len
}

/// A chunk that is a file by itself.
pub(crate) struct BareChunk {
    pub(crate) header: ChunkHeader,
    pub(crate) bytes: Vec<u8>,
}

/// Opens a bare chunk; `None` where the file is something else.
pub(crate) fn chunk(path: &Path, place: Place) -> Result<Option<BareChunk>> {
    if place.offset.is_some() || place.index.is_some() || output::is_standard(path) || !path.is_file() {
        return Ok(None);
    }
    let failed = |error: &io::Error| Failure::io("read", path, error);
    let mut file = File::open(path).map_err(|error| failed(&error))?;
    let len = file.metadata().map_err(|error| failed(&error))?.len();
    let mut head = [0; 16];
    match file.read_exact(&mut head) {
        Ok(()) if is_chunk(&head, len) => {}
        // Too short, or of another kind: what opens frames has the words for it.
        _ => return Ok(None),
    }
    // The length is 32 bits wide and the file's own.
    let mut bytes = Vec::new();
    let room = bytes.try_reserve_exact(usize::try_from(len).unwrap_or(usize::MAX));
    room.map_err(|_| failed(&io::ErrorKind::OutOfMemory.into()))?;
    bytes.extend_from_slice(&head);
    file.take(len - 16).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    let header = ChunkHeader::parse(&bytes).map_err(|error| Failure::from(error).about(path))?;
    Ok(Some(BareChunk { header, bytes }))
}

fn has_array_metalayer(schunk: &SChunk) -> bool {
    schunk.metalayers().any(|(name, _)| name == "b2nd" || name == "caterva")
}

/// Opens an array for reading, its items taken as `dtype` if one is given.
pub(crate) fn array(path: &Path, place: Place, dtype: Option<&str>, exec: Exec) -> Result<Array> {
    as_array(path, any(path, place, exec)?, dtype)
}

/// What was opened, if it is an array.
pub(crate) fn as_array(path: &Path, opened: Opened, dtype: Option<&str>) -> Result<Array> {
    let Opened::Array(array) = opened else {
        return Err(Failure::damaged(
            format!("{}: is a Blosc2 frame, but not an array", path.shown()),
            "`b2nd info` shows what is known of it, `b2nd cat` writes its bytes",
        ));
    };
    let mut array = *array;
    if let Some(text) = dtype {
        set_dtype(&mut array, text)?;
    }
    Ok(array)
}

/// What the user says of raw bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawItems {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<u64>,
}

/// What the user says of raw input, if anything; a length that is left open follows from the size of the file.
pub(crate) fn raw(raw: &Raw, input: &Path) -> Result<Option<RawItems>> {
    let Some(text) = &raw.dtype else { return Ok(None) };
    let dtype = dtype(text)?;
    let lengths = raw.shape.as_ref().map_or_else(|| vec![None], |shape| shape.0.clone());
    if let Some(shape) = lengths.iter().copied().collect() {
        return Ok(Some(RawItems { dtype, shape }));
    }
    let name = input.shown();
    let size = match std::fs::metadata(input) {
        Ok(meta) if meta.is_file() && !output::is_standard(input) => meta.len(),
        Err(error) if !output::is_standard(input) => {
            return Err(Failure::io("open the input", input, &error));
        }
        _ => {
            let name = if output::is_standard(input) { "standard input".into() } else { name.to_string() };
            return Err(Failure::usage(
                format!("{name}: its length is not known in advance"),
                "give every length in --shape: -1 works for files only",
            ));
        }
    };
    let mut head = [0; 6];
    if File::open(input).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == *b"\x93NUMPY" {
        return Err(Failure::usage(
            format!("{name}: is a .npy file, which has its own dtype and shape"),
            "leave --dtype and --shape out: they are for raw bytes",
        ));
    }
    let unit = lengths.iter().flatten().fold(dtype.itemsize() as u64, |n, &len| n.saturating_mul(len));
    if unit == 0 || size % unit != 0 {
        return Err(Failure::usage(
            format!("{name}: {size} bytes are not a whole number of parts of {unit} bytes"),
            "check --dtype and --shape: the length -1 is the size of the file divided by the other lengths",
        ));
    }
    let shape = lengths.iter().map(|len| len.unwrap_or(size / unit)).collect();
    Ok(Some(RawItems { dtype, shape }))
}

/// Whether a file is an array or another frame, and nothing that is imported.
pub(crate) fn is_frame(path: &Path) -> bool {
    !output::is_standard(path)
        && (path.is_dir() || path.is_file())
        && SChunk::open(path, &OpenOptions::new()).is_ok()
}

/// Parses a dtype that the user gave.
pub(crate) fn dtype(text: &str) -> Result<Dtype> {
    Dtype::parse(text).map_err(|error| {
        let message = match error {
            Error::Unsupported { .. } => format!("--dtype '{text}': {error}"),
            error if error.fault() == Fault::Caller => format!("--dtype '{text}': {error}"),
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
        return Err(Failure::usage(
            message,
            "the option only reinterprets bytes as a dtype of the same size; it does not convert",
        ));
    }
    if *have != Dtype::raw(have.itemsize()) && wanted != *have {
        let message = format!("--dtype '{text}': the file says that its items are {have}");
        return Err(Failure::usage(message, "the option is for files without a dtype; it does not convert"));
    }
    array.set_dtype(wanted)?;
    Ok(())
}
