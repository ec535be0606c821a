//! Changes of an array of a stranger, each made to a naive array as well.

use crate::pick::Pick;
use b2nd::{Array, OpenOptions, Transaction};
use b2nd_testkit::nd::NaiveArray;
use libfuzzer_sys::arbitrary::{Result, Unstructured};

/// One change of what is behind a transaction, which the naive array follows where it succeeds.
pub type Change =
    fn(&mut Unstructured<'_>, &mut Transaction<'_>, &mut NaiveArray) -> Result<b2nd::Result<()>>;

/// Whether an array is small enough to be changed and read many times.
pub fn is_small(array: &Array) -> bool {
    let chunk = array.chunks().iter().fold(array.dtype().itemsize() as u64, |n, &len| n.saturating_mul(len));
    let little = array.nbytes() <= 1 << 14 && chunk <= 1 << 16 && array.schunk().nchunks() <= 64;
    // An array without items may be longer than a naive one can be.
    little && array.ndim() <= 5 && array.shape().iter().all(|&n| n <= 1 << 14)
}

/// Changes the array up to six times: a change is done as on a naive array, or leaves everything as it was.
pub fn follow(
    u: &mut Unstructured<'_>,
    mut array: Array,
    options: &OpenOptions,
    change: Change,
) -> Result<()> {
    let shape: Vec<usize> = array.shape().iter().map(|&n| n as usize).collect();
    let mut model = NaiveArray::zeros(&shape, array.dtype().itemsize());
    // Of an array that cannot be read whole, only the shape is known.
    let sound = array.read_bytes(());
    let sound = sound.map(|data| model.data = data).is_ok() && !crate::is_lossy(array.schunk().params());
    for _ in 0..6 {
        if u.is_empty() || model.data.len() > 1 << 15 {
            break;
        }
        let mut next = model.clone();
        let mut transaction = array.transaction();
        let done = change(u, &mut transaction, &mut next)?;
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
