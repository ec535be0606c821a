//! Any bytes as a contiguous frame: every chunk, item and vlmetalayer is an error or data.
#![no_main]

use b2nd::SChunk;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let options = b2nd_fuzz::options();
    let Ok(frame) = SChunk::from_bytes(data.to_vec(), &options) else { return };
    for n in 0..frame.nchunks().min(64) {
        let items = frame.decompress_chunk(n);
        if let Ok(chunk) = frame.chunk(n) {
            let whole = b2nd::chunk::decode(&chunk, frame.context(), frame.exec());
            if let (Ok(whole), Ok(items)) = (whole, items) {
                assert_eq!(whole, items);
            }
        }
        let _ = (frame.chunk_info(n), frame.decompress_block(n, 1));
    }
    let some = frame.nitems().min(1 << 12);
    if let (Ok(items), Ok(last)) = (frame.read_items(0..some), frame.gather_items(&[some.saturating_sub(1)]))
    {
        assert!(some == 0 || items.ends_with(&last));
    }
    let names: Vec<String> = frame.vlmetalayer_names().into_iter().flatten().map(str::to_string).collect();
    for name in names {
        let _ = frame.vlmetalayer(&name);
    }
    let _ = frame.to_bytes();
});
