//! What is imported: a `.npy` file, raw bytes, or a stream of either, read box by box.
//!
//! Items are described in *file order*: the axes as they lie in the input, the slowest first. For Fortran order that is the
//! shape backwards. Nothing is known here of how arrays are stored.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use b2nd::Dtype;

use crate::failure::{Failure, Result};
use crate::interrupt::Stream;
use crate::npy;
use crate::open::{self, RawItems};
use crate::output::{Draft, is_standard};
use crate::report::{bytes, lengths};
use crate::shown::Shown as _;
use crate::tiling::{Grid, Region, Tiling, runs, transpose};

/// Runs that are closer than this are read in one go: the bytes between cost less than another call.
const CLOSE: u64 = 4096;
/// The longest stretch that is read in one go for the sake of short runs.
const WINDOW: u64 = 1 << 20;

/// What the items of an input are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<u64>,
    /// Whether the first axis varies fastest.
    pub(crate) fortran: bool,
}

/// An input.
pub(crate) struct Input {
    name: PathBuf,
    kind: Kind,
    /// Whether the bytes are raw, so that only the user knows what they are.
    raw: bool,
    nbytes: u64,
    source: InputSource,
    staging: Vec<u8>,
}

enum InputSource {
    /// The items start at this offset of a file.
    File(File, u64),
    /// The items come next.
    Stream(Stream),
    /// A copy of a stream.
    Spool(Draft),
}

impl Input {
    /// Opens an input; `raw` says what its items are if it is not a `.npy` file.
    pub(crate) fn open(path: &Path, raw: Option<RawItems>) -> Result<Self> {
        if is_standard(path) {
            return Input::from_stream(Path::new("standard input"), io::stdin(), raw);
        }
        let failed = |error: &io::Error| Failure::io("open the input", path, error);
        let mut file = File::open(path).map_err(|error| failed(&error))?;
        let meta = file.metadata().map_err(|error| failed(&error))?;
        if meta.is_dir() {
            let (what, hint) = open::other_folder(path)
                .unwrap_or(("a sparse array already", "`b2nd convert IN OUT.b2nd` rewrites one"));
            return Err(Failure::usage(format!("{}: is {what}", path.shown()), hint));
        }
        if !meta.is_file() {
            return Input::from_stream(path, file, raw);
        }
        let (kind, offset, is_raw) = match raw {
            Some(RawItems { dtype, shape }) => (Kind { dtype, shape, fortran: false }, 0, true),
            None => {
                let kind = read_header(path, &mut file)?;
                let offset = file.stream_position().map_err(|error| failed(&error))?;
                (kind, offset, false)
            }
        };
        let input = Input::new(path, kind, is_raw, InputSource::File(file, offset))?;
        input.check_size(meta.len().saturating_sub(offset))?;
        Ok(input)
    }

    fn from_stream(name: &Path, from: impl Read + Send + 'static, raw: Option<RawItems>) -> Result<Self> {
        let mut stream = Stream::new(from).map_err(|error| Failure::io("read", name, &error))?;
        match raw {
            Some(RawItems { dtype, shape }) => {
                Input::new(name, Kind { dtype, shape, fortran: false }, true, InputSource::Stream(stream))
            }
            None => {
                let kind = read_header(name, &mut stream)?;
                Input::new(name, kind, false, InputSource::Stream(stream))
            }
        }
    }

    fn new(name: &Path, mut kind: Kind, raw: bool, source: InputSource) -> Result<Self> {
        let itemsize = kind.dtype.itemsize() as u64;
        if itemsize == 0 {
            let message = format!("{}: items of dtype {} have no bytes", name.shown(), kind.dtype);
            return Err(Failure::usage(message, "an array needs items of 1 byte or more"));
        }
        // With one long axis both orders are the same.
        kind.fortran &= kind.shape.len() > 1;
        let nbytes = kind.shape.iter().try_fold(itemsize, |n, &len| n.checked_mul(len));
        let Some(nbytes) = nbytes else {
            let message = format!("{}: shape {} is too large", name.shown(), lengths(&kind.shape));
            return Err(Failure::usage(message, "an array has less than 2^64 bytes"));
        };
        Ok(Input { name: name.to_path_buf(), kind, raw, nbytes, source, staging: Vec::new() })
    }

    /// What the items are.
    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The bytes of all items.
    pub(crate) fn nbytes(&self) -> u64 {
        self.nbytes
    }

    fn check_size(&self, found: u64) -> Result<()> {
        if found < self.nbytes {
            return Err(self.too_short(found));
        }
        if found > self.nbytes {
            return self.too_long(&format!("{} bytes", found - self.nbytes));
        }
        Ok(())
    }

    fn too_short(&self, found: u64) -> Failure {
        let message = format!(
            "{}: {} bytes are missing: shape {} of {} needs {}, and there are {found}",
            self.name.shown(),
            self.nbytes.saturating_sub(found),
            lengths(&self.kind.shape),
            self.kind.dtype,
            self.nbytes,
        );
        if self.raw {
            Failure::usage(message, "check --dtype and --shape, and whether the input is whole")
        } else {
            Failure::damaged(message, "the file is truncated: copy it again, or make it again")
        }
    }

