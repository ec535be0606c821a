//! Views against a model that keeps for each item its place in the array.

mod edges;
mod model;

use crate::array::{Array, Dtype, Options, Selection};
use crate::exec::Exec;
use b2nd_testkit::nd::NaiveArray;
use b2nd_testkit::rng::Rng;
use model::{Change, Model, selection};
use proptest::prelude::*;

/// An array of items of 3 bytes and its model; half of the rows are not written, so that there are special chunks.
fn pair(shape: &[u64], rng: &mut Rng) -> (Array, NaiveArray) {
    let chunks: Vec<u64> = shape.iter().map(|_| 1 + rng.below(5)).collect();
    let blocks: Vec<u64> = chunks.iter().map(|&n| 1 + rng.below(n)).collect();
    let options = Options::new()
        .with_chunks(chunks)
        .with_blocks(blocks)
        .with_exec(Exec::new(1 + rng.below(3) as usize));
    let options = if rng.chance(30) { options.with_block_cache(1 << 20) } else { options };
    let mut array = options.create_in_memory(Dtype::raw(3), shape).unwrap();
    let lengths: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
    let mut model = NaiveArray::zeros(&lengths, 3);
    let rows: Vec<Vec<usize>> = lengths
        .iter()
        .enumerate()
        .map(|(d, &n)| (0..if d == 0 { n.div_ceil(2) } else { n }).collect())
        .collect();
    let items = rng.bytes(rows.iter().map(Vec::len).product::<usize>() * 3);
    model.set(&rows, &items);
    let end: Vec<u64> = rows.iter().map(|row| row.len() as u64).collect();
    array.write_bytes(Selection::from_box(&vec![0; end.len()], &end), &items).unwrap();
    (array, model)
}

/// Up to five random changes, with the model that they make.
fn changes(array: &Array, rng: &mut Rng) -> (Vec<Change>, Model) {
    let mut model = Model::of(array.shape());
    let changes = (0..rng.below(6)).map(|_| {
        let change = Change::random(&model, rng);
        model.apply(&change);
        change
    });
    (changes.collect(), model)
}

