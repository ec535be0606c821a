//! Byte shuffle with vectors of 16-byte lanes, written once for every instruction set.
//!
//! A step takes as many items as a vector has bytes; lane `l` of each vector works on its own 16 of them. Number the
//! bytes of a lane's vectors by (vector, place): interleaving the vectors of the first half with those of the second
//! (`turn`) rotates the bits of that number to the left by one. Four turns therefore make the 16 items the place and
//! the bytes of an item the vector, which is the shuffle; log2(width) turns make the way back.

use crate::arch::{LINE, fence};

/// The kernels of one instruction set: `$arch` names its file in `crate::arch`, `$lane` its lanes, `$gather` and `$scatter` the
/// macros that take items apart and put them together.
macro_rules! lane_kernels {
    ($arch:ident, $features:literal, $gather:ident, $scatter:ident, [$($lane:literal)*], apart [$($apart:literal)*], together [$($together:literal)*]) => {
        use crate::arch::{LINE, Parts, PartsMut, fetch_lines, part, part_mut, $arch as arch};
        use arch::{BYTES, V};

        /// Items per step.
        pub(crate) const ITEMS: usize = BYTES;

        /// Rotates the number of every byte to the left by one bit.
        #[inline]
        #[target_feature(enable = $features)]
        pub(crate) fn turn<const N: usize>(v: [V; N]) -> [V; N] {
            let mut turned = v;
            for h in 0..N / 2 {
                turned[2 * h] = arch::low(v[h], v[h + N / 2]);
                turned[2 * h + 1] = arch::high(v[h], v[h + N / 2]);
            }
            turned
        }

        /// Takes 16 bytes of each of [`ITEMS`] items of `width` bytes apart, the first at `at`.
        #[inline]
        #[target_feature(enable = $features)]
        pub(crate) fn gather_tile(width: usize, src: &[u8], at: usize) -> [V; 16] {
            let items = Parts::<ITEMS, 16>::new(src, at, width);
            let mut v = [arch::zero(); 16];
            for (r, v) in v.iter_mut().enumerate() {
                *v = arch::join_lanes([$(items.get(16 * $lane + r)),*]);
            }
            turn(turn(turn(turn(v))))
        }

        /// The inverse of [`gather_tile`], item after item. A store may pass the end of its item; the next item
        /// overwrites that.
        #[inline]
        #[target_feature(enable = $features)]
        pub(crate) fn scatter_tile(v: [V; 16], width: usize, dst: &mut [u8], at: usize) {
            let v = turn(turn(turn(turn(v))));
            let mut items = PartsMut::<ITEMS, 16>::new(dst, at, width);
            $(for (r, v) in v.into_iter().enumerate() {
                arch::store_lane::<$lane>(v, items.get(16 * $lane + r));
            })*
        }

        #[target_feature(enable = $features)]
        fn shuffle_even<const W: usize>(src: &[u8], dst: &mut [u8]) {
            let items = src.len() / W;
            let long = is_long(dst);
            for i in aligned_steps(1, dst, items, ITEMS) {
                let v = $gather!(W, &src[i * W..][..ITEMS * W]);
                let mut rows = PartsMut::<W, BYTES>::new(dst, i, items);
                if long {
                    fetch_lines(src, i * W + AHEAD, ITEMS * W / LINE);
                    for (j, v) in v.into_iter().enumerate() {
                        arch::put(v, rows.get(j), true);
                    }
                } else {
                    for (j, v) in v.into_iter().enumerate() {
                        arch::store(v, rows.get(j));
                    }
                }
            }
        }

        #[target_feature(enable = $features)]
        fn unshuffle_even<const W: usize>(src: &[u8], dst: &mut [u8]) {
            let items = src.len() / W;
            let long = is_long(dst);
            // Stores that straddle cache lines cost more than such loads, except with many rows of partial lines: see
            // `aligned_steps`.
            let starts = if long || W <= 8 || BYTES == LINE { item_steps(1, W, dst, items, ITEMS) } else { aligned_steps(1, src, items, ITEMS) };
            for i in starts {
                let rows = Parts::<W, BYTES>::new(src, i, items);
                let mut v = [arch::zero(); W];
                for (j, v) in v.iter_mut().enumerate() {
                    *v = arch::load(rows.get(j));
                }
                $scatter!(W, v, &mut dst[i * W..][..ITEMS * W], long);
            }
        }

        /// Unshuffles the items of long runs, run after run. Items of a step past its run may belong to the next run.
        #[target_feature(enable = $features)]
        fn take_long<const W: usize>(src: &[u8], dst: &mut [u8], wanted: &[Range<u32>]) {
            let items = src.len() / W;
            let (mut held, mut aside) = (0..0, [[0; BYTES]; W]);
            let mut at = 0;
            for run in wanted {
                let (mut i, end) = (run.start as usize, run.end as usize);
                while i < end {
                    let n = ITEMS.min(end - i);
                    if n == ITEMS || i < held.start || i + n > held.end {
                        let first = i.min(items - ITEMS);
                        let rows = Parts::<W, BYTES>::new(src, first, items);
                        let mut v = [arch::zero(); W];
                        for (j, v) in v.iter_mut().enumerate() {
                            *v = arch::load(rows.get(j));
                        }
                        if n == ITEMS {
                            $scatter!(W, v, &mut dst[at..][..ITEMS * W], false);
                        } else {
                            $scatter!(W, v, aside.as_flattened_mut(), false);
                            held = first..first + ITEMS;
                        }
                    }
                    if n < ITEMS {
                        let from = &aside.as_flattened()[(i - held.start) * W..];
                        copy_vectors::<BYTES>(from, &mut dst[at..], n * W);
                    }
                    i += n;
                    at += n * W;
                }
            }
        }

        #[target_feature(enable = $features)]
        fn take_even<const W: usize>(src: &[u8], dst: &mut [u8], wanted: &[Range<u32>]) {
            let mut dst = dst;
            for runs in wanted.chunk_by(|a, b| (a.len() > FEW) == (b.len() > FEW)) {
                let (part, rest) = dst.split_at_mut(runs.iter().map(|run| run.len() * W).sum());
                dst = rest;
                if runs[0].len() > FEW {
                    take_long::<W>(src, part, runs);
                } else {
                    scalar::take_few::<W>(src, part, runs);
                }
            }
        }

        #[target_feature(enable = $features)]
        fn shuffle_tiles(width: usize, src: &[u8], dst: &mut [u8]) {
            let items = src.len() / width;
            let reach = items - spill(width);
            for i in aligned_steps(1, dst, reach, ITEMS) {
                for c in steps(width.max(16), 16) {
                    let v = gather_tile(width, src, i * width + c);
                    if width < 16 {
                        for (j, v) in v.into_iter().enumerate().take(width) {
                            arch::store(v, part_mut(dst, j * items + i));
                        }
                    } else {
                        let mut rows = PartsMut::<16, BYTES>::new(dst, c * items + i, items);
                        for (j, v) in v.into_iter().enumerate() {
                            arch::store(v, rows.get(j));
                        }
                    }
                }
            }
            scalar::shuffle_from(width, reach, src, dst);
        }

        #[target_feature(enable = $features)]
        fn unshuffle_tiles(width: usize, src: &[u8], dst: &mut [u8]) {
            let items = src.len() / width;
            let reach = items - spill(width);
            for i in aligned_steps(1, src, reach, ITEMS) {
                for c in steps(width.max(16), 16) {
                    let mut v = [arch::zero(); 16];
                    if width < 16 {
                        for (j, v) in v.iter_mut().enumerate().take(width) {
                            *v = arch::load(part(src, j * items + i));
                        }
                    } else {
                        let rows = Parts::<16, BYTES>::new(src, c * items + i, items);
                        for (j, v) in v.iter_mut().enumerate() {
                            *v = arch::load(rows.get(j));
                        }
                    }
                    scatter_tile(v, width, dst, i * width + c);
                }
            }
            scalar::unshuffle_from(width, reach, src, dst);
        }

        #[target_feature(enable = $features)]
        fn shuffle_all(width: usize, src: &[u8], dst: &mut [u8]) {
            match width {
                $($apart => shuffle_even::<$apart>(src, dst),)*
                _ => shuffle_tiles(width, src, dst),
            }
        }

        #[target_feature(enable = $features)]
        fn unshuffle_all(width: usize, src: &[u8], dst: &mut [u8]) {
            match width {
                $($together => unshuffle_even::<$together>(src, dst),)*
                _ => unshuffle_tiles(width, src, dst),
            }
        }

        #[target_feature(enable = $features)]
        fn take_all(width: usize, src: &[u8], dst: &mut [u8], wanted: &[Range<u32>]) {
            match width {
                $($together => take_even::<$together>(src, dst, wanted),)*
                _ => scalar::take(width, src, dst, wanted),
            }
        }

        /// Whether `take` has vector code for this width.
        pub(super) fn takes(width: usize) -> bool {
            matches!(width, $($together)|*)
        }
    };
}

