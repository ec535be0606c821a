//! Items as numbers for pictures and comparisons, whatever their dtype and byte order.

use b2nd::Dtype;
use b2nd::array::{ByteOrder, Kind};

/// Converts items to floats: integers and floats as they are, booleans to 0 and 1, complex numbers to their magnitude.
/// `None` for items that are no numbers.
#[cfg(any(feature = "plot", test))]
pub(crate) fn to_f64(dtype: &Dtype, items: &[u8]) -> Option<Vec<f64>> {
    let size = dtype.itemsize().max(1);
    number(dtype, &vec![0; size])?;
    Some(
        items
            .chunks_exact(size)
            .map(|item| number(dtype, item).map_or(f64::NAN, Number::magnitude))
            .collect(),
    )
}

/// Integers as they are; `None` for other items. One that does not fit is the largest, which is beyond every axis.
pub(crate) fn to_i64(dtype: &Dtype, items: &[u8]) -> Option<Vec<i64>> {
    let integer = |item: &[u8]| match number(dtype, item)? {
        Number::Integer(n) => Some(i64::try_from(n).unwrap_or(i64::MAX)),
        _ => None,
    };
    items.chunks_exact(dtype.itemsize().max(1)).map(integer).collect()
}

/// The bytes of one item, or of several, with their dtype.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Items<'a> {
    pub(crate) dtype: &'a Dtype,
    pub(crate) bytes: &'a [u8],
}

impl Items<'_> {
    /// The first item as a number.
    fn number(self) -> Option<Number> {
        number(self.dtype, self.bytes)
    }
}

/// Two tolerances, and what NaN is equal to: as `numpy.isclose` takes them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tolerance {
    pub(crate) relative: f64,
    pub(crate) absolute: f64,
    pub(crate) equal_nan: bool,
}

impl Tolerance {
    /// Whether two numbers, of any dtypes, are equal or close: `|a - b| <= absolute + relative * |b|`. `None` for items that
    /// are no numbers.
    pub(crate) fn holds(&self, a: Items<'_>, b: Items<'_>) -> Option<bool> {
        let (a, b) = (a.number()?, b.number()?);
        if a.is_nan() || b.is_nan() {
            return Some(self.equal_nan && a.is_nan() && b.is_nan());
        }
        // Infinities are as far from everything as from themselves.
        let equal = a.parts() == b.parts() && a.whole() == b.whole();
        let (distance, size) = (apart(a, b), b.magnitude().abs());
        let within =
            distance.is_finite() && size.is_finite() && distance <= self.absolute + self.relative * size;
        Some(equal || within)
    }
}

/// How far two numbers are apart.
fn apart(a: Number, b: Number) -> f64 {
    let ((x, imaginary), (y, other)) = (a.parts(), b.parts());
    match (a.whole(), b.whole()) {
        // Exact, where floats of 64 bits would not be.
        (Some(a), Some(b)) if imaginary == other => (a - b).unsigned_abs() as f64,
        _ if imaginary == other => (x - y).abs(),
        _ => (x - y).hypot(imaginary - other),
    }
}

/// How far two items are apart, of any dtypes; `None` for items that are no numbers.
pub(crate) fn distance(a: Items<'_>, b: Items<'_>) -> Option<f64> {
    Some(apart(a.number()?, b.number()?))
}

