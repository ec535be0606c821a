//! Sums and means.

use crate::array::reduce::kernel::Kernel;
use crate::array::reduce::kernel::put;
use crate::array::reduce::twofold;
use crate::array::reduce::twofold::Twofold;
use half::f16;
use num_complex::Complex;
use std::marker::PhantomData;

/// A number that becomes an `f64`.
pub(super) trait Real: bytemuck::Pod + Send + Sync {
    /// Whether the squares of differences need more than an `f64` holds, for a result that is an `f64`.
    const EXACT: bool;
    /// Whether there are numbers that are no `f64`.
    const LONG: bool = false;
    /// The nearest `f64`.
    fn wide(self) -> f64;
    /// The number as the exact sum of two `f64`.
    #[inline(always)]
    fn halves(self) -> (f64, f64) {
        (self.wide(), 0.0)
    }
}

/// A float, which a sum is rounded to.
pub(super) trait Float: Real {
    fn narrow(exact: Twofold) -> Self;
}

macro_rules! reals {
    ($($type:ty, $exact:expr, |$x:ident| $wide:expr;)*) => {$(
        impl Real for $type {
            const EXACT: bool = $exact;
            #[inline(always)]
            fn wide(self) -> f64 {
                let $x = self;
                $wide
            }
        }
    )*};
}

reals! {
    f16, false, |x| x.to_f64();
    f32, false, |x| f64::from(x);
    f64, true, |x| x;
    i8, true, |x| f64::from(x);
    i16, true, |x| f64::from(x);
    i32, true, |x| f64::from(x);
    u8, true, |x| f64::from(x);
    u16, true, |x| f64::from(x);
    u32, true, |x| f64::from(x);
}

macro_rules! long_reals {
    ($($type:ty)*) => {$(
        impl Real for $type {
            const EXACT: bool = true;
            const LONG: bool = true;
            #[inline(always)]
            fn wide(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn halves(self) -> (f64, f64) {
                let low = self & 0xffff_ffff;
                ((self - low) as f64, low as f64)
            }
        }
    )*};
}

long_reals! { i64 u64 }

impl Float for f16 {
    fn narrow(exact: Twofold) -> Self {
        f16::from_f64(exact.to_odd())
    }
}
impl Float for f32 {
    fn narrow(exact: Twofold) -> Self {
        exact.to_odd() as f32
    }
}
impl Float for f64 {
    fn narrow(exact: Twofold) -> Self {
        exact.to_f64()
    }
}

/// What is computed from a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Take {
    Sum,
    Mean,
}

fn taken(take: Take, sum: Twofold, count: u64) -> Twofold {
    match take {
        Take::Sum => sum,
        Take::Mean => sum.over(Twofold::from_int(i128::from(count))),
    }
}

/// The sum or mean of floats.
pub(super) struct FloatSum<T>(pub(super) Take, pub(super) PhantomData<T>);

impl<T: Float> Kernel for FloatSum<T> {
    type Item = T;
    type State = Twofold;

    fn empty(&self) -> Twofold {
        Twofold::ZERO
    }
    fn row(&self, state: &mut Twofold, items: &[T]) {
        *state = state.plus(twofold::sum(items, T::wide));
    }
    fn each(&self, states: &mut [Twofold], items: &[T]) {
        for (state, item) in states.iter_mut().zip(items) {
            state.add(item.wide());
        }
    }
    fn repeat(&self, item: T, count: u64) -> Twofold {
        Twofold::new(item.wide()).times(Twofold::from_int(i128::from(count)))
    }
    fn join(&self, into: &mut Twofold, other: &Twofold) {
        *into = into.plus(*other);
    }
    fn finish(&self, state: &Twofold, count: u64, out: &mut [u8]) {
        put(T::narrow(taken(self.0, *state, count)), out);
    }
}

/// The sum or mean of complex numbers.
pub(super) struct ComplexSum<T>(pub(super) Take, pub(super) PhantomData<T>);

impl<T: Float> Kernel for ComplexSum<T>
where
    Complex<T>: bytemuck::Pod,
{
    type Item = Complex<T>;
    type State = [Twofold; 2];

    fn empty(&self) -> [Twofold; 2] {
        [Twofold::ZERO; 2]
    }
    fn row(&self, [re, im]: &mut [Twofold; 2], items: &[Complex<T>]) {
        *re = re.plus(twofold::sum(items, |item| item.re.wide()));
        *im = im.plus(twofold::sum(items, |item| item.im.wide()));
    }
    fn each(&self, states: &mut [[Twofold; 2]], items: &[Complex<T>]) {
        for ([re, im], item) in states.iter_mut().zip(items) {
            re.add(item.re.wide());
            im.add(item.im.wide());
        }
    }
    fn repeat(&self, item: Complex<T>, count: u64) -> [Twofold; 2] {
        [item.re, item.im].map(|x| Twofold::new(x.wide()).times(Twofold::from_int(i128::from(count))))
    }
    fn join(&self, [re, im]: &mut [Twofold; 2], other: &[Twofold; 2]) {
        *re = re.plus(other[0]);
        *im = im.plus(other[1]);
    }
    fn finish(&self, state: &[Twofold; 2], count: u64, out: &mut [u8]) {
        let [re, im] = state.map(|part| T::narrow(taken(self.0, part, count)));
        put(Complex::new(re, im), out);
    }
}

/// A whole number, with sums of many that vectorise.
pub(super) trait Whole: Real {
    /// The number in 64 bits, modulo 2⁶⁴.
    fn low(self) -> i64;
    fn exact(self) -> i128;
    /// The sum modulo 2⁶⁴.
    fn sum(items: &[Self]) -> i64;
    /// The sum, for as many items as a block can have.
    fn exact_sum(items: &[Self]) -> i128;
}

