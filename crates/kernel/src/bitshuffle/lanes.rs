//! Bit shuffle with vectors, written once for every instruction set: byte shuffle, then bits within groups of eight.
//!
//! A tile is eight steps of the byte shuffle, whose rows (byte `j` of each item of the tile) stay in the nearest cache
//! for a moment. A row is eight vectors; taken apart as items of eight bytes they are, in vector `t`, the items `t`,
//! `t + 8`, … of the tile. Swapping bits between those vectors makes vector `b` the bits `b`, which is a row of the result.

use crate::shuffle::lanes::spill;

/// The kernels of one instruction set, next to its byte shuffle `$arch` in `crate::shuffle`.
///
/// `$split` turns the eight vectors of a row into the eight of bits, `$join` is its inverse.
macro_rules! bit_kernels {
    ($arch:ident, $features:literal, $split:ident, $join:ident, $gather:ident, $scatter:ident, apart [$($apart:literal)*], together [$($together:literal)*]) => {
        use crate::arch::{Parts, PartsMut, part, part_mut, $arch as arch};
        use crate::shuffle::$arch::{ITEMS, gather_tile, scatter_tile};
        use arch::{BYTES, V};

        /// Items per tile.
        const TILE: usize = 8 * ITEMS;

        /// Number of tiles processed together, for short and for long data.
        const SLOTS: usize = SLOT_ITEMS / TILE;
        const MANY_SLOTS: usize = LONG_SLOT_ITEMS / TILE;

        /// Splits row `j` of the tile at item `i` into its bits.
        #[inline]
        #[target_feature(enable = $features)]
        fn write_bits(row: &[u8; TILE], dst: &mut [u8], at: usize, step: usize, long: bool) {
            let mut bits = PartsMut::<8, BYTES>::new(dst, at, step);
            for (b, v) in $split(row).into_iter().enumerate() {
                arch::put(v, bits.get(b), long);
            }
        }

        /// Joins row `j` of the tile at item `i` from its bits.
        #[inline]
        #[target_feature(enable = $features)]
        fn read_bits(row: &mut [u8; TILE], src: &[u8], at: usize, step: usize) {
            let bits = Parts::<8, BYTES>::new(src, at, step);
            let mut v = [arch::zero(); 8];
            for (b, v) in v.iter_mut().enumerate() {
                *v = arch::load(bits.get(b));
            }
            $join(v, row);
        }

        #[target_feature(enable = $features)]
        fn shuffle_even<const W: usize, const S: usize>(src: &[u8], dst: &mut [u8], rows: &mut [[[u8; TILE]; S]]) {
            let items = src.len() / W;
            let long = is_long(dst);
            let mut starts = aligned_steps(8, dst, items, TILE);
            while let Some(batch) = batch::<S>(&mut starts) {
                for (t, i) in batch.iter().enumerate() {
                    for (s, items) in src[i * W..][..TILE * W].chunks_exact(ITEMS * W).enumerate() {
                        for (v, row) in $gather!(W, items).into_iter().zip(&mut *rows) {
                            arch::store(v, part_mut(&mut row[t], s * ITEMS));
                        }
                    }
                }
                for (j, row) in rows.iter().enumerate() {
                    for (t, (i, row)) in batch.iter().zip(row).enumerate() {
                        if long {
                            // Prefetches the items of the next tiles while the rows of these are written.
                            fetch_lines(src, batch.end(TILE) * W + (j * S + t) * TILE, TILE / LINE);
                        }
                        write_bits(row, dst, j * items + i / 8, items / 8, long);
                    }
                }
            }
        }

        #[target_feature(enable = $features)]
        fn unshuffle_even<const W: usize, const S: usize>(src: &[u8], dst: &mut [u8], rows: &mut [[[u8; TILE]; S]]) {
            let items = src.len() / W;
            let long = is_long(dst);
            let mut starts = if long { item_steps(8, W, dst, items, TILE) } else { aligned_steps(8, src, items, TILE) };
            while let Some(batch) = batch::<S>(&mut starts) {
                for (j, row) in rows.iter_mut().enumerate() {
                    for (i, row) in batch.iter().zip(row) {
                        if long {
                            // The next rows: too far apart for the hardware prefetcher, and mapped to the same few
                            // sets of the caches, so that only these rows fit.
                            let (row, i) = if j + 1 < W { (j + 1, *i) } else { (0, i + S * TILE) };
                            for b in 0..8 {
                                fetch_lines(src, row * items + (b * items + i) / 8, (TILE / 8).div_ceil(LINE));
                            }
                        }
                        read_bits(row, src, j * items + i / 8, items / 8);
                    }
                }
                for (t, i) in batch.iter().enumerate() {
                    for (s, items) in dst[i * W..][..TILE * W].chunks_exact_mut(ITEMS * W).enumerate() {
                        let mut v = [arch::zero(); W];
                        for (v, row) in v.iter_mut().zip(&*rows) {
                            *v = arch::load(part(&row[t], s * ITEMS));
                        }
                        $scatter!(W, v, items, long);
                    }
                }
            }
        }

        #[target_feature(enable = $features)]
        fn shuffle_tiles<const S: usize>(width: usize, src: &[u8], dst: &mut [u8], rows: &mut [[[u8; TILE]; S]]) {
            let items = src.len() / width;
            let reach = reach(width, items);
            let mut starts = aligned_steps(8, dst, reach, TILE);
            while let Some(batch) = batch::<S>(&mut starts) {
                for c in steps(width.max(16), 16) {
                    for (t, i) in batch.iter().enumerate() {
                        for s in 0..8 {
                            let v = gather_tile(width, src, (i + s * ITEMS) * width + c);
                            for (v, row) in v.into_iter().zip(&mut *rows) {
                                arch::store(v, part_mut(&mut row[t], s * ITEMS));
                            }
                        }
                    }
                    for (j, row) in rows.iter().enumerate().take(width) {
                        for (i, row) in batch.iter().zip(row) {
                            write_bits(row, dst, (c + j) * items + i / 8, items / 8, false);
                        }
                    }
                }
            }
            scalar::shuffle_from(width, reach, src, dst);
        }

        #[target_feature(enable = $features)]
        fn unshuffle_tiles<const S: usize>(width: usize, src: &[u8], dst: &mut [u8], rows: &mut [[[u8; TILE]; S]]) {
            let items = src.len() / width;
            let reach = reach(width, items);
            let mut starts = aligned_steps(8, src, reach, TILE);
            while let Some(batch) = batch::<S>(&mut starts) {
                for c in steps(width.max(16), 16) {
                    for (j, row) in rows.iter_mut().enumerate().take(width) {
                        for (i, row) in batch.iter().zip(row) {
                            read_bits(row, src, (c + j) * items + i / 8, items / 8);
                        }
                    }
                    for (t, i) in batch.iter().enumerate() {
                        for s in 0..8 {
                            let mut v = [arch::zero(); 16];
                            for (v, row) in v.iter_mut().zip(&*rows) {
                                *v = arch::load(part(&row[t], s * ITEMS));
                            }
                            scatter_tile(v, width, dst, (i + s * ITEMS) * width + c);
                        }
                    }
                }
            }
            scalar::unshuffle_from(width, reach, src, dst);
        }

        #[target_feature(enable = $features)]
        fn shuffle_all(width: usize, src: &[u8], dst: &mut [u8]) {
            let is_long = src.len() >= LONG;
            match width {
                $($apart if is_long => shuffle_even::<$apart, MANY_SLOTS>(src, dst, &mut vec![[[0; TILE]; MANY_SLOTS]; $apart]),
                $apart => shuffle_even::<$apart, SLOTS>(src, dst, &mut [[[0; TILE]; SLOTS]; $apart]),)*
                _ if is_long => shuffle_tiles(width, src, dst, &mut vec![[[0; TILE]; MANY_SLOTS]; 16]),
                _ => shuffle_tiles(width, src, dst, &mut [[[0; TILE]; SLOTS]; 16]),
            }
        }

        #[target_feature(enable = $features)]
        fn unshuffle_all(width: usize, src: &[u8], dst: &mut [u8]) {
            let is_long = src.len() >= LONG;
            match width {
                $($together if is_long => unshuffle_even::<$together, MANY_SLOTS>(src, dst, &mut vec![[[0; TILE]; MANY_SLOTS]; $together]),
                $together => unshuffle_even::<$together, SLOTS>(src, dst, &mut [[[0; TILE]; SLOTS]; $together]),)*
                _ if is_long => unshuffle_tiles(width, src, dst, &mut vec![[[0; TILE]; MANY_SLOTS]; 16]),
                _ => unshuffle_tiles(width, src, dst, &mut [[[0; TILE]; SLOTS]; 16]),
            }
        }
    };
}

