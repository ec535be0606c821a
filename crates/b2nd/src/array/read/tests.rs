//! What a read fetches: the blocks that it needs, each once, and no other.

use crate::array::Array;
use crate::array::Dtype;
use crate::array::Options;
use crate::array::Selection;
use crate::array::read::chunk::read_head;
use crate::codec::Codec;
use crate::error::Result;
use crate::exec::Exec;
use crate::filter::Pipeline;
use crate::frame::Layout;
use crate::frame::plan::FileId;
use crate::io::{OpenedStore, ReadStore};
use crate::s;
use crate::schunk::OpenOptions;
use crate::schunk::Place;
use crate::schunk::SChunk;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::Mutex;

/// A frame in memory that is read like a file, and remembers what was read.
#[derive(Debug)]
struct Watched {
    bytes: Vec<u8>,
    reads: Reads,
}

impl ReadStore for Watched {
    fn len(&self, _: FileId) -> Result<u64> {
        Ok(self.bytes.len() as u64)
    }
    fn read_at(&self, _: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        let end = offset as usize + buf.len();
        buf.copy_from_slice(&self.bytes[offset as usize..end]);
        self.reads.lock().unwrap().push(offset..end as u64);
        Ok(())
    }
}

const SHAPE: [u64; 2] = [512, 512];
const CHUNK: u64 = 256;
const BLOCK: u64 = 128;

/// The parts of a file that were read.
type Reads = Arc<Mutex<Vec<Range<u64>>>>;

/// Noise in 2 x 2 chunks of 2 x 2 blocks of 64 KiB, more than reads join; and what was read of it so far.
fn watched(codec: Codec, filters: [u8; 6], threads: usize) -> (Array, Vec<u8>, Reads) {
    let items = b2nd_testkit::rng::Rng::new(7).bytes((SHAPE[0] * SHAPE[1] * 4) as usize);
    let mut array = Options::new()
        .with_chunks([CHUNK, CHUNK])
        .with_blocks([BLOCK, BLOCK])
        .with_codec(codec)
        .with_filters(Pipeline::from_bytes(filters, [0; 6]))
        .create_in_memory(Dtype::raw(4), SHAPE)
        .unwrap();
    // A little order in the noise, so that it is not stored raw.
    let items: Vec<u8> = items.chunks(4).flat_map(|item| [item[0], item[1], item[2], 0]).collect();
    array.write_bytes(s![], &items).unwrap();
    let reads = Arc::default();
    let store = Watched { bytes: array.to_bytes().unwrap(), reads: Arc::clone(&reads) };
    let options = OpenOptions::new().with_exec(Exec::new(threads));
    let schunk = SChunk::load(OpenedStore::Read(Arc::new(store)), Layout::Contiguous, &options).unwrap();
    (Array::from_schunk(schunk).unwrap(), items, reads)
}

/// Where each block of the array lies in the file: chunk, block, bytes.
fn places(array: &Array) -> Vec<(u64, usize, Range<u64>)> {
    let mut found = Vec::new();
    for chunk in 0..array.grid.nchunks() {
        let place = array.schunk.place(chunk).unwrap();
        let Place::Stored { offset, .. } = place else { panic!("all chunks are stored") };
        let head = read_head(array, chunk, place, &mut Vec::new()).unwrap();
        for block in 0..array.grid.blocks_per_chunk() {
            let span = head.block_span(block);
            found.push((chunk, block, offset + span.start as u64..offset + span.end as u64));
        }
    }
    found
}

/// Chunk and block of the item at `(row, column)`.
fn block_of((row, column): (u64, u64)) -> (u64, usize) {
    let chunk = row / CHUNK * 2 + column / CHUNK;
    (chunk, (row % CHUNK / BLOCK * 2 + column % CHUNK / BLOCK) as usize)
}

fn check(codec: Codec, filters: [u8; 6], threads: usize, selection: &Selection, taken: &[(u64, u64)]) {
    check_with(
        (codec, filters, threads),
        |array| array.read_bytes(selection.clone()).unwrap(),
        taken,
        selection,
    );
}

fn check_with(
    (codec, filters, threads): (Codec, [u8; 6], usize),
    read: impl Fn(&Array) -> Vec<u8>,
    taken: &[(u64, u64)],
    what: &dyn std::fmt::Display,
) {
    let (array, items, reads) = watched(codec, filters, threads);
    let places = places(&array);
    reads.lock().unwrap().clear();
    let expected: Vec<u8> = taken
        .iter()
        .flat_map(|&(row, column)| {
            let at = ((row * SHAPE[1] + column) * 4) as usize;
            items[at..at + 4].to_vec()
        })
        .collect();
    assert_eq!(read(&array), expected, "{what}");
    let wanted: BTreeSet<(u64, usize)> = taken.iter().map(|&at| block_of(at)).collect();
    let reads = reads.lock().unwrap();
    for (chunk, block, bytes) in places {
        // The end of a block: the first read of a chunk, of its header, reaches into its first bytes.
        let end = bytes.end - 1;
        let times = reads.iter().filter(|read| read.contains(&end)).count();
        let due = usize::from(wanted.contains(&(chunk, block)));
        assert_eq!(times, due, "chunk {chunk}, block {block} of {what}");
    }
}

