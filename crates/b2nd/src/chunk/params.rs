//! Parameters of compression: the caller's choices, the defaults, and which combinations are invalid.

use super::MAX_BLOCK_BYTES;
use crate::codec;
use crate::codec::Codec;
use crate::codec::Engine;
use crate::error::Error;
use crate::error::Result;
use crate::filter::Filter;
use crate::filter::Pipeline;
use crate::filter::Steps;
use crate::registry::Context;
use crate::registry::codec_label;

/// Whether the bytes of items are split into one stream for each byte of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SplitMode {
    /// Always (stored as 1).
    Always,
    /// Never (stored as 2).
    Never,
    /// Where it helps: for shuffled items of up to 16 bytes with the fast codecs (stored as 3).
    #[default]
    Auto,
    /// As `Auto` (stored as 4).
    ForwardCompat,
}

impl SplitMode {
    /// The number that frames store.
    pub fn id(self) -> u8 {
        match self {
            SplitMode::Always => 1,
            SplitMode::Never => 2,
            SplitMode::Auto => 3,
            SplitMode::ForwardCompat => 4,
        }
    }
    /// The mode that this number stands for.
    ///
    /// ```
    /// use b2nd::SplitMode;
    /// assert_eq!(SplitMode::from_id(3), Some(SplitMode::Auto));
    /// assert_eq!(SplitMode::from_id(0), None);
    /// ```
    pub fn from_id(id: u8) -> Option<Self> {
        match id {
            1 => Some(SplitMode::Always),
            2 => Some(SplitMode::Never),
            3 => Some(SplitMode::Auto),
            4 => Some(SplitMode::ForwardCompat),
            _ => None,
        }
    }
}

/// Parameters by which chunks are compressed.
///
/// ```
/// use b2nd::{Codec, Params};
/// let params = Params::new(4).with_codec(Codec::Lz4).with_clevel(9).with_pipeline("delta,shuffle".parse()?);
/// assert_eq!((params.typesize(), params.clevel()), (4, 9));
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    codec: Codec,
    clevel: u8,
    codec_meta: u8,
    pipeline: Pipeline,
    split: SplitMode,
    typesize: u32,
    blocksize: Option<u32>,
    short_header: bool,
    dictionary: bool,
}

impl Params {
    /// The default codec.
    pub const DEFAULT_CODEC: Codec = Codec::Zstd;
    /// The default level.
    pub const DEFAULT_CLEVEL: u8 = 5;
    /// The highest level.
    pub const MAX_CLEVEL: u8 = 9;

