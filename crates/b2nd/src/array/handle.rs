//! An open array, and how it is made from a frame.

use crate::array::compression::array_params;
use crate::array::dtype::Dtype;
use crate::array::grid::Grid;
use crate::array::meta;
use crate::array::meta::ArrayMeta;
use crate::array::meta::Revision;
use crate::array::suits::suited;
use crate::chunk::Params;
use crate::error::Error;
use crate::error::Part;
use crate::error::Result;
use crate::exec::Exec;
use crate::registry::Context;
use crate::schunk::FrameSnapshot;
use crate::schunk::OpenOptions;
use crate::schunk::SChunk;
use crate::schunk::SaveOptions;
use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

/// An open array.
///
/// Reading takes `&self`, from any number of threads at once.
///
/// ```
/// use b2nd::{s, Array, Dtype, Options};
/// let mut a = Options::new().create_in_memory(Dtype::parse("<i4")?, [100, 100])?;
/// a.write_bytes(s![0, ..2], &[1, 0, 0, 0, 2, 0, 0, 0])?;
/// let copy = Array::from_bytes(a.to_bytes()?, &Default::default())?;
/// assert_eq!(copy.shape(), [100, 100]);
/// assert_eq!(copy.read_bytes(s![0, 1])?, [2, 0, 0, 0]);
/// # Ok::<(), b2nd::Error>(())
/// ```
pub struct Array {
    pub(crate) schunk: SChunk,
    pub(crate) grid: Grid,
    dtype: Dtype,
    stored_dtype: Option<String>,
    revision: Revision,
    /// The geometry and the parameters of the last commit, where a change of them is staged.
    committed: Option<Box<(Grid, Params)>>,
}

/// A committed state of an array, for reading: see [`Array::snapshot`].
///
/// It has the methods of [`Array`] that read.
#[derive(Debug, Clone)]
pub struct ArraySnapshot(Arc<Array>);

impl Deref for ArraySnapshot {
    type Target = Array;
    fn deref(&self) -> &Array {
        &self.0
    }
}

/// Parts of an array, from which another one is made.
pub(crate) struct ArrayParts {
    pub(crate) schunk: SChunk,
    pub(crate) grid: Grid,
    pub(crate) dtype: Dtype,
    /// The dtype as stored.
    pub(crate) text: Option<String>,
}

impl Array {
    pub(crate) fn into_parts(self) -> ArrayParts {
        ArrayParts { schunk: self.schunk, grid: self.grid, dtype: self.dtype, text: self.stored_dtype }
    }

    pub(crate) fn from_parts(
        schunk: SChunk,
        grid: Grid,
        dtype: Dtype,
        stored_dtype: Option<String>,
        revision: Revision,
    ) -> Self {
        let mut array = Array { schunk, grid, dtype, stored_dtype, revision, committed: None };
        array.tell_block_shape();
        array
    }

