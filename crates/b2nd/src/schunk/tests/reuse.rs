//! Dead bytes of frames that are damaged, or made by others, and after errors: nothing that is alive is ever written over,
//! and nobody else is blamed.

use super::*;
use crate::error::Error;
use crate::frame::plan::{FileId, WriteStep};
use crate::io::{MemoryStore, OpenedStore, ReadStore, WriteStore};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Content that no other seed gives, and that does not compress.
fn noise(seed: u32) -> Vec<u8> {
    data(3 * seed)
}

/// A frame in memory whose chunks are the noise of their numbers, without checksums.
fn frame_of(count: u32) -> Vec<u8> {
    let mut schunk =
        SChunk::create(FrameTarget::Memory, spec(Layout::Contiguous, u64::from(count)), &options().common)
            .unwrap();
    for n in 0..count {
        let chunk = encoded(&schunk, &noise(n));
        schunk.put_chunk(u64::from(n), &chunk).unwrap();
    }
    schunk.commit().unwrap();
    whole(&schunk, FileId::Frame)
}

fn start_of(schunk: &SChunk, n: u64) -> usize {
    (schunk.header.len() as i64 + schunk.offsets().unwrap().raw(n).unwrap()) as usize
}

/// The frame as it is in memory, also between commits.
fn stored(schunk: &SChunk) -> SChunk {
    SChunk::from_bytes(whole(schunk, FileId::Frame), &options()).unwrap()
}

/// Checks, while chunks are replaced again and again, that those of `alive` stay, and that the last commit stays whole until the
/// next one.
fn goes_on(schunk: &mut SChunk, replaced: &[u32], alive: &[u32], what: &str) {
    for round in 0..30u32 {
        let n = replaced[round as usize % replaced.len()];
        let before = stored(schunk);
        let chunk = encoded(schunk, &noise(1000 + round));
        schunk.put_chunk(u64::from(n), &chunk).unwrap();
        let now = stored(schunk);
        assert!(
            now.offsets().unwrap().is_same_as(before.offsets().unwrap()).unwrap()
                && now.trailer().unwrap() == before.trailer().unwrap(),
            "{what}, {round}"
        );
        schunk.commit().unwrap();
        for n in alive.iter().filter(|n| !replaced.contains(n)) {
            let found = schunk.decompress_chunk(u64::from(*n)).ok();
            assert!(found == Some(noise(*n)), "{what}, {round}: chunk {n} is another");
        }
    }
}

#[test]
fn an_offset_behind_the_data_frees_nothing() {
    for raw in [3000, 4000, 10_000, 1 << 40] {
        let mut schunk = SChunk::from_bytes(frame_of(6), &options().with_write(true)).unwrap();
        schunk.begin().unwrap();
        schunk.replace_offset(4, schunk.offsets().unwrap().raw(4).unwrap(), raw).unwrap();
        schunk.commit().unwrap();
        let bytes = whole(&schunk, FileId::Frame);
        let mut damaged = SChunk::from_bytes(bytes, &options().with_write(true)).unwrap();
        goes_on(&mut damaged, &[0], &[1, 2, 3, 5], &format!("offset {raw}"));
    }
}

#[test]
fn a_damaged_chunk_that_is_made_good_takes_no_other_with_it() {
    // As many as are looked at, and more.
    for count in [8, 700] {
        let bytes = frame_of(count);
        let clean = SChunk::from_bytes(bytes.clone(), &options()).unwrap();
        let alive: Vec<u32> = (0..count).filter(|n| *n < 8 || *n + 8 > count).collect();
        for n in [1, 3, count - 2, count - 1] {
            let start = start_of(&clean, u64::from(n));
            for bit in 4..if count > 100 { 18 } else { 31 } {
                // While it was closed, and while it is open.
                for early in [true, false] {
                    let mut damaged = bytes.clone();
                    let old = u32::from_le_bytes(damaged[start + 12..start + 16].try_into().unwrap());
                    let flipped = (old ^ (1 << bit)).to_le_bytes();
                    if early {
                        damaged[start + 12..start + 16].copy_from_slice(&flipped);
                    }
                    let mut schunk = SChunk::from_bytes(damaged, &options().with_write(true)).unwrap();
                    if !early {
                        schunk.set_vlmetalayer("note", b"b").unwrap();
                        let (offset, bytes) = (start as u64 + 12, flipped.to_vec().into());
                        let step = WriteStep::WriteAt { file: FileId::Frame, offset, bytes };
                        schunk.apply(&step).unwrap();
                    }
                    let replaced = [n, (n + 1) % count];
                    goes_on(&mut schunk, &replaced, &alive, &format!("{count} {n} {bit} {early}"));
                }
            }
        }
    }
}