    /// The defaults (zstd 5, shuffle) for items of `typesize` bytes.
    pub fn new(typesize: u32) -> Self {
        Params {
            codec: Self::DEFAULT_CODEC,
            clevel: Self::DEFAULT_CLEVEL,
            codec_meta: 0,
            pipeline: Pipeline::default(),
            split: SplitMode::Auto,
            typesize,
            blocksize: None,
            short_header: false,
            dictionary: false,
        }
    }
    /// Sets the codec.
    #[must_use]
    pub fn with_codec(mut self, codec: Codec) -> Self {
        self.codec = codec;
        self
    }
    /// Sets the level, 0 (store) to 9.
    #[must_use]
    pub fn with_clevel(mut self, clevel: u8) -> Self {
        self.clevel = clevel;
        self
    }
    /// Sets the codec's own byte: a parameter of `ndlz` and `zfp`, stored and not used by the others that are built in.
    #[must_use]
    pub fn with_codec_meta(mut self, codec_meta: u8) -> Self {
        self.codec_meta = codec_meta;
        self
    }
    /// Sets the filters.
    #[must_use]
    pub fn with_pipeline(mut self, pipeline: Pipeline) -> Self {
        self.pipeline = pipeline;
        self
    }
    /// Sets the split mode.
    #[must_use]
    pub fn with_split(mut self, split: SplitMode) -> Self {
        self.split = split;
        self
    }
    /// Sets the size of an item in bytes.
    #[must_use]
    pub fn with_typesize(mut self, typesize: u32) -> Self {
        self.typesize = typesize;
        self
    }
    /// Sets the block size in bytes; it is rounded down to whole items. `None`: chosen by [`auto_blocksize`].
    #[must_use]
    pub fn with_blocksize(mut self, blocksize: Option<u32>) -> Self {
        self.blocksize = blocksize;
        self
    }
    /// Writes the 16-byte header, which readers of Blosc1 understand: no runs, and at most one of shuffle and bitshuffle.
    #[must_use]
    pub fn with_short_header(mut self, short: bool) -> Self {
        self.short_header = short;
        self
    }
    /// Compresses with a dictionary made of the chunk's own data, which pays for small blocks: zstd, lz4 and lz4hc only. Chunks
    /// of less than 5 KiB go without. C-Blosc2 before 3.0 reads those of zstd alone, and up to 3.3.5 at least it now and then
    /// fails to read a slice of such an array, its own too.
    #[must_use]
    pub fn with_dictionary(mut self, dictionary: bool) -> Self {
        self.dictionary = dictionary;
        self
    }
    /// The codec.
    pub fn codec(&self) -> Codec {
        self.codec
    }
    /// The level.
    pub fn clevel(&self) -> u8 {
        self.clevel
    }
    /// The codec's own byte.
    pub fn codec_meta(&self) -> u8 {
        self.codec_meta
    }
    /// The filters.
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }
    /// The split mode.
    pub fn split(&self) -> SplitMode {
        self.split
    }
    /// The size of an item in bytes (its real value, above 255 too).
    pub fn typesize(&self) -> u32 {
        self.typesize
    }
    /// The block size in bytes, if set.
    pub fn blocksize(&self) -> Option<u32> {
        self.blocksize
    }
    /// Whether the 16-byte header is written.
    pub fn short_header(&self) -> bool {
        self.short_header
    }

    /// Whether chunks have dictionaries.
    pub fn dictionary(&self) -> bool {
        self.dictionary
    }

    /// The item size as stored in a chunk: one byte, so sizes above 255 are stored as 1.
    pub(super) fn stored_typesize(&self) -> u8 {
        u8::try_from(self.typesize).unwrap_or(1)
    }

    /// The unit of the block size: the real item size, if an item fits in a block.
    fn unit(&self) -> u32 {
        if self.typesize > MAX_BLOCK_BYTES { 1 } else { self.typesize.max(1) }
    }

    /// The resolved filters, or an [`Error::Compression`] when these parameters cannot be written.
    pub(crate) fn check(&self, context: &Context) -> Result<Steps> {
        if let Codec::Other(id) = self.codec
            && !context.registry().has_codec(id)
        {
            return Err(Error::compression(format!(
                "{} cannot be written: it is neither built in nor in the registry",
                codec_label(id)
            )));
        }
        self.check_numbers()?;
        if self.short_header {
            self.check_short()?;
        }
        if self.dictionary && !codec::has_dictionaries(self.codec) {
            return Err(Error::compression(format!(
                "{} has no dictionaries: only zstd, lz4 and lz4hc do",
                self.codec.name()
            )));
        }
        self.check_registered()?;
        Engine::new(self.codec, self.codec_meta, self.typesize, context).check_writing()?;
        Steps::for_writing(&self.pipeline, usize::from(self.stored_typesize()), self.short_header, context)
    }

    /// As [`Params::check`], of all but codec and filters, which play no part in special chunks.
    pub(super) fn check_numbers(&self) -> Result<()> {
        if self.clevel > Self::MAX_CLEVEL {
            return Err(Error::compression(format!("level {} is above the highest, 9", self.clevel)));
        }
        if self.typesize == 0 {
            return Err(Error::compression("an item has at least one byte: the typesize is 0"));
        }
        if self.blocksize == Some(0) {
            return Err(Error::compression("a block has at least one byte: the block size is 0"));
        }
        Ok(())
    }

    /// Which filters the codecs for arrays go with.
    fn check_registered(&self) -> Result<()> {
        let breaks = [Filter::Shuffle, Filter::BitShuffle, Filter::Delta];
        let broken = breaks.into_iter().any(|filter| self.pipeline.contains(filter));
        if self.codec.is_zfp() && (broken || self.split == SplitMode::Always) {
            return Err(Error::compression(format!(
                "{} works on whole floats: leave out shuffle, bitshuffle and delta, and do not split",
                self.codec.name()
            )));
        }
        if self.codec == Codec::Ndlz && self.typesize > 1 && !self.splits(self.typesize) {
            return Err(Error::compression(format!(
                "ndlz works on single bytes: items of {} bytes have to be shuffled and split",
                self.typesize
            )));
        }
        Ok(())
    }

    fn check_short(&self) -> Result<()> {
        if self.dictionary {
            return Err(Error::compression("the 16-byte header of Blosc1 has no dictionaries"));
        }
        let mut filters = self.pipeline.filters();
        match (filters.next(), filters.next()) {
            (None | Some((Filter::Shuffle | Filter::BitShuffle, 0)), None) => Ok(()),
            _ => Err(Error::compression(format!(
                "the filters {} do not fit the 16-byte header of Blosc1, which has one of shuffle and bitshuffle, or none",
                self.pipeline
            ))),
        }
    }

    /// Whether blocks of `blocksize` bytes are split into the bytes of their items.
    pub(super) fn splits(&self, blocksize: u32) -> bool {
        self.splits_items_of(u32::from(self.stored_typesize()), blocksize)
    }

    fn splits_items_of(&self, typesize: u32, blocksize: u32) -> bool {
        let items = blocksize / typesize;
        // Readers of Blosc1 take blocks outside these bounds as not split, whatever the flag says.
        if self.short_header && (typesize > 16 || items < 128) {
            return false;
        }
        match self.split {
            SplitMode::Always => true,
            SplitMode::Never => false,
            SplitMode::Auto | SplitMode::ForwardCompat => {
                let fast = match self.codec {
                    Codec::BloscLz | Codec::Lz4 => true,
                    Codec::Zstd => self.clevel <= 5,
                    _ => false,
                };
                let shuffled = self.pipeline.contains(Filter::Shuffle);
                // Bytes in two dimensions is all that this codec takes.
                let needed = self.codec == Codec::Ndlz && typesize > 1;
                shuffled && (needed || fast && typesize <= 16 && items >= 32)
            }
        }
    }

    /// The block size for `nbytes`: the given or automatic one in whole items, at least one item, at most everything.
    pub(crate) fn effective_blocksize(&self, nbytes: u32) -> u32 {
        match self.blocksize {
            Some(given) => whole_items(given, nbytes, self.unit()),
            None => automatic(nbytes, self),
        }
    }
}

