//! A reader whose answers come late, in parts, or in an unlucky order: what it asks for, keeps and takes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

use crate::sans_io::{Far, noise};
use b2nd::array::Reader;
use b2nd::io::{FileId, FileRange, ReadBudget, Step};
use b2nd::{Array, Dtype, Error, Filter, OpenOptions, Options, Params, Pipeline, s};
use b2nd_testkit::rng::Rng;
use std::time::{Duration, Instant};

/// What the reader asks for now.
fn needed(reader: &mut Reader, budget: &ReadBudget) -> Option<Vec<FileRange>> {
    match reader.step(budget).unwrap() {
        Step::Need(ranges) => Some(ranges),
        Step::Done => None,
    }
}

/// An array of bytes in one dimension, written chunk by chunk in this order.
fn written(chunk: usize, order: &[usize], options: Options) -> Array {
    let len = chunk * order.len();
    let items = Rng::new(11).bytes(len);
    let options = options.with_chunks([chunk as u64]);
    let mut array = options.create_in_memory(Dtype::parse("|u1").unwrap(), [len as u64]).unwrap();
    let mut transaction = array.transaction();
    for &n in order {
        let at = n * chunk;
        transaction.write_bytes(s![at as i64..(at + chunk) as i64], &items[at..at + chunk]).unwrap();
    }
    transaction.commit().unwrap();
    array
}

/// The bytes of the array's own frame, chunks in the order in which they were written.
fn frame_of(array: Array) -> Vec<u8> {
    array.into_bytes().unwrap()
}

#[test]
fn a_first_block_that_others_refer_to_is_asked_for_once() {
    let pipeline = Pipeline::none().push(Filter::Delta, 0).unwrap();
    let options = Options::new().with_params(Params::new(1).with_pipeline(pipeline)).with_blocks([16 << 10]);
    let options = options.with_chunks([1 << 20]);
    let mut array = options.create_in_memory(Dtype::parse("|u1").unwrap(), [2 << 20]).unwrap();
    let items: Vec<u8> = Rng::new(3).bytes(2 << 20).into_iter().map(|byte| byte & 31).collect();
    array.write_bytes(s![], &items).unwrap();
    let bytes = array.to_bytes().unwrap();
    for selection in [s![..], s![(20 << 10)..(900 << 10)], s![(30 << 10)..;(200 << 10)]] {
        let mut far = Far::contiguous(bytes.clone());
        let opened = far.open(&OpenOptions::new()).unwrap();
        let mut reader = opened.reader(selection.clone()).unwrap();
        let mut seen: Vec<FileRange> = Vec::new();
        while let Some(ranges) = needed(&mut reader, &ReadBudget::default()) {
            assert!(!ranges.is_empty(), "nothing is asked for and the reader is not done");
            for range in ranges.iter().rev() {
                assert!(!seen.contains(range), "{range:?} is asked for twice");
                reader.supply(range, &far.fetch(range)).unwrap();
            }
            seen.extend(ranges);
        }
        assert!(reader.finish().unwrap() == array.read_bytes(selection).unwrap());
    }
}

/// A chunk's range may lie in that of another chunk, of which some parts have come already.
#[test]
fn a_range_inside_one_that_comes_in_parts_is_asked_for() {
    let array = written(8000, &[1, 0, 2], Options::new().with_blocks([8000]));
    let expected = array.read_bytes(s![]).unwrap();
    let mut far = Far::contiguous(frame_of(array));
    let opened = far.open(&OpenOptions::new()).unwrap();
    let budget = ReadBudget::new(2, 64 << 20);
    let mut reader = opened.reader(s![]).unwrap();
    let mut late: Option<FileRange> = None;
    let mut is_first = true;
    for _ in 0..100 {
        let Some(ranges) = needed(&mut reader, &budget) else {
            assert!(reader.finish().unwrap() == expected);
            return;
        };
        if ranges.is_empty() {
            let rest =
                late.take().expect("nothing is asked for, nothing is late, and the reader is not done");
            reader.supply(&rest, &far.fetch(&rest)).unwrap();
        }
        for range in ranges {
            if is_first && (12_000..24_000).contains(&range.len()) {
                is_first = false;
                let cut = range.range.end - 10;
                let part = FileRange::new(range.file, range.range.start..cut);
                reader.supply(&part, &far.fetch(&part)).unwrap();
                late = Some(FileRange::new(range.file, cut..range.range.end));
            } else {
                reader.supply(&range, &far.fetch(&range)).unwrap();
            }
        }
    }
    panic!("the reader does not end");
}

