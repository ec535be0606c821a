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
    /// Any other id: kept through every rewrite, refused when data must be decoded.
    Other(u8),
}

impl Codec {
    /// The codec that has this id.
    pub fn from_id(id: u8) -> Self {
        match id {
            0 => Codec::BloscLz,
            1 => Codec::Lz4,
            2 => Codec::Lz4Hc,
            4 => Codec::Zlib,
            5 => Codec::Zstd,
            other => Codec::Other(other),
        }
    }
    /// The id, as frames store it.
    pub fn id(self) -> u8 {
        match self {
            Codec::BloscLz => 0,
            Codec::Lz4 => 1,
            Codec::Lz4Hc => 2,
            Codec::Zlib => 4,
            Codec::Zstd => 5,
            Codec::Other(other) => other,
        }
    }
    /// The name, as the command spells it: `blosclz`, `lz4`, `lz4hc`, `zlib`, `zstd`; others `codec-37`.
    pub fn name(self) -> std::borrow::Cow<'static, str> {
        match self {
            Codec::BloscLz => "blosclz".into(),
            Codec::Lz4 => "lz4".into(),
            Codec::Lz4Hc => "lz4hc".into(),
            Codec::Zlib => "zlib".into(),
            Codec::Zstd => "zstd".into(),
            Codec::Other(id) => format!("codec-{id}").into(),
        }
    }
    /// The codec of that name, for the five built in.
    pub fn from_name(name: &str) -> Option<Self> {
        [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd]
            .into_iter()
            .find(|c| c.name() == name)
    }
}
