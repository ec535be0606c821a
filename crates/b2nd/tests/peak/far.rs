//! What a reader of a frame that is far away holds: the stored index, and not what the frame claims or has.

use crate::hostile::Forged;
use crate::{ALLOCATOR, alone};
use b2nd::chunk::encode;
use b2nd::io::{FileRange, ReadBudget, Step};
use b2nd::schunk::Opener;
use b2nd::{Array, Codec, Exec, Filter, Layout, OpenOptions, Params, Pipeline, Selection};
use b2nd_testkit::rng::Rng;

/// The decoded index blocks that are kept, buffers of the size of a block, and the tables of a decoder.
const KEPT: usize = 12 << 20;

/// A frame of `chunks` chunks of 64 bytes, of which a thousand are stored and each is referred to many times, in random order; and
/// the length of its stored index.
fn frame(chunks: u64) -> (Vec<u8>, usize) {
    let mut rng = Rng::new(3);
    let (mut data, mut starts) = (Vec::new(), Vec::new());
    for _ in 0..1000 {
        starts.push(data.len() as u64);
        data.extend(encode(&rng.bytes(64), &Params::new(1).with_clevel(0), &Exec::new(1)).unwrap());
    }
    let offsets: Vec<u8> = (0..chunks).flat_map(|_| rng.pick(&starts).to_le_bytes()).collect();
    let shuffled = Pipeline::none().push(Filter::Shuffle, 0).unwrap();
    let params = Params::new(8).with_codec(Codec::BloscLz).with_clevel(5).with_pipeline(shuffled);
    let index = encode(&offsets, &params, &Exec::new(1)).unwrap();
    let len = index.len();
    (Forged::new(64, data, chunks, index).array(64).bytes(), len)
}

/// Reads items of a frame of `chunks` chunks; the peak of memory is at most twice the stored index while that is loaded, and once
/// besides what is kept afterwards.
fn read_items(chunks: u64) {
    let (bytes, index) = frame(chunks);
    let local = Array::from_bytes(bytes.clone(), &OpenOptions::new()).unwrap();
    let mut rng = Rng::new(5);
    let points: Vec<i64> = (0..50).map(|_| rng.below(chunks * 64) as i64).collect();
    let expected = local.read_bytes(Selection::points(points.clone())).unwrap();
    drop(local);
    let fetch = |range: &FileRange| &bytes[range.range.start as usize..range.range.end as usize];
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let mut opener = Opener::new(Some(bytes.len() as u64), Layout::Contiguous, &OpenOptions::new());
    while let Step::Need(ranges) = opener.step().unwrap() {
        for range in ranges {
            opener.supply(&range, fetch(&range)).unwrap();
        }
    }
    let array = Array::from_snapshot(opener.finish().unwrap()).unwrap();
    let opened = ALLOCATOR.peak_usage() - before;
    let mut reader = array.reader(Selection::points(points)).unwrap();
    while let Step::Need(ranges) = reader.step(&ReadBudget::default()).unwrap() {
        for range in ranges {
            reader.supply(&range, fetch(&range)).unwrap();
        }
    }
    assert!(reader.finish().unwrap() == expected);
    let (peak, kept) = (ALLOCATOR.peak_usage() - before, ALLOCATOR.current_usage() - before);
    println!("{chunks} chunks, {index} bytes of index: opened {opened}, peak {peak}, kept {kept}");
    assert!(opened <= 1 << 20, "{opened} bytes to open");
    assert!(peak <= 2 * index + KEPT, "a peak of {peak} bytes for an index of {index}");
    assert!(kept <= index + KEPT, "{kept} bytes are kept for an index of {index}");
}

#[test]
fn a_reader_of_a_million_chunks_holds_the_stored_index() {
    let _alone = alone();
    read_items(1_000_000);
}

#[test]
fn a_reader_of_ten_million_chunks_holds_the_stored_index() {
    let _alone = alone();
    read_items(10_000_000);
}
