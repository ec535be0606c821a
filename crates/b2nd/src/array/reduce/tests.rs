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

/// Where NumPy finds the first of the best along the lanes of `items`, each `len` long and `inner` apart.
fn places(items: &[f64], len: usize, inner: usize, wins: fn(f64, f64) -> bool) -> Vec<i64> {
    let mut found = Vec::new();
    for lane in items.chunks(len * inner) {
        for first in 0..inner {
            let mut best = 0;
            for at in 1..len {
                let (x, most) = (lane[at * inner + first], lane[best * inner + first]);
                if wins(x, most) || (x.is_nan() && !most.is_nan()) {
                    best = at;
                }
            }
            found.push(best as i64);
        }
    }
    found
}

#[test]
fn the_first_of_the_best_is_found_along_each_axis_and_over_all() {
    use crate::array::{Dtype, Options, Over};
    let mut rng = b2nd_testkit::rng::Rng::new(30);
    for nans in [false, true] {
        let mut items: Vec<f64> = (0..7 * 6 * 5).map(|_| f64::from(rng.bytes(1)[0] % 9)).collect();
        if nans {
            [3, 50, 51, 130].into_iter().for_each(|at| items[at] = f64::NAN);
        }
        let options = Options::new().with_chunks([3, 4, 2]).with_blocks([2, 2, 2]);
        let mut a = options.create_in_memory(Dtype::parse(">f8").unwrap(), [7, 6, 5]).unwrap();
        a.write_items((), &items).unwrap();
        for (over, len, inner) in [(None, 210, 1), (Some(0), 7, 30), (Some(1), 6, 5), (Some(-1), 5, 1)] {
            let over = || over.map_or(Over::all(), Over::from);
            let least = a.argmin(over()).unwrap().items::<i64>().unwrap();
            assert_eq!(least, places(&items, len, inner, |x, best| x < best), "argmin of {len}, {nans}");
            let most = a.argmax(over()).unwrap().items::<i64>().unwrap();
            assert_eq!(most, places(&items, len, inner, |x, best| x > best), "argmax of {len}, {nans}");
        }
        assert_eq!(a.argmin(Over::from(1).keeping_axes()).unwrap().shape(), [7, 1, 5]);
        assert!(a.argmin([0, 1]).is_err());
        assert!(a.argmin(Over::all().within(crate::s![1..])).is_err());
    }
}

#[test]
fn times_bools_and_arrays_of_one_value_have_places_too() {
    use crate::array::{Dtype, Fill, Options};
    let mut times = Options::new().create_in_memory(Dtype::parse("<M8[s]").unwrap(), [4]).unwrap();
    times.write_items((), &[5i64, 9, 2, 9]).unwrap();
    assert_eq!(times.argmax(()).unwrap().item::<i64>().unwrap(), 1);
    assert_eq!(times.argmin(0).unwrap().item::<i64>().unwrap(), 2);
    times.write_items(crate::s![3], &[i64::MIN]).unwrap();
    assert_eq!(times.argmax(()).unwrap().item::<i64>().unwrap(), 3);
    assert_eq!(times.argmin(()).unwrap().item::<i64>().unwrap(), 3);

    let mut bools = Options::new().create_in_memory(Dtype::of::<bool>(), [3]).unwrap();
    bools.write_items(crate::s![1], &[true]).unwrap();
    assert_eq!(bools.argmax(()).unwrap().item::<i64>().unwrap(), 1);

    let same =
        Options::new().with_fill(Fill::Nan).create_in_memory(Dtype::of::<f32>(), [1_000_000, 1_000, 1_000]);
    assert_eq!(same.unwrap().argmin(()).unwrap().item::<i64>().unwrap(), 0);
    let scalar = Options::new().create_in_memory(Dtype::of::<f32>(), ()).unwrap();
    assert_eq!(scalar.argmin(()).unwrap().item::<i64>().unwrap(), 0);
    let none = Options::new().create_in_memory(Dtype::of::<u8>(), [0, 3]).unwrap();
    assert!(none.argmin(0).is_err());
    assert!(none.argmin(1).unwrap().items::<i64>().unwrap().is_empty());
    let text = Options::new().create_in_memory(Dtype::parse("|S2").unwrap(), [3]).unwrap();
    assert!(text.argmin(()).is_err());
}
