//! The door to the codecs: picks one by id, bounds what goes in, and turns its verdict into an error.

use super::dictionary::Dictionary;
use super::{Codec, blosclz, lz4, ndlz, zfp, zlib, zstd};
use crate::error::{Error, Part, Result};
use crate::registry::{BlockInfo, Context, Setting, UserCodec, codec_label};
use b2nd_kernel::noise::is_noise;
use std::sync::Arc;

/// The longest stream or result, from the format: block sizes are `i32`. It keeps every length inside the C `int`
/// of the reference codecs.
const MAX_LEN: usize = i32::MAX as usize;

/// Reusable memory of the codecs (contexts, hash tables): one for each thread that works, made empty and filled on use.
#[derive(Default)]
pub(crate) struct CodecState {
    blosclz: blosclz::BloscLzEncoder,
    lz4: lz4::Lz4Context,
    ndlz: ndlz::NdlzEncoder,
    zlib: zlib::ZlibContext,
    zstd: zstd::ZstdContext,
    /// The table of the search for noise.
    noise: Vec<u32>,
}

/// A codec with all that it needs to know of a chunk, the data aside.
#[derive(Debug, Clone)]
pub(crate) struct Engine {
    codec: Codec,
    meta: u8,
    /// The codec of the user, where it is one.
    user: Option<UserCodec>,
    setting: Setting,
    dictionary: Option<Arc<Dictionary>>,
}

impl Engine {
    /// The codec for a chunk whose items have `typesize` bytes (as it says itself).
    ///
    /// One that nobody knows is no error yet: streams that are not compressed need none.
    pub(crate) fn new(codec: Codec, meta: u8, typesize: u32, context: &Context) -> Self {
        let user = match codec {
            Codec::Other(id) => context.registry().codec(id),
            _ => None,
        };
        Engine { codec, meta, user, setting: context.setting(typesize), dictionary: None }
    }

    /// The same codec for streams that refer to a dictionary.
    pub(crate) fn reading_with(mut self, dictionary: &[u8]) -> Result<Self> {
        self.dictionary = Some(Arc::new(Dictionary::for_reading(self.codec, dictionary)?));
        Ok(self)
    }

    /// The same codec for streams that will refer to a dictionary, at the level `clevel`.
    pub(crate) fn writing_with(mut self, dictionary: &[u8], clevel: u8) -> Result<Self> {
        self.dictionary = Some(Arc::new(Dictionary::for_writing(self.codec, clevel, dictionary)?));
        Ok(self)
    }

    fn lz4_dictionary(&self) -> Option<&[u8]> {
        match self.dictionary.as_deref() {
            Some(Dictionary::Lz4(bytes)) => Some(bytes),
            _ => None,
        }
    }

    fn zstd_dictionary(&self) -> Option<&zstd::LibraryDictionary> {
        match self.dictionary.as_deref() {
            Some(Dictionary::Zstd(dictionary)) => Some(dictionary),
            _ => None,
        }
    }

    /// Whether `src` is noise, which this codec would spend long on at this level, to no avail.
    pub(crate) fn spares(&self, clevel: u8, src: &[u8], state: &mut CodecState) -> bool {
        let is_slow = match self.codec {
            Codec::Zlib => true,
            Codec::Lz4Hc => clevel > 2,
            Codec::Zstd => clevel > 6,
            _ => false,
        };
        // What is noise in itself may be in a dictionary.
        is_slow && self.dictionary.is_none() && is_noise(src, &mut state.noise)
    }

