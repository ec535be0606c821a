//! Frames whose chunks differ in size: what makes them, what they hold, and what damage does.

use super::*;
use crate::frame::ChunkOffset;
use crate::schunk::CreateOptions;

/// Chunks of 400 bytes (one of them zeros), then one of 100, then one of 600.
fn variable() -> SChunk {
    let mut schunk = CreateOptions::new(Params::new(4)).with_chunksize(400).create_in_memory().unwrap();
    schunk.append(&data(3)).unwrap();
    schunk.fill(Special::Zeros, &[], 100).unwrap();
    schunk.append(&data(4)[..100]).unwrap();
    assert_eq!((schunk.version(), schunk.chunksize()), (2, 400), "a short last chunk");
    schunk.append(&[data(5), data(6)[..200].to_vec()].concat()).unwrap();
    schunk
}

fn sizes(schunk: &SChunk) -> Vec<u32> {
    schunk.chunk_infos().map(|info| info.unwrap().nbytes).collect()
}

#[test]
fn a_chunk_behind_a_short_one_makes_a_frame_of_version_3() {
    let schunk = variable();
    assert_eq!((schunk.version(), schunk.chunksize(), schunk.nbytes()), (3, 0, 1500));
    assert_eq!(schunk.header.bytes()[25], 0x53);
    assert_eq!(sizes(&schunk), [400, 400, 100, 600]);
    // An offset cannot say how many zeros there are: they are a chunk now.
    assert!((0..4).all(|n| matches!(schunk.offsets().unwrap().get(n).unwrap(), ChunkOffset::Stored(_))));
    assert_eq!(schunk.chunk_info(1).unwrap().special, Some(Special::Value));
    assert_eq!(schunk.decompress_chunk(1).unwrap(), [0; 400]);
    assert_eq!(
        schunk.read_items(190..230).unwrap(),
        [&[0; 40][..], &data(4)[..100], &data(5)[..20]].concat()
    );
}

#[test]
fn the_first_chunk_decides_and_what_breaks_its_rule_is_known() {
    let options = || CreateOptions::new(Params::new(4)).create_in_memory().unwrap();
    let mut schunk = options();
    assert_eq!(schunk.header.bytes()[57..62], [0xd2, 0xff, 0xff, 0xff, 0xff]);
    schunk.append(&data(1)).unwrap();
    assert_eq!((schunk.chunksize(), schunk.version()), (400, 2));
    type Change = fn(&mut SChunk) -> crate::Result<()>;
    let keeps: [Change; 5] = [
        |s| s.append(&[1; 400]),
        |s| s.append(&[1; 40]),
        |s| s.insert(0, &[1; 400]),
        |s| s.update(0, &[1; 40]),
        |s| s.delete(0),
    ];
    let breaks: [Change; 4] = [
        |s| s.append(&[1; 404]),
        |s| s.insert(0, &[1; 40]),
        |s| s.update(0, &[1; 404]),
        |s| {
            s.append(&[1; 40])?;
            s.reorder(&[1, 0])
        },
    ];
    for (version, change) in keeps.map(|c| (2, c)).into_iter().chain(breaks.map(|c| (3, c))) {
        let mut schunk =
            SChunk::from_bytes(schunk.to_bytes().unwrap(), &OpenOptions::new().with_write(true)).unwrap();
        change(&mut schunk).unwrap();
        assert_eq!(schunk.version(), version);
    }
}

#[test]
fn items_that_are_none_are_refused() {
    let mut schunk = variable();
    let before = contents(&schunk).unwrap();
    assert!(schunk.append(&[]).is_err());
    assert!(schunk.append(&[1, 2, 3]).is_err());
    assert!(schunk.fill(Special::Zeros, &[], 3).is_err(), "no size");
    assert!(schunk.write_items(370, &[0; 24]).is_err(), "past the end");
    assert!(schunk.write_items(u64::MAX, &[0; 4]).is_err());
    assert!(schunk.read_items(370..376).is_err());
    assert!(schunk.read_items_into(u64::MAX / 2, &mut [0; 4]).is_err());
    assert!(schunk.gather_items(&[375]).is_err());
    let short = schunk.reorder(&[0, 1, 2]).unwrap_err();
    assert_eq!(short.to_string(), "the order names 3 chunks, and the frame has 4");
    assert!(schunk.reorder(&[0, 1, 2, 4]).is_err());
    schunk.set_params(Params::new(8));
    assert!(schunk.append(&[0; 8]).is_err(), "another typesize");
    assert_eq!(contents(&schunk).unwrap(), before);
}

