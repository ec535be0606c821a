//! How a new array is made.

use crate::array::Array;
use crate::array::dtype::ByteOrder;
use crate::array::dtype::Dtype;
use crate::array::dtype::Kind;
use crate::array::grid::Grid;
use crate::array::meta;
use crate::array::meta::Revision;
use crate::array::partition::partition;
use crate::array::write::ArrayWriter;
use crate::chunk;
use crate::chunk::Params;
use crate::chunk::Special;
use crate::error::Error;
use crate::error::Result;
use crate::exec::Exec;
use crate::limits::Limits;
use crate::registry::Registry;
use crate::schunk::FrameSpec;
use crate::schunk::Layout;
use crate::schunk::OpenOptions;
use crate::schunk::SChunk;
use crate::schunk::Target;
use std::path::Path;

/// What a new array holds before anything is written.
///
/// ```
/// use b2nd::{s, Dtype, Fill, Options};
/// let a = Options::new().with_fill(Fill::Value(vec![7, 0])).create(None, Dtype::parse("<i2")?, &[3])?;
/// assert_eq!(a.read_bytes(s![1..])?, [7, 0, 7, 0]);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Fill {
    /// Zeros.
    #[default]
    Zeros,
    /// Not written: reads as zeros, and the file says that it is not data.
    Uninit,
    /// NaN, for dtypes that have it.
    Nan,
    /// One item, as its bytes in the dtype's byte order.
    Value(Vec<u8>),
}

/// How a new array is made. What is not set has a documented default.
///
/// ```
/// use b2nd::{Codec, Dtype, Options, Params};
/// let a = Options::new()
///     .with_chunks([64, 64])
///     .with_blocks([16, 64])
///     .with_params(Params::new(4).with_codec(Codec::Lz4).with_clevel(9))
///     .create(None, Dtype::parse("<f4")?, &[1000, 200])?;
/// assert_eq!(a.chunks(), [64, 64]);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Options {
    chunks: Option<Vec<u64>>,
    blocks: Option<Vec<u64>>,
    params: Option<Params>,
    layout: Layout,
    fill: Fill,
    overwrite: bool,
    exec: Exec,
    limits: Limits,
    registry: Registry,
    metalayers: Vec<(String, Vec<u8>)>,
    vlmetalayers: Vec<(String, Vec<u8>)>,
}

