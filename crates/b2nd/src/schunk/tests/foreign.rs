//! Other writers: refused, waited for, or noticed before anything of theirs is lost.

use super::*;
use crate::error::{Error, Fault};
use crate::io::B2Lock;
use crate::schunk::SaveOptions;
use std::time::{Duration, Instant};

fn filled(path: &std::path::Path, layout: Layout) -> SChunk {
    let options = CreateOptions::new(Params::new(4)).with_layout(layout).with_chunksize(400);
    options.create_with(path, |t| t.append(&data(1)).and_then(|()| t.append(&data(2)))).unwrap()
}

fn locked<T>(result: crate::Result<T>) -> String {
    match result {
        Err(error @ Error::Locked(_)) => {
            assert_eq!(error.fault(), Fault::Environment);
            error.to_string()
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was not refused"),
    }
}

#[test]
fn a_second_writer_is_refused_until_the_first_is_gone() {
    let temp = TempDir::new("refused");
    let writing = options().with_write(true);
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let path = temp.path(&format!("{layout:?}"));
        let mut first = filled(&path, layout);
        let other = CreateOptions::new(Params::new(4)).with_layout(layout);
        let message = locked(SChunk::open(&path, &writing));
        assert!(message.contains("by this process"), "{message}");
        locked(other.clone().with_overwrite(true).create(&path));
        let source = SChunk::from_bytes(first.to_bytes().unwrap(), &options()).unwrap();
        locked(source.save(&path, &SaveOptions::new().with_layout(layout).with_overwrite(true)));
        if layout == Layout::Contiguous {
            locked(source.append_to(&path));
        }
        // Through all that a handle goes through, it stays the owner.
        first.compact().unwrap();
        locked(SChunk::open(&path, &writing));
        first.append(&data(3)).unwrap();
        assert!(!first.refresh().unwrap());
        locked(SChunk::open(&path, &writing));
        assert_eq!(contents(&SChunk::open(&path, &options()).unwrap()).unwrap().len(), 3, "readers come in");
        drop(first);
        SChunk::open(&path, &writing).unwrap().append(&data(4)).unwrap();
        drop(other.with_overwrite(true).create(&path).unwrap());
        assert!(!temp.path(&format!("{layout:?}.b2owner")).exists());
    }
}

#[cfg(unix)]
#[test]
fn where_no_lock_can_be_made_the_error_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let temp = TempDir::new("readonly");
    let folder = temp.path("folder");
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("frame");
    drop(filled(&path, Layout::Contiguous));
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    // The superuser may write everywhere: then there is nothing to see.
    if std::fs::write(folder.join("probe"), b"").is_err() {
        let writing = options().with_write(true);
        let error = SChunk::open(&path, &writing).unwrap_err();
        assert!(error.to_string().contains("frame: cannot make its lock file"), "{error}");
        assert!(error.to_string().to_lowercase().contains("permission denied"), "{error}");
        SChunk::open(&path, &writing.with_owner_lock(false)).unwrap().append(&data(3)).unwrap();
    }
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// What others may do to a file in its place, without a lock.
fn foreign(what: &str, path: &std::path::Path, schunk: &SChunk) {
    let mut bytes = std::fs::read(path).unwrap();
    let (data_end, len) = ((schunk.header.len() + schunk.cbytes()) as usize, bytes.len());
    match what {
        "header" => *bytes.get_mut(20).unwrap() ^= 1,
        "metalayer" => *bytes.get_mut(schunk.header.len() as usize - 1).unwrap() ^= 1,
        "index" => *bytes.get_mut(data_end + 33).unwrap() ^= 1,
        "trailer" => *bytes.get_mut(schunk.frame_len() as usize - 1).unwrap() ^= 1,
        "longer" => bytes.extend_from_slice(b"a chunk that comes in"),
        "shorter" => bytes.truncate(len - 1),
        _ => {}
    }
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn whatever_another_has_changed_is_noticed_and_left_alone() {
    let temp = TempDir::new("foreign");
    for what in ["header", "metalayer", "index", "trailer", "longer", "shorter"] {
        for staged in [false, true] {
            let path = temp.path("frame");
            let options =
                CreateOptions::new(Params::new(4)).with_metalayer("m", *b"old").with_overwrite(true);
            let mut schunk =
                options.create_with(&path, |t| t.append(&data(1)).and_then(|()| t.append(&data(2)))).unwrap();
            let before = contents(&schunk).unwrap();
            let result = if staged {
                let mut t = schunk.transaction();
                t.append(&data(3)).unwrap();
                foreign(what, &path, t.schunk());
                t.commit()
            } else {
                foreign(what, &path, &schunk);
                schunk.append(&data(3))
            };
            let error = result.unwrap_err();
            assert!(matches!(error, Error::Changed { .. }), "{what}: {error}");
            assert!(error.to_string().contains("refresh"), "{error}");
            let expected = std::fs::read(&path).unwrap();
            drop(schunk.transaction());
            assert_eq!(contents(&schunk).unwrap(), before, "{what}: the snapshot is read on");
            assert!(schunk.append(&data(3)).is_err(), "{what}: and again");
            assert_eq!(std::fs::read(&path).unwrap(), expected, "{what}: nothing of theirs is touched");
            if what == "longer" {
                schunk.refresh().unwrap();
                schunk.append(&data(3)).unwrap();
                assert_eq!(schunk.nchunks(), 3);
            }
        }
    }
}

#[test]
fn a_forked_child_reads_and_touches_nothing() {
    let temp = TempDir::new("forked");
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let path = temp.path(&format!("{layout:?}"));
        let mut schunk = filled(&path, layout);
        let other = CreateOptions::new(Params::new(4)).with_layout(layout);
        let mut new = other.create_with_in_memory(|t| t.append(&data(3))).unwrap();
        let before = || {
            let mut files: Vec<_> = match layout {
                Layout::Contiguous => vec![path.clone()],
                Layout::Sparse => std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()).collect(),
            };
            files.sort();
            files.into_iter().map(|file| (std::fs::read(&file).unwrap(), file)).collect::<Vec<_>>()
        };
        let mut t = schunk.transaction();
        t.append(&data(3)).unwrap();
        let staged = before();
        // What a child sees after a fork: the handle is that of another process.
        t.schunk_mut().writer.locks.process ^= 1;
        drop(t);
        assert_eq!(before(), staged, "{layout:?}: the parent goes on with it");
        let error = schunk.append(&data(4)).unwrap_err();
        assert!(matches!(&error, Error::State(text) if text.contains("forked")), "{error}");
        assert_eq!(contents(&schunk).unwrap(), [data(1), data(2)]);
        assert_eq!(before(), staged);
        new.writer.locks.process ^= 1;
        assert!(new.append(&data(1)).is_err());
    }
}

