//! What the targets share: strict limits, a registry of the user, a folder to work in, changes of an array that a naive array
//! follows, and of a frame that a list of chunks does.

pub mod arrays;
pub mod change;
pub mod chunks;
pub mod pick;
pub mod place;
pub mod registry;

use b2nd::{Codec, Exec, Filter, Limits, OpenOptions, Params};

/// Little of everything, so that whatever asks for more memory on its input's word is found.
pub fn limits() -> Limits {
    Limits::default()
        .with_max_chunk_bytes(1 << 20)
        .with_max_index_bytes(1 << 16)
        .with_max_meta_bytes(1 << 16)
        .with_max_read_bytes(1 << 20)
}

/// The options that open hostile bytes: [`limits`], one thread, the codec and the filter of [`registry`].
pub fn options() -> OpenOptions {
    OpenOptions::new().with_limits(limits()).with_exec(Exec::new(1)).with_registry(registry::registry())
}

/// Whether what is written with these parameters may come back as something else, as it is meant to.
pub fn is_lossy(params: &Params) -> bool {
    let codec = matches!(params.codec(), Codec::ZfpAccuracy | Codec::ZfpPrecision | Codec::ZfpRate);
    let lossy = [Filter::TruncPrec, Filter::IntTrunc, Filter::NdMean];
    codec || lossy.iter().any(|filter| params.pipeline().contains(*filter))
}
