//! The levels of BloscLZ, and streams of C-Blosc2.

use super::{BloscLzEncoder, decode};

fn encode(clevel: u8, src: &[u8]) -> Option<Vec<u8>> {
    let mut dst = vec![0; src.len() * 2 + 64];
    let len = BloscLzEncoder::default().encode(clevel, src, &mut dst)?;
    dst.truncate(len);
    Some(dst)
}

fn decoded(stream: &[u8], len: usize) -> Vec<u8> {
    let mut data = vec![0xAA; len];
    decode(stream, &mut data).unwrap();
    data
}

#[test]
fn streams_of_c_blosc2_decode_and_ours_are_as_small() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/blosclz/");
    let manifest = std::fs::read_to_string(format!("{fixtures}MANIFEST")).unwrap();
    assert_eq!(manifest.lines().count(), 8);
    for line in manifest.lines() {
        let [name, len, digest] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let stream = std::fs::read(format!("{fixtures}{name}")).unwrap();
        let data = decoded(&stream, len.parse().unwrap());
        let fnv1a = data
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |h: u64, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3));
        assert_eq!(format!("{fnv1a:016x}"), digest, "{name}");
        for clevel in 5..=9 {
            let ours = encode(clevel, &data).unwrap();
            assert!(ours.len() <= stream.len() + stream.len() / 100, "{name} level {clevel}: {}", ours.len());
            assert!(decoded(&ours, data.len()) == data);
        }
    }
}

#[test]
fn low_levels_give_up_sooner() {
    // Half of it shrinks to nearly nothing, in turns: a ratio of not quite 2.
    let mut x = 1_u32;
    let mut noise = || {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (x >> 24) as u8
    };
    let mut data = Vec::new();
    while data.len() < 40_000 {
        data.extend((0..40).map(|_| noise()));
        data.extend([5; 40]);
    }
    assert_eq!(encode(1, &data), None);
    for clevel in 2..=9 {
        let stream = encode(clevel, &data).unwrap();
        assert!(stream.len() < data.len() * 6 / 10, "level {clevel}: {}", stream.len());
        assert!(decoded(&stream, data.len()) == data);
    }
    let noise: Vec<u8> = (0..40_000).map(|_| noise()).collect();
    assert!((1..=9).all(|clevel| encode(clevel, &noise).is_none()));
}

#[test]
fn what_was_encoded_before_changes_nothing() {
    let mut encoder = BloscLzEncoder::default();
    let mut dst = vec![0; 4000];
    for seed in 0..300_u32 {
        let clevel = (seed % 9) as u8 + 1;
        let data: Vec<u8> = (0..1000 + seed).map(|n| (n / (seed % 7 + 1) * n % 13) as u8).collect();
        let expected = encode(clevel, &data);
        let len = encoder.encode(clevel, &data, &mut dst);
        assert_eq!(len.map(|len| dst[..len].to_vec()), expected, "{seed}");
    }
}
