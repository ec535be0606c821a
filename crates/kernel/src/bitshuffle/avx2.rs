//! Bit shuffle: AVX2.

use super::lanes::{LONG, LONG_SLOT_ITEMS, SLOT_ITEMS, batch, bit_kernels, least, reach, swap_kernels};
use super::scalar;
use crate::arch::{LINE, fetch_lines};
use crate::cpu::Avx2;
use crate::shuffle::lanes::{aligned_steps, finish, gather_lanes, is_long, item_steps, scatter_lanes, steps};

bit_kernels!(avx2, "avx2", split, join, gather_lanes, scatter_lanes, apart [1 2 4 8 12 16], together [1 2 4 8 16]);
swap_kernels!(avx2, "avx2");

/// Shuffles whole groups of eight items.
pub(super) fn shuffle(token: Avx2, width: usize, src: &[u8], dst: &mut [u8]) {
    if src.len() / width < least(width, TILE) {
        return super::sse2::shuffle(token.into(), width, src, dst);
    }
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { shuffle_all(width, src, dst) };
    finish(dst);
}

/// Unshuffles whole groups of eight items.
pub(super) fn unshuffle(token: Avx2, width: usize, src: &[u8], dst: &mut [u8]) {
    if src.len() / width < least(width, TILE) {
        return super::sse2::unshuffle(token.into(), width, src, dst);
    }
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { unshuffle_all(width, src, dst) };
    finish(dst);
}
