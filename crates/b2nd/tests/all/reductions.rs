//! Reductions against the plainest model: random shapes, partitions, dtypes, axes, selections and threads.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

use b2nd::{Array, Axis, Dtype, Element, Error, Exec, Fill, Options, Over, Reduced, Selection, s};
use proptest::prelude::*;

#[derive(Debug, Clone)]
struct Case {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    blocks: Vec<u64>,
    reduced: Vec<bool>,
    keep: bool,
    ranges: Vec<(u64, u64, u64, bool)>,
    threads: usize,
    seed: u64,
    /// Chunks that stay as they were created.
    hole: bool,
}

fn cases() -> impl Strategy<Value = Case> {
    let axis = (1u64..14, 1u64..9, 1u64..9, any::<bool>(), (0u64..14, 0u64..14, 1u64..4, any::<bool>()));
    (proptest::collection::vec(axis, 0..5), any::<bool>(), 1usize..4, any::<u64>(), any::<bool>()).prop_map(
        |(axes, keep, threads, seed, hole)| Case {
            shape: axes.iter().map(|a| a.0).collect(),
            chunks: axes.iter().map(|a| a.1).collect(),
            blocks: axes.iter().map(|a| a.2.min(a.1)).collect(),
            reduced: axes.iter().map(|a| a.3).collect(),
            ranges: axes.iter().map(|a| (a.4.0.min(a.0), a.4.1.min(a.0), a.4.2, a.4.3)).collect(),
            keep,
            threads,
            seed,
            hole,
        },
    )
}

impl Case {
    fn create<T: Element>(&self, dtype: &str, items: &[T]) -> Array {
        let mut array = Options::new()
            .with_chunks(self.chunks.clone())
            .with_blocks(self.blocks.clone())
            .with_exec(Exec::new(self.threads))
            .create_in_memory(Dtype::parse(dtype).unwrap(), &self.shape)
            .unwrap();
        array.write_items(s![], items).unwrap();
        if self.hole && !self.shape.is_empty() {
            // A chunk of one value again.
            let zeros = self.shape[1..].iter().product::<u64>() * self.chunks[0].min(self.shape[0]);
            array
                .write_bytes(s![..self.chunks[0]], &vec![0; zeros as usize * array.dtype().itemsize()])
                .unwrap();
        }
        array
    }

    fn over(&self, within: bool) -> Over {
        let axes = self.reduced.iter().enumerate().filter(|(_, r)| **r);
        let negative =
            |axis: usize| axis as i64 - if self.seed & 1 == 0 { self.shape.len() as i64 } else { 0 };
        let over = Over::axes(axes.map(|(axis, _)| negative(axis)));
        let over = if within { over.within(self.selection()) } else { over };
        if self.keep { over.keeping_axes() } else { over }
    }

    fn selection(&self) -> Selection {
        let range = |&(a, b, step, back): &(u64, u64, u64, bool)| {
            let (start, stop, step) = (a.min(b) as i64, a.max(b) as i64, step as i64);
            if back && stop > start {
                let end = if start == 0 { None } else { Some(start - 1) };
                Axis::Range { start: Some(stop - 1), stop: end, step: -step }
            } else {
                Axis::Range { start: Some(start), stop: Some(stop), step }
            }
        };
        Selection::new(self.ranges.iter().map(range).collect::<Vec<_>>())
    }

    /// The items behind each item of the result, in C order of both, and the shape.
    fn groups<T: Copy>(&self, shape: &[u64], items: &[T]) -> (Vec<Vec<T>>, Vec<u64>) {
        let kept: Vec<u64> = shape.iter().zip(&self.reduced).filter(|(_, r)| !**r).map(|(&n, _)| n).collect();
        let mut groups = vec![Vec::new(); kept.iter().product::<u64>() as usize];
        for (number, &item) in items.iter().enumerate() {
            let (mut rest, mut position) = (number as u64, vec![0; shape.len()]);
            for (at, &n) in position.iter_mut().zip(shape).rev() {
                (*at, rest) = (rest % n, rest / n);
            }
            let place = position.iter().zip(&self.reduced).zip(shape).filter(|((_, r), _)| !**r);
            groups[place.fold(0, |flat, ((&at, _), &n)| flat * n + at) as usize].push(item);
        }
        let all = shape.iter().zip(&self.reduced);
        let shape = all.filter(|(_, r)| !**r || self.keep).map(|(&n, r)| if *r { 1 } else { n }).collect();
        (groups, shape)
    }