#[test]
fn forged_sizes_are_errors() {
    let frame = variable().to_bytes().unwrap();
    let header = SChunk::from_bytes(frame.clone(), &options()).unwrap().header.len() as usize;
    let forged = |at: usize, bytes: &[u8]| {
        let mut frame = frame.clone();
        frame[at..at + bytes.len()].copy_from_slice(bytes);
        SChunk::from_bytes(frame, &options().with_write(true)).unwrap()
    };
    let fault = |error: crate::Error| error.fault();
    // More items than the chunks have, and fewer.
    for nbytes in [1504u64, 1496, 1 << 40] {
        let schunk = forged(30, &nbytes.to_be_bytes());
        assert_eq!(schunk.read_items(0..1).map_err(fault), Err(crate::Fault::File), "{nbytes}");
        assert_eq!(schunk.decompress_chunk(0).unwrap(), data(3));
    }
    // A chunk that claims two gigabytes.
    let mut schunk = forged(header + 4, &0x7fff_0000u32.to_le_bytes());
    let limits = schunk.limits().clone().with_max_chunk_bytes(1 << 20);
    schunk.state.context = schunk.context.clone().with_limits(limits);
    assert!(schunk.decompress_chunk(0).is_err());
    assert!(schunk.read_items(0..1).is_err());
    assert!(schunk.write_items(0, &[0; 4]).is_err());
    // Offsets that say "zeros" have no size here.
    let mut schunk = forged(0, &[0x9e]);
    schunk.offsets_mut().replace(2, i64::MIN | (1 << 56)).unwrap();
    assert_eq!(schunk.chunk_info(2).map_err(fault), Err(crate::Fault::File));
    assert_eq!(schunk.read_items(0..1).map_err(fault), Err(crate::Fault::File));
    assert!(schunk.delete(2).is_err() && schunk.update(2, &[0; 4]).is_err());
}

#[test]
fn every_flipped_bit_of_a_frame_of_any_sizes_is_an_error_or_not_but_never_a_panic() {
    let frame = variable().to_bytes().unwrap();
    let limits = crate::Limits::default().with_max_chunk_bytes(1 << 20).with_max_index_bytes(1 << 20);
    let options = options().with_write(true).with_limits(limits.with_max_read_bytes(1 << 20));
    for bit in (0..frame.len() * 8).step_by(3) {
        let mut damaged = frame.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let Ok(mut schunk) = SChunk::from_bytes(damaged, &options) else { continue };
        let _ = schunk.read_items(0..schunk.nitems().min(1 << 18));
        let _ = schunk.gather_items(&[0, 300, 100]);
        let _ = schunk.decompress_block(3, 0);
        let _ = schunk.write_items(99, &[5; 8]);
        let _ = schunk.update(1, &[5; 8]);
        let _ = schunk.delete(2);
        let _ = schunk.compact();
    }
}

#[test]
fn old_frames_say_that_they_are_converted_first() {
    let mut frame = variable().to_bytes().unwrap();
    frame[25] = 0x11;
    let error = SChunk::from_bytes(frame.clone(), &options().with_write(true)).unwrap_err();
    assert!(error.to_string().contains("convert"), "{error}");
    let old = SChunk::from_bytes(frame, &options()).unwrap();
    assert_eq!(old.version(), 1);
    let copy = old.copy_in_memory(&CreateOptions::default()).unwrap();
    assert_eq!((copy.version(), contents(&copy).unwrap()), (3, contents(&old).unwrap()));
}

#[test]
fn a_file_is_compacted_in_its_place() {
    let temp = TempDir::new("compact");
    let path = temp.path("frame");
    let mut schunk = CreateOptions::new(Params::new(4)).create(&path).unwrap();
    for n in 0..9 {
        schunk.append(&data(n)).unwrap();
    }
    let options = OpenOptions::new().with_write(true).with_owner_lock(false);
    let mut other = SChunk::open(&path, &options).unwrap();
    let (before, len) = (contents(&schunk).unwrap(), schunk.frame_len());
    schunk.compact().unwrap();
    assert_eq!(temp.names(), ["frame", "frame.b2owner"], "it is still held");
    assert!(schunk.frame_len() < len && std::fs::metadata(&path).unwrap().len() == schunk.frame_len());
    assert_eq!(contents(&schunk).unwrap(), before);
    #[cfg(unix)]
    assert!(other.append(&data(1)).unwrap_err().to_string().contains("another writer"));
    assert_eq!(contents(&other).unwrap(), before, "a reader keeps what it opened");
    schunk.append(&data(1)).unwrap();
    assert_eq!(SChunk::open(&path, &options).unwrap().nchunks(), 10);
    assert!(SChunk::open(&path, &OpenOptions::new()).unwrap().compact().is_err(), "for reading only");
}