/// Copies the first `len` bytes by whole vectors where there is room. Bytes past `len` are overwritten later.
#[inline(always)]
pub(super) fn copy_vectors<const N: usize>(src: &[u8], dst: &mut [u8], len: usize) {
    let padded = len.next_multiple_of(N);
    if let (Some(src), Some(dst)) = (src.get(..padded), dst.get_mut(..padded)) {
        for (from, to) in src.as_chunks::<N>().0.iter().zip(dst.as_chunks_mut().0) {
            *to = *from;
        }
    } else {
        dst[..len].copy_from_slice(&src[..len]);
    }
}

/// Number of items at the end that a 16-byte access to narrow items must not start in.
pub(crate) const fn spill(width: usize) -> usize {
    if width < 16 { (16 - width).div_ceil(width) } else { 0 }
}

/// The fewest items that a kernel with steps of `step` items can work on.
pub(super) const fn least(width: usize, step: usize) -> usize {
    step + spill(width)
}

/// The starts of steps of `step` that cover `0..end`: the last one is moved back to end there and does some work again.
///
/// None when `end` is less than a step.
#[inline(always)]
pub(crate) fn steps(end: usize, step: usize) -> Steps {
    let last = end.checked_sub(step);
    Steps { next: last.map(|_| 0), after: step, last: last.unwrap_or(0), step }
}

