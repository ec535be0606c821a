//! Byte shuffle: AVX-512, four lanes.

use super::lanes::{
    AHEAD, aligned_steps, copy_vectors, finish, is_long, item_steps, lane_kernels, least, spill, steps,
};
use super::pieces::{gather_pieces, scatter_pieces};
use super::{FEW, scalar};
use crate::cpu::Avx512;
use std::ops::Range;

lane_kernels!(avx512, "avx512f,avx512bw,avx512vl,avx512vbmi,gfni", gather_pieces, scatter_pieces, [0 1 2 3], apart [2 3 4 6 8 12 16 24], together [2 3 4 6 8 12 16 24]);

/// Shuffles whole items.
pub(super) fn shuffle(token: Avx512, width: usize, src: &[u8], dst: &mut [u8]) {
    if src.len() / width < least(width, ITEMS) {
        return super::avx2::shuffle(token.into(), width, src, dst);
    }
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { shuffle_all(width, src, dst) };
    finish(dst);
}

/// Unshuffles whole items.
pub(super) fn unshuffle(token: Avx512, width: usize, src: &[u8], dst: &mut [u8]) {
    if src.len() / width < least(width, ITEMS) {
        return super::avx2::unshuffle(token.into(), width, src, dst);
    }
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { unshuffle_all(width, src, dst) };
    finish(dst);
}

/// Unshuffles only some of the items.
pub(super) fn take(token: Avx512, width: usize, src: &[u8], dst: &mut [u8], wanted: &[Range<u32>]) {
    if src.len() / width < least(width, ITEMS) {
        return super::avx2::take(token.into(), width, src, dst, wanted);
    }
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { take_all(width, src, dst, wanted) };
}
