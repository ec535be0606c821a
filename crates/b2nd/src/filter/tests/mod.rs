//! Each filter against a plain reading of its definition, and pipelines against the filters one after another.

use super::*;
use crate::error::Error;
use crate::registry::Context;
use proptest::prelude::*;

mod cells;

fn shuffle(width: usize, src: &[u8]) -> Vec<u8> {
    let items = src.len() / width;
    let mut out = Vec::new();
    for byte in 0..width {
        out.extend((0..items).map(|item| src[item * width + byte]));
    }
    out.extend(&src[items * width..]);
    out
}

fn bitshuffle(width: usize, src: &[u8]) -> Vec<u8> {
    let items = src.len() / width / 8 * 8;
    let mut out = vec![0; items * width];
    for item in 0..items {
        for bit in 0..8 * width {
            let set = src[item * width + bit / 8] >> (bit % 8) & 1;
            out[bit * (items / 8) + item / 8] |= set << (item % 8);
        }
    }
    out.extend(&src[items * width..]);
    out
}

fn delta(typesize: usize, src: &[u8], first: Option<&[u8]>) -> Vec<u8> {
    let unit = match typesize {
        1 | 2 | 4 | 8 => typesize,
        n if n % 8 == 0 => 8,
        _ => 1,
    };
    let whole = src.len() / unit * unit;
    (0..src.len())
        .map(|i| match first {
            _ if i >= whole => src[i],
            Some(first) => src[i] ^ first[i],
            None if i < unit => src[i],
            None => src[i] ^ src[i - unit],
        })
        .collect()
}

fn trunc_prec(typesize: usize, meta: i8, src: &[u8]) -> Vec<u8> {
    let mantissa = if typesize == 4 { 23 } else { 52 };
    let cleared = if meta >= 0 { mantissa - i32::from(meta) } else { -i32::from(meta) };
    let whole = src.len() / typesize * typesize;
    (0..src.len())
        .map(|i| {
            let low = (cleared - 8 * (i % typesize) as i32).clamp(0, 8);
            if i < whole { src[i] & (0xFF_u16 << low) as u8 } else { src[i] }
        })
        .collect()
}

fn int_trunc(typesize: usize, meta: i8, src: &[u8]) -> Vec<u8> {
    let cleared = if meta >= 0 { 8 * typesize as i32 - i32::from(meta) } else { -i32::from(meta) };
    let whole = src.len() / typesize * typesize;
    (0..src.len())
        .map(|i| {
            let low = (cleared - 8 * (i % typesize) as i32).clamp(0, 8);
            if i < whole { src[i] & (0xFF_u16 << low) as u8 } else { src[i] }
        })
        .collect()
}

fn byte_delta(width: usize, src: &[u8]) -> Vec<u8> {
    let stream = src.len() / width;
    (0..src.len())
        .map(|i| match i.checked_rem(stream) {
            Some(place) if place > 0 && i < stream * width => src[i].wrapping_sub(src[i - 1]),
            _ => src[i],
        })
        .collect()
}

fn oracle(pipeline: &Pipeline, typesize: usize, src: &[u8], first: Option<&[u8]>) -> Vec<u8> {
    pipeline.filters().fold(src.to_vec(), |data, (filter, meta)| match filter {
        Filter::Shuffle => shuffle(if meta == 0 { typesize } else { usize::from(meta) }, &data),
        Filter::BitShuffle => bitshuffle(typesize, &data),
        Filter::Delta => delta(typesize, &data, first),
        Filter::TruncPrec => trunc_prec(typesize, i8::from_le_bytes([meta]), &data),
        Filter::IntTrunc => int_trunc(typesize, i8::from_le_bytes([meta]), &data),
        Filter::ByteDelta => byte_delta(if meta == 0 { typesize } else { usize::from(meta) }, &data),
        other => panic!("filter {}", other.id()),
    })
}

fn apply(steps: &Steps, src: &[u8], first: Option<&[u8]>) -> Vec<u8> {
    steps.apply(src, first, &mut Vec::new(), &mut Vec::new()).unwrap().to_vec()
}

fn undo(steps: &Steps, src: &[u8], first: Option<&[u8]>) -> Vec<u8> {
    let mut data = src.to_vec();
    if !steps.moves(src.len()) {
        steps.undo_in_place(&mut data, first).unwrap();
        return data;
    }
    // Old bytes in the buffers must not matter.
    let (mut spare, mut dst) = (vec![0xA5; src.len() + 3], vec![0x5A; src.len()]);
    steps.undo(&mut data, &mut spare, &mut dst, first).unwrap();
    dst
}

