//! Damaged chunks: an error or other bytes, never a panic and never more memory than the limits allow.

use super::*;

/// Small chunks of every kind.
fn small() -> Vec<Vec<u8>> {
    let walk = walk(300, 4);
    let mut chunks: Vec<Vec<u8>> = [
        (Codec::BloscLz, "shuffle", false),
        (Codec::Lz4, "shuffle,bitshuffle", false),
        (Codec::Lz4Hc, "none", true),
        (Codec::Zlib, "delta,shuffle", false),
        (Codec::Zstd, "bitshuffle", true),
        (Codec::Lz4, "shuffle", true),
    ]
    .into_iter()
    .map(|(codec, filters, short)| {
        let params = Params::new(4)
            .with_codec(codec)
            .with_pipeline(filters.parse().unwrap())
            .with_blocksize(Some(128))
            .with_split(SplitMode::Always)
            .with_short_header(short);
        encode(&walk, &params, &one()).unwrap()
    })
    .collect();
    chunks.push(encode(&noise(50), &Params::new(1), &one()).unwrap());
    chunks.push(encode(&[9; 200], &Params::new(1), &one()).unwrap());
    chunks.push(encode_special(Special::Value, 60, &noise(6), &Params::new(6)).unwrap());
    chunks.push(encode_special(Special::Nan, 64, &[], &Params::new(4)).unwrap());
    chunks
}

fn strict() -> Limits {
    Limits::default().with_max_chunk_bytes(4096)
}

fn read(chunk: &[u8]) -> crate::Result<Vec<u8>> {
    let mut part = [0; 7];
    let _ = decode_range(chunk, 40, &mut part, &strict(), &one());
    decode(chunk, &strict(), &one())
}

#[test]
fn every_truncation_is_an_error() {
    for chunk in small() {
        for len in 0..chunk.len() {
            let error = read(&chunk[..len]).unwrap_err();
            assert!(matches!(error, Error::Format(_)), "{len} of {}: {error}", chunk.len());
        }
    }
}

#[test]
fn every_flipped_bit_gives_an_error_or_bytes() {
    let (mut errors, mut others) = (0, 0);
    for chunk in small() {
        for bit in 0..8 * chunk.len() {
            let mut damaged = chunk.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            match read(&damaged) {
                Ok(bytes) => {
                    assert_eq!(bytes.len() as u32, ChunkHeader::parse(&damaged).unwrap().nbytes());
                    others += 1;
                }
                Err(error) => {
                    assert_ne!(error.fault(), Fault::Caller, "bit {bit}: {error}");
                    errors += 1;
                }
            }
        }
    }
    assert!(errors > 1000 && others > 1000, "{errors} errors, {others} others");
}

#[test]
fn claims_of_a_header_are_held_against_what_is_there() {
    let zeros = encode_special(Special::Zeros, MAX_CHUNK_BYTES, &[], &Params::new(1)).unwrap();
    assert!(matches!(decode(&zeros, &strict(), &one()), Err(Error::Limit { .. })));
    let good = encode(&walk(4000, 4), &Params::new(4).with_blocksize(Some(1000)), &one()).unwrap();
    let with = |at: usize, number: i32| {
        let mut changed = good.clone();
        changed[at..at + 4].copy_from_slice(&number.to_le_bytes());
        decode(&changed, &Limits::default(), &one())
    };
    for (at, number) in [
        (4, -1),
        (4, i32::MAX),
        (8, 0),
        (8, -4),
        (8, 1),
        (8, MAX_BLOCK_BYTES as i32 + 1),
        (12, 31),
        (12, good.len() as i32 + 1),
        (32, 47),
        (32, -1),
        (36, good.len() as i32 - 3),
        (48, -256),
        (48, 251),
        (48, i32::MIN),
    ] {
        assert!(matches!(with(at, number), Err(Error::Format(_))), "{number} at {at}");
    }
}

#[test]
fn errors_name_the_block() {
    let mut chunk = encode(&walk(4000, 4), &Params::new(4).with_blocksize(Some(1000)), &one()).unwrap();
    let head = ChunkHead::parse(&chunk, chunk.len() as u64, &Context::default()).unwrap();
    let at = head.block_span(2).start;
    chunk[at..at + 4].copy_from_slice(&(-300_i32).to_le_bytes());
    let Err(Error::Format(error)) = decode(&chunk, &Limits::default(), &one()) else { panic!("it decodes") };
    assert_eq!((error.block(), error.part()), (Some(2), crate::error::Part::Stream));
}

proptest! {
    #[test]
    fn any_bytes_give_an_error_or_bytes(mut bytes in prop::collection::vec(any::<u8>(), 0..200), long in any::<bool>()) {
        if let [_, _, flags, _, _, _, n0, n1, _, _, b0, b1, ..] = bytes.as_mut_slice() {
            *flags = if long { *flags | 5 } else { *flags & !5 };
            (*n0, *n1, *b0, *b1) = (0, 0, 0, 0);
        }
        if let Some(cbytes) = bytes.get(12..16).map(<[u8]>::len) {
            let len = (bytes.len() as u32).to_le_bytes();
            bytes[12..12 + cbytes].copy_from_slice(&len);
        }
        let _ = decode(&bytes, &Limits::default().with_max_chunk_bytes(1 << 16), &one());
    }
}