    /// Compresses `src` into `dst`. `Ok(None)`: the result does not fit `dst` or there is nothing to gain. Level 1 to 9.
    pub(crate) fn compress(
        &self,
        clevel: u8,
        src: &[u8],
        dst: &mut [u8],
        state: &mut CodecState,
    ) -> Result<Option<usize>> {
        let clevel = clevel.min(9);
        if clevel == 0 || src.is_empty() || dst.is_empty() || src.len() > MAX_LEN {
            return if self.is_unknown() { Err(self.unknown()) } else { Ok(None) };
        }
        let room = dst.len().min(MAX_LEN);
        let dst = &mut dst[..room];
        match self.codec {
            Codec::BloscLz => Ok(state.blosclz.encode(clevel, src, dst)),
            Codec::Lz4 => state.lz4.compress_fast(clevel, self.lz4_dictionary(), src, dst),
            Codec::Lz4Hc => state.lz4.compress_high(clevel, self.lz4_dictionary(), src, dst),
            Codec::Zlib => state.zlib.compress(clevel, src, dst),
            Codec::Zstd => state.zstd.compress(clevel, self.zstd_dictionary(), src, dst),
            Codec::Ndlz => state.ndlz.encode(self.meta, self.info(clevel).block_shape, src, dst),
            Codec::ZfpAccuracy | Codec::ZfpPrecision | Codec::ZfpRate => {
                zfp::compress(self.codec, &self.info(clevel), src, dst)
            }
            Codec::Other(_) => self.user()?.compress(&self.info(clevel), src, dst),
        }
    }

    /// Decompresses `src`, which must fill `dst` exactly; else an [`Error::Format`](crate::Error::Format) of
    /// [`Part::Stream`](crate::Part::Stream).
    pub(crate) fn decompress(&self, src: &[u8], dst: &mut [u8], state: &mut CodecState) -> Result<()> {
        if src.len() > MAX_LEN || dst.len() > MAX_LEN {
            return Err(Error::format(Part::Stream, None, "longer than the format allows"));
        }
        match self.codec {
            Codec::BloscLz => blosclz::decode(src, dst).map_err(defective),
            Codec::Lz4 | Codec::Lz4Hc => lz4::decompress(self.lz4_dictionary(), src, dst),
            Codec::Zlib => state.zlib.decompress(src, dst),
            Codec::Zstd => state.zstd.decompress(self.zstd_dictionary(), src, dst),
            Codec::Ndlz => ndlz::decode(self.meta, src, dst),
            Codec::ZfpAccuracy | Codec::ZfpPrecision | Codec::ZfpRate => {
                zfp::decompress(self.codec, &self.info(0), src, dst)
            }
            Codec::Other(_) => self.user()?.decompress(&self.info(0), src, dst),
        }
    }

    /// Whether [`Engine::decompress_start`] decodes a part of a stream.
    pub(crate) fn stops(&self) -> bool {
        match self.codec {
            Codec::BloscLz | Codec::Lz4 | Codec::Lz4Hc => true,
            Codec::Zstd => self.dictionary.is_none() && zstd::stops(),
            _ => false,
        }
    }

    /// As [`Engine::decompress`], but only the first `dst.len()` of the `whole` bytes that `src` stands for. What follows is not
    /// looked at.
    pub(crate) fn decompress_start(
        &self,
        src: &[u8],
        dst: &mut [u8],
        whole: usize,
        state: &mut CodecState,
    ) -> Result<()> {
        if !self.stops() || src.len() > MAX_LEN || whole > MAX_LEN || dst.len() > whole {
            return Err(Error::format(Part::Stream, None, "not to be decoded in part"));
        }
        match self.codec {
            Codec::BloscLz => blosclz::decode_start(src, dst).map_err(defective),
            Codec::Zstd => state.zstd.decompress_start(src, dst, whole),
            _ => lz4::decompress_start(self.lz4_dictionary(), src, dst),
        }
    }

    /// Whether these choices can be written at all: an [`Error::Compression`] says why not.
    pub(crate) fn check_writing(&self) -> Result<()> {
        let info = self.info(0);
        match self.codec {
            Codec::Ndlz => ndlz::check(self.meta, info.block_shape).map(|_| ()),
            codec if codec.is_zfp() => zfp::check(codec, &info),
            _ => Ok(()),
        }
    }

    /// What the codec is told.
    fn info(&self, clevel: u8) -> BlockInfo<'_> {
        self.setting.info(self.meta, clevel)
    }

    /// Whether there is nothing behind the id.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self.codec, Codec::Other(_)) && self.user.is_none()
    }

    fn user(&self) -> Result<&UserCodec> {
        self.user.as_ref().ok_or_else(|| self.unknown())
    }

    fn unknown(&self) -> Error {
        Error::unsupported(codec_label(self.codec.id()))
    }
}

/// A stream of BloscLZ that is broken.
fn defective(defect: b2nd_kernel::blosclz::Defect) -> Error {
    Error::format(Part::Stream, defect.offset as u64, defect.reason)
}
