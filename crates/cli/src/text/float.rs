//! The texts of floats: alone, and in an array, where all have one width and one notation.

use crate::text::digits::{Decimal, End, Width, decimal};

/// A float of 2, 4 or 8 bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Float {
    negative: bool,
    width: Width,
    class: Class,
}

#[derive(Debug, Clone, Copy)]
enum Class {
    Nan,
    Infinite,
    Zero,
    /// Its size, above zero.
    Finite(f64),
}

impl Float {
    /// From the bits of a float of `size` bytes.
    pub(super) fn from_bits(bits: u64, size: usize) -> Self {
        let (width, fraction_bits, exponent_bits) = match size {
            2 => (Width::Half, 10, 5),
            4 => (Width::Single, 23, 8),
            _ => (Width::Double, 52, 11),
        };
        let fraction = bits & ((1 << fraction_bits) - 1);
        let all_ones = (1 << exponent_bits) - 1;
        let biased = ((bits >> fraction_bits) & all_ones) as i32;
        let lowest = 1 - (all_ones as i32 >> 1) - fraction_bits;
        let class = match (biased, fraction) {
            (0, 0) => Class::Zero,
            (0, _) => Class::Finite(size_of(fraction, lowest)),
            (n, 0) if n == all_ones as i32 => Class::Infinite,
            (n, _) if n == all_ones as i32 => Class::Nan,
            _ => Class::Finite(size_of(fraction | 1 << fraction_bits, lowest + biased - 1)),
        };
        Float { negative: bits >> (fraction_bits + exponent_bits) & 1 == 1, width, class }
    }

    /// Whether it is neither NaN nor infinite.
    pub(super) fn is_finite(self) -> bool {
        matches!(self.class, Class::Zero | Class::Finite(_))
    }

    /// The size of a finite value that is not zero.
    fn magnitude(self) -> Option<f64> {
        if let Class::Finite(size) = self.class { Some(size) } else { None }
    }

    fn decimal(self, end: End) -> Decimal {
        match self.class {
            Class::Finite(size) => decimal(size, self.width, end),
            _ => Decimal { digits: "0".to_string(), exponent: 0 },
        }
    }

    fn sign(self, plus: bool) -> &'static str {
        match (self.negative && !matches!(self.class, Class::Nan), plus) {
            (true, _) => "-",
            (false, true) => "+",
            (false, false) => "",
        }
    }

    fn non_finite(self, plus: bool) -> String {
        let word = if matches!(self.class, Class::Nan) { "nan" } else { "inf" };
        format!("{}{word}", self.sign(plus))
    }

    /// Whether the value is zero with a plus sign.
    pub(super) fn is_positive_zero(self) -> bool {
        matches!(self.class, Class::Zero) && !self.negative
    }

    /// The text of a single value: all the digits that identify it. `point` asks for `1.0` in place of `1`.
    pub(super) fn alone(self, plus: bool, point: bool) -> String {
        self.alone_to(plus, point, None)
    }

    /// As [`Float::alone`], with at most this number of digits after the point.
    pub(super) fn alone_to(self, plus: bool, point: bool, most: Option<usize>) -> String {
        if !self.is_finite() {
            return self.non_finite(plus);
        }
        let cutoff = match self.width {
            Width::Half => 1e3,
            Width::Single => 1e6,
            Width::Double => 1e16,
        };
        let plain = self.magnitude().is_none_or(|size| (1e-4..cutoff).contains(&size));
        let digits = self.decimal(match (most, plain) {
            (None, _) => End::Shortest,
            (Some(most), true) => End::Fraction(most),
            (Some(most), false) => End::AfterFirst(most),
        });
        let parts = if plain { positional(&digits) } else { scientific(&digits) };
        let fraction = match (parts.fraction.is_empty(), plain && point) {
            (true, true) => ".0".to_string(),
            (true, false) => String::new(),
            (false, _) => format!(".{}", parts.fraction),
        };
        let exponent = parts.exponent.map(|e| exponent_text(e, 2)).unwrap_or_default();
        format!("{}{}{fraction}{exponent}", self.sign(plus), parts.whole)
    }
}

/// `mantissa * 2^exponent`, which is exact: no float here is wider than a double.
fn size_of(mantissa: u64, exponent: i32) -> f64 {
    // In two steps, as 2^-1074 is the smallest double there is.
    let half = exponent / 2;
    mantissa as f64 * 2f64.powi(half) * 2f64.powi(exponent - half)
}

/// A number around its point, without zeros at the end.
struct Parts {
    whole: String,
    fraction: String,
    exponent: Option<i32>,
}

