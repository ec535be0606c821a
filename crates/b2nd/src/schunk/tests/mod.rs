//! Frames against a plain model: a list of chunks, in every layout, through commits, rollbacks and reopening.

mod blocks;
mod checksums;
mod closures;
mod crash;
mod damage;
mod edges;
mod foreign;
mod identity;
mod model;
mod ops;
mod places;
mod relayout;
mod replace;
mod reuse;
mod segments;
mod several;
mod shared;
mod space;
mod takeback;
mod variable;

use super::*;
use crate::chunk;
use crate::chunk::{Params, Special};
use crate::exec::Exec;
use crate::frame::{ChunkSizes, Layout};
use crate::io::FileId;
use std::path::PathBuf;

/// A directory that goes away with the test.
struct TempDir(PathBuf);

impl TempDir {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("b2nd-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        TempDir(path)
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The frame at the path again, for writing, by another handle than this one, which had it.
/// The bytes of a file of a frame.
fn whole(schunk: &SChunk, file: FileId) -> Vec<u8> {
    let mut bytes = vec![0; schunk.store.len(file).unwrap() as usize];
    schunk.store.read_at(file, 0, &mut bytes).unwrap();
    bytes
}

fn reopened(schunk: SChunk, path: &std::path::Path) -> SChunk {
    drop(schunk);
    SChunk::open(path, &options().with_write(true)).unwrap()
}

const CHUNKSIZE: u32 = 400;

fn spec(layout: Layout, nchunks: u64) -> FrameSpec {
    FrameSpec {
        layout,
        params: Params::new(4).with_blocksize(Some(200)),
        chunksize: CHUNKSIZE,
        nchunks,
        fill: Special::Zeros,
        metalayers: vec![("b2nd".into(), vec![0x97; 20]), ("other".into(), vec![])],
        vlmetalayers: vec![("note".into(), b"\xa5hello".to_vec())],
    }
}

fn options() -> OpenOptions {
    OpenOptions::new().with_exec(Exec::new(1))
}

/// A chunk that compresses badly, made of a seed.
fn data(seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    let item = move |n: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if seed.is_multiple_of(3) { (state >> 8).to_le_bytes() } else { (seed + n / 7).to_le_bytes() }
    };
    (0..CHUNKSIZE / 4).flat_map(item).collect()
}

fn encoded(schunk: &SChunk, bytes: &[u8]) -> Vec<u8> {
    chunk::encode(bytes, schunk.params(), &Exec::new(1)).unwrap()
}

/// The uncompressed bytes of all chunks.
fn contents(schunk: &SChunk) -> crate::Result<Vec<Vec<u8>>> {
    let decode = |n| chunk::decode(&schunk.chunk(n)?, schunk.context(), schunk.exec());
    (0..schunk.nchunks()).map(decode).collect()
}