    /// Holds reductions of the array, and of a selection of it, against the model.
    fn compare<T: Element, R: Element + std::fmt::Debug>(
        &self,
        array: &Array,
        reduce: impl Fn(Over) -> Result<Reduced, Error>,
        model: impl Fn(&[T]) -> Option<R>,
        same: impl Fn(R, R) -> bool,
    ) {
        for within in [false, true] {
            let selection = if within { self.selection() } else { Selection::all() };
            let shape = array.selection_shape(selection.clone()).unwrap();
            let items = array.read_items::<T>(selection).unwrap();
            let (groups, shape) = self.groups(&shape, &items);
            let wanted: Option<Vec<R>> = groups.iter().map(|group| model(group)).collect();
            let found = reduce(self.over(within));
            let Some(wanted) = wanted else {
                assert!(matches!(found, Err(Error::Usage(_))), "{self:?}");
                continue;
            };
            let found = found.unwrap();
            assert_eq!(found.shape(), shape, "{self:?}");
            let found = found.items::<R>().unwrap();
            assert_eq!(found.len(), wanted.len());
            for (at, (&found, &wanted)) in found.iter().zip(&wanted).enumerate() {
                assert!(same(found, wanted), "item {at}: {found:?}, not {wanted:?}: {self:?}");
            }
        }
    }
}

fn numbers(seed: u64) -> impl FnMut() -> u64 {
    let mut rng = b2nd_testkit::rng::Rng::new(seed);
    move || rng.next_u64()
}

fn equal<T: PartialEq + Copy>(a: T, b: T) -> bool {
    a == b
}

fn close(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-12 * b.abs()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn whole_numbers_are_exact_and_wrap(case in cases(), big in any::<bool>()) {
        let mut next = numbers(case.seed);
        let items: Vec<i32> = (0..case.shape.iter().product()).map(|_| if next().is_multiple_of(5) { 0 } else { next() as i32 }).collect();
        let array = case.create(if big { ">i4" } else { "<i4" }, &items);
        let wide = |items: &[i32]| items.iter().map(|&x| i64::from(x)).collect::<Vec<_>>();
        case.compare::<i32, i64>(&array, |o| array.sum(o), |g| Some(wide(g).iter().sum()), equal);
        case.compare::<i32, i64>(&array, |o| array.prod(o), |g| Some(wide(g).iter().fold(1, |p: i64, x| p.wrapping_mul(*x))), equal);
        case.compare::<i32, i32>(&array, |o| array.min(o), |g| g.iter().copied().min(), equal);
        case.compare::<i32, i32>(&array, |o| array.max(o), |g| g.iter().copied().max(), equal);
        case.compare::<i32, bool>(&array, |o| array.any(o), |g| Some(g.iter().any(|&x| x != 0)), equal);
        case.compare::<i32, bool>(&array, |o| array.all(o), |g| Some(g.iter().all(|&x| x != 0)), equal);
        case.compare::<i32, i64>(&array, |o| array.count_nan(o), |_| Some(0), equal);
        let mean = |g: &[i32]| wide(g).iter().sum::<i64>() as f64 / g.len() as f64;
        case.compare::<i32, f64>(&array, |o| array.mean(o), |g| Some(mean(g)), close);
    }

    #[test]
    fn floats_are_what_twice_the_digits_give(case in cases(), nans in any::<bool>()) {
        let mut next = numbers(case.seed);
        let items: Vec<f32> = (0..case.shape.iter().product())
            .map(|_| match next() % 40 { 0 if nans => f32::NAN, 1 => 0.0, _ => (next() as i32 as f32) / 1e3 })
            .collect();
        let array = case.create("<f4", &items);
        let wide = |items: &[f32]| items.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
        let bits = |a: f32, b: f32| a == b || (a.is_nan() && b.is_nan());
        case.compare::<f32, f32>(&array, |o| array.sum(o), |g| Some(wide(g).iter().sum::<f64>() as f32), bits);
        let mean = |g: &[f32]| wide(g).iter().sum::<f64>() / g.len() as f64;
        case.compare::<f32, f32>(&array, |o| array.mean(o), |g| Some(mean(g) as f32), bits);
        let least = |g: &[f32]| g.iter().copied().reduce(|a, b| if a.is_nan() || a < b { a } else { b });
        case.compare::<f32, f32>(&array, |o| array.min(o), least, bits);
        let most = |g: &[f32]| g.iter().copied().reduce(|a, b| if a.is_nan() || a > b { a } else { b });
        case.compare::<f32, f32>(&array, |o| array.max(o), most, bits);
        case.compare::<f32, i64>(&array, |o| array.count_nan(o), |g| Some(g.iter().filter(|x| x.is_nan()).count() as i64), equal);
        case.compare::<f32, bool>(&array, |o| array.all(o), |g| Some(g.iter().all(|&x| x != 0.0)), equal);
    }

    #[test]
    fn spreads_are_those_of_two_passes(case in cases(), ddof in 0u8..3, offset in prop_oneof![Just(0.0), Just(1e6)]) {
        let mut next = numbers(case.seed);
        let items: Vec<f64> = (0..case.shape.iter().product()).map(|_| offset + f64::from(next() as i8) / 7.0).collect();
        let array = case.create("<f8", &items);
        let ddof = f64::from(ddof);
        let variance = |g: &[f64]| {
            let n = g.len() as f64;
            let mean = g.iter().sum::<f64>() / n;
            // Twice: what the rounded mean is off by is taken out again.
            let (once, twice) = g.iter().fold((0.0, 0.0), |(a, b), x| (a + (x - mean), b + (x - mean) * (x - mean)));
            if g.is_empty() { f64::NAN } else { (twice - once * once / n).max(0.0) / (n - ddof).max(0.0) }
        };
        let near = |a: f64, b: f64| close(a, b) || (a - b).abs() <= 1e-9 * b.abs() || (b < 1e-15 && a < 1e-15) || !b.is_finite();
        case.compare::<f64, f64>(&array, |o| array.var(o, ddof), |g| Some(variance(g)), near);
        case.compare::<f64, f64>(&array, |o| array.std(o, ddof), |g| Some(variance(g).sqrt()), |a, b| near(a * a, b * b));
    }
}

