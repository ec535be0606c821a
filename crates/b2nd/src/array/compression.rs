//! How a new array is compressed: what the caller sets, over the defaults or over what another array has.

use crate::array::Options;
use crate::chunk::Params;
use crate::chunk::SplitMode;
use crate::codec::Codec;
use crate::filter::Pipeline;

/// The parameters that the caller has set. Item and block size are those of the array.
#[derive(Debug, Clone, Default)]
pub(in crate::array) struct Compression {
    codec: Option<Codec>,
    codec_meta: Option<u8>,
    clevel: Option<u8>,
    filters: Option<Pipeline>,
    split: Option<SplitMode>,
    dictionary: Option<bool>,
}

impl Compression {
    /// The parameters that are set, over those of `base`.
    pub(in crate::array) fn over(self, base: Params) -> Params {
        let codec = self.codec.unwrap_or(base.codec());
        // The byte of one codec means nothing to another.
        let kept_meta = if codec == base.codec() { base.codec_meta() } else { 0 };
        let split = self.split.unwrap_or(base.split());
        let clevel = self.clevel.unwrap_or(base.clevel());
        let dictionary = self.dictionary.unwrap_or(base.dictionary());
        let filters = self.filters.unwrap_or(*base.pipeline());
        base.with_codec(codec)
            .with_codec_meta(self.codec_meta.unwrap_or(kept_meta))
            .with_clevel(clevel)
            .with_pipeline(filters)
            .with_split(split)
            .with_dictionary(dictionary)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::Dtype;

    #[test]
    fn what_is_set_stands_over_what_the_original_has() {
        let original = Options::new()
            .with_codec(Codec::Ndlz)
            .with_codec_meta(4)
            .with_clevel(9)
            .with_filters("bitshuffle".parse().unwrap())
            .with_split(SplitMode::Never)
            .create_in_memory(Dtype::parse("|u1").unwrap(), [16, 16])
            .unwrap();
        let params = |options: Options| options.copy_in_memory(&original).unwrap().schunk().params().clone();
        let (kept, level) = (params(Options::new()), params(Options::new().with_clevel(2)));
        assert_eq!((kept.codec(), kept.codec_meta(), kept.clevel()), (Codec::Ndlz, 4, 9));
        assert_eq!((level.codec(), level.codec_meta(), level.clevel()), (Codec::Ndlz, 4, 2));
        // The byte of one codec is none of another's.
        let other = params(Options::new().with_codec(Codec::Lz4));
        assert_eq!((other.codec(), other.codec_meta(), other.clevel()), (Codec::Lz4, 0, 9));
        assert_eq!(
            (other.pipeline(), other.split()),
            (original.schunk().params().pipeline(), SplitMode::Never)
        );
        let all = params(Options::new().with_params(Params::new(1)).with_clevel(1));
        assert_eq!(all.with_blocksize(None), Params::new(1).with_clevel(1));
    }
}
