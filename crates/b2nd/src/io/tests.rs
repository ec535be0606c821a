//! Every store holds what was written to it.

use super::*;

fn write_at(offset: u64, bytes: &[u8]) -> WriteStep<'_> {
    WriteStep::WriteAt { file: FileId::Frame, offset, bytes: bytes.into() }
}

fn read(store: &dyn ReadStore, offset: u64, len: usize) -> Result<Vec<u8>> {
    let mut buffer = vec![0; len];
    store.read_at(FileId::Frame, offset, &mut buffer).map(|()| buffer)
}

#[test]
fn memory_and_file_do_the_same() {
    let path = std::env::temp_dir().join(format!("b2nd-io-{}", std::process::id()));
    let _ = fs::remove_file(&path);
    let stores: [Box<dyn WriteStore>; 2] =
        [Box::new(MemoryStore::default()), create(&path, false, Layout::Contiguous, None).unwrap()];
    for mut store in stores {
        store.apply(&write_at(3, b"def")).unwrap();
        store.apply(&write_at(0, b"abcD")).unwrap();
        store.apply(&write_at(6, b"g")).unwrap();
        assert_eq!(read(store.as_ref(), 0, 7).unwrap(), b"abcDefg");
        assert_eq!(read(store.as_ref(), 7, 0).unwrap(), b"");
        assert!(read(store.as_ref(), 6, 2).is_err());
        assert!(read(store.as_ref(), u64::MAX, 1).is_err());
        store.apply(&WriteStep::SetLen { file: FileId::Frame, len: 2 }).unwrap();
        assert_eq!(store.len(FileId::Frame).unwrap(), 2);
        store.apply(&WriteStep::Sync { file: FileId::Frame }).unwrap();
        store.apply(&WriteStep::Publish { sync: true }).unwrap();
        store.apply(&WriteStep::Put { file: FileId::Frame, bytes: b"whole"[..].into(), sync: true }).unwrap();
        assert_eq!(read(store.as_ref(), 0, 5).unwrap(), b"whole");
        assert_eq!(store.slice(FileId::Frame, 0..5).is_some(), store.path().is_none());
        assert!(store.apply(&WriteStep::Remove { file: FileId::Frame }).is_err());
        assert!(store.len(FileId::Chunk(0)).is_err());
    }
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    assert!(FileStore::open(&path, false, 0).unwrap().apply(&write_at(0, b"x")).is_err(), "read only");
    fs::remove_file(&path).unwrap();
}

#[cfg(unix)]
#[test]
fn a_link_to_a_frame_stays_a_link() {
    let base = std::env::temp_dir().join(format!("b2nd-io-link-{}", std::process::id()));
    fs::create_dir_all(&base).unwrap();
    fs::write(base.join("frame"), b"old").unwrap();
    std::os::unix::fs::symlink("frame", base.join("link")).unwrap();
    let mut store = FileStore::open(&base.join("link"), true, 0).unwrap();
    store.apply(&WriteStep::Put { file: FileId::Frame, bytes: b"new"[..].into(), sync: true }).unwrap();
    assert!(fs::symlink_metadata(base.join("link")).unwrap().is_symlink());
    assert_eq!(fs::read(base.join("frame")).unwrap(), b"new");
    fs::remove_dir_all(&base).unwrap();
}
