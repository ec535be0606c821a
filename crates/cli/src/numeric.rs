//! Items as numbers for pictures and comparisons, whatever their dtype and byte order.

use b2nd::array::{ByteOrder, Dtype, Kind};

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

/// How far two items are apart; `None` for items that are no numbers.
pub(crate) fn distance(dtype: &Dtype, a: &[u8], b: &[u8]) -> Option<f64> {
    match (number(dtype, a)?, number(dtype, b)?) {
        // Exact: two integers of 64 bits differ by less than 2^64.
        (Number::Integer(a), Number::Integer(b)) => Some((a - b).unsigned_abs() as f64),
        (Number::Complex(a, c), Number::Complex(b, d)) => Some((a - b).hypot(c - d)),
        (a, b) => Some((a.magnitude() - b.magnitude()).abs()),
    }
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

    #[test]
    fn distances_of_wide_integers_are_exact() {
        let u8s = Dtype::parse("<u8").unwrap();
        assert_eq!(distance(&u8s, &u64::MAX.to_le_bytes(), &(u64::MAX - 1).to_le_bytes()), Some(1.0));
        assert_eq!(distance(&u8s, &0u64.to_le_bytes(), &u64::MAX.to_le_bytes()), Some(u64::MAX as f64));
    }
}
