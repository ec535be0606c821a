//! Codecs: typed ids, and compression and decompression of one stream.
//!
//! A stream is what one codec call makes of one block (or of one part of a split block). This floor knows
//! neither chunks nor filters: bytes in, bytes out, with the length of the result always given by the caller. An engine is a codec
//! with all that it needs to know of a chunk, the data aside.

mod blosclz;
mod dictionary;
mod effort;
mod error;
mod id;
mod lz4;
mod ndlz;
mod stream;
#[cfg(test)]
mod tests;
mod zfp;
mod zlib;
mod zstd;

pub(crate) use dictionary::{MAX_DICTIONARY_BYTES, has_dictionaries, train};
pub use id::Codec;
pub(crate) use stream::{CodecState, Engine};
