//! The same input gives the same bytes; other input gives another identity.

use super::*;
use crate::frame::digests::Layer;
use crate::limits::Limits;
use std::path::Path;

/// The identity in the checksums of the frame at `path`.
fn identity(path: &Path) -> [u64; 2] {
    let schunk = SChunk::open(path, &options()).unwrap();
    assert!(schunk.has_checksums().unwrap() && schunk.verify().unwrap().is_sound());
    let (stored, _) = schunk.committed_trailer().unwrap().checksums();
    Layer::parse(stored.unwrap(), &Limits::default()).unwrap().identity
}

/// All files of a frame, with their names.
fn files(path: &Path) -> Vec<(String, Vec<u8>)> {
    if path.is_file() {
        return vec![(String::new(), std::fs::read(path).unwrap())];
    }
    let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    let mut all: Vec<(String, Vec<u8>)> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect();
    all.sort();
    all
}

#[derive(Clone, Copy)]
struct Case {
    layout: Layout,
    threads: usize,
    chunks: u32,
    seed: u32,
    note: &'static [u8],
    owner: &'static [u8],
    /// Whether the frame is there before its chunks are.
    late: bool,
}

const CASE: Case = Case {
    layout: Layout::Contiguous,
    threads: 1,
    chunks: 7,
    seed: 1,
    note: b"\xa5hello",
    owner: b"\xa5first",
    late: false,
};

fn make(path: &Path, case: Case) -> SChunk {
    let all: Vec<u8> = (0..case.chunks).flat_map(|n| data(n + case.seed)).collect();
    let options = CreateOptions::new(Params::new(4).with_blocksize(Some(200)))
        .with_chunksize(CHUNKSIZE)
        .with_layout(case.layout)
        .with_exec(Exec::new(case.threads))
        .with_metalayer("owner", case.owner)
        .with_vlmetalayer("note", case.note);
    if !case.late {
        return options.create_with(path, |t| t.extend(&all)).unwrap();
    }
    let mut schunk = options.create(path).unwrap();
    schunk.extend(&all).unwrap();
    schunk.set_vlmetalayer("later", b"\xa3new").unwrap();
    schunk
}

#[test]
fn frames_of_the_same_content_are_the_same_bytes() {
    let temp = TempDir::new("identity-same");
    for layout in [Layout::Contiguous, Layout::Sparse] {
        for late in [false, true] {
            let first = temp.path("first");
            drop(make(&first, Case { layout, late, ..CASE }));
            for threads in [1, 4] {
                let again = temp.path("again");
                drop(make(&again, Case { layout, late, threads, ..CASE }));
                assert!(files(&first) == files(&again), "{layout:?}, late {late}, {threads} threads");
                let removed = if again.is_dir() { std::fs::remove_dir_all } else { std::fs::remove_file };
                removed(&again).unwrap();
            }
            let removed = if first.is_dir() { std::fs::remove_dir_all } else { std::fs::remove_file };
            removed(&first).unwrap();
        }
    }
}

#[test]
fn frames_of_other_content_have_other_identities() {
    let temp = TempDir::new("identity-other");
    let cases = [
        CASE,
        Case { seed: 2, ..CASE },
        Case { chunks: 6, ..CASE },
        Case { chunks: 1, ..CASE },
        Case { note: b"\xa5hallo", ..CASE },
        Case { owner: b"\xa5other", ..CASE },
    ];
    let identities = cases.iter().enumerate().map(|(n, case)| {
        let path = temp.path(&format!("frame-{n}"));
        drop(make(&path, *case));
        identity(&path)
    });
    let mut identities: Vec<[u64; 2]> = identities.collect();
    identities.sort_unstable();
    identities.dedup();
    assert_eq!(identities.len(), cases.len());
}

#[test]
fn an_identity_is_kept_while_the_frame_changes_and_by_its_copies() {
    let temp = TempDir::new("identity-kept");
    let (path, copy, packed) = (temp.path("frame"), temp.path("copy"), temp.path("packed"));
    let mut schunk = make(&path, Case { layout: Layout::Sparse, ..CASE });
    let before = identity(&path);
    schunk.update(2, &data(77)).unwrap();
    schunk.save(&copy, &crate::schunk::SaveOptions::new()).unwrap();
    drop(schunk);
    let mut schunk = SChunk::open(&copy, &options().with_write(true)).unwrap();
    schunk.update(0, &data(78)).unwrap();
    schunk.compact().unwrap();
    drop(schunk);
    assert_eq!((identity(&path), identity(&copy)), (before, before));
    // A frame without checksums gets its identity with them; the layout is no part of it.
    let memory = CreateOptions::new(Params::new(4)).create_with_in_memory(|t| t.extend(&data(5))).unwrap();
    let saves =
        [(&packed, Layout::Contiguous), (&temp.path("folder"), Layout::Sparse)].map(|(path, layout)| {
            memory.save(path, &crate::schunk::SaveOptions::new().with_layout(layout)).unwrap();
            identity(path)
        });
    assert_eq!(saves[0], saves[1]);
    assert_ne!(saves[0], before);
}