    fn too_long(&self, extra: &str) -> Result<()> {
        let message = format!("{}: {extra} after the last item", self.name.shown());
        if self.raw {
            let kind = &self.kind;
            let hint = format!(
                "check --dtype {} and --shape {}: together they set the number of bytes",
                kind.dtype,
                lengths(&kind.shape)
            );
            return Err(Failure::usage(message, hint));
        }
        // NumPy takes such files too.
        crate::output::note(&format!("b2nd: warning: {message} are left out"));
        Ok(())
    }

    /// Takes the input as a slab: with one more axis, of length 1.
    pub(crate) fn insert_axis(&mut self, axis: usize) {
        if axis <= self.kind.shape.len() {
            self.kind.shape.insert(axis, 1);
        }
    }

    /// How the input is walked through in boxes of whole chunks (in file order) with about `budget` bytes in memory;
    /// `axes` says where the chunks are cut along each of its axes.
    pub(crate) fn tiling(&self, mut axes: Vec<Grid>, budget: u64) -> Tiling {
        if self.kind.fortran {
            axes.reverse();
        }
        Tiling::of_cells(&axes, self.share(budget))
    }

    /// Whether all items can be read at once.
    pub(crate) fn fits(&self, budget: u64) -> bool {
        self.nbytes / self.kind.dtype.itemsize() as u64 <= self.share(budget)
    }

    /// The box of all items (in file order).
    pub(crate) fn whole(&self) -> Region {
        let region = Region { start: vec![0; self.kind.shape.len()], stop: self.kind.shape.clone() };
        if self.kind.fortran { region.reversed() } else { region }
    }

    /// The items that a buffer may have: Fortran order needs one to read into besides the one that is handed on.
    fn share(&self, budget: u64) -> u64 {
        let rest = budget - WINDOW.min(budget / 4);
        let share = if self.kind.fortran { rest / 2 } else { rest };
        (share / self.kind.dtype.itemsize() as u64).max(1)
    }

    /// Makes the input one that can be read in the order of `tiling`: a stream that must be read back and forth is copied
    /// to a temporary file beside `output` first.
    pub(crate) fn prepare(&mut self, tiling: &Tiling, output: &Path) -> Result<()> {
        if tiling.is_in_order() {
            return Ok(());
        }
        let InputSource::Stream(stream) = &mut self.source else { return Ok(()) };
        let mut spool = Draft::new(output, "in")?;
        let mut buffer = vec![0; 1 << 18];
        let mut at = 0;
        while at < self.nbytes {
            let want = (self.nbytes - at).min(buffer.len() as u64);
            let part = buffer.get_mut(..usize::try_from(want).unwrap_or(0)).unwrap_or_default();
            let got = read_some(stream, part).map_err(|error| Failure::io("read", &self.name, &error))?;
            spool.write_at(at, part.get(..got).unwrap_or_default())?;
            at += got as u64;
            if got < part.len() {
                return Err(self.too_short(at));
            }
        }
        self.check_end()?;
        self.source = InputSource::Spool(spool);
        Ok(())
    }

    /// After the last box: a stream must end where its items do.
    pub(crate) fn check_end(&mut self) -> Result<()> {
        let InputSource::Stream(stream) = &mut self.source else { return Ok(()) };
        let more = read_some(stream, &mut [0]).map_err(|error| Failure::io("read", &self.name, &error))?;
        if more > 0 { self.too_long("more bytes") } else { Ok(()) }
    }

    /// Reads a box (in file order) into `items`, as C order of the array wants them. A stream must be asked in order.
    pub(crate) fn read(&mut self, region: &Region, items: &mut Vec<u8>, budget: u64) -> Result<()> {
        let itemsize = self.kind.dtype.itemsize();
        if !self.kind.fortran {
            resize(items, region.items(), itemsize)?;
            return self.read_stored(region, items, budget);
        }
        let stored_shape = region.shape();
        let shape: Vec<u64> = stored_shape.iter().rev().copied().collect();
        let axes: Vec<Grid> = stored_shape.iter().map(|&len| Grid::new(len, 1)).collect();
        resize(items, region.items(), itemsize)?;
        let mut stored = Vec::new();
        // A chunk may be larger than the budget: then it comes in pieces.
        for piece in Tiling::in_order(&axes, self.share(budget)).boxes() {
            let shift = |at: &[u64]| at.iter().zip(&region.start).map(|(a, b)| a + b).collect();
            let place = Region { start: shift(&piece.start), stop: shift(&piece.stop) };
            resize(&mut stored, piece.items(), itemsize)?;
            self.read_stored(&place, &mut stored, budget)?;
            transpose(&piece.shape(), itemsize, &stored, items, &shape, &piece.reversed().start);
        }
        Ok(())
    }