macro_rules! whole {
    ($($type:ty: $part:ty;)*) => {$(
        impl Whole for $type {
            #[inline(always)]
            fn low(self) -> i64 {
                i64::from(self)
            }
            fn exact(self) -> i128 {
                i128::from(self)
            }
            fn sum(items: &[Self]) -> i64 {
                // 2^15 items of up to 16 bits fit 32 bits, which are added faster than 64.
                items.chunks(1 << 15).map(|items| i64::from(items.iter().map(|&x| <$part>::from(x)).sum::<$part>())).sum()
            }
            fn exact_sum(items: &[Self]) -> i128 {
                // A block has fewer than 2^31 bytes: 2^29 items of 32 bits fit 64 bits.
                i128::from(Self::sum(items))
            }
        }
    )*};
}

whole! { i8: i32; i16: i32; i32: i64; u8: i32; u16: i32; u32: i64; }

macro_rules! whole_64 {
    ($($type:ty, $half:ty;)*) => {$(
        impl Whole for $type {
            #[inline(always)]
            fn low(self) -> i64 {
                self as i64
            }
            fn exact(self) -> i128 {
                i128::from(self)
            }
            fn sum(items: &[Self]) -> i64 {
                items.iter().fold(0i64, |sum, &x| sum.wrapping_add(x as i64))
            }
            fn exact_sum(items: &[Self]) -> i128 {
                // The halves are summed apart, as 128 bits are no vector; 2^28 halves fit.
                let (low, high) = items.iter().fold((0u64, 0 as $half), |(low, high), &x| {
                    (low.wrapping_add(x as u64 & 0xffff_ffff), high.wrapping_add(x >> 32))
                });
                (i128::from(high) << 32) + i128::from(low)
            }
        }
    )*};
}

whole_64! { i64, i64; u64, u64; }

/// The sum of whole numbers, modulo 2⁶⁴.
pub(super) struct WholeSum<T>(pub(super) PhantomData<T>);

impl<T: Whole> Kernel for WholeSum<T> {
    type Item = T;
    type State = i64;

    fn empty(&self) -> i64 {
        0
    }
    fn row(&self, state: &mut i64, items: &[T]) {
        *state = state.wrapping_add(T::sum(items));
    }
    fn each(&self, states: &mut [i64], items: &[T]) {
        for (state, item) in states.iter_mut().zip(items) {
            *state = state.wrapping_add(item.low());
        }
    }
    fn repeat(&self, item: T, count: u64) -> i64 {
        item.low().wrapping_mul(count as i64)
    }
    fn join(&self, into: &mut i64, other: &i64) {
        *into = into.wrapping_add(*other);
    }
    fn finish(&self, state: &i64, _: u64, out: &mut [u8]) {
        put(*state, out);
    }
}

/// The mean of whole numbers, from their exact sum.
pub(super) struct WholeMean<T>(pub(super) PhantomData<T>);

impl<T: Whole> Kernel for WholeMean<T> {
    type Item = T;
    type State = i128;

    fn empty(&self) -> i128 {
        0
    }
    fn row(&self, state: &mut i128, items: &[T]) {
        *state = state.wrapping_add(T::exact_sum(items));
    }
    fn each(&self, states: &mut [i128], items: &[T]) {
        for (state, item) in states.iter_mut().zip(items) {
            *state = state.wrapping_add(item.exact());
        }
    }
    fn repeat(&self, item: T, count: u64) -> i128 {
        item.exact().wrapping_mul(i128::from(count))
    }
    fn join(&self, into: &mut i128, other: &i128) {
        *into = into.wrapping_add(*other);
    }
    fn finish(&self, state: &i128, count: u64, out: &mut [u8]) {
        put(taken(Take::Mean, Twofold::from_int(*state), count).to_f64(), out);
    }
}

/// The value that stands for no time at all.
pub(super) const NAT: i64 = i64::MIN;

/// The sum or mean of spans of time: NaT when one of them is.
pub(super) struct SpanSum(pub(super) Take);

/// What is known of some spans of time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spans {
    sum: i64,
    /// Whether a NaT was among them.
    has_nat: bool,
}

impl Kernel for SpanSum {
    type Item = i64;
    type State = Spans;

    fn empty(&self) -> Spans {
        Spans { sum: 0, has_nat: false }
    }
    fn row(&self, state: &mut Spans, items: &[i64]) {
        state.sum = state.sum.wrapping_add(<i64 as Whole>::sum(items));
        state.has_nat |= items.iter().fold(false, |nat, &x| nat | (x == NAT));
    }
    fn repeat(&self, item: i64, count: u64) -> Spans {
        Spans { sum: item.wrapping_mul(count as i64), has_nat: item == NAT }
    }
    fn join(&self, into: &mut Spans, other: &Spans) {
        into.sum = into.sum.wrapping_add(other.sum);
        into.has_nat |= other.has_nat;
    }
    fn finish(&self, state: &Spans, count: u64, out: &mut [u8]) {
        let result = match (state.sum, self.0) {
            _ if state.has_nat => NAT,
            (sum, Take::Sum) => sum,
            // Towards zero, as NumPy divides a span by a count.
            (NAT, Take::Mean) => NAT,
            (sum, Take::Mean) => i64::try_from(count).ok().and_then(|n| sum.checked_div(n)).unwrap_or(NAT),
        };
        put(result, out);
    }
}
