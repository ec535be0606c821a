//! What a codec or a filter of the user is: two functions over the bytes of a block.

/// What a codec or filter of the user gives back.
///
/// An error while writing becomes an [`Error::Compression`](crate::Error::Compression), one while reading an
/// [`Error::Format`](crate::Error::Format) that names the codec or filter; an [`Error`](crate::Error) goes through as it is.
pub type BlockResult<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// What is known of the block whose bytes a codec or filter is given.
///
/// ```
/// use b2nd::registry::BlockInfo;
/// let info = BlockInfo::new(4).with_meta(7).with_block_shape(&[16, 16]);
/// assert_eq!((info.typesize, info.meta, info.block_shape), (4, 7, Some(&[16, 16][..])));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockInfo<'a> {
    /// Bytes of an item: the frame's real number, where the chunk is read in its frame; else the chunk's, which says 1 for
    /// items of more than 255 bytes.
    pub typesize: u32,
    /// The codec's or filter's own byte, as the chunk stores it.
    pub meta: u8,
    /// The level while writing, 1 to 9; 0 while reading.
    pub clevel: u8,
    /// Items of a block along each axis, where the chunk is that of an array. A block may have fewer bytes than that says,
    /// at the end of a chunk, and a codec is given each stream of a split block by itself.
    pub block_shape: Option<&'a [u32]>,
}

impl<'a> BlockInfo<'a> {
    /// A block of items of `typesize` bytes, of no array: for trying out a codec or a filter by itself.
    pub fn new(typesize: u32) -> Self {
        BlockInfo { typesize, meta: 0, clevel: 0, block_shape: None }
    }
    /// Sets [`BlockInfo::meta`].
    #[must_use]
    pub fn with_meta(mut self, meta: u8) -> Self {
        self.meta = meta;
        self
    }
    /// Sets [`BlockInfo::clevel`].
    #[must_use]
    pub fn with_clevel(mut self, clevel: u8) -> Self {
        self.clevel = clevel;
        self
    }
    /// Sets [`BlockInfo::block_shape`].
    #[must_use]
    pub fn with_block_shape(mut self, block_shape: &'a [u32]) -> Self {
        self.block_shape = Some(block_shape);
        self
    }
}

/// A codec of the user. Called from many threads at once.
///
/// ```
/// use b2nd::registry::{BlockCodec, BlockInfo, BlockResult};
/// /// Keeps the first byte where all are alike.
/// struct Alike;
/// impl BlockCodec for Alike {
///     fn compress(&self, _: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<Option<usize>> {
///         match (src.first(), dst.first_mut()) {
///             (Some(&byte), Some(to)) if src.iter().all(|&b| b == byte) => {
///                 *to = byte;
///                 Ok(Some(1))
///             }
///             _ => Ok(None),
///         }
///     }
///     fn decompress(&self, _: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
///         dst.fill(*src.first().ok_or("nothing there")?);
///         Ok(())
///     }
/// }
/// let mut back = [0; 3];
/// Alike.decompress(&BlockInfo::new(1), &[7], &mut back).unwrap();
/// assert_eq!(back, [7; 3]);
/// ```
pub trait BlockCodec: Send + Sync {
    /// Compresses `src` into the start of `dst`; how many bytes that took, or `None` where they do not fit: the data is then
    /// stored as it is.
    ///
    /// # Errors
    /// Whatever keeps these bytes from being compressed at all.
    fn compress(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<Option<usize>>;

    /// Decompresses `src`, and fills `dst` exactly.
    ///
    /// # Errors
    /// Where `src` is not what [`BlockCodec::compress`] writes for so many bytes. It may be any bytes: files are
    /// damaged.
    fn decompress(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()>;
}

/// A filter of the user: turns the bytes of a block into as many others, and back. Called from many threads at once.
///
/// ```
/// use b2nd::registry::{BlockFilter, BlockInfo, BlockResult};
/// struct Invert;
/// impl BlockFilter for Invert {
///     fn apply(&self, _: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
///         dst.iter_mut().zip(src).for_each(|(to, from)| *to = !from);
///         Ok(())
///     }
///     fn undo(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
///         self.apply(info, src, dst)
///     }
/// }
/// let mut out = [0; 2];
/// Invert.apply(&BlockInfo::new(1), &[0, 0xF0], &mut out).unwrap();
/// assert_eq!(out, [0xFF, 0x0F]);
/// ```
pub trait BlockFilter: Send + Sync {
    /// What is done to a block before it is compressed: from `src` to all of `dst`, which is as long.
    ///
    /// # Errors
    /// Whatever keeps these bytes from being filtered.
    fn apply(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()>;

    /// Takes [`BlockFilter::apply`] back: from `src` to all of `dst`, which is as long.
    ///
    /// # Errors
    /// Where `src` is nothing that `apply` gives. It may be any bytes: files are damaged.
    fn undo(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()>;
}
