//! Cells against a plain reading of their definition, and the old byte differences and ids.

use super::*;
use crate::error::Part;
use crate::registry::BlockFilter;
use crate::registry::BlockInfo;
use crate::registry::BlockResult;
use crate::registry::Registry;

/// The cell that holds the item at `place`, and where in it that is.
fn cell_of(place: &[usize], sides: &[usize]) -> (Vec<usize>, Vec<usize>) {
    place.iter().zip(sides).map(|(at, side)| (at / side, at % side)).unzip()
}

fn places(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![vec![]], |heads, &length| {
        let more = |head: Vec<usize>| (0..length).map(move |at| [head.clone(), vec![at]].concat());
        heads.into_iter().flat_map(more).collect()
    })
}

/// For every item of the stored block, which item of the block it is.
fn order(shape: &[usize], side: usize) -> Vec<usize> {
    let sides: Vec<usize> = shape.iter().map(|&length| side.min(length)).collect();
    let mut order: Vec<_> =
        places(shape).iter().enumerate().map(|(n, place)| (cell_of(place, &sides), n)).collect();
    order.sort();
    order.into_iter().map(|(_, n)| n).collect()
}

fn context(shape: &[usize]) -> Context {
    let shape: Vec<u32> = shape.iter().map(|&length| length as u32).collect();
    Context::default().with_block_shape(&shape)
}

fn one(filter: Filter, meta: u8) -> Pipeline {
    Pipeline::new().push(filter, meta).unwrap()
}

proptest! {
    #[test]
    fn cells_are_stored_one_after_another(
        shape in prop::collection::vec(1..8_usize, 0..5),
        side in 1..10_usize,
        typesize in 1..20_usize,
        seed in any::<u8>(),
    ) {
        let items: usize = shape.iter().product();
        let src: Vec<u8> = (0..items * typesize).map(|i| (i * i / 7) as u8 ^ seed).collect();
        let stored: Vec<u8> =
            order(&shape, side).iter().flat_map(|n| src[n * typesize..][..typesize].to_vec()).collect();
        let pipeline = one(Filter::NdCell, side as u8);
        let reading = Steps::for_reading(&pipeline, typesize, false, &context(&shape)).unwrap();
        prop_assert_eq!(undo(&reading, &stored, None), src.clone());
        let cell = side.pow(shape.len().max(1) as u32);
        match Steps::for_writing(&pipeline, typesize, false, &context(&shape)) {
            Ok(writing) => prop_assert_eq!(apply(&writing, &src, None), stored),
            Err(_) => prop_assert!(cell > items),
        }
    }

    #[test]
    fn means_stand_in_the_place_of_every_item(
        shape in prop::collection::vec(1..8_usize, 1..5),
        side in 1..10_usize,
        values in prop::collection::vec(-1e6..1e6_f32, 1..50),
    ) {
        let items: usize = shape.iter().product();
        let value = |n: usize| values[n % values.len()];
        let src: Vec<u8> = (0..items).flat_map(|n| value(n).to_le_bytes()).collect();
        let sides: Vec<usize> = shape.iter().map(|&length| side.min(length)).collect();
        let places = places(&shape);
        let mean = |n: usize| {
            let cell = cell_of(&places[n], &sides).0;
            let mates = places.iter().enumerate().filter(|(_, place)| cell_of(place, &sides).0 == cell);
            let (sum, count) = mates.fold((0.0, 0), |(sum, count), (n, _)| (sum + value(n), count + 1));
            sum / count as f32
        };
        let want: Vec<u8> = (0..items).flat_map(|n| mean(n).to_le_bytes()).collect();
        let pipeline = one(Filter::NdMean, side as u8);
        let uneven = shape.iter().zip(&sides).any(|(length, side)| length > side && *side != sides[0]);
        match Steps::for_writing(&pipeline, 4, false, &context(&shape)) {
            Ok(writing) => {
                prop_assert!(writing.is_lossy() && !uneven);
                let stored = apply(&writing, &src, None);
                let reading = Steps::for_reading(&pipeline, 4, false, &context(&shape)).unwrap();
                prop_assert_eq!(undo(&reading, &stored, None), want);
            }
            Err(_) => prop_assert!(uneven),
        }
    }

    #[test]
    fn old_byte_differences_begin_anew_behind_the_last_vector(
        width in 1..9_usize,
        src in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let stream = src.len() / width;
        let begins = |i: usize| i.is_multiple_of(stream) || i % stream == stream / 16 * 16;
        let stored: Vec<u8> = (0..src.len())
            .map(|i| if i >= stream * width || begins(i) { src[i] } else { src[i].wrapping_sub(src[i - 1]) })
            .collect();
        let reading = Steps::for_reading(&one(Filter::OldByteDelta, 0), width, false, &Context::default());
        prop_assert_eq!(undo(&reading.unwrap(), &stored, None), src);
    }
}