#[test]
fn bytes_that_wait_for_others_count_against_the_budget() {
    let array = noise(12_000, 128);
    let mut far = Far::contiguous(array.to_bytes().unwrap());
    let opened = far.open(&OpenOptions::new()).unwrap();
    let budget = ReadBudget::new(40, 32 << 10);
    let mut reader = opened.reader(s![]).unwrap();
    let (mut late, mut given) = (None, 0);
    while let Some(ranges) = needed(&mut reader, &budget) {
        if ranges.is_empty() {
            break;
        }
        for range in ranges {
            let is_segment = far.len() - range.range.end < 1 << 20 && range.len() == 4096 * 12;
            if late.is_none() && is_segment {
                late = Some(range);
                continue;
            }
            if late.is_some() {
                given += range.len();
            }
            reader.supply(&range, &far.fetch(&range)).unwrap();
        }
    }
    let late = late.unwrap();
    assert!(given <= 32 << 10, "{given} bytes are kept while a segment is late");
    reader.supply(&late, &far.fetch(&late)).unwrap();
    while let Some(ranges) = needed(&mut reader, &budget) {
        ranges.iter().for_each(|range| reader.supply(range, &far.fetch(range)).unwrap());
    }
    assert!(reader.finish().unwrap() == array.read_bytes(s![]).unwrap());
}

#[test]
fn no_more_ranges_are_asked_for_than_the_budget_allows() {
    let array = noise(12_000, 16);
    let mut far = Far::contiguous(array.to_bytes().unwrap());
    let opened = far.open(&OpenOptions::new()).unwrap();
    let mut reader = opened.reader(s![..3000, 2]).unwrap();
    while let Some(ranges) = needed(&mut reader, &ReadBudget::new(1, 1)) {
        assert_eq!(ranges.len(), 1);
        reader.supply(&ranges[0], &far.fetch(&ranges[0])).unwrap();
    }
    assert!(reader.finish().unwrap() == array.read_bytes(s![..3000, 2]).unwrap());
}

/// How long it takes to read with a budget without bounds, or with answers in parts of this many bytes.
fn time_of(array: &Array, part: Option<usize>) -> Duration {
    let mut far = Far::contiguous(array.to_bytes().unwrap());
    let opened = far.open(&OpenOptions::new()).unwrap();
    let mut reader = opened.reader(s![]).unwrap();
    let started = Instant::now();
    while let Some(ranges) = needed(&mut reader, &ReadBudget::new(usize::MAX, u64::MAX)) {
        for range in ranges {
            let bytes = far.fetch(&range);
            let mut at = range.range.start;
            for piece in bytes.chunks(part.unwrap_or(bytes.len())) {
                let end = at + piece.len() as u64;
                reader.supply(&FileRange::new(range.file, at..end), piece).unwrap();
                at = end;
            }
        }
    }
    assert!(reader.finish().unwrap() == array.read_bytes(s![]).unwrap());
    started.elapsed()
}

/// Four times the work takes four times as long and not sixteen times; a busy machine gets some slack.
#[test]
fn many_chunks_and_many_parts_take_linear_time() {
    let slack = Duration::from_secs(1);
    let [few, many] = [2000, 8000].map(|chunks| time_of(&noise(chunks, 16), None));
    assert!(many <= few * 8 + slack, "{few:?} for 2000 chunks, {many:?} for 8000");
    let array = written(1 << 22, &[0], Options::new().with_blocks([1 << 22]));
    let [few, many] = [2048, 512].map(|part| time_of(&array, Some(part)));
    assert!(many <= few * 8 + slack, "{few:?} in parts of 2048 bytes, {many:?} in parts of 512");
}

/// A chunk file that ends before its blocks is damage, and not the fault of the caller.
#[test]
fn a_chunk_file_that_is_too_short_is_damaged() {
    let array = noise(4, 65_536);
    let mut far = Far::sparse(&array);
    let opened = far.open(&OpenOptions::new()).unwrap();
    far.cut(FileId::Chunk(2), 100_000);
    for (row, is_sound) in [(1, true), (2, false)] {
        let mut reader = opened.reader(s![row]).unwrap();
        let mut outcome = Ok(());
        while let (Ok(()), Some(ranges)) = (&outcome, needed(&mut reader, &ReadBudget::default())) {
            assert!(!ranges.is_empty(), "nothing is asked for and the reader is not done");
            outcome = ranges.iter().try_for_each(|range| reader.supply(range, &far.fetch(range)));
        }
        assert_eq!(outcome.is_ok(), is_sound, "row {row}: {outcome:?}");
        assert!(is_sound || matches!(outcome, Err(Error::Format(_))), "{outcome:?}");
    }
}
