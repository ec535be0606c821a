//! Items as values, dates or colours of a picture.

use b2nd::array::{ByteOrder, Kind, TimeBase};
use b2nd::{Array, Dtype};

use crate::failure::{Failure, Result};
use crate::numeric;

/// Whether the last axis may hold the parts of a colour, as far as the dtype says.
pub(super) fn can_be_colours(array: &Array) -> bool {
    let dtype = array.dtype();
    match dtype.kind() {
        Kind::Uint => dtype.itemsize() <= 2,
        Kind::Float => true,
        _ => false,
    }
}

/// Whether an array is taken for colours without being asked for: integers of one or two bytes, in threes or fours.
pub(super) fn are_colours(array: &Array) -> bool {
    let shape = array.shape();
    let large = |axis: Option<&u64>| axis.is_some_and(|&len| len > 1);
    let sides = shape.len().checked_sub(3).map(|first| (shape.get(first), shape.get(first + 1)));
    array.dtype().kind() == Kind::Uint
        && can_be_colours(array)
        && matches!(shape.last(), Some(3 | 4))
        && sides.is_some_and(|(rows, cols)| large(rows) && large(cols))
}

/// What a value of a dtype is, where it is not a plain number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A number.
    Number,
    /// The modulus of a complex number.
    Modulus,
    /// Seconds since 1970.
    Time,
    /// A number of the units of a `timedelta64`.
    Duration,
}

/// Items as floats, and what these mean. Times are seconds since 1970.
pub(super) fn to_values(dtype: &Dtype, items: &[u8]) -> Result<(Vec<f64>, Meaning)> {
    let counts = || counts(dtype, items);
    match dtype.kind() {
        Kind::Datetime => Ok((counts().map(|count| seconds(dtype, count)).collect(), Meaning::Time)),
        Kind::Timedelta => {
            let each = f64::from(dtype.unit().map_or(1, b2nd::array::TimeUnit::count));
            let value = |count| if count == i64::MIN { f64::NAN } else { count as f64 * each };
            Ok((counts().map(value).collect(), Meaning::Duration))
        }
        kind => {
            let values = numeric::to_f64(dtype, items).ok_or_else(|| {
                let message = format!("items of dtype {dtype} cannot be drawn");
                Failure::usage(message, "numbers, booleans and times can; --dtype says what raw items are")
            })?;
            let meaning = if kind == Kind::Complex { Meaning::Modulus } else { Meaning::Number };
            Ok((values, meaning))
        }
    }
}

/// The counts of times.
fn counts(dtype: &Dtype, items: &[u8]) -> impl Iterator<Item = i64> {
    let big = dtype.byte_order() == ByteOrder::Big;
    let (eights, _) = items.as_chunks::<8>();
    eights.iter().map(move |&bytes| if big { i64::from_be_bytes(bytes) } else { i64::from_le_bytes(bytes) })
}

/// A time as seconds since 1970; NaN for one that is none.
fn seconds(dtype: &Dtype, count: i64) -> f64 {
    let Some(unit) = dtype.unit().filter(|_| count != i64::MIN) else { return f64::NAN };
    let count = count.saturating_mul(i64::from(unit.count()));
    let months = |months: i64| {
        let (year, month) = (months.div_euclid(12).saturating_add(1970), months.rem_euclid(12) + 1);
        b2nd_plot::days_since_1970(year, month, 1) as f64 * 86_400.0
    };
    let each = match unit.base() {
        TimeBase::Year => return months(count.saturating_mul(12)),
        TimeBase::Month => return months(count),
        TimeBase::Week => 604_800.0,
        TimeBase::Day => 86_400.0,
        TimeBase::Hour => 3600.0,
        TimeBase::Minute => 60.0,
        TimeBase::Second => 1.0,
        TimeBase::Milli => 1e-3,
        TimeBase::Micro => 1e-6,
        TimeBase::Nano => 1e-9,
        TimeBase::Pico => 1e-12,
        TimeBase::Femto => 1e-15,
        TimeBase::Atto => 1e-18,
    };
    count as f64 * each
}

/// Items as colours, of 3 or 4 parts each; what is not opaque lies on white.
pub(super) fn to_colours(dtype: &Dtype, items: &[u8], parts: usize) -> Result<Vec<[u8; 3]>> {
    let values = numeric::to_f64(dtype, items).unwrap_or_default();
    let whole = match (dtype.kind(), dtype.itemsize()) {
        (Kind::Float, _) => 1.0,
        (_, 1) => 255.0,
        _ => 65_535.0,
    };
    if let Some(odd) = values.iter().find(|value| !(0.0..=whole).contains(*value)) {
        return Err(Failure::usage(
            format!("a colour component is {odd}: components that are floats lie from 0 to 1"),
            "give --slice with an integer for the last axis, to draw its values",
        ));
    }
    let colour = |item: &[f64]| {
        let part = |n: usize| item.get(n).map_or(1.0, |value| value / whole);
        let opacity = part(3);
        [0, 1, 2].map(|n| ((part(n) * opacity + 1.0 - opacity) * 255.0).round() as u8)
    };
    Ok(values.chunks_exact(parts.max(1)).map(colour).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_every_unit_are_seconds() {
        let value = |dtype: &str, count: i64| {
            let (values, meaning) = to_values(&Dtype::parse(dtype).unwrap(), &count.to_le_bytes()).unwrap();
            assert_eq!(meaning, Meaning::Time);
            values[0]
        };
        let day = 86_400.0;
        assert_eq!(value("<M8[D]", 3), 3.0 * day);
        assert_eq!(value("<M8[Y]", 1), 365.0 * day);
        assert_eq!(value("<M8[M]", 14), 424.0 * day);
        assert_eq!(value("<M8[ms]", 1500), 1.5);
        assert_eq!(value("<M8[6h]", 2), 0.5 * day);
        assert!(value("<M8[s]", i64::MIN).is_nan());
    }

    #[test]
    fn colours_have_three_parts_or_four() {
        let u1 = Dtype::parse("|u1").unwrap();
        assert_eq!(to_colours(&u1, &[1, 2, 3, 4, 5, 6], 3).unwrap(), [[1, 2, 3], [4, 5, 6]]);
        assert_eq!(to_colours(&u1, &[255, 0, 0, 0, 255, 0, 0, 51], 4).unwrap(), [[255; 3], [255, 204, 204]]);
        let floats: Vec<u8> = [0.0f32, 0.5, 1.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(to_colours(&Dtype::parse("<f4").unwrap(), &floats, 3).unwrap(), [[0, 128, 255]]);
        let odd: Vec<u8> = [0.0f32, 2.0, 1.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert!(to_colours(&Dtype::parse("<f4").unwrap(), &odd, 3).is_err());
    }
}
