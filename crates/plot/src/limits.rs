//! Which values the ends of the colours stand for.

use crate::Map;

/// How values become colours, or heights of a line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scale {
    /// The values at the ends.
    pub limits: Limits,
    /// Whether places are by the logarithm. What is not above zero has none, and is shown as "-inf" is.
    pub log: bool,
    /// The colours.
    pub map: Map,
    /// Written beside the colour bar, or beside the values of a line.
    pub label: String,
    /// Whether values are seconds since 1970, to be written as dates.
    pub times: bool,
}

/// The values at the ends of the colours.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Limits {
    /// The least and the greatest value; but where the middle 99 % of the values take less than a quarter of that, theirs.
    #[default]
    Auto,
    /// The values at two percentiles, 0 to 100.
    Percentiles(f64, f64),
    /// These two.
    Fixed(f64, f64),
}

/// Of fewer values none is an outlier.
const FEWEST: usize = 10;
/// The share of the values on each side that outliers may be.
const OUTLIERS: f64 = 0.005;
/// How many times wider the range with outliers is than that without.
const STANDS_OUT: f64 = 4.0;

/// The ends of the colours for `values`, all of which are finite (and above zero for a logarithm), and whether there are
/// values outside of them.
pub(crate) fn ends(values: &mut [f64], scale: &Scale, least: f64, greatest: f64) -> (f64, f64) {
    let width = |low: f64, high: f64| if scale.log { high.ln() - low.ln() } else { high / 2.0 - low / 2.0 };
    match scale.limits {
        Limits::Fixed(low, high) if !scale.log || low > 0.0 => (low, high),
        // A logarithm begins with the least value that has one.
        Limits::Fixed(_, high) => (least.min(high), high),
        Limits::Percentiles(low, high) => (at(values, low / 100.0, false), at(values, high / 100.0, true)),
        Limits::Auto if values.len() < FEWEST => (least, greatest),
        Limits::Auto => {
            let cut = OUTLIERS.max(1.0 / (values.len() - 1) as f64);
            let (low, high) = (at(values, cut, false), at(values, 1.0 - cut, true));
            let flat = low >= high || width(low, high) * STANDS_OUT >= width(least, greatest);
            if flat { (least, greatest) } else { (low, high) }
        }
    }
}

/// The value at this share of the values in order; between two of them the lower or the upper one.
fn at(values: &mut [f64], share: f64, upper: bool) -> f64 {
    let Some(last) = values.len().checked_sub(1) else { return 0.0 };
    let place = share.clamp(0.0, 1.0) * last as f64;
    // Shares such as 0.995 have no exact floats.
    let place = if upper { (place - 1e-6).ceil() } else { (place + 1e-6).floor() };
    *values.select_nth_unstable_by((place.max(0.0) as usize).min(last), f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends_of(values: &[f64], limits: Limits, log: bool) -> (f64, f64) {
        let (least, greatest) = values.iter().fold((f64::MAX, f64::MIN), |(a, b), &v| (a.min(v), b.max(v)));
        ends(&mut values.to_vec(), &Scale { limits, log, ..Scale::default() }, least, greatest)
    }

    #[test]
    fn one_outlier_does_not_flatten_a_picture() {
        let mut values: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(ends_of(&values, Limits::Auto, false), (0.0, 999.0));
        values[500] = 1e9;
        let (low, high) = ends_of(&values, Limits::Auto, false);
        assert!(low < 10.0 && (990.0..1000.0).contains(&high), "{low} {high}");
        let mut few: Vec<f64> = (0..60).map(f64::from).collect();
        few[7] = -1e30;
        assert!(ends_of(&few, Limits::Auto, false).0 >= 0.0);
    }

    #[test]
    fn few_values_and_rare_ones_are_all_shown() {
        assert_eq!(ends_of(&[1.0, 2.0, 1e9], Limits::Auto, false), (1.0, 1e9));
        // All but one are the same: that one is the picture.
        let mut values = vec![0.0; 1000];
        values[3] = 5.0;
        assert_eq!(ends_of(&values, Limits::Auto, false), (0.0, 5.0));
    }

    #[test]
    fn percentiles_and_limits_are_taken_as_given() {
        let values: Vec<f64> = (0..=200).map(f64::from).collect();
        assert_eq!(ends_of(&values, Limits::Percentiles(10.0, 90.0), false), (20.0, 180.0));
        assert_eq!(ends_of(&values, Limits::Percentiles(0.0, 100.0), false), (0.0, 200.0));
        assert_eq!(ends_of(&values, Limits::Fixed(-5.0, 7.0), false), (-5.0, 7.0));
        assert_eq!(ends_of(&[2.0, 30.0], Limits::Fixed(-5.0, 7.0), true), (2.0, 7.0));
    }
}
