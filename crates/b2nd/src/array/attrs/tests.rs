use super::AttrValue;
use crate::array::{Array, Dtype, Options};
use crate::error::Error;
use crate::schunk::OpenOptions;
use proptest::prelude::*;

/// Values with the bytes that python-blosc2 stores for them.
fn known() -> Vec<(AttrValue, &'static [u8])> {
    vec![
        (AttrValue::Null, b"\xc0"),
        (AttrValue::from(true), b"\xc3"),
        (AttrValue::from(0), b"\x00"),
        (AttrValue::from(-1), b"\xff"),
        (AttrValue::from(-33), b"\xd0\xdf"),
        (AttrValue::from(200), b"\xcc\xc8"),
        (AttrValue::from(65536), b"\xce\x00\x01\x00\x00"),
        (AttrValue::from(u64::MAX), b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff"),
        (AttrValue::from(i64::MIN), b"\xd3\x80\x00\x00\x00\x00\x00\x00\x00"),
        (AttrValue::from(1.0), b"\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00"),
        (AttrValue::from("hello"), b"\xa5hello"),
        (AttrValue::from(b"\x01\xff"), b"\xc4\x02\x01\xff"),
        (AttrValue::list([AttrValue::from("__tuple__"), 1.into()]), b"\x92\xa9__tuple__\x01"),
        (AttrValue::map([("a", AttrValue::list([true])), ("b", ().into())]), b"\x82\xa1a\x91\xc3\xa1b\xc0"),
        (AttrValue::map([(1, "x")]), b"\x81\x01\xa1x"),
        (AttrValue::Ext(42, vec![7]), b"\xd4\x2a\x07"),
        (AttrValue::Ext(45, vec![0x93, 1, 2]), b"\xc7\x03\x2d\x93\x01\x02"),
    ]
}

#[test]
fn values_are_written_and_read_as_python_blosc2_does() {
    for (value, bytes) in known() {
        assert_eq!(value.to_msgpack().unwrap(), bytes, "{value:?}");
        assert_eq!(AttrValue::from_msgpack(bytes).unwrap(), value);
    }
    // Longer forms than need be, and floats of 32 bits, are read too.
    assert_eq!(AttrValue::from_msgpack(b"\xcf\0\0\0\0\0\0\0\x05").unwrap(), AttrValue::Int(5));
    assert_eq!(AttrValue::from_msgpack(b"\xd9\x01x").unwrap(), AttrValue::from("x"));
    assert_eq!(AttrValue::from_msgpack(b"\xca\x3f\xc0\0\0").unwrap(), AttrValue::from(1.5));
}

#[test]
fn bytes_that_are_not_one_value_are_refused() {
    for bytes in [&b""[..], b"\xc1", b"\x01\x02", b"\x92\x01", b"\xa5abc", b"\xa2\xff\xfe", b"\xc7\x05\x01"] {
        let error = AttrValue::from_msgpack(bytes).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{bytes:?}: {error}");
    }
}

#[test]
fn depth_and_count_are_bounded_both_ways() {
    assert!(AttrValue::from_msgpack(&[&[0x91; 100][..], &[0xc0]].concat()).is_ok());
    assert!(AttrValue::from_msgpack(&[&[0x91; 101][..], &[0xc0]].concat()).is_err());
    assert!(AttrValue::from_msgpack(&vec![0x91; 1_000_000]).is_err());
    assert!(AttrValue::from_msgpack(&vec![0x81; 1_000_000]).is_err());
    // A count without the items, and more items than are allowed.
    assert!(AttrValue::from_msgpack(b"\xdd\xff\xff\xff\xff").is_err());
    assert!(AttrValue::from_msgpack(b"\xdf\xff\xff\xff\xff").is_err());
    let many = [&b"\xdd\x00\x20\x00\x00"[..], &vec![0xc0; 1 << 21]].concat();
    assert!(AttrValue::from_msgpack(&many).unwrap_err().to_string().contains("1048576"));

    let deep = |levels| (0..levels).fold(AttrValue::Null, |value, _| AttrValue::List(vec![value]));
    assert!(deep(100).to_msgpack().is_ok());
    assert!(matches!(deep(101).to_msgpack(), Err(Error::TooLarge { .. })));
}

fn values() -> impl Strategy<Value = AttrValue> {
    let leaf = prop_oneof![
        Just(AttrValue::Null),
        any::<bool>().prop_map(AttrValue::from),
        any::<i64>().prop_map(AttrValue::from),
        any::<u64>().prop_map(AttrValue::from),
        (-1e9..1e9).prop_map(AttrValue::from),
        ".{0,40}".prop_map(AttrValue::from),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(AttrValue::from),
        (any::<i8>(), prop::collection::vec(any::<u8>(), 0..20))
            .prop_map(|(code, b)| AttrValue::Ext(code, b)),
    ];
    leaf.prop_recursive(4, 60, 20, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..20).prop_map(AttrValue::List),
            prop::collection::vec((inner.clone(), inner), 0..20).prop_map(AttrValue::Map),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_comes_back(value in values()) {
        prop_assert_eq!(AttrValue::from_msgpack(&value.to_msgpack().unwrap()).unwrap(), value);
    }

    #[test]
    fn any_bytes_are_a_value_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(value) = AttrValue::from_msgpack(&bytes) {
            prop_assert!(value.to_msgpack().is_ok());
        }
    }
}