#[test]
fn byte_differences_go_by_the_item_size_of_the_frame() {
    let block: Vec<u8> = (0..1200).map(|i| (i / 5) as u8).collect();
    let context = Context::default().with_typesize(300);
    let writing = Steps::for_writing(&one(Filter::ByteDelta, 0), 1, false, &context).unwrap();
    assert_eq!(apply(&writing, &block, None), byte_delta(300, &block));
}

#[test]
fn cells_that_cannot_be_are_refused_and_the_fault_is_named() {
    let read = |filter, meta, typesize, context: &Context| {
        Steps::for_reading(&one(filter, meta), typesize, false, context).map(|steps| steps.moves(1))
    };
    let square = context(&[4, 4]);
    for (filter, meta) in [(Filter::NdCell, 0), (Filter::NdMean, 0), (Filter::NdMean, 128)] {
        let Err(Error::Format(error)) = read(filter, meta, 4, &square) else { panic!("{filter:?}") };
        assert_eq!(error.part(), Part::ChunkHeader);
    }
    assert!(matches!(read(Filter::NdCell, 2, 4, &Context::default()), Err(Error::Unsupported { .. })));
    let vast = Context::default().with_block_shape(&[u32::MAX; 3]);
    assert!(matches!(read(Filter::NdCell, 2, 4, &vast), Err(Error::Format(_))));
    // More axes than an array has are not known at all.
    assert!(matches!(read(Filter::NdCell, 2, 4, &context(&[1; 17])), Err(Error::Unsupported { .. })));

    let steps = Steps::for_reading(&one(Filter::NdCell, 2), 4, false, &square).unwrap();
    let short = steps.undo(&mut [0; 60], &mut vec![], &mut [0; 60], None);
    assert!(matches!(short, Err(Error::Format(_))), "a block at the end of a chunk that is no array's");

    for (filter, meta, typesize, shape) in [
        (Filter::NdCell, 5, 4, &[4, 4][..]),
        (Filter::NdCell, 2, 4, &[2; 9]),
        (Filter::NdMean, 2, 2, &[4, 4]),
        (Filter::NdMean, 4, 4, &[2, 8]),
    ] {
        let error = Steps::for_writing(&one(filter, meta), typesize, false, &context(shape)).map(|_| ());
        assert!(matches!(error, Err(Error::Compression(_))), "{filter:?} {shape:?}");
    }
    assert!(Steps::for_writing(&one(Filter::NdMean, 4), 4, false, &context(&[2, 4])).is_ok());
}

/// A filter of the user that has the id by which an old file means cells.
struct Same;

impl BlockFilter for Same {
    fn apply(&self, _: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
        dst.copy_from_slice(src);
        Ok(())
    }
    fn undo(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
        self.apply(info, src, dst)
    }
}

#[test]
fn an_old_id_means_cells_only_in_its_time_and_where_nobody_claims_it() {
    let pipeline = one(Filter::Other(165), 2);
    let stored: Vec<u8> = (0..64).collect();
    let read = |context: &Context| {
        Steps::for_reading(&pipeline, 4, false, context).map(|steps| undo(&steps, &stored, None))
    };
    let plain = context(&[4, 4]);
    assert!(matches!(read(&plain), Err(Error::Unsupported { .. })));
    let cells = Steps::for_reading(&one(Filter::NdMean, 2), 4, false, &plain).unwrap();
    let old = plain.clone().with_caterva(true);
    assert_eq!(read(&old).unwrap(), undo(&cells, &stored, None));
    let claimed = old.clone().with_registry(Registry::new().with_filter(165, "mine", Same).unwrap());
    assert_eq!(read(&claimed).unwrap(), stored);
    let written = Steps::for_writing(&pipeline, 4, false, &old).map(|_| ());
    assert!(matches!(written, Err(Error::Compression(_))));
    // A copy has the same cells, and no means that would be taken again.
    let again = pipeline.to_write(&old);
    assert_eq!(again, one(Filter::NdCell, 2));
    assert_eq!((pipeline.to_write(&plain), pipeline.to_write(&claimed)), (pipeline, pipeline));
    let steps = Steps::for_writing(&again, 4, false, &old).unwrap();
    assert_eq!(undo(&steps, &stored, None), undo(&cells, &stored, None));
}
