//! Byte shuffle: SSE2, one lane.

use super::lanes::{
    AHEAD, aligned_steps, copy_vectors, finish, gather_lanes, is_long, item_steps, lane_kernels, least,
    scatter_lanes, spill, steps,
};
use super::{FEW, scalar};
use crate::cpu::Sse2;
use std::ops::Range;

lane_kernels!(sse2, "sse2", gather_lanes, scatter_lanes, [0], apart [2 4 8 12 16], together [2 4 8 16]);

/// Shuffles whole items.
pub(super) fn shuffle(_: Sse2, width: usize, src: &[u8], dst: &mut [u8]) {
    if src.len() / width < least(width, ITEMS) {
        return scalar::shuffle(width, src, dst);
    }
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { shuffle_all(width, src, dst) };
    finish(dst);
}

/// Unshuffles whole items.
pub(super) fn unshuffle(_: Sse2, width: usize, src: &[u8], dst: &mut [u8]) {
    if src.len() / width < least(width, ITEMS) {
        return scalar::unshuffle(width, src, dst);
    }
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { unshuffle_all(width, src, dst) };
    finish(dst);
}

/// Unshuffles only some of the items.
pub(super) fn take(_: Sse2, width: usize, src: &[u8], dst: &mut [u8], wanted: &[Range<u32>]) {
    if src.len() / width < least(width, ITEMS) {
        return scalar::take(width, src, dst, wanted);
    }
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { take_all(width, src, dst, wanted) };
}
