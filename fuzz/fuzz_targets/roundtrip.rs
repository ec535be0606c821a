//! Any data under any parameters: what is compressed comes back.
#![no_main]

use b2nd::{Codec, Exec, Limits, Params, Pipeline, SplitMode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: ([u8; 8], &[u8])| {
    let ([codec, level, split, typesize, block, first, second, short], data) = input;
    let codec = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd][usize::from(codec) % 5];
    let split = [SplitMode::Always, SplitMode::Never, SplitMode::Auto][usize::from(split) % 3];
    // The lossless filters.
    let filters = [0, 0, 0, 0, first % 4, second % 4];
    let params = Params::new(u32::from(typesize).max(1))
        .with_codec(codec)
        .with_clevel(level % 10)
        .with_split(split)
        .with_pipeline(Pipeline::from_bytes(filters, [0; 6]))
        .with_blocksize((block > 0).then(|| u32::from(block) * 16))
        .with_short_header(short % 8 == 0);
    let exec = Exec::new(1);
    // Two deltas in one pipeline, or filters that a short header cannot say, are refused.
    let Ok(chunk) = b2nd::chunk::encode(data, &params, &exec) else { return };
    let back = b2nd::chunk::decode(&chunk, &Limits::default(), &exec).expect("our own chunk");
    assert_eq!(back, data);
});
