//! Arrays: shape, dtype and partition over a super-chunk; slices in, slices out.

use crate::chunk::Params;
use crate::error::Error;
use crate::error::Result;
use crate::exec::Exec;
use crate::schunk::Layout;
use crate::schunk::SChunk;
use std::path::Path;

pub use crate::schunk::OpenOptions;

/// Stand-in until the dtype floor lands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dtype {}

/// One part of a [`Selection`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Axis {
    /// One index, negative from the end; the axis disappears from the result.
    Index(i64),
    /// A range as in Python: `start:stop:step`, negative numbers from the end, out-of-range ends clipped.
    Range {
        /// First index, `None` for the open end.
        start: Option<i64>,
        /// One past the last index, `None` for the open end.
        stop: Option<i64>,
        /// The step: not 0; negative only for reading.
        step: i64,
    },
    /// A new axis of length 1 in the result.
    NewAxis,
    /// All the axes that the other parts leave over, whole.
    Ellipsis,
}

/// Which items of an array: as NumPy's basic indexing. Axes that are not named are taken whole.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Selection {
    axes: Vec<Axis>,
}

impl Selection {
    /// Everything.
    pub fn all() -> Self {
        Selection::default()
    }
    /// These parts.
    pub fn new(axes: impl Into<Vec<Axis>>) -> Self {
        Selection { axes: axes.into() }
    }
    /// Parses NumPy's notation: `10:20, :, -5, ::-1, ..., None` (brackets around it are allowed).
    pub fn parse(text: &str) -> Result<Self> {
        let _ = text;
        todo!()
    }
    /// The box `start[d]..stop[d]` along every axis.
    pub fn from_box(start: &[u64], stop: &[u64]) -> Self {
        let _ = (start, stop);
        todo!()
    }
}

/// Which published revision of the metalayer a file carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Revision {
    /// `b2nd` with 7 fields: the one that is written.
    B2nd7,
    /// `b2nd` with 6 fields, the dtype as a name.
    B2nd6,
    /// `b2nd` with 5 fields, no dtype.
    B2nd5,
    /// `caterva` with 5 fields.
    Caterva5,
    /// `caterva` in a frame of version 1 whose chunks have no blocks.
    CatervaPartshape,
}

impl Revision {
    /// `b2nd-7`, `b2nd-6`, `b2nd-5`, `caterva-5` or `caterva-partshape`.
    pub fn name(self) -> &'static str {
        todo!()
    }
}

/// What a new array holds before anything is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Fill {
    /// Zeros.
    #[default]
    Zeros,
    /// Not written: read as zeros, and told apart from zeros by `info`.
    Uninit,
    /// NaN (f4 and f8 as special chunks, other floats and complex as values).
    Nan,
    /// One item, as its bytes in the dtype's byte order.
    Value(Vec<u8>),
}

/// How a new array is made. Every `with_*` has a documented default.
#[derive(Debug, Clone)]
pub struct Options {}

impl Options {
    /// Automatic chunks and blocks, zstd 5, shuffle, contiguous, filled with zeros.
    pub fn new() -> Self {
        todo!()
    }
    /// Sets the chunk shape.
    #[must_use]
    pub fn with_chunks(self, chunks: impl Into<Vec<u64>>) -> Self {
        let _ = chunks.into();
        todo!()
    }
    /// Sets the block shape.
    #[must_use]
    pub fn with_blocks(self, blocks: impl Into<Vec<u64>>) -> Self {
        let _ = blocks.into();
        todo!()
    }
    /// Sets codec, level, filters and split mode (typesize and block size are set from the array).
    #[must_use]
    pub fn with_params(self, params: Params) -> Self {
        let _ = params;
        todo!()
    }
    /// Sets the layout.
    #[must_use]
    pub fn with_layout(self, layout: Layout) -> Self {
        let _ = layout;
        todo!()
    }
    /// Sets what the array holds at first.
    #[must_use]
    pub fn with_fill(self, fill: Fill) -> Self {
        let _ = fill;
        todo!()
    }
    /// Replaces a file that exists (only when the new one is whole).
    #[must_use]
    pub fn with_overwrite(self, overwrite: bool) -> Self {
        let _ = overwrite;
        todo!()
    }
    /// Sets threads, cancellation and progress.
    #[must_use]
    pub fn with_exec(self, exec: Exec) -> Self {
        let _ = exec;
        todo!()
    }
    /// Adds a fixed metalayer of the user.
    #[must_use]
    pub fn with_metalayer(self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        let _ = (name.into(), content.into());
        todo!()
    }
    /// Adds a vlmetalayer.
    #[must_use]
    pub fn with_vlmetalayer(self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        let _ = (name.into(), content.into());
        todo!()
    }
    /// Makes the array at `path` (`None`: in memory), filled, and commits it.
    pub fn create(self, path: Option<&Path>, dtype: Dtype, shape: &[u64]) -> Result<Array> {
        let _ = (path, dtype, shape);
        todo!()
    }
    /// As [`Options::create`], but nothing is visible at the path before [`ArrayWriter::commit`]; dropped before it, nothing
    /// remains. For filling a new array in one go.
    pub fn create_uncommitted(self, path: Option<&Path>, dtype: Dtype, shape: &[u64]) -> Result<ArrayWriter> {
        let _ = (path, dtype, shape);
        todo!()
    }
}

