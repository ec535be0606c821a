//! Products. Those of floats are rounded at each step, in `f64`.

use crate::array::reduce::kernel::Kernel;
use crate::array::reduce::kernel::put;
use crate::array::reduce::sum::Float;
use crate::array::reduce::sum::Whole;
use crate::array::reduce::twofold::LANES;
use crate::array::reduce::twofold::Twofold;
use num_complex::Complex;
use std::marker::PhantomData;

/// The product of whole numbers, modulo 2⁶⁴.
pub(super) struct WholeProduct<T>(pub(super) PhantomData<T>);

/// `x` to the power of `n`, by squaring.
fn power<T: Copy>(one: T, mut x: T, mut n: u64, times: impl Fn(T, T) -> T) -> T {
    let mut result = one;
    while n > 0 {
        if n & 1 == 1 {
            result = times(result, x);
        }
        n >>= 1;
        if n > 0 {
            x = times(x, x);
        }
    }
    result
}

impl<T: Whole> Kernel for WholeProduct<T> {
    type Item = T;
    type State = i64;

    fn empty(&self) -> i64 {
        1
    }
    fn row(&self, state: &mut i64, items: &[T]) {
        *state = items.iter().fold(*state, |product, x| product.wrapping_mul(x.low()));
    }
    fn repeat(&self, item: T, count: u64) -> i64 {
        power(1, item.low(), count, i64::wrapping_mul)
    }
    fn join(&self, into: &mut i64, other: &i64) {
        *into = into.wrapping_mul(*other);
    }
    fn finish(&self, state: &i64, _: u64, out: &mut [u8]) {
        put(*state, out);
    }
}

/// The product of floats.
pub(super) struct FloatProduct<T>(pub(super) PhantomData<T>);

impl<T: Float> Kernel for FloatProduct<T> {
    type Item = T;
    type State = f64;

    fn empty(&self) -> f64 {
        1.0
    }
    fn row(&self, state: &mut f64, items: &[T]) {
        let (whole, rest) = items.as_chunks::<LANES>();
        let mut lanes = [1.0; LANES];
        for items in whole {
            for (lane, item) in lanes.iter_mut().zip(items) {
                *lane *= item.wide();
            }
        }
        *state = lanes.iter().copied().chain(rest.iter().map(|x| x.wide())).fold(*state, |a, b| a * b);
    }
    fn repeat(&self, item: T, count: u64) -> f64 {
        power(1.0, item.wide(), count, |a, b| a * b)
    }
    fn join(&self, into: &mut f64, other: &f64) {
        *into *= other;
    }
    fn finish(&self, state: &f64, _: u64, out: &mut [u8]) {
        put(T::narrow(Twofold::new(*state)), out);
    }
}

/// The product of complex numbers.
pub(super) struct ComplexProduct<T>(pub(super) PhantomData<T>);

impl<T: Float> Kernel for ComplexProduct<T>
where
    Complex<T>: bytemuck::Pod,
{
    type Item = Complex<T>;
    type State = Complex<f64>;

    fn empty(&self) -> Complex<f64> {
        Complex::new(1.0, 0.0)
    }
    fn row(&self, state: &mut Complex<f64>, items: &[Complex<T>]) {
        for item in items {
            *state *= Complex::new(item.re.wide(), item.im.wide());
        }
    }
    fn repeat(&self, item: Complex<T>, count: u64) -> Complex<f64> {
        let one = Complex::new(1.0, 0.0);
        power(one, Complex::new(item.re.wide(), item.im.wide()), count, |a, b| a * b)
    }
    fn join(&self, into: &mut Complex<f64>, other: &Complex<f64>) {
        *into *= other;
    }
    fn finish(&self, state: &Complex<f64>, _: u64, out: &mut [u8]) {
        put(Complex::new(T::narrow(Twofold::new(state.re)), T::narrow(Twofold::new(state.im))), out);
    }
}
