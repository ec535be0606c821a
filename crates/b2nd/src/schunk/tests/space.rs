//! Dead bytes: bounded, written again only where nobody needs them, counted.

use super::crash::{Log, Recorder};
use super::*;
use crate::Durability;
use crate::codec::Codec;
use crate::frame::Offsets;
use crate::frame::plan::{FileId, WriteStep};
use crate::io::{MemoryStore, OpenedStore, WriteStore};
use crate::schunk::space::{chunks_at, last_chunks};
use b2nd_testkit::rng::Rng;
use std::fs;
use std::path::Path;

/// Numbers that are the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
    /// Bytes that do not compress.
    fn bytes(&mut self, len: u64) -> Vec<u8> {
        (0..len).map(|_| (self.below(1 << 40) >> 11) as u8).collect()
    }
}

/// Chunks of any size, stored as they are.
fn loose_spec() -> FrameSpec {
    let params = Params::new(1).with_codec(Codec::Lz4).with_clevel(0);
    FrameSpec { params, chunksize: 0, metalayers: Vec::new(), ..spec(Layout::Contiguous, 0) }
}

/// What a frame may take that has `compact` bytes without gaps, and chunks of up to `chunk` bytes: what is replaced stays until
/// the next commit.
fn bound(compact: u64, chunk: u64) -> u64 {
    compact + compact / 4 + (16 << 10) + 8 * chunk
}

/// One change: an append mostly, or another content (and size) for a chunk, or one less; then a commit.
fn step(schunk: &mut SChunk, want: &mut Vec<Vec<u8>>, draw: &mut Draw, sizes: fn(&mut Draw) -> u64) {
    let len = sizes(draw);
    let bytes = draw.bytes(len);
    let n = draw.below(want.len().max(1) as u64);
    match draw.below(10) {
        _ if want.len() < 30 => {}
        0..5 => {
            schunk.update(n, &bytes).unwrap();
            want[n as usize] = bytes;
            return;
        }
        5 => {
            schunk.set_vlmetalayer("note", &bytes[..bytes.len().min(300)]).unwrap();
            return;
        }
        6 => {
            schunk.delete(n).unwrap();
            want.remove(n as usize);
            return;
        }
        _ => {}
    }
    schunk.append(&bytes).unwrap();
    want.push(bytes);
}

const SIZES: [fn(&mut Draw) -> u64; 4] = [
    |draw| 40 + draw.below(60),
    |draw| 3000 + draw.below(3000),
    |_| 5000,
    |draw| if draw.below(4) == 0 { 20_000 + draw.below(9000) } else { 50 + draw.below(900) },
];

/// The longest chunks of each.
const CHUNKS: [u64; 4] = [140, 6040, 5040, 29_040];

#[test]
fn a_frame_stays_within_a_quarter_more_than_its_compact_size() {
    for durability in [Durability::None, Durability::Ordered, Durability::Full] {
        for (seed, sizes) in (1..).zip(SIZES) {
            let options = options().with_write(true).with_durability(durability);
            let mut schunk = SChunk::create(FrameTarget::Memory, loose_spec(), &options.common).unwrap();
            let (mut want, mut draw) = (Vec::new(), Draw(0x9e37_79b9 * seed));
            for round in 0..3000 {
                step(&mut schunk, &mut want, &mut draw, sizes);
                if round % 50 == 49 && want.len() > 60 {
                    let space = schunk.space().unwrap();
                    assert!(
                        space.stored <= bound(space.used, CHUNKS[seed as usize - 1]),
                        "{durability:?} {seed} {round}: {space:?}"
                    );
                }
            }
            assert_eq!(contents(&schunk).unwrap(), want);
            let space = schunk.space().unwrap();
            assert_eq!(space.stored, schunk.store.len(FileId::Frame).unwrap());
            schunk.compact().unwrap();
            assert_eq!(schunk.space().unwrap().dead(), 0);
            assert_eq!(contents(&schunk).unwrap(), want);
        }
    }
}

