//! Reads of several selections at once without a store: one set of waves, each shared chunk once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

use crate::sans_io::{Far, noise};
use b2nd::io::{RangeCosts, ReadBudget, Step};
use b2nd::{Array, Error, Limits, OpenOptions, Selection, s};
use b2nd_testkit::rng::Rng;

fn read_all(far: &mut Far, array: &Array, selections: Vec<Selection>, budget: &ReadBudget) -> Vec<Vec<u8>> {
    let mut reader = array.reader_of(selections).unwrap();
    loop {
        match reader.step(budget).unwrap() {
            Step::Done => return reader.finish_each().unwrap(),
            Step::Need(ranges) => {
                far.wave(&ranges);
                for range in ranges {
                    reader.supply(&range, &far.fetch(&range)).unwrap();
                }
            }
        }
    }
}

#[test]
fn selections_share_waves_and_chunks() {
    let array = noise(20_000, 16);
    let mut far = Far::contiguous(array.to_bytes().unwrap());
    let opened = far.open(&OpenOptions::new().with_checks(false)).unwrap();
    far.counts();
    // Loads the index, and nothing else.
    assert!(read_all(&mut far, &opened, Vec::new(), &ReadBudget::default()).is_empty());
    assert_eq!(far.counts().0, 1);
    let selections: Vec<Selection> =
        vec![s![3, 5], s![7..9, 3], s![20..20], Selection::points([8, 1, 3, 9]), s![3]];
    let found = read_all(&mut far, &opened, selections.clone(), &ReadBudget::default());
    // Chunks 3, 7 and 8.
    let (waves, ranges, _) = far.counts();
    assert_eq!((waves, ranges), (1, 3), "each chunk is named once");
    for (selection, found) in selections.into_iter().zip(found) {
        assert_eq!(found, array.read_bytes(selection).unwrap());
    }
}

#[test]
fn any_selections_and_budgets_give_the_items_of_single_reads() {
    let array = noise(40, 256);
    let mut far = Far::contiguous(array.to_bytes().unwrap());
    let opened = far.open(&OpenOptions::new()).unwrap();
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let selections: Vec<Selection> = (0..rng.below(9))
            .map(|_| {
                let (row, column) = (rng.below(40), rng.below(256));
                Selection::from_box(
                    &[row, column],
                    &[row + rng.below(41 - row), column + rng.below(257 - column)],
                )
            })
            .collect();
        let budget = ReadBudget::new(1 + rng.below(20) as usize, 1 << rng.below(16));
        let found = read_all(&mut far, &opened, selections.clone(), &budget);
        for (selection, found) in selections.into_iter().zip(found) {
            assert_eq!(found, array.read_bytes(selection).unwrap(), "seed {seed}");
        }
    }
}

#[test]
fn the_results_together_are_limited() {
    let limits = Limits::default().with_max_read_bytes(1000);
    let array =
        Array::from_bytes(noise(4, 64).to_bytes().unwrap(), &OpenOptions::new().with_limits(limits)).unwrap();
    assert!(array.reader_of([s![0], s![1], s![2]]).is_ok());
    let error = array.reader_of([s![0], s![1], s![2], s![3]]).unwrap_err();
    assert!(matches!(error, Error::Limit { found: 1024, allowed: 1000, .. }), "{error}");
}

/// Four blocks of 16 KiB: of one block the head comes first, of three or more all of the chunk.
#[test]
fn a_chunk_that_is_short_or_mostly_wanted_comes_whole() {
    let array = noise(8, 16_384);
    let mut far = Far::contiguous(array.to_bytes().unwrap());
    let opened = far.open(&OpenOptions::new()).unwrap();
    read_all(&mut far, &opened, Vec::new(), &ReadBudget::default());
    let mut waves = |selection: Selection, costs: RangeCosts| {
        far.counts();
        let mut reader = opened.reader(selection.clone()).unwrap().with_range_costs(costs);
        while let Step::Need(ranges) = reader.step(&ReadBudget::default()).unwrap() {
            far.wave(&ranges);
            for range in ranges {
                reader.supply(&range, &far.fetch(&range)).unwrap();
            }
        }
        assert_eq!(reader.finish().unwrap(), array.read_bytes(selection).unwrap());
        far.counts().0
    };
    let costs = RangeCosts::new(0, 1 << 20);
    assert_eq!(waves(s![2, 5], costs), 2);
    assert_eq!(waves(s![2, ..9000], costs), 1);
    assert_eq!(waves(s![2, 5], costs.with_whole(1 << 20)), 1);
}