    /// Reads a box as it is stored.
    fn read_stored(&mut self, region: &Region, items: &mut [u8], budget: u64) -> Result<()> {
        let (file, base) = match &mut self.source {
            InputSource::File(file, offset) => (&*file, *offset),
            InputSource::Spool(draft) => (draft.file(), 0),
            InputSource::Stream(stream) => {
                let got =
                    read_some(stream, items).map_err(|error| Failure::io("read", &self.name, &error))?;
                if got == items.len() {
                    return Ok(());
                }
                let before = self.position(region);
                return Err(self.too_short(before.saturating_add(got as u64)));
            }
        };
        let shape: Vec<u64> = if self.kind.fortran {
            self.kind.shape.iter().rev().copied().collect()
        } else {
            self.kind.shape.clone()
        };
        let itemsize = self.kind.dtype.itemsize() as u64;
        let stretches = runs(&shape, region).map(|(first, count)| (first * itemsize, count * itemsize));
        let read = gather(file, base, stretches, items, &mut self.staging, WINDOW.min(budget / 4));
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Failure::damaged(
                format!("{}: became shorter while it was read", self.name.shown()),
                "run the command again",
            ),
            _ => Failure::io("read", &self.name, &error),
        })
    }

    /// The number of bytes before a box.
    fn position(&self, region: &Region) -> u64 {
        let shape: Vec<u64> = if self.kind.fortran {
            self.kind.shape.iter().rev().copied().collect()
        } else {
            self.kind.shape.clone()
        };
        let first = runs(&shape, region).next().map_or(0, |(first, _)| first);
        first * self.kind.dtype.itemsize() as u64
    }
}

fn read_header(name: &Path, from: &mut dyn Read) -> Result<Kind> {
    let header = npy::read_header(name, from)?;
    Ok(Kind {
        dtype: header.dtype().clone(),
        shape: header.shape().to_vec(),
        fortran: header.fortran_order(),
    })
}

/// Makes `buffer` long enough for `items` items: an error and not an abort when memory lacks.
pub(crate) fn resize(buffer: &mut Vec<u8>, items: u64, itemsize: usize) -> Result<()> {
    let len = items.checked_mul(itemsize as u64).and_then(|n| usize::try_from(n).ok());
    let len = len.filter(|&len| buffer.try_reserve_exact(len.saturating_sub(buffer.len())).is_ok());
    let Some(len) = len else {
        let message = format!(
            "out of memory for {items} items of {itemsize} bytes ({})",
            bytes(items.saturating_mul(itemsize as u64))
        );
        return Err(Failure::Shown {
            outcome: crate::failure::Outcome::Environment,
            message,
            hint: "give less --memory, or choose smaller --chunks".into(),
        });
    };
    buffer.resize(len, 0);
    Ok(())
}

/// Reads until `into` is full or the stream ends.
fn read_some(stream: &mut dyn Read, into: &mut [u8]) -> io::Result<usize> {
    let mut at = 0;
    while let Some(rest) = into.get_mut(at..).filter(|rest| !rest.is_empty()) {
        match stream.read(rest) {
            Ok(0) => break,
            Ok(n) => at += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(at)
}

/// Reads stretches of a file (offset and length, rising) one after the other into `out`.
fn gather(
    mut file: &File,
    base: u64,
    stretches: impl Iterator<Item = (u64, u64)>,
    mut out: &mut [u8],
    staging: &mut Vec<u8>,
    window: u64,
) -> io::Result<()> {
    let native = |n: u64| usize::try_from(n).map_err(|_| io::ErrorKind::OutOfMemory);
    let mut stretches = stretches.peekable();
    let mut group: Vec<(u64, u64)> = Vec::new();
    while let Some(first) = stretches.next() {
        group.clear();
        group.push(first);
        let mut end = first.0 + first.1;
        while let Some(&next) = stretches.peek() {
            if next.0 - end > CLOSE || next.0 + next.1 - first.0 > window {
                break;
            }
            end = next.0 + next.1;
            group.push(next);
            stretches.next();
        }
        file.seek(SeekFrom::Start(base + first.0))?;
        if group.len() == 1 {
            let (now, rest) = std::mem::take(&mut out)
                .split_at_mut_checked(native(first.1)?)
                .ok_or(io::ErrorKind::InvalidInput)?;
            file.read_exact(now)?;
            out = rest;
            continue;
        }
        staging.resize(native(end - first.0)?, 0);
        file.read_exact(staging)?;
        for (offset, len) in &group {
            let (now, rest) = std::mem::take(&mut out)
                .split_at_mut_checked(native(*len)?)
                .ok_or(io::ErrorKind::InvalidInput)?;
            let from = native(offset - first.0)?;
            now.copy_from_slice(staging.get(from..from + now.len()).ok_or(io::ErrorKind::InvalidInput)?);
            out = rest;
        }
    }
    Ok(())
}
