//! Which ids may be taken, and how the user's errors come out.

use super::*;
use crate::error::{Error, Part};

/// Refuses everything, with whatever it is made for.
struct Refuses(fn() -> Box<dyn std::error::Error + Send + Sync>);

impl BlockCodec for Refuses {
    fn compress(&self, _: &BlockInfo<'_>, _: &[u8], dst: &mut [u8]) -> BlockResult<Option<usize>> {
        if dst.is_empty() { Ok(Some(1)) } else { Err((self.0)()) }
    }
    fn decompress(&self, _: &BlockInfo<'_>, _: &[u8], _: &mut [u8]) -> BlockResult<()> {
        Err((self.0)())
    }
}

impl BlockFilter for Refuses {
    fn apply(&self, _: &BlockInfo<'_>, _: &[u8], _: &mut [u8]) -> BlockResult<()> {
        Err((self.0)())
    }
    fn undo(&self, _: &BlockInfo<'_>, _: &[u8], _: &mut [u8]) -> BlockResult<()> {
        Err((self.0)())
    }
}

fn no() -> Refuses {
    Refuses(|| "no".into())
}

#[test]
fn ids_of_the_format_cannot_be_taken() {
    for id in 0..32 {
        assert!(matches!(Registry::new().with_codec(id, "mine", no()), Err(Error::Usage(_))), "{id}");
        assert!(matches!(Registry::new().with_filter(id, "mine", no()), Err(Error::Usage(_))), "{id}");
    }
    for id in [37, 159, 160, 255] {
        let registry = Registry::new().with_codec(id, "mine", no()).unwrap();
        assert!(registry.has_codec(id) && !registry.has_filter(id));
        let registry = registry.with_filter(id, "mine", no());
        assert!(registry.unwrap().has_filter(id));
    }
}

#[test]
fn a_clone_is_apart_from_what_it_was_cloned_from() {
    let one = Registry::new().with_codec(160, "mine", no()).unwrap();
    let two = one.clone().with_codec(161, "another", no()).unwrap();
    assert!(!one.has_codec(161) && two.has_codec(160) && two.has_codec(161));
    assert_eq!(
        format!("{two:?}"),
        "Registry { codecs: [\"codec 160 (mine)\", \"codec 161 (another)\"], filters: [] }"
    );
}

#[test]
fn errors_name_the_codec_and_say_who_is_at_fault() {
    let registry = Registry::new().with_codec(200, "mine", no()).unwrap();
    let registry = registry.with_filter(201, "sieve", no()).unwrap();
    let (codec, filter) = (registry.codec(200).unwrap(), registry.filter(201).unwrap());
    let info = BlockInfo::new(4);
    let writing = codec.compress(&info, &[1], &mut [0]).unwrap_err();
    assert!(matches!(&writing, Error::Compression(text) if text == "codec 200 (mine): no"), "{writing}");
    let too_long = codec.compress(&info, &[1], &mut []).unwrap_err();
    assert!(matches!(too_long, Error::Usage(text) if text.contains("1 bytes written into a buffer of 0")));
    let Err(Error::Format(reading)) = codec.decompress(&info, &[1], &mut [0]) else { panic!("it reads") };
    assert_eq!((reading.part(), reading.reason()), (Part::Stream, "codec 200 (mine): no"));
    assert!(
        matches!(filter.apply(&info, &[1], &mut [0]), Err(Error::Compression(text)) if text == "filter 201 (sieve): no")
    );
    assert!(matches!(filter.undo(&info, &[1], &mut [0]), Err(Error::Format(_))));
    let ours = Registry::new().with_codec(200, "mine", Refuses(|| Error::Cancelled.into())).unwrap();
    assert!(matches!(ours.codec(200).unwrap().decompress(&info, &[], &mut []), Err(Error::Cancelled)));
}

#[test]
fn labels_know_the_registered_names() {
    assert_eq!(codec_label(37), "codec 37 (grok)");
    assert_eq!(codec_label(200), "codec 200");
    assert_eq!(filter_label(35), "filter 35 (bytedelta)");
    assert_eq!(filter_label(6), "filter 6");
}
