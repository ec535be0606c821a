//! Writing zlib streams at the middle levels by the C library `libdeflate`, through the safe interface of `libdeflater`: in the mean
//! 1.5 times as fast as `zlib-rs`, to smaller streams, but not on data of every kind.

use libdeflater::{CompressionLvl, Compressor};

/// The levels for which it stands in: level 1 of zlib is quicker, levels 8 and 9 are smaller, and need less memory.
const LEVELS: std::ops::RangeInclusive<u8> = 2..=7;

/// What is looked at: so many windows of so many bytes.
const WINDOWS: usize = 32;
const WINDOW: usize = 64;

/// Its compressor, made on first use.
#[derive(Default)]
pub(super) struct DeflateContext {
    compressor: Option<(u8, Compressor)>,
}

impl DeflateContext {
    /// As [`Engine::compress`](crate::codec::Engine::compress), for a level and data that it [suits](suits).
    pub(super) fn compress(&mut self, clevel: u8, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        if self.compressor.as_ref().is_none_or(|(level, _)| *level != clevel) {
            let level = CompressionLvl::new(i32::from(clevel)).unwrap_or_default();
            self.compressor = Some((clevel, Compressor::new(level)));
        }
        let (_, compressor) = self.compressor.as_mut()?;
        // The only failure is a result that does not fit.
        compressor.zlib_compress(src, dst).ok()
    }
}

/// Whether `libdeflate` is the better choice.
///
/// It is not for data that mostly repeats itself, runs and items that differ in few bytes: there zlib is up to five times as fast, or
/// smaller. Nor for few different bytes, such as text: it leaves short matches out, which costs space when the text was shuffled.
pub(super) fn suits(clevel: u8, src: &[u8]) -> bool {
    LEVELS.contains(&clevel) && {
        let (same, seen, values) = look(src);
        same * 10 < seen * 7 && values >= 96
    }
}

/// How many bytes are what was 8 bytes before them, of how many, and how many different ones there are, in a sample.
fn look(src: &[u8]) -> (usize, usize, usize) {
    let (mut same, mut seen, mut values) = (0, 0, [false; 256]);
    let step = (src.len() / WINDOWS).max(WINDOW + 8);
    for (n, window) in src.chunks(step).take(WINDOWS).enumerate() {
        // At places without a period, as rows may have that of the steps: multiples of the golden section.
        let spare = window.len().saturating_sub(WINDOW + 8);
        let start = n * 40_503 % 65_536 * spare / 65_536;
        let window = window.get(start..window.len().min(start + WINDOW + 8)).unwrap_or_default();
        let later = window.get(8..).unwrap_or_default();
        same += later.iter().zip(window).filter(|(a, b)| a == b).count();
        seen += later.len();
        later.iter().for_each(|byte| values[usize::from(*byte)] = true);
    }
    (same, seen, values.into_iter().filter(|there| *there).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::zlib;

    fn floats() -> Vec<u8> {
        (0..5000).flat_map(|n| (n as f32 * 0.01).sin().to_le_bytes()).collect()
    }

    #[test]
    fn what_it_writes_is_read_and_room_that_is_too_small_is_said() {
        let (data, mut context, mut reader) =
            (floats(), DeflateContext::default(), zlib::ZlibContext::default());
        for clevel in LEVELS {
            let mut packed = vec![0; data.len()];
            let len = context.compress(clevel, &data, &mut packed).unwrap();
            for room in [len, data.len() + 100] {
                let mut again = vec![0; room];
                assert_eq!(context.compress(clevel, &data, &mut again), Some(len), "{clevel}");
                assert!(again[..len] == packed[..len], "{clevel}");
            }
            for room in (0..8).chain([len / 2, len - 1]) {
                assert_eq!(context.compress(clevel, &data, &mut vec![0; room]), None, "{clevel} {room}");
            }
            let mut plain = vec![0; data.len()];
            reader.decompress(&packed[..len], &mut plain).unwrap();
            assert!(plain == data, "{clevel}");
            // The door takes this way for these data.
            let mut through = vec![0; data.len()];
            assert_eq!(reader.compress(clevel, &data, &mut through).unwrap(), Some(len), "{clevel}");
            assert!(through == packed, "{clevel}");
        }
    }

    #[test]
    fn it_suits_floats_and_pictures_but_not_runs_nor_text() {
        let floats = floats();
        assert!(suits(5, &floats));
        let picture: Vec<u8> = (0..128 * 128).map(|n: u32| (n % 128 + n / 128 + n * n % 7) as u8).collect();
        assert!(suits(5, &picture));
        // Rows of 4 KiB of which only the first bytes differ: every step of 128 KiB begins with some.
        let mut rows = vec![0; 128 << 10];
        rows.chunks_mut(4096).for_each(|row| row[..256].copy_from_slice(&floats[..256]));
        assert!(!suits(5, &rows));
        assert!(!suits(1, &floats) && !suits(9, &floats));
        let ramp: Vec<u8> = (0..5000_u64).flat_map(u64::to_le_bytes).collect();
        assert!(!suits(5, &ramp));
        assert!(!suits(5, &[0; 20_000]));
        assert!(!suits(5, &b"how much wood would a woodchuck chuck? ".repeat(500)));
        for len in [0, 1, 7, 8, 9, 71, 72, 73, 2303, 2304, 2305] {
            let (same, seen, values) = look(&floats[..len]);
            assert!(same <= seen && seen <= len && values <= 256, "{len}");
            assert_eq!(look(&vec![7; len]), (seen, seen, usize::from(seen > 0)), "{len}");
        }
    }
}
