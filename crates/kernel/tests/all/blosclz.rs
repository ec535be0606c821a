//! BloscLZ against a plain reading of the format, and against damage. Streams of C-Blosc2 are read in the library's tests.
#![expect(clippy::unwrap_used, reason = "tests")]

use b2nd_kernel::blosclz::{Effort, Encoder, MAX_FAR, MAX_NEAR, Probe, decode, decode_start};
use proptest::prelude::*;

/// The decoder as the format is written down: byte by byte, with no thought of speed. `None`: not a stream of
/// `len` bytes.
fn naive(src: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut at = 1;
    let mut control = usize::from(src.first()? & 31);
    loop {
        if control < 32 {
            for _ in 0..=control {
                out.push(*src.get(at)?);
                at += 1;
            }
            if at == src.len() {
                break;
            }
        } else {
            let mut n = (control >> 5) + 2;
            let high = (control & 31) << 8;
            if control >> 5 == 7 {
                loop {
                    let more = *src.get(at)?;
                    at += 1;
                    n += usize::from(more);
                    if more != 255 {
                        break;
                    }
                }
            }
            let code = usize::from(*src.get(at)?);
            at += 1;
            let mut distance = high + code + 1;
            if code == 255 && high == 31 * 256 {
                distance = usize::from(*src.get(at)?) * 256 + usize::from(*src.get(at + 1)?) + 8192;
                at += 2;
            }
            if at >= src.len() {
                return None;
            }
            for _ in 0..n {
                let from = out.len().checked_sub(distance)?;
                out.push(out[from]);
                if out.len() > len {
                    return None;
                }
            }
        }
        control = usize::from(*src.get(at)?);
        at += 1;
    }
    (out.len() == len).then_some(out)
}

/// Both decoders agree on this stream, and neither writes outside.
fn agree(src: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut dst = vec![0xAA; len];
    let result = decode(src, &mut dst);
    let expected = naive(src, len);
    assert_eq!(result.is_ok(), expected.is_some(), "{result:?} for {src:?} as {len} bytes");
    if let Some(expected) = &expected {
        assert!(*expected == dst, "{src:?} as {len} bytes");
    }
    if let Err(defect) = result {
        assert!(defect.offset <= src.len(), "{defect:?}");
    }
    for part in [0, 1, len / 3, len / 2, len.saturating_sub(1), len] {
        // In memory of exactly this size; of a broken stream the start may be sound.
        let mut start = vec![0x55; part.min(len)].into_boxed_slice();
        let found = decode_start(src, &mut start);
        if let Some(expected) = &expected {
            assert!(found.is_ok() && start[..] == expected[..start.len()], "{src:?}: {part} of {len}");
        }
    }
    expected
}

/// Every kind of search, from careless to careful.
fn efforts() -> Vec<Effort> {
    let plain = Effort { hash_log: 12, skip_log: 5, shortest: 6, shortest_far: 8, dense: false };
    vec![
        plain,
        Effort { hash_log: 14, dense: true, ..plain },
        Effort { hash_log: 8, skip_log: 0, shortest: 8, ..plain },
        Effort { hash_log: 16, skip_log: 12, shortest: 4, shortest_far: 6, dense: true },
        Effort { shortest: 5, ..plain },
        Effort { shortest: 7, ..plain },
    ]
}

fn encode(effort: &Effort, src: &[u8]) -> Option<Vec<u8>> {
    let mut dst = vec![0; src.len() * 2 + 64];
    let len = Encoder::default().encode(effort, src, &mut dst)?;
    dst.truncate(len);
    Some(dst)
}

fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut x = seed | 1;
    let mut step = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 24) as u8
    };
    (0..len).map(|_| step()).collect()
}

/// Small streams of every kind of command, with the lengths they stand for.
fn small_streams() -> Vec<(Vec<u8>, usize)> {
    let mut streams = vec![
        (vec![0x23, 0x61, 0x62, 0x63, 0x64, 0xe0, 0x50, 0x03, 0x02, 0x62, 0x63, 0x64], 96),
        (vec![0x20, 7, 0xe0, 255, 255, 3, 0, 0, 7], 1 + 9 + 255 + 255 + 3 + 1),
        (vec![0x01, 1, 2, 0x20, 1, 0x40, 0, 0x01, 9, 8], 2 + 3 + 4 + 2),
    ];
    for effort in efforts() {
        for text in ["abcabcabd".repeat(9), "shuffle and bitshuffle, then shuffle".repeat(2)] {
            streams.push((encode(&effort, text.as_bytes()).unwrap(), text.len()));
        }
    }
    streams
}

