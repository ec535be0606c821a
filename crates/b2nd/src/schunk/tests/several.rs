//! Several frames in one file, frames at an offset, copies to other places: every byte before and behind stays.

use super::*;
use crate::Fault;
use crate::io::{FileId, MemoryStore, WriteStore};
use crate::limits::Limits;
use std::fs;
use std::path::Path;

fn at(offset: u64) -> OpenOptions {
    options().with_offset(offset)
}

/// A frame in memory whose chunks are those of these seeds.
fn frame(seeds: &[u32]) -> SChunk {
    let spec = spec(Layout::Contiguous, seeds.len() as u64);
    let mut schunk = SChunk::create(FrameTarget::Memory, spec, &options().common).unwrap();
    for (n, seed) in (0..).zip(seeds) {
        let chunk = encoded(&schunk, &data(*seed));
        schunk.put_chunk(n, &chunk).unwrap();
    }
    schunk.commit().unwrap();
    schunk
}

fn is_frame(schunk: &SChunk, seeds: &[u32]) {
    let want: Vec<_> = seeds.iter().map(|seed| data(*seed)).collect();
    assert_eq!(contents(schunk).unwrap(), want);
    assert_eq!(schunk.vlmetalayer("note").unwrap().unwrap(), b"\xa5hello");
    assert_eq!(schunk.metalayers().count(), 2);
}

/// What is listed: offset and length of each.
fn places(path: &Path) -> Vec<(u64, u64)> {
    frames(path, &options()).unwrap().iter().map(|f| (f.offset(), f.frame_len())).collect()
}

#[test]
fn frames_are_appended_listed_and_opened_by_offset_and_by_number() {
    let temp = TempDir::new("several");
    let path = temp.path("many");
    let mut want = Vec::new();
    for seeds in [&[1, 2, 3][..], &[4], &[], &[5, 6]] {
        let frame = frame(seeds);
        let offset = frame.append_to(&path).unwrap();
        let appended = SChunk::open(&path, &at(offset)).unwrap();
        want.push((offset, appended.frame_len()));
        is_frame(&appended, seeds);
    }
    assert_eq!(places(&path), want);
    assert_eq!(temp.names(), ["many"]);
    for mmap in [false, cfg!(feature = "mmap")] {
        let second = SChunk::open(&path, &options().with_frame(1).with_mmap(mmap)).unwrap();
        is_frame(&second, &[4]);
        assert_eq!(second.is_in_memory(), mmap);
    }
    // Numbers count from the offset on.
    is_frame(&SChunk::open(&path, &at(want[1].0).with_frame(2)).unwrap(), &[5, 6]);
    let bytes = fs::read(&path).unwrap();
    is_frame(&SChunk::from_bytes(bytes.clone(), &options().with_frame(3)).unwrap(), &[5, 6]);
    SChunk::with_borrowed(&bytes, &at(want[1].0), |schunk| {
        is_frame(schunk, &[4]);
        Ok(())
    })
    .unwrap();
    for wrong in [options().with_frame(4), at(bytes.len() as u64 + 1)] {
        assert_eq!(SChunk::open(&path, &wrong).unwrap_err().fault(), Fault::Caller);
        assert_eq!(SChunk::from_bytes(bytes.clone(), &wrong).unwrap_err().fault(), Fault::Caller);
    }
    assert_eq!(SChunk::open(&path, &at(7)).unwrap_err().fault(), Fault::File);
    assert_eq!(SChunk::open(&path, &at(bytes.len() as u64)).unwrap_err().fault(), Fault::File);
}

