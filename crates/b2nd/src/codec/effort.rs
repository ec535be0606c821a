//! How long codecs take, as far as that decides on how many threads work is done: it is time that pays for another one, not bytes.

use super::Codec;

impl Codec {
    /// How many bytes LZ4 would write in the time that this codec takes to write `bytes` at the level `clevel`.
    ///
    /// 64 KiB of MRI data took 42 µs with LZ4, 51 with BloscLZ, 100 with LZ4 HC, 230 to 630 with zlib, 105 to 2,400 with Zstandard.
    pub(crate) fn effort_to_write(self, clevel: u8, bytes: u64) -> u64 {
        bytes.saturating_mul(match self {
            Codec::Zstd if clevel > 1 => 8,
            Codec::Lz4Hc | Codec::Zlib => 4,
            Codec::Zstd => 2,
            codec if codec.is_zfp() => 4,
            _ => 1,
        })
    }

    /// How many bytes LZ4 would write in the time that this codec takes to read `bytes`.
    ///
    /// 64 KiB of MRI data took 18 µs with LZ4, 11 with BloscLZ and LZ4 HC, 119 with zlib, 34 with Zstandard.
    pub(crate) fn effort_to_read(self, bytes: u64) -> u64 {
        match self {
            Codec::BloscLz | Codec::Lz4 | Codec::Lz4Hc => bytes / 4,
            Codec::Zlib => bytes.saturating_mul(3),
            codec if codec.is_zfp() => bytes.saturating_mul(4),
            _ => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exec;

    #[test]
    fn a_thread_is_woken_for_what_takes_long() {
        let wakes = |effort| Exec::new(2).call(8, effort).is_shared();
        for (codec, clevel, from) in [
            (Codec::Lz4, 9, 128 << 10),
            (Codec::BloscLz, 9, 128 << 10),
            (Codec::Lz4Hc, 1, 32 << 10),
            (Codec::Zlib, 1, 32 << 10),
            (Codec::Zstd, 1, 64 << 10),
            (Codec::Zstd, 3, 16 << 10),
            (Codec::ZfpRate, 5, 32 << 10),
        ] {
            assert!(wakes(codec.effort_to_write(clevel, from)), "{codec:?}");
            assert!(!wakes(codec.effort_to_write(clevel, from - 1)), "{codec:?}");
        }
        for (codec, from) in [
            (Codec::Lz4, 512 << 10),
            (Codec::Zstd, 128 << 10),
            (Codec::Zlib, 43_691),
            (Codec::ZfpRate, 32 << 10),
        ] {
            assert!(wakes(codec.effort_to_read(from)), "{codec:?}");
            assert!(!wakes(codec.effort_to_read(from - 1)), "{codec:?}");
        }
        assert_eq!(Codec::Zlib.effort_to_read(u64::MAX), u64::MAX);
    }
}
