//! Byte shuffle in plain Rust: the path of machines without a kernel of their own, and of the ends of the others.
//!
//! Both slices hold the same whole number of items.

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