fn check(text: &str, typesize: usize, src: &[u8], expected: &[u8]) {
    let pipeline: Pipeline = text.parse().unwrap();
    let writing = Steps::for_writing(&pipeline, typesize, false, &Context::default()).unwrap();
    assert_eq!(apply(&writing, src, None), expected, "{text}");
    let reading = Steps::for_reading(&pipeline, typesize, false, &Context::default()).unwrap();
    if !writing.is_lossy() {
        assert_eq!(undo(&reading, expected, None), src, "{text}");
    }
}

#[test]
fn filters_give_the_bytes_that_the_reference_gives() {
    check("shuffle:4", 1, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], &[0, 4, 1, 5, 2, 6, 3, 7, 8, 9]);
    let numbers: Vec<u8> = (1..=10_u16).flat_map(u16::to_le_bytes).collect();
    let mut bits = vec![0x55, 0x66, 0x78, 0x80];
    bits.extend([0; 12]);
    bits.extend([9, 0, 10, 0]);
    check("bitshuffle", 2, &numbers, &bits);
    let pi = std::f32::consts::PI.to_le_bytes();
    check("trunc_prec:10", 4, &pi, &[0x00, 0x00, 0x49, 0x40]);
    check("trunc_prec:-10", 4, &pi, &[0x00, 0x0C, 0x49, 0x40]);
    check("int_trunc:10", 4, &0x1234_5678_i32.to_le_bytes(), &[0, 0, 0, 0x12]);
    check("int_trunc:-10", 4, &(-5_i32).to_le_bytes(), &[0x00, 0xFC, 0xFF, 0xFF]);
    check("bytedelta:2", 1, &[1, 3, 6, 10, 10, 9, 7], &[1, 2, 3, 10, 0, 255, 7]);
    check("trunc_prec:10", 8, &std::f64::consts::PI.to_le_bytes(), &[0, 0, 0, 0, 0, 0x20, 0x09, 0x40]);
}

#[test]
fn delta_gives_the_bytes_that_the_reference_gives() {
    let bytes = |items: &[u32]| items.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    let first = bytes(&[0x0100_0000, 11, 13, 16, 10]);
    check("delta", 4, &first, &bytes(&[0x0100_0000, 0x0100_000B, 6, 0x1D, 0x1A]));
    let steps = Steps::for_writing(&"delta".parse().unwrap(), 4, false, &Context::default()).unwrap();
    let second = bytes(&[0x0100_000A, 11]);
    assert_eq!(apply(&steps, &second, Some(&first)), bytes(&[10, 0]));
    assert_eq!(undo(&steps, &bytes(&[10, 0]), Some(&first)), second);
    assert!(matches!(undo_short(&steps), Err(Error::Usage(_))));
}

fn undo_short(steps: &Steps) -> crate::Result<()> {
    steps.undo_in_place(&mut [0; 8], Some(&[0; 7]))
}

#[test]
fn blosc1_bitshuffle_leaves_blocks_whose_items_are_no_multiple_of_eight() {
    let pipeline: Pipeline = "bitshuffle".parse().unwrap();
    let steps = Steps::for_reading(&pipeline, 2, true, &Context::default()).unwrap();
    let block: Vec<u8> = (0..33).collect();
    assert_eq!(undo(&steps, &bitshuffle(2, &block), None), block, "16 items and a tail");
    assert_eq!(undo(&steps, &block[..20], None), block[..20], "10 items");
    let writing = Steps::for_writing(&pipeline, 2, true, &Context::default()).unwrap();
    assert_eq!(apply(&writing, &block[..20], None), block[..20]);
    assert_eq!(apply(&writing, &block, None), bitshuffle(2, &block));
}

#[test]
fn pipelines_that_cannot_be_written_are_refused() {
    for (text, typesize) in [
        ("trunc_prec:10", 2),
        ("trunc_prec:0", 4),
        ("trunc_prec:24", 4),
        ("trunc_prec:-23", 4),
        ("trunc_prec:53", 8),
        ("trunc_prec:-52", 8),
        ("int_trunc:10", 3),
        ("int_trunc:0", 4),
        ("int_trunc:33", 4),
        ("int_trunc:-32", 4),
        ("int_trunc:-8", 1),
        ("old_bytedelta", 4),
        ("ndcell:4", 4),
        ("ndmean:4", 4),
        ("filter-200", 4),
        ("filter-165:4", 4),
        ("delta,shuffle,delta", 4),
    ] {
        let pipeline: Pipeline = text.parse().unwrap();
        let result = Steps::for_writing(&pipeline, typesize, false, &Context::default());
        assert!(matches!(result, Err(Error::Compression(_))), "{text}");
    }
    for text in
        ["trunc_prec:23", "trunc_prec:1", "trunc_prec:-22", "int_trunc:32", "int_trunc:1", "int_trunc:-31"]
    {
        assert!(Steps::for_writing(&text.parse().unwrap(), 4, false, &Context::default()).is_ok(), "{text}");
    }
}

