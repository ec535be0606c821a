//! Numbers as other numbers, in the byte order of this machine.
//!
//! What C leaves undefined, floats without a place in an integer, is as compilers for x86-64 have it: a conversion to 64 bits
//! (for up to 32 bits of a signed integer: to 32) that gives the smallest number where there is none, then cut off.

use crate::array::dtype::Kind;
use half::f16;
use num_complex::Complex;
use std::marker::PhantomData;

/// Converts all items of the one slice into the other.
pub(super) type Convert = fn(&[u8], &mut [u8]);

/// The widest type of each kind, through which all conversions go.
trait Wide: Copy {
    fn to_i64(self) -> i64;
    fn to_i32(self) -> i32;
    fn to_u64(self) -> u64;
    fn to_f32(self) -> f32;
    fn to_f64(self) -> f64;
    fn to_f16(self) -> f16;
    fn imaginary(self) -> f64;
    fn to_bool(self) -> bool;
}

macro_rules! wide_integers {
    ($($type:ty),*) => {$(
        impl Wide for $type {
            fn to_i64(self) -> i64 {
                self as i64
            }
            fn to_i32(self) -> i32 {
                self as i32
            }
            fn to_u64(self) -> u64 {
                self as u64
            }
            fn to_f32(self) -> f32 {
                self as f32
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
            fn to_f16(self) -> f16 {
                // Rounded twice, as NumPy does.
                f16::from_f32_const(self as f32)
            }
            fn imaginary(self) -> f64 {
                0.0
            }
            fn to_bool(self) -> bool {
                self != 0
            }
        }
    )*};
}

wide_integers!(i64, u64);

const TWO_63: f64 = 9_223_372_036_854_775_808.0;

impl Wide for f64 {
    fn to_i64(self) -> i64 {
        if (-TWO_63..TWO_63).contains(&self) { self as i64 } else { i64::MIN }
    }
    fn to_i32(self) -> i32 {
        if self > -2_147_483_649.0 && self < 2_147_483_648.0 { self as i32 } else { i32::MIN }
    }
    fn to_u64(self) -> u64 {
        if self >= TWO_63 {
            (self - TWO_63).to_i64().cast_unsigned() ^ (1 << 63)
        } else {
            self.to_i64().cast_unsigned()
        }
    }
    fn to_f32(self) -> f32 {
        self as f32
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn to_f16(self) -> f16 {
        f16::from_f64_const(self)
    }
    fn imaginary(self) -> f64 {
        0.0
    }
    fn to_bool(self) -> bool {
        self != 0.0
    }
}

impl Wide for Complex<f64> {
    fn to_i64(self) -> i64 {
        self.re.to_i64()
    }
    fn to_i32(self) -> i32 {
        self.re.to_i32()
    }
    fn to_u64(self) -> u64 {
        self.re.to_u64()
    }
    fn to_f32(self) -> f32 {
        self.re.to_f32()
    }
    fn to_f64(self) -> f64 {
        self.re
    }
    fn to_f16(self) -> f16 {
        self.re.to_f16()
    }
    fn imaginary(self) -> f64 {
        self.im
    }
    fn to_bool(self) -> bool {
        self.re != 0.0 || self.im != 0.0
    }
}

/// A kind of items, as they are stored.
trait Number {
    type Wide: Wide;
    const SIZE: usize;
    fn read(bytes: &[u8]) -> Self::Wide;
    fn write(wide: impl Wide, bytes: &mut [u8]);
}

macro_rules! numbers {
    ($($type:ty, $wide:ty, |$own:ident| $to:expr, |$from:ident| $of:expr;)*) => {$(
        impl Number for $type {
            type Wide = $wide;
            const SIZE: usize = size_of::<$type>();
            fn read(bytes: &[u8]) -> $wide {
                let $own: $type = bytemuck::pod_read_unaligned(bytes);
                $to
            }
            fn write($from: impl Wide, bytes: &mut [u8]) {
                bytes.copy_from_slice(bytemuck::bytes_of::<$type>(&$of));
            }
        }
    )*};
}

numbers! {
    i8, i64, |x| i64::from(x), |w| (w.to_i32() as i8);
    i16, i64, |x| i64::from(x), |w| (w.to_i32() as i16);
    i32, i64, |x| i64::from(x), |w| w.to_i32();
    i64, i64, |x| x, |w| w.to_i64();
    u8, u64, |x| u64::from(x), |w| (w.to_i32() as u8);
    u16, u64, |x| u64::from(x), |w| (w.to_i32() as u16);
    u32, u64, |x| u64::from(x), |w| (w.to_i64() as u32);
    u64, u64, |x| x, |w| w.to_u64();
    f16, f64, |x| f64::from(x), |w| w.to_f16();
    f32, f64, |x| f64::from(x), |w| w.to_f32();
    f64, f64, |x| x, |w| w.to_f64();
    Complex<f32>, Complex<f64>, |x| Complex::new(f64::from(x.re), f64::from(x.im)),
        |w| Complex::new(w.to_f32(), w.imaginary() as f32);
    Complex<f64>, Complex<f64>, |x| x, |w| Complex::new(w.to_f64(), w.imaginary());
}

/// A bool as it is stored: any byte but 0 is true.
struct StoredBool;

impl Number for StoredBool {
    type Wide = u64;
    const SIZE: usize = 1;
    fn read(bytes: &[u8]) -> u64 {
        u64::from(bytes.iter().any(|&byte| byte != 0))
    }
    fn write(wide: impl Wide, bytes: &mut [u8]) {
        bytes.fill(u8::from(wide.to_bool()));
    }
}

/// An action that is generic over the Rust type of a dtype.
trait Choice {
    type Out;
    fn take<T: Number>(self) -> Self::Out;
}

/// Numbers of one kind and size.
#[derive(Debug, Clone, Copy)]
pub(super) struct NumberType {
    pub(super) kind: Kind,
    /// Bytes of a number.
    pub(super) size: usize,
}

/// Calls the action with the type for a kind and size, if there is one.
fn with_number<C: Choice>(number: NumberType, choice: C) -> Option<C::Out> {
    Some(match (number.kind, number.size) {
        (Kind::Bool, 1) => choice.take::<StoredBool>(),
        (Kind::Int, 1) => choice.take::<i8>(),
        (Kind::Int, 2) => choice.take::<i16>(),
        (Kind::Int, 4) => choice.take::<i32>(),
        (Kind::Int, 8) => choice.take::<i64>(),
        (Kind::Uint, 1) => choice.take::<u8>(),
        (Kind::Uint, 2) => choice.take::<u16>(),
        (Kind::Uint, 4) => choice.take::<u32>(),
        (Kind::Uint, 8) => choice.take::<u64>(),
        (Kind::Float, 2) => choice.take::<f16>(),
        (Kind::Float, 4) => choice.take::<f32>(),
        (Kind::Float, 8) => choice.take::<f64>(),
        (Kind::Complex, 8) => choice.take::<Complex<f32>>(),
        (Kind::Complex, 16) => choice.take::<Complex<f64>>(),
        _ => return None,
    })
}

/// The source is known when the target is chosen.
struct To<S>(PhantomData<S>);

impl<S: Number> Choice for To<S> {
    type Out = Convert;
    fn take<T: Number>(self) -> Convert {
        each::<S, T>
    }
}

/// The source is chosen, and then a target of this kind and size.
struct ForTarget(NumberType);

impl Choice for ForTarget {
    type Out = Option<Convert>;
    fn take<S: Number>(self) -> Option<Convert> {
        with_number(self.0, To::<S>(PhantomData))
    }
}

/// The conversion of numbers of one kind and size to another.
pub(super) fn convert(from: NumberType, to: NumberType) -> Option<Convert> {
    with_number(from, ForTarget(to)).flatten()
}

fn each<S: Number, T: Number>(from: &[u8], to: &mut [u8]) {
    for (from, to) in from.chunks_exact(S::SIZE).zip(to.chunks_exact_mut(T::SIZE)) {
        T::write(S::read(from), to);
    }
}
