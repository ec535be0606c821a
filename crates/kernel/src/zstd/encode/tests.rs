//! The sections of a block by themselves, at the lengths and counts at which their headers and codes change.

use super::sequences::{EncodeTables, MatchSequence};
use super::{Encoder, literals};
use crate::cpu::Level;
use crate::zstd::Decoder;
use structured_zstd::decoding::FrameDecoder;

struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// The frame of one block with these literals and sequences, decoded twice: it has to stand for `expected`.
fn check(tables: &mut EncodeTables, bytes: &[u8], sequences: &[MatchSequence], expected: &[u8]) {
    let mut block = vec![0; bytes.len() + 12 * sequences.len() + 1024];
    let end = literals::write(bytes, &mut block, 0).expect("room for literals");
    let end = tables.write(sequences, &mut block, end).expect("room for sequences");
    // A window of 128 KiB, as a block may be longer than what it stands for; the length in four bytes; the last block.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x80, 7 << 3];
    frame.extend_from_slice(&(expected.len() as u32).to_le_bytes());
    frame.extend_from_slice(&(1 | 2 << 1 | (end as u32) << 3).to_le_bytes()[..3]);
    frame.extend_from_slice(&block[..end]);
    let mut back = vec![0; expected.len()];
    assert_eq!(Decoder::new().decode(Level::Scalar, &frame, &mut back), Ok(()));
    assert!(back == expected);
    back.fill(0);
    assert_eq!(FrameDecoder::new().decode_all(&frame[..], &mut back).ok(), Some(expected.len()));
    assert!(back == expected);
}

#[test]
fn literals_of_each_length() {
    let (mut tables, mut chance) = (EncodeTables::new(), Chance(5));
    let edges = [1, 31, 63, 127, 255, 256, 511, 1023, 4095, 16_383, 32_767, Encoder::MOST - 1];
    for len in edges.into_iter().flat_map(|len: usize| len..len + 3).filter(|len| *len <= Encoder::MOST) {
        for (values, rare) in [(1, 1), (2, 1), (2, 200), (20, 1), (130, 3), (256, 1), (256, 300)] {
            let byte = |chance: &mut Chance| match chance.below(rare) {
                0 => chance.below(values) as u8,
                _ => 9,
            };
            let bytes: Vec<u8> = (0..len).map(|_| byte(&mut chance)).collect();
            check(&mut tables, &bytes, &[], &bytes);
        }
    }
}

/// Literals and sequences by chance, and what they stand for. Long ones are as long as there is room.
fn made(chance: &mut Chance, count: usize, long: usize) -> (Vec<u8>, Vec<MatchSequence>, Vec<u8>) {
    let (mut literals, mut sequences, mut out) = (vec![], vec![], vec![]);
    let mut recent = [1_usize, 4, 8];
    for n in 0..count {
        let mut len = |most: usize| if n == 7 || n == 9 { long } else { chance.below(most) };
        let (run, more) = (len(4) + usize::from(n == 0), 3 + len(9));
        for _ in 0..run {
            let byte = chance.below(11) as u8;
            literals.push(byte);
            out.push(byte);
        }
        // One of the last offsets, where it is one, or a new one.
        let which = chance.below(5) + usize::from(run == 0);
        let last = [recent[0], recent[1], recent[2], recent[0].wrapping_sub(1)].get(which).copied();
        let last =
            last.filter(|offset| which < 3 + usize::from(run == 0) && (1..=out.len()).contains(offset));
        let offset = last.unwrap_or(1 + chance.below(out.len()));
        let name = if last.is_some() { which + 1 - usize::from(run == 0) } else { offset + 3 };
        recent = match last {
            Some(_) if which == 0 => recent,
            Some(_) if which == 1 => [recent[1], recent[0], recent[2]],
            _ => [offset, recent[0], recent[1]],
        };
        for _ in 0..more {
            out.push(out[out.len() - offset]);
        }
        sequences.push(MatchSequence { literals: run as u32, len: more as u32, offset: name as u32 });
    }
    (literals, sequences, out)
}

#[test]
fn sequences_of_each_count() {
    let (mut tables, mut chance) = (EncodeTables::new(), Chance(3));
    for count in (1..40).chain(120..136).chain([255, 256, 1000, 5000, 16_384]) {
        for long in [0, 15, 16, 63, 64, 127, 128, 2000, 30_000] {
            // No more than a block may stand for.
            if count * 9 + 4 * long < 128 << 10 {
                let (literals, sequences, out) = made(&mut chance, count, long);
                check(&mut tables, &literals, &sequences, &out);
            }
        }
    }
}

#[test]
fn sequences_that_are_all_the_same() {
    let mut tables = EncodeTables::new();
    for count in [1, 2, 3, 50, 200, 5000] {
        let mut out = vec![];
        for n in 0..count {
            out.extend_from_slice(&[n as u8; 5]);
        }
        let literals: Vec<u8> = (0..count).map(|n| n as u8).collect();
        let sequences = vec![MatchSequence { literals: 1, len: 4, offset: 1 }; count];
        check(&mut tables, &literals, &sequences, &out);
    }
}