/// Transposes bits between eight vectors, for machines without an instruction for it.
macro_rules! swap_kernels {
    ($arch:ident, $features:literal) => {
        use crate::shuffle::$arch::turn;

        #[inline]
        #[target_feature(enable = $features)]
        fn split(row: &[u8; TILE]) -> [V; 8] {
            transpose(gather_lanes!(8, row))
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn join(v: [V; 8], row: &mut [u8; TILE]) {
            scatter_lanes!(8, transpose(v), row, false);
        }

        /// Swaps bit `b` of vector `t` with bit `t` of vector `b`: ever smaller off-diagonal quarters change places.
        #[inline]
        #[target_feature(enable = $features)]
        fn transpose(mut v: [V; 8]) -> [V; 8] {
            for i in 0..4 {
                (v[i], v[i + 4]) = arch::swap_bits::<4>(0x0f, v[i], v[i + 4]);
            }
            for i in [0, 1, 4, 5] {
                (v[i], v[i + 2]) = arch::swap_bits::<2>(0x33, v[i], v[i + 2]);
            }
            for i in [0, 2, 4, 6] {
                (v[i], v[i + 1]) = arch::swap_bits::<1>(0x55, v[i], v[i + 1]);
            }
            v
        }
    };
}

/// Number of items of the tiles that are processed together.
///
/// Rows of bits may map to the same few cache sets; with this many items, two lines of a row are filled before the
/// next row.
pub(super) const SLOT_ITEMS: usize = 1024;

/// The same for long data, where each row is in another page: eight lines.
pub(super) const LONG_SLOT_ITEMS: usize = 4096;

/// Least length of long data, in bytes: below it, more memory for rows costs more than it saves.
pub(super) const LONG: usize = 256 << 10;

/// The starts of the next tiles, as many as there are slots.
#[inline(always)]
pub(super) fn batch<const N: usize>(starts: &mut impl Iterator<Item = usize>) -> Option<Batch<N>> {
    let mut batch = Batch { starts: [0; N], used: 0 };
    for (slot, start) in batch.starts.iter_mut().zip(starts) {
        *slot = start;
        batch.used += 1;
    }
    (batch.used > 0).then_some(batch)
}

/// The starts of a few tiles.
pub(super) struct Batch<const N: usize> {
    starts: [usize; N],
    used: usize,
}

impl<const N: usize> Batch<N> {
    /// Where the items behind the last tile start.
    pub(super) fn end(&self, tile: usize) -> usize {
        self.starts[self.used - 1] + tile
    }
    pub(super) fn iter(&self) -> std::slice::Iter<'_, usize> {
        self.starts[..self.used].iter()
    }
}

/// Number of items that tiles cover: all, or all but the last groups of eight, where 16-byte accesses would reach
/// past the end.
pub(super) fn reach(width: usize, items: usize) -> usize {
    items - spill(width).next_multiple_of(8)
}

/// The fewest items that a kernel with tiles of `tile` items can work on.
pub(super) fn least(width: usize, tile: usize) -> usize {
    tile + if width.is_power_of_two() { 0 } else { spill(width).next_multiple_of(8) }
}

pub(super) use {bit_kernels, swap_kernels};
