//! From values to colours and positions: the range of a field, round numbers along it, and how they are written.

use crate::colour::{ABOVE, BELOW, MISSING, Rgb, viridis};

/// The finite values of a field, from the least to the greatest, and which others it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    /// The least finite value; 0 if there is none.
    pub(crate) low: f64,
    /// The greatest finite value; 0 if there is none.
    pub(crate) high: f64,
    /// Whether there is a finite value at all.
    pub(crate) finite: bool,
    /// Whether there is a NaN.
    pub(crate) missing: bool,
    /// Whether there is a plus infinity.
    pub(crate) above: bool,
    /// Whether there is a minus infinity.
    pub(crate) below: bool,
}

impl Range {
    /// The range of `values`.
    pub(crate) fn of(values: &[f64]) -> Self {
        let mut range =
            Self { low: 0.0, high: 0.0, finite: false, missing: false, above: false, below: false };
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &v in values {
            if v.is_finite() {
                low = low.min(v);
                high = high.max(v);
            } else {
                range.missing |= v.is_nan();
                range.above |= v == f64::INFINITY;
                range.below |= v == f64::NEG_INFINITY;
            }
        }
        if low <= high {
            (range.low, range.high, range.finite) = (low, high, true);
        }
        range
    }

    /// Where `v` lies between the ends, 0 to 1; the middle if the ends are one.
    pub(crate) fn fraction(&self, v: f64) -> f64 {
        // Half of everything, so that the difference of two huge values is not infinite; subnormals lose a
        // bit by it, which no picture shows.
        let width = self.high / 2.0 - self.low / 2.0;
        if width > 0.0 { ((v / 2.0 - self.low / 2.0) / width).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// The colour that shows `v`.
    pub(crate) fn colour(&self, v: f64) -> Rgb {
        if v.is_finite() {
            viridis(self.fraction(v))
        } else if v.is_nan() {
            MISSING
        } else if v > 0.0 {
            ABOVE
        } else {
            BELOW
        }
    }

    /// Whether all finite values are the same.
    pub(crate) fn is_constant(&self) -> bool {
        self.low >= self.high
    }

    /// Round values within the ends with their texts, about `wanted` of them; the ends themselves if the
    /// range is too small or too large for round numbers.
    pub(crate) fn ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        if !self.finite {
            return Vec::new();
        }
        if self.is_constant() {
            return vec![(self.low, plain(self.low))];
        }
        let largest = self.low.abs().max(self.high.abs());
        let step = round_step((self.high - self.low) / wanted.max(1) as f64);
        let Some(step) = step.filter(|step| *step > largest * 4.0 * f64::EPSILON) else {
            return [self.low, self.high].map(|v| (v, format!("{v:e}"))).into();
        };
        multiples(step, self.low, self.high).into_iter().map(|v| (v, written(v, step, largest))).collect()
    }
}

/// The least of 1, 2, 5 × a power of ten that is not below `raw`; `None` where doubles leave no room for it.
fn round_step(raw: f64) -> Option<f64> {
    if !(raw.is_normal() && raw > 0.0) {
        return None;
    }
    let power = 10f64.powi(raw.log10().floor() as i32);
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|&step| step >= raw * 0.999_999)?;
    step.is_normal().then_some(step)
}

/// The multiples of `step` between `low` and `high`; at most 100.
fn multiples(step: f64, low: f64, high: f64) -> Vec<f64> {
    let slack = step * 1e-9;
    let first = ((low - slack) / step).ceil();
    let mut found = Vec::new();
    for i in 0..100 {
        let v = (first + f64::from(i)) * step;
        if v.is_nan() || v > high + slack {
            break;
        }
        // `+ 0.0` makes a negative zero positive.
        found.push(v.clamp(low, high) + 0.0);
    }
    found
}

