//! Options for making a new array.

use crate::array::Array;
use crate::array::attrs::AttrValue;
use crate::array::compression::Compression;
use crate::array::compression::array_params;
use crate::array::dtype::ByteOrder;
use crate::array::dtype::Dtype;
use crate::array::dtype::Kind;
use crate::array::grid::Grid;
use crate::array::meta;
use crate::array::meta::Revision;
use crate::array::partition::Partition;
use crate::array::partition::partition;
use crate::array::shape::Shape;
use crate::array::stream::Slabs;
use crate::array::stream::StreamWriter;
use crate::array::suits::check_suits;
use crate::array::suits::suited;
use crate::array::write::ArrayWriter;
use crate::chunk;
use crate::chunk::Params;
use crate::chunk::Special;
use crate::chunk::SplitMode;
use crate::codec::Codec;
use crate::error::Error;
use crate::error::Result;
use crate::filter::Pipeline;
use crate::frame::Layout;
use crate::schunk::FrameOptions;
use crate::schunk::FrameSpec;
use crate::schunk::FrameTarget;
use crate::schunk::OpenOptions;
use crate::schunk::SChunk;
use crate::schunk::frame_builder;
use crate::schunk::is_object_layer;
use std::path::Path;

/// Initial content of a new array.
///
/// ```
/// use b2nd::{s, Dtype, Fill, Options};
/// let a = Options::new().with_fill(Fill::Value(vec![7, 0])).create_in_memory(Dtype::parse("<i2")?, [3])?;
/// assert_eq!(a.read_bytes(s![1..])?, [7, 0, 7, 0]);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
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

/// Options for making a new array. What is not set has a documented default.
///
/// ```
/// use b2nd::{Codec, Dtype, Options};
/// let a = Options::new()
///     .with_chunks([64, 64])
///     .with_blocks([16, 64])
///     .with_codec(Codec::Lz4)
///     .with_clevel(9)
///     .create_in_memory(Dtype::parse("<f4")?, [1000, 200])?;
/// assert_eq!(a.chunks(), [64, 64]);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Options {
    pub(in crate::array) common: FrameOptions,
    chunks: Option<Shape>,
    blocks: Option<Shape>,
    compression: Compression,
    /// Parameters given as a whole, or those of the source array.
    like: Option<Params>,
    layout: Layout,
    fill: Fill,
    pub(super) overwrite: bool,
    metalayers: Vec<(String, Vec<u8>)>,
    vlmetalayers: Vec<(String, Vec<u8>)>,
    pub(in crate::array) attrs: Vec<(String, AttrValue)>,
}

frame_builder! { Options: all }

