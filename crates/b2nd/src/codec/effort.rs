//! How long codecs take, as far as that decides on how many threads work is done: it is time that pays for another one, not bytes.

use super::Codec;

impl Codec {
    /// How many bytes LZ4 or BloscLZ would write in the time that this codec takes for `bytes` at the level `clevel`.
    pub(crate) fn effort_to_write(self, clevel: u8, bytes: u64) -> u64 {
        bytes.saturating_mul(match self {
            Codec::Lz4Hc | Codec::Zlib => 8,
            Codec::Zstd if clevel > 1 => 8,
            Codec::Zstd => 2,
            codec if codec.is_zfp() => 4,
            _ => 1,
        })
    }

    /// How many bytes LZ4, BloscLZ or Zstandard would read in the time that this codec takes for `bytes`.
    pub(crate) fn effort_to_read(self, bytes: u64) -> u64 {
        bytes.saturating_mul(match self {
            Codec::Zlib => 8,
            codec if codec.is_zfp() => 4,
            _ => 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exec;

    #[test]
    fn chunks_are_shared_that_take_long() {
        let shared = |effort| Exec::new(2).threads_for(8, effort) == 2;
        for (codec, clevel, from) in [
            (Codec::Lz4, 9, 128 << 10),
            (Codec::BloscLz, 9, 128 << 10),
            (Codec::Lz4Hc, 1, 16 << 10),
            (Codec::Zlib, 1, 16 << 10),
            (Codec::Zstd, 1, 64 << 10),
            (Codec::Zstd, 3, 16 << 10),
            (Codec::ZfpRate, 5, 32 << 10),
        ] {
            assert!(shared(codec.effort_to_write(clevel, from)), "{codec:?}");
            assert!(!shared(codec.effort_to_write(clevel, from - 1)), "{codec:?}");
        }
        assert!(
            shared(Codec::Zlib.effort_to_read(16 << 10)) && !shared(Codec::Zstd.effort_to_read(127 << 10))
        );
        assert_eq!(Codec::Zlib.effort_to_read(u64::MAX), u64::MAX);
    }
}