fn shapes() -> impl Strategy<Value = Vec<u64>> {
    let length = prop_oneof![4 => Just(1u64), 6 => 2u64..7, 1 => Just(0)];
    proptest::collection::vec(length, 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn reads_through_views_are_those_of_the_model(shape in shapes(), seed in any::<u64>()) {
        let mut rng = Rng::new(seed);
        let (array, naive) = pair(&shape, &mut rng);
        let (changes, model) = changes(&array, &mut rng);
        let view = changes.iter().fold(array.view(), |view, change| change.of(&view));
        prop_assert_eq!(view.shape(), &model.shape[..]);
        prop_assert_eq!((view.ndim(), view.size()), (model.shape.len(), model.at.len() as u64));
        for _ in 0..6 {
            let (selection, taken) = selection(&model, &mut rng);
            let due = naive.get_flat(&taken);
            prop_assert_eq!(view.selection_shape(selection.clone())?.iter().product::<u64>() as usize * 3, due.len());
            prop_assert_eq!(view.read_bytes(selection.clone())?, due, "{} of {:?}", selection, changes);
        }
        prop_assert_eq!(view.read_bytes(())?, naive.get_flat(&model.at), "all of {:?}", changes);
    }

    #[test]
    fn writes_through_views_are_those_of_the_model(shape in shapes(), seed in any::<u64>()) {
        let mut rng = Rng::new(seed);
        let (mut array, mut naive) = pair(&shape, &mut rng);
        for _ in 0..3 {
            let (changes, model) = changes(&array, &mut rng);
            let mut view = changes.iter().fold(array.view_mut(), |view, change| change.of_mut(view));
            let (selection, taken) = selection(&model, &mut rng);
            if rng.chance(25) {
                let item = rng.bytes(3);
                view.fill_bytes(selection.clone(), &item)?;
                naive.set_flat(&taken, &item.repeat(taken.len()));
            } else {
                let items = rng.bytes(taken.len() * 3);
                view.write_bytes(selection.clone(), &items)?;
                naive.set_flat(&taken, &items);
            }
            prop_assert_eq!(view.as_view().read_bytes(())?, naive.get_flat(&model.at), "{} of {:?}", selection, changes);
            prop_assert_eq!(array.read_bytes(())?, &naive.data[..], "{} of {:?}", selection, changes);
        }
        let again = Array::from_bytes(array.to_bytes()?, &Default::default())?;
        prop_assert_eq!(again.read_bytes(())?, naive.data);
    }

    #[test]
    fn copies_of_views_have_the_items_of_the_model(shape in shapes(), seed in any::<u64>()) {
        let mut rng = Rng::new(seed);
        let (array, naive) = pair(&shape, &mut rng);
        let (changes, model) = changes(&array, &mut rng);
        let view = changes.iter().fold(array.view(), |view, change| change.of(&view));
        let due = naive.get_flat(&model.at);
        let copy = Options::new().copy_in_memory(&view)?;
        prop_assert_eq!((copy.shape(), copy.chunks()), (view.shape(), view.chunks()));
        prop_assert_eq!(copy.read_bytes(())?, &due[..]);
        // Other chunks, and few bytes at a time.
        let chunks: Vec<u64> = model.shape.iter().map(|_| 1 + rng.below(4)).collect();
        let mut writer =
            Options::new().with_chunks(chunks).create_uncommitted_in_memory(array.dtype().clone(), view.shape())?;
        view.copy_taken(&Selection::all().resolve(view.shape())?, &mut writer, rng.below(400))?;
        prop_assert_eq!(writer.commit()?.read_bytes(())?, due);
    }

    #[test]
    fn slices_have_the_items_of_the_model(shape in shapes(), seed in any::<u64>()) {
        let mut rng = Rng::new(seed);
        let (array, naive) = pair(&shape, &mut rng);
        let (changes, model) = if rng.chance(50) { changes(&array, &mut rng) } else { (vec![], Model::of(&shape)) };
        let view = changes.iter().fold(array.view(), |view, change| change.of(&view));
        let (selection, taken) = selection(&model, &mut rng);
        let due = naive.get_flat(&taken);
        let part = Options::new().slice_in_memory(&view, selection.clone())?;
        prop_assert_eq!(part.shape(), view.selection_shape(selection.clone())?);
        prop_assert_eq!(part.read_bytes(())?, &due[..], "{} of {:?}", selection, changes);
        prop_assert!(part.verify()?.is_sound());
        // Other chunks, and few bytes at a time.
        let chunks: Vec<u64> = part.shape().iter().map(|_| 1 + rng.below(4)).collect();
        let options = Options::new().with_chunks(chunks);
        let mut writer = options.create_uncommitted_in_memory(array.dtype().clone(), part.shape())?;
        view.copy_taken(&selection.resolve(view.shape())?, &mut writer, rng.below(60))?;
        prop_assert_eq!(writer.commit()?.read_bytes(())?, due, "{} of {:?}, in pieces", selection, changes);
    }

    #[test]
    fn boxes_have_the_items_of_the_model(
        axes in proptest::collection::vec((0u64..12, 0u64..12, 1u64..5), 1..4), seed in any::<u64>(),
    ) {
        let mut rng = Rng::new(seed);
        let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let (array, naive) = pair(&shape, &mut rng);
        // Half of the boxes begin and end where chunks do.
        let place = |at: u64, d: usize| if seed % 2 == 0 { at } else { at - at % array.chunks()[d] }.min(shape[d]);
        let start: Vec<u64> = axes.iter().enumerate().map(|(d, axis)| place(axis.1, d)).collect();
        let stop: Vec<u64> =
            axes.iter().enumerate().map(|(d, axis)| place(axis.1 + axis.2 * array.chunks()[d], d)).collect();
        let indices: Vec<Vec<usize>> =
            start.iter().zip(&stop).map(|(&a, &b)| (a as usize..b as usize).collect()).collect();
        let part = Options::new().slice_in_memory(&array, Selection::from_box(&start, &stop))?;
        prop_assert_eq!(part.read_bytes(())?, naive.get(&indices));
        let kept = |d: usize| {
            let count = stop[d] - start[d];
            count == shape[d] || count >= array.chunks()[d]
        };
        if (0..shape.len()).all(kept) {
            prop_assert_eq!((part.chunks(), part.blocks()), (array.chunks(), array.blocks()));
        }
        prop_assert!(Array::from_bytes(part.to_bytes()?, &Default::default())?.verify()?.is_sound());
    }
}
