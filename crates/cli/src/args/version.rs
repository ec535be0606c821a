//! What `b2nd --version` says: version, features, codecs and filters.

use std::sync::LazyLock;

use b2nd::{Codec, Filter};

use super::values::is_zfp;

const CODECS: [Codec; 9] = [
    Codec::BloscLz,
    Codec::Lz4,
    Codec::Lz4Hc,
    Codec::Zlib,
    Codec::Zstd,
    Codec::Ndlz,
    Codec::ZfpAccuracy,
    Codec::ZfpPrecision,
    Codec::ZfpRate,
];

const FILTERS: [Filter; 8] = [
    Filter::Shuffle,
    Filter::BitShuffle,
    Filter::Delta,
    Filter::TruncPrec,
    Filter::NdCell,
    Filter::NdMean,
    Filter::ByteDelta,
    Filter::IntTrunc,
];

/// Version, features, codecs and filters of this build, a line each.
pub(super) fn long() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(text);
    &TEXT
}

fn text() -> String {
    let features = [
        ("c-codecs", cfg!(feature = "c-codecs")),
        ("zfp", cfg!(feature = "zfp")),
        ("plot", cfg!(feature = "plot")),
    ];
    let features: Vec<&str> = features.into_iter().filter(|(_, on)| *on).map(|(name, _)| name).collect();
    let features = if features.is_empty() { "none".into() } else { features.join(", ") };
    let codecs = CODECS.into_iter().filter(|codec| cfg!(feature = "zfp") || !is_zfp(*codec));
    let codecs: Vec<_> = codecs.map(|codec| codec.name().into_owned()).collect();
    let filters: Vec<_> = FILTERS.into_iter().map(|filter| filter.name().to_string()).collect();
    format!(
        "{}\nfeatures: {features}\ncodecs: {}\nfilters: {}",
        env!("CARGO_PKG_VERSION"),
        codecs.join(", "),
        filters.join(", ")
    )
}