/// `v`, a multiple of `step`, with as many digits as tell it from its neighbours.
fn written(v: f64, step: f64, largest: f64) -> String {
    let step_power = (step.log10() + 1e-9).floor() as i32;
    let power = (largest.log10() + 1e-9).floor() as i32;
    // A value a rounding error away from zero is zero.
    let v = if v.abs() < step * 1e-6 { 0.0 } else { v };
    if !(-4..=6).contains(&power) {
        if v == 0.0 {
            return "0".into();
        }
        let digits = ((v.abs().log10() + 1e-9).floor() as i32 - step_power).clamp(0, 17) as usize;
        return format!("{v:.digits$e}");
    }
    format!("{v:.*}", (-step_power).clamp(0, 17) as usize)
}

/// `v` for a reader: six significant digits or so, and all the digits of a whole number.
pub(crate) fn plain(v: f64) -> String {
    let size = v.abs();
    if v == 0.0 {
        return "0".into();
    }
    if v.fract() == 0.0 && size < 1e9 {
        return format!("{v:.0}");
    }
    if !(1e-4..1e7).contains(&size) {
        let text = format!("{v:.5e}");
        return match text.split_once('e') {
            Some((digits, power)) => format!("{}e{power}", without_trailing_zeros(digits)),
            None => text,
        };
    }
    let decimals = (5 - size.log10().floor() as i32).clamp(1, 10) as usize;
    without_trailing_zeros(&format!("{v:.decimals$}")).into()
}

fn without_trailing_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// No number along an axis is farther from its start.
const FAR: i128 = 1 << 120;

/// One axis of a field: sample `i` of `len` is number `start + i * step` of the array it came from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axis {
    /// How many samples.
    pub(crate) len: usize,
    /// The number of the first.
    pub(crate) start: i64,
    /// From one to the next.
    pub(crate) step: i64,
}

impl Axis {
    /// Round numbers along the axis as (position in samples, where a sample's middle is at its index plus a
    /// half; text). `gap` is the least distance between two of them, in samples.
    pub(crate) fn ticks(&self, gap: f64) -> Vec<(f64, String)> {
        let step = if self.step == 0 { 1 } else { self.step };
        let number = |i: usize| self.number(i);
        if self.len == 0 {
            return Vec::new();
        }
        let every = |i: usize| (i as f64 + 0.5, number(i).to_string());
        // A few samples with wide gaps: each gets its own number.
        if self.len <= 12 && gap <= 1.0 {
            return (0..self.len).map(every).collect();
        }
        let (first, last) = (number(0), number(self.len - 1));
        let (low, high) = (first.min(last), first.max(last));
        for wanted in (1..=8).rev() {
            let Some(round) = round_step((high - low) as f64 / f64::from(wanted)) else { break };
            let round = (round.round() as i128).max(1);
            let begin = low.div_euclid(round) * round + if low.rem_euclid(round) == 0 { 0 } else { round };
            let count = if begin > high { 0 } else { (high - begin) / round + 1 };
            let apart = round as f64 / (step as f64).abs();
            if count == 0 || (count > 1 && apart < gap) {
                continue;
            }
            let at = |v: i128| ((v - first) as f64 / step as f64 + 0.5, v.to_string());
            return (0..count).map(|i| at(begin + i * round)).collect();
        }
        vec![every(0)]
    }

    /// The number of sample `i`.
    fn number(&self, i: usize) -> i128 {
        (i as i128).saturating_mul(self.step.into()).clamp(-FAR, FAR) + i128::from(self.start)
    }

