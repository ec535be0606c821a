//! MessagePack, as attributes are stored by python-blosc2, to JSON and back.
//!
//! What JSON cannot say becomes an object: bytes `{"bin": "68656c6c6f"}`, extension types `{"ext": 42, "data": "…"}`,
//! and bytes that are no MessagePack at all `{"hex": "…"}`. Only texts that JSON can say are turned back.

use rmpv::Value as Pack;
use serde_json::{Map, Number, Value as Json, json};

/// Bytes that are shown of a long binary value in a list.
const SHORT: usize = 32;

/// The content of an attribute as JSON; long binary values are cut short unless `whole`.
pub(crate) fn to_json(bytes: &[u8], whole: bool) -> Json {
    let mut rest = bytes;
    match rmpv::decode::read_value(&mut rest) {
        // The one byte that MessagePack never uses passes for nil.
        Ok(value) if rest.is_empty() && bytes != [0xc1] => json_of(&value, whole),
        _ => json!({ "hex": hex(bytes, whole) }),
    }
}

/// A value of the command line, packed: JSON if it is JSON, or else a text.
pub(crate) fn from_text(text: &str) -> Vec<u8> {
    let json = serde_json::from_str(text).unwrap_or_else(|_| Json::String(text.to_owned()));
    let mut bytes = Vec::new();
    // Writing into memory does not fail.
    let _ = rmpv::encode::write_value(&mut bytes, &pack_of(&json));
    bytes
}

fn json_of(value: &Pack, whole: bool) -> Json {
    match value {
        Pack::Nil => Json::Null,
        Pack::Boolean(b) => Json::Bool(*b),
        Pack::Integer(n) => match (n.as_u64(), n.as_i64()) {
            (Some(n), _) => Json::from(n),
            (None, n) => Json::from(n),
        },
        Pack::F32(x) => float(f64::from(*x)),
        Pack::F64(x) => float(*x),
        Pack::String(text) => match text.as_str() {
            Some(text) => Json::from(text),
            None => json!({ "hex": hex(text.as_bytes(), whole) }),
        },
        Pack::Binary(bytes) => json!({ "bin": hex(bytes, whole) }),
        Pack::Ext(code, bytes) => json!({ "ext": code, "data": hex(bytes, whole) }),
        Pack::Array(items) => items.iter().map(|item| json_of(item, whole)).collect(),
        Pack::Map(entries) => {
            let key = |key: &Pack| match json_of(key, whole) {
                Json::String(text) => text,
                other => other.to_string(),
            };
            Json::Object(entries.iter().map(|(k, v)| (key(k), json_of(v, whole))).collect::<Map<_, _>>())
        }
    }
}

fn float(x: f64) -> Json {
    // JSON has no words for these three.
    Number::from_f64(x).map_or_else(
        || {
            Json::from(if x.is_nan() {
                "NaN"
            } else if x > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            })
        },
        Json::Number,
    )
}

fn hex(bytes: &[u8], whole: bool) -> String {
    let shown = if whole { bytes } else { bytes.get(..SHORT).unwrap_or(bytes) };
    let mut text: String = shown.iter().map(|byte| format!("{byte:02x}")).collect();
    if shown.len() < bytes.len() {
        text.push_str(&format!("… ({} bytes)", bytes.len()));
    }
    text
}

fn pack_of(json: &Json) -> Pack {
    match json {
        Json::Null => Pack::Nil,
        Json::Bool(b) => Pack::Boolean(*b),
        Json::Number(n) => match (n.as_u64(), n.as_i64(), n.as_f64()) {
            (Some(n), ..) => Pack::from(n),
            (None, Some(n), _) => Pack::from(n),
            (None, None, x) => Pack::F64(x.unwrap_or(f64::NAN)),
        },
        Json::String(text) => Pack::from(text.as_str()),
        Json::Array(items) => Pack::Array(items.iter().map(pack_of).collect()),
        Json::Object(entries) => {
            Pack::Map(entries.iter().map(|(k, v)| (Pack::from(k.as_str()), pack_of(v))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_survives_the_round_trip_in_its_order() {
        for text in [
            "null",
            "true",
            "0",
            "-1",
            "18446744073709551615",
            "-9223372036854775808",
            "1.5",
            "\"x\"",
            "[]",
            "{}",
            r#"{"b":[1,2,{"c":null}],"a":"é"}"#,
        ] {
            assert_eq!(to_json(&from_text(text), true).to_string(), text);
        }
        assert_eq!(to_json(&from_text("kelvin"), true), json!("kelvin"));
    }

    #[test]
    fn texts_and_numbers_are_packed_as_python_expects() {
        assert_eq!(from_text("kelvin"), b"\xa6kelvin");
        assert_eq!(from_text("5"), [5]);
        assert_eq!(from_text("-3"), [0xfd]);
        assert_eq!(from_text("1.0"), [0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(from_text(r#"{"a": [true, null]}"#), [0x81, 0xa1, b'a', 0x92, 0xc3, 0xc0]);
    }

    #[test]
    fn what_json_cannot_say_is_shown_as_an_object() {
        assert_eq!(to_json(b"\xc4\x02\x01\xff", true), json!({ "bin": "01ff" }));
        assert_eq!(to_json(b"\xd4\x2a\x07", true), json!({ "ext": 42, "data": "07" }));
        assert_eq!(to_json(b"\x81\x01\xa1x", true), json!({ "1": "x" }));
        assert_eq!(to_json(b"\xcb\x7f\xf8\0\0\0\0\0\0", true), json!("NaN"));
    }

    #[test]
    fn bytes_that_are_no_messagepack_are_shown_as_hex() {
        for bytes in [&b""[..], b"\xc1", b"\x01\x02", b"\x92\x01", b"\xa5abc"] {
            assert_eq!(to_json(bytes, true), json!({ "hex": hex(bytes, true) }), "{bytes:?}");
        }
        let deep = vec![0x91; 100_000];
        assert!(to_json(&deep, false)["hex"].as_str().unwrap().ends_with("(100000 bytes)"));
    }

    #[test]
    fn invalid_text_inside_is_shown_as_hex() {
        assert_eq!(to_json(b"\xa2\xff\xfe", true), json!({ "hex": "fffe" }));
    }
}
