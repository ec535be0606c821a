//! Compression of a new array: the caller's settings, then those of a source array, then the defaults.

use crate::array::grid::Grid;
use crate::chunk::Params;
use crate::chunk::SplitMode;
use crate::codec::Codec;
use crate::error::Error;
use crate::error::Result;
use crate::filter::Pipeline;

/// The parameters that the caller has set. Item and block size are those of the array.
#[derive(Debug, Clone, Default)]
pub(in crate::array) struct Compression {
    pub(in crate::array) codec: Option<Codec>,
    pub(in crate::array) codec_meta: Option<u8>,
    pub(in crate::array) clevel: Option<u8>,
    pub(in crate::array) filters: Option<Pipeline>,
    pub(in crate::array) split: Option<SplitMode>,
    pub(in crate::array) dictionary: Option<bool>,
}

impl Compression {
    /// The parameters that are set, over those of `base`.
    pub(in crate::array) fn over(self, base: Params) -> Params {
        let codec = self.codec.unwrap_or(base.codec());
        // The codec meta byte is kept for the same codec only.
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

/// Parameters that agree with the geometry: real item size, blocks as the array has them.
pub(crate) fn array_params(params: Params, grid: &Grid) -> Result<Params> {
    let typesize = u32::try_from(grid.itemsize())
        .map_err(|_| Error::above(u32::MAX, grid.itemsize(), "items are larger than the format allows"))?;
    // At most 2^29; an array without items has blocks of nothing, for which any size will do.
    let blocksize = u32::try_from(grid.block_bytes().max(1)).ok();
    Ok(params.with_typesize(typesize).with_blocksize(blocksize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::Dtype;
    use crate::array::Options;

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