/// Whether items of a dtype are numbers (or booleans).
pub(crate) fn is_number(dtype: &Dtype) -> bool {
    number(dtype, &vec![0; dtype.itemsize().max(1)]).is_some()
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Number {
    Integer(i128),
    Float(f64),
    Complex(f64, f64),
}

impl Number {
    fn magnitude(self) -> f64 {
        match self {
            Number::Integer(n) => n as f64,
            Number::Float(x) => x,
            Number::Complex(re, im) => re.hypot(im),
        }
    }

    /// The real and the imaginary part.
    fn parts(self) -> (f64, f64) {
        match self {
            Number::Integer(n) => (n as f64, 0.0),
            Number::Float(x) => (x, 0.0),
            Number::Complex(re, im) => (re, im),
        }
    }

    /// The whole number that it is, if it is one: those beyond 2^53 differ where their floats do not.
    fn whole(self) -> Option<i128> {
        match self {
            Number::Integer(n) => Some(n),
            Number::Float(x) | Number::Complex(x, _) => {
                (x.fract() == 0.0 && x.abs() < 1e30).then_some(x as i128)
            }
        }
    }

    fn is_nan(self) -> bool {
        let (re, im) = self.parts();
        re.is_nan() || im.is_nan()
    }
}

fn number(dtype: &Dtype, item: &[u8]) -> Option<Number> {
    let big = dtype.byte_order() == ByteOrder::Big;
    match dtype.kind() {
        Kind::Bool => Some(Number::Integer(i128::from(*item.first()? != 0))),
        Kind::Uint => Some(Number::Integer(i128::from(bits(item, big)?))),
        Kind::Int => {
            let unused = 64 - 8 * u32::try_from(item.len()).ok()?;
            let value = (bits(item, big)? << unused).cast_signed() >> unused;
            Some(Number::Integer(i128::from(value)))
        }
        Kind::Float => Some(Number::Float(float(item, big)?)),
        Kind::Complex => {
            let (re, im) = item.split_at_checked(item.len() / 2)?;
            Some(Number::Complex(float(re, big)?, float(im, big)?))
        }
        _ => None,
    }
}

fn bits(item: &[u8], big: bool) -> Option<u64> {
    if item.is_empty() || item.len() > 8 {
        return None;
    }
    let join = |n: u64, byte: &u8| n << 8 | u64::from(*byte);
    Some(if big { item.iter().fold(0, join) } else { item.iter().rev().fold(0, join) })
}

fn float(item: &[u8], big: bool) -> Option<f64> {
    let bits = bits(item, big)?;
    match item.len() {
        2 => Some(half(u16::try_from(bits).ok()?)),
        4 => Some(f64::from(f32::from_bits(u32::try_from(bits).ok()?))),
        8 => Some(f64::from_bits(bits)),
        _ => None,
    }
}

fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1024.0 + fraction) * 2f64.powi(e - 25),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(dtype: &str, item: &[u8]) -> Option<f64> {
        to_f64(&Dtype::parse(dtype).unwrap(), item).map(|v| v[0])
    }

    #[test]
    fn numbers_of_every_kind_and_byte_order() {
        assert_eq!(one("<i2", &(-5i16).to_le_bytes()), Some(-5.0));
        assert_eq!(one(">i8", &(-5i64).to_be_bytes()), Some(-5.0));
        assert_eq!(one("|i1", &[255]), Some(-1.0));
        assert_eq!(one("|u1", &[255]), Some(255.0));
        assert_eq!(one("|b1", &[1]), Some(1.0));
        assert_eq!(one(">f4", &1.5f32.to_be_bytes()), Some(1.5));
        assert_eq!(one("<f8", &(-2.5f64).to_le_bytes()), Some(-2.5));
        let complex = [3f32.to_le_bytes(), 4f32.to_le_bytes()].concat();
        assert_eq!(one("<c8", &complex), Some(5.0));
        assert_eq!(one("|S3", b"abc"), None);
    }

    #[test]
    fn half_floats_have_subnormals_infinity_and_nan() {
        for (bits, value) in
            [(0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (1, 2f64.powi(-24)), (0x7c00, f64::INFINITY)]
        {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7e00).is_nan());
    }

    fn items<'a>(dtype: &'a Dtype, bytes: &'a [u8]) -> Items<'a> {
        Items { dtype, bytes }
    }

    #[test]
    fn distances_of_wide_integers_are_exact() {
        let u8s = Dtype::parse("<u8").unwrap();
        let far = |a: u64, b: u64| distance(items(&u8s, &a.to_le_bytes()), items(&u8s, &b.to_le_bytes()));
        assert_eq!(far(u64::MAX, u64::MAX - 1), Some(1.0));
        assert_eq!(far(0, u64::MAX), Some(u64::MAX as f64));
    }

    #[test]
    fn tolerances_mean_what_they_mean_in_numpy() {
        let f8 = Dtype::parse("<f8").unwrap();
        let close = |a: f64, b: f64, relative, absolute, equal_nan| {
            let tolerance = Tolerance { relative, absolute, equal_nan };
            tolerance.holds(items(&f8, &a.to_le_bytes()), items(&f8, &b.to_le_bytes())).unwrap()
        };
        // The relative tolerance is that of the second number.
        assert!(close(110.0, 100.0, 0.1, 0.0, false) && close(90.0, 100.0, 0.1, 0.0, false));
        assert!(!close(100.0, 90.0, 0.1, 0.0, false));
        assert!(close(1.0, 1.5, 0.0, 0.5, false) && !close(1.0, 1.5, 0.0, 0.49, false));
        assert!(close(0.0, -0.0, 0.0, 0.0, false));
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        assert!(close(inf, inf, 0.0, 0.0, false) && !close(inf, -inf, 1.0, 1.0, false));
        assert!(!close(1.0, inf, 1.0, 0.0, false) && !close(inf, 1.0, 1.0, 0.0, false));
        assert!(!close(nan, nan, 1.0, 1.0, false) && close(nan, nan, 0.0, 0.0, true));
        assert!(!close(nan, 1.0, 1.0, 1.0, true));
        let i8s = Dtype::parse("<i8").unwrap();
        let exact = Tolerance { relative: 0.0, absolute: 0.0, equal_nan: false };
        let (a, b) = ((1i64 << 53) + 1, 2f64.powi(53));
        assert_eq!(exact.holds(items(&i8s, &a.to_le_bytes()), items(&f8, &b.to_le_bytes())), Some(false));
        assert_eq!(exact.holds(items(&Dtype::parse("|S1").unwrap(), b"a"), items(&f8, &[0; 8])), None);
    }
}
