//! From values to colours and positions: the range of a field, round numbers along it, and how they are written.

use crate::colour::{ABOVE, BELOW, MISSING, Map, Rgb};
use crate::limits::{Limits, Scale, ends};
use crate::{Texts, dates};

/// The values that the ends of the colours stand for, and which others a field holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    /// The value at the lower end; 0 if there is no finite one.
    pub(crate) low: f64,
    /// The value at the upper end; 0 if there is no finite one.
    pub(crate) high: f64,
    /// Whether there is a finite value at all (of a logarithm: one above zero).
    pub(crate) finite: bool,
    /// Whether there is a NaN.
    pub(crate) missing: bool,
    /// Whether there is a plus infinity.
    pub(crate) above: bool,
    /// Whether there is a minus infinity.
    pub(crate) below: bool,
    /// Whether there is a value that has no logarithm, where one is wanted.
    pub(crate) unlogged: bool,
    /// The least and the greatest finite value.
    extremes: (f64, f64),
    limits: Limits,
    log: bool,
    times: bool,
    map: Map,
}

impl Range {
    /// The range of `values`, as `scale` wants it.
    pub(crate) fn new(values: &[f64], scale: &Scale) -> Self {
        let mut range = Self {
            low: 0.0,
            high: 0.0,
            finite: false,
            missing: false,
            above: false,
            below: false,
            unlogged: false,
            extremes: (0.0, 0.0),
            limits: scale.limits,
            log: scale.log,
            times: scale.times,
            map: scale.map,
        };
        let mut shown = Vec::new();
        for &v in values {
            if !v.is_finite() {
                range.missing |= v.is_nan();
                range.above |= v == f64::INFINITY;
                range.below |= v == f64::NEG_INFINITY;
            } else if scale.log && v <= 0.0 {
                range.unlogged = true;
            } else {
                shown.push(v);
            }
        }
        let (low, high) =
            shown.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
        if low <= high {
            range.finite = true;
            range.extremes = (low, high);
            (range.low, range.high) = ends(&mut shown, scale, low, high);
        }
        range
    }

    /// Where `v` lies between the ends, 0 to 1; the middle if the ends are one.
    pub(crate) fn fraction(&self, v: f64) -> f64 {
        self.place(v).clamp(0.0, 1.0)
    }

    /// Where `v` lies from the lower end (0) to the upper (1), or outside of them; the middle if the ends are one.
    pub(crate) fn place(&self, v: f64) -> f64 {
        if self.log {
            let width = self.high.ln() - self.low.ln();
            return if width > 0.0 { (v.ln() - self.low.ln()) / width } else { 0.5 };
        }
        // Half of everything, so that the difference of two huge values is not infinite; subnormals lose a
        // bit by it, which no picture shows.
        let width = self.high / 2.0 - self.low / 2.0;
        if width > 0.0 { (v / 2.0 - self.low / 2.0) / width } else { 0.5 }
    }

    /// The colour that shows `v`.
    pub(crate) fn colour(&self, v: f64) -> Rgb {
        if v.is_nan() {
            MISSING
        } else if v == f64::INFINITY {
            ABOVE
        } else if v == f64::NEG_INFINITY || !self.is_shown(v) {
            BELOW
        } else {
            self.map.colour(self.fraction(v))
        }
    }

    /// Whether a finite value has a place between the ends or beyond them: not without a logarithm, where one is wanted.
    pub(crate) fn is_shown(&self, v: f64) -> bool {
        !self.log || v > 0.0
    }

    /// The colour at a place from 0 to 1.
    pub(crate) fn colour_at(&self, t: f64) -> Rgb {
        self.map.colour(t)
    }

    /// What is not shown by the colours of the bar: an example of the values, and their name.
    pub(crate) fn others(&self) -> impl Iterator<Item = (f64, &'static str)> {
        let below = match (self.below, self.unlogged) {
            (true, true) => "-inf, <= 0",
            (false, true) => "<= 0",
            _ => "-inf",
        };
        let all = [
            (self.missing, f64::NAN, "NaN"),
            (self.above, f64::INFINITY, "+inf"),
            (self.below || self.unlogged, f64::NEG_INFINITY, below),
        ];
        all.into_iter().filter(|(present, ..)| *present).map(|(_, v, name)| (v, name))
    }

    /// Whether all finite values are the same.
    pub(crate) fn is_constant(&self) -> bool {
        self.low >= self.high
    }