#[test]
fn appends_leave_a_quarter_of_dead_bytes_at_most() {
    for durability in [Durability::None, Durability::Ordered, Durability::Full] {
        for (seed, sizes) in (1..).zip(SIZES) {
            let options = options().with_write(true).with_durability(durability);
            let mut schunk = SChunk::create(FrameTarget::Memory, loose_spec(), &options.common).unwrap();
            let mut draw = Draw(0x9e37_79b9 * seed);
            for round in 1..=3000 {
                let len = sizes(&mut draw);
                schunk.append(&draw.bytes(len)).unwrap();
                if round % 100 == 0 {
                    let space = schunk.space().unwrap();
                    assert!(space.stored <= bound(space.used, 0), "{durability:?} {seed} {round}: {space:?}");
                }
            }
        }
    }
}

#[test]
fn handles_that_come_and_go_use_what_others_have_left() {
    let temp = TempDir::new("space");
    for (seed, sizes) in (1..).zip(SIZES) {
        let path = temp.path(&format!("f{seed}"));
        let options = options().with_write(true).with_durability(Durability::None);
        let target = FrameTarget::Path { path: &path, overwrite: false };
        SChunk::create(target, loose_spec(), &options.common).unwrap().commit().unwrap();
        let (mut want, mut draw) = (Vec::new(), Draw(0x9e37_79b9 * seed));
        for round in 0..700 {
            let mut schunk = SChunk::open(&path, &options).unwrap();
            step(&mut schunk, &mut want, &mut draw, sizes);
            drop(schunk);
            if round % 50 == 49 && want.len() > 60 {
                let space = SChunk::open(&path, &super::options()).unwrap().space().unwrap();
                assert_eq!(space.stored, fs::metadata(&path).unwrap().len());
                assert!(
                    space.stored <= bound(space.used, CHUNKS[seed as usize - 1]),
                    "{seed} {round}: {space:?}"
                );
            }
        }
        assert_eq!(contents(&SChunk::open(&path, &options).unwrap()).unwrap(), want);
    }
}

/// Chunks that are written over again and again, with all steps; the states after each commit.
fn many_commits(durability: Durability, seed: u64) -> (Vec<WriteStep<'static>>, Vec<Vec<Vec<u8>>>) {
    let log = Log::default();
    let options = options().with_write(true).with_durability(durability);
    let mut schunk = SChunk::create(FrameTarget::Memory, loose_spec(), &options.common).unwrap();
    schunk.writer.store =
        OpenedStore::Write(Box::new(Recorder { store: MemoryStore::default(), log: log.clone() }));
    let (mut want, mut draw) = (Vec::new(), Draw(0x9e37_79b9 * seed));
    let mut states = Vec::new();
    for _ in 0..40 {
        step(&mut schunk, &mut want, &mut draw, |draw| 40 + draw.below(160));
        states.push(want.clone());
        if want.len() > 5 && draw.below(3) > 0 {
            let n = draw.below(want.len() as u64);
            want[n as usize] = draw.bytes(70);
            schunk.update(n, &want[n as usize].clone()).unwrap();
        }
        states.push(want.clone());
    }
    let steps = log.lock().unwrap().clone();
    // Some bytes were written at least three times.
    let mut times = vec![0; 1 << 20];
    for step in &steps {
        if let WriteStep::WriteAt { offset: offset @ 1.., bytes, .. } = step {
            times[*offset as usize..][..bytes.len()].iter_mut().for_each(|times| *times += 1);
        }
    }
    assert!(times.iter().any(|times| *times > 2));
    (steps, states)
}

