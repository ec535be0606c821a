//! Every codec at every level, there and back, and against damage.

use super::{Codec, CodecState, Engine};
use crate::error::{Error, Part};
use crate::registry::Context;
use proptest::prelude::*;

const CODECS: [Codec; 5] = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];

fn compress(
    codec: Codec,
    clevel: u8,
    src: &[u8],
    dst: &mut [u8],
    state: &mut CodecState,
) -> crate::Result<Option<usize>> {
    Engine::new(codec, 0, 1, &Context::default()).compress(clevel, src, dst, state)
}

fn decompress(codec: Codec, src: &[u8], dst: &mut [u8], state: &mut CodecState) -> crate::Result<()> {
    Engine::new(codec, 0, 1, &Context::default()).decompress(src, dst, state)
}

/// A small generator of noise: xorshift, always the same.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// `items` doubles of a random walk, their bytes grouped by significance as the shuffle filter does.
fn shuffled_walk(items: usize) -> Vec<u8> {
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let mut value = 300.0_f64;
    let mut bytes = vec![0; items * 8];
    for item in 0..items {
        value += (noise.next() % 2001) as f64 / 1000.0 - 1.0;
        let rounded = (value * 64.0).round() / 64.0;
        for (place, byte) in rounded.to_le_bytes().into_iter().enumerate() {
            bytes[place * items + item] = byte;
        }
    }
    bytes
}

fn noise(len: usize) -> Vec<u8> {
    let mut noise = Noise(88_172_645_463_325_252);
    (0..len).map(|_| (noise.next() >> 32) as u8).collect()
}

fn text(len: usize) -> Vec<u8> {
    const WORDS: [&str; 12] = [
        "the ", "chunk ", "of ", "an ", "array ", "is ", "stored ", "in ", "blocks, ", "and ", "each ",
        "frame.\n",
    ];
    let mut noise = Noise(1_234_567);
    let mut text = Vec::new();
    while text.len() < len {
        text.extend_from_slice(WORDS[(noise.next() % 12) as usize].as_bytes());
    }
    text.truncate(len);
    text
}

/// Inputs of `len` bytes and more sorts than any one codec likes.
fn inputs(len: usize) -> Vec<(&'static str, Vec<u8>)> {
    let mut walk = shuffled_walk(len.div_ceil(8));
    walk.truncate(len);
    let mut far = noise(len / 2);
    far.extend_from_within(..);
    vec![
        ("walk", walk),
        ("zeros", vec![0; len]),
        ("noise", noise(len)),
        ("text", text(len)),
        ("period", (0..len).map(|i| (i % 13) as u8).collect()),
        ("far", far),
    ]
}

fn round_trip(
    name: &str,
    codec: Codec,
    clevel: u8,
    src: &[u8],
    room: usize,
    state: &mut CodecState,
) -> Option<usize> {
    let mut packed = vec![0xAA; room + 8];
    let (dst, guard) = packed.split_at_mut(room);
    let len = compress(codec, clevel, src, dst, state).unwrap()?;
    assert!(len <= room, "{name} {codec:?} {clevel}: {len} of {room}");
    assert_eq!(guard, [0xAA; 8]);
    let mut back = vec![0x55; src.len()];
    decompress(codec, &dst[..len], &mut back, state)
        .unwrap_or_else(|error| panic!("{name} {codec:?} level {clevel}, {} bytes: {error}", src.len()));
    assert!(back == src, "{name} {codec:?} level {clevel}, {} bytes", src.len());
    Some(len)
}

