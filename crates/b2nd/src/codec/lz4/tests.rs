//! Our decoder against the published ones, on streams of their own encoders, whole and damaged.

use super::{decompress, pure};
use proptest::prelude::*;

/// What a decoder makes of a stream that has to fill `len` bytes.
type Outcome = Option<Vec<u8>>;

fn ours(src: &[u8], len: usize) -> Outcome {
    let mut dst = vec![0; len];
    decompress(None, src, &mut dst).ok().map(|()| dst)
}

fn in_rust(src: &[u8], len: usize) -> Outcome {
    let mut dst = vec![0; len];
    (lz4_flex::block::decompress_into(src, &mut dst).ok() == Some(len)).then_some(dst)
}

#[cfg(feature = "c-codecs")]
fn in_c(src: &[u8], len: usize) -> Outcome {
    let mut dst = vec![0; len];
    (lzzzz::lz4::decompress(src, &mut dst).ok() == Some(len)).then_some(dst)
}

/// Whether the reason is the one for which we alone refuse a stream.
#[cfg(feature = "c-codecs")]
fn has_offset_zero(src: &[u8], len: usize) -> bool {
    decompress(None, src, &mut vec![0; len]).is_err_and(|error| error.to_string().contains("the offset 0"))
}

/// What the published decoders accept we do too, with the same bytes.
fn check(src: &[u8], len: usize) {
    let found = ours(src, len);
    assert!(found == in_rust(src, len), "{src:?} {len}");
    #[cfg(feature = "c-codecs")]
    if let Some(expected) = in_c(src, len) {
        assert!(found == Some(expected) || has_offset_zero(src, len), "{src:?} {len}");
    }
}

/// Few values, with runs, so that there is something to find.
fn data() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec((0..4_u8, prop_oneof![1..4_usize, 1..40_usize, 1..600_usize]), 0..60)
        .prop_map(|runs| runs.into_iter().flat_map(|(byte, len)| std::iter::repeat_n(byte, len)).collect())
}

proptest! {
    #[test]
    fn decoders_agree(
        data in data(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let mut packed = vec![0; data.len() * 2 + 100];
        let end = pure::Lz4Context::default().compress_fast(5, None, &data, &mut packed).unwrap().unwrap();
        packed.truncate(end);
        prop_assert!(ours(&packed, data.len()) == Some(data.clone()));
        for (at, byte) in damage {
            check(&packed, data.len());
            let at = at.index(packed.len());
            packed[at] = byte;
        }
        check(&packed, data.len());
        check(&packed[..end / 2], data.len());
    }
}