#[test]
fn a_number_that_another_has_used_is_passed_over() {
    let temp = TempDir::new("used");
    let path = temp.path("frame");
    let mut schunk = filled(&path, Layout::Sparse);
    for number in [2, 3, 7] {
        std::fs::write(path.join(format!("{number:08X}.chunk")), b"of a writer that has not committed")
            .unwrap();
    }
    schunk.append(&data(3)).unwrap();
    schunk.append(&data(4)).unwrap();
    let theirs = std::fs::read(path.join("00000002.chunk")).unwrap();
    assert_eq!(theirs, b"of a writer that has not committed");
    assert_eq!(contents(&schunk).unwrap(), [data(1), data(2), data(3), data(4)]);
    // Their index without ours in it: what they have written there is noticed at the commit.
    let mut t = schunk.transaction();
    t.append(&data(5)).unwrap();
    let frame = path.join("chunks.b2frame");
    let mut bytes = std::fs::read(&frame).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&frame, &bytes).unwrap();
    assert!(matches!(t.commit(), Err(Error::Changed { .. })));
    assert_eq!(std::fs::read(&frame).unwrap(), bytes);
}

/// The count of changes in a lock file of C-Blosc2.
#[expect(clippy::host_endian_bytes, reason = "C-Blosc2 writes its count as it has it in memory")]
fn count(path: &std::path::Path) -> u64 {
    let bytes = std::fs::read(path).unwrap();
    bytes.get(8..16).map_or(0, |bytes| u64::from_ne_bytes(bytes.try_into().unwrap()))
}

#[test]
fn the_lock_of_c_blosc2_is_taken_where_it_is_there() {
    let temp = TempDir::new("peer-lock");
    let quick = options().with_write(true).with_lock_patience(Duration::from_millis(20));
    for layout in [Layout::Contiguous, Layout::Sparse] {
        let path = temp.path(&format!("{layout:?}"));
        drop(filled(&path, layout));
        let lock = match layout {
            Layout::Contiguous => temp.path("Contiguous.b2lock"),
            Layout::Sparse => path.join(".b2lock"),
        };
        let mut schunk = SChunk::open(&path, &quick).unwrap();
        schunk.append(&data(3)).unwrap();
        assert!(!lock.exists(), "nobody locks, and nothing is left behind");
        std::fs::write(&lock, [0; 8]).unwrap();
        schunk.append(&data(4)).unwrap();
        assert_eq!(count(&lock), 1, "one commit, one change");
        schunk.transaction().append(&data(5)).unwrap();
        assert_eq!(count(&lock), 1, "what is not committed is none");
        let theirs = std::fs::OpenOptions::new().read(true).write(true).open(&lock).unwrap();
        theirs.lock().unwrap();
        let start = Instant::now();
        let message = locked(schunk.append(&data(5)));
        assert!(message.contains("b2lock for more than 20ms"), "{message}");
        locked(SChunk::open(&path, &options().with_lock_patience(Duration::from_millis(20))));
        let without = options().with_b2lock(B2Lock::Never);
        assert_eq!(SChunk::open(&path, &without).unwrap().nchunks(), 4);
        assert!(start.elapsed() < Duration::from_secs(5), "it does not hang");
        theirs.unlock().unwrap();
        theirs.lock_shared().unwrap();
        assert_eq!(SChunk::open(&path, &options()).unwrap().nchunks(), 4, "readers share it");
        locked(schunk.append(&data(5)));
        theirs.unlock().unwrap();
        schunk.append(&data(5)).unwrap();
        schunk.compact().unwrap();
        assert_eq!(schunk.nchunks(), 5);
    }
    let path = temp.path("always");
    drop(filled(&path, Layout::Contiguous));
    let mut schunk = SChunk::open(&path, &options().with_write(true).with_b2lock(B2Lock::Always)).unwrap();
    schunk.append(&data(3)).unwrap();
    assert_eq!(count(&temp.path("always.b2lock")), 1);
}
