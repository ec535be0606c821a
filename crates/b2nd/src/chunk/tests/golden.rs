//! Chunks whose bytes are known: what the reference writes for the same data.

use super::*;

fn lz4(typesize: u32) -> Params {
    Params::new(typesize).with_codec(Codec::Lz4).with_split(SplitMode::ForwardCompat)
}

#[test]
fn short_chunks_are_stored() {
    let hello = encode(b"hello", &lz4(1), &one()).unwrap();
    let expected =
        hex("05010701 05000000 05000000 25000000 000000000001 01 00 000000000000 00 00 68656c6c6f");
    assert_eq!(hello, expected);
    assert_eq!(plain(&hello), b"hello");
    let empty = encode(b"", &lz4(1), &one()).unwrap();
    assert_eq!(empty, hex("05010701 00000000 01000000 20000000 000000000001 01 00 000000000000 00 00"));
    assert_eq!(plain(&empty), b"");
}

#[test]
fn zeros_become_a_special_chunk() {
    let zeros = encode_special(Special::Zeros, 8000, &[], &Params::new(4)).unwrap();
    assert_eq!(zeros, hex("05010504 401f0000 401f0000 20000000 000000000000 00 00 000000000000 00 10"));
    assert_eq!(plain(&zeros), vec![0; 8000]);
    assert_eq!(encode(&[0; 8000], &Params::new(4), &one()).unwrap(), zeros);
    let compressed = hex("05012504 00010000 00010000 20000000 010000000000 01 00 000000000000 00 10");
    assert_eq!(plain(&compressed), vec![0; 256], "the reference leaves flags and filters there");
}

