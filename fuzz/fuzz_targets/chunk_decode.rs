//! Any bytes as a chunk: an error or data, a part of it equals the part of the whole, and a frame takes it or refuses it.
#![no_main]

use b2nd::chunk::{self, ChunkHeader, Context};
use b2nd::schunk::CreateOptions;
use b2nd::{Exec, Params, SChunk};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let contexts = [
        Context::new(b2nd_fuzz::limits()),
        Context::new(b2nd_fuzz::limits())
            .with_typesize(300)
            .with_block_shape(&[4, 8])
            .with_registry(b2nd_fuzz::registry::registry()),
    ];
    let Ok(header) = ChunkHeader::parse(data) else {
        assert!(chunk::decode(data, &contexts[0], &Exec::new(1)).is_err());
        return;
    };
    for context in contexts {
        decode(data, &header, &context);
    }
    put(data, &header);
});

fn decode(data: &[u8], header: &ChunkHeader, context: &Context) {
    let exec = Exec::new(1);
    let Ok(whole) = chunk::decode(data, context, &exec) else { return };
    assert_eq!(whole.len(), header.nbytes() as usize);
    let mut into = vec![7; whole.len()];
    chunk::decode_into(data, &mut into, context, &exec).expect("a sound chunk");
    assert_eq!(into, whole);
    let start = whole.len() / 3;
    let mut part = vec![0; (whole.len() - start) / 2];
    chunk::decode_range(data, start, &mut part, context, &exec).expect("a part of a sound chunk");
    assert_eq!(part, whole[start..start + part.len()]);
    if header.nblocks() <= 64 {
        let block = |n| chunk::decode_block(data, n, context, &exec).expect("a block of a sound chunk");
        assert_eq!((0..header.nblocks()).flat_map(block).collect::<Vec<u8>>(), whole);
    }
}

/// A frame that takes a chunk gives what the chunk alone gives, before and after it is stored.
fn put(data: &[u8], header: &ChunkHeader) {
    let params = Params::new(u32::from(header.typesize()).max(1));
    let create = CreateOptions::new(params).with_limits(b2nd_fuzz::limits()).with_exec(Exec::new(1));
    let Ok(mut frame) = create.with_chunksize(header.nbytes()).create_in_memory() else { return };
    let done = [frame.append_chunk(data), frame.insert_chunk(0, data), frame.update_chunk(0, data)];
    if frame.nchunks() == 0 {
        return;
    }
    assert!(done.iter().take(2).filter(|done| done.is_ok()).count() as u64 == frame.nchunks());
    let alone = chunk::decode(data, frame.context(), frame.exec());
    let stored = frame.to_bytes().expect("a frame in memory");
    let again = SChunk::from_bytes(stored, &b2nd_fuzz::options()).expect("a frame of our own");
    for n in 0..frame.nchunks() {
        let first = frame.decompress_chunk(n);
        assert_eq!(first.is_ok(), alone.is_ok(), "{first:?} {alone:?}");
        if let (Ok(first), Ok(alone)) = (&first, &alone) {
            assert_eq!(first, alone);
            assert_eq!(again.decompress_chunk(n).as_ref().ok(), Some(alone));
        }
    }
}
