//! Whatever is written is read back, whole and in part, with any number of threads, from any source.

use super::*;
use crate::chunk::ItemRuns;
use crate::exec::Cancel;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A source that makes its blocks, as arrays do.
struct Made(Vec<u8>);

impl BlockSource for Made {
    fn nbytes(&self) -> usize {
        self.0.len()
    }
    fn block<'a>(&'a self, range: Range<usize>, buffer: &'a mut Vec<u8>) -> crate::Result<&'a [u8]> {
        buffer.clear();
        buffer.extend_from_slice(&self.0[range]);
        Ok(buffer)
    }
}

fn codec() -> impl Strategy<Value = Codec> {
    prop::sample::select(vec![Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd])
}

fn split() -> impl Strategy<Value = SplitMode> {
    (1..=4_u8).prop_map(|id| SplitMode::from_id(id).unwrap())
}

fn typesize() -> impl Strategy<Value = u32> {
    prop_oneof![1..=17_u32, Just(24), Just(255), Just(256), Just(1000)]
}

prop_compose! {
    fn params()(
        codec in codec(),
        clevel in 0..=9_u8,
        filters in prop::sample::select(vec![
            "none", "shuffle", "bitshuffle", "delta", "delta,shuffle", "delta,bitshuffle", "shuffle:3,delta",
            "shuffle,bitshuffle", "bitshuffle,shuffle,delta", "shuffle,shuffle,bitshuffle,delta,shuffle:200,bitshuffle",
        ]),
        split in split(),
        typesize in typesize(),
        blocksize in prop::option::of(1..5000_u32),
        short in any::<bool>(),
    ) -> Params {
        let params = Params::new(typesize).with_codec(codec).with_clevel(clevel).with_split(split)
            .with_blocksize(blocksize).with_pipeline(filters.parse().unwrap());
        let plain = matches!(filters, "none" | "shuffle" | "bitshuffle");
        params.with_short_header(short && plain)
    }
}

