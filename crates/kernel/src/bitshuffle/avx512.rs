//! Bit shuffle: AVX-512, with GFNI for the bits.

use super::lanes::{LONG, LONG_SLOT_ITEMS, SLOT_ITEMS, batch, bit_kernels, least, reach};
use super::scalar;
use crate::arch::{LINE, fetch_lines};
use crate::cpu::Avx512;
use crate::shuffle::lanes::{aligned_steps, finish, is_long, item_steps, steps};
use crate::shuffle::pieces::{apart, gather_pieces, scatter_pieces, together};

bit_kernels!(avx512, "avx512f,avx512bw,avx512vl,avx512vbmi,gfni", split, join, gather_pieces, scatter_pieces, apart [1 2 3 4 6 8 12 16 24], together [1 2 3 4 6 8 12 16 24]);

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn split(row: &[u8; TILE]) -> [V; 8] {
    let mut v = [arch::zero(); 8];
    for (v, items) in v.iter_mut().zip(row.as_chunks().0) {
        *v = arch::transpose_bits(arch::load(items));
    }
    apart!(8, v)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn join(v: [V; 8], row: &mut [u8; TILE]) {
    for (v, items) in together!(8, v).into_iter().zip(row.as_chunks_mut().0) {
        arch::store(arch::transpose_bits(v), items);
    }
}

/// Shuffles whole groups of eight items.
pub(super) fn shuffle(token: Avx512, width: usize, src: &[u8], dst: &mut [u8]) {
    if src.len() / width < least(width, TILE) {
        return super::avx2::shuffle(token.into(), width, src, dst);
    }
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { shuffle_all(width, src, dst) };
    finish(dst);
}

/// Unshuffles whole groups of eight items.
pub(super) fn unshuffle(token: Avx512, width: usize, src: &[u8], dst: &mut [u8]) {
    if src.len() / width < least(width, TILE) {
        return super::avx2::unshuffle(token.into(), width, src, dst);
    }
    // SAFETY: the token proves that the machine has these instructions.
    unsafe { unshuffle_all(width, src, dst) };
    finish(dst);
}