    /// Opens an array for reading: a contiguous frame (a file) or a sparse one (a directory).
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be read; [`Error::Format`] when it is damaged or holds no array;
    /// [`Error::Unsupported`] for dtypes of Python objects, and for lazy expressions of python-blosc2, which have no
    /// data ([`SChunk::stored_object`]).
    ///
    /// ```no_run
    /// let wind = b2nd::Array::open("wind.b2nd")?;
    /// println!("{:?} of {}", wind.shape(), wind.dtype());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Array::open_with(path, &OpenOptions::new())
    }

    /// Opens an array as `options` say.
    ///
    /// # Errors
    /// As [`Array::open`].
    ///
    /// ```no_run
    /// use b2nd::{Array, Exec, OpenOptions};
    /// let options = OpenOptions::new().with_write(true).with_exec(Exec::new(1));
    /// let wind = Array::open_with("wind.b2nd", &options)?;
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let path = path.as_ref();
        SChunk::open(path, options).and_then(Array::from_schunk).map_err(|error| error.at_path(path))
    }

    /// Opens an array in a contiguous frame in memory, as [`Array::to_bytes`] and python-blosc2's `to_cframe` make it.
    ///
    /// # Errors
    /// As [`Array::open`].
    pub fn from_bytes(bytes: Vec<u8>, options: &OpenOptions) -> Result<Self> {
        Array::from_schunk(SChunk::from_bytes(bytes, options)?)
    }

    /// Opens an array in bytes that are shared, without a copy: see [`SChunk::from_shared`].
    ///
    /// # Errors
    /// As [`Array::open`].
    pub fn from_shared(
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
        options: &OpenOptions,
    ) -> Result<Self> {
        Array::from_schunk(SChunk::from_shared(bytes, options)?)
    }

    /// Opens an array in borrowed bytes for the time of a call, without a copy: see [`SChunk::with_borrowed`].
    ///
    /// ```
    /// use b2nd::{s, Array, Dtype, OpenOptions, Options};
    /// let bytes = Options::new().create_in_memory(Dtype::parse("<i4")?, [1000])?.to_bytes()?;
    /// let items = Array::with_borrowed(&bytes, &OpenOptions::new(), |array| array.read_bytes(s![..2]))?;
    /// assert_eq!(items, [0; 8]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::open`]; [`Error::Usage`] when the options ask for writing; what `reader` returns.
    pub fn with_borrowed<R>(
        bytes: &[u8],
        options: &OpenOptions,
        reader: impl FnOnce(&Array) -> Result<R>,
    ) -> Result<R> {
        SChunk::lent(bytes, options, |schunk| reader(&Array::from_schunk(schunk)?))
    }

    /// The state of the last commit: an array for reading that stays as it is when this one changes, and costs next to nothing
    /// to clone.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [3])?;
    /// let before = a.snapshot()?;
    /// a.write_bytes(s![], &[1, 2, 3])?;
    /// assert_eq!((before.read_bytes(s![])?, a.read_bytes(s![])?), (vec![0, 0, 0], vec![1, 2, 3]));
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::State`] while a transaction has changes that are not committed.
    pub fn snapshot(&self) -> Result<ArraySnapshot> {
        Ok(ArraySnapshot(Arc::new(Array {
            schunk: SChunk::of_snapshot(self.schunk.snapshot()?),
            grid: self.grid.clone(),
            dtype: self.dtype.clone(),
            stored_dtype: self.stored_dtype.clone(),
            revision: self.revision,
            committed: None,
        })))
    }

    /// Takes a snapshot of a frame as the array that its metalayer describes.
    ///
    /// # Errors
    /// As [`Array::from_schunk`].
    pub fn from_snapshot(frame: FrameSnapshot) -> Result<ArraySnapshot> {
        Array::from_schunk(SChunk::of_snapshot(frame)).map(|array| ArraySnapshot(Arc::new(array)))
    }

    /// Takes an open super-chunk as the array that its metalayer describes.
    ///
    /// # Errors
    /// [`Error::Format`] when it has no such metalayer or its frame disagrees with it; [`Error::Unsupported`] as for
    /// [`Array::open`].
    pub fn from_schunk(mut schunk: SChunk) -> Result<Self> {
        if let Some(object) = schunk.stored_object() {
            return Err(Error::unsupported(format!(
                "{object} of python-blosc2: the file has its shape and dtype, and no data; compute it there and save the result"
            )));
        }
        let (name, content) = schunk.array_layer().ok_or_else(|| {
            Error::format(
                Part::Metalayer,
                None,
                "this frame holds no array: it has neither a 'b2nd' nor a 'caterva' metalayer",
            )
        })?;
        let meta = meta::parse(name, content)?;
        let (grid, revision) = geometry(&schunk, &meta)?;
        let due = grid.nchunks();
        if schunk.nchunks() != due {
            return Err(Error::format(
                Part::Metalayer,
                None,
                format!("the shape needs {due} chunks, and the frame has {}", schunk.nchunks()),
            ));
        }
        let dtype = dtype_of(meta.dtype.as_deref(), grid.itemsize())?;
        let params = array_params(schunk.params().clone(), &grid)?;
        schunk.set_params(params);
        Ok(Array::from_parts(schunk, grid, dtype, meta.dtype, revision))
    }

    /// Parameters to compress items of `dtype` like this array: [`SChunk::params_to_write`], without the lossy filters
    /// and codecs that do not suit `dtype`. New arrays made from this one use them unless the options name others.
    ///
    /// ```
    /// use b2nd::{Dtype, Filter, Options, Params};
    /// let params = Params::new(4).with_pipeline("trunc_prec:10,shuffle".parse()?);
    /// let a = Options::new().with_params(params).create_in_memory(Dtype::parse("<f4")?, [9])?;
    /// assert!(a.params_for(&Dtype::parse("<f8")?).pipeline().contains(Filter::TruncPrec));
    /// assert!(!a.params_for(&Dtype::parse("<i4")?).pipeline().contains(Filter::TruncPrec));
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// [`SChunk::params_to_write`]: crate::schunk::FrameState::params_to_write
    pub fn params_for(&self, dtype: &Dtype) -> Params {
        suited(self.schunk.params_to_write(), dtype)
    }

    /// The array as one contiguous frame, without gaps. Chunks and metadata are copied as in [`SChunk::to_bytes`](crate::schunk::FrameState::to_bytes).
    ///
    /// # Errors
    /// [`Error::Io`] or [`Error::Format`] when a chunk cannot be read.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.schunk.to_bytes()
    }

    /// As [`Array::to_bytes`]; an array in memory of its own without gaps is given out without a copy.
    ///
    /// # Errors
    /// As [`Array::to_bytes`].
    pub fn into_bytes(self) -> Result<Vec<u8>> {
        self.schunk.into_bytes()
    }

    /// Saves the array as a new file or directory, compact and without recompression: see [`SChunk::save`](crate::schunk::FrameState::save).
    ///
    /// ```
    /// use b2nd::{Array, Dtype, Options, SaveOptions};
    /// # let path = std::env::temp_dir().join(format!("b2nd-doc-asave-{}.b2nd", std::process::id()));
    /// let in_memory = Options::new().create_in_memory(Dtype::parse("<i4")?, [10, 10])?;
    /// in_memory.save(&path, &SaveOptions::new())?;
    /// assert_eq!(Array::open(&path)?.shape(), [10, 10]);
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SChunk::save`](crate::schunk::FrameState::save).
    pub fn save(&self, path: impl AsRef<Path>, options: &SaveOptions) -> Result<()> {
        self.schunk.save(path, options)
    }

    /// Appends a copy of the array to a file that may hold frames already; returns the offset of the copy. See
    /// [`SChunk::append_to`](crate::schunk::FrameState::append_to), and [`frames`](crate::schunk::frames) for reading such files.
    ///
    /// # Errors
    /// As [`SChunk::append_to`](crate::schunk::FrameState::append_to).
    pub fn append_to(&self, path: impl AsRef<Path>) -> Result<u64> {
        self.schunk.append_to(path)
    }

    /// The length of each axis.
    pub fn shape(&self) -> &[u64] {
        self.grid.shape()
    }
    /// The number of axes.
    pub fn ndim(&self) -> usize {
        self.grid.ndim()
    }
    /// The chunk shape.
    pub fn chunks(&self) -> &[u64] {
        self.grid.chunks()
    }
    /// The block shape.
    pub fn blocks(&self) -> &[u64] {
        self.grid.blocks()
    }
    /// The dtype; `|V<size>` when the stored one is missing, unknown, or disagrees with the size of an item.
    pub fn dtype(&self) -> &Dtype {
        &self.dtype
    }
    /// The dtype as the file spells it; `None` where it has none.
    pub fn stored_dtype(&self) -> Option<&str> {
        self.stored_dtype.as_deref()
    }
    /// Takes the items as another dtype of the same size from now on. The file stays as it is.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] when an item has another size.
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|V4")?, [3])?;
    /// a.set_dtype(Dtype::parse("<f4")?)?;
    /// assert!(a.set_dtype(Dtype::parse("<f8")?).is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn set_dtype(&mut self, dtype: Dtype) -> Result<()> {
        if dtype.itemsize() != self.grid.itemsize() {
            let (theirs, ours) = (dtype.itemsize(), self.grid.itemsize());
            return Err(Error::length(
                ours,
                theirs,
                format!("an item of {dtype} has {theirs} bytes, and one of this array has {ours}"),
            ));
        }
        self.dtype = dtype;
        Ok(())
    }
    /// The number of items.
    pub fn size(&self) -> u64 {
        self.grid.size()
    }
    /// Uncompressed bytes of the items, without padding.
    pub fn nbytes(&self) -> u64 {
        self.grid.size() * self.grid.itemsize() as u64
    }
    /// Bytes of the compressed chunks (in a contiguous frame the length of its data section, gaps included).
    pub fn cbytes(&self) -> u64 {
        self.schunk.cbytes()
    }
    /// Which revision of the metalayer the file carries.
    pub fn revision(&self) -> Revision {
        self.revision
    }
    /// The super-chunk: layout, parameters, metalayers and vlmetalayers.
    pub fn schunk(&self) -> &SChunk {
        &self.schunk
    }

    /// The frame of the array, without the array around it.
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("|u1")?, [3])?;
    /// assert_eq!(a.into_schunk().nchunks(), 1);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn into_schunk(self) -> SChunk {
        self.schunk
    }
    /// Changes threads, cancellation and progress.
    pub fn set_exec(&mut self, exec: Exec) {
        self.schunk.set_exec(exec);
    }

    /// Replaces the content of a metalayer of the user by one of the same length, and commits.
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let options = Options::new().with_metalayer("origin", *b"station 07");
    /// let mut a = options.create_in_memory(Dtype::parse("|u1")?, [3])?;
    /// a.set_metalayer("origin", b"station 12")?;
    /// assert!(a.set_metalayer("origin", b"somewhere else").is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such metalayer; [`Error::Usage`] when it describes the array itself;
    /// [`Error::LengthMismatch`] when its length differs; [`Error::ReadOnly`].
    pub fn set_metalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        self.at_once(|t| t.set_metalayer(name, content))
    }

    pub(in crate::array) fn stage_metalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        if name == meta::NAME || name == meta::OLD_NAME {
            return Err(Error::usage(format!("the metalayer '{name}' is written by the array itself")));
        }
        self.schunk.stage_metalayer(name, content)
    }

    /// Makes the staged changes visible.
    pub(crate) fn commit(&mut self) -> Result<()> {
        self.schunk.commit()?;
        self.committed = None;
        Ok(())
    }

    /// Discards the staged changes.
    pub(crate) fn rollback(&mut self) -> Result<()> {
        let done = self.schunk.rollback();
        if let Some(before) = self.committed.take() {
            let (grid, params) = *before;
            self.set_geometry(grid, params);
        }
        done
    }

    /// Gives the array another geometry, with the parameters that agree with it; the frame is the caller's to change.
    pub(crate) fn set_geometry(&mut self, grid: Grid, params: Params) {
        self.grid = grid;
        self.schunk.set_params(params);
        self.tell_block_shape();
    }

    /// Tells the super-chunk the block shape, which some codecs and filters need.
    fn tell_block_shape(&mut self) {
        let caterva = matches!(self.revision, Revision::Caterva5 | Revision::CatervaPartshape);
        self.schunk.set_block_shape(&self.grid.block_shape(), caterva);
    }

    /// The context that codecs and filters get for an array with this geometry.
    pub(crate) fn context_of(&self, grid: &Grid) -> Context {
        self.schunk.context().clone().with_block_shape(&grid.block_shape())
    }

    /// Keeps the geometry for a rollback.
    pub(crate) fn remember_geometry(&mut self) {
        if self.committed.is_none() {
            self.committed = Some(Box::new((self.grid.clone(), self.schunk.params().clone())));
        }
    }

    /// The name of the metalayer that describes the array.
    pub(crate) fn metalayer_name(&self) -> &'static str {
        match self.revision {
            Revision::Caterva5 | Revision::CatervaPartshape => meta::OLD_NAME,
            Revision::B2nd5 | Revision::B2nd6 | Revision::B2nd7 => meta::NAME,
        }
    }

    /// The content of that metalayer with another geometry: all else in it stays as it is.
    pub(crate) fn metalayer_of(&self, grid: &Grid) -> Result<Vec<u8>> {
        let name = self.metalayer_name();
        let found = self.schunk.metalayers().find(|(other, _)| *other == name);
        let broken = || Error::format(Part::Metalayer, None, format!("there is no metalayer '{name}'"));
        let (_, content) = found.ok_or_else(broken)?;
        meta::with_geometry(content, grid.shape(), grid.chunks(), grid.blocks())
    }

    /// Adds or replaces a vlmetalayer, and commits: the bytes of an attribute as they are. [`Array::attrs_mut`] takes values.
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [3])?;
    /// a.set_vlmetalayer("unit", b"\xa3m/s")?;
    /// assert_eq!(a.schunk().vlmetalayer("unit")?.as_deref(), Some(&b"\xa3m/s"[..]));
    /// assert!(a.remove_vlmetalayer("unit")?);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] for a name of more than 31 bytes; [`Error::ReadOnly`].
    pub fn set_vlmetalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        self.at_once(|t| t.set_vlmetalayer(name, content))
    }

    /// Removes a vlmetalayer, and commits; returns whether it existed.
    ///
    /// # Errors
    /// [`Error::ReadOnly`].
    pub fn remove_vlmetalayer(&mut self, name: &str) -> Result<bool> {
        self.at_once(|t| t.remove_vlmetalayer(name))
    }
}

/// Shape, dtype, chunks, codec and sizes, in one line.
///
/// ```
/// use b2nd::{Dtype, Options};
/// let a = Options::new().with_chunks([50, 40]).create_in_memory(Dtype::parse("<f4")?, [100, 40])?;
/// assert!(a.to_string().starts_with("[100, 40] of <f4 in chunks of [50, 40], zstd 5: 16000 bytes in "));
/// # Ok::<(), b2nd::Error>(())
/// ```
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, dtype, chunks, params) =
            (self.shape(), self.dtype(), self.chunks(), self.schunk.params());
        write!(
            f,
            "{shape:?} of {dtype} in chunks of {chunks:?}, {} {}",
            params.codec().name(),
            params.clevel()
        )?;
        write!(f, ": {} bytes in {}", self.nbytes(), self.cbytes())
    }
}