    /// What is to be said of values beyond the ends, if there are any.
    pub(crate) fn note(&self) -> Option<String> {
        let (least, greatest) = self.extremes;
        if !self.finite || (least >= self.low && greatest <= self.high) {
            return None;
        }
        let values = format!("values from {} to {}", self.text(least), self.text(greatest));
        Some(match self.limits {
            Limits::Auto => format!("{values}: the colours leave out the outer 0.5 %"),
            Limits::Percentiles(p, q) => {
                format!("{values}: the colours end at {} and {} %", plain(p), plain(q))
            }
            Limits::Fixed(..) => values,
        })
    }

    /// A value as text.
    pub(crate) fn text(&self, v: f64) -> String {
        if self.times { dates::whole(v) } else { plain(v) }
    }

    /// Round values within the ends with their texts, about `wanted` of them; the ends themselves if the
    /// range is too small or too large for round numbers.
    pub(crate) fn ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        if !self.finite {
            return Vec::new();
        }
        if self.is_constant() {
            return vec![(self.low, self.text(self.low))];
        }
        if self.times {
            return dates::ticks(self.low, self.high, wanted);
        }
        if self.log
            && let Some(ticks) = powers(self.low, self.high, wanted)
        {
            return ticks;
        }
        let largest = self.low.abs().max(self.high.abs());
        let step = round_step((self.high - self.low) / wanted.max(1) as f64);
        let Some(step) = step.filter(|step| *step > largest * 4.0 * f64::EPSILON) else {
            return [self.low, self.high].map(|v| (v, format!("{v:e}"))).into();
        };
        multiples(step, self.low, self.high).into_iter().map(|v| (v, written(v, step, largest))).collect()
    }
}

/// Powers of ten from `low` to `high`, or 1, 2 and 5 times these where they are few; `None` where there are less than two.
fn powers(low: f64, high: f64, wanted: usize) -> Option<Vec<(f64, String)>> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let inside = |v: &f64| *v >= low * (1.0 - 1e-9) && *v <= high * (1.0 + 1e-9);
    let every = usize::try_from(last - first).ok()?.div_ceil(wanted.max(1)).max(1);
    let tens: Vec<f64> = (first..=last).step_by(every).map(|n| 10f64.powi(n)).filter(inside).collect();
    let found = if tens.len() >= 2 {
        tens
    } else {
        (first..=last).flat_map(|n| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(n))).filter(inside).collect()
    };
    (found.len() >= 2).then(|| found.into_iter().map(|v| (v.clamp(low, high), plain(v))).collect())
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
pub(crate) struct Axis<'a> {
    /// How many samples.
    pub(crate) len: usize,
    /// The number of the first.
    pub(crate) start: i64,
    /// From one to the next.
    pub(crate) step: i64,
    /// What is written in the place of numbers.
    pub(crate) texts: Option<&'a Texts>,
}

