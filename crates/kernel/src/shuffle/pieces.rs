//! Taking items apart with byte permutes of whole vectors (AVX-512 VBMI), for widths of `M` times a power of two, `M` 1 or 3.
//!
//! `M` vectors hold whole items. One permute of their bytes brings byte `j` of each together: *pieces* of `64 * M / W`
//! bytes, one for each `j`. What is left is a transpose of pieces between the `G = W / M` groups of vectors, by diagonals:
//! the pieces of vector `g` are turned by `g` (by the same permute), column `c` is turned by `c` across the vectors, and
//! each vector once more. A column is turned by blends of two vectors, one for each bit of its number: more execution units
//! can blend than can permute bytes across a vector. All loads and stores are of whole vectors, in place of
//! the four of 16 bytes (and the insertions) of the way by lanes.
//!
//! All of it is macros: functions with more than one caller are not always inlined, and then pass their vectors
//! through memory (a third of the speed).

use crate::arch::avx512::BYTES;

/// The most groups of a width.
pub(crate) const GROUPS: usize = 16;

/// Source indices of the bytes of a group's vectors, counted over all of its vectors.
type Places = [[u8; BYTES]; 3];

/// The permutes of one width.
pub(crate) struct Order<const W: usize>;

impl<const W: usize> Order<W> {
    /// Vectors that hold whole items: the odd part of the width.
    pub(crate) const M: usize = {
        let odd = W >> W.trailing_zeros();
        assert!(odd == 1 || odd == 3, "only one or three vectors are permuted together");
        odd
    };
    /// Groups of vectors, and pieces of a vector.
    pub(crate) const G: usize = {
        assert!(W / Self::M <= GROUPS, "a piece has four bytes or more");
        W / Self::M
    };
    /// Bytes of a piece.
    pub(crate) const PIECE: usize = BYTES / Self::G;

    /// From the items of group `g` to its pieces, turned by `g`.
    pub(crate) const APART: [Places; GROUPS] = Self::orders(true);
    /// From the pieces of group `g`, turned by `g`, to its items.
    pub(crate) const TOGETHER: [Places; GROUPS] = Self::orders(false);

    /// Which bytes of [`Self::APART`] come from the third vector.
    pub(crate) const APART_THIRD: [[u64; 3]; GROUPS] = thirds(&Self::APART);
    /// Which bytes of [`Self::TOGETHER`] come from the third vector.
    pub(crate) const TOGETHER_THIRD: [[u64; 3]; GROUPS] = thirds(&Self::TOGETHER);

    /// Turns by `r` pieces, towards the first place and away from it.
    pub(crate) const DOWN: [[u8; BYTES]; GROUPS] = Self::turns(1);
    pub(crate) const UP: [[u8; BYTES]; GROUPS] = Self::turns(BYTES - 1);

    const fn turns(sign: usize) -> [[u8; BYTES]; GROUPS] {
        let mut turns = [[0; BYTES]; GROUPS];
        let mut n = 0;
        while n < GROUPS * BYTES {
            let (r, p) = (n / BYTES, n % BYTES);
            turns[r][p] = ((p + sign * r * Self::PIECE) % BYTES) as u8;
            n += 1;
        }
        turns
    }

    const fn orders(apart: bool) -> [Places; GROUPS] {
        let mut orders = [[[0; BYTES]; 3]; GROUPS];
        let mut n = 0;
        while n < Self::G * Self::M * BYTES {
            let (g, n_in) = (n / (Self::M * BYTES), n % (Self::M * BYTES));
            let (item, byte) = (n_in / W, n_in % W);
            let (m, piece) = (byte / Self::G, (byte + g) % Self::G);
            let p = piece * Self::PIECE + item;
            if apart {
                orders[g][m][p] = n_in as u8;
            } else {
                orders[g][n_in / BYTES][n_in % BYTES] = (m * BYTES + p) as u8;
            }
            n += 1;
        }
        orders
    }
}

/// One bit for each place that the third vector fills.
const fn thirds(orders: &[Places; GROUPS]) -> [[u64; 3]; GROUPS] {
    let mut masks = [[0; 3]; GROUPS];
    let mut n = 0;
    while n < GROUPS * 3 * BYTES {
        let (g, m, p) = (n / (3 * BYTES), n / BYTES % 3, n % BYTES);
        masks[g][m] |= ((orders[g][m][p] as usize / BYTES == 2) as u64) << p;
        n += 1;
    }
    masks
}

