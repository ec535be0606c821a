//! Many offsets that name one stored chunk: what costs a file nothing must not cost its reader once for each.

use super::*;
use crate::array::Array;
use crate::frame::plan::{FileId, WriteStep};
use crate::frame::{ChunkOffset, Offsets};
use crate::limits::Limits;
use crate::registry::Context;
use crate::{Dtype, Options, s};

/// An array of 1000 chunks of 100 bytes, all of them stored in the place of the first.
fn one_for_all() -> Array {
    one_for_all_of(|n| n.wrapping_mul(83))
}

fn one_for_all_of(item: impl Fn(u8) -> u8) -> Array {
    let options = Options::new().with_chunks([100]).with_blocks([50]).with_exec(Exec::new(2));
    let mut array = options.create_in_memory(Dtype::raw(1), [100_000]).unwrap();
    let items: Vec<u8> = (0..100u8).map(item).collect();
    array.write_bytes(s![..100], &items).unwrap();
    let raw = array.schunk.offsets().unwrap().raw(0).unwrap();
    *array.schunk.offsets_mut() = Offsets::Uniform { raw, len: 1000 };
    array
}

#[test]
fn a_shared_chunk_is_verified_once_and_blamed_for_all() {
    let mut array = one_for_all();
    assert!(array.verify().unwrap().is_sound());
    let ChunkOffset::Stored(offset) = array.schunk.offsets().unwrap().get(0).unwrap() else {
        panic!("stored")
    };
    let bytes = vec![0; 32].into();
    let offset = array.schunk.header.len() + offset;
    array.schunk.apply(&WriteStep::WriteAt { file: FileId::Frame, offset, bytes }).unwrap();
    let found = array.verify().unwrap();
    assert_eq!((found.damage.len(), found.damaged, found.unlisted()), (2, 1000, 0));
    assert_eq!((found.damage[0].place().as_str(), found.damage[0].stop[0]), ("chunk 0", 100));
    let others = &found.damage[1];
    assert_eq!(others.place(), "chunks 1 to 999 (999 chunks)");
    assert_eq!((others.chunks(), &others.start[..], &others.stop[..]), (1..1000, &[100][..], &[100_000][..]));
    assert!(others.error.to_string().contains("the same as chunk 0"), "{}", others.error);
    array.schunk.state.context = Context::new(Limits::default().with_max_index_bytes(512));
    let found = array.verify().unwrap();
    assert_eq!((found.damage.len(), found.damaged, found.unlisted()), (1, 1000, 999));
}

/// Damage of chunks in several rows covers the rows between them whole.
#[test]
fn damage_of_several_chunks_is_the_box_that_holds_them() {
    let options = Options::new().with_chunks([10, 10]).with_exec(Exec::new(2));
    let mut array = options.create_in_memory(Dtype::raw(1), [35, 45]).unwrap();
    let past = i64::MAX;
    let zeros = ChunkOffset::Special(crate::chunk::Special::Zeros).to_raw().unwrap();
    let offsets = (0..20).map(|n| if (3..12).contains(&n) { past } else { zeros });
    *array.schunk.offsets_mut() = Offsets::Each(offsets.collect());
    let found = array.verify().unwrap();
    assert_eq!((found.damage.len(), found.damaged), (1, 9));
    let damage = &found.damage[0];
    assert_eq!((damage.chunks(), &damage.start[..], &damage.stop[..]), (3..12, &[0, 0][..], &[30, 45][..]));
    *array.schunk.offsets_mut() = Offsets::Each((0..20).map(|n| if n > 17 { past } else { zeros }).collect());
    let found = array.verify().unwrap();
    let damage = &found.damage[0];
    assert_eq!(
        (damage.chunks(), &damage.start[..], &damage.stop[..]),
        (18..20, &[30, 30][..], &[35, 45][..])
    );
}

/// Places that come again in any order are decoded once, and every offset that names no place is counted.
#[test]
fn an_index_that_repeats_itself_is_checked_by_its_places() {
    let mut array = one_for_all();
    let raw = array.schunk.offsets().unwrap().raw(0).unwrap();
    let nan = ChunkOffset::Special(crate::chunk::Special::Nan).to_raw().unwrap();
    let zeros = ChunkOffset::Special(crate::chunk::Special::Zeros).to_raw().unwrap();
    let pattern = [raw, zeros, raw + 1, i64::MAX, raw, nan, i64::MIN, -1];
    let len = 1_000_000u64;
    *array.schunk.offsets_mut() =
        Offsets::Each(pattern.into_iter().cycle().take(usize::try_from(len).unwrap()).collect());
    array.schunk.header_mut().set_nbytes(100 * len).unwrap();
    let started = std::time::Instant::now();
    let found = array.schunk.verify().unwrap();
    // Bytes have no NaN, no chunk begins at `raw + 1`, `-1` has the bits of several kinds, of which the first counts.
    assert_eq!((found.unchecked + found.matching, found.damaged), (len / 4, len / 2));
    assert_eq!(found.damage.len(), 10_000);
    assert_eq!(found.unlisted(), found.damaged - 10_000);
    let chunks: Vec<u64> = found.damage.iter().map(|damage| damage.chunk).collect();
    assert_eq!(chunks[..6], [2, 3, 5, 6, 10, 11]);
    assert!(chunks.is_sorted());
    // Without optimisation, on a busy machine.
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

/// Found by fuzzing a repair: it held the file to be damaged still.
#[test]
fn a_shared_chunk_that_needs_what_is_not_there_is_blamed_as_such() {
    let mut array = one_for_all_of(|n| u8::from(n < 10));
    let ChunkOffset::Stored(offset) = array.schunk.offsets().unwrap().get(0).unwrap() else {
        panic!("stored")
    };
    // The first filter of the chunk: one that nobody has registered.
    let at = array.schunk.header.len() + offset + 16;
    let step = WriteStep::WriteAt { file: FileId::Frame, offset: at, bytes: vec![250].into() };
    array.schunk.apply(&step).unwrap();
    let damage = array.verify().unwrap().damage;
    let count: u64 = damage.iter().map(|damage| damage.count).sum();
    assert!(count >= 1000, "{damage:?}");
    let unknown = |error: &crate::Error| matches!(error, crate::Error::Unsupported { what, .. } if what.contains("250"));
    assert!(damage.iter().all(|place| unknown(&place.error)), "{:?}", damage.last());
}

#[test]
fn a_shared_chunk_is_copied_once() {
    let array = one_for_all();
    let bytes = array.to_bytes().unwrap();
    assert!(bytes.len() < 1000, "{}", bytes.len());
    let copy = Array::from_bytes(bytes, &options()).unwrap();
    assert_eq!(copy.read_bytes(s![]).unwrap(), array.read_bytes(s![]).unwrap());
    assert!(copy.verify().unwrap().is_sound());
}
