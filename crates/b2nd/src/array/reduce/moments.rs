//! Variances and standard deviations, in one pass over the file.
//!
//! A block is in the nearest cache when it is decoded, so it is walked twice: for its mean, and for the squares of the
//! distances from it. Blocks are joined by the formula of Chan, Golub and LeVeque, which only adds what is positive: nothing
//! cancels, however far the items lie from zero.

use crate::array::reduce::geometry::BlockRows;
use crate::array::reduce::kernel::Kernel;
use crate::array::reduce::kernel::put;
use crate::array::reduce::sum::Float;
use crate::array::reduce::sum::Real;
use crate::array::reduce::twofold;
use crate::array::reduce::twofold::Lanes;
use crate::array::reduce::twofold::Twofold;
use crate::error::Error;
use crate::error::Result;
use num_complex::Complex;
use std::marker::PhantomData;

/// An item as `N` real numbers.
pub(super) trait NumberParts<const N: usize>: bytemuck::Pod + Send + Sync {
    /// Whether the squares of differences need more than an `f64` holds.
    const EXACT: bool;
    /// Whether a component may not fit exactly in an `f64`.
    const LONG: bool;
    /// A part as the exact sum of two `f64`.
    fn part(self, n: usize) -> (f64, f64);
}

impl<T: Real> NumberParts<1> for T {
    const EXACT: bool = <T as Real>::EXACT;
    const LONG: bool = <T as Real>::LONG;
    #[inline(always)]
    fn part(self, _: usize) -> (f64, f64) {
        self.halves()
    }
}

impl<T: Real> NumberParts<2> for Complex<T>
where
    Complex<T>: bytemuck::Pod,
{
    const EXACT: bool = <T as Real>::EXACT;
    const LONG: bool = <T as Real>::LONG;
    #[inline(always)]
    fn part(self, n: usize) -> (f64, f64) {
        if n == 0 { self.re.halves() } else { self.im.halves() }
    }
}

/// The variance or standard deviation of `T`, as an `R`.
pub(super) struct Spread<T, R, const N: usize> {
    ddof: f64,
    root: bool,
    types: PhantomData<fn(T) -> R>,
}

/// Count, mean, and sum of squared distances from the mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moments<const N: usize> {
    count: u64,
    mean: [Twofold; N],
    squares: Twofold,
}

impl<const N: usize> Moments<N> {
    const EMPTY: Self = Moments { count: 0, mean: [Twofold::ZERO; N], squares: Twofold::ZERO };

    /// `share` is [`Share::of`] both counts.
    #[inline(always)]
    fn join(&mut self, other: &Self, share: &Share) {
        if self.count == 0 || other.count == 0 {
            if other.count > 0 {
                *self = *other;
            }
            return;
        }
        let mut squares = self.squares.plus(other.squares);
        for (mean, theirs) in self.mean.iter_mut().zip(&other.mean) {
            let apart = theirs.minus(*mean).tidy();
            *mean = mean.plus(apart.times(share.step)).tidy();
            squares = squares.plus(apart.times(apart).times(share.weight));
        }
        *self = Moments { count: share.count, mean: self.mean, squares: squares.tidy() };
    }
}

/// The factors that join two groups of items: the same for all groups of these sizes.
struct Share {
    sizes: (u64, u64),
    count: u64,
    step: Twofold,
    weight: Twofold,
}

impl Share {
    fn of(ours: u64, theirs: u64) -> Self {
        let count = ours.saturating_add(theirs);
        let exact = |n: u64| Twofold::from_int(i128::from(n));
        let step = exact(theirs).over(exact(count.max(1)));
        Share { sizes: (ours, theirs), count, step, weight: step.times(exact(ours)) }
    }
}

/// Temporary numbers for each state of a block, reserved fallibly.
fn reserved<T: Clone>(value: T, len: usize) -> Result<Vec<T>> {
    let mut all = Vec::new();
    let bytes = len.saturating_mul(size_of::<T>()) as u64;
    all.try_reserve_exact(len).map_err(|_| Error::out_of_memory("the moments of a block", bytes))?;
    all.resize(len, value);
    Ok(all)
}

