//! The Zstandard decoder at every level against an independent implementation, in memory of exactly the right size.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use b2nd_kernel::cpu::Level;
use b2nd_kernel::zstd::{Decoder, Refusal};
use structured_zstd::decoding::FrameDecoder;
use structured_zstd::encoding::{CompressionLevel, FrameCompressor};

struct Noise(u64);

impl Noise {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }
}

/// What each level makes of a frame, which has to be the same: no byte outside what is lent is touched, and a sanitizer watches.
fn decoded(decoders: &mut [Decoder], frame: &[u8], len: usize) -> Result<Vec<u8>, Refusal> {
    let frame: Box<[u8]> = frame.into();
    let mut levels = |part: Option<usize>| {
        let mut results = Level::available().into_iter().zip(&mut *decoders).map(|(level, decoder)| {
            let mut dst = vec![0xa5; part.unwrap_or(len)].into_boxed_slice();
            let done = match part {
                Some(_) => decoder.decode_start(level, &frame, len, &mut dst),
                None => decoder.decode(level, &frame, &mut dst),
            };
            (level, done.map(|()| dst.into_vec()))
        });
        let first = results.next().unwrap().1;
        for (level, other) in results {
            assert!(first == other, "{level:?} {part:?} {frame:?}");
        }
        first
    };
    let whole = levels(None);
    for part in [0, 1, len / 3, len / 2, len.saturating_sub(1), len] {
        let start = levels(Some(part.min(len)));
        // What is broken may be so behind its start.
        if let Ok(whole) = &whole {
            assert!(start.as_deref() == Ok(&whole[..part.min(len)]), "{part} {frame:?}");
        }
    }
    whole
}

fn decoders() -> Vec<Decoder> {
    Level::available().iter().map(|_| Decoder::new()).collect()
}

/// Planes as a shuffle makes them: runs, few values, counters, waves, noise, and all of them one after another.
fn plane(noise: &mut Noise, kind: usize, len: usize) -> Vec<u8> {
    let values = 1 + noise.next(255);
    let pitch = 1 + noise.next(900);
    match kind {
        0 => vec![values as u8; len],
        1 => (0..len).map(|i| (i / pitch) as u8).collect(),
        2 => (0..len).map(|_| noise.next(values) as u8).collect(),
        3 => (0..len).map(|_| noise.next(1 + noise.0 as usize % values) as u8).collect(),
        4 => (0..len).map(|i| ((i as f64 / pitch as f64).sin() * 100.0) as u8).collect(),
        5 => (0..len).map(|i| if noise.next(pitch) == 0 { i as u8 } else { 7 }).collect(),
        6 => (0..len).map(|i| ((i % pitch) * (i % 7)) as u8 ^ (noise.next(40) == 0) as u8).collect(),
        _ => (0..6).flat_map(|kind| plane(noise, kind, len / 6)).collect(),
    }
}

/// Frames, each with what it stands for.
fn frames(noise: &mut Noise, lengths: &[usize]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut frames = vec![];
    // On big-endian machines this encoder's level 3 writes frames that stand for other bytes, to all decoders.
    let second = if cfg!(target_endian = "big") { 5 } else { 3 };
    for &len in lengths {
        for kind in 0..8 {
            let data = plane(noise, kind, len);
            for level in [1, second, 9, 19] {
                let mut encoder: FrameCompressor = FrameCompressor::new(CompressionLevel::from_level(level));
                encoder.set_content_checksum(false);
                let mut frame = vec![];
                encoder.compress_independent_frame_into(&data, &mut frame);
                frames.push((frame, data.clone()));
            }
        }
    }
    frames
}

#[test]
fn frames_of_another_encoder() {
    let mut decoders = decoders();
    let mut noise = Noise(0x2545_f491_4f6c_dd1d);
    let lengths = [1, 2, 3, 7, 30, 100, 300, 500, 1000, 3000, 4096, 9000, 40_000, 131_072, 131_073, 400_000];
    for (frame, data) in frames(&mut noise, &lengths) {
        let found = decoded(&mut decoders, &frame, data.len());
        assert!(found.as_ref() == Ok(&data), "{:?} {}", found.err(), data.len());
        assert!(decoded(&mut decoders, &frame, data.len() + 1).is_err());
        assert!(data.is_empty() || decoded(&mut decoders, &frame, data.len() - 1).is_err());
        assert!(decoded(&mut decoders, &frame[..frame.len() - 1], data.len()).is_err());
    }
}

