//! Taking items apart with byte permutes of whole vectors (AVX-512 VBMI), for widths of `M` times a power of two, `M` 1 or 3.
//!
//! `M` vectors hold whole items. One permute of their bytes brings byte `j` of each together: *pieces* of `64 * M / W`
//! bytes, one for each `j`. What is left is a transpose of pieces between the `G = W / M` groups of vectors, for which
//! pairs of vectors change off-diagonal quarters. All loads and stores are of whole vectors, in place of the four
//! of 16 bytes (and the insertions) of the way by lanes.

use crate::arch::avx512::{self as arch, BYTES, V, load};

/// The permutes of one width.
struct Order<const W: usize>;

impl<const W: usize> Order<W> {
    /// Vectors that hold whole items: the odd part of the width.
    const M: usize = {
        let odd = W >> W.trailing_zeros();
        assert!(odd == 1 || odd == 3, "only one or three vectors are permuted together");
        odd
    };
    /// Groups of vectors, and pieces of a vector.
    const G: usize = W / Self::M;
    /// Bytes of a piece.
    const PIECE: usize = BYTES / Self::G;

    /// Where byte `p` of vector `m` of pieces comes from, counted over the vectors of items.
    const APART: [[u8; BYTES]; 3] = {
        let mut table = [[0; BYTES]; 3];
        let mut n = 0;
        while n < Self::M * BYTES {
            let (m, p) = Self::place(n);
            table[m][p] = n as u8;
            n += 1;
        }
        table
    };
    /// The inverse of [`Self::APART`].
    const TOGETHER: [[u8; BYTES]; 3] = {
        let mut table = [[0; BYTES]; 3];
        let mut n = 0;
        while n < Self::M * BYTES {
            let (m, p) = Self::place(n);
            table[n / BYTES][n % BYTES] = (m * BYTES + p) as u8;
            n += 1;
        }
        table
    };

    /// Which bytes of [`Self::APART`] come from the third vector.
    const APART_THIRD: [u64; 3] = third(&Self::APART);
    /// Which bytes of [`Self::TOGETHER`] come from the third vector.
    const TOGETHER_THIRD: [u64; 3] = third(&Self::TOGETHER);

    /// Vector and place, among the pieces, of byte `n` of the items.
    const fn place(n: usize) -> (usize, usize) {
        let (item, byte) = (n / W, n % W);
        (byte / Self::G, byte % Self::G * Self::PIECE + item)
    }
}

/// One bit for each place that the third vector fills.
const fn third(table: &[[u8; BYTES]; 3]) -> [u64; 3] {
    let mut masks = [0; 3];
    let mut n = 0;
    while n < 3 * BYTES {
        masks[n / BYTES] |= ((table[n / BYTES][n % BYTES] as usize / BYTES == 2) as u64) << (n % BYTES);
        n += 1;
    }
    masks
}

/// Takes 64 items of `W` bytes apart: vector `j` is byte `j` of each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn gather<const W: usize>(items: &[u8]) -> [V; W] {
    let mut v = [arch::zero(); W];
    for (v, bytes) in v.iter_mut().zip(items.as_chunks().0) {
        *v = load(bytes);
    }
    apart(v)
}

/// The inverse of [`gather`]. `long`: past the caches, where the place allows it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn scatter<const W: usize>(v: [V; W], items: &mut [u8], long: bool) {
    for (v, bytes) in together(v).into_iter().zip(items.as_chunks_mut().0) {
        arch::put(v, bytes, long);
    }
}

/// From the vectors of 64 items to those of their bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn apart<const W: usize>(items: [V; W]) -> [V; W] {
    let (m, g) = (Order::<W>::M, Order::<W>::G);
    let mut v = [arch::zero(); W];
    for i in 0..g {
        for j in 0..m {
            let places = load(&Order::<W>::APART[j]);
            v[j * g + i] = if m == 1 {
                arch::permute(items[i], places)
            } else {
                let group = [items[3 * i], items[3 * i + 1], items[3 * i + 2]];
                arch::permute_three(group, places, Order::<W>::APART_THIRD[j])
            };
        }
    }
    transpose(v)
}

/// The inverse of [`apart`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(crate) fn together<const W: usize>(v: [V; W]) -> [V; W] {
    let (m, g) = (Order::<W>::M, Order::<W>::G);
    let v = transpose(v);
    let mut items = v;
    for i in 0..g {
        for j in 0..m {
            let places = load(&Order::<W>::TOGETHER[j]);
            items[i * m + j] = if m == 1 {
                arch::permute(v[i], places)
            } else {
                let group = [v[i], v[g + i], v[2 * g + i]];
                arch::permute_three(group, places, Order::<W>::TOGETHER_THIRD[j])
            };
        }
    }
    items
}

/// Swaps piece `u` of vector `g` with piece `g` of vector `u` of every `G` vectors: ever larger off-diagonal quarters change
/// places.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn transpose<const W: usize>(mut v: [V; W]) -> [V; W] {
    for column in v.chunks_exact_mut(Order::<W>::G) {
        let mut step = 1;
        while step < Order::<W>::G {
            for i in 0..Order::<W>::G {
                if i & step == 0 {
                    let (a, b) = (column[i], column[i + step]);
                    (column[i], column[i + step]) = match step * Order::<W>::PIECE / 4 {
                        1 => arch::swap_words::<1, 15>(a, b),
                        2 => arch::swap_words::<2, 14>(a, b),
                        4 => arch::swap_words::<4, 12>(a, b),
                        _ => arch::swap_words::<8, 8>(a, b),
                    };
                }
            }
            step *= 2;
        }
    }
    v
}
