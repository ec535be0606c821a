//! Any bytes as an array whose blocks go through closures: what they leave is what is read, each block is given once, a way
//! there and back changes nothing, and an error of theirs leaves everything as it was.
//!
//! The last 32 bytes of the input choose the key, the failing block and the changes.
#![no_main]

use b2nd::{Array, BlockPlace, Error, Exec, OpenOptions, Result};
use b2nd_fuzz::{arrays, change, pick::Pick};
use b2nd_testkit::nd::NaiveArray;
use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

fuzz_target!(|data: &[u8]| {
    let (frame, choices) = data.split_at(data.len().saturating_sub(32));
    let mut u = Unstructured::new(choices);
    let (Ok(key), Ok(failing), Ok(cache)) = (u.arbitrary::<u8>(), u.arbitrary::<u8>(), u.arbitrary::<bool>())
    else {
        return;
    };
    let plain = b2nd_fuzz::options().with_exec(Exec::new(1 + usize::from(key % 2)));
    let Ok(array) = Array::from_bytes(frame.to_vec(), &plain) else { return };
    if !arrays::is_small(&array) {
        return;
    }
    let whole = array.read_bytes(()).ok();
    let calls = Calls::default();
    let reading = plain.clone().with_postprocess(calls.closure(key));
    let read = Array::from_bytes(frame.to_vec(), &reading).expect("it was opened before");
    let items = read.read_bytes(());
    assert_eq!(items.as_ref().ok(), whole.as_ref().map(|whole| changed(whole, key)).as_ref());
    if let Ok(data) = items {
        let shape = array.shape().iter().map(|&n| n as usize).collect();
        let model = NaiveArray { shape, itemsize: array.dtype().itemsize(), data };
        for _ in 0..2 {
            if let Ok(pick) = Pick::any(&mut u, &model.shape) {
                calls.reset(u64::MAX);
                pick.check(&read, &model);
            }
        }
        calls.reset(u64::from(failing % 4));
        let failed = read.read_bytes(());
        assert_eq!(failed.is_err(), calls.has_failed(), "the closure's error is the read's");
        calls.reset(u64::MAX);
        assert_eq!(read.read_bytes(()).expect("it was read before"), model.data);
    }
    write(&mut u, frame, plain, key, cache);
});

/// There and back: what is written comes back, and what is not is left as it was. Fills are not processed.
fn write(u: &mut Unstructured<'_>, frame: &[u8], plain: OpenOptions, key: u8, cache: bool) {
    let calls = Calls::default();
    calls.reset(u64::MAX);
    let options = plain.with_write(true).with_preprocess(change_all(key)).with_postprocess(change_all(key));
    let options = options.with_block_cache(if cache { 1 << 12 } else { 0 });
    // Frames of old versions are for reading only.
    let Ok(array) = Array::from_bytes(frame.to_vec(), &options) else { return };
    let _ = arrays::follow(u, array, &options, change::given);
}

fn changed(items: &[u8], key: u8) -> Vec<u8> {
    items.iter().map(|byte| byte ^ key).collect()
}

fn change_all(key: u8) -> impl Fn(&BlockPlace<'_>, &mut [u8]) -> Result<()> + Send + Sync + 'static {
    move |_, bytes| {
        bytes.iter_mut().for_each(|byte| *byte ^= key);
        Ok(())
    }
}

/// What a closure was called with since it was last asked.
#[derive(Default, Clone)]
struct Calls(Arc<(Mutex<HashSet<(u64, usize)>>, AtomicU64)>);

impl Calls {
    /// Begins anew; the call after `left` more fails.
    fn reset(&self, left: u64) {
        self.0.0.lock().expect("nobody panics").clear();
        self.0.1.store(left, Ordering::SeqCst);
    }

    fn has_failed(&self) -> bool {
        // It went on to count below zero.
        self.0.1.load(Ordering::SeqCst) > u64::MAX / 2
    }

    fn closure(&self, key: u8) -> impl Fn(&BlockPlace<'_>, &mut [u8]) -> Result<()> + Send + Sync + 'static {
        let calls = self.clone();
        calls.reset(u64::MAX);
        move |place, bytes| {
            let room = place.shape.iter().product::<u64>() * place.typesize as u64;
            assert_eq!(bytes.len() as u64, room, "a whole block");
            assert!(place.start.iter().zip(place.stop).all(|(start, stop)| start < stop), "with items in it");
            let new = calls.0.0.lock().expect("nobody panics").insert((place.chunk, place.block));
            assert!(new, "once for a read");
            if calls.0.1.load(Ordering::SeqCst) != u64::MAX && calls.0.1.fetch_sub(1, Ordering::SeqCst) == 0 {
                return Err(Error::Usage("the closure's own".into()));
            }
            bytes.iter_mut().for_each(|byte| *byte ^= key);
            Ok(())
        }
    }
}
