//! Another list of chunks: what stays cheap, what is refused, which files go.

use super::*;
use crate::frame::Offsets;

#[test]
fn a_hundred_million_equal_chunks_cost_nothing() {
    let mut schunk =
        SChunk::create(FrameTarget::Memory, spec(Layout::Contiguous, 100_000_000), &options().common)
            .unwrap();
    schunk.commit().unwrap();
    schunk.relayout(120_000_000, Special::Zeros, |_| panic!("asked")).unwrap();
    schunk.commit().unwrap();
    assert!(matches!(**schunk.offsets().unwrap(), Offsets::Uniform { len: 120_000_000, .. }));
    schunk.relayout(5, Special::Zeros, |_| panic!("asked")).unwrap();
    schunk.rollback().unwrap();
    assert_eq!((schunk.nchunks(), schunk.nbytes()), (120_000_000, 48_000_000_000));
    let bytes = schunk.to_bytes().unwrap();
    assert!(bytes.len() < 1000);
    assert_eq!(SChunk::from_bytes(bytes, &options()).unwrap().nchunks(), 120_000_000);
}

#[test]
fn a_list_that_cannot_be_is_refused() {
    let mut schunk =
        SChunk::create(FrameTarget::Memory, spec(Layout::Contiguous, 3), &options().common).unwrap();
    schunk.put_chunk(1, &encoded(&schunk, &data(1))).unwrap();
    assert!(schunk.relayout(3, Special::Zeros, |_| Some(1)).is_err(), "twice");
    assert!(schunk.relayout(4, Special::Zeros, Some).is_err(), "there is no chunk 3");
    assert!(schunk.relayout(4, Special::Value, |_| None).is_err());
    assert!(schunk.relayout(Offsets::MAX_CHUNKS + 1, Special::Zeros, |_| None).is_err());
    assert_eq!(contents(&schunk).unwrap(), [vec![0; 400], data(1), vec![0; 400]]);
    let no_chunks = FrameSpec { chunksize: 0, ..spec(Layout::Contiguous, 0) };
    let mut schunk = SChunk::create(FrameTarget::Memory, no_chunks, &options().common).unwrap();
    assert!(schunk.relayout(1, Special::Zeros, |_| None).is_err(), "no size");
}

#[test]
fn files_of_dropped_chunks_go_with_the_commit() {
    let temp = TempDir::new("relayout");
    let path = temp.path("frame");
    let target = FrameTarget::Path { path: &path, overwrite: false };
    let mut schunk = SChunk::create(target, spec(Layout::Sparse, 4), &options().common).unwrap();
    for n in 0..4 {
        schunk.put_chunk(u64::from(n), &encoded(&schunk, &data(n))).unwrap();
    }
    schunk.commit().unwrap();
    let files = || {
        let mut names: Vec<_> = std::fs::read_dir(&path)
            .unwrap()
            .map(|f| f.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    schunk.relayout(3, Special::Zeros, |n| [Some(3), None, Some(0)][n as usize]).unwrap();
    schunk.rollback().unwrap();
    assert_eq!(files().len(), 5);
    schunk.relayout(3, Special::Zeros, |n| [Some(3), None, Some(0)][n as usize]).unwrap();
    schunk.put_chunk(1, &encoded(&schunk, &data(7))).unwrap();
    assert_eq!(files().len(), 6, "until the commit");
    schunk.commit().unwrap();
    assert_eq!(files(), ["00000000.chunk", "00000003.chunk", "00000004.chunk", "chunks.b2frame"]);
    assert_eq!(contents(&SChunk::open(&path, &options()).unwrap()).unwrap(), [data(3), data(7), data(0)]);
}