#[test]
fn the_bits_are_the_same_on_any_number_of_threads() {
    let mut next = numbers(5);
    let items: Vec<f64> =
        (0..300 * 500).map(|_| (next() as i64 as f64) * 2f64.powi((next() % 80) as i32 - 40)).collect();
    let mut array = Options::new()
        .with_chunks([70, 90])
        .with_blocks([16, 33])
        .create_in_memory(Dtype::of::<f64>(), [300, 500])
        .unwrap();
    array.write_items(s![], &items).unwrap();
    let mut results = Vec::new();
    for threads in [1, 2, 3, 8] {
        array.set_exec(Exec::new(threads));
        for _ in 0..3 {
            let over = [Over::all(), Over::from(0), Over::from(1), Over::all().within(s![3..;2, ..;-3])];
            let bits = |over: Over| {
                let reduced = [
                    array.sum(over.clone()).unwrap(),
                    array.mean(over.clone()).unwrap(),
                    array.var(over.clone(), 1.0).unwrap(),
                    array.prod(over).unwrap(),
                ];
                reduced.map(Reduced::into_bytes)
            };
            results.push(over.map(bits));
        }
    }
    assert!(results.iter().all(|other| *other == results[0]));
}

#[test]
fn a_million_million_zeros_are_summed_at_once() {
    let array = Options::new().create_in_memory(Dtype::of::<f64>(), [1_000_000, 1_000_000]).unwrap();
    let started = std::time::Instant::now();
    assert_eq!(array.sum(()).unwrap().item::<f64>().unwrap(), 0.0);
    assert_eq!(array.max(0).unwrap().items::<f64>().unwrap(), [0.0; 1_000_000]);
    assert_eq!(array.mean(Over::all().within(s![5.., ..;-7])).unwrap().item::<f64>().unwrap(), 0.0);
    assert!(started.elapsed().as_secs() < 5);
}