#[test]
fn a_view_fetches_each_touched_block_once_and_no_other() {
    let all: Vec<(u64, u64)> = (0..512).flat_map(|c| (0..512).map(move |r| (r, c))).collect();
    let part: Vec<(u64, u64)> = (100..300).rev().step_by(7).flat_map(|c| [(300, c), (5, c)]).collect();
    let points: Vec<(u64, u64)> = vec![(500, 2), (1, 1), (500, 2), (0, 400), (2, 3)];
    let turned: Vec<i64> = points.iter().flat_map(|&(r, c)| [c as i64, r as i64]).collect();
    for threads in [1, 3] {
        let with = (Codec::Zstd, [0, 0, 0, 0, 0, 1], threads);
        check_with(with, |a| a.transpose().read_bytes(()).unwrap(), &all, &"all");
        let back = |a: &Array| a.transpose().read_bytes(s![299..99;-7, [300, 5]]).unwrap();
        check_with(with, back, &part, &"part");
        let points_of = |a: &Array| a.transpose().read_bytes(Selection::points(turned.clone())).unwrap();
        check_with(with, points_of, &points, &"points");
        let copied =
            |a: &Array| Options::new().copy_in_memory(a.transpose()).unwrap().read_bytes(()).unwrap();
        check_with(with, copied, &all, &"a copy");
    }
}

#[test]
fn each_touched_block_is_fetched_once_and_no_other() {
    let rows = [300u64, 5, 300, 7, 511];
    let columns = [260u64, 3, 270];
    let product: Vec<(u64, u64)> = rows.iter().flat_map(|&r| columns.map(|c| (r, c))).collect();
    let points: Vec<(u64, u64)> = vec![(500, 2), (1, 1), (500, 2), (499, 127), (0, 400), (2, 3)];
    let coordinates: Vec<i64> = points.iter().flat_map(|&(r, c)| [r as i64, c as i64]).collect();
    let back: Vec<(u64, u64)> = (0..512).rev().step_by(100).map(|r| (r, 300)).collect();
    let mut mask = vec![false; 512 * 512];
    let mut in_order = points.clone();
    in_order.sort_unstable();
    in_order.dedup();
    in_order.iter().for_each(|&(r, c)| mask[(r * 512 + c) as usize] = true);
    for (codec, threads) in [(Codec::Zstd, 1), (Codec::Zstd, 3), (Codec::Lz4, 2)] {
        let shuffle = [0, 0, 0, 0, 0, 1];
        check(codec, shuffle, threads, &s![rows, columns], &product);
        check(codec, shuffle, threads, &Selection::points(coordinates.clone()), &points);
        check(codec, shuffle, threads, &s![..;-100, 300], &back);
        check(codec, shuffle, threads, &Selection::mask(SHAPE, mask.clone()), &in_order);
    }
}

#[test]
fn with_delta_every_block_is_fetched_once_the_reference_block_too() {
    let (array, items, reads) = watched(Codec::Zstd, [0, 0, 0, 0, 3, 1], 1);
    let places = places(&array);
    let all = |array: &Array| assert_eq!(array.read_bytes(()).unwrap(), items);
    let each = |array: &Array| array.iter_chunks().for_each(|chunk| drop(chunk.read_bytes().unwrap()));
    let chunks = |array: &Array| {
        (0..4).for_each(|n| assert_eq!(array.schunk.decompress_chunk(n).unwrap().len(), 256 * 256 * 4));
    };
    let check = |what: &str, read: &dyn Fn(&Array)| {
        reads.lock().unwrap().clear();
        read(&array);
        let reads = reads.lock().unwrap();
        for (chunk, block, bytes) in &places {
            let times = reads.iter().filter(|read| read.contains(&(bytes.end - 1))).count();
            assert_eq!(times, 1, "chunk {chunk}, block {block} of {what}");
        }
    };
    check("a read", &all);
    check("an iteration", &each);
    check("chunks", &chunks);
}

#[test]
fn a_selection_of_nothing_fetches_nothing() {
    let none = Selection::mask(SHAPE, vec![false; 512 * 512]);
    check(Codec::Zstd, [0, 0, 0, 0, 0, 1], 1, &none, &[]);
    check(Codec::Zstd, [0, 0, 0, 0, 0, 1], 1, &s![Vec::<i64>::new()], &[]);
}

#[test]
fn one_block_is_nothing_to_share_and_two_are() {
    let array = Options::new()
        .with_chunks([100])
        .with_blocks([50])
        .create_in_memory(Dtype::of::<u64>(), [1000])
        .unwrap();
    assert_eq!((array.work(8, 0), array.work(8, 1), array.work(8, 2)), (0, 0, 800));
}
