//! Random changes of shape against the naive array, through commits, rollbacks and reopening.

use super::*;
use crate::array::Transaction;
use proptest::prelude::*;

/// A change by random numbers, each taken modulo what is possible.
#[derive(Debug, Clone)]
enum Change {
    Resize { shape: Vec<u64>, starts: Option<Vec<u64>>, fill: usize },
    Insert { axis: usize, index: u64, count: u64 },
    Append { axis: usize, count: u64 },
    Delete { axis: usize, start: u64, count: u64 },
}

fn change() -> impl Strategy<Value = Change> {
    let numbers = || proptest::collection::vec(0u64..1000, 3);
    prop_oneof![
        (numbers(), proptest::option::of(numbers()), 0..FILLS.len())
            .prop_map(|(shape, starts, fill)| Change::Resize { shape, starts, fill }),
        (0usize..3, 0u64..1000, 0u64..9).prop_map(|(axis, index, count)| Change::Insert {
            axis,
            index,
            count
        }),
        (0usize..3, 0u64..9).prop_map(|(axis, count)| Change::Append { axis, count }),
        (0usize..3, 0u64..1000, 0u64..9).prop_map(|(axis, start, count)| Change::Delete {
            axis,
            start,
            count
        }),
    ]
}

/// Makes a change to both; in the array as part of a transaction.
fn apply(
    transaction: &mut Transaction<'_>,
    model: &mut NaiveArray,
    change: &Change,
    items: impl FnOnce(usize) -> Vec<u8>,
) {
    let ndim = model.shape.len();
    let slabs = |model: &NaiveArray, axis: usize, count: u64| {
        let mut shape = model.shape.clone();
        shape[axis] = count as usize;
        let slabs = if shape.contains(&0) { 0 } else { count as usize };
        (slabs, shape)
    };
    match change {
        Change::Resize { shape, starts, fill } => {
            let shape: Vec<u64> = shape[..ndim].iter().map(|n| n % 14).collect();
            let fill = FILLS[*fill].to_le_bytes().to_vec();
            let mut resize = Resize::to(shape.clone()).with_fill(Fill::Value(fill.clone()));
            let mut at = Vec::new();
            for axis in 0..ndim {
                let (old, new) = (model.shape[axis] as u64, shape[axis]);
                let (removed, inserted) = (old.saturating_sub(new), new.saturating_sub(old));
                let start = starts.as_ref().map_or(old - removed, |s| s[axis] % (old - removed + 1));
                at.push(start);
                let range = start as usize..(start + removed) as usize;
                model.splice(axis, range, inserted as usize, |_| fill.clone());
            }
            if starts.is_some() {
                resize = resize.with_starts(at);
            }
            transaction.resize(resize).unwrap();
        }
        Change::Insert { axis, index, count } => {
            let axis = axis % ndim;
            let index = index % (model.shape[axis] as u64 + 1);
            let (count, shape) = slabs(model, axis, *count);
            let new = NaiveArray {
                data: items(if count == 0 { 0 } else { shape.iter().product() }),
                shape,
                itemsize: 2,
            };
            transaction.insert_bytes(axis, index, &new.data).unwrap();
            model.splice(axis, index as usize..index as usize, count, |at| new.item(at).to_vec());
        }
        Change::Append { axis, count } => {
            let axis = axis % ndim;
            let (count, shape) = slabs(model, axis, *count);
            let new = NaiveArray {
                data: items(if count == 0 { 0 } else { shape.iter().product() }),
                shape,
                itemsize: 2,
            };
            transaction.append_bytes(axis, &new.data).unwrap();
            let end = model.shape[axis];
            model.splice(axis, end..end, count, |at| new.item(at).to_vec());
        }
        Change::Delete { axis, start, count } => {
            let axis = axis % ndim;
            let start = start % (model.shape[axis] as u64 + 1);
            let stop = (start + count).min(model.shape[axis] as u64);
            transaction.delete(axis, start..stop).unwrap();
            model.splice(axis, start as usize..stop as usize, 0, |_| Vec::new());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn an_array_changes_its_shape_as_the_model_does(
        shape in proptest::collection::vec((0u64..14, 1u64..7, 1u64..7), 1..4),
        groups in proptest::collection::vec((proptest::collection::vec(change(), 1..3), proptest::bool::weighted(0.8)), 1..6),
        sparse in any::<bool>(), threads in 1usize..3,
    ) {
        let layout = if sparse { Layout::Sparse } else { Layout::Contiguous };
        let chunks: Vec<u64> = shape.iter().map(|s| s.1).collect();
        let blocks: Vec<u64> = shape.iter().map(|s| s.2.min(s.1)).collect();
        let lengths: Vec<u64> = shape.iter().map(|s| s.0).collect();
        let mut pair = Pair::new(options(layout, threads).with_chunks(chunks).with_blocks(blocks), &lengths);
        for (changes, commit) in groups {
            let mut next = pair.next;
            let mut model = pair.model.clone();
            let mut transaction = pair.array.transaction();
            for change in &changes {
                apply(&mut transaction, &mut model, change, |count| {
                    let first = next;
                    next = next.wrapping_add(count as i16);
                    (0..count as i16).flat_map(|n| first.wrapping_add(n).to_le_bytes()).collect()
                });
                prop_assert_eq!(usize_of(transaction.array().shape()), model.shape.clone());
                prop_assert_eq!(&transaction.array().read_bytes(()).unwrap(), &model.data);
            }
            if commit {
                transaction.commit().unwrap();
                (pair.model, pair.next) = (model, next);
            } else {
                drop(transaction);
            }
            pair.check_stored();
        }
    }
}
