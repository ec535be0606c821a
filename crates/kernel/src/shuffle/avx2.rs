//! Byte shuffle: AVX2, two lanes.

use super::lanes::{
    AHEAD, aligned_steps, copy_vectors, finish, gather_lanes, is_long, item_steps, lane_kernels, least,
    scatter_lanes, spill, steps,
};
use super::{FEW, scalar};
use crate::cpu::Avx2;
use std::ops::Range;

lane_kernels!(avx2, "avx2", gather_lanes, scatter_lanes, [0 1], apart [2 4 8 12 16], together [2 4 8 16]);

/// Shuffles whole items.
pub(super) fn shuffle(token: Avx2, width: usize, src: &[u8], dst: &mut [u8]) {
    if src.len() / width < least(width, ITEMS) {
        return super::sse2::shuffle(token.into(), width, src, dst);
    }
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { shuffle_all(width, src, dst) };
    finish(dst);
}

/// Unshuffles whole items.
pub(super) fn unshuffle(token: Avx2, width: usize, src: &[u8], dst: &mut [u8]) {
    if src.len() / width < least(width, ITEMS) {
        return super::sse2::unshuffle(token.into(), width, src, dst);
    }
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { unshuffle_all(width, src, dst) };
    finish(dst);
}

/// Unshuffles only some of the items.
pub(super) fn take(token: Avx2, width: usize, src: &[u8], dst: &mut [u8], wanted: &[Range<u32>]) {
    if src.len() / width < least(width, ITEMS) {
        return super::sse2::take(token.into(), width, src, dst, wanted);
    }
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { take_all(width, src, dst, wanted) };
}