/// The geometry that the metalayer and the frame agree on, with the revision.
fn geometry(schunk: &SChunk, meta: &ArrayMeta) -> Result<(Grid, Revision)> {
    let (blocks, revision) = if schunk.has_stated_blocks(meta)? {
        let blocks: Option<Vec<u64>> = meta.blocks.iter().map(|&b| u64::try_from(b).ok()).collect();
        let negative = || Error::format(Part::Metalayer, None, "a negative block length");
        (blocks.ok_or_else(negative)?, meta.revision)
    } else {
        (meta.chunks.clone(), Revision::CatervaPartshape)
    };
    let itemsize = item_size(schunk, meta, &blocks)?;
    let grid = new_grid(&meta.shape, &meta.chunks, &blocks, itemsize)?;
    check_chunksize(schunk, &grid)?;
    Ok((grid, revision))
}

/// The size of an item: what makes a chunk of the array a chunk of the frame. (The frame's own typesize is 1 in some files
/// with items of more than 255 bytes.)
fn item_size(schunk: &SChunk, meta: &ArrayMeta, blocks: &[u64]) -> Result<usize> {
    let typesize = schunk.params().typesize() as usize;
    let extended = meta.chunks.iter().zip(blocks).try_fold(1u64, |total, (&chunk, &block)| {
        if block == 0 { Some(0) } else { total.checked_mul(chunk.div_ceil(block).checked_mul(block)?) }
    });
    let chunksize = u64::from(schunk.chunksize());
    match extended {
        Some(items) if items > 0 && chunksize > 0 && chunksize.is_multiple_of(items) && typesize == 1 => {
            usize::try_from(chunksize / items)
                .map_err(|_| Error::format(Part::Metalayer, None, "items are too large"))
        }
        // Without chunks only the dtype can tell.
        _ if typesize == 1 && meta.shape.contains(&0) => Ok(meta
            .dtype
            .as_deref()
            .and_then(|text| Dtype::parse(text).ok())
            .map_or(typesize, |d| d.itemsize().max(1))),
        _ => Ok(typesize),
    }
}