/// Bytes with every kind of stream in them: zeros, runs, slow items, noise.
fn mixed() -> impl Strategy<Value = Vec<u8>> {
    let piece = (0..5_usize, 0..3000_usize, any::<u8>(), 1..20_usize);
    prop::collection::vec(piece, 0..5).prop_map(|pieces| {
        pieces
            .into_iter()
            .flat_map(|(kind, len, byte, width)| match kind {
                0 => vec![0; len],
                1 => vec![byte; len],
                2 | 3 => walk(len, width),
                _ => noise(len),
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_written_is_read_back(data in mixed(), params in params(), cut in any::<[prop::sample::Index; 2]>()) {
        let chunk = encode(&data, &params, &one()).unwrap();
        let header = ChunkHeader::parse(&chunk).unwrap();
        prop_assert_eq!(header.cbytes() as usize, chunk.len());
        prop_assert!(chunk.len() <= data.len() + header.header_len());
        prop_assert_eq!(u32::from(header.typesize()), if params.typesize() > 255 { 1 } else { params.typesize() });
        prop_assert_eq!(&plain(&chunk), &data);

        let mut ends = cut.map(|at| at.index(data.len() + 1));
        ends.sort_unstable();
        let mut part = vec![0x77; ends[1] - ends[0]];
        decode_range(&chunk, ends[0], &mut part, &Limits::default(), &one()).unwrap();
        prop_assert_eq!(&part, &data[ends[0]..ends[1]]);
    }

    #[test]
    fn a_source_that_makes_its_blocks_gives_the_same_chunk(data in mixed(), params in params()) {
        let chunk = encode(&data, &params, &one()).unwrap();
        let mut out = b"before".to_vec();
        let mut scratch = Scratch::default();
        for _ in 0..2 {
            encode_one(&Made(data.clone()), &params, &Context::default(), &mut scratch, &mut out).unwrap();
            prop_assert_eq!(&out, &chunk);
        }
    }
}

#[test]
fn the_number_of_threads_does_not_show_nor_what_was_in_the_buffer() {
    // Each chunk is written over the one before, which was shorter or longer.
    let (mut serial, mut three, mut alone) = (vec![7; 9], vec![7; 9], vec![7; 2_700_000]);
    let mut scratch = Scratch::default();
    for filters in ["shuffle", "delta,shuffle", "none", "trunc_prec:10,delta,bitshuffle"] {
        for data in [
            walk(3_000_001, 4),
            noise(900_000),
            vec![0; 2_100_000],
            [walk(900_000, 4), noise(600_000)].concat(),
            [noise(870_001), walk(600_000, 4)].concat(),
            [noise(600_000), vec![0; 270_000], noise(60_000)].concat(),
        ] {
            let params = Params::new(4)
                .with_codec(Codec::Lz4)
                .with_blocksize(Some(10_000))
                .with_pipeline(filters.parse().unwrap());
            let chunk = encode(&data, &params, &one()).unwrap();
            encode_from(&data.as_slice(), &params, &Context::default(), &one(), &mut serial).unwrap();
            assert!(chunk == serial, "{filters}");
            let made = Made(data.clone());
            encode_one(&made, &params, &Context::default(), &mut scratch, &mut alone).unwrap();
            assert!(chunk == alone, "{filters}");
            encode_from(&made, &params, &Context::default(), &Exec::new(3), &mut three).unwrap();
            assert!(chunk == three, "{filters}");
            let whole = plain(&chunk);
            assert!(decode(&chunk, &Limits::default(), &Exec::new(3)).unwrap() == whole, "{filters}");
            // As much as a thread is woken for.
            let mut part = vec![0; 750_001];
            decode_range(&chunk, 12_345, &mut part, &Limits::default(), &Exec::new(3)).unwrap();
            assert!(part == whole[12_345..][..750_001], "{filters}");
        }
    }
}

#[test]
fn small_chunks_of_slow_codecs_are_the_same_on_several_threads() {
    // Where a byte takes long, fewer of them pay for another thread. (What is read is shared where it is zlib.)
    let exec = Exec::new(4);
    for (codec, clevel) in
        [(Codec::Lz4Hc, 1), (Codec::Zlib, 1), (Codec::Zstd, 1), (Codec::Zstd, 4), (Codec::Lz4, 9)]
    {
        for nbytes in [15_000, 16_384, 40_001, 65_536, 131_071, 131_072] {
            let params = Params::new(4).with_codec(codec).with_clevel(clevel).with_blocksize(Some(4096));
            for data in [walk(nbytes, 4), [noise(nbytes - 9000), vec![0; 9000]].concat()] {
                let chunk = encode(&data, &params, &one()).unwrap();
                assert!(encode(&data, &params, &exec).unwrap() == chunk, "{codec:?} {clevel} {nbytes}");
                assert!(
                    decode(&chunk, &Limits::default(), &exec).unwrap() == data,
                    "{codec:?} {clevel} {nbytes}"
                );
            }
        }
    }
}

#[test]
fn truncated_items_are_read_as_they_were_truncated_in_every_block() {
    let data: Vec<u8> = (0..10_000).flat_map(|n| (1.0 + n as f32).sqrt().to_le_bytes()).collect();
    let expected: Vec<u8> =
        (0..10_000).flat_map(|n| ((1.0 + n as f32).sqrt().to_bits() & !0x1FFF).to_le_bytes()).collect();
    for filters in
        ["trunc_prec:10", "trunc_prec:10,delta", "delta,trunc_prec:10", "trunc_prec:10,delta,shuffle"]
    {
        let params = Params::new(4).with_blocksize(Some(4096)).with_pipeline(filters.parse().unwrap());
        let chunk = encode(&data, &params, &one()).unwrap();
        assert!(chunk.len() < data.len(), "{filters}");
        assert!(plain(&chunk) == expected, "{filters}");
    }
}

#[test]
fn blocks_decode_one_by_one_from_their_spans() {
    let data = walk(100_000, 8);
    let params = Params::new(8).with_blocksize(Some(8192)).with_pipeline("delta,shuffle".parse().unwrap());
    for params in [params.clone(), params.with_clevel(0)] {
        let chunk = encode(&data, &params, &one()).unwrap();
        let (context, available) = (Context::default(), chunk.len() as u64);
        let needed = ChunkHead::needed(&chunk[..32], available, &context).unwrap();
        let head = ChunkHead::parse(&chunk[..needed], available, &context).unwrap();
        assert_eq!(head.nblocks(), 13);
        let mut scratch = Scratch::default();
        let mut first = vec![0; head.block_len(0)];
        head.decode_block(0, &chunk[head.block_span(0)], None, &mut first, &mut scratch).unwrap();
        for n in (0..head.nblocks()).rev() {
            let mut block = vec![0; head.block_len(n)];
            head.decode_block(n, &chunk[head.block_span(n)], Some(&first), &mut block, &mut scratch).unwrap();
            assert!(block == data[8192 * n..][..block.len()]);
        }
        assert_eq!(head.refers_to_first(), head.content() == Content::Blocks);
        if head.refers_to_first() {
            let mut block = vec![0; head.block_len(1)];
            let alone = head.decode_block(1, &chunk[head.block_span(1)], None, &mut block, &mut scratch);
            assert!(matches!(alone, Err(Error::Usage(_))));
        }
        assert!(head.decode_block(13, &[], Some(&first), &mut [], &mut scratch).is_err());
    }
}

#[test]
fn a_decoder_decodes_the_reference_block_once() {
    let data = walk(100_000, 8);
    let params = Params::new(8).with_blocksize(Some(8192)).with_pipeline("delta,shuffle".parse().unwrap());
    let chunk = encode(&data, &params, &one()).unwrap();
    let head = ChunkHead::parse(&chunk, chunk.len() as u64, &Context::default()).unwrap();
    let stream = |n: usize| &chunk[head.block_span(n)];
    let mut scratch = Scratch { reference: vec![1; 20_000], ..Scratch::default() };
    let mut decoder = BlockDecoder::new(&head);
    assert_eq!((decoder.missing_reference(0), decoder.decoded(0)), (None, None));
    assert_eq!(decoder.missing_reference(5), Some(head.block_span(0)));
    let mut block = vec![0; 8192];
    assert!(matches!(decoder.decode(5, stream(5), &mut block, &mut scratch), Err(Error::Usage(_))));
    // The memory of the scratch is not lost where the block is damaged.
    assert!(decoder.supply_reference(&[], &mut scratch).is_err());
    assert_eq!((scratch.reference.len(), decoder.decoded(0)), (8192, None));

    decoder.supply_reference(stream(0), &mut scratch).unwrap();
    assert_eq!((decoder.missing_reference(5), decoder.decoded(0)), (None, Some(&data[..8192])));
    assert_eq!(decoder.decoded(1), None);
    decoder.decode(5, stream(5), &mut block, &mut scratch).unwrap();
    assert!(block == data[8192 * 5..][..8192]);
    // No stream: the reference block is decoded already.
    decoder.decode(0, &[], &mut block, &mut scratch).unwrap();
    assert!(block == data[..8192]);
    for (n, stream) in [(0, &[][..]), (7, stream(7))] {
        let mut part = [0; 100];
        decoder.decode_part(n, 8192, stream, 8000, &mut part, &mut scratch).unwrap();
        assert_eq!(part, data[8192 * n + 8000..][..100]);
        let past = decoder.decode_part(n, 8192, stream, 8100, &mut part, &mut scratch);
        assert!(matches!(past, Err(Error::OutOfBounds { .. })));
    }
    assert!(scratch.reference.is_empty());
    decoder.release(&mut scratch);
    assert_eq!(scratch.reference, data[..8192]);
}

#[test]
fn blocks_may_lie_in_any_order() {
    let data = walk(40_000, 4);
    let params = Params::new(4).with_codec(Codec::Lz4).with_blocksize(Some(10_000));
    let chunk = encode(&data, &params, &one()).unwrap();
    let head = ChunkHead::parse(&chunk, chunk.len() as u64, &Context::default()).unwrap();
    let order = [2, 0, 3, 1];
    let mut starts = [0_u32; 4];
    let mut body = Vec::new();
    for n in order {
        starts[n] = (32 + 16 + body.len()) as u32;
        body.extend(&chunk[head.block_span(n)]);
    }
    let offsets: Vec<u8> = starts.iter().flat_map(|start| start.to_le_bytes()).collect();
    let shuffled = [&chunk[..32], &offsets, &body].concat();
    assert!(plain(&shuffled) == data);
    let head = ChunkHead::parse(&shuffled, shuffled.len() as u64, &Context::default()).unwrap();
    assert_eq!(head.block_span(1).end, shuffled.len());
    assert_eq!(head.block_span(2).start, 48);
    assert_eq!(head.block_span(2).end, head.block_span(0).start);
    // Two blocks at one place are the same block twice.
    let mut doubled = shuffled;
    doubled.copy_within(32..36, 36);
    assert!(plain(&doubled)[10_000..20_000] == data[..10_000]);
}

#[test]
fn progress_and_cancellation_reach_both_directions() {
    let data = walk(500_000, 4);
    let params = Params::new(4).with_codec(Codec::Lz4).with_blocksize(Some(10_000));
    for threads in [1, 3] {
        let seen = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&seen);
        let exec = Exec::new(threads).with_progress(move |bytes| {
            counter.fetch_add(bytes, Ordering::Relaxed);
        });
        let chunk = encode(&data, &params, &exec).unwrap();
        assert_eq!(seen.swap(0, Ordering::Relaxed), 500_000);
        assert!(decode(&chunk, &Limits::default(), &exec).unwrap() == data);
        assert_eq!(seen.swap(0, Ordering::Relaxed), 500_000);
        for (data, params) in [(&data, params.clone().with_clevel(0)), (&noise(500_000), params.clone())] {
            assert_eq!(encode(data, &params, &exec).unwrap().len(), 500_032);
            assert_eq!(seen.swap(0, Ordering::Relaxed), 500_000);
        }
        let cancel = Cancel::new();
        cancel.cancel();
        let exec = exec.with_cancel(cancel);
        assert!(matches!(encode(&data, &params, &exec), Err(Error::Cancelled)));
        assert!(matches!(decode(&chunk, &Limits::default(), &exec), Err(Error::Cancelled)));
    }
}

#[test]
fn ranges_and_destinations_of_another_size_are_refused() {
    let chunk = encode(&walk(1000, 4), &Params::new(4), &one()).unwrap();
    let limits = Limits::default();
    for (start, len) in [(0, 1001), (1000, 1), (1001, 0), (usize::MAX, 2)] {
        let result = decode_range(&chunk, start, &mut vec![0; len], &limits, &one());
        assert!(matches!(result, Err(Error::OutOfBounds { axis: None, .. })), "{start} {len}");
    }
    decode_range(&chunk, 1000, &mut [], &limits, &one()).unwrap();
    assert!(matches!(
        decode_into(&chunk, &mut [0; 999], &limits, &one()),
        Err(Error::LengthMismatch { found: 999, .. })
    ));
}

#[test]
fn items_are_taken_out_of_shuffled_blocks_and_of_no_others() {
    let data = walk(64 << 10, 4);
    let mut scratch = Scratch::default();
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd] {
        for split in [SplitMode::Always, SplitMode::Never] {
            let params = Params::new(4).with_codec(codec).with_split(split).with_blocksize(Some(16 << 10));
            let head_of = |params: &Params| {
                let chunk = encode(&data, params, &one()).unwrap();
                let head = ChunkHead::parse(&chunk, chunk.len() as u64, &Context::default()).unwrap();
                (chunk, head)
            };
            for filters in ["none", "bitshuffle", "delta,shuffle"] {
                let (_, head) = head_of(&params.clone().with_pipeline(filters.parse().unwrap()));
                assert!(!head.takes_items_of(4), "{codec:?} {split:?} {filters}");
            }
            let (chunk, head) = head_of(&params.with_pipeline("shuffle".parse().unwrap()));
            assert!(head.takes_items_of(4) && !head.takes_items_of(8) && !head.takes_items_of(1));
            // A start of the block, and all of it.
            for runs in [[900..901, 3..40, 1000..1024], [4000..4096, 0..2, 77..78]] {
                let reach = runs.iter().map(|run| run.end as usize * 4).max().unwrap();
                let block = &data[2 << 14..3 << 14];
                let due: Vec<u8> = runs
                    .iter()
                    .flat_map(|run| block[run.start as usize * 4..run.end as usize * 4].to_vec())
                    .collect();
                let mut items = vec![0; due.len()];
                let stream = &chunk[head.block_span(2)];
                assert!(
                    head.decode_items(2, stream, ItemRuns { reach, runs: &runs }, &mut items, &mut scratch)
                        .unwrap()
                );
                assert_eq!(items, due, "{codec:?} {split:?}");
            }
        }
    }
}