    /// The longest text that a tick of this axis may have.
    pub(crate) fn widest(&self) -> String {
        let last = self.number(self.len.saturating_sub(1));
        let (a, b) = (self.start.to_string(), last.to_string());
        if a.len() > b.len() { a } else { b }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(low: f64, high: f64) -> Vec<String> {
        Range::of(&[low, high]).ticks(5).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(texts(0.0, 255.0), ["0", "100", "200"]);
        assert_eq!(texts(-24.5625, 78.5), ["0", "50"]);
        assert_eq!(texts(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(-0.31, 0.3), ["-0.2", "0.0", "0.2"]);
        assert_eq!(texts(1e10, 5e10), ["1e10", "2e10", "3e10", "4e10", "5e10"]);
        assert_eq!(texts(-2e-9, 2e-9), ["-2e-9", "-1e-9", "0", "1e-9", "2e-9"]);
        assert_eq!(texts(1e9, 1e9 + 4.0)[1], "1.000000001e9");
    }

    #[test]
    fn ticks_of_hard_ranges_are_finite_and_told_apart() {
        let hard = [
            (f64::MIN, f64::MAX),
            (0.0, 5e-324),
            (5e-324, 2e-323),
            (-f64::MIN_POSITIVE, f64::MIN_POSITIVE),
            (1.0, 1.0 + f64::EPSILON),
            (1e300, 1.000_000_1e300),
            (-1e-300, 1e300),
            (9_007_199_254_740_992.0, 9_007_199_254_740_994.0),
        ];
        for (low, high) in hard {
            let range = Range::of(&[low, high]);
            let ticks = range.ticks(5);
            assert!(!ticks.is_empty() && ticks.len() < 12, "{low:e} {high:e} {ticks:?}");
            for (v, text) in &ticks {
                assert!(v.is_finite() && *v >= low && *v <= high, "{text}");
                assert!(text.len() < 26, "{text}");
                assert!((0.0..=1.0).contains(&range.fraction(*v)));
            }
            assert!(ticks.windows(2).all(|pair| pair[0].0 < pair[1].0), "{ticks:?}");
        }
    }

    #[test]
    fn a_range_knows_what_is_not_finite() {
        let range = Range::of(&[f64::NAN, 2.0, f64::INFINITY, -1.0]);
        assert_eq!((range.low, range.high, range.finite), (-1.0, 2.0, true));
        assert_eq!((range.missing, range.above, range.below), (true, true, false));
        assert!(!Range::of(&[f64::NAN]).finite);
        assert!(Range::of(&[f64::NEG_INFINITY]).below);
        assert_eq!(Range::of(&[3.5; 4]).ticks(5), [(3.5, "3.5".to_string())]);
        assert!((Range::of(&[f64::MIN, f64::MAX]).fraction(0.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn axis_ticks_carry_the_numbers_of_the_array() {
        let axis = Axis { len: 1000, start: 0, step: 1 };
        let ticks = axis.ticks(150.0);
        let numbers: Vec<&str> = ticks.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(numbers, ["0", "200", "400", "600", "800"]);
        assert_eq!(ticks[1].0, 200.5);
        let few = Axis { len: 3, start: 7, step: 100 }.ticks(1.0);
        assert_eq!(few, [(0.5, "7".into()), (1.5, "107".into()), (2.5, "207".into())]);
        let backwards = Axis { len: 101, start: 100, step: -1 }.ticks(40.0);
        assert_eq!(backwards, [(100.5, "0".into()), (50.5, "50".into()), (0.5, "100".into())]);
        for (v, _) in (Axis { len: 40, start: -13, step: 7 }).ticks(2.0) {
            assert!((0.0..=40.0).contains(&v));
        }
    }

    #[test]
    fn axes_without_room_or_samples_have_few_ticks() {
        let axis = |len| Axis { len, start: 5, step: 3 };
        assert!(axis(0).ticks(0.0).is_empty());
        assert_eq!(axis(9).ticks(1e9).len(), 1);
        assert_eq!(axis(1).ticks(7.0), [(0.5, "5".to_string())]);
        let odd = Axis { len: usize::MAX, start: i64::MIN, step: i64::MIN };
        assert!(odd.ticks(1e18).len() < 20);
        assert!(!odd.widest().is_empty());
    }

    #[test]
    fn plain_numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (255.0, "255"),
            (-24.5625, "-24.5625"),
            (7.191_355_7, "7.19136"),
            (78.5, "78.5"),
            (1e300, "1e300"),
            (0.1 + 0.2, "0.3"),
            (1.5e-7, "1.5e-7"),
            (123_456_789.0, "123456789"),
            (273.149_99, "273.15"),
        ];
        for (v, text) in cases {
            assert_eq!(plain(v), text);
        }
    }
}