fn new_grid(shape: &[u64], chunks: &[u64], blocks: &[u64], itemsize: usize) -> Result<Grid> {
    // The same checks as for a caller's numbers; here it is the file that is at fault.
    Grid::new(shape, chunks, blocks, itemsize)
        .map_err(|error| Error::format(Part::Metalayer, None, error.to_string()))
}

fn check_chunksize(schunk: &SChunk, grid: &Grid) -> Result<()> {
    let (due, found) = (grid.chunk_bytes() as u64, u64::from(schunk.chunksize()));
    if grid.nchunks() == 0 {
        return Ok(());
    }
    if due != found {
        let reason = format!("chunks of the array have {due} bytes, and those of the frame {found}");
        return Err(Error::format(Part::Metalayer, None, reason));
    }
    // The last chunk has the full size too, because chunks of arrays are padded.
    let (count, found) = (schunk.nchunks(), schunk.nbytes());
    if due.checked_mul(count) == Some(found) {
        return Ok(());
    }
    let reason = format!("{count} chunks of {due} bytes, and the frame says {found} bytes in all");
    Err(Error::format(Part::FrameHeader, 30, reason))
}

/// Parses a stored dtype text; falls back to raw bytes if it does not describe items of this size.
fn dtype_of(stored: Option<&str>, itemsize: usize) -> Result<Dtype> {
    match stored.map(Dtype::parse) {
        Some(Ok(dtype)) if dtype.itemsize() == itemsize => Ok(dtype),
        Some(Err(error @ Error::Unsupported { .. })) => Err(error),
        _ => Ok(Dtype::raw(itemsize)),
    }
}