impl Options {
    /// Automatic chunks and blocks ([`partition`]), zstd 5 with shuffle, contiguous, zeros, all processors.
    pub fn new() -> Self {
        Self::default()
    }
    /// Sets the chunk shape; without it [`partition`] chooses.
    #[must_use]
    pub fn with_chunks(mut self, chunks: impl Into<Shape>) -> Self {
        self.chunks = Some(chunks.into());
        self
    }
    /// Sets the block shape; without it [`partition`] chooses.
    #[must_use]
    pub fn with_blocks(mut self, blocks: impl Into<Shape>) -> Self {
        self.blocks = Some(blocks.into());
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
    /// Adds a metalayer of the user: fixed in size for the life of the file. Names have up to 31 bytes.
    ///
    /// The names `b2nd` and `caterva` of the array itself, and `b2o` and `LazyArray` of objects of python-blosc2, are refused.
    #[must_use]
    pub fn with_metalayer(mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.metalayers.push((name.into(), content.into()));
        self
    }
    /// Adds a vlmetalayer: the bytes of an attribute as they are. [`Options::with_attr`] takes values.
    #[must_use]
    pub fn with_vlmetalayer(mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.vlmetalayers.push((name.into(), content.into()));
        self
    }

    /// Options that reopen the array made with these.
    pub(crate) fn reopen(&self) -> OpenOptions {
        OpenOptions::new().with_frame_options(self.common.clone())
    }

    /// What is not said is as in another array: chunks, blocks, codec and filters, but for lossy ones that are not made for
    /// items of `dtype`.
    pub(crate) fn or_like(mut self, schunk: &SChunk, dtype: &Dtype, partition: Option<Partition>) -> Self {
        if self.chunks.is_none() && self.blocks.is_none() {
            let both = partition.map(|Partition { chunks, blocks }| (chunks.into(), blocks.into()));
            (self.chunks, self.blocks) = both.unzip();
        }
        self.like = self.like.or_else(|| Some(suited(schunk.params_to_write(), dtype)));
        self
    }

    /// Adds the metalayers and vlmetalayers of another array, except those that are set already.
    pub(crate) fn with_metadata_of(mut self, schunk: &SChunk) -> Result<Self> {
        for (name, content) in schunk.metalayers() {
            let own = name == meta::NAME || name == meta::OLD_NAME;
            if !own && self.metalayers.iter().all(|(given, _)| given != name) {
                self.metalayers.push((name.to_owned(), content.to_vec()));
            }
        }
        for name in schunk.vlmetalayer_names()? {
            let given = self.vlmetalayers.iter().map(|(given, _)| given);
            if given.chain(self.attrs.iter().map(|(given, _)| given)).all(|given| given != name) {
                let content = schunk.vlmetalayer(name)?.unwrap_or_default();
                self.vlmetalayers.push((name.to_owned(), content));
            }
        }
        Ok(self)
    }

    /// Makes the array at `path` and commits it.
    ///
    /// ```no_run
    /// use b2nd::{Dtype, Options};
    /// let wind = Options::new().with_chunks([16, 128, 128]).create("wind.b2nd", Dtype::of::<f32>(), [365, 721, 1440])?;
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NdimMismatch`], [`Error::TooLarge`], [`Error::Compression`] or [`Error::Usage`] when shapes, dtype,
    /// codec and filters do not fit together; [`Error::AlreadyExists`]; [`Error::Io`] when it cannot be written. Then
    /// nothing remains.
    pub fn create(self, path: impl AsRef<Path>, dtype: Dtype, shape: impl Into<Shape>) -> Result<Array> {
        self.create_uncommitted(path, dtype, shape)?.commit()
    }

    /// Makes the array in memory.
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("<M8[s]")?, [1_000_000, 50])?;
    /// assert!(a.cbytes() < 100); // zeros take no room
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NdimMismatch`], [`Error::TooLarge`], [`Error::Compression`] or [`Error::Usage`] when shapes, dtype,
    /// codec and filters do not fit together.
    pub fn create_in_memory(self, dtype: Dtype, shape: impl Into<Shape>) -> Result<Array> {
        self.create_uncommitted_in_memory(dtype, shape)?.commit()
    }

    /// Like [`Options::create`], but nothing is visible at the path before [`ArrayWriter::commit`]. If the writer is
    /// dropped before, nothing remains. For filling a new array in one commit.
    ///
    /// # Errors
    /// As [`Options::create`].
    pub fn create_uncommitted(
        self,
        path: impl AsRef<Path>,
        dtype: Dtype,
        shape: impl Into<Shape>,
    ) -> Result<ArrayWriter> {
        self.begin(Some(path.as_ref()), dtype, shape.into().lengths()?)
    }

    /// As [`Options::create_uncommitted`], in memory.
    ///
    /// # Errors
    /// As [`Options::create_in_memory`].
    pub fn create_uncommitted_in_memory(self, dtype: Dtype, shape: impl Into<Shape>) -> Result<ArrayWriter> {
        self.begin(None, dtype, shape.into().lengths()?)
    }

    /// Begins the array at a path, or in memory where there is none.
    pub(crate) fn begin(self, path: Option<&Path>, dtype: Dtype, shape: &[u64]) -> Result<ArrayWriter> {
        let (chunks, blocks) = (given(self.chunks.as_ref())?, given(self.blocks.as_ref())?);
        let (chunks, blocks) = partition(shape, dtype.itemsize(), chunks, blocks)?;
        let grid = Grid::new(shape, &chunks, &blocks, dtype.itemsize())?;
        Ok(ArrayWriter::new(self.make(path, dtype, grid)?))
    }

    /// Starts an array at `path` that is written in slabs along one axis: see [`StreamWriter`].
    ///
    /// Nothing is visible at the path before [`StreamWriter::finish`] or [`StreamWriter::flush`]; if dropped before,
    /// nothing remains. Chunks that are not given are chosen so that a row of them takes at most a quarter of the
    /// memory that [`Slabs::with_memory`] allows. A fill has no use here: every item is pushed.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options, Slabs};
    /// let slabs = Slabs::growing(0, [0, 2]);
    /// let mut w = Options::new().stream_in_memory(Dtype::parse("<u2")?, &slabs)?;
    /// w.push_items(&[1u16, 2])?; // one row
    /// w.push_items(&[3u16, 4, 5, 6])?; // two at once
    /// let a = w.finish()?;
    /// assert_eq!(a.shape(), [3, 2]);
    /// assert_eq!(a.read_items::<u16>(s![.., 1])?, [2, 4, 6]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Options::create`]; [`Error::OutOfBounds`] when there is no such axis; [`Error::Usage`] when another axis
    /// has no items, or a row of chunks takes more memory than is allowed.
    pub fn stream(self, path: impl AsRef<Path>, dtype: Dtype, slabs: &Slabs) -> Result<StreamWriter> {
        self.begin_stream(Some(path.as_ref()), dtype, slabs)
    }

