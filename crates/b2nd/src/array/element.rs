//! The Rust types that items can be read into and written from, and their bytes.

use half::f16;
use num_complex::Complex;

use crate::array::dtype::{ByteOrder, Dtype, Kind};
use crate::error::{Error, Result};

/// A Rust type that stands for the items of an array.
///
/// Implemented for the integers of up to 64 bits, [`half::f16`], `f32`, `f64`, [`num_complex::Complex`] of `f32` and
/// `f64`, and `bool`; for structures by [`struct_element!`](crate::struct_element). The trait is sealed.
///
/// ```
/// use b2nd::{Dtype, Element};
/// assert!(f32::reads(&Dtype::parse(">f4")?));
/// assert!(i64::reads(&Dtype::parse("<M8[ns]")?));
/// assert!(!u32::reads(&Dtype::parse("<i4")?));
/// # Ok::<(), b2nd::Error>(())
/// ```
pub trait Element: sealed::Bytes + Copy + Send + Sync + 'static {
    /// The dtype of this type, in the byte order of this machine.
    fn dtype() -> Dtype;

    /// Whether items of `dtype` can be read as this type: the same kind and size, in either byte order.
    ///
    /// `i64` also reads `datetime64` and `timedelta64`, and `u8` reads `bool`.
    fn reads(dtype: &Dtype) -> bool {
        let own = Self::dtype();
        let kind = match (dtype.kind(), own.kind()) {
            (Kind::Datetime | Kind::Timedelta, Kind::Int) => Kind::Int,
            (Kind::Bool, Kind::Uint) => Kind::Uint,
            (kind, _) => kind,
        };
        kind == own.kind() && dtype.itemsize() == own.itemsize()
    }
}

impl Dtype {
    /// The dtype of a Rust type, in the byte order of this machine.
    ///
    /// ```
    /// use b2nd::Dtype;
    /// assert_eq!(Dtype::of::<u8>(), Dtype::parse("|u1")?);
    /// assert_eq!(Dtype::of::<f64>().itemsize(), 8);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn of<T: Element>() -> Self {
        T::dtype()
    }
}

pub(crate) mod sealed {
    use crate::error::Result;

    /// Items as bytes in the byte order of this machine. Being private, it seals [`Element`](super::Element).
    pub trait Bytes: Sized {
        /// The bytes of items.
        fn as_bytes(items: &[Self]) -> &[u8];
        /// Lets `fill` write the bytes of `items`, and checks that each is a value of the type.
        fn fill_from(items: &mut [Self], fill: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()>;
        /// `len` items of zero bytes, reserved fallibly.
        fn zeroed(len: usize) -> Result<Vec<Self>>;
    }
}

pub(in crate::array) fn zeroed_items<T: bytemuck::Zeroable>(len: usize) -> Result<Vec<T>> {
    let bytes = len.saturating_mul(size_of::<T>()) as u64;
    bytemuck::allocation::try_zeroed_vec(len).map_err(|()| Error::out_of_memory("the items of a read", bytes))
}

macro_rules! elements {
    ($($type:ty => $kind:ident),* $(,)?) => {$(
        impl sealed::Bytes for $type {
            fn as_bytes(items: &[Self]) -> &[u8] {
                bytemuck::cast_slice(items)
            }
            fn fill_from(items: &mut [Self], fill: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
                fill(bytemuck::cast_slice_mut(items))
            }
            fn zeroed(len: usize) -> Result<Vec<Self>> {
                zeroed_items(len)
            }
        }
        impl Element for $type {
            fn dtype() -> Dtype {
                Dtype::scalar(Kind::$kind, size_of::<$type>(), ByteOrder::NATIVE)
            }
        }
    )*};
}

elements! {
    u8 => Uint, u16 => Uint, u32 => Uint, u64 => Uint,
    i8 => Int, i16 => Int, i32 => Int, i64 => Int,
    f16 => Float, f32 => Float, f64 => Float,
    Complex<f32> => Complex, Complex<f64> => Complex,
}

impl sealed::Bytes for bool {
    fn as_bytes(items: &[Self]) -> &[u8] {
        bytemuck::cast_slice(items)
    }

    /// Not every byte is a `bool`, so the bytes are filled aside and then checked.
    fn fill_from(items: &mut [Self], fill: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
        let mut bytes = crate::limits::zeroed("the items of a read", items.len() as u64)?;
        fill(&mut bytes)?;
        for (item, byte) in items.iter_mut().zip(bytes) {
            *item = match byte {
                0 => false,
                1 => true,
                _ => return Err(Error::usage("a bool item is neither 0 nor 1: read the array as u8")),
            };
        }
        Ok(())
    }

    fn zeroed(len: usize) -> Result<Vec<Self>> {
        zeroed_items(len)
    }
}

impl Element for bool {
    fn dtype() -> Dtype {
        Dtype::scalar(Kind::Bool, 1, ByteOrder::None)
    }
}

#[cfg(test)]
mod tests {
    use super::sealed::Bytes;
    use super::*;

    #[test]
    fn bools_are_checked_and_bytes_pass() {
        let mut items = [false; 3];
        let put = |wanted: [u8; 3]| {
            move |bytes: &mut [u8]| {
                bytes.copy_from_slice(&wanted);
                Ok(())
            }
        };
        bool::fill_from(&mut items, put([1, 0, 1])).unwrap();
        assert_eq!(items, [true, false, true]);
        assert_eq!(bool::as_bytes(&items), [1, 0, 1]);
        assert!(bool::fill_from(&mut items, put([1, 0, 2])).is_err());
        let mut numbers = u8::zeroed(3).unwrap();
        u8::fill_from(&mut numbers, put([1, 0, 2])).unwrap();
        assert_eq!(numbers, [1, 0, 2]);
    }

    #[test]
    fn a_type_reads_its_kind_and_size_only() {
        type Reads = fn(&Dtype) -> bool;
        let cases: [(Reads, &str); 9] = [
            (u8::reads, "|u1 |b1"),
            (i8::reads, "|i1"),
            (i64::reads, "<i8 >i8 <M8[ns] >m8 <m8[25s]"),
            (u64::reads, "<u8 >u8"),
            (f16::reads, "<f2 >f2"),
            (f64::reads, "<f8 >f8"),
            (Complex::<f32>::reads, "<c8 >c8"),
            (Complex::<f64>::reads, "<c16 >c16"),
            (bool::reads, "|b1"),
        ];
        let all: Vec<&str> = cases
            .iter()
            .flat_map(|(_, texts)| texts.split(' '))
            .chain(["|V8", "|S8", "<U2", "<f4"])
            .collect();
        for (reads, texts) in cases {
            for text in &all {
                let wanted = texts.split(' ').any(|known| known == *text);
                assert_eq!(reads(&Dtype::parse(text).unwrap()), wanted, "{text} as {texts}");
            }
        }
        assert!(u8::zeroed(usize::MAX).is_err());
    }
}
