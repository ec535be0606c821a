//! What a rollback must leave alone: the commit of another writer, and a header that a failed commit has written.

use super::*;
use crate::frame::plan::{FileId, WriteStep};
use crate::io::{MemoryStore, OpenedStore, ReadStore, WriteStore};
use std::ops::Range;
use std::sync::Arc;

#[test]
fn a_rollback_leaves_the_commit_of_another_writer_alone() {
    let temp = TempDir::new("takeback");
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let path = temp.path(&format!("{layout:?}"));
        SChunk::create(
            FrameTarget::Path { path: &path, overwrite: false },
            spec(layout, 6),
            &options().common,
        )
        .unwrap()
        .commit()
        .unwrap();
        let writing = options().with_write(true).with_owner_lock(false);
        let mut one = SChunk::open(&path, &writing).unwrap();
        // Who looks first finds what is staged; this one does not look.
        let apart = temp.path("apart");
        let there = if layout == Layout::Sparse { &path } else { &apart };
        if layout == Layout::Contiguous {
            std::fs::copy(&path, &apart).unwrap();
        }
        let mut two = SChunk::open(there, &writing).unwrap();
        let mine = encoded(&one, &data(6));
        one.put_chunk(0, &mine).unwrap();
        for n in 0..3 {
            let theirs = encoded(&two, &data(3 * n));
            two.put_chunk(u64::from(n), &theirs).unwrap();
        }
        two.commit().unwrap();
        if layout == Layout::Contiguous {
            std::fs::write(&path, std::fs::read(&apart).unwrap()).unwrap();
        }
        assert!(one.commit().is_err(), "{layout:?}");
        assert!(one.rollback().is_err(), "{layout:?}");
        let found = contents(&SChunk::open(&path, &options()).unwrap()).unwrap();
        assert_eq!(found[..3], [data(0), data(3), data(6)], "{layout:?}");
    }
}

/// A store whose syncs fail from a given one on.
#[derive(Debug)]
struct Failing {
    store: MemoryStore,
    syncs: usize,
}

impl ReadStore for Failing {
    fn len(&self, file: FileId) -> crate::Result<u64> {
        self.store.len(file)
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> crate::Result<()> {
        self.store.read_at(file, offset, buf)
    }
    fn slice(&self, file: FileId, range: Range<u64>) -> Option<&[u8]> {
        self.store.slice(file, range)
    }
    fn is_in_memory(&self) -> bool {
        true
    }
}

impl WriteStore for Failing {
    fn reader(&self) -> Arc<dyn ReadStore> {
        self.store.reader()
    }
    fn apply(&mut self, step: &WriteStep<'_>) -> crate::Result<()> {
        if let WriteStep::Sync { .. } = step {
            self.syncs = self.syncs.checked_sub(1).ok_or_else(|| crate::Error::usage("a broken disk"))?;
        }
        self.store.apply(step)
    }
}

#[test]
fn a_commit_whose_sync_fails_is_taken_back_whole() {
    for syncs in 0..2 {
        let mut first =
            SChunk::create(FrameTarget::Memory, spec(Layout::Contiguous, 6), &options().common).unwrap();
        first.put_chunk(2, &encoded(&first, &data(3))).unwrap();
        first.commit().unwrap();
        let store = Failing { store: MemoryStore::from_bytes(first.to_bytes().unwrap()), syncs };
        let mut schunk = SChunk::load(
            OpenedStore::Write(Box::new(store)),
            Layout::Contiguous,
            &options().with_write(true),
        )
        .unwrap();
        schunk.put_chunk(1, &encoded(&schunk, &data(6))).unwrap();
        schunk.stage_vlmetalayer("note", b"changed").unwrap();
        schunk.stage_metalayer("b2nd", &[1; 20]).unwrap();
        assert!(schunk.commit().is_err());
        schunk.rollback().unwrap();
        let bytes = whole(&schunk, FileId::Frame);
        let left = SChunk::from_bytes(bytes, &options()).unwrap();
        assert_eq!(contents(&left).unwrap(), contents(&first).unwrap());
        assert_eq!(left.vlmetalayer("note").unwrap().unwrap(), b"\xa5hello");
        assert_eq!(left.metalayers().next().unwrap().1, [0x97; 20]);
    }
}

#[test]
fn metadata_that_could_not_be_committed_is_forgotten() {
    let options_of = crate::Options::new().with_metalayer("origin", *b"here");
    let bytes = options_of.create_in_memory(crate::Dtype::raw(4), [100]).unwrap().to_bytes().unwrap();
    let store = Failing { store: MemoryStore::from_bytes(bytes), syncs: 0 };
    let schunk =
        SChunk::load(OpenedStore::Write(Box::new(store)), Layout::Contiguous, &options().with_write(true))
            .unwrap();
    let mut array = crate::Array::from_schunk(schunk).unwrap();
    assert!(array.set_vlmetalayer("unit", b"m/s").is_err());
    assert!(array.set_metalayer("origin", b"away").is_err());
    assert_eq!(array.schunk.vlmetalayer("unit").unwrap(), None);
    assert!(array.schunk.metalayers().any(|(_, content)| content == b"here"));
}
