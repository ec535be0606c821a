//! The ids and names of codecs. Nothing here knows how a codec works.

/// A codec, by the id that frames and plug-in chunks store.
///
/// ```
/// use b2nd::Codec;
/// assert_eq!(Codec::from_id(5), Codec::Zstd);
/// assert_eq!(Codec::from_id(37).name(), "codec-37");
/// assert_eq!(Codec::from_name("lz4hc"), Some(Codec::Lz4Hc));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Codec {
    /// BloscLZ (id 0), this crate's own encoder and decoder.
    BloscLz,
    /// LZ4 (id 1).
    Lz4,
    /// LZ4 HC (id 2): slower, smaller; decodes as LZ4.
    Lz4Hc,
    /// zlib (id 4).
    Zlib,
    /// Zstandard (id 5).
    Zstd,
    /// NDLZ (id 32): blocks of two dimensions in cells of 4 or 8 items a side, which its meta byte says. Items of more than
    /// one byte have to be shuffled.
    Ndlz,
    /// ZFP with an absolute error of at most ten to the power of its meta byte, a signed number (id 33): lossy, for floats that
    /// are finite. All three need the feature `zfp`, blocks of one to four axes of four items or more, and no shuffle.
    ZfpAccuracy,
    /// ZFP with a precision in bits (id 34): its meta byte and 3 more than twice the number of axes. Lossy, as all three.
    ZfpPrecision,
    /// ZFP of a fixed rate (id 35): its meta byte is the percentage of the size that is left.
    ZfpRate,
    /// Any other id: kept through every rewrite, and one of the [`Registry`](crate::Registry) where data is decoded.
    Other(u8),
}

impl Codec {
    /// All that are built in, with their ids and names.
    const BUILT_IN: [(Codec, u8, &'static str); 9] = [
        (Codec::BloscLz, 0, "blosclz"),
        (Codec::Lz4, 1, "lz4"),
        (Codec::Lz4Hc, 2, "lz4hc"),
        (Codec::Zlib, 4, "zlib"),
        (Codec::Zstd, 5, "zstd"),
        (Codec::Ndlz, 32, "ndlz"),
        (Codec::ZfpAccuracy, 33, "zfp-accuracy"),
        (Codec::ZfpPrecision, 34, "zfp-precision"),
        (Codec::ZfpRate, 35, "zfp-rate"),
    ];

    /// The codec that has this id.
    pub fn from_id(id: u8) -> Self {
        Self::BUILT_IN.iter().find(|known| known.1 == id).map_or(Codec::Other(id), |known| known.0)
    }
    /// The id, as frames store it.
    pub fn id(self) -> u8 {
        match self {
            Codec::Other(id) => id,
            built_in => Self::BUILT_IN.iter().find(|known| known.0 == built_in).map_or(0, |known| known.1),
        }
    }
    /// The name, as the command spells it: `blosclz`, `lz4`, `lz4hc`, `zlib`, `zstd`, `ndlz`, `zfp-accuracy`, `zfp-precision`,
    /// `zfp-rate`; others `codec-37`.
    pub fn name(self) -> std::borrow::Cow<'static, str> {
        match Self::BUILT_IN.iter().find(|known| known.0 == self) {
            Some(known) => known.2.into(),
            None => format!("codec-{}", self.id()).into(),
        }
    }
    /// The codec of that name, for those built in; `-` and `_` are the same.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.replace('_', "-");
        Self::BUILT_IN.into_iter().find(|known| known.2 == name).map(|known| known.0)
    }
    /// Whether it is one of the three forms of ZFP.
    pub(crate) fn is_zfp(self) -> bool {
        matches!(self, Codec::ZfpAccuracy | Codec::ZfpPrecision | Codec::ZfpRate)
    }
}
