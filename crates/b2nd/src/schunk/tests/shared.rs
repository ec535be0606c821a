//! Many offsets that name one stored chunk: what costs a file nothing must not cost its reader once for each.

use super::*;
use crate::array::Array;
use crate::frame::plan::{FileId, WriteStep};
use crate::frame::{Entry, Offsets};
use crate::limits::Limits;
use crate::registry::Context;
use crate::{Dtype, Options, s};

/// An array of 1000 chunks of 100 bytes, all of them stored in the place of the first.
fn one_for_all() -> Array {
    one_for_all_of(|n| n.wrapping_mul(83))
}

fn one_for_all_of(item: impl Fn(u8) -> u8) -> Array {
    let options = Options::new().with_chunks([100]).with_blocks([50]).with_exec(Exec::new(2));
    let mut array = options.create(None, Dtype::raw(1), &[100_000]).unwrap();
    let items: Vec<u8> = (0..100u8).map(item).collect();
    array.write_bytes(s![..100], &items).unwrap();
    let raw = array.schunk.offsets.raw(0).unwrap();
    array.schunk.offsets = Offsets::Uniform { raw, len: 1000 };
    array
}

#[test]
fn a_shared_chunk_is_verified_once_and_blamed_for_all() {
    let mut array = one_for_all();
    assert!(array.verify().unwrap().is_sound());
    let Entry::Stored(offset) = array.schunk.offsets.get(0).unwrap() else { panic!("stored") };
    let bytes = vec![0; 32].into();
    let offset = array.schunk.header.len() + offset;
    array.schunk.store.apply(&WriteStep::WriteAt { file: FileId::Frame, offset, bytes }).unwrap();
    let damage = array.verify().unwrap().damage;
    assert_eq!(damage.len(), 1000);
    assert!(damage.iter().zip(0..).all(|(d, n)| d.chunk == n && d.stop == [100 * (n + 1)]));
    assert!(damage[999].error.to_string().contains("the same as chunk 0"), "{}", damage[999].error);
    array.schunk.context = Context::new(Limits::default().with_max_index_bytes(10_000));
    assert!(matches!(array.verify(), Err(crate::Error::Limit { .. })));
}

/// Found by fuzzing a repair: it held the file to be damaged still.
#[test]
fn a_shared_chunk_that_needs_what_is_not_there_is_blamed_as_such() {
    let mut array = one_for_all_of(|n| u8::from(n < 10));
    let Entry::Stored(offset) = array.schunk.offsets.get(0).unwrap() else { panic!("stored") };
    // The first filter of the chunk: one that nobody has registered.
    let at = array.schunk.header.len() + offset + 16;
    let step = WriteStep::WriteAt { file: FileId::Frame, offset: at, bytes: vec![250].into() };
    array.schunk.store.apply(&step).unwrap();
    let damage = array.verify().unwrap().damage;
    assert!(damage.len() >= 1000, "{damage:?}");
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