fn survives(steps: &[WriteStep<'static>], want: &mut impl FnMut(&[Vec<u8>]) -> bool) {
    let mut store = MemoryStore::default();
    steps.iter().for_each(|step| store.apply(step).unwrap());
    let survived = SChunk::load(OpenedStore::Write(Box::new(store)), Layout::Contiguous, &options());
    let survived = contents(&survived.unwrap()).unwrap();
    assert!(want(&survived), "no state of {} chunks after {} steps", survived.len(), steps.len());
}

/// The first step that leaves a frame.
fn first_commit(steps: &[WriteStep<'static>]) -> usize {
    steps.iter().position(|step| matches!(step, WriteStep::Publish { .. })).unwrap() + 1
}

#[test]
fn a_killed_writer_leaves_a_committed_state_however_often_bytes_were_written_again() {
    for durability in [Durability::None, Durability::Ordered, Durability::Full] {
        let (steps, states) = many_commits(durability, 7);
        let mut at = 0;
        for done in first_commit(&steps)..=steps.len() {
            let mut seen = |found: &[Vec<u8>]| {
                // Never an older one than the last time.
                let next = states.iter().skip(at).position(|state| state == found);
                at += next.unwrap_or(0);
                next.is_some() || at == 0
            };
            survives(&steps[..done], &mut seen);
        }
        assert_eq!(states[at], *states.last().unwrap());
    }
}

#[test]
fn a_power_cut_brings_back_a_committed_state_whatever_was_not_waited_for() {
    for durability in [Durability::Ordered, Durability::Full] {
        let (steps, states) = many_commits(durability, 11);
        let mut draw = Draw(99);
        let first = first_commit(&steps);
        for _ in 0..1500 {
            let done = first + draw.below((steps.len() - first + 1) as u64) as usize;
            let synced = steps[..done].iter().rposition(|step| matches!(step, WriteStep::Sync { .. }));
            // Of the writes since the last wait, any may have been lost.
            let survivors = steps[..done].iter().enumerate();
            let survivors = survivors.filter(|(n, _)| Some(*n) <= synced || *n < first || draw.below(2) == 0);
            let survivors: Vec<_> = survivors.map(|(_, step)| step.clone()).collect();
            survives(&survivors, &mut |found| states.iter().any(|state| state == found) || found.is_empty());
        }
    }
}

/// What a handle sees that was opened before many commits.
fn holds(path: &Path, reader_options: &OpenOptions, write: &OpenOptions) {
    let reader = SChunk::open(path, reader_options).unwrap();
    let before = contents(&reader).unwrap();
    let len = || fs::metadata(path).unwrap().len();
    let mut draw = Draw(5);
    let mut writer = SChunk::open(path, write).unwrap();
    let sparse = writer.layout() == Layout::Sparse;
    for round in 0..60u64 {
        let n = draw.below(writer.nchunks());
        writer.update(n, &draw.bytes(400)).unwrap();
        assert_eq!(contents(&reader).unwrap(), before, "after {round} commits");
    }
    let (held, dead) = (len(), writer.space().unwrap().dead());
    assert!(dead > 50 * 400, "{dead}");
    // Alone again: nothing more is needed, and what is left is used.
    drop(reader);
    for _ in 0..60 {
        let n = draw.below(writer.nchunks());
        writer.update(n, &draw.bytes(400)).unwrap();
    }
    assert!(sparse || len() <= held);
    let space = writer.space().unwrap();
    assert!(space.dead() < 16 << 10, "{space:?}");
    let now = contents(&writer).unwrap();
    drop(writer);
    let reader = SChunk::open(path, reader_options).unwrap();
    assert_eq!(contents(&reader).unwrap(), now);
    assert!(sparse || reader.frame_len() == len());
}

#[test]
#[cfg_attr(not(unix), ignore = "nobody is known to be alone")]
fn readers_keep_the_state_that_they_opened() {
    let temp = TempDir::new("pinned");
    let write = options().with_write(true).with_durability(Durability::None);
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let path = temp.path(&format!("{layout:?}"));
        let target = FrameTarget::Path { path: &path, overwrite: false };
        let mut schunk = SChunk::create(target, spec(layout, 10), &write.common).unwrap();
        for n in 0..10 {
            schunk.put_chunk(n, &encoded(&schunk, &data(n as u32))).unwrap();
        }
        schunk.commit().unwrap();
        drop(schunk);
        holds(&path, &options(), &write);
        holds(&path, &options().with_block_cache(1 << 20), &write);
        // A handle that could write reads as well.
        holds(&path, &write.clone().with_owner_lock(false), &write);
        if layout == Layout::Contiguous && cfg!(feature = "mmap") {
            holds(&path, &options().with_mmap(true), &write);
        }
    }
}

#[test]
fn a_block_cache_never_holds_what_was_in_the_same_place_before() {
    let options = crate::Options::new().with_chunks([100]).with_blocks([50]);
    let bytes =
        options.create_in_memory(crate::Dtype::parse("<u4").unwrap(), [600]).unwrap().to_bytes().unwrap();
    let open = super::options().with_write(true).with_block_cache(1 << 20);
    let mut array = crate::Array::from_bytes(bytes, &open).unwrap();
    let place = |at: usize| crate::s![at as i64..at as i64 + 10];
    let (mut draw, mut items) = (Draw(3), vec![0u32; 600]);
    for _ in 0..400 {
        let at = draw.below(590) as usize;
        let new: Vec<u32> = (0..10).map(|_| draw.below(4) as u32).collect();
        array.write_items(place(at), &new).unwrap();
        items[at..at + 10].copy_from_slice(&new);
        let at = draw.below(590) as usize;
        assert_eq!(array.read_items::<u32>(place(at)).unwrap(), items[at..at + 10]);
    }
    let (cache, space) = (array.schunk().block_cache(), array.schunk().space().unwrap());
    assert!(cache.hits > 60 && space.stored < 40_000, "{cache:?} {space:?}");
}

#[test]
fn a_frame_that_shares_its_file_ends_where_the_file_ends() {
    let temp = TempDir::new("placed");
    let path = temp.path("f");
    fs::write(&path, [7; 100]).unwrap();
    let mut first =
        SChunk::create(FrameTarget::Memory, spec(Layout::Contiguous, 4), &options().common).unwrap();
    first.commit().unwrap();
    let at = first.append_to(&path).unwrap();
    let options = options().with_write(true).with_offset(at);
    for n in 0..40u32 {
        let mut schunk = SChunk::open(&path, &options).unwrap();
        schunk.update(u64::from(n % 4), &data(n)).unwrap();
        assert_eq!(at + schunk.frame_len(), fs::metadata(&path).unwrap().len());
        schunk.compact().unwrap();
        schunk.update(u64::from(n % 4), &data(n + 1)).unwrap();
        assert_eq!(at + schunk.frame_len(), fs::metadata(&path).unwrap().len());
    }
    assert_eq!(fs::read(&path).unwrap()[..100], [7; 100]);
}

/// What may move is found without sorting all offsets, and is what a sorted list has there, with the neighbours.
#[test]
fn chunks_that_may_move_are_those_of_a_sorted_list() {
    let mut rng = Rng::new(11);
    for round in 0..300 {
        // Many in one place, some of zeros, in any order.
        let range = 1 + rng.below(60);
        let all: Vec<i64> = (0..rng.below(80)).map(|_| rng.below(range) as i64 * 10 - 20).collect();
        let mut sorted: Vec<(i64, u64)> = all.iter().copied().zip(0..).filter(|(raw, _)| *raw >= 0).collect();
        sorted.sort_unstable();
        let raws: Vec<i64> = sorted.iter().map(|(raw, _)| *raw).collect();
        let offsets = Offsets::Each(all);
        let count = rng.below(20) as usize;
        let last = last_chunks(&offsets, count);
        let last_raws: Vec<i64> = last.iter().map(|(raw, _)| *raw).collect();
        assert_eq!(last_raws, raws[raws.len() - count.min(raws.len())..], "{round}");
        assert!(last.iter().all(|chunk| sorted.contains(chunk)));
        let wanted: Vec<i64> = (0..rng.below(6)).map(|_| rng.below(range) as i64 * 10).collect();
        let near = chunks_at(&offsets, &wanted);
        assert!(near.is_sorted() && near.iter().all(|chunk| sorted.contains(chunk)));
        for raw in wanted {
            let here = |list: &[(i64, u64)]| list.iter().filter(|(found, _)| *found == raw).count();
            assert_eq!(here(&near).min(2), here(&sorted).min(2), "{round}");
            let next = |list: &[(i64, u64)]| list.iter().map(|(found, _)| *found).find(|found| *found > raw);
            // Of three in one place none moves, and what follows them does not matter.
            if here(&sorted) <= 2 {
                assert_eq!(next(&near), next(&sorted), "{round}");
            }
        }
    }
}
