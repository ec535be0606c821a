//! Any bytes as a contiguous frame: every chunk and every vlmetalayer is an error or data.
#![no_main]

use b2nd::{Exec, Limits, OpenOptions, SChunk};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let limits = Limits::default().with_max_chunk_bytes(1 << 20).with_max_index_bytes(1 << 16).with_max_meta_bytes(1 << 16);
    let options = OpenOptions::new().with_limits(limits.clone()).with_exec(Exec::new(1));
    let Ok(frame) = SChunk::from_bytes(data.to_vec(), &options) else { return };
    for n in 0..frame.nchunks().min(64) {
        if let Ok(chunk) = frame.chunk(n) {
            let _ = b2nd::chunk::decode(&chunk, &limits, frame.exec());
        }
    }
    let names: Vec<String> = frame.vlmetalayer_names().map(str::to_string).collect();
    for name in names {
        let _ = frame.vlmetalayer(&name);
    }
    let _ = frame.to_bytes();
});
