//! Bit shuffle in plain Rust, eight items at a time as one 64-bit matrix of bits.
//!
//! Both slices hold the same number of items, a multiple of eight.

/// Groups per tile: this many bytes of a row are written before the next row, which may map to the same cache set.
const TILE: usize = 64;

/// Shuffles whole groups of eight items.
pub(super) fn shuffle(width: usize, src: &[u8], dst: &mut [u8]) {
    shuffle_from(width, 0, src, dst);
}

/// Unshuffles whole groups of eight items.
pub(super) fn unshuffle(width: usize, src: &[u8], dst: &mut [u8]) {
    unshuffle_from(width, 0, src, dst);
}

/// Shuffles the items from `first` on, a multiple of eight.
pub(super) fn shuffle_from(width: usize, first: usize, src: &[u8], dst: &mut [u8]) {
    let groups = src.len() / (8 * width);
    for start in (first / 8..groups).step_by(TILE) {
        for j in 0..width {
            for g in start..groups.min(start + TILE) {
                let group = &src[g * 8 * width..][..8 * width];
                let bytes = std::array::from_fn(|i| group[i * width + j]);
                let planes = transpose(u64::from_le_bytes(bytes)).to_le_bytes();
                for (b, plane) in planes.iter().enumerate() {
                    dst[(8 * j + b) * groups + g] = *plane;
                }
            }
        }
    }
}

/// Unshuffles the items from `first` on, a multiple of eight.
pub(super) fn unshuffle_from(width: usize, first: usize, src: &[u8], dst: &mut [u8]) {
    let groups = src.len() / (8 * width);
    for start in (first / 8..groups).step_by(TILE) {
        for j in 0..width {
            for g in start..groups.min(start + TILE) {
                let group = &mut dst[g * 8 * width..][..8 * width];
                let planes = std::array::from_fn(|b| src[(8 * j + b) * groups + g]);
                let bytes = transpose(u64::from_le_bytes(planes)).to_le_bytes();
                for (i, byte) in bytes.iter().enumerate() {
                    group[i * width + j] = *byte;
                }
            }
        }
    }
}

/// Swaps bit `c` of byte `r` with bit `r` of byte `c`: ever smaller off-diagonal quarters change places.
fn transpose(x: u64) -> u64 {
    let t = (x ^ (x >> 28)) & 0x0000_0000_f0f0_f0f0;
    let x = x ^ t ^ (t << 28);
    let t = (x ^ (x >> 14)) & 0x0000_cccc_0000_cccc;
    let x = x ^ t ^ (t << 14);
    let t = (x ^ (x >> 7)) & 0x00aa_00aa_00aa_00aa;
    x ^ t ^ (t << 7)
}
