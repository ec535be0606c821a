//! Sparse frames: chunk files that are gone, cut off, swapped or left over, and a frame file that is damaged.

use super::support::{TempDir, build, options};
use b2nd::{Array, Layout, OpenOptions, SChunk, repair, repair_in_place};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    entries.map(|e| (e.file_name().into_string().unwrap(), std::fs::read(e.path()).unwrap())).collect()
}

struct Frame {
    dir: TempDir,
    path: PathBuf,
    chunks: Vec<Vec<u8>>,
    /// The file of each chunk, where it has one.
    named: Vec<Option<PathBuf>>,
}

fn frame(name: &str, seed: u64) -> Frame {
    let dir = TempDir::new(name);
    let path = dir.0.join("a.b2nd");
    build(seed, &path, Layout::Sparse);
    let frame = SChunk::open(&path, &OpenOptions::new()).unwrap();
    let chunks = (0..frame.nchunks()).map(|n| frame.decompress_chunk(n).unwrap()).collect();
    let held = files(&path);
    let file = |n| {
        let bytes = frame.chunk(n).unwrap().into_owned();
        held.iter().find(|(_, held)| **held == bytes).map(|(name, _)| path.join(name))
    };
    let named = (0..frame.nchunks()).map(file).collect();
    Frame { path, chunks, named, dir }
}

impl Frame {
    /// Repairs; the original must stay as it is.
    fn repaired(&self, lost: &[u64], restored: bool) -> b2nd::Repaired {
        let before = files(&self.path);
        let out = self.dir.0.join("out.b2nd");
        let report = repair(&self.path, &out, &options().with_overwrite(true)).unwrap();
        assert_eq!(files(&self.path), before);
        let found: Vec<u64> = report.lost.iter().map(|place| place.chunk).collect();
        assert_eq!(found, lost, "{report}");
        assert_eq!(!report.restored.is_empty(), restored, "{report}");
        let array = Array::open(&out).unwrap();
        assert!(array.verify().unwrap().is_sound() && array.schunk().layout() == Layout::Sparse);
        for (n, chunk) in self.chunks.iter().enumerate().filter(|(n, _)| !lost.contains(&(*n as u64))) {
            assert_eq!(array.schunk().decompress_chunk(n as u64).unwrap(), *chunk, "chunk {n}: {report}");
        }
        report
    }
    fn stored(&self) -> impl Iterator<Item = (u64, &PathBuf)> {
        (0..).zip(&self.named).filter_map(|(n, path)| Some((n, path.as_ref()?)))
    }
}

#[test]
fn chunk_files_that_are_gone_or_cut_off_are_lost_and_no_others() {
    let frame = frame("gone", 1);
    assert!(frame.repaired(&[], false).was_sound());
    let (n, path) = frame.stored().next().map(|(n, path)| (n, path.clone())).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let report = frame.repaired(&[n], false);
    assert!(report.to_string().contains("missing"), "{report}");
    std::fs::write(&path, &bytes[..20]).unwrap();
    frame.repaired(&[n], false);
    std::fs::write(&path, b"").unwrap();
    frame.repaired(&[n], false);
}

#[test]
fn files_whose_names_were_swapped_are_told_apart() {
    let frame = frame("swapped", 3);
    let paths: Vec<PathBuf> = frame.stored().map(|(_, path)| path.clone()).take(2).collect();
    let aside = frame.path.join("aside");
    std::fs::rename(&paths[0], &aside).unwrap();
    std::fs::rename(&paths[1], &paths[0]).unwrap();
    std::fs::rename(&aside, &paths[1]).unwrap();
    frame.repaired(&[], true);
}

#[test]
fn a_damaged_frame_file_is_made_anew() {
    let frame = frame("index", 5);
    let index = frame.path.join("chunks.b2frame");
    let bytes = std::fs::read(&index).unwrap();
    let header_len = u32::from_be_bytes(bytes[11..15].try_into().unwrap()) as usize;
    for range in [0..30, 15..40, header_len..header_len + 40] {
        let mut damaged = bytes.clone();
        damaged[range].fill(0);
        std::fs::write(&index, damaged).unwrap();
        assert!(Array::open(&frame.path).and_then(|array| array.read_bytes(())).is_err());
        assert!(frame.repaired(&[], true).is_whole());
    }
}

#[test]
fn without_the_frame_file_chunks_are_a_frame_in_the_order_of_their_numbers() {
    let frame = frame("bare", 7);
    std::fs::remove_file(frame.path.join("chunks.b2frame")).unwrap();
    let out = frame.dir.0.join("bare.b2nd");
    let report = repair(&frame.path, &out, &options()).unwrap();
    assert!(!report.guesses.is_empty() && !report.lost_metalayers.is_empty(), "{report}");
    assert!(SChunk::open(&out, &OpenOptions::new()).unwrap().verify().unwrap().is_sound());
}

#[test]
fn what_killed_writers_left_is_named_and_not_taken_along() {
    let frame = frame("left", 1);
    std::fs::write(frame.path.join("000000FF.chunk"), b"a chunk that was not committed").unwrap();
    std::fs::write(frame.path.join(".chunks.b2frame.tmp-1-0"), b"half").unwrap();
    let report = frame.repaired(&[], false);
    let left = report.left_out.join("\n");
    assert!(left.contains("000000FF.chunk") && left.contains(".chunks.b2frame.tmp-1-0"), "{left}");
    let before = files(&frame.path);
    let report = repair_in_place(&frame.path, &options()).unwrap();
    let kept = report.original.clone().unwrap();
    assert_eq!(files(&kept), before);
    assert!(!files(&frame.path).contains_key("000000FF.chunk"));
    assert!(Array::open(&frame.path).unwrap().verify().unwrap().is_sound());
}