#[test]
fn the_sample_of_the_format_decodes_and_encodes_as_small() {
    let (stream, len) = small_streams().swap_remove(0);
    let data = b"abcd".repeat(24);
    assert_eq!(agree(&stream, len).unwrap(), data);
    for effort in efforts() {
        let ours = encode(&effort, &data).unwrap();
        assert!(ours.len() <= stream.len(), "{effort:?}: {ours:x?}");
        assert_eq!(naive(&ours, 96).unwrap(), data);
    }
}

#[test]
fn every_truncation_and_bit_flip_and_length_agrees_with_the_plain_reading() {
    for (mut stream, len) in small_streams() {
        agree(&stream, len).unwrap();
        for end in 0..stream.len() {
            assert_eq!(agree(&stream[..end], len), None, "{end} bytes of {stream:x?}");
        }
        for wrong in (0..len).chain(len + 1..len + 40) {
            assert_eq!(agree(&stream, wrong), None);
        }
        for bit in 0..stream.len() * 8 {
            stream[bit / 8] ^= 1 << (bit % 8);
            agree(&stream, len);
            stream[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

/// A stream of `first` literals, one match, and `tail` literals, 1 to 32.
fn one_match(first: &[u8], distance: usize, len: usize, tail: usize) -> Vec<u8> {
    let mut stream = Vec::new();
    for run in first.chunks(32) {
        stream.push(run.len() as u8 - 1);
        stream.extend_from_slice(run);
    }
    stream[0] |= 32;
    let far = distance > MAX_NEAR;
    let code = if far { 0x1fff } else { distance - 1 };
    let short = len.min(9) - 2;
    stream.push((short << 5 | code >> 8) as u8);
    if len >= 9 {
        stream.extend(std::iter::repeat_n(255, (len - 9) / 255));
        stream.push(((len - 9) % 255) as u8);
    }
    stream.push(code as u8);
    if far {
        stream.extend_from_slice(&u16::try_from(distance - 8192).unwrap().to_be_bytes());
    }
    stream.push(tail as u8 - 1);
    stream.resize(stream.len() + tail, 99);
    stream
}

#[test]
fn every_distance_and_length_of_a_match_copies_right() {
    let first = noise(100, 5);
    for distance in 1..=101 {
        for len in (3..120).chain([263, 264, 265, 518, 519, 520, 3000]) {
            // With little behind it, and with room for wide copies.
            for tail in [1, 15, 32] {
                let stream = one_match(&first, distance, len, tail);
                assert_eq!(agree(&stream, 100 + len + tail).is_some(), distance <= 100);
                assert_eq!(agree(&stream, 100 + len + tail - 1), None);
                assert_eq!(agree(&stream, 100 + len - 1), None);
            }
        }
    }
    let first = noise(73_728, 6);
    for distance in [8190, 8191, 8192, 8193, 8447, 8448, 40_000, 73_724, 73_725, 73_727] {
        let stream = one_match(&first, distance, 5000, 1);
        let data = agree(&stream, first.len() + 5001).unwrap();
        assert_eq!(data[first.len()..][..5000], first[first.len() - distance..][..5000]);
    }
}

#[test]
fn a_match_may_not_end_the_stream() {
    let stream = one_match(&noise(40, 1), 7, 20, 1);
    assert!(agree(&stream, 61).is_some());
    assert_eq!(agree(&stream[..stream.len() - 2], 60), None);
}

#[test]
fn the_encoder_uses_far_matches_and_stays_within_reach() {
    // Noise that comes again after a gap that nothing matches: found up to the longest distance, and not beyond.
    for (distance, found) in
        [(8191, true), (8192, true), (30_000, true), (MAX_FAR, true), (MAX_FAR + 1, false)]
    {
        let piece = noise(2000, 3);
        let mut data = piece.clone();
        data.extend(noise(distance - piece.len(), 4));
        data.extend(&piece);
        data.extend(noise(50, 8));
        let stream = encode(&efforts()[3], &data).unwrap();
        assert!(naive(&stream, data.len()).unwrap() == data);
        let literals = data.len() + data.len() / 32;
        assert_eq!(stream.len() < literals - 1000, found, "{distance}: {} of {literals}", stream.len());
    }
}

#[test]
fn a_used_table_changes_nothing_but_speed() {
    let mut encoder = Encoder::default();
    for seed in 1..200 {
        let mut data = noise(64, seed).repeat(5);
        data.truncate(100 + seed as usize);
        let effort = &efforts()[seed as usize % 6];
        let mut dst = vec![0; 400];
        let len = encoder.encode(effort, &data, &mut dst).unwrap();
        assert!(naive(&dst[..len], data.len()).unwrap() == data, "{seed}");
        assert_eq!(encode(effort, &data).unwrap(), dst[..len], "{seed}");
    }
}

#[test]
fn positions_start_over_before_they_overflow() {
    let mut encoder = Encoder::default();
    let data = b"once more, and once more, and once more, and again".repeat(3);
    let mut dst = vec![0; 400];
    let effort = &efforts()[0];
    let expected = encode(effort, &data).unwrap();
    for offset in [(1 << 31) - 200, (1 << 31) - 1, 1 << 31] {
        encoder.start_at(offset);
        for _ in 0..3 {
            let len = encoder.encode(effort, &data, &mut dst).unwrap();
            assert_eq!(dst[..len], expected);
        }
    }
}

#[test]
fn patterns_of_all_periods_and_lengths_survive() {
    let mut encoder = Encoder::default();
    for period in (1..40).chain([64, 255, 256, 1000, 8191, 8192, 9000]) {
        let pattern = noise(period, period as u64);
        for len in (16..80).chain([255, 256, 1000, 4095, 20_000]) {
            let data: Vec<u8> = pattern.iter().copied().cycle().take(len).collect();
            for effort in efforts() {
                let mut dst = vec![0; len * 2];
                let n = encoder.encode(&effort, &data, &mut dst).unwrap();
                assert!(agree(&dst[..n], len).unwrap() == data, "{period} {len} {effort:?}");
                assert!(len < 3 * period + 300 || n < len / 2, "{period} {len} {effort:?}: {n}");
            }
        }
    }
}

#[test]
fn a_probe_turns_down_what_does_not_shrink() {
    let mut encoder = Encoder::default();
    let probes = [(8, 1 << 12, 200), (2, 1 << 14, 120), (1, 1 << 14, 100), (0, usize::MAX, 0)]
        .map(|(divisor, most, percent)| Probe { divisor, most, percent });
    for len in [1000, 20_000, 100_000] {
        let (random, runs) = (noise(len, 9), noise(len / 100, 3).repeat(100));
        for probe in &probes[..3] {
            assert!(!encoder.pays(probe, &random), "{probe:?} {len}");
            assert!(encoder.pays(probe, &vec![7; len]), "{probe:?} {len}");
            assert!(encoder.pays(probe, &runs), "{probe:?} {len}");
        }
        // No ratio is reached by everything; and the shortest inputs are never turned down.
        assert!(encoder.pays(&probes[3], &random));
    }
    for len in 0..200 {
        for probe in &probes {
            let paid = encoder.pays(probe, &noise(len, 4));
            assert!(paid || len / probe.divisor.max(1) >= 32, "{probe:?} {len}");
        }
    }
    // Only the last eighth shrinks, or all but that.
    let (random, same) = (noise(7000, 1), vec![0; 7000]);
    assert!(encoder.pays(&probes[0], &[&random[..], &same[..1000]].concat()));
    assert!(!encoder.pays(&probes[0], &[&same[..], &random[..1000]].concat()));
}

proptest! {
    #[test]
    fn random_streams_agree_with_the_plain_reading(
        src in prop::collection::vec(prop_oneof![any::<u8>(), 0_u8..40, Just(255)], 0..200),
        len in 0_usize..600,
    ) {
        agree(&src, len);
    }

    #[test]
    fn random_streams_are_also_tried_at_their_own_length(
        src in prop::collection::vec(prop_oneof![0_u8..4, 32_u8..36, any::<u8>()], 1..60),
    ) {
        for len in 0..200 {
            agree(&src, len);
        }
    }

    #[test]
    fn whatever_is_encoded_decodes(
        pieces in prop::collection::vec((prop::collection::vec(any::<u8>(), 1..30), 1_usize..40), 1..20),
        kind in 0_usize..6,
    ) {
        let effort = efforts()[kind];
        let data: Vec<u8> = pieces.iter().flat_map(|(piece, times)| piece.repeat(*times)).collect();
        if let Some(stream) = encode(&effort, &data) {
            prop_assert!(agree(&stream, data.len()).as_deref() == Some(&data[..]));
            // Every shorter room is refused, and the exact one is enough.
            let mut encoder = Encoder::default();
            prop_assert_eq!(encoder.encode(&effort, &data, &mut vec![0; stream.len()]), Some(stream.len()));
            for room in [stream.len() - 1, stream.len() / 2, 1, 0] {
                prop_assert_eq!(encoder.encode(&effort, &data, &mut vec![0; room]), None);
            }
        } else {
            prop_assert!(data.len() < 16);
        }
    }
}
