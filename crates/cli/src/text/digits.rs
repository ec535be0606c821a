//! The decimal digits of a binary float: the shortest that identify it, cut off and rounded at a place.
//!
//! The method is that of Steele and White, in whole numbers of any length: the value and half the gaps to its neighbours
//! over one denominator. It is exact for every width of float, and slow next to table-driven ones; a text has at most a
//! few thousand numbers.

use std::cmp::Ordering;

/// A finite float above zero: `mantissa * 2^exponent`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Binary {
    pub(super) mantissa: u64,
    pub(super) exponent: i32,
    /// Whether the gap below is half the gap above, as at powers of two.
    pub(super) narrow_below: bool,
}

/// Where digits end.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    /// Where the value is identified.
    Shortest,
    /// There, but at most so many digits after the point.
    Fraction(i32),
    /// There, but at most so many digits after the first one.
    AfterFirst(i32),
    /// So many digits after the first one, of the exact value.
    ExactlyAfterFirst(i32),
}

/// Decimal digits, the first of which stands for `digit * 10^exponent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) digits: Vec<u8>,
    pub(super) exponent: i32,
}

/// The digits of `value` up to `end`, rounded to the nearest, ties to an even digit.
pub(super) fn decimal(value: Binary, end: End) -> Decimal {
    let (mut state, exponent) = Fraction::new(value);
    let (identified_at, last) = match end {
        End::Shortest => (i32::MAX, i32::MIN),
        End::Fraction(n) => (i32::MAX, -n),
        End::AfterFirst(n) => (i32::MAX, exponent - n),
        End::ExactlyAfterFirst(n) => (exponent - n, exponent - n),
    };
    let mut digits = Vec::new();
    let mut place = exponent;
    loop {
        let digit = state.next_digit();
        let (low, high) = state.identified();
        digits.push(digit);
        if ((low || high) && place <= identified_at) || place <= last {
            let up = if low == high { state.rounds_up(digit) } else { high };
            return if up { round_up(digits, exponent) } else { Decimal { digits, exponent } };
        }
        state.shift();
        place -= 1;
    }
}

fn round_up(mut digits: Vec<u8>, exponent: i32) -> Decimal {
    while digits.last() == Some(&9) {
        digits.pop();
    }
    match digits.last_mut() {
        Some(digit) => {
            *digit += 1;
            Decimal { digits, exponent }
        }
        None => Decimal { digits: vec![1], exponent: exponent + 1 },
    }
}

/// What is left of a value after its first digits: `rest / one`, with half the gaps to the neighbours as `below / one`
/// and `above / one`.
struct Fraction {
    rest: Natural,
    one: Natural,
    below: Natural,
    above: Natural,
    /// Whether the ends of the interval round to the value as well.
    inclusive: bool,
}

impl Fraction {
    /// The value over the power of ten of its first digit, and the exponent of that.
    fn new(value: Binary) -> (Self, i32) {
        let up = value.exponent.max(0).unsigned_abs();
        let down = value.exponent.min(0).unsigned_abs();
        // The gaps are halved, and the one below once more at a power of two.
        let halvings = 1 + u32::from(value.narrow_below);
        let mut state = Fraction {
            rest: Natural::from(value.mantissa).shifted(up + halvings),
            one: Natural::from(1).shifted(down + halvings),
            below: Natural::from(1).shifted(up),
            above: Natural::from(1).shifted(up + halvings - 1),
            inclusive: value.mantissa.is_multiple_of(2),
        };
        let bits = 63 - value.mantissa.leading_zeros().min(63).cast_signed() + value.exponent;
        // log10 of the power of two below the value: never above the exponent, and at most one below.
        let mut exponent = (f64::from(bits) * std::f64::consts::LOG10_2 - 1e-9).floor() as i32;
        if exponent >= 0 {
            state.one.multiply_by_power_of_ten(exponent.unsigned_abs());
        } else {
            for part in [&mut state.rest, &mut state.below, &mut state.above] {
                part.multiply_by_power_of_ten(exponent.unsigned_abs());
            }
        }
        let mut ten = state.one.clone();
        ten.multiply(10);
        if state.rest.compare(&ten) != Ordering::Less {
            state.one = ten;
            exponent += 1;
        }
        (state, exponent)
    }

    fn next_digit(&mut self) -> u8 {
        let mut digit = 0;
        while self.rest.compare(&self.one) != Ordering::Less {
            self.rest.subtract(&self.one);
            digit += 1;
        }
        digit
    }

    /// Whether the digits so far, and those with the last one raised, lie nearer to the value than to its neighbours.
    fn identified(&self) -> (bool, bool) {
        let mut sum = self.rest.clone();
        sum.add(&self.above);
        let low = self.rest.compare(&self.below);
        let high = sum.compare(&self.one);
        let on_end = |order: Ordering| self.inclusive && order == Ordering::Equal;
        (low == Ordering::Less || on_end(low), high == Ordering::Greater || on_end(high))
    }

    fn rounds_up(&self, digit: u8) -> bool {
        let mut double = self.rest.clone();
        double.multiply(2);
        match double.compare(&self.one) {
            Ordering::Less => false,
            Ordering::Equal => digit % 2 == 1,
            Ordering::Greater => true,
        }
    }

    fn shift(&mut self) {
        for part in [&mut self.rest, &mut self.below, &mut self.above] {
            part.multiply(10);
        }
    }
}