fn positional(decimal: &Decimal) -> Parts {
    let text = &decimal.digits;
    let before = usize::try_from(decimal.exponent + 1).unwrap_or(0);
    let (whole, fraction) = if before == 0 {
        let zeros = decimal.exponent.unsigned_abs().saturating_sub(1) as usize;
        ("0".to_string(), "0".repeat(zeros) + text)
    } else {
        match text.split_at_checked(before) {
            Some((whole, fraction)) => (whole.to_string(), fraction.to_string()),
            None => (format!("{text:0<before$}"), String::new()),
        }
    };
    Parts { whole, fraction: fraction.trim_end_matches('0').to_string(), exponent: None }
}

fn scientific(decimal: &Decimal) -> Parts {
    let (whole, fraction) = decimal.digits.split_at_checked(1).unwrap_or_default();
    Parts {
        whole: whole.to_string(),
        fraction: fraction.trim_end_matches('0').to_string(),
        exponent: Some(decimal.exponent),
    }
}

fn exponent_text(exponent: i32, digits: usize) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("e{sign}{:0digits$}", exponent.unsigned_abs())
}

/// How the floats of one array are written: in one notation, with their points in one column.
#[derive(Debug)]
pub(super) struct FloatFormat {
    plus: bool,
    /// The most digits after the point.
    most: usize,
    /// The columns before the point, sign included.
    before: usize,
    /// The columns after the point.
    after: usize,
    notation: Notation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notation {
    Positional,
    Scientific { precision: usize, exponent_digits: usize },
}

impl FloatFormat {
    /// The format for all of `values`. `plus` writes a sign before positive ones.
    pub(super) fn new(values: &[Float], plus: bool, most: usize) -> Self {
        let finite: Vec<Float> = values.iter().copied().filter(|v| v.is_finite()).collect();
        let is_scientific = needs_exponents(&finite);
        let end = if is_scientific { End::AfterFirst(most) } else { End::Fraction(most) };
        let (mut before, mut precision, mut exponent_digits) = (0, 0, 0);
        for value in &finite {
            let digits = value.decimal(end);
            let parts = if is_scientific { scientific(&digits) } else { positional(&digits) };
            before = before.max(value.sign(plus).len() + parts.whole.len());
            precision = precision.max(parts.fraction.len());
            let exponent = parts.exponent.map(|e| exponent_text(e, 2).len() - 2);
            exponent_digits = exponent_digits.max(exponent.unwrap_or(0));
        }
        let (after, notation) = if is_scientific {
            (precision + exponent_digits + 2, Notation::Scientific { precision, exponent_digits })
        } else {
            (precision, Notation::Positional)
        };
        if finite.len() < values.len() {
            let signed = plus || values.iter().any(|v| matches!(v.class, Class::Infinite) && v.negative);
            // The words stand on the right, over the point and what follows it.
            before = before.max((3 + usize::from(signed)).saturating_sub(after + 1));
        }
        FloatFormat { plus, most, before, after, notation }
    }

    /// The text of one of the values.
    pub(super) fn text(&self, value: Float) -> String {
        let FloatFormat { plus, most, before, after, notation } = *self;
        if !value.is_finite() {
            return format!("{:>1$}", value.non_finite(plus), before + after + 1);
        }
        let sign = value.sign(plus);
        match notation {
            Notation::Positional => {
                let parts = positional(&value.decimal(End::Fraction(most)));
                format!("{:>before$}.{:<after$}", format!("{sign}{}", parts.whole), parts.fraction)
            }
            Notation::Scientific { precision, exponent_digits } => {
                let digits = value.decimal(End::ExactlyAfterFirst(precision));
                let parts = scientific(&digits);
                let exponent = exponent_text(digits.exponent, exponent_digits);
                format!(
                    "{:>before$}.{:0<precision$}{exponent}",
                    format!("{sign}{}", parts.whole),
                    parts.fraction
                )
            }
        }
    }
}

/// Whether an array is written with exponents: for large, for small, and for far apart values, compared in their width.
fn needs_exponents(finite: &[Float]) -> bool {
    let sizes = || finite.iter().filter_map(|v| v.magnitude());
    let (Some(largest), Some(smallest)) = (sizes().reduce(f64::max), sizes().reduce(f64::min)) else {
        return false;
    };
    let width = finite.first().map_or(Width::Double, |v| v.width);
    let single_ratio = largest as f32 / smallest as f32;
    let (large, small, far_apart) = match width {
        // 1e-4 as a half; a ratio rounds to a half above 1000 from beyond 1000.25 on.
        Width::Half => (1e3, 1678.0 / 16_777_216.0, single_ratio > 1000.25),
        Width::Single => (1e6, f64::from(1e-4f32), single_ratio > 1000.0),
        Width::Double => (1e8, 1e-4, largest / smallest > 1000.0),
    };
    largest >= large || smallest < small || far_apart
}
