//! Closures on the blocks of a super-chunk that is no array, and codecs and filters of the user in one.

use super::*;
use crate::filter::{Filter, Pipeline};
use crate::registry::{BlockFilter, BlockInfo, BlockResult, Registry};
use crate::schunk::{BlockPlace, CreateOptions};
use std::sync::{Arc, Mutex};

/// Each byte moved by a number of its place: what is given with another place comes out wrong.
fn shift(place: &BlockPlace<'_>, bytes: &mut [u8], back: bool) -> crate::Result<()> {
    assert_eq!(place.start[0] * place.typesize as u64, place.offset as u64);
    assert_eq!((place.stop[0] - place.start[0]) * place.typesize as u64, bytes.len() as u64);
    for (n, byte) in bytes.iter_mut().enumerate() {
        let key = (place.chunk as usize * 31 + place.block * 7 + place.offset + n) as u8 | 1;
        *byte = if back { byte.wrapping_sub(key) } else { byte.wrapping_add(key) };
    }
    Ok(())
}

fn shifting() -> CreateOptions {
    CreateOptions::new(Params::new(4).with_blocksize(Some(16)))
        .with_chunksize(48)
        .with_exec(Exec::new(2))
        .with_preprocess(|place, bytes| shift(place, bytes, false))
        .with_postprocess(|place, bytes| shift(place, bytes, true))
}

#[test]
fn closures_that_undo_each_other_are_not_seen_from_outside() {
    let mut schunk = shifting().create_in_memory().unwrap();
    let all = [data(1), data(2)].concat();
    let mut model = all[..100].to_vec();
    schunk.extend(&all[..100]).unwrap();
    schunk.extend(&all[100..300]).unwrap();
    model.extend_from_slice(&all[100..300]);
    schunk.write_items(5, &all[400..440]).unwrap();
    model[20..60].copy_from_slice(&all[400..440]);
    schunk.update(1, &all[500..548]).unwrap();
    model[48..96].copy_from_slice(&all[500..548]);
    schunk.append(&all[..12]).unwrap();
    model.extend_from_slice(&all[..12]);
    assert_eq!(schunk.read_items(0..schunk.nitems()).unwrap(), model);
    assert_eq!(schunk.read_items(3..40).unwrap(), model[12..160]);
    assert_eq!(
        schunk.gather_items(&[70, 2, 2, 41]).unwrap(),
        [70, 2, 2, 41].map(|n| &model[n * 4..][..4]).concat()
    );
    assert_eq!(schunk.decompress_chunk(2).unwrap(), model[96..144]);
    assert_eq!(schunk.decompress_block(2, 1).unwrap(), model[112..128]);
    // What is stored is what the closure made, and stays so in a copy cut anew.
    assert_ne!(contents(&schunk).unwrap().concat(), model);
    let copy = schunk.copy_in_memory(&CreateOptions::default().with_chunksize(32)).unwrap();
    assert_eq!(contents(&copy).unwrap().concat(), contents(&schunk).unwrap().concat());
    schunk.compact().unwrap();
    assert_eq!(schunk.read_items(0..schunk.nitems()).unwrap(), model, "the closures outlive a rewrite");
    schunk.extend(&all[..40]).unwrap();
    assert_eq!(schunk.read_items(schunk.nitems() - 10..schunk.nitems()).unwrap(), all[..40]);
}

#[test]
fn without_a_way_back_only_what_is_written_is_processed() {
    let plus = |_: &BlockPlace<'_>, bytes: &mut [u8]| {
        bytes.iter_mut().for_each(|b| *b += 1);
        Ok(())
    };
    let options = CreateOptions::new(Params::new(1).with_blocksize(Some(4))).with_chunksize(10);
    let mut schunk = options.with_preprocess(plus).create_in_memory().unwrap();
    schunk.extend(&[10; 6]).unwrap();
    schunk.extend(&[20; 6]).unwrap();
    schunk.write_items(1, &[30, 30]).unwrap();
    schunk.fill(Special::Zeros, &[], 2).unwrap();
    assert_eq!(schunk.read_items(0..14).unwrap(), [11, 31, 31, 11, 11, 11, 21, 21, 21, 21, 21, 21, 0, 0]);
}

#[test]
fn a_closure_sees_each_block_of_a_read_once_and_its_error_is_that_of_the_read() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&seen);
    let mut schunk = CreateOptions::new(Params::new(4).with_blocksize(Some(16)))
        .with_chunksize(48)
        .with_exec(Exec::new(1))
        .with_postprocess(move |place, bytes| {
            if place.chunk == 3 {
                return Err(crate::Error::Usage("not this one".into()));
            }
            list.lock().unwrap().push((place.chunk, place.block, bytes.len()));
            Ok(())
        })
        .create_in_memory()
        .unwrap();
    schunk.extend(&data(3)[..120]).unwrap();
    schunk.fill(Special::Zeros, &[], 10).unwrap();
    schunk.read_items(5..30).unwrap();
    let wanted = [(0, 1, 16), (0, 2, 16), (1, 0, 16), (1, 1, 16), (1, 2, 16), (2, 0, 16), (2, 1, 16)];
    assert_eq!(*seen.lock().unwrap(), wanted);
    assert!(schunk.read_items(35..37).unwrap_err().to_string().contains("not this one"));
}

/// All bytes inverted.
struct Invert;

impl BlockFilter for Invert {
    fn apply(&self, _: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
        dst.iter_mut().zip(src).for_each(|(to, from)| *to = !from);
        Ok(())
    }
    fn undo(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
        self.apply(info, src, dst)
    }
}

#[test]
fn every_operation_knows_the_filters_of_the_user() {
    let registry = Registry::new().with_filter(201, "invert", Invert).unwrap();
    let pipeline = Pipeline::new().push(Filter::from_id(201).unwrap(), 0).unwrap();
    let params = Params::new(4).with_pipeline(pipeline);
    let lone = CreateOptions::new(params.clone()).with_chunksize(400).create_in_memory();
    assert!(lone.and_then(|mut s| s.append(&data(3))).unwrap_err().to_string().contains("201"));
    let options = CreateOptions::new(params).with_chunksize(400).with_registry(registry.clone());
    let mut schunk = options.create_in_memory().unwrap();
    schunk.append(&data(1)).unwrap();
    schunk.insert(0, &data(2)).unwrap();
    schunk.update(1, &data(4)).unwrap();
    schunk.extend(&data(5)[..200]).unwrap();
    schunk.extend(&data(5)[200..]).unwrap();
    schunk.write_items(1, &[7; 8]).unwrap();
    let mut first = data(2);
    first[4..12].fill(7);
    let all = [first, data(4), data(5)].concat();
    assert_eq!(schunk.read_items(0..300).unwrap(), all);
    let mut copy = schunk.copy_in_memory(&CreateOptions::default().with_chunksize(800)).unwrap();
    copy.append(&data(7)).unwrap();
    assert_eq!(copy.read_items(0..300).unwrap(), all);
    schunk.compact().unwrap();
    schunk.append(&data(7)).unwrap();
    let bytes = schunk.to_bytes().unwrap();
    assert!(
        SChunk::from_bytes(bytes.clone(), &options_with(&Registry::new())).unwrap().read_items(0..3).is_err()
    );
    let opened = SChunk::from_bytes(bytes, &options_with(&registry)).unwrap();
    assert_eq!(opened.read_items(0..400).unwrap(), [all, data(7)].concat());
}

fn options_with(registry: &Registry) -> OpenOptions {
    options().with_registry(registry.clone())
}
