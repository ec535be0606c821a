//! Chunks whose blocks have lengths of their own.

use super::*;

fn params(codec: Codec, filters: &str) -> Params {
    Params::new(4).with_codec(codec).with_pipeline(filters.parse().unwrap())
}

fn encoded(blocks: &[&[u8]], params: &Params) -> Vec<u8> {
    encode_blocks(blocks, params, &Context::default(), &one()).unwrap()
}

const CODECS: [Codec; 5] = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];

proptest! {
    #[test]
    fn blocks_come_back_whole_alone_and_in_parts(
        lengths in prop::collection::vec(1..400_usize, 1..30),
        noisy in prop::collection::vec(any::<bool>(), 30),
        codec in prop::sample::select(&CODECS[..]),
        clevel in 0..=9_u8,
        filters in prop::sample::select(&["none", "shuffle", "bitshuffle"][..]),
        dictionary in any::<bool>(),
        cut in any::<[prop::sample::Index; 2]>(),
    ) {
        let (smooth, rough) = (walk(400, 4), noise(400));
        let blocks: Vec<&[u8]> = lengths
            .iter()
            .zip(&noisy)
            .map(|(&len, &noisy)| if noisy { &rough[..len] } else { &smooth[..len] })
            .collect();
        let dictionary = dictionary && crate::codec::has_dictionaries(codec);
        let params = params(codec, filters).with_clevel(clevel).with_dictionary(dictionary);
        let chunk = encoded(&blocks, &params);
        let header = ChunkHeader::parse(&chunk).unwrap();
        prop_assert_eq!((header.version(), header.is_variable(), header.nblocks()), (6, true, blocks.len()));
        prop_assert_eq!(header.cbytes() as usize, chunk.len());
        let whole = blocks.concat();
        prop_assert_eq!(&plain(&chunk), &whole);
        for (n, block) in blocks.iter().enumerate() {
            prop_assert_eq!(&decode_block(&chunk, n, Context::default(), &one()).unwrap(), block);
        }
        let mut ends = cut.map(|at| at.index(whole.len() + 1));
        ends.sort_unstable();
        let mut part = vec![0x77; ends[1] - ends[0]];
        decode_range(&chunk, ends[0], &mut part, &Limits::default(), &one()).unwrap();
        prop_assert_eq!(&part, &whole[ends[0]..ends[1]]);
    }
}

#[test]
fn the_number_of_threads_does_not_show() {
    let data = walk(600_000, 4);
    let blocks: Vec<&[u8]> = data.chunk_by(|a, b| a <= b).collect();
    let params = params(Codec::Lz4, "shuffle");
    let chunk = encoded(&blocks, &params);
    assert_eq!(encode_blocks(&blocks, &params, &Context::default(), &Exec::new(3)).unwrap(), chunk);
    assert_eq!(decode(&chunk, &Limits::default(), &Exec::new(3)).unwrap(), data);
}

#[test]
fn lists_that_are_no_chunk_are_refused() {
    let lists: [&[&[u8]]; 2] = [&[], &[b"one", b""]];
    for blocks in lists {
        let result = encode_blocks(blocks, &Params::new(1), &Context::default(), &one());
        assert!(matches!(result, Err(Error::Usage(_))));
    }
    for params in [params(Codec::Lz4, "delta"), Params::new(1).with_short_header(true)] {
        let result = encode_blocks(&[b"one"], &params, &Context::default(), &one());
        assert!(matches!(result, Err(Error::Compression(_))));
    }
}

#[test]
fn lengths_and_offsets_that_contradict_each_other_are_errors() {
    let data = walk(400, 4);
    let blocks: Vec<&[u8]> = data.chunks(80).collect();
    let good = encoded(&blocks, &params(Codec::Lz4, "shuffle"));
    let first = 32 + 4 * 5;
    let with = |at: usize, number: i32| {
        let mut changed = good.clone();
        changed[at..at + 4].copy_from_slice(&number.to_le_bytes());
        decode(&changed, &Limits::default(), &one())
    };
    let second = i32::from_le_bytes(good[36..40].try_into().unwrap());
    for (at, number) in [
        (first, 0),
        (first, -1),
        (first, 79),
        (first, 81),
        (first, i32::MAX),
        (4, 0),
        (4, 399),
        (4, 401),
        (8, 0),
        (8, 4),
        (8, 6),
        (8, i32::MAX),
        (32, first as i32 - 1),
        (32, second),
        (36, first as i32),
        (36, first as i32 + 3),
    ] {
        assert!(matches!(with(at, number), Err(Error::Format(_))), "{number} at {at}");
    }
}

#[test]
fn damage_is_an_error_or_other_bytes() {
    let strict = Limits::default().with_max_chunk_bytes(4096);
    let data = walk(1000, 4);
    let blocks: Vec<&[u8]> = data.chunks(90).collect();
    for codec in CODECS {
        let chunk = encoded(&blocks, &params(codec, "bitshuffle"));
        for len in 0..chunk.len() {
            assert!(
                matches!(decode(&chunk[..len], &strict, &one()), Err(Error::Format(_))),
                "{codec:?} {len}"
            );
        }
        for bit in 0..8 * chunk.len() {
            let mut damaged = chunk.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            for result in [decode(&damaged, &strict, &one()), decode_block(&damaged, 3, &strict, &one())] {
                assert!(
                    !result.as_ref().is_err_and(|error| error.fault() == Fault::Caller),
                    "{codec:?} {bit}: {result:?}"
                );
            }
        }
    }
}
