//! Reductions `any`, `all` and `count_nan`.

use crate::array::reduce::kernel::Kernel;
use crate::array::reduce::kernel::put;
use crate::array::reduce::sum::NAT;
use half::f16;
use num_complex::Complex;
use std::marker::PhantomData;

/// Whether a single item is true, or NaN.
pub(super) trait TruthValue: bytemuck::Pod + Send + Sync {
    /// Whether it is anything but zero: NaN and NaT are.
    fn truth(self) -> bool;
    fn is_nan(self) -> bool;
}

macro_rules! judged {
    ($($type:ty, $truth:expr, $nan:expr;)*) => {$(
        impl TruthValue for $type {
            #[inline(always)]
            fn truth(self) -> bool {
                let truth: fn($type) -> bool = $truth;
                truth(self)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                let nan: fn($type) -> bool = $nan;
                nan(self)
            }
        }
    )*};
}

judged! {
    u8, |x| x != 0, |_| false;
    u16, |x| x != 0, |_| false;
    u32, |x| x != 0, |_| false;
    u64, |x| x != 0, |_| false;
    i8, |x| x != 0, |_| false;
    i16, |x| x != 0, |_| false;
    i32, |x| x != 0, |_| false;
    // The only signed numbers that are asked for NaN are times.
    i64, |x| x != 0, |x| x == NAT;
    f16, |x| x.to_bits() & 0x7fff != 0, |x| x.to_bits() & 0x7fff > 0x7c00;
    f32, |x| x != 0.0, f32::is_nan;
    f64, |x| x != 0.0, f64::is_nan;
    Complex<f32>, |x| x.re != 0.0 || x.im != 0.0, |x| x.re.is_nan() || x.im.is_nan();
    Complex<f64>, |x| x.re != 0.0 || x.im != 0.0, |x| x.re.is_nan() || x.im.is_nan();
}

/// Whether one of the items (`ALL`: each of them) is true.
pub(super) struct Truth<T, const ALL: bool>(pub(super) PhantomData<T>);

impl<T: TruthValue, const ALL: bool> Kernel for Truth<T, ALL> {
    type Item = T;
    type State = bool;

    fn empty(&self) -> bool {
        ALL
    }
    fn row(&self, state: &mut bool, items: &[T]) {
        // Within a piece there is no branch for each item; between pieces the loop may stop early.
        for piece in items.chunks(1024) {
            if *state != ALL {
                return;
            }
            let turned = piece.iter().fold(false, |seen, x| seen | (x.truth() != ALL));
            *state = turned != ALL;
        }
    }
    fn each(&self, states: &mut [bool], items: &[T]) {
        for (state, item) in states.iter_mut().zip(items) {
            *state = if ALL { *state & item.truth() } else { *state | item.truth() };
        }
    }
    fn repeat(&self, item: T, _: u64) -> bool {
        item.truth()
    }
    fn join(&self, into: &mut bool, other: &bool) {
        *into = if ALL { *into & *other } else { *into | *other };
    }
    fn finish(&self, state: &bool, _: u64, out: &mut [u8]) {
        put(*state, out);
    }
}

/// How many items are NaN or NaT.
pub(super) struct CountNan<T>(pub(super) PhantomData<T>);

impl<T: TruthValue> Kernel for CountNan<T> {
    type Item = T;
    type State = u64;

    fn empty(&self) -> u64 {
        0
    }
    fn row(&self, state: &mut u64, items: &[T]) {
        // A block has fewer than 2^31 items.
        *state += u64::from(items.iter().map(|x| u32::from(x.is_nan())).sum::<u32>());
    }
    fn repeat(&self, item: T, count: u64) -> u64 {
        if item.is_nan() { count } else { 0 }
    }
    fn join(&self, into: &mut u64, other: &u64) {
        *into += other;
    }
    fn finish(&self, state: &u64, _: u64, out: &mut [u8]) {
        put(*state as i64, out);
    }
}
