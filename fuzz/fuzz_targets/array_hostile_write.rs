//! Any bytes as an array that is changed: a change is done as on a naive array, or leaves everything as it was.
//!
//! The last 32 bytes of the input choose the changes.
#![no_main]

use b2nd::{Array, OpenOptions};
use b2nd_fuzz::{change, pick::Pick};
use b2nd_testkit::nd::NaiveArray;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (frame, choices) = data.split_at(data.len().saturating_sub(32));
    let options = b2nd_fuzz::options().with_write(true);
    let Ok(array) = Array::from_bytes(frame.to_vec(), &options) else { return };
    let chunk = array.chunks().iter().fold(array.dtype().itemsize() as u64, |n, &len| n.saturating_mul(len));
    if array.nbytes() > 1 << 14 || chunk > 1 << 16 || array.schunk().nchunks() > 64 || array.ndim() > 5 {
        return;
    }
    // An array without items may be longer than a naive one can be.
    if array.shape().iter().all(|&n| n <= 1 << 14) {
        let _ = run(&mut Unstructured::new(choices), array, &options);
    }
});

fn run(u: &mut Unstructured<'_>, mut array: Array, options: &OpenOptions) -> Result<()> {
    let shape: Vec<usize> = array.shape().iter().map(|&n| n as usize).collect();
    let mut model = NaiveArray::zeros(&shape, array.dtype().itemsize());
    // Of an array that cannot be read whole, only the shape is known.
    let sound = array.read_bytes(());
    let sound = sound.map(|data| model.data = data).is_ok() && !b2nd_fuzz::is_lossy(array.schunk().params());
    for _ in 0..6 {
        if u.is_empty() || model.data.len() > 1 << 15 {
            break;
        }
        let mut next = model.clone();
        let mut transaction = array.transaction();
        let done = change::any(u, &mut transaction, &mut next)?;
        if done.is_ok() && sound {
            Pick::any(u, &next.shape)?.check(transaction.array(), &next);
        }
        let done = match done {
            Ok(()) => transaction.commit(),
            error => {
                drop(transaction);
                error
            }
        };
        if done.is_ok() {
            model = next;
        }
        check(&array, &model, sound);
    }
    let bytes = array.to_bytes();
    assert!(bytes.is_ok() || !sound, "{:?}", bytes.err());
    if let Ok(bytes) = bytes {
        let again = Array::from_bytes(bytes, options).expect("a copy of what was open");
        check(&again, &model, sound);
    }
    Ok(())
}

fn check(array: &Array, model: &NaiveArray, sound: bool) {
    assert!(array.shape().iter().map(|&n| n as usize).eq(model.shape.iter().copied()));
    let read = array.read_bytes(());
    if sound {
        assert_eq!(read.as_ref().ok(), Some(&model.data), "{:?}", read.as_ref().err());
    }
}