    /// As [`Options::stream`], in memory.
    ///
    /// # Errors
    /// As [`Options::stream`].
    pub fn stream_in_memory(self, dtype: Dtype, slabs: &Slabs) -> Result<StreamWriter> {
        self.begin_stream(None, dtype, slabs)
    }

    fn begin_stream(self, path: Option<&Path>, dtype: Dtype, slabs: &Slabs) -> Result<StreamWriter> {
        let (chunks, blocks) = (given(self.chunks.as_ref())?, given(self.blocks.as_ref())?);
        let (chunks, blocks) = slabs.partition(dtype.itemsize(), chunks, blocks)?;
        let grid = slabs.empty_grid(&chunks, &blocks, dtype.itemsize())?;
        StreamWriter::new(self.make(path, dtype, grid)?, slabs)
    }

    /// The array, not yet committed.
    fn make(self, path: Option<&Path>, dtype: Dtype, grid: Grid) -> Result<Array> {
        grid.check_writable()?;
        self.metalayers.iter().try_for_each(|(name, _)| check_metalayer_name(name))?;
        let text = dtype.to_text();
        let array_meta = meta::write(grid.shape(), grid.chunks(), grid.blocks(), &text);
        let mut metalayers = vec![(meta::NAME.to_string(), array_meta)];
        metalayers.extend(self.metalayers);
        let mut vlmetalayers = self.vlmetalayers;
        for (name, value) in self.attrs {
            vlmetalayers.push((name, value.to_msgpack()?));
        }
        let (special, value) = first_content(&self.fill, &dtype)?;
        let params = array_params(self.compression.over(self.like.unwrap_or_else(|| Params::new(0))), &grid)?;
        check_suits(&params, &dtype)?;
        if grid.block_bytes() > 0 {
            params.check(&self.common.context(params.typesize()).with_block_shape(&grid.block_shape()))?;
        }
        let spec = FrameSpec {
            layout: self.layout,
            params: params.clone(),
            chunksize: grid.chunk_bytes() as u32,
            nchunks: grid.nchunks(),
            fill: special,
            metalayers,
            vlmetalayers,
        };
        let target = match path {
            Some(path) => FrameTarget::Path { path, overwrite: self.overwrite },
            None => FrameTarget::Memory,
        };
        let mut schunk = SChunk::create(target, spec, &self.common)?;
        // An array without chunks may have chunks of no items, where the fill value does not fit.
        if let Some(value) = value.filter(|_| grid.nchunks() > 0) {
            let chunk = chunk::encode_special(Special::Value, grid.chunk_bytes() as u32, &value, &params)?;
            (0..grid.nchunks()).try_for_each(|n| schunk.put_chunk(n, &chunk))?;
        }
        Ok(Array::from_parts(schunk, grid, dtype, Some(text), Revision::B2nd7))
    }
}

