//! Any bytes as an array: reads are errors or data, and a slice equals the slice of the whole.
#![no_main]

use b2nd::{s, Array, Ellipsis, Exec, Limits, OpenOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let limits = Limits::default()
        .with_max_chunk_bytes(1 << 20)
        .with_max_index_bytes(1 << 16)
        .with_max_meta_bytes(1 << 16)
        .with_max_read_bytes(1 << 20);
    let options = OpenOptions::new().with_limits(limits).with_exec(Exec::new(1));
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
        let damaged = array.verify().expect("nothing but damage");
        assert!(!damaged.is_empty() || whole.is_ok(), "verify finds nothing, and the read fails: {whole:?}");
    }
});