/// A natural number of any length: limbs of 32 bits, the lowest first, without zeros at the top.
#[derive(Debug, Clone)]
struct Natural {
    limbs: Vec<u32>,
}

impl From<u64> for Natural {
    fn from(value: u64) -> Self {
        let mut number = Natural { limbs: vec![value as u32, (value >> 32) as u32] };
        number.trim();
        number
    }
}

impl Natural {
    fn trim(&mut self) {
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
    }

    fn multiply(&mut self, factor: u32) {
        let mut carry = 0;
        for limb in &mut self.limbs {
            let product = u64::from(*limb) * u64::from(factor) + carry;
            *limb = product as u32;
            carry = product >> 32;
        }
        if carry > 0 {
            self.limbs.push(carry as u32);
        }
    }

    fn multiply_by_power_of_ten(&mut self, power: u32) {
        for _ in 0..power / 9 {
            self.multiply(1_000_000_000);
        }
        self.multiply(10u32.pow(power % 9));
    }

    fn shifted(mut self, bits: u32) -> Self {
        self.multiply(1 << (bits % 32));
        let whole = vec![0; (bits / 32) as usize];
        Natural { limbs: [whole, self.limbs].concat() }
    }

    fn add(&mut self, other: &Natural) {
        if self.limbs.len() < other.limbs.len() {
            self.limbs.resize(other.limbs.len(), 0);
        }
        let mut carry = 0;
        for (n, limb) in self.limbs.iter_mut().enumerate() {
            let sum = u64::from(*limb) + u64::from(other.limbs.get(n).copied().unwrap_or(0)) + carry;
            *limb = sum as u32;
            carry = sum >> 32;
        }
        if carry > 0 {
            self.limbs.push(carry as u32);
        }
    }

    /// Subtracts a number that is not larger.
    fn subtract(&mut self, other: &Natural) {
        let mut borrow = false;
        for (n, limb) in self.limbs.iter_mut().enumerate() {
            let (difference, first) = limb.overflowing_sub(other.limbs.get(n).copied().unwrap_or(0));
            let (difference, second) = difference.overflowing_sub(u32::from(borrow));
            *limb = difference;
            borrow = first || second;
        }
        self.trim();
    }

    fn compare(&self, other: &Natural) -> Ordering {
        let by_length = self.limbs.len().cmp(&other.limbs.len());
        by_length.then_with(|| self.limbs.iter().rev().cmp(other.limbs.iter().rev()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_f64(value: f64) -> Binary {
        let bits = value.to_bits();
        let (fraction, biased) = (bits & ((1 << 52) - 1), (bits >> 52) as i32);
        if biased == 0 {
            Binary { mantissa: fraction, exponent: -1074, narrow_below: false }
        } else {
            let mantissa = fraction | 1 << 52;
            Binary { mantissa, exponent: biased - 1075, narrow_below: fraction == 0 && biased > 1 }
        }
    }

    fn scientific(decimal: &Decimal) -> String {
        let digits: String = decimal.digits.iter().map(|d| char::from(b'0' + d)).collect();
        let (first, rest) = digits.split_at(1);
        if rest.is_empty() {
            format!("{first}e{}", decimal.exponent)
        } else {
            format!("{first}.{rest}e{}", decimal.exponent)
        }
    }

    #[test]
    fn digits_are_as_few_as_those_of_the_standard_library() {
        let mut seed = 0x9e37_79b9_7f4a_7c15u64;
        for n in 0..20_000u64 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let bits = if n < 4000 { (n % 2046 + 1) << 52 | (n / 2046) } else { seed ^ (seed >> 31) };
            let value = f64::from_bits(bits & !(1 << 63));
            if !value.is_finite() || value == 0.0 {
                continue;
            }
            let shortest = scientific(&decimal(of_f64(value), End::Shortest));
            // The standard library rounds a tie up, NumPy to the even digit.
            assert_eq!(shortest.len(), format!("{value:e}").len());
            assert_eq!(shortest.parse::<f64>().unwrap(), value);
            let exact = decimal(of_f64(value), End::ExactlyAfterFirst(8));
            let wanted = format!("{value:.8e}");
            // A carry drops the zeros at the end.
            let found = scientific(&exact).parse::<f64>().unwrap();
            assert_eq!(found, wanted.parse::<f64>().unwrap(), "{value:e}");
        }
    }

    #[test]
    fn ends_cut_and_round() {
        let pi = of_f64(std::f64::consts::PI);
        assert_eq!(scientific(&decimal(of_f64(2f64.powi(-25)), End::Shortest)), "2.9802322387695312e-8");
        assert_eq!(scientific(&decimal(pi, End::Fraction(3))), "3.142e0");
        assert_eq!(scientific(&decimal(pi, End::AfterFirst(1))), "3.1e0");
        assert_eq!(scientific(&decimal(of_f64(0.5), End::AfterFirst(5))), "5e-1");
        assert_eq!(scientific(&decimal(of_f64(0.1), End::ExactlyAfterFirst(18))), "1.000000000000000056e-1");
        assert_eq!(scientific(&decimal(of_f64(9.999), End::Fraction(1))), "1e1");
        assert_eq!(scientific(&decimal(of_f64(0.125), End::Fraction(2))), "1.2e-1");
        assert_eq!(scientific(&decimal(of_f64(0.375), End::Fraction(2))), "3.8e-1");
    }
}
