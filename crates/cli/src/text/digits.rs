//! The decimal digits of a binary float: the shortest that identify it, or the exact ones, cut off and rounded at a place.
//!
//! The digits are those of the standard library's `{:e}`, which rounds exact ties to an even digit, as NumPy does. The shortest
//! digits of a tie may end in the odd one there; these are replaced by the exact ones where both identify the value.

/// How wide a float is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    Half,
    Single,
    Double,
}

/// Where digits end.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    /// Where the value is identified.
    Shortest,
    /// There, but at most this number of digits after the point.
    Fraction(usize),
    /// There, but at most this number of digits after the first one.
    AfterFirst(usize),
    /// This number of digits after the first one, of the exact value.
    ExactlyAfterFirst(usize),
}

/// Decimal digits, the first of which stands for `digit * 10^exponent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) digits: String,
    pub(super) exponent: i32,
}

impl Decimal {
    /// From a text like `1.25e-7`.
    fn from_scientific(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let digits = mantissa.chars().filter(char::is_ascii_digit).collect();
        Decimal { digits, exponent: exponent.parse().unwrap_or(0) }
    }

    /// The digits after the point.
    fn fraction(&self) -> i32 {
        i32::try_from(self.digits.len()).unwrap_or(i32::MAX) - 1 - self.exponent
    }
}

/// The digits of `value`, a float of a width that is finite and above zero, up to `end`.
pub(super) fn decimal(value: f64, width: Width, end: End) -> Decimal {
    let exact = |after_first: usize| Decimal::from_scientific(&format!("{value:.after_first$e}"));
    let shortest = Decimal::from_scientific(&shortest(value, width));
    match end {
        End::ExactlyAfterFirst(n) if shortest.digits.len() != n + 1 => exact(n),
        End::AfterFirst(n) if shortest.digits.len() > n + 1 => exact(n),
        End::Fraction(n) if usize::try_from(shortest.fraction()).is_ok_and(|found| found > n) => {
            // A digit more where the value rounds up to a power of ten; the first digit at least.
            let text = format!("{value:.n$}");
            let digits = text.trim_start_matches(['0', '.']).replace('.', "");
            let exponent =
                i32::try_from(digits.len()).unwrap_or(i32::MAX) - 1 - i32::try_from(n).unwrap_or(i32::MAX);
            if digits.is_empty() {
                Decimal { digits: "0".to_owned(), exponent: 0 }
            } else {
                Decimal { digits, exponent }
            }
        }
        _ => shortest,
    }
}

/// The fewest digits that identify a value, and of those the nearest to it.
fn shortest(value: f64, width: Width) -> String {
    let text = match width {
        Width::Double => format!("{value:e}"),
        Width::Single => format!("{:e}", value as f32),
        Width::Half => return shortest_half(value),
    };
    let after_first = text.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count() - 1;
    let exact = format!("{value:.after_first$e}");
    let identifies = match width {
        Width::Single => exact.parse() == Ok(value as f32),
        _ => exact.parse() == Ok(value),
    };
    if identifies { exact } else { text }
}

/// The fewest digits that identify a float of 2 bytes, which five do.
fn shortest_half(value: f64) -> String {
    /// The gap between the smallest floats of 2 bytes.
    const LEAST_GAP: f64 = 1.0 / 16_777_216.0;
    // The exponent of a double, without its bias; a half has 10 bits behind the first.
    let power = f64::from_bits(value.to_bits() & 0x7ff << 52);
    let gap = (power / 1024.0).max(LEAST_GAP);
    let below = if value == power && gap > LEAST_GAP { gap / 4.0 } else { gap / 2.0 };
    let is_even = (value / gap) % 2.0 == 0.0;
    let identifies = |text: &String| {
        let distance = text.parse::<f64>().unwrap_or(0.0) - value;
        let most = if distance < 0.0 { below } else { gap / 2.0 };
        distance.abs() < most || is_even && distance.abs() == most
    };
    // Where the even digit of a tie is below a power of two, only the odd one above may identify it.
    let both = [value, value.next_up()];
    let mut texts = (0..5).flat_map(|after_first: usize| both.map(|near| format!("{near:.after_first$e}")));
    texts.find(identifies).unwrap_or_else(|| format!("{value:e}"))
}

#[cfg(test)]
mod tests {
    use super::{End, Width, decimal};

    fn digits(value: f64, width: Width, end: End) -> String {
        let found = decimal(value, width, end);
        format!("{}e{}", found.digits.trim_end_matches('0'), found.exponent)
    }

    #[test]
    fn ends_cut_and_round() {
        let double = |value, end| digits(value, Width::Double, end);
        assert_eq!(double(std::f64::consts::PI, End::Fraction(3)), "3142e0");
        assert_eq!(double(std::f64::consts::PI, End::AfterFirst(1)), "31e0");
        assert_eq!(double(0.5, End::AfterFirst(5)), "5e-1");
        assert_eq!(double(0.1, End::ExactlyAfterFirst(18)), "1000000000000000056e-1");
        assert_eq!(double(9.999, End::Fraction(1)), "1e1");
        assert_eq!(double(0.125, End::Fraction(2)), "12e-1");
        assert_eq!(double(0.375, End::Fraction(2)), "38e-1");
        assert_eq!(double(123.456, End::Fraction(0)), "123e2");
        assert_eq!(double(0.04, End::Fraction(1)), "e0");
    }

    #[test]
    fn ties_go_to_the_even_digit_where_it_identifies_the_value() {
        // The standard library's shortest digits end in 3 here.
        assert_eq!(digits(2f64.powi(-25), Width::Double, End::Shortest), "29802322387695312e-8");
        assert_eq!(digits(f64::from(2f32.powi(-24)), Width::Single, End::Shortest), "59604645e-8");
        // The even digit, 2, is nearer to the half below.
        assert_eq!(digits(2f64.powi(-6), Width::Half, End::Shortest), "1563e-2");
    }

    #[test]
    fn the_shortest_digits_of_a_float_of_two_bytes_identify_it() {
        // All floats of two bytes, in order: each lies between the middles to its neighbours.
        let value = |bits: u16| {
            let (fraction, exponent) = (f64::from(bits & 0x3ff), i32::from(bits >> 10));
            if exponent == 0 {
                fraction * 2f64.powi(-24)
            } else {
                (fraction + 1024.0) * 2f64.powi(exponent - 25)
            }
        };
        for bits in 1..0x7bff {
            let decimal = decimal(value(bits), Width::Half, End::Shortest);
            assert!(decimal.digits.len() <= 5);
            let found: f64 = format!("0.{}e{}", decimal.digits, decimal.exponent + 1).parse().unwrap();
            let below = f64::midpoint(value(bits - 1), value(bits));
            let above = f64::midpoint(value(bits), value(bits + 1));
            assert!(below <= found && found <= above, "{bits:#x}: {found}");
            assert!(bits % 2 == 0 || below < found && found < above, "{bits:#x}: {found} lies on a middle");
        }
    }
}
