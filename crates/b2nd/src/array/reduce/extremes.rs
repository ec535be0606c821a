//! The least and the greatest item. NaN and NaT win over everything, as in NumPy.

use crate::array::reduce::kernel::Kernel;
use crate::array::reduce::kernel::put;
use crate::array::reduce::sum::NAT;
use half::f16;
use num_complex::Complex;
use num_complex::ComplexFloat as Float;
use std::marker::PhantomData;

/// An item that can be compared; `better` is written so that rows of it need no branch.
pub(super) trait Ordered: bytemuck::Pod + Send + Sync {
    /// The initial value, which every item beats or equals.
    fn worst<const MOST: bool>() -> Self;
    /// Whether `x` takes the place of `best`: it is less (`MOST`: greater), or the first NaN.
    fn better<const MOST: bool>(x: Self, best: Self) -> bool;
}

/// Lanes that are compared side by side.
const LANES: usize = 32;

macro_rules! ordered {
    ($($type:ty, $least:expr, $most:expr, |$x:ident, $best:ident| $less:expr, $greater:expr;)*) => {$(
        impl Ordered for $type {
            #[inline(always)]
            fn worst<const MOST: bool>() -> Self {
                if MOST { $least } else { $most }
            }
            #[inline(always)]
            fn better<const MOST: bool>($x: Self, $best: Self) -> bool {
                if MOST { $greater } else { $less }
            }
        }
    )*};
}

macro_rules! ordered_ints {
    ($($type:ty)*) => {
        ordered! { $($type, <$type>::MIN, <$type>::MAX, |x, best| x < best, x > best;)* }
    };
}

ordered_ints! { i8 i16 i32 i64 u8 u16 u32 u64 }

ordered! {
    // Comparisons with NaN are false, so a NaN that was taken stays.
    f32, f32::NEG_INFINITY, f32::INFINITY, |x, best| (x < best) | x.is_nan(), (x > best) | x.is_nan();
    f64, f64::NEG_INFINITY, f64::INFINITY, |x, best| (x < best) | x.is_nan(), (x > best) | x.is_nan();
    f16, f16::NEG_INFINITY, f16::INFINITY,
        |x, best| half_better(half_key(x), half_key(best), |x, best| x < best),
        half_better(half_key(x), half_key(best), |x, best| x > best);
    Complex<f32>, Complex::new(f32::NEG_INFINITY, f32::NEG_INFINITY), Complex::new(f32::INFINITY, f32::INFINITY),
        |x, best| complex_better(x, best), complex_better(-x, -best);
    Complex<f64>, Complex::new(f64::NEG_INFINITY, f64::NEG_INFINITY), Complex::new(f64::INFINITY, f64::INFINITY),
        |x, best| complex_better(x, best), complex_better(-x, -best);
}

/// What half floats are compared by.
#[derive(Clone, Copy)]
struct HalfKey {
    /// Its bits as a number of the same order.
    order: i16,
    is_nan: bool,
}

#[inline(always)]
fn half_key(x: f16) -> HalfKey {
    let bits = x.to_bits().cast_signed();
    HalfKey { order: bits ^ ((bits >> 15) & 0x7fff), is_nan: bits & 0x7fff > 0x7c00 }
}

#[inline(always)]
fn half_better(x: HalfKey, best: HalfKey, wins: impl Fn(i16, i16) -> bool) -> bool {
    !best.is_nan & (x.is_nan | wins(x.order, best.order))
}

/// By the real part, then by the imaginary one; the first with a NaN wins.
#[inline(always)]
fn complex_better<T: Float + PartialOrd>(x: Complex<T>, best: Complex<T>) -> bool {
    let nan = |c: Complex<T>| c.re.is_nan() | c.im.is_nan();
    !nan(best) & (nan(x) | (x.re < best.re) | ((x.re == best.re) & (x.im < best.im)))
}

/// The least (`MOST`: the greatest) item.
pub(super) struct Extreme<T, const MOST: bool>(pub(super) PhantomData<T>);

impl<T: Ordered, const MOST: bool> Kernel for Extreme<T, MOST> {
    type Item = T;
    type State = T;

    fn empty(&self) -> T {
        T::worst::<MOST>()
    }
    fn row(&self, state: &mut T, items: &[T]) {
        let (whole, rest) = items.as_chunks::<LANES>();
        let mut lanes = [T::worst::<MOST>(); LANES];
        for items in whole {
            for (best, &x) in lanes.iter_mut().zip(items) {
                *best = if T::better::<MOST>(x, *best) { x } else { *best };
            }
        }
        let lanes = if whole.is_empty() { &[][..] } else { &lanes };
        for &x in lanes.iter().chain(rest) {
            *state = if T::better::<MOST>(x, *state) { x } else { *state };
        }
    }
    fn each(&self, states: &mut [T], items: &[T]) {
        for (best, &x) in states.iter_mut().zip(items) {
            *best = if T::better::<MOST>(x, *best) { x } else { *best };
        }
    }
    fn repeat(&self, item: T, _: u64) -> T {
        item
    }
    fn join(&self, into: &mut T, other: &T) {
        *into = if T::better::<MOST>(*other, *into) { *other } else { *into };
    }
    fn finish(&self, state: &T, _: u64, out: &mut [u8]) {
        put(*state, out);
    }
}

/// The latest time or longest span. (For the least NaT needs no care: it is the least number.)
pub(super) struct Latest;

impl Kernel for Latest {
    type Item = i64;
    /// One less than the time, so that NaT wraps to the greatest number.
    type State = i64;

    fn empty(&self) -> i64 {
        NAT
    }
    fn row(&self, state: &mut i64, items: &[i64]) {
        *state = items.iter().fold(*state, |best, x| best.max(x.wrapping_sub(1)));
    }
    fn repeat(&self, item: i64, _: u64) -> i64 {
        item.wrapping_sub(1)
    }
    fn join(&self, into: &mut i64, other: &i64) {
        *into = (*into).max(*other);
    }
    fn finish(&self, state: &i64, _: u64, out: &mut [u8]) {
        put(state.wrapping_add(1), out);
    }
}