#[test]
fn damaged_frames() {
    let mut decoders = decoders();
    let mut other = FrameDecoder::new();
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let frames = frames(&mut noise, &[40, 300, 1000, 3000, 5000]);
    let (mut sound, mut refused) = (0, 0);
    for _ in 0..12_000 {
        let (frame, data) = &frames[noise.next(frames.len())];
        let mut frame = frame.clone();
        for _ in 0..1 + noise.next(3) {
            let most = [16, 100, frame.len()][noise.next(3)].min(frame.len());
            let at = noise.next(most);
            match noise.next(4) {
                0 => frame[at] ^= 1 << noise.next(8),
                1 => frame[at] = [0, 255, 128, 1][noise.next(4)],
                2 => frame[at] = noise.next(256) as u8,
                _ => frame.truncate(at.max(1)),
            }
        }
        let Ok(found) = decoded(&mut decoders, &frame, data.len()) else {
            refused += 1;
            continue;
        };
        sound += 1;
        let mut expected = vec![0; data.len()];
        match other.decode_all(&frame[..], &mut expected) {
            Ok(len) => assert!(len == found.len() && expected == found, "{frame:?}"),
            Err(error) => panic!("{error}: {frame:?}"),
        }
    }
    assert!(sound > 500 && refused > 500, "{sound} {refused}");
}

/// A frame of one segment with these blocks, each with its kind and the size that its header says.
fn by_hand(len: u8, blocks: &[(u32, u32, &[u8])]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, len];
    for (n, (kind, size, bytes)) in blocks.iter().enumerate() {
        let header = u32::from(n + 1 == blocks.len()) | kind << 1 | size << 3;
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.extend_from_slice(bytes);
    }
    frame
}

#[test]
fn blocks_of_each_kind_in_one_frame() {
    // Literals as they are and no sequence; literals of one byte; tables of one entry each: one literal, an offset that was used
    // before (the first of them is 1), a match of three bytes.
    let plain: &[u8] = &[3 << 3, b'x', b'y', b'z', 0];
    let run: &[u8] = &[5 << 3 | 1, b'r', 0];
    let matched: &[u8] = &[1 << 3, b'm', 1, 0b0101_0100, 1, 0, 0, 1];
    let frame = by_hand(
        17,
        &[(0, 2, b"ab"), (1, 3, b"c"), (2, 5, plain), (2, 3, run), (2, matched.len() as u32, matched)],
    );
    assert_eq!(decoded(&mut decoders(), &frame, 17).unwrap(), b"abcccxyzrrrrrmmmm");
    // An offset before all that there is: the first of them, less one, is none.
    let matched: &[u8] = &[1 << 3, b'm', 1, 0b0101_0100, 0, 1, 0, 0b11];
    let frame = by_hand(4, &[(2, matched.len() as u32, matched)]);
    assert_eq!(
        decoded(&mut decoders(), &frame, 4).unwrap_err().reason,
        "a match begins before the start of the data"
    );
}

#[test]
fn what_is_left_to_a_complete_decoder() {
    let reason = |frame: &[u8], len| decoded(&mut decoders(), frame, len).unwrap_err().reason;
    let frame = by_hand(3, &[(0, 3, b"abc")]);
    assert!(decoded(&mut decoders(), &frame, 3).is_ok());
    assert_eq!(reason(&frame, 4), "the frame decodes to more or fewer bytes than expected");
    assert_eq!(
        reason(&[&frame[..], &frame].concat(), 3),
        "the frame decodes to more or fewer bytes than expected"
    );
    assert_eq!(reason(&frame[1..], 3), "not a frame");
    assert_eq!(reason(&[], 3), "the frame is cut off");
    for (flag, expected) in [(4, "checksum"), (1, "dictionary"), (8, "checksum")] {
        let mut frame = frame.clone();
        frame[4] |= flag;
        assert!(reason(&frame, 3).contains(expected));
    }
    assert_eq!(reason(&[0x28, 0xb5, 0x2f, 0xfd, 0, 0, 1, 0, 0], 0), "a frame that does not say its length");
    assert_eq!(reason(&by_hand(0, &[(3, 0, b"")]), 0), "a block has an unknown kind");
    let treeless = by_hand(3, &[(2, 5, &[0x33, 0x40, 0, 1, 0])]);
    assert_eq!(reason(&treeless, 3), "literals refer to a missing code");
    let repeated = by_hand(3, &[(2, 4, &[0, 1, 0xfc, 1])]);
    assert_eq!(reason(&repeated, 3), "a block refers to a missing table");
    let start = |len, room| Decoder::new().decode_start(Level::detect(), &frame, len, &mut vec![0; room]);
    assert!(start(3, 2).is_ok() && start(4, 2).is_err() && start(3, 4).is_err());
}