impl Default for Options {
    fn default() -> Self {
        Options::new()
    }
}

/// A new array that is being filled: see [`Options::create_uncommitted`].
#[derive(Debug)]
pub struct ArrayWriter {}

impl ArrayWriter {
    /// The array so far (its shape and partition; what was written can be read).
    pub fn array(&self) -> &Array {
        todo!()
    }
    /// Writes items in the dtype's byte order, C order, into a selection (steps > 0). Whole chunks are not read first.
    pub fn write_bytes(&mut self, selection: impl Into<Selection>, items: &[u8]) -> Result<()> {
        let _ = (selection.into(), items);
        todo!()
    }
    /// Makes the array visible, whole, under its name.
    pub fn commit(self) -> Result<Array> {
        todo!()
    }
}

/// One damaged place, as [`Array::verify`] finds it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Damage {
    /// The chunk.
    pub chunk: u64,
    /// The block inside the chunk; `None` when the whole chunk cannot be read.
    pub block: Option<u32>,
    /// First item of the region that is lost, along each axis.
    pub start: Vec<u64>,
    /// One past its last item, along each axis.
    pub stop: Vec<u64>,
    /// What is wrong.
    pub error: Error,
}

/// An open array.
#[derive(Debug)]
pub struct Array {}

impl Array {
    /// Opens an array for reading.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let _ = path.as_ref();
        Err(Error::io("cannot open the file", std::io::Error::from(std::io::ErrorKind::NotFound)))
    }
    /// Opens an array as `options` say.
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let _ = (path.as_ref(), options);
        todo!()
    }
    /// Opens an array in a contiguous frame in memory.
    pub fn from_bytes(bytes: Vec<u8>, options: &OpenOptions) -> Result<Self> {
        let _ = (bytes, options);
        todo!()
    }
    /// The array as one contiguous frame.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        todo!()
    }
    /// The length of each axis.
    pub fn shape(&self) -> &[u64] {
        todo!()
    }
    /// The chunk shape.
    pub fn chunks(&self) -> &[u64] {
        todo!()
    }
    /// The block shape.
    pub fn blocks(&self) -> &[u64] {
        todo!()
    }
    /// The dtype; `|V<size>` when the stored one is missing, unknown, or disagrees with the item size.
    pub fn dtype(&self) -> &Dtype {
        todo!()
    }
    /// The dtype text as it is stored.
    pub fn stored_dtype(&self) -> Option<&str> {
        todo!()
    }
    /// Reads the items as another dtype of the same size from now on.
    pub fn set_dtype(&mut self, dtype: Dtype) -> Result<()> {
        let _ = dtype;
        todo!()
    }
    /// The number of items.
    pub fn size(&self) -> u64 {
        todo!()
    }
    /// Uncompressed bytes of the items (no padding).
    pub fn nbytes(&self) -> u64 {
        todo!()
    }
    /// Bytes of the compressed chunks.
    pub fn cbytes(&self) -> u64 {
        todo!()
    }
    /// The revision of the metalayer.
    pub fn revision(&self) -> Revision {
        todo!()
    }
    /// The super-chunk: layout, parameters, metalayers, vlmetalayers.
    pub fn schunk(&self) -> &SChunk {
        todo!()
    }
    /// Changes threads, cancellation and progress.
    pub fn set_exec(&mut self, exec: Exec) {
        let _ = exec;
        todo!()
    }
    /// The shape that reading `selection` gives.
    pub fn selection_shape(&self, selection: impl Into<Selection>) -> Result<Vec<u64>> {
        let _ = selection.into();
        todo!()
    }
    /// Reads a selection as bytes, C order, in the dtype's own byte order.
    pub fn read_bytes(&self, selection: impl Into<Selection>) -> Result<Vec<u8>> {
        let _ = selection.into();
        todo!()
    }
    /// As [`Array::read_bytes`], into a buffer of exactly the right size.
    pub fn read_bytes_into(&self, selection: impl Into<Selection>, out: &mut [u8]) -> Result<()> {
        let _ = (selection.into(), out);
        todo!()
    }
    /// Writes items in the dtype's byte order, C order, and commits.
    pub fn write_bytes(&mut self, selection: impl Into<Selection>, items: &[u8]) -> Result<()> {
        let _ = (selection.into(), items);
        todo!()
    }
    /// Adds or replaces a vlmetalayer, and commits.
    pub fn set_vlmetalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let _ = (name, content);
        todo!()
    }
    /// Removes a vlmetalayer, and commits; whether there was one.
    pub fn remove_vlmetalayer(&mut self, name: &str) -> Result<bool> {
        let _ = name;
        todo!()
    }
    /// Decodes everything; one entry for each damaged block (or chunk), none for a sound array. Reads on where it can.
    pub fn verify(&self) -> Result<Vec<Damage>> {
        todo!()
    }
}