/// Like [`steps`], for steps over rows of a byte for `each` items, whose first is at the start of `rows`: the second
/// step is moved back so that from there on vectors do not straddle cache lines (where all rows allow it).
///
/// Rows that lie a power of two apart map to the same few cache sets: there a line has to be finished in one go.
/// With few steps, one more step costs more than alignment saves.
#[inline(always)]
pub(crate) fn aligned_steps(each: usize, rows: &[u8], end: usize, step: usize) -> Steps {
    let head = rows.as_ptr().addr().wrapping_neg() % (step / each) * each;
    let after = if head == 0 || end / step < 32 { step } else { head };
    Steps { after, ..steps(end, step) }
}

/// Like [`steps`], over items of `width` bytes whose first is at the start of `bytes`: the second step is moved back so that
/// from there on vectors of items do not straddle cache lines, where that is possible. Starts are multiples of `each`.
pub(crate) fn item_steps(each: usize, width: usize, bytes: &[u8], end: usize, step: usize) -> Steps {
    let start = bytes.as_ptr().addr();
    // The alignment that steps of this length and width can keep.
    let line = LINE.min(1 << (step * width).trailing_zeros());
    let can = start.is_multiple_of(line.min(1 << (each * width).trailing_zeros()));
    let aligned = |i: &usize| start.wrapping_add(i * width).is_multiple_of(line);
    let mut heads = (1..=step / each).rev().map(|n| n * each);
    // With few steps, one more step costs more than alignment saves.
    let after = if can && end / step >= 16 { heads.find(aligned).unwrap_or(step) } else { step };
    Steps { after, ..steps(end, step) }
}

/// Whether a result is so long that its start has left the caches when its end is written. Then aligned vectors bypass
/// the caches, which avoids reading lines before overwriting them. The caller must call [`finish`] afterwards.
pub(crate) fn is_long(dst: &[u8]) -> bool {
    dst.len() >= 32 << 20
}

/// Prefetch distance of a long shuffle: the hardware prefetcher does not cross pages.
pub(crate) const AHEAD: usize = 4096;

/// Completes a result: orders stores that bypassed the caches.
pub(crate) fn finish(dst: &[u8]) {
    if is_long(dst) {
        fence();
    }
}

/// See [`steps`].
pub(crate) struct Steps {
    next: Option<usize>,
    after: usize,
    last: usize,
    step: usize,
}

impl Iterator for Steps {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let start = self.next?;
        self.next = (start < self.last).then(|| self.after.min(self.last));
        self.after += self.step;
        Some(start)
    }
}

/// Takes `$width` times 16 bytes in each lane apart: vector `j` is byte `j` of each item. `$width` is even or 1. For machines
/// without permutes of the bytes of a vector, and a macro like [`gather_pieces`](super::pieces), for the same reason.
macro_rules! gather_lanes {
    ($width:tt, $items:expr) => {{
        let (items, mut v) = ($items, [arch::zero(); $width]);
        for (r, v) in v.iter_mut().enumerate() {
            *v = arch::load_lanes(items, 16 * r, 16 * $width);
        }
        turn(turn(turn(turn(v))))
    }};
}

/// The inverse of [`gather_lanes`]. `$width` is a power of two. Lanes are too short to go past the caches.
macro_rules! scatter_lanes {
    ($width:tt, $v:expr, $items:expr, $long:expr) => {{
        let (mut v, items, _) = ($v, $items, $long);
        for _ in 0..usize::ilog2($width) {
            v = turn(v);
        }
        for (r, v) in v.into_iter().enumerate() {
            arch::store_lanes(v, items, 16 * r, 16 * $width);
        }
    }};
}

pub(super) use lane_kernels;
pub(crate) use {gather_lanes, scatter_lanes};
