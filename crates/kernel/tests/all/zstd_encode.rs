//! The Zstandard encoder at every level, read back by our decoder and by an independent one.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use b2nd_kernel::cpu::Level;
use b2nd_kernel::zstd::{Decoder, Encoder};
use proptest::prelude::*;
use structured_zstd::decoding::FrameDecoder;

/// The frame, which has to be the same at each level and fit into no less room.
fn encoded(encoder: &mut Encoder, data: &[u8]) -> Vec<u8> {
    let mut frames = Level::available().into_iter().map(|level| {
        let mut frame = vec![0xa5; data.len() + 20];
        let len = encoder.encode(level, data, &mut frame).unwrap();
        assert!(frame[len..].iter().all(|byte| *byte == 0xa5), "written behind the end");
        frame.truncate(len);
        let mut exactly = vec![0; len];
        assert_eq!(encoder.encode(level, data, &mut exactly), Some(len));
        assert!(exactly == frame);
        assert_eq!(encoder.encode(level, data, &mut exactly[..len - 1]), None);
        frame
    });
    let first = frames.next().unwrap();
    assert!(frames.all(|frame| frame == first), "levels differ: {data:?}");
    first
}

fn check(encoder: &mut Encoder, data: &[u8]) -> usize {
    let frame = encoded(encoder, data);
    let mut back = vec![0; data.len()];
    Decoder::new().decode(Level::detect(), &frame, &mut back).unwrap();
    assert!(back == data, "{data:?}");
    let mut back = vec![0; data.len()];
    let len = FrameDecoder::new().decode_all(&frame[..], &mut back).unwrap();
    assert!(len == data.len() && back == data, "{data:?}");
    frame.len()
}

/// Few values, with runs and copies of what came before, so that there is something to find.
fn data() -> impl Strategy<Value = Vec<u8>> {
    let run = (any::<u8>(), prop_oneof![1..4_usize, 1..40_usize, 1..900_usize], any::<prop::sample::Index>());
    let runs = prop::collection::vec((run, any::<bool>()), 0..80).prop_map(|runs| {
        let mut data = vec![];
        for ((byte, len, from), again) in runs {
            if again && !data.is_empty() {
                let start = from.index(data.len());
                let end = (start + len).min(data.len());
                data.extend_from_within(start..end);
            } else {
                data.extend(std::iter::repeat_n(byte, len % 50));
            }
        }
        data
    });
    let values = (1..=255_u8, 0..4_u32).prop_flat_map(|(most, steep)| {
        let value = (0..most, 0..most).prop_map(move |(a, b)| if steep > 1 { a.min(b) >> steep } else { a });
        prop::collection::vec(value, 0..9000)
    });
    prop_oneof![runs.clone(), values.clone(), (runs, values).prop_map(|(a, b)| [a, b].concat())]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn what_is_encoded_comes_back(all in prop::collection::vec(data(), 1..4)) {
        let mut encoder = Encoder::new();
        for data in &all {
            check(&mut encoder, data);
        }
    }
}

#[test]
fn lengths_around_powers_of_two() {
    let mut encoder = Encoder::new();
    let mut state = 7_u32;
    let mut text = |len: usize, values: u32| -> Vec<u8> {
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        // Steps of chance: there is some entropy, and some matches.
        (0..len).map(|n| if next() % 4 == 0 { (next() % values) as u8 } else { (n / 9) as u8 & 15 }).collect()
    };
    let edges = [0, 1, 2, 3, 4, 10, 11, 31, 64, 255, 256, 257, 1023, 1024, 4096, 16_384, 65_536];
    for len in edges.into_iter().flat_map(|len: usize| len.saturating_sub(1)..=(len + 1).min(Encoder::MOST)) {
        for values in [1, 2, 17, 256] {
            check(&mut encoder, &text(len, values));
        }
        check(&mut encoder, &vec![9; len]);
    }
    assert_eq!(encoder.encode(Level::detect(), &vec![0; Encoder::MOST + 1], &mut vec![0; 1 << 20]), None);
}

#[test]
fn extremes() {
    let mut encoder = Encoder::new();
    let mut state = 1_u64;
    let mut chance = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as usize
    };
    // Literals that nothing can be done with, and one match of as many bytes.
    let noise: Vec<u8> = (0..32_768).map(|_| chance() as u8).collect();
    let len = check(&mut encoder, &noise.repeat(2));
    assert!((32_768..32_800).contains(&len), "{len}");
    // One literal, and one match of all the rest.
    let mut two = vec![1; Encoder::MOST];
    two[0] = 7;
    assert!(check(&mut encoder, &two) < 40);
    // Pieces of eight bytes in an order of chance: a match for each, from far.
    let pieces: Vec<Vec<u8>> = (0..64).map(|_| (0..8).map(|_| chance() as u8).collect()).collect();
    let data: Vec<u8> = (0..Encoder::MOST / 8).flat_map(|_| pieces[chance() % 64].clone()).collect();
    let len = check(&mut encoder, &data);
    assert!((8_000..data.len() / 3).contains(&len), "{len}");
}
