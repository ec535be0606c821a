//! Bit shuffle: AArch64 NEON.

use super::lanes::{LONG, LONG_SLOT_ITEMS, SLOT_ITEMS, batch, bit_kernels, least, reach, swap_kernels};
use super::scalar;
use crate::arch::{LINE, fetch_lines};
use crate::cpu::Neon;
use crate::shuffle::lanes::{aligned_steps, finish, gather_lanes, is_long, item_steps, scatter_lanes, steps};

bit_kernels!(neon, "neon", split, join, gather_lanes, scatter_lanes, apart [1 2 4 8 12 16], together [1 2 4 8 16]);
swap_kernels!(neon, "neon");

/// Shuffles whole groups of eight items.
pub(super) fn shuffle(_: Neon, width: usize, src: &[u8], dst: &mut [u8]) {
    if src.len() / width < least(width, TILE) {
        return scalar::shuffle(width, src, dst);
    }
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { shuffle_all(width, src, dst) };
    finish(dst);
}

/// Unshuffles whole groups of eight items.
pub(super) fn unshuffle(_: Neon, width: usize, src: &[u8], dst: &mut [u8]) {
    if src.len() / width < least(width, TILE) {
        return scalar::unshuffle(width, src, dst);
    }
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { unshuffle_all(width, src, dst) };
    finish(dst);
}