#[test]
fn chunks_inside_others_stay() {
    // Each chunk but the last reaches over the next one, and that lies in its bytes.
    let mut outer = SChunk::from_bytes(frame_of(6), &options().with_write(true)).unwrap();
    let inner = chunk::encode(&noise(100), &outer.params().clone().with_clevel(0), &Exec::new(1)).unwrap();
    let value = [&inner[..], &vec![7; CHUNKSIZE as usize - inner.len() % CHUNKSIZE as usize][..]].concat();
    assert!(inner.len() > CHUNKSIZE as usize && value.len() == 2 * CHUNKSIZE as usize);
    let large = chunk::encode(&value, &Params::new(1).with_clevel(0), &Exec::new(1)).unwrap();
    let Error::LengthMismatch { .. } = outer.put_chunk(1, &large).unwrap_err() else {
        panic!("a chunk of another size")
    };
    outer.begin().unwrap();
    let raw = outer.write_bytes(&large).unwrap();
    // Chunk 2 is what chunk 1, which nobody can read, holds.
    outer.replace_offset(1, outer.offsets().unwrap().raw(1).unwrap(), raw).unwrap();
    outer.replace_offset(2, outer.offsets().unwrap().raw(2).unwrap(), raw + 32).unwrap();
    outer.commit().unwrap();
    assert_eq!(outer.decompress_chunk(2).unwrap(), noise(100));
    let bytes = whole(&outer, FileId::Frame);
    for replaced in [[1, 3], [3, 4], [0, 5]] {
        let mut schunk = SChunk::from_bytes(bytes.clone(), &options().with_write(true)).unwrap();
        goes_on(&mut schunk, &replaced, &[], "inside");
        assert_eq!(schunk.decompress_chunk(2).unwrap(), noise(100), "{replaced:?}");
    }
    // The handle that has made it so does not look for such.
    goes_on(&mut outer, &[1, 3], &[], "inside, by itself");
    assert_eq!(outer.decompress_chunk(2).unwrap(), noise(100));
}

/// A store that fails once: at a step, in the middle of it where that is a write.
#[derive(Debug)]
struct Faulty {
    store: Box<dyn WriteStore>,
    left: Arc<AtomicU64>,
}

