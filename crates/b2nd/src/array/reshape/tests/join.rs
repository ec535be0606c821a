//! Concatenated, stacked, extended and copied arrays against the naive array.

use super::*;
use crate::chunk::Params;
use crate::codec::Codec;
use proptest::prelude::*;

fn pair(shape: &[u64], chunks: &[u64], blocks: &[u64], first: i16) -> Pair {
    let mut pair = Pair::new(Options::new().with_chunks(chunks).with_blocks(blocks), shape);
    let items: Vec<u8> = (0..pair.array.size() as i16).flat_map(|n| (first + n).to_le_bytes()).collect();
    pair.array.write_bytes((), &items).unwrap();
    pair.model.data = items;
    pair
}

proptest! {
    #[test]
    fn joined_arrays_are_the_models_joined(
        axes in proptest::collection::vec((0u64..9, 1u64..5, 1u64..5), 1..4),
        lengths in proptest::collection::vec((0u64..9, any::<bool>()), 1..4),
        axis in 0usize..3, other_chunks in any::<bool>(), threads in 1usize..3,
    ) {
        let axis = axis % axes.len();
        let shape: Vec<u64> = axes.iter().map(|a| a.0).collect();
        let chunks: Vec<u64> = axes.iter().map(|a| a.1).collect();
        let blocks: Vec<u64> = axes.iter().map(|a| a.2.min(a.1)).collect();
        let pairs: Vec<Pair> = lengths.iter().enumerate().map(|(n, (length, whole))| {
            let mut shape = shape.clone();
            shape[axis] = if *whole { length / 2 * chunks[axis] } else { *length };
            let chunks: Vec<u64> = chunks.iter().map(|c| if other_chunks && n > 0 { c + 1 } else { *c }).collect();
            pair(&shape, &chunks, &blocks, 1000 * n as i16)
        }).collect();
        let arrays: Vec<&Array> = pairs.iter().map(|p| &p.array).collect();
        let mut model = pairs[0].model.clone();
        pairs[1..].iter().for_each(|p| model.join(axis, &p.model));
        let exec = Exec::new(threads);
        let array = Options::new().with_exec(exec.clone()).concatenate_in_memory(&arrays, axis).unwrap();
        prop_assert_eq!(array.chunks(), arrays[0].chunks());
        Pair { array, model: model.clone(), next: 0 }.check_stored();
        let mut first = Options::new().with_exec(exec).copy_in_memory(arrays[0]).unwrap();
        first.extend(axis, &arrays[1..]).unwrap();
        Pair { array: first, model, next: 0 }.check_stored();
    }

    #[test]
    fn stacked_arrays_have_one_axis_more(
        axes in proptest::collection::vec((0u64..7, 1u64..5, 1u64..5), 0..3), count in 1usize..4, axis in 0usize..4,
        chunk in proptest::option::of(1u64..3),
    ) {
        let axis = axis % (axes.len() + 1);
        let shape: Vec<u64> = axes.iter().map(|a| a.0).collect();
        let chunks: Vec<u64> = axes.iter().map(|a| a.1).collect();
        let blocks: Vec<u64> = axes.iter().map(|a| a.2.min(a.1)).collect();
        let pairs: Vec<Pair> = (0..count).map(|n| pair(&shape, &chunks, &blocks, 1000 * n as i16)).collect();
        let arrays: Vec<&Array> = pairs.iter().map(|p| &p.array).collect();
        let mut options = Options::new();
        if let Some(chunk) = chunk {
            let mut chunks = chunks;
            chunks.insert(axis, chunk);
            options = options.with_chunks(chunks);
        }
        let array = options.stack_in_memory(&arrays, axis).unwrap();
        let mut empty = usize_of(&shape);
        empty.insert(axis, 0);
        let mut model = NaiveArray::zeros(&empty, 2);
        for p in &pairs {
            let mut one = p.model.clone();
            one.shape.insert(axis, 1);
            model.join(axis, &one);
        }
        Pair { array, model, next: 0 }.check_stored();
    }

    #[test]
    fn a_copy_has_what_the_array_has_in_other_chunks(
        axes in proptest::collection::vec((0u64..9, 1u64..5, 1u64..5, 1u64..7), 0..4),
    ) {
        let shape: Vec<u64> = axes.iter().map(|a| a.0).collect();
        let chunks: Vec<u64> = axes.iter().map(|a| a.1).collect();
        let blocks: Vec<u64> = axes.iter().map(|a| a.2.min(a.1)).collect();
        let other: Vec<u64> = axes.iter().map(|a| a.3).collect();
        let source = pair(&shape, &chunks, &blocks, 1);
        let array = Options::new().with_chunks(other.clone()).copy_in_memory(&source.array).unwrap();
        prop_assert_eq!(array.chunks(), other);
        Pair { array, model: source.model, next: 0 }.check_stored();
    }
}

