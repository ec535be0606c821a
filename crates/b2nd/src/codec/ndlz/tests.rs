//! Round trips over random shapes, every kind of token, and streams that are no ndlz.

use super::*;
use crate::error::Error;
use proptest::prelude::*;

fn encode(side: u8, shape: &[u32], src: &[u8]) -> Option<Vec<u8>> {
    let mut dst = vec![0; src.len() + src.len() / 2 + 20];
    let len = NdlzEncoder::default().encode(side, Some(shape), src, &mut dst).unwrap()?;
    dst.truncate(len);
    Some(dst)
}

/// The bytes of `shape`, few values, with rows that come back.
fn picture(shape: &[u32], period: usize, seed: u64) -> Vec<u8> {
    let columns = shape[1] as usize;
    let value = |row: usize, column: usize| {
        let row = row % period.max(1);
        ((row as u64 * 7 + column as u64 / 3 + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 62) as u8
    };
    (0..shape[0] as usize * columns).map(|i| value(i / columns, i % columns)).collect()
}

fn same(side: u8, shape: &[u32], src: &[u8]) -> usize {
    let stream = encode(side, shape, src).unwrap();
    let mut back = vec![0xA5; src.len()];
    decode(side, &stream, &mut back).unwrap();
    assert!(back == src, "side {side}, {shape:?}");
    stream.len()
}

proptest! {
    #[test]
    fn blocks_come_back(
        big in any::<bool>(), rows in 1..70_u32, columns in 1..70_u32, period in 1..9_usize, seed in any::<u64>(),
    ) {
        let side = if big { 8 } else { 4 };
        same(side, &[rows, columns], &picture(&[rows, columns], period, seed));
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(
        big in any::<bool>(),
        rows in 1..12_i32, columns in 1..12_i32,
        cells in prop::collection::vec(prop_oneof![
            any::<u8>(), Just(0_u8), Just(0x40), Just(0xC0), Just(232), Just(136), Just(40), Just(168), Just(10),
        ], 0..200),
    ) {
        let head = [vec![2], rows.to_le_bytes().to_vec(), columns.to_le_bytes().to_vec()].concat();
        let mut dst = vec![0; (rows * columns) as usize];
        if let Err(error) = decode(if big { 8 } else { 4 }, &[head, cells].concat(), &mut dst) {
            prop_assert!(matches!(error, Error::Format(_)));
        }
    }
}

#[test]
fn every_kind_of_token_is_written_and_read() {
    for side in [4_u8, 8] {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..400 {
            let src = picture(&[40, 40], 3 + seed as usize % 6, seed);
            let mut random = src.clone();
            for (n, byte) in random.iter_mut().enumerate() {
                let x = (n as u64 + seed * 1600).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 40;
                *byte = if x.is_multiple_of(11) { x as u8 >> 4 & 1 } else { *byte };
            }
            for src in [src, random, vec![seed as u8; 1600]] {
                same(side, &[40, 40], &src);
                let stream = encode(side, &[40, 40], &src).unwrap();
                let mut reader = HEAD;
                while reader < stream.len() {
                    seen.insert(stream[reader] & !7);
                    reader += token_len(side, stream[reader]);
                }
            }
        }
        let wanted: &[u8] = if side == 4 {
            &[0, 40, 48, 56, 64, 128, 136, 144, 152, 176, 184, 192, 224, 232, 240, 248]
        } else {
            &[0, 64, 136, 168, 192]
        };
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), wanted, "side {side}");
    }
}

fn token_len(side: u8, token: u8) -> usize {
    let side = usize::from(side);
    match (token, side) {
        (LITERAL, _) => 1 + side * side,
        (EQUAL, _) => 2,
        (SAME, _) => 3,
        (40..=63, 4) => 5,
        (224.., 4) => 3 + 4,
        (128..=191, 4) => 3 + 8,
        (168.., 8) => 3 + 40,
        _ => 3 + 48,
    }
}

#[test]
fn flat_and_repeated_pictures_become_small() {
    let stripes: Vec<u8> = (0..64 * 64).map(|i| (i % 64) as u8).collect();
    assert!(same(8, &[64, 64], &stripes) < 1000);
    assert!(same(4, &[64, 64], &[3; 4096]) < 600);
}

#[test]
fn damaged_streams_are_refused() {
    let src = picture(&[21, 19], 5, 3);
    for side in [4, 8] {
        let stream = encode(side, &[21, 19], &src).unwrap();
        let mut dst = vec![0; src.len()];
        for len in 0..stream.len() {
            assert!(matches!(decode(side, &stream[..len], &mut dst), Err(Error::Format(_))), "{len}");
        }
        for bit in 0..8 * stream.len() {
            let mut stream = stream.clone();
            stream[bit / 8] ^= 1 << (bit % 8);
            match decode(side, &stream, &mut dst) {
                Ok(()) | Err(Error::Format(_)) => {}
                Err(other) => panic!("{other}"),
            }
        }
        assert!(decode(side, &[stream.clone(), vec![0]].concat(), &mut dst).is_err());
        assert!(decode(side, &stream, &mut dst[1..]).is_err());
        assert!(decode(5, &stream, &mut dst).is_err());
    }
}

#[test]
fn what_cannot_be_written_is_the_callers_fault() {
    let mut dst = [0; 100];
    for (side, shape, len) in
        [(5, Some(&[4, 4][..]), 16), (4, Some(&[4, 2, 2]), 16), (4, None, 16), (4, Some(&[4, 4]), 64)]
    {
        let result = NdlzEncoder::default().encode(side, shape, &vec![1; len], &mut dst);
        assert!(matches!(result, Err(Error::Compression(_))), "{shape:?}");
    }
    let none = NdlzEncoder::default().encode(4, Some(&[4, 4]), &(0..16).collect::<Vec<u8>>(), &mut dst[..20]);
    assert_eq!(none.unwrap(), None, "no room");
}
