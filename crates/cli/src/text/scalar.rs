//! The text of an array without axes: that of its only item, as `str` of a NumPy scalar.

use b2nd::Dtype;
use b2nd::array::{Kind, bytes_repr};

use crate::text::Style;
use crate::text::calendar::{NAT, iso, plural};
use crate::text::item::{
    Context, Formatter, code_points, complex, count, float, integer, raw, without_zeros,
};

/// The text of a NumPy scalar, which only for bytes is not that of an array without axes.
pub fn scalar(dtype: &Dtype, bytes: &[u8]) -> String {
    match dtype.kind() {
        Kind::Bytes => bytes_repr(without_zeros(bytes)),
        _ => text(dtype, bytes),
    }
}

/// The text of the only item of an array without axes.
pub(super) fn text(dtype: &Dtype, bytes: &[u8]) -> String {
    match dtype.kind() {
        Kind::Int | Kind::Uint => integer(dtype, bytes).to_string(),
        Kind::Float => float(dtype, bytes).alone(false, true),
        Kind::Complex => {
            let (real, imaginary) = complex(dtype, bytes);
            if real.is_positive_zero() {
                format!("{}j", imaginary.alone(false, false))
            } else {
                format!("({}{}j)", real.alone(false, false), imaginary.alone(true, false))
            }
        }
        Kind::Bytes => format!("np.bytes_({})", scalar(dtype, bytes)),
        Kind::Str => characters(dtype, bytes),
        Kind::Datetime => match (count(dtype, bytes), dtype.unit()) {
            (NAT, _) => "NaT".to_string(),
            (steps, Some(unit)) => iso(steps, unit),
            (steps, None) => steps.to_string(),
        },
        Kind::Timedelta => match count(dtype, bytes) {
            NAT => "NaT".to_string(),
            steps => {
                let unit = dtype.unit();
                let steps = steps.wrapping_mul(unit.map_or(1, |unit| i64::from(unit.count())));
                format!("{steps} {}", plural(unit))
            }
        },
        Kind::Bool | Kind::Struct => {
            Formatter::new(dtype, &[bytes], Context::Alone, Style::default()).text(bytes)
        }
        // `Kind::Void`, and kinds that this command does not know.
        _ => raw(bytes),
    }
}

/// The characters themselves; what is none, such as a lone surrogate, as an escape.
fn characters(dtype: &Dtype, bytes: &[u8]) -> String {
    let mut text = String::new();
    for code in code_points(dtype, bytes) {
        match char::from_u32(code) {
            Some(c) => text.push(c),
            None if code <= 0xffff => text.push_str(&format!("\\u{code:04x}")),
            None => text.push_str(&format!("\\U{code:08x}")),
        }
    }
    text
}