fn stored(array: &Array) -> Vec<Vec<u8>> {
    (0..array.schunk.nchunks()).map(|n| array.schunk.chunk(n).unwrap().into_owned()).collect()
}

/// A repeating item is what no encoder of ours makes of these items: its chunk shows whether it was taken over.
fn with_foreign_chunk(shape: &[u64]) -> Array {
    let mut array = pair(shape, &[4, 3], &[2, 3], 5).array;
    let foreign = Params::new(2).with_codec(Codec::Lz4).with_clevel(1).with_blocksize(Some(12));
    let bytes =
        crate::chunk::decode(&array.schunk.chunk(0).unwrap(), array.schunk.limits(), &Exec::new(1)).unwrap();
    let chunk = crate::chunk::encode(&bytes, &foreign, &Exec::new(1)).unwrap();
    array.schunk.put_chunk(0, &chunk).unwrap();
    array.schunk.commit().unwrap();
    array
}

#[test]
fn chunks_that_fit_come_along_as_they_are() {
    let a = with_foreign_chunk(&[8, 5]);
    let copy = Options::new().with_layout(Layout::Sparse).copy_in_memory(&a).unwrap();
    assert_eq!(stored(&copy), stored(&a));
    let joined = Options::new().concatenate_in_memory(&[&a, &a], 0).unwrap();
    assert_eq!(stored(&joined), [stored(&a), stored(&a)].concat());
    let mut longer = Options::new().copy_in_memory(&a).unwrap();
    longer.extend(0, &[&a]).unwrap();
    assert_eq!(stored(&longer), stored(&joined));
    let stacked = Options::new().stack_in_memory(&[&a, &a], 0).unwrap();
    assert_eq!(stacked.chunks(), [1, 4, 3]);
    assert_eq!(stored(&stacked), stored(&joined));
    // With other parameters nothing does.
    let other = Options::new().with_clevel(9).copy_in_memory(&a).unwrap();
    assert_ne!(stored(&other)[0], stored(&a)[0]);
    assert_eq!(other.read_bytes(()).unwrap(), a.read_bytes(()).unwrap());
}

#[test]
fn metadata_comes_along_with_a_copy() {
    let options = Options::new().with_metalayer("origin", *b"here").with_vlmetalayer("unit", *b"\xa1m");
    let a = options.create_in_memory(Dtype::parse("<M8[ns]").unwrap(), [3]).unwrap();
    let copy = Options::new().with_vlmetalayer("unit", *b"\xa1s").copy_in_memory(&a).unwrap();
    assert_eq!(copy.dtype(), a.dtype());
    let names: Vec<&str> = copy.schunk.metalayers().map(|(name, _)| name).collect();
    assert_eq!(names, ["b2nd", "origin"]);
    assert_eq!(copy.schunk.vlmetalayer("unit").unwrap().unwrap(), b"\xa1s");
}

#[test]
fn what_does_not_fit_is_not_joined() {
    let make = |dtype: &str, shape: &[u64]| {
        Options::new().create_in_memory(Dtype::parse(dtype).unwrap(), shape).unwrap()
    };
    let (a, b, c) = (make("<i2", &[2, 3]), make("<i2", &[2, 4]), make(">i2", &[2, 3]));
    assert!(Options::new().concatenate_in_memory(&[], 0).is_err());
    assert!(Options::new().stack_in_memory(&[], 0).is_err());
    assert!(Options::new().concatenate_in_memory(&[&a, &b], 0).is_err());
    assert_eq!(Options::new().concatenate_in_memory(&[&a, &b], 1).unwrap().shape(), [2, 7]);
    assert!(Options::new().concatenate_in_memory(&[&a], 2).is_err());
    assert!(Options::new().concatenate_in_memory(&[&a, &c], 0).is_err());
    assert!(Options::new().stack_in_memory(&[&a, &b], 0).is_err());
    assert!(Options::new().stack_in_memory(&[&a, &a], 3).is_err());
    assert_eq!(Options::new().stack_in_memory(&[&a, &a], 2).unwrap().shape(), [2, 3, 2]);
}
