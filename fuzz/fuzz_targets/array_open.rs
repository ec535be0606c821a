//! Any bytes as an array: reads are errors or data, and every way of reading gives what the whole has.
#![no_main]

use b2nd::{Array, Ellipsis, Fault, Over, Selection, s};
use b2nd_fuzz::pick::Pick;
use b2nd_testkit::nd::NaiveArray;
use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let options = b2nd_fuzz::options();
    let Ok(array) = Array::from_bytes(data.to_vec(), &options) else { return };
    let whole = array.read_bytes(s![]);
    if array.ndim() > 0 && array.shape()[0] > 0 {
        let first = array.read_bytes(s![0, Ellipsis]);
        let back = array.read_bytes(s![..;-1]);
        if let (Ok(whole), Ok(first)) = (&whole, &first) {
            assert_eq!(first[..], whole[..first.len()]);
        }
        if let (Ok(whole), Ok(back)) = (&whole, &back) {
            assert_eq!(whole.len(), back.len());
        }
    }
    if array.nbytes() < 1 << 20 && array.schunk().nchunks() < 64 {
        let damaged = match array.verify() {
            Ok(damaged) => damaged,
            // Index, trailer and checksums are read when they are asked for.
            Err(error) => {
                assert!(matches!(error.fault(), Fault::File | Fault::Limit), "{error}");
                return;
            }
        };
        assert!(!damaged.is_sound() || whole.is_ok(), "verify finds nothing, and the read fails: {whole:?}");
        chunks(&array);
        reduce(&array);
        let Ok(whole) = whole else { return };
        // An array without items may be longer than a naive one can be.
        if whole.len() <= 1 << 14 && array.shape().iter().all(|&n| n <= 1 << 14) {
            select(&array, &whole, data);
            let cached = options.with_block_cache(1 << 14);
            select(&Array::from_bytes(data.to_vec(), &cached).expect("it was opened before"), &whole, data);
        }
        fields(&array, &whole);
    }
});

/// Any selections; the end of the input chooses them.
fn select(array: &Array, whole: &[u8], data: &[u8]) {
    let shape = array.shape().iter().map(|&n| n as usize).collect();
    let model = NaiveArray { shape, itemsize: array.dtype().itemsize(), data: whole.to_vec() };
    let tail = data.len().saturating_sub(64);
    let mut choices = Unstructured::new(&data[tail..]);
    for _ in 0..4 {
        let Ok(pick) = Pick::any(&mut choices, &model.shape) else { return };
        pick.check(array, &model);
    }
}

fn chunks(array: &Array) {
    for chunk in array.iter_chunks() {
        let (one, same) = (chunk.read_bytes(), array.read_bytes(chunk.selection()));
        assert_eq!(one.as_ref().ok(), same.as_ref().ok());
        if let (Ok(items), Ok(Some(value))) = (one, chunk.value()) {
            assert!(items.chunks(value.len().max(1)).all(|item| item == value), "a chunk of one value");
        }
    }
}

fn fields(array: &Array, whole: &[u8]) {
    let itemsize = array.dtype().itemsize();
    for field in array.dtype().fields().iter().take(4) {
        // The first of a name is found by it; a title may hide another.
        let same = |f: &&b2nd::array::Field| f.name() == field.name() || f.title() == Some(field.name());
        let Some(found) = array.dtype().fields().iter().find(same) else { continue };
        let read = array.field(field.name()).expect("a field by its name").read_bytes(Selection::all());
        let part = found.offset()..found.offset() + found.size();
        let expected: Vec<u8> = whole.chunks(itemsize).flat_map(|item| item[part.clone()].to_vec()).collect();
        assert_eq!(read.expect("a part of what was read"), expected);
    }
}

fn reduce(array: &Array) {
    let axes = || Over::from(0).keeping_axes();
    let back = || Over::all().within(s![..;-1]);
    let _ = (array.sum(axes()), array.mean(()), array.prod(()), array.var(axes(), 1.0), array.std((), 0.0));
    let _ = (array.count_nan(()), array.any(()), array.all(axes()));
    if array.ndim() == 0 {
        return;
    }
    for (forward, backward) in [(array.min(()), array.min(back())), (array.max(()), array.max(back()))] {
        if let (Ok(forward), Ok(backward)) = (&forward, &backward) {
            assert_eq!(forward.bytes().len(), backward.bytes().len());
        }
        assert_eq!(forward.is_ok(), backward.is_ok(), "{:?} {:?}", forward.err(), backward.err());
    }
    if let (Ok(forward), Ok(backward)) = (array.sum(()), array.sum(back())) {
        let exact = matches!(array.dtype().kind(), b2nd::array::Kind::Int | b2nd::array::Kind::Uint);
        assert!(!exact || forward.bytes() == backward.bytes());
    }
    let far = array.sum(array.ndim() as i64);
    // A dtype without sums is refused before its axes are looked at.
    assert!(far.is_err_and(|error| error.fault() == Fault::Caller), "no such axis");
}