impl Options {
    /// Automatic chunks and blocks ([`partition`]), zstd 5 with shuffle, contiguous, zeros, all processors.
    pub fn new() -> Self {
        Self::default()
    }
    /// Sets the chunk shape; without it [`partition`] chooses.
    #[must_use]
    pub fn with_chunks(mut self, chunks: impl Into<Vec<u64>>) -> Self {
        self.chunks = Some(chunks.into());
        self
    }
    /// Sets the block shape; without it [`partition`] chooses.
    #[must_use]
    pub fn with_blocks(mut self, blocks: impl Into<Vec<u64>>) -> Self {
        self.blocks = Some(blocks.into());
        self
    }
    /// Sets codec, level, filters and split mode. Typesize and block size are those of the array.
    #[must_use]
    pub fn with_params(mut self, params: Params) -> Self {
        self.params = Some(params);
        self
    }
    /// Sets the layout: one file (the default) or a directory.
    #[must_use]
    pub fn with_layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }
    /// Sets what the array holds at first; zeros by default.
    #[must_use]
    pub fn with_fill(mut self, fill: Fill) -> Self {
        self.fill = fill;
        self
    }
    /// Replaces what exists at the path, once the new array is whole; an error by default.
    #[must_use]
    pub fn with_overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }
    /// Sets threads, cancellation and progress; all processors by default.
    #[must_use]
    pub fn with_exec(mut self, exec: Exec) -> Self {
        self.exec = exec;
        self
    }
    /// Sets the codecs and filters of the user, which [`Options::with_params`] may name.
    #[must_use]
    pub fn with_registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }
    /// Adds a metalayer of the user: fixed in size for the life of the file. Names have up to 31 bytes.
    #[must_use]
    pub fn with_metalayer(mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.metalayers.push((name.into(), content.into()));
        self
    }
    /// Adds a vlmetalayer: may be changed, replaced and removed later.
    #[must_use]
    pub fn with_vlmetalayer(mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.vlmetalayers.push((name.into(), content.into()));
        self
    }

    /// Makes the array at `path` (`None`: in memory) and commits it.
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let a = Options::new().create(None, Dtype::parse("<M8[s]")?, &[1_000_000, 50])?;
    /// assert!(a.cbytes() < 100); // zeros take no room
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] when shapes, dtype, codec and filters do not fit together or the path exists; [`Error::Io`] when it
    /// cannot be written. Then nothing remains.
    pub fn create(self, path: Option<&Path>, dtype: Dtype, shape: &[u64]) -> Result<Array> {
        self.create_uncommitted(path, dtype, shape)?.commit()
    }

    /// As [`Options::create`], but nothing is visible at the path before [`ArrayWriter::commit`]; dropped before it,
    /// nothing remains. For filling a new array in one go.
    ///
    /// # Errors
    /// As [`Options::create`].
    pub fn create_uncommitted(self, path: Option<&Path>, dtype: Dtype, shape: &[u64]) -> Result<ArrayWriter> {
        let (chunks, blocks) =
            partition(shape, dtype.itemsize(), self.chunks.as_deref(), self.blocks.as_deref())?;
        let grid = Grid::new(shape, &chunks, &blocks, dtype.itemsize())?;
        grid.check_writable()?;
        if let Some((name, _)) =
            self.metalayers.iter().find(|(name, _)| name == meta::NAME || name == meta::OLD_NAME)
        {
            return Err(Error::usage(format!("the metalayer '{name}' is written by the array itself")));
        }
        let text = dtype.to_text();
        let array_meta = meta::write(shape, &chunks, &blocks, &text);
        let mut metalayers = vec![(meta::NAME.to_string(), array_meta)];
        metalayers.extend(self.metalayers);
        let (special, value) = first_content(&self.fill, &dtype)?;
        let params = array_params(self.params.unwrap_or_else(|| Params::new(0)), &grid)?;
        let open = OpenOptions::new().with_write(true).with_exec(self.exec).with_limits(self.limits);
        let open = open.with_registry(self.registry);
        if grid.block_bytes() > 0 {
            params.check(&open.context(params.typesize()).with_block_shape(&grid.block_shape()))?;
        }
        let spec = FrameSpec {
            layout: self.layout,
            params: params.clone(),
            chunksize: grid.chunk_bytes() as u32,
            nchunks: grid.nchunks(),
            fill: special,
            metalayers,
            vlmetalayers: self.vlmetalayers,
        };
        let target = match path {
            Some(path) => Target::Path { path, overwrite: self.overwrite },
            None => Target::Memory,
        };
        let mut schunk = SChunk::create(target, spec, &open)?;
        if let Some(value) = value {
            let chunk = chunk::encode_special(Special::Value, grid.chunk_bytes() as u32, &value, &params)?;
            (0..grid.nchunks()).try_for_each(|n| schunk.put_chunk(n, &chunk))?;
        }
        Ok(ArrayWriter::new(Array::from_parts(schunk, grid, dtype, Some(text), Revision::B2nd7)))
    }
}

/// Parameters that agree with the geometry: real item size, blocks as the array has them.
pub(crate) fn array_params(params: Params, grid: &Grid) -> Result<Params> {
    let typesize = u32::try_from(grid.itemsize())
        .map_err(|_| Error::usage("items are larger than the format allows"))?;
    // At most 2^29; an array without items has blocks of nothing, for which any size will do.
    let blocksize = u32::try_from(grid.block_bytes().max(1)).ok();
    Ok(params.with_typesize(typesize).with_blocksize(blocksize))
}

/// The special kind of the first chunks, and the item where only a stored value can say it.
fn first_content(fill: &Fill, dtype: &Dtype) -> Result<(Special, Option<Vec<u8>>)> {
    match fill {
        Fill::Zeros => Ok((Special::Zeros, None)),
        Fill::Uninit => Ok((Special::Uninit, None)),
        Fill::Value(item) if item.len() != dtype.itemsize() => Err(Error::usage(format!(
            "the fill value has {} bytes, and an item of {dtype} has {}",
            item.len(),
            dtype.itemsize()
        ))),
        Fill::Value(item) if item.iter().all(|&b| b == 0) => Ok((Special::Zeros, None)),
        Fill::Value(item) => Ok((Special::Zeros, Some(item.clone()))),
        Fill::Nan => {
            let part = if dtype.kind() == Kind::Complex { dtype.itemsize() / 2 } else { dtype.itemsize() };
            let mut nan = match (dtype.kind(), part) {
                (Kind::Float | Kind::Complex, 2) => 0x7e00u16.to_le_bytes().to_vec(),
                (Kind::Float | Kind::Complex, 4) => f32::NAN.to_bits().to_le_bytes().to_vec(),
                (Kind::Float | Kind::Complex, 8) => f64::NAN.to_bits().to_le_bytes().to_vec(),
                _ => return Err(Error::usage(format!("items of {dtype} cannot be NaN"))),
            };
            if dtype.kind() == Kind::Float && part != 2 && dtype.byte_order() == ByteOrder::Little {
                return Ok((Special::Nan, None));
            }
            if dtype.byte_order() == ByteOrder::Big {
                nan.reverse();
            }
            Ok((Special::Zeros, Some(nan.repeat(dtype.itemsize() / part))))
        }
    }
}
