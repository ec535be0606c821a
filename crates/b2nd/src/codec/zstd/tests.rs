//! Our decoder against the libraries, on frames of their own encoders, whole and damaged.

use super::{library, pure};
use b2nd_kernel::cpu::Level;
use b2nd_kernel::zstd::{Decoder, Encoder};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// What a decoder makes of a frame that has to fill `len` bytes.
type Outcome = Option<Vec<u8>>;

fn ours(decoder: &mut Decoder, src: &[u8], len: usize) -> Outcome {
    let mut dst = vec![0; len];
    decoder.decode(Level::detect(), src, &mut dst).ok().map(|()| dst)
}

/// The library of this build.
fn theirs(context: &mut library::LibraryContext, src: &[u8], len: usize) -> Outcome {
    let mut dst = vec![0; len];
    context.decompress(None, src, &mut dst).ok().map(|()| dst)
}

/// Few values, with runs and copies of what came before, so that there is something to find.
fn data() -> impl Strategy<Value = Vec<u8>> {
    let runs = prop::collection::vec((0..9_u8, prop_oneof![1..4_usize, 1..40_usize, 1..900_usize]), 0..60);
    let values = prop::collection::vec(prop_oneof![4 => 0..9_u8, 1 => any::<u8>()], 0..3000);
    let runs = runs.prop_map(|runs| {
        let mut data = vec![];
        for (n, (byte, len)) in runs.into_iter().enumerate() {
            let start = (data.len() * n / 70).min(data.len());
            let end = (start + len).min(data.len());
            data.extend(std::iter::repeat_n(byte, len));
            data.extend_from_within(start..end);
        }
        data
    });
    prop_oneof![runs.clone(), values.clone(), (runs, values).prop_map(|(a, b)| [a, b].concat())]
}

proptest! {
    #[test]
    fn decoders_agree(
        data in data(),
        clevel in 1..10_u8,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
    ) {
        let (mut decoder, mut context) = (Decoder::new(), library::LibraryContext::default());
        let mut packed = vec![0; data.len() * 2 + 100];
        let end = pure::LibraryContext::default().compress(clevel, None, &data, &mut packed).unwrap().unwrap();
        prop_assert!(ours(&mut decoder, &packed[..end], data.len()).as_ref() == Some(&data));
        let end = context.compress(clevel, None, &data, &mut packed).unwrap().unwrap();
        packed.truncate(end);
        prop_assert!(ours(&mut decoder, &packed, data.len()).as_ref() == Some(&data));
        for (at, byte) in damage {
            let at = at.index(packed.len());
            packed[at] = byte;
            // What is refused the library decides.
            if let Some(found) = ours(&mut decoder, &packed, data.len()) {
                prop_assert!(theirs(&mut context, &packed, data.len()) == Some(found), "{packed:?}");
            }
        }
        prop_assert!(ours(&mut decoder, &packed[..end / 2], data.len()).is_none());
    }
}

proptest! {
    /// What our encoder writes the libraries read.
    #[test]
    fn the_libraries_read_what_is_written(all in prop::collection::vec(data(), 1..4)) {
        let (mut encoder, mut context) = (Encoder::new(), library::LibraryContext::default());
        for data in &all {
            let mut packed = vec![0; data.len() * 2 + 100];
            let end = encoder.encode(Level::detect(), data, &mut packed).unwrap();
            let frame = &packed[..end];
            prop_assert!(theirs(&mut context, frame, data.len()).as_ref() == Some(data));
            let mut back = vec![0; data.len()];
            pure::LibraryContext::default().decompress(None, frame, &mut back).unwrap();
            prop_assert!(&back == data);
        }
    }
}

/// Together, and of the same streams on every run: of a short one either encoder may miss a copy that the other finds.
#[test]
fn frames_are_as_long_as_those_of_the_library() {
    let (mut encoder, mut context) = (Encoder::new(), library::LibraryContext::default());
    let (mut ours, mut theirs) = (0, 0);
    let mut runner = TestRunner::deterministic();
    for _ in 0..500 {
        let data = data().new_tree(&mut runner).unwrap().current();
        let mut packed = vec![0; data.len() * 2 + 100];
        ours += encoder.encode(Level::detect(), &data, &mut packed).unwrap();
        theirs += context.compress(1, None, &data, &mut packed).unwrap().unwrap();
    }
    assert!(ours <= theirs + theirs / 100, "{ours} {theirs}");
}