#[test]
fn attributes_are_set_read_and_removed() {
    let mut a = Options::new()
        .with_attr("units", "K")
        .with_vlmetalayer("raw", *b"not msgpack")
        .create_in_memory(Dtype::of::<u8>(), [3])
        .unwrap();
    a.attrs_mut().extend([("scale", AttrValue::from(0.5)), ("valid", true.into())]).unwrap();
    a.attrs_mut().set("units", "degC").unwrap();
    assert!(a.attrs_mut().remove("valid").unwrap());
    assert!(!a.attrs_mut().remove("valid").unwrap());

    let a = Array::from_bytes(a.to_bytes().unwrap(), &OpenOptions::new()).unwrap();
    let attrs = a.attrs().unwrap();
    assert_eq!(attrs.len(), 3);
    assert!(attrs.contains("scale") && !attrs.contains("valid") && !attrs.is_empty());
    assert_eq!(attrs.get("units").unwrap(), Some("degC".into()));
    assert_eq!(attrs.get("valid").unwrap(), None);
    let error = attrs.get("raw").unwrap_err().to_string();
    assert!(error.contains("`raw`"), "{error}");
    // One that cannot be decoded hides no other.
    assert_eq!(attrs.iter().filter(Result::is_ok).count(), 2);
    assert_eq!(a.schunk().vlmetalayer("raw").unwrap().unwrap(), b"not msgpack");
}

#[test]
fn attributes_of_one_call_are_set_together_or_not_at_all() {
    let mut a = Options::new().create_in_memory(Dtype::of::<u8>(), [3]).unwrap();
    let too_long = "n".repeat(40);
    assert!(a.attrs_mut().extend([("first", 1), (&too_long[..], 2)]).is_err());
    assert!(a.attrs().unwrap().is_empty());
    let mut read_only = Array::from_bytes(a.to_bytes().unwrap(), &OpenOptions::new()).unwrap();
    assert!(read_only.attrs_mut().set("units", "K").is_err());
}

#[test]
fn a_copy_takes_its_own_attributes_before_those_of_the_original() {
    let a = Options::new().with_attr("units", "K").with_attr("n", 1).create_in_memory(Dtype::of::<u8>(), 3);
    let copy = Options::new().with_attr("units", "degC").copy_in_memory(&a.unwrap()).unwrap();
    assert_eq!(copy.attrs().unwrap().get("units").unwrap(), Some("degC".into()));
    assert_eq!(copy.attrs().unwrap().get("n").unwrap(), Some(1.into()));
}

#[cfg(feature = "serde")]
#[test]
fn types_of_the_caller_are_maps_with_the_names_of_their_fields() {
    #[derive(Debug, PartialEq, ::serde::Serialize, ::serde::Deserialize)]
    struct Point {
        x: i64,
        label: Option<String>,
    }
    let mut a = Options::new().create_in_memory(Dtype::of::<u8>(), [3]).unwrap();
    let point = Point { x: -7, label: None };
    a.set_attr("point", &point).unwrap();
    assert_eq!(a.attr::<Point>("point").unwrap(), Some(point));
    let due = AttrValue::map([("x", AttrValue::from(-7)), ("label", AttrValue::Null)]);
    assert_eq!(a.attrs().unwrap().get("point").unwrap(), Some(due));
    assert!(a.attr::<f64>("point").unwrap_err().to_string().contains("`point`"));
    assert_eq!(a.attr::<f64>("nothing").unwrap(), None);
    a.set_vlmetalayer("deep", &vec![0x91; 100_000]).unwrap();
    assert!(a.attr::<::serde::de::IgnoredAny>("deep").is_err());
    a.set_vlmetalayer("two", b"\x01\x02").unwrap();
    assert!(a.attr::<u8>("two").is_err());
}
