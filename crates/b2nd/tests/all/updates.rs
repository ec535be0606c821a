//! A write that touches few blocks of a chunk leaves the compressed bytes of the others as they are.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]

use b2nd::{Array, Codec, Dtype, Exec, Filter, OpenOptions, Options, Params, Pipeline, s};
use b2nd_testkit::rng::Rng;

const SHAPE: [u64; 2] = [30, 50];

fn items() -> Vec<u32> {
    let mut rng = Rng::new(11);
    (0..1500u32).map(|n| n / 7 + (rng.next_u64() % 5) as u32).collect()
}

/// Two chunks of 30 × 26 items, in blocks of 10 × 5, the last of each row cut by the edge.
fn array(params: &Params, exec: &Exec) -> Array {
    let options = Options::new().with_chunks([30, 26]).with_blocks([10, 5]);
    let options = options.with_params(params.clone()).with_exec(exec.clone());
    let mut array = options.create_in_memory(Dtype::parse("<u4").unwrap(), SHAPE).unwrap();
    array.write_items(s![], &items()).unwrap();
    array
}

/// The compressed bytes of each block of a chunk.
fn blocks(chunk: &[u8]) -> Vec<&[u8]> {
    let word = |at: usize| u32::from_le_bytes(chunk[at..at + 4].try_into().unwrap()) as usize;
    let count = word(4).div_ceil(word(8));
    let starts: Vec<usize> = (0..count).map(|n| word(32 + 4 * n)).chain([word(12)]).collect();
    starts.windows(2).map(|pair| &chunk[pair[0]..pair[1]]).collect()
}

#[test]
fn only_touched_blocks_change_their_bytes() {
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Zstd, Codec::Zlib] {
        let mut a = array(&Params::new(4).with_codec(codec), &Exec::new(1));
        let before = a.schunk().chunk(0).unwrap().into_owned();
        a.write_items(s![11..13, 3..8], &[77_777u32; 10]).unwrap();
        let after = a.schunk().chunk(0).unwrap().into_owned();
        // Rows 10 to 19, columns 0 to 9: the first two of six blocks in the second row of blocks.
        let changed = [6, 7];
        for (n, (old, new)) in blocks(&before).into_iter().zip(blocks(&after)).enumerate() {
            assert_eq!(old != new, changed.contains(&n), "{codec:?} block {n}");
        }
        let mut expected = items();
        for row in 11..13 {
            expected[row * 50 + 3..row * 50 + 8].fill(77_777);
        }
        assert_eq!(a.read_items::<u32>(s![]).unwrap(), expected);
    }
}

#[test]
fn chunks_whose_blocks_cannot_stand_beside_new_ones_are_made_anew() {
    let delta = Pipeline::new().push(Filter::Delta, 0).unwrap().push(Filter::Shuffle, 0).unwrap();
    let all = [
        Params::new(4).with_pipeline(delta),
        Params::new(4).with_dictionary(true),
        Params::new(4).with_clevel(0),
        Params::new(4).with_codec(Codec::Lz4).with_clevel(9),
    ];
    for params in all {
        for threads in [1, 3] {
            let mut a = array(&params, &Exec::new(threads));
            let (mut expected, mut rng) = (items(), Rng::new(5));
            for turn in 0..60u32 {
                let (row, column) = (rng.between(0, 28) as usize, rng.between(0, 48) as usize);
                let value = if turn % 3 == 0 { 0 } else { turn };
                a.write_items(s![row..row + 2, column..column + 2], &[value; 4]).unwrap();
                for row in row..row + 2 {
                    expected[row * 50 + column..row * 50 + column + 2].fill(value);
                }
            }
            assert_eq!(a.read_items::<u32>(s![]).unwrap(), expected, "{params:?}");
            let again = Array::from_bytes(a.to_bytes().unwrap(), &OpenOptions::new()).unwrap();
            assert!(again.verify().unwrap().is_sound());
        }
    }
}

#[test]
fn blocks_that_become_zeros_make_a_chunk_of_zeros_in_the_end() {
    let mut a = array(&Params::new(4), &Exec::new(2));
    for row in 0..30 {
        a.write_items(s![row, ..26], &[0u32; 26]).unwrap();
    }
    assert_eq!(a.read_items::<u32>(s![.., ..26]).unwrap(), [0u32; 780]);
    // Nothing but its header: a special chunk.
    assert_eq!(a.schunk().chunk(0).unwrap().len(), 32);
}

#[test]
fn damage_elsewhere_in_a_chunk_does_not_stop_a_write_and_stays_where_it_is() {
    let a = array(&Params::new(4).with_codec(Codec::Zstd), &Exec::new(1));
    let mut bytes = a.to_bytes().unwrap();
    let chunk = a.schunk().chunk(0).unwrap().into_owned();
    let at = bytes.windows(chunk.len()).position(|window| window == chunk).unwrap();
    let first = u32::from_le_bytes(chunk[32..36].try_into().unwrap()) as usize;
    // The length of the first block's first stream.
    bytes[at + first..at + first + 4].copy_from_slice(&i32::MAX.to_le_bytes());
    let mut a = Array::from_bytes(bytes, &OpenOptions::new().with_write(true)).unwrap();
    assert!(a.read_items::<u32>(s![0, 0]).is_err());
    a.write_items(s![29, 20], &[5u32]).unwrap();
    assert_eq!(a.read_items::<u32>(s![29, 20]).unwrap(), [5]);
    assert!(a.read_items::<u32>(s![0, 0]).is_err());
    assert!(a.write_items(s![0, 1], &[5u32]).is_err());
}

#[test]
fn a_chunk_changed_by_several_threads_has_the_same_bytes_as_by_one() {
    // Blocks of 64 KiB: long enough to be shared between threads.
    let (shape, mut rng) = ([1024u64, 512], Rng::new(17));
    let items: Vec<u32> = (0..1024 * 512u32).map(|n| n / 9 + (rng.next_u64() % 3) as u32).collect();
    for codec in [Codec::Lz4, Codec::Zstd] {
        let arrays = [1, 2, 4].map(|threads| {
            let options = Options::new().with_chunks(shape).with_blocks([128, 128]);
            let options = options.with_params(Params::new(4).with_codec(codec)).with_exec(Exec::new(threads));
            let mut array = options.create_in_memory(Dtype::parse("<u4").unwrap(), shape).unwrap();
            array.write_items(s![], &items).unwrap();
            let mut rng = Rng::new(3);
            for turn in 1..12u32 {
                // One to 24 of the 32 blocks.
                let (row, column) = (rng.between(0, 1000) as usize, rng.between(0, 500) as usize);
                let (rows, columns) = (1 + rng.below(1023 - row as u64) as usize, 1 + rng.below(11) as usize);
                let values = vec![turn; rows * columns];
                array.write_items(s![row..row + rows, column..column + columns], &values).unwrap();
            }
            array
        });
        let [one, others @ ..] = &arrays;
        let expected = one.schunk().chunk(0).unwrap();
        for other in others {
            assert_eq!(other.schunk().chunk(0).unwrap(), expected, "{codec:?}");
            assert_eq!(other.read_bytes(s![]).unwrap(), one.read_bytes(s![]).unwrap());
        }
    }
}