#[test]
fn every_codec_and_level_round_trips() {
    let mut state = CodecState::default();
    for len in [1 << 10, 40_000, 200_000] {
        for (name, src) in inputs(len) {
            for codec in CODECS {
                for clevel in 1..=9 {
                    let len = round_trip(name, codec, clevel, &src, src.len() * 2 + 1024, &mut state);
                    // BloscLZ gives up where a part of the input says that little is to be gained.
                    if codec == Codec::BloscLz && len.is_none() && !matches!(name, "zeros" | "period") {
                        continue;
                    }
                    assert!(len.is_some(), "{name} {codec:?} {clevel}: there was room for anything");
                    if name != "noise" && src.len() > 100_000 && name != "far" {
                        assert!(len.unwrap() < src.len() * 9 / 10, "{name} {codec:?} {clevel}: {len:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn short_inputs_round_trip() {
    let mut state = CodecState::default();
    for len in 0..=200 {
        for (name, src) in inputs(len) {
            for codec in CODECS {
                for clevel in [1, 5, 9] {
                    round_trip(name, codec, clevel, &src, src.len() * 2 + 64, &mut state);
                }
            }
        }
    }
}

#[test]
fn a_short_destination_is_an_answer_and_never_overrun() {
    let mut state = CodecState::default();
    let src = shuffled_walk(1000);
    for codec in CODECS {
        for clevel in [1, 5, 9] {
            let full = round_trip("walk", codec, clevel, &src, src.len() * 2, &mut state).unwrap();
            for room in [0, 1, 2, 10, 100, full / 2, full - 1] {
                let got = round_trip("walk", codec, clevel, &src, room, &mut state);
                assert_eq!(got, None, "{codec:?} {clevel}: {room} bytes hold {full}");
            }
        }
        // A failure leaves nothing behind that the next call could trip over.
        assert!(round_trip("walk", codec, 5, &src, src.len() * 2, &mut state).is_some());
    }
}

#[test]
fn noise_does_not_fit_its_own_length() {
    let mut state = CodecState::default();
    let src = noise(70_000);
    for codec in CODECS {
        for clevel in 1..=9 {
            assert_eq!(round_trip("noise", codec, clevel, &src, src.len() - 1, &mut state), None);
        }
    }
}

#[test]
fn level_zero_and_unknown_codecs_have_no_stream() {
    let mut state = CodecState::default();
    let (src, mut dst) = ([0; 100], [0; 100]);
    for codec in CODECS {
        assert_eq!(compress(codec, 0, &src, &mut dst, &mut state).unwrap(), None);
        assert_eq!(compress(codec, 5, &[], &mut dst, &mut state).unwrap(), None);
    }
    let other = Codec::from_id(37);
    assert!(
        matches!(compress(other, 5, &src, &mut dst, &mut state), Err(Error::Unsupported { what, .. }) if what == "codec 37 (grok)")
    );
    assert!(
        matches!(decompress(other, &src, &mut dst, &mut state), Err(Error::Unsupported { what, .. }) if what == "codec 37 (grok)")
    );
}

fn is_broken_stream(result: &crate::Result<()>) -> bool {
    matches!(result, Err(Error::Format(error)) if error.part() == Part::Stream)
}

#[test]
fn every_truncation_and_every_other_length_is_refused() {
    let mut state = CodecState::default();
    for (name, src) in inputs(600) {
        for codec in CODECS {
            let mut packed = vec![0; 2000];
            let Some(len) = compress(codec, 5, &src, &mut packed, &mut state).unwrap() else { continue };
            packed.truncate(len);
            let mut dst = vec![0; src.len()];
            for end in 0..len {
                let result = decompress(codec, &packed[..end], &mut dst, &mut state);
                assert!(is_broken_stream(&result), "{name} {codec:?}: {end} of {len}: {result:?}");
            }
            for wrong in [0, 1, src.len() - 1, src.len() + 1, src.len() + 100] {
                let result = decompress(codec, &packed, &mut vec![0; wrong], &mut state);
                assert!(is_broken_stream(&result), "{name} {codec:?}: {wrong}: {result:?}");
            }
            decompress(codec, &packed, &mut dst, &mut state).unwrap();
            assert!(dst == src);
        }
    }
}

#[test]
fn flipped_bits_are_survived() {
    let mut state = CodecState::default();
    for (_, src) in inputs(300) {
        for codec in CODECS {
            let mut packed = vec![0; 1000];
            let Some(len) = compress(codec, 5, &src, &mut packed, &mut state).unwrap() else { continue };
            packed.truncate(len);
            let mut dst = vec![0; src.len()];
            for bit in 0..len * 8 {
                packed[bit / 8] ^= 1 << (bit % 8);
                let result = decompress(codec, &packed, &mut dst, &mut state);
                assert!(result.is_ok() || is_broken_stream(&result), "{result:?}");
                packed[bit / 8] ^= 1 << (bit % 8);
            }
            decompress(codec, &packed, &mut dst, &mut state).unwrap();
            assert!(dst == src);
        }
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// What the streams below stand for.
fn golden() -> Vec<u8> {
    [&b"shuffle ".repeat(6)[..], &[0; 40], &b"shuffled".repeat(3)].concat()
}

/// Streams cut out of chunks that C-Blosc2 3.3.5 wrote, at levels 5 and 9.
const GOLDEN: [(Codec, &str); 10] = [
    (Codec::BloscLz, "2773687566666c6520e01e07012000e01d000000804f016564e00407026c6564"),
    (Codec::BloscLz, "2773687566666c6520e01e07012000e01d000000804f016564e00407026c6564"),
    (Codec::Lz4, "ff0173687566666c652073687566666c652010000d1f00010014035800176408005066666c6564"),
    (Codec::Lz4, "8f73687566666c65200800151f00010014035000176408005066666c6564"),
    (Codec::Lz4Hc, "8f73687566666c65200800151f00010014033000176408005066666c6564"),
    (Codec::Lz4Hc, "8f73687566666c65200800151f00010014033000176408005066666c6564"),
    (Codec::Zlib, "785e2bce284d4bcb495528269266201240d5a7a0d300d9481c42"),
    (Codec::Zlib, "78da2bce284d4bcb495528269266201240d5a7a0d300d9481c42"),
    (Codec::Zstd, "28b52ffd2070bd00005073687566666c6520006404002b48a6ca00aebc57162e"),
    (Codec::Zstd, "28b52ffd2070c500005873687566666c652000647304006fc7a9b2e096f7f27201"),
];

#[test]
fn streams_of_c_blosc2_decode() {
    let mut state = CodecState::default();
    for (codec, hex) in GOLDEN {
        let mut dst = vec![0; golden().len()];
        decompress(codec, &bytes(hex), &mut dst, &mut state).unwrap_or_else(|e| panic!("{codec:?}: {e}"));
        assert_eq!(dst, golden(), "{codec:?}");
    }
}

/// A zstd frame with a checksum at its end, by the command `zstd`.
const CHECKED: &str = "28b52ffd0468bd00005073687566666c6520006404002f92a932e096f7f272015cde3c54";

#[test]
fn checksums_are_checked() {
    let mut state = CodecState::default();
    let mut dst = vec![0; golden().len()];
    for (codec, hex) in [(Codec::Zlib, GOLDEN[6].1), (Codec::Zstd, CHECKED)] {
        let mut stream = bytes(hex);
        decompress(codec, &stream, &mut dst, &mut state).unwrap();
        assert_eq!(dst, golden());
        *stream.last_mut().unwrap() ^= 1;
        let result = decompress(codec, &stream, &mut dst, &mut state);
        assert!(is_broken_stream(&result), "{codec:?}: {result:?}");
    }
}

/// A zstd frame of raw blocks with this header.
fn raw_frame(header: &[u8], blocks: &[&[u8]]) -> Vec<u8> {
    let mut frame = bytes("28b52ffd");
    frame.extend_from_slice(header);
    for (number, block) in blocks.iter().enumerate() {
        let last = u32::from(number + 1 == blocks.len());
        frame.extend_from_slice(&((block.len() as u32) << 3 | last).to_le_bytes()[..3]);
        frame.extend_from_slice(block);
    }
    frame
}

#[test]
fn what_a_zstd_frame_claims_costs_nothing() {
    let mut state = CodecState::default();
    let mut dst = [0; 6];
    // A window of 1 GiB, which would be allocated if the frame were read as a stream.
    let wide = raw_frame(&[0x00, 0xA0], &[b"abc", b"", b"def"]);
    decompress(Codec::Zstd, &wide, &mut dst, &mut state).unwrap();
    assert_eq!(dst, *b"abcdef");
    // The widest window of the format (3.75 TiB), and contents of 2^60 bytes with and without a window.
    for header in ["00ff", "e00000000000000010", "c0a00000000000000010"] {
        let result = decompress(Codec::Zstd, &raw_frame(&bytes(header), &[b"abcdef"]), &mut dst, &mut state);
        assert!(is_broken_stream(&result), "{header}: {result:?}");
    }
    // A run that would fill 128 KiB from one byte.
    let mut run = bytes("28b52ffd00a0");
    run.extend_from_slice(&(0x2_0000_u32 << 3 | 2 | 1).to_le_bytes()[..3]);
    run.push(7);
    assert!(is_broken_stream(&decompress(Codec::Zstd, &run, &mut dst, &mut state)));
    let mut long = vec![0; 0x2_0000];
    decompress(Codec::Zstd, &run, &mut long, &mut state).unwrap();
    assert!(long.iter().all(|byte| *byte == 7));
}

#[test]
fn nothing_may_follow_a_stream() {
    let mut state = CodecState::default();
    let mut dst = vec![0; golden().len()];
    for (codec, hex) in GOLDEN {
        for tail in [&[0][..], &[0, 0, 0, 0, 0, 0, 0, 0], &[0xff; 9]] {
            let stream = [&bytes(hex), tail].concat();
            let result = decompress(codec, &stream, &mut dst, &mut state);
            assert!(is_broken_stream(&result), "{codec:?}: {tail:?}: {result:?}");
        }
    }
}

#[test]
fn a_state_can_move_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<CodecState>();
}

/// The reference C library and pure Rust read each other's streams.
#[cfg(feature = "c-codecs")]
#[test]
fn reference_and_pure_read_each_other() {
    let (mut c, mut pure_lz4) = (CodecState::default(), super::lz4::PureContext::default());
    let mut pure_zstd = super::zstd::PureContext::default();
    for len in [20, 1000, 140_000] {
        for (name, src) in inputs(len) {
            let mut packed = vec![0; len * 2 + 1000];
            let mut back = vec![0; len];
            for clevel in 1..=9 {
                for codec in [Codec::Lz4, Codec::Lz4Hc, Codec::Zstd] {
                    let end = compress(codec, clevel, &src, &mut packed, &mut c).unwrap().unwrap();
                    match codec {
                        Codec::Zstd => pure_zstd.decompress(None, &packed[..end], &mut back).unwrap(),
                        _ => super::lz4::decompress(None, &packed[..end], &mut back).unwrap(),
                    }
                    assert!(back == src, "{name} {codec:?} {clevel}: C to pure");
                    back.fill(0);
                    let end = match codec {
                        Codec::Zstd => pure_zstd.compress(clevel, None, &src, &mut packed),
                        Codec::Lz4 => pure_lz4.compress_fast(clevel, None, &src, &mut packed),
                        _ => pure_lz4.compress_high(clevel, None, &src, &mut packed),
                    };
                    let end = end.unwrap().unwrap();
                    decompress(codec, &packed[..end], &mut back, &mut c).unwrap();
                    assert!(back == src, "{name} {codec:?} {clevel}: pure to C");
                    back.fill(0);
                }
            }
        }
    }
}

/// The same, for streams that refer to a dictionary.
#[cfg(feature = "c-codecs")]
#[test]
fn reference_and_pure_read_each_others_dictionaries() {
    use super::lz4::{PureContext, decompress as decompress_lz4};
    use super::train;
    use super::zstd::{PureContext as PureZstd, PureDictionary};
    let (samples, src) = (text(400_000), text(3000));
    let lengths: Vec<usize> = samples.chunks(1000).map(<[u8]>::len).collect();
    let (mut c, mut lz4, mut zstd) = (CodecState::default(), PureContext::default(), PureZstd::default());
    let (mut packed, mut back) = (vec![0; 5000], vec![0; src.len()]);
    for codec in [Codec::Lz4, Codec::Lz4Hc, Codec::Zstd] {
        let trained = train(codec, &samples, &lengths, 4096).unwrap().unwrap();
        for dictionary in [&trained[..], &samples[..2000]] {
            let engine = Engine::new(codec, 0, 1, &Context::default());
            let writing = engine.clone().writing_with(dictionary, 5).unwrap();
            let end = writing.compress(5, &src, &mut packed, &mut c).unwrap().unwrap();
            let alone = engine.compress(5, &src, &mut vec![0; 5000], &mut c).unwrap().unwrap();
            assert!(end < alone, "{codec:?}: {end} bytes with a dictionary, {alone} without");
            back.fill(0);
            match codec {
                Codec::Zstd => {
                    let reading = PureDictionary::for_reading(dictionary).unwrap();
                    zstd.decompress(Some(&reading), &packed[..end], &mut back).unwrap();
                }
                _ => decompress_lz4(Some(dictionary), &packed[..end], &mut back).unwrap(),
            }
            assert!(back == src, "{codec:?}: C to pure");
            let end = match codec {
                Codec::Zstd => {
                    let writing = PureDictionary::for_writing(dictionary, 9).unwrap();
                    zstd.compress(5, Some(&writing), &src, &mut packed)
                }
                _ => lz4.compress_fast(5, Some(dictionary), &src, &mut packed),
            };
            let end = end.unwrap().unwrap();
            back.fill(0);
            engine.reading_with(dictionary).unwrap().decompress(&packed[..end], &mut back, &mut c).unwrap();
            assert!(back == src, "{codec:?}: pure to C");
        }
    }
}

proptest! {
    #[test]
    fn random_bytes_are_survived(src in prop::collection::vec(any::<u8>(), 0..300), len in 0_usize..2000) {
        let mut state = CodecState::default();
        for codec in CODECS {
            let result = decompress(codec, &src, &mut vec![0; len], &mut state);
            prop_assert!(result.is_ok() || is_broken_stream(&result), "{:?}", result);
        }
    }
}
