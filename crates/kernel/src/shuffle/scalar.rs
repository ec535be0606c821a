//! Byte shuffle in plain Rust, for machines without vector code and for the ends of the data elsewhere.
//!
//! Both slices hold the same whole number of items.

use std::ops::Range;

/// Items per step: the transposed pieces are runs of this many bytes.
const STEP: usize = 16;

/// Shuffles whole items.
pub(super) fn shuffle(width: usize, src: &[u8], dst: &mut [u8]) {
    match width {
        2 => shuffle_fixed::<2>(src, dst),
        4 => shuffle_fixed::<4>(src, dst),
        8 => shuffle_fixed::<8>(src, dst),
        16 => shuffle_fixed::<16>(src, dst),
        _ => shuffle_from(width, 0, src, dst),
    }
}

/// Unshuffles whole items.
pub(super) fn unshuffle(width: usize, src: &[u8], dst: &mut [u8]) {
    match width {
        2 => unshuffle_fixed::<2>(src, dst),
        4 => unshuffle_fixed::<4>(src, dst),
        8 => unshuffle_fixed::<8>(src, dst),
        16 => unshuffle_fixed::<16>(src, dst),
        _ => unshuffle_from(width, 0, src, dst),
    }
}

/// Unshuffles only some of the items, one after another.
pub(super) fn take(width: usize, src: &[u8], dst: &mut [u8], wanted: &[Range<u32>]) {
    let rows = src.len() / width;
    match width {
        2 => take_few::<2>(src, dst, wanted),
        4 => take_few::<4>(src, dst, wanted),
        8 => take_few::<8>(src, dst, wanted),
        16 => take_few::<16>(src, dst, wanted),
        _ => {
            for (i, item) in places(wanted).zip(dst.chunks_exact_mut(width)) {
                for (byte, row) in item.iter_mut().zip(src.chunks_exact(rows)) {
                    *byte = row[i];
                }
            }
        }
    }
}

/// Unshuffles only some of the items, byte by byte. A separate function, so that the row addresses stay in registers.
#[inline(never)]
pub(super) fn take_few<const W: usize>(src: &[u8], dst: &mut [u8], wanted: &[Range<u32>]) {
    let items = src.len() / W;
    let rows: [&[u8]; W] = std::array::from_fn(|j| &src[j * items..][..items]);
    let mut runs = wanted.iter();
    let (mut i, mut end) = (0, 0);
    for item in dst.as_chunks_mut().0 {
        while i == end {
            let Some(run) = runs.next() else { return };
            (i, end) = (run.start as usize, run.end as usize);
        }
        *item = std::array::from_fn::<u8, W, _>(|j| rows[j][i]);
        i += 1;
    }
}

/// The numbers of the items of all runs.
fn places(wanted: &[Range<u32>]) -> impl Iterator<Item = usize> {
    wanted.iter().flat_map(|run| run.start as usize..run.end as usize)
}

/// Shuffles the items from `first` on, in tiles that keep the source in the nearest cache.
pub(super) fn shuffle_from(width: usize, first: usize, src: &[u8], dst: &mut [u8]) {
    let items = src.len() / width;
    let mut start = first;
    while start < items {
        let end = items.min(start + tile(width));
        let tile = &src[start * width..end * width];
        for (j, row) in dst.chunks_exact_mut(items).enumerate() {
            for (out, item) in row[start..end].iter_mut().zip(tile.chunks_exact(width)) {
                *out = item[j];
            }
        }
        start = end;
    }
}

/// Unshuffles the items from `first` on.
pub(super) fn unshuffle_from(width: usize, first: usize, src: &[u8], dst: &mut [u8]) {
    let items = src.len() / width;
    let mut start = first;
    while start < items {
        let end = items.min(start + tile(width));
        let tile = &mut dst[start * width..end * width];
        for (j, row) in src.chunks_exact(items).enumerate() {
            for (byte, item) in row[start..end].iter().zip(tile.chunks_exact_mut(width)) {
                item[j] = *byte;
            }
        }
        start = end;
    }
}

/// Items per tile: about 8 KiB of them, at least a cache line of each row.
fn tile(width: usize) -> usize {
    (8192 / width).max(64)
}

fn shuffle_fixed<const W: usize>(src: &[u8], dst: &mut [u8]) {
    let items = src.len() / W;
    let mut rows = dst.chunks_exact_mut(items);
    let mut rows: [&mut [u8]; W] = std::array::from_fn(|_| rows.next().unwrap_or_default());
    for (g, group) in src.chunks_exact(STEP * W).enumerate() {
        for (j, row) in rows.iter_mut().enumerate() {
            let out = &mut row[g * STEP..][..STEP];
            for (i, byte) in out.iter_mut().enumerate() {
                *byte = group[i * W + j];
            }
        }
    }
    shuffle_from(W, items - items % STEP, src, dst);
}

fn unshuffle_fixed<const W: usize>(src: &[u8], dst: &mut [u8]) {
    let items = src.len() / W;
    let mut rows = src.chunks_exact(items);
    let rows: [&[u8]; W] = std::array::from_fn(|_| rows.next().unwrap_or_default());
    for (g, group) in dst.chunks_exact_mut(STEP * W).enumerate() {
        for (j, row) in rows.iter().enumerate() {
            for (i, byte) in row[g * STEP..][..STEP].iter().enumerate() {
                group[i * W + j] = *byte;
            }
        }
    }
    unshuffle_from(W, items - items % STEP, src, dst);
}