impl ReadStore for Faulty {
    fn len(&self, file: FileId) -> crate::Result<u64> {
        self.store.len(file)
    }
    fn start(&self) -> u64 {
        self.store.start()
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> crate::Result<()> {
        self.store.read_at(file, offset, buf)
    }
    fn slice(&self, file: FileId, range: Range<u64>) -> Option<&[u8]> {
        self.store.slice(file, range)
    }
    fn is_in_memory(&self) -> bool {
        self.store.is_in_memory()
    }
    fn path(&self) -> Option<&Path> {
        self.store.path()
    }
}

impl WriteStore for Faulty {
    fn reader(&self) -> Arc<dyn ReadStore> {
        self.store.reader()
    }
    fn apply(&mut self, step: &WriteStep<'_>) -> crate::Result<()> {
        if self.left.fetch_sub(1, Ordering::Relaxed) != 1 {
            return self.store.apply(step);
        }
        if let WriteStep::WriteAt { file, offset, bytes } = step {
            let bytes = bytes[..bytes.len() / 2].into();
            self.store.apply(&WriteStep::WriteAt { file: *file, offset: *offset, bytes })?;
        }
        if let WriteStep::Publish { .. } = step {
            // It has its name, and that is not on the medium.
            self.store.apply(step)?;
        }
        Err(Error::io("no space", std::io::ErrorKind::StorageFull.into()))
    }
    fn is_alone(&self) -> bool {
        self.store.is_alone()
    }
    fn check_place(&self) -> crate::Result<()> {
        self.store.check_place()
    }
}

/// Makes step number `fails` of the next ones fail.
fn disturb(schunk: &mut SChunk, fails: u64) -> Arc<AtomicU64> {
    let left = Arc::new(AtomicU64::new(fails));
    let empty = OpenedStore::Write(Box::new(MemoryStore::default()));
    let OpenedStore::Write(store) = std::mem::replace(&mut schunk.writer.store, empty) else {
        panic!("for writing")
    };
    schunk.writer.store = OpenedStore::Write(Box::new(Faulty { store, left: left.clone() }));
    left
}

#[test]
fn a_change_that_fails_blames_nobody_else_and_can_be_made_again() {
    let temp = TempDir::new("faulty");
    let path = temp.path("frame");
    let mut failed = 0;
    for (long, durability) in
        [false, true].into_iter().zip([crate::Durability::Full, crate::Durability::Ordered])
    {
        for (change, fails) in (0..3).flat_map(|change| (1..12).map(move |fails| (change, fails))) {
            let mut spec = spec(Layout::Contiguous, 6);
            if long {
                spec.metalayers.push(("long".into(), vec![1; 900]));
            }
            let create = options().with_durability(durability).with_owner_lock(false);
            let target = FrameTarget::Path { path: &path, overwrite: true };
            let mut schunk = SChunk::create(target, spec, &create.common).unwrap();
            for n in 0..6 {
                let chunk = encoded(&schunk, &noise(n));
                schunk.put_chunk(u64::from(n), &chunk).unwrap();
            }
            schunk.commit().unwrap();
            // Some dead bytes, which are written over.
            for n in [0, 0, 1, 2] {
                schunk.update(n, &noise(n as u32)).unwrap();
            }
            let what = format!("long {long}, change {change}, step {fails}");
            let made = |schunk: &mut SChunk| match change {
                0 => schunk.set_vlmetalayer("note", &noise(70)),
                1 => schunk.update(3, &noise(71)),
                _ if long => schunk.set_metalayer("long", &[2; 900]),
                _ => schunk.set_metalayer("b2nd", &[2; 20]),
            };
            let left = disturb(&mut schunk, fails);
            match made(&mut schunk) {
                // So many steps there are not.
                Ok(()) => {}
                Err(error) => {
                    failed += 1;
                    assert!(matches!(error, Error::Io { .. }), "{what}: {error}");
                    let now = SChunk::open(&path, &options()).unwrap();
                    let want: Vec<_> = (0..6).map(noise).collect();
                    assert_eq!(contents(&now).unwrap(), want, "{what}");
                    drop(now);
                    if let Err(error) = made(&mut schunk) {
                        panic!("{what}: again: {error}");
                    }
                }
            }
            left.store(0, Ordering::Relaxed);
            schunk.update(5, &noise(72)).unwrap();
            drop(schunk);
            let now = SChunk::open(&path, &options().with_write(true).with_owner_lock(false)).unwrap();
            let third = if change == 1 { 71 } else { 3 };
            let want: Vec<_> = [0, 1, 2, third, 4, 72].into_iter().map(noise).collect();
            assert_eq!(contents(&now).unwrap(), want, "{what}");
        }
    }
    assert!(failed > 20, "{failed}");
}

#[test]
fn a_new_frame_whose_first_changes_were_taken_back_goes_on() {
    let temp = TempDir::new("new");
    let path = temp.path("frame");
    for count in 0..6 {
        let target = FrameTarget::Path { path: &path, overwrite: true };
        let options = options().with_owner_lock(false);
        let mut schunk = SChunk::create(target, spec(Layout::Contiguous, 6), &options.common).unwrap();
        for n in 0..count {
            let chunk = encoded(&schunk, &noise(n));
            schunk.put_chunk(u64::from(n), &chunk).unwrap();
        }
        schunk.rollback().unwrap();
        schunk.commit().unwrap();
        schunk.set_metalayer("b2nd", &[3; 20]).unwrap();
        schunk.update(1, &noise(9)).unwrap();
        assert_eq!(SChunk::open(&path, &options).unwrap().decompress_chunk(1).unwrap(), noise(9));
        drop(schunk);
        let length = std::fs::metadata(&path).unwrap().len();
        assert_eq!(SChunk::open(&path, &options).unwrap().frame_len(), length);
    }
}

#[test]
fn a_first_commit_that_fails_leaves_nothing_or_the_whole_frame() {
    let temp = TempDir::new("first");
    let path = temp.path("frame");
    let mut named = 0;
    for fails in 1..8 {
        let _ = std::fs::remove_file(&path);
        let target = FrameTarget::Path { path: &path, overwrite: false };
        let mut schunk = SChunk::create(target, spec(Layout::Contiguous, 6), &options().common).unwrap();
        disturb(&mut schunk, fails);
        if schunk.update(1, &noise(9)).is_err() {
            schunk.rollback().unwrap();
            drop(schunk);
            if path.exists() {
                named += 1;
                let found = SChunk::open(&path, &options()).unwrap();
                assert_eq!(found.decompress_chunk(1).unwrap(), noise(9));
            }
        }
    }
    assert_eq!(named, 1);
}
