//! How often each byte occurs, and logarithms of such counts.

/// How often each byte occurs in `bytes`, of which there are 128 KiB at most.
#[inline(always)]
pub(super) fn tally(bytes: &[u8]) -> [u32; 256] {
    // Four counts of each, so that equal bytes in a row need not wait for each other.
    let mut counts = [[0_u16; 256]; 4];
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word);
        for n in 0..8 {
            counts[n & 3][(word >> (8 * n) & 0xff) as usize] += 1;
        }
    }
    for byte in rest {
        counts[0][usize::from(*byte)] += 1;
    }
    let [a, b, c, d] = &counts;
    let mut sums = [0; 256];
    for n in 0..256 {
        sums[n] = u32::from(a[n]) + u32::from(b[n]) + u32::from(c[n]) + u32::from(d[n]);
    }
    sums
}

/// The parts of a bit in which logarithms are counted.
pub(super) const PARTS: i32 = 32;

/// The binary logarithm of a number from 1 to 2^24, in parts of a bit; of 0 any number. Without a table, so that many can be had at
/// once: the exponent of a float is the whole part, and a parabola gives the rest.
#[inline(always)]
pub(super) fn log2(n: u32) -> i32 {
    let bits = (n as f32).to_bits() as i32;
    let (whole, place) = ((bits >> 23) - 127, bits >> 15 & 0xff);
    let rest = place + ((place * (256 - place) * 88) >> 16);
    (whole * 256 + rest + 4) >> 3
}

/// The binary logarithm for a table of at most 2^`most` states that stands for `total` symbols, the last of which is `last`.
pub(super) fn table_log(most: u32, total: usize, last: usize, spare: u32) -> u32 {
    let least = (total.max(1).ilog2() + 1).min(last.max(1).ilog2() + 2);
    let log = (total.saturating_sub(1).max(1).ilog2()).saturating_sub(spare);
    log.min(most).max(least.min(most)).max(5)
}

#[cfg(test)]
mod tests {
    use super::{PARTS, log2, tally};

    #[test]
    fn logarithms_are_close() {
        for n in (1..5000).chain([65_535, 131_071, 1 << 17]) {
            let exact = f64::from(n).log2() * f64::from(PARTS);
            assert!((f64::from(log2(n)) - exact).abs() < 1.0, "{n}: {} {exact}", log2(n));
        }
    }

    #[test]
    fn every_byte_is_counted_once() {
        let bytes: Vec<u8> = (0..1003_u32).map(|n| (n * n / 8) as u8).collect();
        let counts = tally(&bytes);
        let count = |byte: u8| bytes.iter().filter(|other| **other == byte).count();
        assert!((0..=255).all(|byte| counts[usize::from(byte)] as usize == count(byte)));
    }
}
