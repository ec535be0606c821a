//! Every instruction set gives what plain Rust gives.
#![no_main]

use b2nd_kernel::cpu::Level;
use b2nd_kernel::{bitshuffle, bytedelta, lz4, shuffle, zstd};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, &[u8])| {
    let (width, data) = input;
    let width = usize::from(width).max(1);
    let run = |kernel: fn(Level, usize, &[u8], &mut [u8]), level: Level| {
        let mut out = vec![0; data.len()];
        kernel(level, width, data, &mut out);
        out
    };
    for kernel in [shuffle::shuffle, shuffle::unshuffle, bitshuffle::shuffle, bitshuffle::unshuffle] {
        let expected = run(kernel, Level::Scalar);
        for level in Level::available() {
            assert_eq!(run(kernel, level), expected, "{level:?}, width {width}");
        }
    }
    let items = data.len() / width;
    let cut = |n: u8| (usize::from(n) * items / 255) as u32;
    let runs: Vec<_> =
        data.chunks_exact(2).take(64).map(|d| cut(d[0].min(d[1]))..cut(d[0].max(d[1]))).collect();
    let taken = |level: Level| {
        let mut out = vec![0; runs.iter().map(ExactSizeIterator::len).sum::<usize>() * width];
        shuffle::take(level, width, data, &mut out, &runs);
        out
    };
    let expected = taken(Level::Scalar);
    for level in Level::available() {
        assert_eq!(taken(level), expected, "{level:?}, width {width}");
    }
    let sums = |level: Level| {
        let mut out = data.to_vec();
        bytedelta::decode(level, &mut out);
        out
    };
    let expected = sums(Level::Scalar);
    for level in Level::available() {
        assert_eq!(sums(level), expected, "{level:?}");
        let mut back = vec![0; data.len()];
        bytedelta::encode(level, &expected, &mut back);
        assert_eq!(back, data, "{level:?}");
    }
    // Any bytes as an LZ4 block, the first of them as what it may refer to.
    let (dictionary, block) = data.split_at(data.len().min(width % 64));
    let decoded = |level: Level| {
        let mut out = vec![0; width];
        let found = lz4::decode(level, dictionary, block, &mut out);
        found.map(|len| out[..len].to_vec())
    };
    let expected = decoded(Level::Scalar);
    for level in Level::available() {
        assert_eq!(decoded(level), expected, "{level:?}");
    }
    // And as a zstd frame: the magic number, one segment, its length, and blocks.
    let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0x60][..], &(width as u16).to_le_bytes(), data].concat();
    let decoded = |level: Level| {
        let mut out = vec![0; width + 256];
        zstd::Decoder::new().decode(level, &frame, &mut out).map(|()| out)
    };
    let expected = decoded(Level::Scalar);
    for level in Level::available() {
        assert_eq!(decoded(level), expected, "{level:?}");
    }
    // A zstd frame of the data, which gives them back.
    let data = &data[..data.len().min(zstd::Encoder::MOST)];
    let mut encoder = zstd::Encoder::new();
    let mut encoded = |level: Level| {
        let mut out = vec![0; data.len() + 16];
        encoder.encode(level, data, &mut out).map(|len| out[..len].to_vec())
    };
    let expected = encoded(Level::Scalar).expect("room for all of it");
    for level in Level::available() {
        assert_eq!(encoded(level).as_ref(), Some(&expected), "{level:?}");
    }
    let mut back = vec![0; data.len()];
    zstd::Decoder::new().decode(Level::detect(), &expected, &mut back).expect("a frame of ours");
    assert_eq!(back, data);
});