#[test]
fn readers_name_the_filter_they_do_not_know_and_skip_those_without_inverse() {
    let unknown = Steps::for_reading(&"shuffle,filter-200:4".parse().unwrap(), 4, false, &Context::default());
    assert_eq!(unknown.unwrap_err().to_string(), "unsupported filter 200");
    let steps = Steps::for_reading(&"trunc_prec:0".parse().unwrap(), 3, false, &Context::default()).unwrap();
    assert_eq!(undo(&steps, &[1, 2, 3], None), [1, 2, 3]);
}

#[test]
fn pipelines_are_written_and_read_as_text() {
    for text in [
        "none",
        "shuffle",
        "delta,shuffle:16",
        "trunc_prec:-10,bitshuffle",
        "int_trunc:-3,bytedelta:4",
        "ndcell:4",
        "filter-160:7",
    ] {
        let pipeline: Pipeline = text.parse().unwrap();
        assert_eq!(pipeline.to_string(), text);
    }
    assert_eq!(" delta , shuffle ".parse::<Pipeline>().unwrap().to_string(), "delta,shuffle");
    for text in
        ["", "shuffle,", "shufle", "filter-0", "filter-256", "shuffle:256", "trunc_prec:-129", "none,none"]
    {
        assert!(
            matches!(text.parse::<Pipeline>(), Err(Error::Syntax { .. } | Error::Compression(_))),
            "{text:?}"
        );
    }
    let seven = ["shuffle"; 7].join(",");
    assert!(matches!(seven.parse::<Pipeline>(), Err(Error::Compression(_))));
    assert!(Pipeline::default().push(Filter::Delta, 0).is_err(), "its last slot is taken");
    assert!(Pipeline::new().push(Filter::Other(0), 0).is_err());
}

fn a_filter() -> impl Strategy<Value = (u8, u8)> {
    prop_oneof![
        Just((0, 0)),
        Just((1, 0)),
        (1..=40_u8).prop_map(|width| (1, width)),
        Just((2, 0)),
        Just((3, 0)),
        Just((35, 0)),
        (1..=40_u8).prop_map(|width| (35, width)),
    ]
}

proptest! {
    #[test]
    fn pipelines_are_their_filters_in_order(
        slots in prop::array::uniform6(a_filter()),
        typesize in 1..40_usize,
        first in prop::collection::vec(any::<u8>(), 0..400),
        other in any::<bool>(),
    ) {
        let pipeline = Pipeline::from_bytes(slots.map(|s| s.0), slots.map(|s| s.1));
        let reference: Vec<u8> = first.iter().rev().copied().collect();
        let reference = other.then_some(reference.as_slice());
        let reading = Steps::for_reading(&pipeline, typesize, false, &Context::default()).unwrap();
        let filtered = oracle(&pipeline, typesize, &first, reference);
        prop_assert_eq!(undo(&reading, &filtered, reference), first.clone());
        if let Ok(writing) = Steps::for_writing(&pipeline, typesize, false, &Context::default()) {
            prop_assert_eq!(apply(&writing, &first, reference), filtered);
        }
    }

    #[test]
    fn truncation_clears_bits_and_keeps_tails(
        float in any::<bool>(),
        bytes in 0..4_u32,
        meta in -70..=70_i8,
        src in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let typesize = 1_usize << bytes;
        let (filter, least, most) = match (float, typesize) {
            (true, 4) => (Filter::TruncPrec, -22, 23),
            (true, 8) => (Filter::TruncPrec, -51, 52),
            (true, _) => (Filter::TruncPrec, 0, 0),
            (false, _) => (Filter::IntTrunc, 1 - 8 * typesize as i8, 8 * typesize as i8),
        };
        let pipeline = Pipeline::new().push(filter, meta.to_le_bytes()[0]).unwrap();
        if let Ok(steps) = Steps::for_writing(&pipeline, typesize, false, &Context::default()) {
            prop_assert!(meta != 0 && (least..=most).contains(&meta));
            prop_assert_eq!(apply(&steps, &src, None), oracle(&pipeline, typesize, &src, None));
        } else {
            prop_assert!(meta == 0 || !(least..=most).contains(&meta));
        }
    }
}
