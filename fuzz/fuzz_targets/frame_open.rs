//! Any bytes as a contiguous frame: every chunk, item and vlmetalayer is an error or data, and changes are refused or done.
#![no_main]

use b2nd::{Exec, Limits, OpenOptions, SChunk};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let limits = Limits::default().with_max_chunk_bytes(1 << 20).with_max_index_bytes(1 << 16).with_max_meta_bytes(1 << 16);
    let options = OpenOptions::new().with_limits(limits.clone()).with_exec(Exec::new(1));
    let Ok(frame) = SChunk::from_bytes(data.to_vec(), &options) else { return };
    for n in 0..frame.nchunks().min(64) {
        let items = frame.decompress_chunk(n);
        if let Ok(chunk) = frame.chunk(n) {
            let whole = b2nd::chunk::decode(&chunk, &limits, frame.exec());
            if let (Ok(whole), Ok(items)) = (whole, items) {
                assert_eq!(whole, items);
            }
        }
        let _ = (frame.chunk_info(n), frame.decompress_block(n, 1));
    }
    let some = frame.nitems().min(1 << 12);
    if let (Ok(items), Ok(last)) = (frame.read_items(0..some), frame.gather_items(&[some.saturating_sub(1)])) {
        assert!(some == 0 || items.ends_with(&last));
    }
    change(data, &options);
    let names: Vec<String> = frame.vlmetalayer_names().map(str::to_string).collect();
    for name in names {
        let _ = frame.vlmetalayer(&name);
    }
    let _ = frame.to_bytes();
});

/// Every kind of change, each on what the one before has left.
fn change(data: &[u8], options: &OpenOptions) {
    let Ok(mut frame) = SChunk::from_bytes(data.to_vec(), &options.clone().with_write(true)) else { return };
    if frame.nchunks() > 64 || frame.params().typesize() > 64 {
        return;
    }
    let item = vec![7; frame.params().typesize() as usize];
    let _ = frame.write_items(1, &item);
    let _ = frame.insert(1, &item);
    let _ = frame.delete(0);
    let _ = frame.reorder(&(0..frame.nchunks()).rev().collect::<Vec<_>>());
    let _ = frame.append(&item);
    let _ = frame.compact();
}