/// How the array is compressed. What is not set is zstd 5 with shuffle, or as in the array that the new one is made of.
impl Options {
    /// Sets the codec.
    ///
    /// ```
    /// use b2nd::{Codec, Dtype, Options};
    /// let fast = Options::new().with_codec(Codec::Lz4).create_in_memory(Dtype::of::<f32>(), [100, 100])?;
    /// assert_eq!(fast.schunk().params().codec(), Codec::Lz4);
    /// let small = Options::new().with_codec(Codec::Zstd).with_clevel(9).copy_in_memory(&fast)?;
    /// assert_eq!(small.schunk().params().clevel(), 9);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    #[must_use]
    pub fn with_codec(mut self, codec: Codec) -> Self {
        self.compression.codec = Some(codec);
        self
    }
    /// Sets the codec's own byte: see [`Params::with_codec_meta`].
    #[must_use]
    pub fn with_codec_meta(mut self, codec_meta: u8) -> Self {
        self.compression.codec_meta = Some(codec_meta);
        self
    }
    /// Sets the level, 0 (store) to 9.
    #[must_use]
    pub fn with_clevel(mut self, clevel: u8) -> Self {
        self.compression.clevel = Some(clevel);
        self
    }
    /// Sets the filters.
    ///
    /// Lossy filters and codecs have to be made for the dtype: `trunc_prec`, `ndmean` and zfp for little-endian floats of 4 or 8
    /// bytes, `int_trunc` for little-endian integers and times. What makes the array refuses others.
    ///
    /// ```
    /// use b2nd::{Dtype, Filter, Options};
    /// let options = Options::new().with_filters("bitshuffle".parse()?);
    /// let a = options.create_in_memory(Dtype::of::<u16>(), [1000])?;
    /// let filters: Vec<_> = a.schunk().params().pipeline().filters().map(|(filter, _)| filter).collect();
    /// assert_eq!(filters, [Filter::BitShuffle]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    #[must_use]
    pub fn with_filters(mut self, filters: Pipeline) -> Self {
        self.compression.filters = Some(filters);
        self
    }
    /// Sets whether the bytes of items are split into streams.
    #[must_use]
    pub fn with_split(mut self, split: SplitMode) -> Self {
        self.compression.split = Some(split);
        self
    }
    /// Compresses with dictionaries: see [`Params::with_dictionary`].
    #[must_use]
    pub fn with_dictionary(mut self, dictionary: bool) -> Self {
        self.compression.dictionary = Some(dictionary);
        self
    }
    /// Sets all of these at once, as another array or super-chunk has them: [`SChunk::params`](crate::schunk::FrameState::params). The
    /// item and block sizes of `params` are not used.
    #[must_use]
    pub fn with_params(mut self, params: Params) -> Self {
        self.compression = Compression::default();
        self.like = Some(params);
        self
    }
}

/// Refuses names of metalayers that define the type of a frame.
fn check_metalayer_name(name: &str) -> Result<()> {
    if name == meta::NAME || name == meta::OLD_NAME {
        return Err(Error::usage(format!("the metalayer '{name}' is written by the array itself")));
    }
    if is_object_layer(name) {
        return Err(Error::usage(format!(
            "the metalayer '{name}' marks an object that python-blosc2 stored without data: an array with it would not open again"
        )));
    }
    Ok(())
}

/// The lengths of an optional shape.
fn given(shape: Option<&Shape>) -> Result<Option<&[u64]>> {
    shape.map(Shape::lengths).transpose()
}

/// The special kind of the first chunks, and the item where only a stored value can say it.
pub(crate) fn first_content(fill: &Fill, dtype: &Dtype) -> Result<(Special, Option<Vec<u8>>)> {
    match fill {
        Fill::Zeros => Ok((Special::Zeros, None)),
        Fill::Uninit => Ok((Special::Uninit, None)),
        Fill::Value(item) if item.len() != dtype.itemsize() => Err(Error::length(
            dtype.itemsize(),
            item.len(),
            format!(
                "the fill value has {} bytes, and an item of {dtype} has {}",
                item.len(),
                dtype.itemsize()
            ),
        )),
        Fill::Value(item) if item.iter().all(|&b| b == 0) => Ok((Special::Zeros, None)),
        Fill::Value(item) => Ok((Special::Zeros, Some(item.clone()))),
        Fill::Nan => {
            let part = if dtype.kind() == Kind::Complex { dtype.itemsize() / 2 } else { dtype.itemsize() };
            let mut nan = match (dtype.kind(), part) {
                (Kind::Float | Kind::Complex, 2) => 0x7e00u16.to_le_bytes().to_vec(),
                (Kind::Float | Kind::Complex, 4) => f32::NAN.to_bits().to_le_bytes().to_vec(),
                (Kind::Float | Kind::Complex, 8) => f64::NAN.to_bits().to_le_bytes().to_vec(),
                _ => return Err(Error::dtype("float", dtype, format!("items of {dtype} cannot be NaN"))),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_metalayers_that_decide_what_a_frame_holds_are_refused() {
        for (name, reason) in [
            ("b2nd", "the array itself"),
            ("caterva", "the array itself"),
            ("b2o", "an object that python-blosc2"),
            ("LazyArray", "an object that python-blosc2"),
        ] {
            let made = Options::new().with_metalayer(name, [0x90]).create_in_memory(Dtype::of::<u8>(), [3]);
            let text = made.unwrap_err().to_string();
            assert!(text.contains(name) && text.contains(reason), "{text}");
        }
        assert!(Options::new().with_metalayer("b2", [0x90]).create_in_memory(Dtype::of::<u8>(), [3]).is_ok());
    }
}