#[test]
fn only_the_last_frame_of_a_file_is_written_and_nothing_else_changes() {
    let temp = TempDir::new("last");
    let path = temp.path("many");
    fs::write(&path, b"what stands before").unwrap();
    let offsets: Vec<u64> = [1, 2, 3].map(|seed| frame(&[seed, seed]).append_to(&path).unwrap()).into();
    let before = fs::read(&path).unwrap();
    for offset in &offsets[..2] {
        let error = SChunk::open(&path, &at(*offset).with_write(true)).unwrap_err();
        assert_eq!(error.fault(), Fault::Caller);
        assert!(error.to_string().contains("only the last frame"), "{error}");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    let last = usize::try_from(offsets[2]).unwrap();
    let mut schunk = SChunk::open(&path, &at(offsets[2]).with_write(true)).unwrap();
    let chunk = encoded(&schunk, &data(9));
    schunk.put_chunk(1, &chunk).unwrap();
    schunk.rollback().unwrap();
    assert_eq!(fs::read(&path).unwrap(), before, "a rollback cuts the file where the frame ends, not before");
    schunk.put_chunk(1, &chunk).unwrap();
    schunk.commit().unwrap();
    let after = fs::read(&path).unwrap();
    assert_eq!(after[..last], before[..last]);
    is_frame(&SChunk::open(&path, &at(offsets[2])).unwrap(), &[3, 9]);
    assert_eq!(places(&path).len(), 3);
    // What another appends meanwhile is not written over.
    let error = frame(&[7]).append_to(&path).unwrap_err();
    assert!(matches!(error, crate::Error::Locked(_)), "{error}");
    let other = frame(&[7]).to_bytes().unwrap();
    fs::write(&path, [fs::read(&path).unwrap(), other].concat()).unwrap();
    let error = schunk.put_chunk(0, &chunk).unwrap_err();
    assert!(error.to_string().contains("another writer"), "{error}");
    drop(schunk);
    assert_eq!(places(&path).len(), 4);
}

#[test]
fn a_frame_without_chunks_is_replaced_behind_what_stands_before_it() {
    let temp = TempDir::new("empty-last");
    let path = temp.path("many");
    frame(&[1]).append_to(&path).unwrap();
    let offset = frame(&[]).append_to(&path).unwrap();
    let before = fs::read(&path).unwrap();
    let mut schunk = SChunk::open(&path, &at(offset).with_write(true)).unwrap();
    schunk.stage_vlmetalayer("note", &[7; 1000]).unwrap();
    schunk.commit().unwrap();
    let start = usize::try_from(offset).unwrap();
    assert_eq!(fs::read(&path).unwrap()[..start], before[..start]);
    is_frame(&SChunk::open(&path, &options()).unwrap(), &[1]);
    let found = SChunk::open(&path, &options().with_frame(1)).unwrap();
    assert_eq!(found.vlmetalayer("note").unwrap().unwrap(), [7; 1000]);
}

#[test]
fn a_lone_frame_is_written_over_what_a_crash_left_but_not_over_a_frame() {
    let temp = TempDir::new("rest");
    let path = temp.path("one");
    let bytes = frame(&[1, 2]).to_bytes().unwrap();
    let writing = options().with_write(true);
    fs::write(&path, [&bytes[..], &[0xee; 5000]].concat()).unwrap();
    let mut schunk = SChunk::open(&path, &writing).unwrap();
    let chunk = encoded(&schunk, &data(9));
    schunk.put_chunk(1, &chunk).unwrap();
    schunk.commit().unwrap();
    drop(schunk);
    is_frame(&SChunk::open(&path, &options()).unwrap(), &[1, 9]);
    for between in [0, 11, 100_000] {
        fs::write(&path, [&bytes[..], &vec![0xee; between], &bytes].concat()).unwrap();
        let error = SChunk::open(&path, &writing).unwrap_err();
        assert!(error.to_string().contains("another frame follows"), "{error}");
        let both = fs::read(&path).unwrap();
        assert!(SChunk::from_bytes(both, &writing).is_err());
    }
}

#[test]
fn what_is_no_frame_is_passed_over() {
    let one = frame(&[1, 2]).to_bytes().unwrap();
    let two = frame(&[3]).to_bytes().unwrap();
    let listed = |bytes: &[u8]| {
        let found = frames_in(bytes, &options())?;
        Ok::<_, crate::Error>(found.iter().map(|f| (f.offset(), f.frame_len())).collect::<Vec<_>>())
    };
    let (a, b) = (one.len() as u64, two.len() as u64);
    // Garbage before, between and behind; half a mark at the end of a window.
    let garbage: Vec<u8> = (0..70_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    for gap in [1, 9, 10, 65_526, 65_527, 65_531, 65_536, 200_000] {
        let host = [&garbage[..gap], &one, &garbage[..gap], &two, &garbage[..gap]].concat();
        let gap = gap as u64;
        assert_eq!(listed(&host).unwrap(), [(gap, a), (a + 2 * gap, b)]);
    }
    // A last frame that is cut off is none; one in the middle neither.
    let cut = two.len() - 1;
    assert_eq!(listed(&[&one[..], &two[..cut]].concat()).unwrap(), [(0, a)]);
    assert_eq!(listed(&[&one[..one.len() - 30], &two].concat()).unwrap(), [(a - 30, b)]);
    // A length that reaches into the next frame: there is no end of a frame there.
    let mut long = one.clone();
    long[16..24].copy_from_slice(&(a + 30).to_be_bytes());
    assert_eq!(listed(&[&long[..], &two].concat()).unwrap(), [(a, b)]);
    long[16..24].copy_from_slice(&u64::MAX.to_be_bytes());
    assert_eq!(listed(&[&long[..], &two].concat()).unwrap(), [(a, b)]);
    // One that says that it holds the next: they overlap, and what the first says of its length counts.
    long[16..24].copy_from_slice(&(a + b).to_be_bytes());
    assert_eq!(listed(&[&long[..], &two].concat()).unwrap(), [(0, a + b)]);
    for nothing in [&[][..], b"b2frame", &garbage, &one[..one.len() - 1]] {
        assert_eq!(listed(nothing).unwrap_err().fault(), Fault::File);
    }
}

#[test]
fn a_file_full_of_marks_costs_no_more_than_its_limit() {
    // Each mark claims a header up to the end of the file.
    let len = 4_000_000usize;
    let mut bytes = vec![0; len];
    for start in (0..len - 40).step_by(100) {
        bytes[start..][..10].copy_from_slice(b"\x9e\xa8b2frame\0");
        bytes[start + 10] = 0xd2;
        let claim = i32::try_from(len - start).unwrap();
        bytes[start + 11..][..4].copy_from_slice(&claim.to_be_bytes());
    }
    let strict = options().with_limits(Limits::default().with_max_index_bytes(50 << 20));
    let error = frames_in(&bytes, &strict).unwrap_err();
    assert!(matches!(error, crate::Error::Limit { .. }), "{error}");
}

#[test]
fn every_flipped_bit_leaves_the_other_frame() {
    let one = frame(&[1]).to_bytes().unwrap();
    let two = frame(&[2]).to_bytes().unwrap();
    let start = one.len() as u64;
    let mut lost = 0;
    for bit in 0..one.len() * 8 {
        let mut host = [&one[..], &two].concat();
        host[bit / 8] ^= 1 << (bit % 8);
        let found = frames_in(&host, &options()).unwrap();
        // A changed length may end at the end of the second.
        let kept = found.iter().any(|f| f.offset() == start);
        lost += usize::from(!kept);
    }
    assert!(lost == 0, "{lost}");
}

#[test]
fn a_copy_elsewhere_has_the_same_chunks() {
    let temp = TempDir::new("copies");
    let original = frame(&[1, 3, 4, 6]);
    let bytes = original.to_bytes().unwrap();
    let sparse = SaveOptions::new().with_layout(Layout::Sparse);
    original.save(temp.path("s"), &sparse).unwrap();
    let opened = SChunk::open(temp.path("s"), &options()).unwrap();
    assert_eq!(opened.layout(), Layout::Sparse);
    assert_eq!(opened.cbytes(), original.cbytes());
    is_frame(&opened, &[1, 3, 4, 6]);
    for n in 0..4 {
        assert_eq!(opened.chunk(n).unwrap(), original.chunk(n).unwrap());
    }
    opened.save(temp.path("c"), &SaveOptions::new()).unwrap();
    opened.save(temp.path("plain"), &SaveOptions::new().with_checksums(false)).unwrap();
    assert_eq!(fs::read(temp.path("plain")).unwrap(), bytes, "back to where it came from");
    let bytes = opened.to_bytes().unwrap();
    assert_eq!(fs::read(temp.path("c")).unwrap(), bytes, "with its checksums");
    opened.append_to(temp.path("c")).unwrap();
    assert_eq!(fs::read(temp.path("c")).unwrap(), [&bytes[..], &bytes].concat());
    // What exists, the frame itself, and a directory to append to.
    for error in [
        original.save(temp.path("c"), &SaveOptions::new()).unwrap_err(),
        opened.save(temp.path("s"), &sparse.clone().with_overwrite(true)).unwrap_err(),
        opened.append_to(temp.path("s")).unwrap_err(),
    ] {
        assert_eq!(error.fault(), Fault::Caller, "{error}");
    }
    original.save(temp.path("c"), &sparse.with_overwrite(true)).unwrap();
    is_frame(&SChunk::open(temp.path("c"), &options()).unwrap(), &[1, 3, 4, 6]);
    assert_eq!(temp.names(), ["c", "plain", "s"]);
}

#[test]
fn a_copy_that_fails_leaves_the_file_as_it_was() {
    let temp = TempDir::new("failed-copy");
    frame(&[1, 3]).save(temp.path("s"), &SaveOptions::new().with_layout(Layout::Sparse)).unwrap();
    let broken = SChunk::open(temp.path("s"), &options()).unwrap();
    fs::remove_file(temp.path("s").join("00000001.chunk")).unwrap();
    fs::write(temp.path("host"), b"precious").unwrap();
    assert!(broken.append_to(temp.path("host")).is_err());
    assert_eq!(fs::read(temp.path("host")).unwrap(), b"precious");
    assert!(broken.append_to(temp.path("new")).is_err());
    assert!(broken.save(temp.path("new"), &SaveOptions::new()).is_err());
    assert_eq!(temp.names(), ["host", "s"]);
}

#[test]
fn memory_is_shared_until_it_is_written() {
    let bytes: std::sync::Arc<[u8]> = frame(&[1, 2]).to_bytes().unwrap().into();
    let mut schunk = SChunk::from_shared(bytes.clone(), &options().with_write(true)).unwrap();
    assert!(std::ptr::eq(
        schunk.store.slice(FileId::Frame, 0..bytes.len() as u64).unwrap(),
        &raw const *bytes
    ));
    let before = bytes.to_vec();
    let chunk = encoded(&schunk, &data(9));
    schunk.put_chunk(0, &chunk).unwrap();
    schunk.commit().unwrap();
    assert_eq!(*bytes, before[..], "the first write makes a copy");
    is_frame(&schunk, &[9, 2]);
    // Not compact any more.
    let packed = schunk.into_bytes().unwrap();
    is_frame(&SChunk::from_bytes(packed.clone(), &options()).unwrap(), &[9, 2]);
    let place = packed.as_ptr();
    let again = SChunk::from_bytes(packed, &options()).unwrap().into_bytes().unwrap();
    assert_eq!(again.as_ptr(), place);
    // Shared bytes, and those behind an offset, are copied out.
    assert_eq!(SChunk::from_shared(bytes, &options()).unwrap().into_bytes().unwrap(), before);
    let behind = [&[1, 2, 3][..], &before].concat();
    assert_eq!(SChunk::from_bytes(behind, &at(3)).unwrap().into_bytes().unwrap(), before);
    let long = [&before[..], &[1, 2, 3]].concat();
    assert_eq!(SChunk::from_bytes(long, &options()).unwrap().into_bytes().unwrap(), before);
    // Staged changes come along.
    let mut staged = SChunk::from_bytes(before, &options().with_write(true)).unwrap();
    staged.stage_vlmetalayer("more", b"x").unwrap();
    let out = SChunk::from_bytes(staged.into_bytes().unwrap(), &options()).unwrap();
    assert_eq!(out.vlmetalayer("more").unwrap().unwrap(), b"x");
}

#[test]
fn what_cannot_be_written_says_so() {
    let temp = TempDir::new("unwritable");
    let path = temp.path("one");
    let bytes = frame(&[1]).to_bytes().unwrap();
    fs::write(&path, &bytes).unwrap();
    frame(&[1]).save(temp.path("s"), &SaveOptions::new().with_layout(Layout::Sparse)).unwrap();
    let writing = options().with_write(true);
    for error in [
        SChunk::open(&path, &writing.clone().with_mmap(true)).unwrap_err(),
        SChunk::with_borrowed(&bytes, &writing, |_| Ok(())).unwrap_err(),
        SChunk::open(temp.path("s"), &options().with_mmap(true)).unwrap_err(),
        SChunk::open(temp.path("s"), &at(1)).unwrap_err(),
        SChunk::open(temp.path("s"), &options().with_frame(0)).unwrap_err(),
        frames(temp.path("s"), &options()).unwrap_err(),
        SChunk::from_bytes(bytes.clone(), &options().with_mmap(true)).unwrap_err(),
    ] {
        assert_eq!(error.fault(), Fault::Caller, "{error}");
    }
}

/// A frame in a store of the caller's: written there, read from there, changed there.
#[test]
fn a_store_of_the_callers_is_one_like_the_others() {
    let original = frame(&[1, 3]);
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let mut store = MemoryStore::default();
        original.save_to_store(&mut store, layout).unwrap();
        let mut schunk =
            SChunk::open_store_mut(Box::new(store), layout, &options().with_write(true)).unwrap();
        let chunk = encoded(&schunk, &data(4));
        schunk.put_chunk(0, &chunk).unwrap();
        schunk.commit().unwrap();
        is_frame(&schunk, &[4, 3]);
        let store: Box<dyn WriteStore> = Box::new(MemoryStore::default());
        assert!(SChunk::open_store_mut(store, layout, &at(1)).is_err());
    }
}
