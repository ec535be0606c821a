//! Any bytes as an array that is changed: a change is done as on a naive array, or leaves everything as it was.
//!
//! The last 32 bytes of the input choose the changes.
#![no_main]

use b2nd::Array;
use b2nd_fuzz::{arrays, change};
use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (frame, choices) = data.split_at(data.len().saturating_sub(32));
    let options = b2nd_fuzz::options().with_write(true);
    let Ok(array) = Array::from_bytes(frame.to_vec(), &options) else { return };
    if arrays::is_small(&array) {
        let _ = arrays::follow(&mut Unstructured::new(choices), array, &options, change::any);
    }
});