impl Axis<'_> {
    /// Round numbers along the axis as (position in samples, where a sample's middle is at its index plus a
    /// half; text). `gap` is the least distance between two of them, in samples.
    pub(crate) fn ticks(&self, gap: f64) -> Vec<(f64, String)> {
        let step = if self.step == 0 { 1 } else { self.step };
        let number = |i: usize| self.number(i);
        if self.len == 0 {
            return Vec::new();
        }
        if let Some(texts) = self.texts {
            return self.named(texts, gap);
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

    /// Texts along the axis that are at least `gap` apart.
    fn named(&self, texts: &Texts, gap: f64) -> Vec<(f64, String)> {
        let every = texts.every.max(1);
        let steps =
            (0..18).flat_map(|n| [1, 2, 5].map(|m: usize| m.saturating_mul(10usize.saturating_pow(n))));
        let step = steps.into_iter().find(|&step| step as f64 * every as f64 >= gap).unwrap_or(usize::MAX);
        let each = texts.texts.iter().enumerate().step_by(step);
        let places = each.map(|(i, text)| (i.saturating_mul(every) as f64 + 0.5, text.clone()));
        places.take_while(|(place, _)| *place < self.len as f64).collect()
    }

    /// The number of sample `i`.
    fn number(&self, i: usize) -> i128 {
        (i as i128).saturating_mul(self.step.into()).clamp(-FAR, FAR) + i128::from(self.start)
    }

    /// The longest text that a tick of this axis may have.
    pub(crate) fn widest(&self) -> String {
        if let Some(texts) = self.texts {
            return texts.texts.iter().max_by_key(|text| text.chars().count()).cloned().unwrap_or_default();
        }
        let last = self.number(self.len.saturating_sub(1));
        let (a, b) = (self.start.to_string(), last.to_string());
        if a.len() > b.len() { a } else { b }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range_of(values: &[f64]) -> Range {
        Range::new(values, &Scale::default())
    }

    fn texts(low: f64, high: f64) -> Vec<String> {
        range_of(&[low, high]).ticks(5).into_iter().map(|(_, text)| text).collect()
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
            let range = range_of(&[low, high]);
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
        let range = range_of(&[f64::NAN, 2.0, f64::INFINITY, -1.0]);
        assert_eq!((range.low, range.high, range.finite), (-1.0, 2.0, true));
        assert_eq!((range.missing, range.above, range.below), (true, true, false));
        assert!(!range_of(&[f64::NAN]).finite);
        assert!(range_of(&[f64::NEG_INFINITY]).below);
        assert_eq!(range_of(&[3.5; 4]).ticks(5), [(3.5, "3.5".to_string())]);
        assert!((range_of(&[f64::MIN, f64::MAX]).fraction(0.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn axis_ticks_carry_the_numbers_of_the_array() {
        let axis = Axis { len: 1000, start: 0, step: 1, texts: None };
        let ticks = axis.ticks(150.0);
        let numbers: Vec<&str> = ticks.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(numbers, ["0", "200", "400", "600", "800"]);
        assert_eq!(ticks[1].0, 200.5);
        let few = Axis { len: 3, start: 7, step: 100, texts: None }.ticks(1.0);
        assert_eq!(few, [(0.5, "7".into()), (1.5, "107".into()), (2.5, "207".into())]);
        let backwards = Axis { len: 101, start: 100, step: -1, texts: None }.ticks(40.0);
        assert_eq!(backwards, [(100.5, "0".into()), (50.5, "50".into()), (0.5, "100".into())]);
        for (v, _) in (Axis { len: 40, start: -13, step: 7, texts: None }).ticks(2.0) {
            assert!((0.0..=40.0).contains(&v));
        }
    }

    #[test]
    fn logarithms_have_powers_of_ten() {
        let log = Scale { log: true, ..Scale::default() };
        let range = Range::new(&[0.01, 1.0, 1000.0, -3.0, 0.0], &log);
        assert_eq!((range.low, range.high, range.unlogged), (0.01, 1000.0, true));
        assert!((range.fraction(0.1) - 0.2).abs() < 1e-12);
        let texts: Vec<String> = range.ticks(6).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["0.01", "0.1", "1", "10", "100", "1000"]);
        assert_eq!((range.colour(0.0), range.colour(-3.0)), (BELOW, BELOW));
        let narrow: Vec<String> =
            Range::new(&[2.0, 30.0], &log).ticks(5).into_iter().map(|(_, t)| t).collect();
        assert_eq!(narrow, ["2", "5", "10", "20"]);
        assert!(!Range::new(&[-1.0, 0.0], &log).finite);
    }

    #[test]
    fn values_beyond_the_ends_are_said() {
        let mut values: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(range_of(&values).note(), None);
        values[0] = -1e6;
        assert!(range_of(&values).note().unwrap().starts_with("values from -1000000 to 999:"));
        let scale = Scale { limits: Limits::Percentiles(2.0, 98.0), ..Scale::default() };
        assert!(Range::new(&values, &scale).note().unwrap().ends_with("end at 2 and 98 %"));
        let scale = Scale { limits: Limits::Fixed(-2e6, 2e6), ..Scale::default() };
        assert_eq!(Range::new(&values, &scale).note(), None);
    }

    #[test]
    fn an_axis_may_carry_texts() {
        let texts = Texts { every: 10, texts: (0..10).map(|i| format!("day {i}")).collect() };
        let axis = Axis { len: 95, start: 0, step: 1, texts: Some(&texts) };
        assert_eq!(axis.widest().len(), 5);
        let all: Vec<f64> = axis.ticks(10.0).into_iter().map(|(place, _)| place).collect();
        assert_eq!((all.len(), all[1]), (10, 10.5));
        let few = axis.ticks(45.0);
        assert_eq!(few, [(0.5, "day 0".into()), (50.5, "day 5".into())]);
    }

    #[test]
    fn axes_without_room_or_samples_have_few_ticks() {
        let axis = |len| Axis { len, start: 5, step: 3, texts: None };
        assert!(axis(0).ticks(0.0).is_empty());
        assert_eq!(axis(9).ticks(1e9).len(), 1);
        assert_eq!(axis(1).ticks(7.0), [(0.5, "5".to_string())]);
        let odd = Axis { len: usize::MAX, start: i64::MIN, step: i64::MIN, texts: None };
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
