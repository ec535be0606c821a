//! Dictionaries: written, read block by block, left out where they do not pay, and damaged.

use super::*;

const CODECS: [Codec; 3] = [Codec::Lz4, Codec::Lz4Hc, Codec::Zstd];

fn params(codec: Codec, filters: &str) -> Params {
    Params::new(4)
        .with_codec(codec)
        .with_pipeline(filters.parse().unwrap())
        .with_blocksize(Some(1024))
        .with_dictionary(true)
}

/// Records that are alike in every block.
fn records(nbytes: usize) -> Vec<u8> {
    let mut state = 3_u32;
    let mut text = Vec::new();
    while text.len() < nbytes {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let name = ["temperature", "pressure", "humidity", "wind speed"][state as usize >> 30];
        text.extend(format!("{name} = {} at station {}; ", state % 9973, state >> 27).bytes());
    }
    text.truncate(nbytes);
    text
}

#[test]
fn small_blocks_gain_and_come_back() {
    let data = records(40_000);
    for codec in CODECS {
        for filters in ["none", "shuffle", "delta,bitshuffle"] {
            for split in [SplitMode::Always, SplitMode::Never] {
                let params = params(codec, filters).with_split(split);
                let chunk = encode(&data, &params, &one()).unwrap();
                let header = ChunkHeader::parse(&chunk).unwrap();
                assert!(header.is_raw() || header.has_dictionary(), "{codec:?} {filters}");
                assert_eq!(plain(&chunk), data, "{codec:?} {filters}");
                assert_eq!(
                    encode(&data, &params, &Exec::new(3)).unwrap(),
                    chunk,
                    "the number of threads shows"
                );
                let without = encode(&data, &params.with_dictionary(false), &one()).unwrap();
                if filters == "none" && split == SplitMode::Never {
                    assert!(
                        chunk.len() < without.len() * 95 / 100,
                        "{codec:?}: {} {}",
                        chunk.len(),
                        without.len()
                    );
                }
            }
        }
    }
}

#[test]
fn blocks_decode_from_header_and_own_bytes_alone() {
    let data = records(20_000);
    for codec in CODECS {
        let chunk = encode(&data, &params(codec, "none"), &one()).unwrap();
        let (context, available) = (Context::default(), chunk.len() as u64);
        let first = ChunkHead::needed(&chunk[..32], available, &context).unwrap();
        let needed = ChunkHead::needed(&chunk[..first], available, &context).unwrap();
        assert_eq!(first, 32 + 4 * 20 + 4);
        assert!(needed > first + 256, "{needed}");
        assert_eq!(ChunkHead::needed(&chunk[..needed], available, &context).unwrap(), needed);
        let head = ChunkHead::parse(&chunk[..needed], available, &context).unwrap();
        let mut block = vec![0; 1024];
        head.decode_block(7, &chunk[head.block_span(7)], None, &mut block, &mut Scratch::default()).unwrap();
        assert_eq!(block, data[7 * 1024..8 * 1024]);
    }
}

#[test]
fn chunks_that_are_short_or_do_not_compress_have_none() {
    for codec in CODECS {
        for data in [noise(40_000), records(5119), records(31), vec![0; 40_000], Vec::new()] {
            let chunk = encode(&data, &params(codec, "shuffle"), &one()).unwrap();
            assert_eq!(plain(&chunk), data);
            // The reference cannot read the flag on chunks that are stored, so it must not be there.
            assert_eq!(chunk[31] & 1, 0, "{codec:?}, {} bytes", data.len());
        }
    }
}

#[test]
fn codecs_and_headers_without_dictionaries_are_refused() {
    for params in [
        params(Codec::Zlib, "none"),
        params(Codec::BloscLz, "none"),
        params(Codec::Zstd, "shuffle").with_short_header(true),
    ] {
        assert!(matches!(encode(&records(40_000), &params, &one()), Err(Error::Compression(_))));
    }
}

#[test]
fn old_long_dictionaries_are_read_and_longer_ones_refused() {
    // One block, stored: it refers to nothing, so the dictionary may be anything of its length.
    let chunk = |len: usize| {
        let data = noise(100);
        let cbytes = 32 + 4 + 4 + len + 4 + 100;
        let mut chunk = hex("05013501 64000000 64000000 00000000 000000000000 01 00 000000000000 00 01");
        chunk[12..16].copy_from_slice(&(cbytes as u32).to_le_bytes());
        chunk.extend(((32 + 4 + 4 + len) as u32).to_le_bytes());
        chunk.extend((len as u32).to_le_bytes());
        chunk.extend(vec![7; len]);
        chunk.extend(100_u32.to_le_bytes());
        chunk.extend(&data);
        (chunk, data)
    };
    for len in [1, 32 << 10, 128 << 10] {
        let (chunk, data) = chunk(len);
        assert_eq!(plain(&chunk), data, "{len}");
    }
    for len in [0, (128 << 10) + 1] {
        let result = decode(&chunk(len).0, &Limits::default(), &one());
        assert!(matches!(result, Err(Error::Format(_))), "{len}");
    }
}

#[test]
fn damage_is_an_error_or_other_bytes() {
    let strict = Limits::default().with_max_chunk_bytes(1 << 14);
    for codec in CODECS {
        let chunk = encode(&records(6000), &params(codec, "none"), &one()).unwrap();
        assert!(ChunkHeader::parse(&chunk).unwrap().has_dictionary());
        for len in 0..chunk.len() {
            assert!(
                matches!(decode(&chunk[..len], &strict, &one()), Err(Error::Format(_))),
                "{codec:?} {len}"
            );
        }
        // All of the head, and every 7th bit of what follows.
        let head = 8 * (32 + 4 * 6 + 4 + 40);
        for bit in (0..head).chain((head..8 * chunk.len()).step_by(7)) {
            let mut damaged = chunk.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let result = decode(&damaged, &strict, &one());
            assert!(
                !result.as_ref().is_err_and(|error| error.fault() == Fault::Caller),
                "{codec:?} bit {bit}: {result:?}"
            );
        }
    }
}
