//! Twofold numbers against exact sums.

use super::twofold;
use super::twofold::Twofold;
use proptest::prelude::*;

/// A float as a multiple of 2^-60, for floats of which that is true.
fn units(x: f64) -> i128 {
    (x * 2f64.powi(60)) as i128
}

/// Numbers of very different sizes, which nearly cancel.
fn hard() -> impl Strategy<Value = Vec<f64>> {
    let number = (any::<i16>(), 0i32..60).prop_map(|(n, scale)| f64::from(n) * 2f64.powi(scale - 40));
    proptest::collection::vec(number, 1..300).prop_map(|mut numbers| {
        let back: Vec<f64> = numbers.iter().rev().map(|x| -x).collect();
        numbers.extend(&back[1..]);
        numbers
    })
}

proptest! {
    #[test]
    fn sums_are_the_nearest_floats(numbers in hard()) {
        let exact: i128 = numbers.iter().copied().map(units).sum();
        let nearest = exact as f64 / 2f64.powi(60);
        prop_assert_eq!(twofold::sum(&numbers, |x| x).to_f64(), nearest);
        let mut one_by_one = Twofold::ZERO;
        numbers.iter().for_each(|&x| one_by_one.add(x));
        prop_assert_eq!(one_by_one.to_f64(), nearest);
    }

    #[test]
    fn roundings_to_short_floats_are_single(high in any::<f32>(), tie in any::<bool>(), low in -1i8..2) {
        prop_assume!(high.is_finite() && high.abs() > 1e-30 && high.abs() < 1e30);
        // Half way between two floats, and a bit of nothing to either side of it.
        let middle = if tie { (f64::from(high) + f64::from(high.next_up())) / 2.0 } else { f64::from(high) };
        let number = Twofold { high: middle, low: f64::from(low) * middle.abs() * 2f64.powi(-80) };
        let wanted = match (tie, low) {
            (true, 1) => high.next_up(),
            (true, 0) => middle as f32,
            _ => high,
        };
        prop_assert_eq!(number.to_odd() as f32, wanted);
    }

    #[test]
    fn quotients_and_roots_undo_products(a in 1u32.., b in 1u32..) {
        let (a, b) = (Twofold::from_int(i128::from(a)), Twofold::from_int(i128::from(b)));
        prop_assert_eq!(a.times(b).over(b).to_f64(), a.high);
        prop_assert_eq!(a.times(a).sqrt().to_f64(), a.high);
    }
}

#[test]
fn what_is_not_finite_stays_so() {
    let sum = |numbers: &[f64]| twofold::sum(numbers, |x| x).to_f64();
    assert_eq!(sum(&[f64::INFINITY, 1.0]), f64::INFINITY);
    assert_eq!(sum(&[f64::MAX, f64::MAX, 1.0]), f64::INFINITY);
    assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
    assert!(sum(&[f64::NAN; 20]).is_nan());
    assert_eq!(Twofold::new(f64::INFINITY).times(Twofold::new(3.0)).to_f64(), f64::INFINITY);
    assert_eq!(Twofold::new(f64::INFINITY).over(Twofold::new(3.0)).to_f64(), f64::INFINITY);
    assert!(Twofold::new(f64::NAN).sqrt().to_f64().is_nan());
    assert_eq!(Twofold::from_int(i128::from(u64::MAX) * 3), Twofold { high: 3.0 * 2f64.powi(64), low: -3.0 });
}