#[test]
fn what_has_no_such_reduction_is_refused_with_what_it_has() {
    let array = |dtype: &str| Options::new().create_in_memory(Dtype::parse(dtype).unwrap(), [2, 0]).unwrap();
    let text = |result: Result<Reduced, Error>| match result {
        Err(error) => error.to_string(),
        Ok(reduced) => reduced.dtype().to_string(),
    };
    assert!(text(array("<M8[s]").sum(())).contains("min, max, any, all and count_nan"));
    assert!(text(array("<m8[s]").prod(())).contains("sum, mean"));
    assert!(text(array("|S3").max(())).contains("only bools, numbers and times"));
    assert!(text(array("[('a', '<i4')]").sum(())).contains("only bools"));
    assert!(text(array("<f4").sum(2)).contains("axis 2"));
    assert!(text(array("<f4").sum([0, -2])).contains("twice"));
    assert!(text(array("<f4").max(())).contains("empty array"));
    assert!(text(array("<f4").max(1)).contains("empty array"));
    assert_eq!(text(array("<f4").max(0)), "<f4");
    assert!(text(array("<f4").sum(Over::all().within(s![1]))).contains("i..i+1"));
    assert!(text(array("<f4").std((), f64::NAN)).contains("degrees"));
}

#[test]
fn chunks_of_one_value_are_answered_by_arithmetic() {
    // Repeated values: 36 bytes a chunk, and the sums are exact without a look at a block.
    let array = Options::new()
        .with_chunks([1000, 1000])
        .with_fill(Fill::Value(0.1f64.to_le_bytes().to_vec()))
        .create_in_memory(Dtype::of::<f64>(), [100_000, 10_000])
        .unwrap();
    let sum = array.sum(()).unwrap().item::<f64>().unwrap();
    assert_eq!(sum, 0.1 * 1e9);
    assert_eq!(array.std(0, 0.0).unwrap().items::<f64>().unwrap(), vec![0.0; 10_000]);
    assert_eq!(array.mean(1).unwrap().items::<f64>().unwrap(), vec![0.1; 100_000]);
}

#[test]
fn a_cancelled_reduction_stops() {
    let cancel = b2nd::Cancel::new();
    cancel.cancel();
    let mut array = Options::new().create_in_memory(Dtype::of::<f64>(), [100, 100]).unwrap();
    array.write_items(s![], &[1.0; 10_000]).unwrap();
    array.set_exec(Exec::new(2).with_cancel(cancel));
    assert!(matches!(array.sum(()), Err(Error::Cancelled)));
}

/// Integers whose differences are nothing beside themselves, which an `f64` does not tell apart.
#[test]
fn spreads_of_long_integers_are_exact() {
    for (start, chunk) in [(1i64 << 62, 7), (i64::MAX - 40, 40), (i64::MIN, 3), (-(1 << 53) - 20, 40)] {
        let items: Vec<i64> = (0..40).map(|n| start + n).collect();
        let mut a = Options::new()
            .with_chunks([chunk])
            .with_blocks([3.min(chunk)])
            .create_in_memory(Dtype::of::<i64>(), [40])
            .unwrap();
        a.write_items(s![], &items).unwrap();
        assert_eq!(a.var((), 0.0).unwrap().item::<f64>().unwrap(), 133.25, "{start}");
        assert_eq!(a.var((), 1.0).unwrap().item::<f64>().unwrap(), 5330.0 / 39.0, "{start}");
        let unsigned: Vec<u64> = items.iter().map(|&n| n.cast_unsigned()).collect();
        let mut a =
            Options::new().with_chunks([chunk, 4]).create_in_memory(Dtype::of::<u64>(), [10, 4]).unwrap();
        a.write_items(s![], &unsigned).unwrap();
        if start > 0 {
            assert_eq!(a.var(0, 0.0).unwrap().items::<f64>().unwrap(), [132.0; 4], "{start}");
        }
    }
    // Neighbours: their mean is no float, and all their distance is what the nearest one is off.
    let mut a = Options::new().create_in_memory(Dtype::of::<f64>(), [2]).unwrap();
    a.write_items(s![], &[1.0, 1.0 + f64::EPSILON]).unwrap();
    assert_eq!(a.std((), 0.0).unwrap().item::<f64>().unwrap(), f64::EPSILON / 2.0);
    let one = Options::new().with_fill(Fill::Value(i64::MAX.to_le_bytes().to_vec())).with_chunks([3]);
    let mut a = one.create_in_memory(Dtype::of::<i64>(), [8]).unwrap();
    assert_eq!(a.var((), 0.0).unwrap().item::<f64>().unwrap(), 0.0);
    a.write_items(s![..4], &[i64::MAX - 2; 4]).unwrap();
    assert_eq!(a.var((), 0.0).unwrap().item::<f64>().unwrap(), 1.0);
}
