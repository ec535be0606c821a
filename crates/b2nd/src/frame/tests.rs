//! Byte maps of headers, trailers and offsets, and the parser fed in every way.

use super::*;
use crate::chunk::{Params, Special, SplitMode};
use crate::codec::Codec;
use crate::exec::Exec;
use crate::filter::Pipeline;
use crate::limits::Limits;
use std::ops::Range;

/// The frame that C-Blosc2 makes of a super-chunk without chunks (lz4, level 5, typesize 4, block size 1024).
fn golden_empty() -> Vec<u8> {
    let text = "9ea8 62326672616d6500 d200000061 cf0000000000000084 a4 12005102 d30000000000000000 d30000000000000000 \
        d200000004 d200000400 d2ffffffff d10001 d10001 c2 d806 000000000001 01 00 000000000000 00 00 \
        93cd0007 de0000 dc0000 94 01 93 cd0006 de0000 dc0000 ce00000023 d800 00000000000000000000000000000000";
    from_hex(text)
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn parse(bytes: &[u8]) -> crate::Result<FrameIndex> {
    parse_traced(bytes, Layout::Contiguous, &mut Vec::new())
}

fn parse_traced(bytes: &[u8], layout: Layout, asked: &mut Vec<Range<u64>>) -> crate::Result<FrameIndex> {
    let mut parser = FrameParser::new(bytes.len() as u64, layout, &Limits::default())?;
    loop {
        match parser.step() {
            ParseStep::Done(index) => return Ok(*index),
            ParseStep::Need(range) => {
                assert!(range.start < range.end && range.end <= bytes.len() as u64, "{range:?}");
                parser.supply(&bytes[range.start as usize..range.end as usize])?;
                asked.push(range);
            }
        }
    }
}

fn golden_params() -> Params {
    Params::new(4)
        .with_codec(Codec::Lz4)
        .with_clevel(5)
        .with_pipeline(Pipeline::from_bytes([0, 0, 0, 0, 0, 1], [0; 6]))
        .with_split(SplitMode::Auto)
        .with_blocksize(Some(1024))
}

#[test]
fn the_golden_empty_frame_is_read() {
    let index = parse(&golden_empty()).unwrap();
    assert_eq!(index.header.len(), 97);
    assert_eq!(index.header.frame_len(), 132);
    assert_eq!(index.header.version(), 2);
    assert_eq!((index.header.nbytes(), index.header.cbytes(), index.header.chunksize()), (0, 0, 0));
    assert_eq!(index.header.params(), &golden_params());
    assert_eq!(index.offsets.len(), 0);
    assert!(index.trailer.is_empty());
}

#[test]
fn the_golden_empty_frame_is_written() {
    let params = golden_params();
    let fields = HeaderFields { layout: Layout::Contiguous, params: &params, chunksize: 7, nbytes: 0 };
    let mut header = FrameHeader::build(&fields, &[]).unwrap();
    header.set_lengths(132, 0, false);
    let mut bytes = header.bytes().to_vec();
    bytes.extend(Trailer::default().encode_with(None).unwrap());
    let mut golden = golden_empty();
    golden[58..62].copy_from_slice(&[0, 0, 0, 7]);
    assert_eq!(bytes, golden);
}

#[test]
fn a_header_with_a_metalayer_has_the_documented_bytes() {
    let params = Params::new(300).with_blocksize(Some(600));
    let fields = HeaderFields { layout: Layout::Sparse, params: &params, chunksize: 0, nbytes: 0 };
    let content = [0x97; 53];
    let header = FrameHeader::build(&fields, &[(b"b2nd", &content), (b"\xff\xfe", b"")]).unwrap();
    let bytes = header.bytes();
    assert_eq!(bytes[25..27], [0x53, 1], "variable chunks, in a directory");
    assert_eq!(bytes[47..52], from_hex("d2 0000012c"));
    assert_eq!(bytes[87..94], from_hex("93 cd0019 de0002"));
    assert_eq!(bytes[94..104], from_hex("a4 62326e64 d2 00000073"));
    assert_eq!(bytes[104..112], from_hex("a2 fffe d2 000000ad"));
    assert_eq!(bytes[112..120], from_hex("dc0002 c6 00000035"));
    assert_eq!(header.version(), 3);
    let found: Vec<_> = header.metalayers().map(|(n, c)| (n.bytes().to_vec(), c.to_vec())).collect();
    assert_eq!(found, [(b"b2nd".to_vec(), content.to_vec()), (b"\xff\xfe".to_vec(), vec![])]);
}

#[test]
fn a_trailer_has_the_documented_bytes() {
    let chunk =
        from_hex("05010701 06000000 06000000 26000000 000000000000 01 05 000000000000 0000 a568656c6c6f");
    let mut trailer = Trailer::default();
    trailer.set("greet", chunk.clone()).unwrap();
    let mut golden = from_hex("94 01 93 cd0011 de0001 a5 6772656574 d2 00000017 dc0001 c6 00000026");
    golden.extend(&chunk);
    golden.extend(from_hex("ce 00000059 d800 00000000000000000000000000000000"));
    let bytes = trailer.encode_with(None).unwrap();
    assert_eq!(bytes, golden);
    assert_eq!(Trailer::parse(&bytes, header::Dialect::Current).unwrap(), trailer);
}

#[test]
fn offsets_of_special_chunks_are_read_bit_by_bit() {
    let kind = |byte: u8| ChunkOffset::from_raw(i64::from_le_bytes([0, 0, 0, 0, 0, 0, 0, byte]));
    assert_eq!(kind(0x81).unwrap(), ChunkOffset::Special(Special::Zeros));
    assert_eq!(kind(0x82).unwrap(), ChunkOffset::Special(Special::Nan));
    assert_eq!(kind(0x84).unwrap(), ChunkOffset::Special(Special::Uninit));
    assert_eq!(kind(0x87).unwrap(), ChunkOffset::Special(Special::Zeros));
    assert_eq!(kind(0x86).unwrap(), ChunkOffset::Special(Special::Uninit));
    assert!(kind(0x80).is_err());
    assert!(kind(0xf8).is_err());
    assert_eq!(ChunkOffset::Stored(7).to_raw(), Some(7));
    assert_eq!(ChunkOffset::Special(Special::Value).to_raw(), None);
}

#[test]
fn an_index_of_one_special_value_is_one_special_chunk() {
    let zeros = ChunkOffset::Special(Special::Zeros).to_raw().unwrap();
    let uniform = Offsets::Uniform { raw: zeros, len: 3 };
    let golden = from_hex(
        "05010508 18000000 18000000 28000000 000000000000 00 00 000000000000 00 30  0000000000000081",
    );
    let mut written = uniform.encode(&Exec::new(1)).unwrap();
    assert!(Offsets::decode(&written, Some(3), &Limits::default()).unwrap().is_same_as(&uniform).unwrap());
    written[8..12].copy_from_slice(&golden[8..12]);
    assert_eq!(written, golden, "apart from the block size, which nobody uses here");
    // A frame of many chunks costs nothing before it is written.
    let many = Offsets::Uniform { raw: zeros, len: Offsets::MAX_CHUNKS };
    let chunk = many.encode(&Exec::new(1)).unwrap();
    assert_eq!(chunk.len(), 40);
    let limits = Limits::default().with_max_index_bytes(u64::MAX);
    assert!(Offsets::decode(&chunk, None, &limits).unwrap().is_same_as(&many).unwrap());
}

#[test]
fn an_index_survives_its_round_trip() {
    for len in [1usize, 3, 4, 100, 5000] {
        let mut offsets = Offsets::Uniform { raw: -0x7f00_0000_0000_0000, len: len as u64 };
        for n in (0..len as u64).step_by(3) {
            offsets.replace(n, (n * 1001) as i64).unwrap();
        }
        let chunk = offsets.encode(&Exec::new(1)).unwrap();
        let limits = Limits::default();
        let back = Offsets::decode(&chunk, Some(len as u64), &limits).unwrap();
        assert!((0..len as u64).all(|n| back.raw(n).unwrap() == offsets.raw(n).unwrap()));
        assert_eq!(back.max_stored().unwrap(), Some((len as u64 - 1) / 3 * 3 * 1001));
        assert!(Offsets::decode(&chunk, Some(len as u64 + 1), &limits).is_err(), "one chunk too few");
        let error =
            Offsets::decode(&chunk, None, &limits.with_max_index_bytes(len as u64 * 8 - 1)).unwrap_err();
        assert_eq!(error.fault(), crate::Fault::Limit);
    }
}

#[test]
fn long_headers_and_trailers_are_asked_for_once() {
    let params = golden_params();
    let fields = HeaderFields { layout: Layout::Contiguous, params: &params, chunksize: 8, nbytes: 0 };
    let content = vec![7; 5000];
    let mut header = FrameHeader::build(&fields, &[(b"big", &content)]).unwrap();
    let mut trailer = Trailer::default();
    trailer.set("big", vec![1; 3000]).unwrap();
    let tail = trailer.encode_with(None).unwrap();
    let len = header.len() + tail.len() as u64;
    header.set_lengths(len, 0, true);
    let mut bytes = [header.bytes(), &tail].concat();
    bytes.extend([0xee; 100]);
    let mut asked = Vec::new();
    let index = parse_traced(&bytes, Layout::Contiguous, &mut asked).unwrap();
    assert_eq!(index.header.bytes(), header.bytes());
    assert_eq!(index.trailer, trailer);
    let tail_start = len - tail.len() as u64;
    assert_eq!(asked, [0..1024, 0..header.len(), len - 512..len, tail_start..len]);
}

#[test]
fn what_nobody_reads_may_be_anything() {
    let golden = golden_empty();
    for (at, value) in [
        (28, 0),
        (63, 0xff),
        (66, 0xff),
        (53, 0),
        (68, 0xc3),
        (78, 9),
        (86, 1),
        (89, 0xff),
        (98, 0xff),
        (101, 0xff),
        (120, 0xff),
    ] {
        let mut bytes = golden.clone();
        bytes[at] = value;
        assert!(parse(&bytes).is_ok(), "byte {at}");
    }
    for (at, value) in
        [(0, 0x9f), (3, 0), (11, 0x7f), (16, 0x7f), (25, 0x14), (26, 1), (26, 2), (30, 0x80), (48, 0x80)]
    {
        let mut bytes = golden.clone();
        bytes[at] = value;
        assert!(parse(&bytes).is_err(), "byte {at}");
    }
}

#[test]
fn metalayers_that_overlap_are_refused() {
    let mut trailer = Trailer::default();
    for n in 0..200 {
        trailer.set(&format!("n{n}"), vec![0; 100]).unwrap();
    }
    let mut bytes = trailer.encode_with(None).unwrap();
    assert!(Trailer::parse(&bytes, header::Dialect::Current).is_ok());
    // Every name leads to one content that is nearly as long as the trailer.
    let values = bytes.windows(3).position(|w| w == [0xdc, 0, 200]).unwrap() + 3;
    let len = (bytes.len() - values - 5 - 23) as u32;
    bytes[values + 1..values + 5].copy_from_slice(&len.to_be_bytes());
    let mut at = 9;
    for _ in 0..200 {
        at += 1 + usize::from(bytes[at] & 31);
        bytes[at + 1..at + 5].copy_from_slice(&(values as u32).to_be_bytes());
        at += 5;
    }
    let error = Trailer::parse(&bytes, header::Dialect::Current).unwrap_err();
    assert!(error.to_string().contains("overlap"), "{error}");
}

#[test]
fn chunks_are_grouped_by_their_offsets() {
    for raws in [vec![], vec![7], vec![3, -1, 3, 0, -1, 3, 9]] {
        let offsets = Offsets::Each(raws.clone());
        let groups = offsets.groups().unwrap();
        let mut seen = Vec::new();
        for group in 0..groups.len() {
            let (first, others) = groups.get(group).unwrap();
            let numbers: Vec<u64> = std::iter::once(first).chain(others.iter()).collect();
            assert_eq!(others.len() as usize, numbers.len() - 1);
            let raw = raws[first as usize];
            let naive: Vec<u64> = (0..raws.len() as u64).filter(|n| raws[*n as usize] == raw).collect();
            assert_eq!(numbers, naive);
            seen.push(raw);
        }
        let mut distinct = raws.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(seen, distinct);
        assert!(groups.get(groups.len()).is_none());
    }
    let uniform = Offsets::Uniform { raw: -1, len: 1 << 27 }.groups().unwrap();
    let (first, others) = uniform.get(0).unwrap();
    assert_eq!((uniform.len(), first, others.len()), (1, 0, (1 << 27) - 1));
    assert_eq!(Offsets::none().groups().unwrap().len(), 0);
}
