//! MessagePack, as attributes are stored by python-blosc2, to JSON and back.
//!
//! What JSON cannot say becomes an object: bytes `{"bin": "68656c6c6f"}`, extension types `{"ext": 42, "data": "…"}`,
//! and bytes that are no MessagePack at all `{"hex": "…"}`. [`import`] turns these back, and so copies attributes as they are;
//! of a value on the command line only what JSON can say is turned back.

use b2nd::AttrValue;
use serde_json::{Map, Number, Value as Json, json};

/// Bytes that are shown of a long binary value in a list.
const SHORT: usize = 32;

/// The content of an attribute as JSON; long binary values are cut short unless `whole`.
pub(crate) fn to_json(bytes: &[u8], whole: bool) -> Json {
    AttrValue::from_msgpack(bytes)
        .map_or_else(|_| json!({ "hex": hex(bytes, whole) }), |value| json_of(&value, whole))
}

/// The content of an attribute as JSON that [`import`] turns back: NaN and infinities are `{"float": "NaN"}`.
pub(crate) fn export(bytes: &[u8]) -> Json {
    AttrValue::from_msgpack(bytes)
        .map_or_else(|_| json!({ "hex": hex(bytes, true) }), |value| exported(&value))
}

fn exported(value: &AttrValue) -> Json {
    match value {
        AttrValue::Float(x) if !x.is_finite() => json!({ "float": float(*x) }),
        AttrValue::List(items) => items.iter().map(exported).collect(),
        AttrValue::Map(entries) => {
            let key = |key: &AttrValue| match exported(key) {
                Json::String(text) => text,
                other => other.to_string(),
            };
            Json::Object(entries.iter().map(|(k, v)| (key(k), exported(v))).collect())
        }
        other => json_of(other, true),
    }
}

/// The content of an attribute that [`export`] gives as `json`. Keys of maps become texts.
pub(crate) fn import(json: &Json) -> b2nd::Result<Vec<u8>> {
    match json.as_object().and_then(|object| text_of(object, "hex", 1)).and_then(unhex) {
        Some(bytes) => Ok(bytes),
        None => imported(json).to_msgpack(),
    }
}

fn imported(json: &Json) -> AttrValue {
    match json {
        Json::Array(items) => AttrValue::list(items.iter().map(imported)),
        Json::Object(object) => special(object)
            .unwrap_or_else(|| AttrValue::map(object.iter().map(|(key, value)| (key, imported(value))))),
        other => value_of(other),
    }
}

/// The text at `key` of an object with this number of entries.
fn text_of<'a>(object: &'a Map<String, Json>, key: &str, entries: usize) -> Option<&'a str> {
    object.get(key).filter(|_| object.len() == entries)?.as_str()
}

/// A value that JSON has no words for.
fn special(object: &Map<String, Json>) -> Option<AttrValue> {
    if let Some(bytes) = text_of(object, "bin", 1).and_then(unhex) {
        return Some(AttrValue::Bytes(bytes));
    }
    if let Some(bytes) = text_of(object, "data", 2).and_then(unhex) {
        return Some(AttrValue::Ext(i8::try_from(object.get("ext")?.as_i64()?).ok()?, bytes));
    }
    match text_of(object, "float", 1)? {
        "NaN" => Some(AttrValue::Float(f64::NAN)),
        "Infinity" => Some(AttrValue::Float(f64::INFINITY)),
        "-Infinity" => Some(AttrValue::Float(f64::NEG_INFINITY)),
        _ => None,
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let whole = text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if whole { text.as_bytes().chunks_exact(2).map(digits).collect() } else { None }
}

/// A value of the command line, packed: JSON if it is JSON, or else a text.
pub(crate) fn from_text(text: &str) -> b2nd::Result<Vec<u8>> {
    let json = serde_json::from_str(text).unwrap_or_else(|_| Json::String(text.to_owned()));
    value_of(&json).to_msgpack()
}

fn json_of(value: &AttrValue, whole: bool) -> Json {
    match value {
        AttrValue::Bool(value) => Json::from(*value),
        AttrValue::Int(value) => Json::from(*value),
        AttrValue::UInt(value) => Json::from(*value),
        AttrValue::Float(value) => float(*value),
        AttrValue::Str(text) => Json::from(text.as_str()),
        AttrValue::Bytes(bytes) => json!({ "bin": hex(bytes, whole) }),
        AttrValue::Ext(code, bytes) => json!({ "ext": code, "data": hex(bytes, whole) }),
        AttrValue::List(items) => items.iter().map(|item| json_of(item, whole)).collect(),
        AttrValue::Map(entries) => {
            let key = |key: &AttrValue| match json_of(key, whole) {
                Json::String(text) => text,
                other => other.to_string(),
            };
            Json::Object(entries.iter().map(|(k, v)| (key(k), json_of(v, whole))).collect::<Map<_, _>>())
        }
        _ => Json::Null,
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

fn value_of(json: &Json) -> AttrValue {
    match json {
        Json::Null => AttrValue::Null,
        Json::Bool(value) => AttrValue::from(*value),
        Json::Number(n) => match (n.as_u64(), n.as_i64(), n.as_f64()) {
            (Some(n), ..) => AttrValue::from(n),
            (None, Some(n), _) => AttrValue::from(n),
            (None, None, x) => AttrValue::from(x.unwrap_or(f64::NAN)),
        },
        Json::String(text) => AttrValue::from(text),
        Json::Array(items) => AttrValue::list(items.iter().map(value_of)),
        Json::Object(entries) => AttrValue::map(entries.iter().map(|(key, value)| (key, value_of(value)))),
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
            assert_eq!(to_json(&from_text(text).unwrap(), true).to_string(), text);
        }
        assert_eq!(to_json(&from_text("kelvin").unwrap(), true), json!("kelvin"));
    }

    #[test]
    fn texts_and_numbers_are_packed_as_python_expects() {
        assert_eq!(from_text("kelvin").unwrap(), b"\xa6kelvin");
        assert_eq!(from_text("5").unwrap(), [5]);
        assert_eq!(from_text("-3").unwrap(), [0xfd]);
        assert_eq!(from_text("1.0").unwrap(), [0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(from_text(r#"{"a": [true, null]}"#).unwrap(), [0x81, 0xa1, b'a', 0x92, 0xc3, 0xc0]);
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
    fn what_is_exported_is_imported_as_it_was() {
        for bytes in [
            &b"\xa6kelvin"[..],
            b"\xc4\x02\x01\xff",
            b"\xd4\x2a\x07",
            b"\xcb\x7f\xf8\0\0\0\0\0\0",
            b"\x92\xcb\xff\xf0\0\0\0\0\0\0\xc0",
            b"\x81\xa1a\xc4\x01\x07",
            b"\xc1",
            b"",
        ] {
            assert_eq!(import(&export(bytes)).unwrap(), bytes, "{bytes:?}");
        }
        assert_eq!(import(&json!({ "bin": "no hex" })).unwrap(), b"\x81\xa3bin\xa6no hex");
    }

    #[test]
    fn a_text_that_is_not_utf_8_is_shown_as_hex_with_all_around_it() {
        assert_eq!(to_json(b"\xa2\xff\xfe", true), json!({ "hex": "a2fffe" }));
    }
}