/// The block size that is chosen for `nbytes` of items when [`Params::blocksize`] is `None`.
///
/// The sizes are those that users of Blosc2 expect: by the level, larger for the slow codecs and for split blocks.
///
/// ```
/// use b2nd::Params;
/// use b2nd::chunk::auto_blocksize;
/// let params = Params::new(8).with_codec(b2nd::Codec::Lz4).with_pipeline(b2nd::Pipeline::none());
/// assert_eq!(auto_blocksize(10_000_000, &params), 128 << 10);
/// assert_eq!(auto_blocksize(1000, &params), 1000);
/// ```
pub fn auto_blocksize(nbytes: usize, params: &Params) -> u32 {
    automatic(u32::try_from(nbytes).unwrap_or(u32::MAX), params)
}

const KIB: u32 = 1 << 10;
/// The cache that the smallest automatic blocks of large chunks are made for.
const L1: u32 = 32 * KIB;

fn automatic(nbytes: u32, params: &Params) -> u32 {
    let typesize = params.unit();
    if nbytes < typesize {
        return 1;
    }
    let mut blocksize = nbytes;
    if nbytes >= L1 {
        let slow = matches!(params.codec, Codec::Lz4Hc | Codec::Zlib | Codec::Zstd);
        let base = if slow { 2 * L1 } else { L1 };
        blocksize = match params.clevel {
            0 => base / 4,
            1 => base / 2,
            2 => base,
            3 => base * 2,
            4 | 5 => base * 4,
            6..=8 => base * 8,
            _ if slow => base * 16,
            _ => base * 8,
        };
    }
    if params.clevel > 0 && params.splits_items_of(typesize, nbytes) {
        let stream = match params.clevel {
            ..=3 => 32 * KIB,
            4..=6 => 64 * KIB,
            7 => 128 * KIB,
            8 => 256 * KIB,
            _ => 512 * KIB,
        };
        blocksize = stream.saturating_mul(typesize).clamp(L1, 4096 * KIB);
    }
    whole_items(blocksize, nbytes, typesize)
}

fn whole_items(blocksize: u32, nbytes: u32, typesize: u32) -> u32 {
    let blocksize = blocksize.min(MAX_BLOCK_BYTES);
    let whole = (blocksize.min(nbytes) / typesize).max(1) * typesize;
    whole.min(nbytes).max(1)
}