impl<T: NumberParts<N>, R, const N: usize> Spread<T, R, N> {
    /// `ddof` is taken from the count before the division; `root` draws the root: the standard deviation.
    pub(super) fn new(ddof: f64, root: bool) -> Self {
        Spread { ddof, root, types: PhantomData }
    }
    /// Adds up each part of a row.
    #[inline(always)]
    fn sums(sums: &mut [Twofold; N], items: &[T]) {
        for (n, sum) in sums.iter_mut().enumerate() {
            *sum = sum.plus(twofold::sum(items, |item| item.part(n).0));
            if T::LONG {
                *sum = sum.plus(twofold::sum(items, |item| item.part(n).1));
            }
        }
    }
    #[inline(always)]
    fn squares(squares: &mut Twofold, items: &[T], centre: &[f64; N]) {
        for (n, &c) in centre.iter().enumerate() {
            let more = match (T::EXACT, T::LONG) {
                (_, true) => twofold::squares::<T, true, true>(items, |item| item.part(n), c),
                (true, _) => twofold::squares::<T, true, false>(items, |item| item.part(n), c),
                _ => twofold::squares::<T, false, false>(items, |item| item.part(n), c),
            };
            *squares = squares.plus(more);
        }
    }
    /// Converts sums of squared distances from the `f64` nearest to the mean into those from the mean itself.
    ///
    /// Each distance is off by the rest of the mean, `low`; for items close together that is all of it.
    #[inline(always)]
    fn centred(squares: Twofold, mean: &[Twofold; N], count: Twofold) -> Twofold {
        if !T::EXACT || !squares.high.is_finite() {
            return squares;
        }
        let too_far = mean.iter().fold(Twofold::ZERO, |sum, mean| {
            let apart = Twofold::new(mean.low);
            sum.plus(apart.times(apart).times(count))
        });
        let centred = squares.minus(too_far).tidy();
        if centred.high < 0.0 { Twofold::ZERO } else { centred }
    }
    #[inline(always)]
    fn square(squares: &mut Twofold, item: T, centre: &[f64; N]) {
        let mut lanes = Lanes::ZERO;
        for (n, &c) in centre.iter().enumerate() {
            let (x, rest) = item.part(n);
            match (T::EXACT, T::LONG) {
                (_, true) => lanes.add_square::<true, true>(n, x, rest, c),
                (true, _) => lanes.add_square::<true, false>(n, x, rest, c),
                _ => lanes.add_square::<false, false>(n, x, rest, c),
            }
        }
        for n in 0..N {
            *squares = squares.plus(lanes.get(n));
        }
    }
}

impl<T: NumberParts<N>, R: Float, const N: usize> Kernel for Spread<T, R, N> {
    type Item = T;
    type State = Moments<N>;

    fn empty(&self) -> Moments<N> {
        Moments::EMPTY
    }
    /// Moments of a row of items of one state.
    fn row(&self, state: &mut Moments<N>, items: &[T]) {
        let count = items.len() as u64;
        let mut sums = [Twofold::ZERO; N];
        Self::sums(&mut sums, items);
        let mean = sums.map(|sum| sum.over(Twofold::from_int(i128::from(count))));
        let mut squares = Twofold::ZERO;
        Self::squares(&mut squares, items, &mean.map(|mean| mean.high));
        let squares = Self::centred(squares, &mean, Twofold::from_int(i128::from(count)));
        state.join(&Moments { count, mean, squares }, &Share::of(state.count, count));
    }
    fn repeat(&self, item: T, count: u64) -> Moments<N> {
        // An infinity or a NaN is at no distance from anything.
        let parts: [(f64, f64); N] = std::array::from_fn(|n| item.part(n));
        let apart = parts.iter().map(|(x, _)| x * 0.0).sum();
        let mean = parts.map(|(high, low)| Twofold { high, low }.tidy());
        Moments { count, mean, squares: Twofold::new(apart) }
    }
    fn join(&self, into: &mut Moments<N>, other: &Moments<N>) {
        into.join(other, &Share::of(into.count, other.count));
    }
    fn finish(&self, state: &Moments<N>, count: u64, out: &mut [u8]) {
        let freedom = (count as f64 - self.ddof).max(0.0);
        let squares = state.squares.tidy();
        let squares = if squares.high < 0.0 { Twofold::ZERO } else { squares };
        let variance = if count == 0 {
            Twofold::new(f64::NAN)
        } else if freedom > 0.0 {
            squares.over(Twofold::new(freedom))
        } else {
            Twofold::new(squares.high / 0.0)
        };
        put(R::narrow(if self.root { variance.sqrt() } else { variance }), out);
    }

    fn block(&self, walk: &BlockRows, items: &[T], states: &mut [Moments<N>]) -> Result<()> {
        let (len, count) = (walk.len(), walk.items_of_a_state());
        let mut sums = reserved([Twofold::ZERO; N], states.len())?;
        walk.rows(|row| {
            let items = &items[row.items..][..len];
            if walk.reduces_rows() {
                return Self::sums(&mut sums[row.states], items);
            }
            for (sum, item) in sums[row.states..][..len].iter_mut().zip(items) {
                for (n, sum) in sum.iter_mut().enumerate() {
                    let (high, low) = item.part(n);
                    sum.add(high);
                    if T::LONG {
                        sum.add(low);
                    }
                }
            }
        });
        let divisor = Twofold::from_int(i128::from(count));
        sums.iter_mut().flatten().for_each(|sum| *sum = sum.over(divisor));
        let mut squares = reserved(Twofold::ZERO, states.len())?;
        walk.rows(|row| {
            let items = &items[row.items..][..len];
            if walk.reduces_rows() {
                return Self::squares(
                    &mut squares[row.states],
                    items,
                    &sums[row.states].map(|mean| mean.high),
                );
            }
            let squares = squares[row.states..][..len].iter_mut();
            for ((squares, item), means) in squares.zip(items).zip(&sums[row.states..][..len]) {
                Self::square(squares, *item, &means.map(|mean| mean.high));
            }
        });
        let mut share = Share::of(0, count);
        for ((state, mean), squares) in states.iter_mut().zip(sums).zip(squares) {
            if share.sizes.0 != state.count {
                share = Share::of(state.count, count);
            }
            let squares = Self::centred(squares, &mean, divisor);
            state.join(&Moments { count, mean, squares }, &share);
        }
        Ok(())
    }
}
