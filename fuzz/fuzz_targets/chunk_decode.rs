//! Any bytes as a chunk: an error or data, and a part of it equals the part of the whole.
#![no_main]

use b2nd::chunk::Context;
use b2nd::{Exec, Limits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let limits = Limits::default().with_max_chunk_bytes(1 << 20);
    let context = Context::new(limits).with_typesize(300).with_block_shape(&[4, 8]);
    let exec = Exec::new(1);
    let Ok(whole) = b2nd::chunk::decode(data, &context, &exec) else { return };
    let start = whole.len() / 3;
    let mut part = vec![0; (whole.len() - start) / 2];
    b2nd::chunk::decode_range(data, start, &mut part, &context, &exec).expect("a part of a sound chunk");
    assert_eq!(part, whole[start..start + part.len()]);
});