/// Piece `c` of vector `r` becomes piece `c` of vector `c - r`, modulo `G`: the middle of a transpose, and its own inverse.
///
/// Its steps are unrolled by hand, because the compiler does not unroll the loop for 16 groups.
macro_rules! turn_columns {
    ($width:tt, $v:expr) => {
        $crate::shuffle::pieces::turn_columns!($width, $v, 1 2 4 8)
    };
    ($width:tt, $v:expr, $($step:literal)*) => {
        let g = $crate::shuffle::pieces::Order::<$width>::G;
        $(if $step < g {
            let words = $step * $crate::shuffle::pieces::Order::<$width>::PIECE / 4;
            let mut turned = [$crate::arch::avx512::zero(); $crate::shuffle::pieces::GROUPS];
            for r in 0..g {
                // Vectors that take a bit of `c` stand at `-r` from the first step on.
                let (at, other) = if $step == 1 { ((g - r) % g, (g + 1 - r) % g) } else { (r, (r + g - $step) % g) };
                turned[r] = $crate::arch::avx512::choose_words(words, $v[at], $v[other]);
            }
            for r in 0..g {
                $v[r] = turned[r];
            }
        })*
    };
}

/// From the vectors of 64 items of `$width` bytes to those of their bytes.
macro_rules! apart {
    ($width:tt, $items:expr) => {{
        use $crate::arch::avx512::{load, permute, permute_three, zero};
        use $crate::shuffle::pieces::{Order, turn_columns};
        let (m, g) = (Order::<$width>::M, Order::<$width>::G);
        let (items, mut v) = ($items, [zero(); $width]);
        for i in 0..g {
            for j in 0..m {
                let places = load(&Order::<$width>::APART[i][j]);
                v[j * g + i] = if m == 1 {
                    permute(items[i], places)
                } else {
                    let group = [items[3 * i], items[3 * i + 1], items[3 * i + 2]];
                    permute_three(group, places, Order::<$width>::APART_THIRD[i][j])
                };
            }
        }
        for column in v.chunks_exact_mut(g) {
            turn_columns!($width, column);
            for r in 1..g {
                column[r] = permute(column[r], load(&Order::<$width>::DOWN[r]));
            }
        }
        v
    }};
}

/// The inverse of [`apart`].
macro_rules! together {
    ($width:tt, $v:expr) => {{
        use $crate::arch::avx512::{load, permute, permute_three};
        use $crate::shuffle::pieces::{Order, turn_columns};
        let (m, g) = (Order::<$width>::M, Order::<$width>::G);
        let mut v = $v;
        for column in v.chunks_exact_mut(g) {
            for r in 1..g {
                column[r] = permute(column[r], load(&Order::<$width>::UP[r]));
            }
            turn_columns!($width, column);
        }
        let mut items = v;
        for i in 0..g {
            for j in 0..m {
                let places = load(&Order::<$width>::TOGETHER[i][j]);
                items[i * m + j] = if m == 1 {
                    permute(v[i], places)
                } else {
                    let group = [v[i], v[g + i], v[2 * g + i]];
                    permute_three(group, places, Order::<$width>::TOGETHER_THIRD[i][j])
                };
            }
        }
        items
    }};
}

/// Takes 64 items of `$width` bytes apart: vector `j` is byte `j` of each.
macro_rules! gather_pieces {
    ($width:tt, $items:expr) => {{
        use $crate::arch::avx512::{load, zero};
        use $crate::shuffle::pieces::apart;
        let mut v = [zero(); $width];
        for (v, bytes) in v.iter_mut().zip($items.as_chunks().0) {
            *v = load(bytes);
        }
        apart!($width, v)
    }};
}

/// The inverse of [`gather_pieces`]. With `$long`, aligned stores bypass the caches.
macro_rules! scatter_pieces {
    ($width:tt, $v:expr, $items:expr, $long:expr) => {{
        use $crate::arch::avx512::put;
        use $crate::shuffle::pieces::together;
        for (v, bytes) in together!($width, $v).into_iter().zip($items.as_chunks_mut().0) {
            put(v, bytes, $long);
        }
    }};
}

pub(crate) use {apart, gather_pieces, scatter_pieces, together, turn_columns};