#[test]
fn runs_are_stored_as_their_negative() {
    let items: Vec<u8> = [0x0102_0304_u32; 64].iter().flat_map(|n| n.to_le_bytes()).collect();
    let split = hex("05012504 00010000 00010000 38000000 010000000000 01 00 000000000000 00 00
         24000000 fcffffff01 fdffffff01 feffffff01 ffffffff01");
    assert_eq!(plain(&split), items);
    let params = lz4(4).with_pipeline("shuffle".parse().unwrap());
    assert_eq!(encode(&items, &params, &one()).unwrap(), split);

    let ones = hex("05013501 64000000 64000000 29000000 000000000000 01 00 000000000000 00 00
         24000000 01ffffff01");
    assert_eq!(plain(&ones), [0xFF; 100]);
    assert_eq!(encode(&[0xFF; 100], &lz4(1).with_pipeline(Pipeline::none()), &one()).unwrap(), ones);
}

#[test]
fn values_and_nans_are_repeated() {
    let params = Params::new(4);
    let value = encode_special(Special::Value, 25, b"five.", &params).unwrap();
    assert_eq!(value.len(), 37);
    assert_eq!(plain(&value), b"five.five.five.five.five.");
    let mut part = [0; 7];
    decode_range(&value, 3, &mut part, &Limits::default(), &one()).unwrap();
    assert_eq!(&part, b"e.five.");
    assert_eq!(ChunkHeader::parse(&value).unwrap().blocksize() % 5, 0);

    let wide = encode_special(Special::Value, 3000, &noise(300), &Params::new(300)).unwrap();
    assert_eq!(ChunkHeader::parse(&wide).unwrap().typesize(), 1);
    assert_eq!(plain(&wide), noise(300).repeat(10));

    let nan = encode_special(Special::Nan, 80, &[], &params).unwrap();
    assert_eq!(plain(&nan), f32::from_bits(0x7FC0_0000).to_le_bytes().repeat(20));
    let nan = encode_special(Special::Nan, 80, &[], &Params::new(8)).unwrap();
    assert_eq!(plain(&nan), f64::from_bits(0x7FF8_0000_0000_0000).to_le_bytes().repeat(10));
    let uninit = encode_special(Special::Uninit, 80, &[], &params).unwrap();
    assert_eq!((uninit[31], plain(&uninit)), (0x40, vec![0; 80]));
}

#[test]
fn special_chunks_that_nobody_reads_are_refused() {
    let params = Params::new(4);
    let refused = |kind, nbytes, value: &[u8], params: &Params| {
        let error = encode_special(kind, nbytes, value, params).unwrap_err();
        assert_eq!(error.fault(), Fault::Caller, "{error}");
    };
    refused(Special::Nan, 80, &[], &Params::new(2));
    refused(Special::Nan, 81, &[], &params);
    refused(Special::Uninit, 81, &[], &params);
    refused(Special::Value, 81, &[1, 2], &params);
    refused(Special::Value, 80, &[], &params);
    refused(Special::Value, 1, &[1, 2], &params);
    refused(Special::Zeros, 80, &[0], &params);
    refused(Special::Zeros, 80, &[], &params.clone().with_short_header(true));
    refused(Special::Zeros, i32::MAX as u32, &[], &params);
}

#[test]
fn noise_is_stored_with_clean_flags() {
    for short in [false, true] {
        let data = noise(5000);
        let chunk = encode(&data, &lz4(4).with_short_header(short), &one()).unwrap();
        let header = ChunkHeader::parse(&chunk).unwrap();
        assert!(header.is_raw());
        assert_eq!(chunk.len(), 5000 + header.header_len());
        assert_eq!(chunk[2], if short { 0x02 } else { 0x07 });
        assert_eq!(plain(&chunk), data);
    }
}

#[test]
fn short_headers_are_those_of_blosc1() {
    let data = walk(40_000, 4);
    for (filters, flags) in [("none", 0x10), ("shuffle", 0x01), ("bitshuffle", 0x14)] {
        let params = lz4(4).with_pipeline(filters.parse().unwrap()).with_short_header(true);
        let chunk = encode(&data, &params, &one()).unwrap();
        assert_eq!((chunk[0], chunk[1], chunk[2]), (2, 1, flags | 1 << 5), "{filters}");
        assert_eq!(plain(&chunk), data, "{filters}");
    }
    for filters in ["delta", "shuffle,bitshuffle", "shuffle:2", "trunc_prec:10"] {
        let params = lz4(4).with_pipeline(filters.parse().unwrap()).with_short_header(true);
        assert!(matches!(encode(&data, &params, &one()), Err(Error::Compression(_))), "{filters}");
    }
    let zeros = encode(&[0; 1000], &lz4(4).with_short_header(true), &one()).unwrap();
    assert!(ChunkHeader::parse(&zeros).unwrap().special().is_none());
    assert_eq!(plain(&zeros), vec![0; 1000]);
}

#[test]
fn a_bitshuffled_tail_that_others_would_forget_is_not_bitshuffled() {
    let data = walk(4 * 64 + 3, 4);
    let params = lz4(4).with_pipeline("bitshuffle".parse().unwrap()).with_short_header(true);
    let chunk = encode(&data, &params, &one()).unwrap();
    assert!(ChunkHeader::parse(&chunk).unwrap().pipeline().is_empty());
    assert_eq!(plain(&chunk), data);
}

/// A chunk with a short header: `nbytes` in one block of streams, each stored raw.
fn blosc1(version: u8, flags: u8, typesize: u8, streams: &[&[u8]]) -> Vec<u8> {
    let nbytes: usize = streams.iter().map(|s| s.len()).sum();
    let cbytes = 20 + nbytes + 4 * streams.len();
    let mut chunk = vec![version, 1, flags, typesize];
    for n in [nbytes, nbytes, cbytes, 20] {
        chunk.extend((n as u32).to_le_bytes());
    }
    for stream in streams {
        chunk.extend((stream.len() as u32).to_le_bytes());
        chunk.extend(*stream);
    }
    chunk
}

#[test]
fn blosc1_splits_by_size_and_later_ones_by_flag() {
    let data = noise(1024);
    let halves: Vec<&[u8]> = data.chunks(512).collect();
    let whole = [data.as_slice()];
    let short = noise(100);
    let short_halves: Vec<&[u8]> = short.chunks(50).collect();
    // Large enough to be split, by the rule from before the flag.
    assert_eq!(plain(&blosc1(2, 0x00, 2, &halves)), data);
    assert_eq!(plain(&blosc1(2, 0x10, 2, &whole)), data);
    // Too small to be split, and split all the same.
    assert_eq!(plain(&blosc1(2, 0x00, 2, &[&short])), short);
    assert_eq!(plain(&blosc1(2, 0x00, 2, &short_halves)), short);
    assert_eq!(plain(&blosc1(1, 0x00, 32, &whole)), data);
    // From version 3 on the flag alone counts.
    assert_eq!(plain(&blosc1(5, 0x00, 2, &short_halves)), short);
    assert!(decode(&blosc1(5, 0x00, 2, &[&short]), &Limits::default(), &one()).is_err());
}

#[test]
fn bitshuffle_goes_by_the_version_of_the_chunk() {
    let data: Vec<u8> = (0..20).collect();
    assert_eq!(plain(&blosc1(2, 0x14, 2, &[&data])), data, "10 items are left alone by Blosc1");
    assert_ne!(plain(&blosc1(5, 0x14, 2, &[&data])), data, "today 8 of them are shuffled");
}

#[test]
fn what_is_known_but_not_read_is_named() {
    let chunk = encode(&walk(4000, 4), &lz4(4), &one()).unwrap();
    let with = |at: usize, byte: u8| {
        let mut changed = chunk.clone();
        changed[at] = byte;
        decode(&changed, &Limits::default(), &one()).unwrap_err().to_string()
    };
    assert_eq!(with(31, 0x08), "unsupported lazy chunk (a reference to a file, which lives in memory only)");
    assert_eq!(with(31, 0x80), "unsupported instrumented chunk (it holds measurements of a codec, not data)");
    assert_eq!(with(16, 6), "unsupported filter 6");
    assert!(with(16, 32).contains("ndcell needs the shape of the blocks"), "{}", with(16, 32));
    assert_eq!(with(2, 2 << 5 | 5), "unsupported codec format 2 (snappy)");
    assert_eq!(with(2, 7 << 5 | 5), "unsupported codec format 7");
    let mut plugin = chunk.clone();
    (plugin[2], plugin[22]) = (6 << 5 | chunk[2] & 0x1F, 37);
    assert_eq!(
        decode(&plugin, &Limits::default(), &one()).unwrap_err().to_string(),
        "unsupported codec 37 (grok)"
    );
}

#[test]
fn automatic_block_sizes_are_those_that_users_of_blosc2_expect() {
    let auto = |codec, clevel, typesize, filters: &str, nbytes| {
        let params = Params::new(typesize)
            .with_codec(codec)
            .with_clevel(clevel)
            .with_pipeline(filters.parse().unwrap());
        auto_blocksize(nbytes, &params)
    };
    assert_eq!(auto(Codec::Lz4, 5, 4, "shuffle", 10 << 20), 256 << 10);
    assert_eq!(auto(Codec::Lz4, 5, 4, "none", 10 << 20), 128 << 10);
    assert_eq!(auto(Codec::Zstd, 5, 8, "shuffle", 10 << 20), 512 << 10);
    assert_eq!(auto(Codec::Zstd, 6, 8, "shuffle", 10 << 20), 512 << 10);
    assert_eq!(auto(Codec::Zstd, 9, 8, "shuffle", 10 << 20), 1 << 20);
    assert_eq!(auto(Codec::Lz4, 9, 16, "shuffle", 10 << 20), 4 << 20);
    assert_eq!(auto(Codec::Lz4, 0, 4, "shuffle", 10 << 20), 8 << 10);
    assert_eq!(auto(Codec::Lz4, 1, 4, "none", 10 << 20), 16 << 10);
    assert_eq!(auto(Codec::Lz4, 5, 3, "shuffle", 1000), 999);
    assert_eq!(auto(Codec::Lz4, 5, 8, "shuffle", 5), 1);
    assert_eq!(auto(Codec::Lz4, 5, 8, "shuffle", 0), 1);
    // The real size of items counts, although chunks do not store it.
    assert_eq!(auto(Codec::Lz4, 1, 1000, "none", 10 << 20), 16_000);
    assert_eq!(auto(Codec::Lz4, 5, 1000, "none", 999), 1);
}

#[test]
fn parameters_that_cannot_be_written_are_refused() {
    let data = walk(4000, 4);
    for params in [
        Params::new(4).with_clevel(10),
        Params::new(4).with_codec(Codec::Other(37)),
        Params::new(0),
        Params::new(4).with_blocksize(Some(0)),
        Params::new(4).with_pipeline("filter-200".parse().unwrap()),
        Params::new(2).with_pipeline("trunc_prec:10".parse().unwrap()),
    ] {
        assert!(matches!(encode(&data, &params, &one()), Err(Error::Compression(_))), "{params:?}");
    }
}
