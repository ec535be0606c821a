//! Dtype texts against what NumPy makes of them (`tests/fixtures/dtype.tsv`), and against hostile texts.

use super::*;
use crate::error::Error;

const NUMPY: &str = include_str!("../../../tests/fixtures/dtype.tsv");

fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    NUMPY.lines().map(|line| line.split('\t').collect())
}

fn kind_letter(dtype: &Dtype) -> &'static str {
    match dtype.kind() {
        Kind::Bool => "b",
        Kind::Int => "i",
        Kind::Uint => "u",
        Kind::Float => "f",
        Kind::Complex => "c",
        Kind::Bytes => "S",
        Kind::Str => "U",
        Kind::Datetime => "M",
        Kind::Timedelta => "m",
        Kind::Void => "V",
        Kind::Struct => "struct",
    }
}

fn hexed(text: &str) -> String {
    text.bytes().map(|b| format!("{b:02x}")).collect()
}

fn field_row(field: &Field) -> String {
    let shape: Vec<String> = field.shape().iter().map(ToString::to_string).collect();
    let title = field.title().map_or_else(|| "-".to_string(), hexed);
    let size = field.dtype().itemsize();
    format!("{}:{title}:{}:{size}:{}", hexed(field.name()), field.offset(), shape.join("x"))
}

#[test]
fn texts_mean_what_numpy_says() {
    assert!(rows().count() > 150);
    for row in rows() {
        let [text, itemsize, kind, order, unit, _, _, fields] = row[..] else { panic!("{row:?}") };
        let dtype = Dtype::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(dtype.itemsize().to_string(), itemsize, "{text}");
        assert_eq!(kind_letter(&dtype), kind, "{text}");
        assert_eq!(dtype.byte_order().symbol().to_string(), order, "{text}");
        let found = dtype.unit().map_or("-".to_string(), |u| format!("{}:{}", u.count(), u.base().symbol()));
        assert_eq!(found, unit, "{text}");
        let found: Vec<String> = dtype.fields().iter().map(field_row).collect();
        assert_eq!(if found.is_empty() { "-".to_string() } else { found.join(";") }, fields, "{text}");
    }
}

#[test]
fn written_texts_are_those_of_numpy_and_round_trip() {
    for row in rows() {
        let [text, _, _, _, _, stored, descr, _] = row[..] else { panic!("{row:?}") };
        let dtype = Dtype::parse(text).unwrap();
        if stored != "-" {
            assert_eq!(dtype.to_text(), stored, "{text}");
        }
        assert_eq!(Dtype::parse(&dtype.to_text()).unwrap(), dtype, "{text}");
        assert_eq!(dtype.to_string(), dtype.to_text());
        match (dtype.to_descr(), descr) {
            (Ok(found), "-") => assert!(dtype.subarray().is_some(), "{text} became {found}"),
            (Ok(found), descr) => assert_eq!(found, descr, "{text}"),
            (Err(_), descr) => assert_eq!(descr, "-", "{text}"),
        }
    }
}

#[test]
fn a_descr_reads_as_the_same_layout() {
    for row in rows() {
        let dtype = Dtype::parse(row[0]).unwrap();
        let Ok(descr) = dtype.to_descr() else { continue };
        let back = from_literal(&Literal::parse(&descr).unwrap()).unwrap();
        assert_eq!(back.itemsize(), dtype.itemsize(), "{descr}");
        let offsets =
            |d: &Dtype| d.fields().iter().map(|f| (f.name().to_string(), f.offset())).collect::<Vec<_>>();
        assert_eq!(offsets(&back), offsets(&dtype), "{descr}");
    }
}

#[test]
fn names_that_count_bits_are_read() {
    for (name, text) in [("str96", "<U3"), ("bytes80", "|S10"), ("void128", "|V16")] {
        assert_eq!(Dtype::parse(name).unwrap().to_text(), text);
    }
}

#[test]
fn a_nameless_field_that_is_no_padding_keeps_its_place() {
    let dtype = Dtype::parse("{'names': ['', 'b'], 'formats': ['V4', 'i1']}").unwrap();
    assert_eq!(dtype.fields().len(), 2);
    assert_eq!(Dtype::parse(&dtype.to_text()).unwrap(), dtype);
}

#[test]
fn objects_are_unsupported() {
    for text in
        ["|O", "O", "O8", "<O4", "object", "[('a', 'O')]", "{'names': ['a'], 'formats': [('|O', (2,))]}"]
    {
        let error = Dtype::parse(text).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{text}: {error}");
        assert_eq!(error.to_string(), "unsupported dtype |O (Python objects)");
    }
}

#[test]
fn unknown_texts_are_refused() {
    let deep = format!("{}{}", "[('a', ".repeat(1000), ")]".repeat(1000));
    let parentheses = "(".repeat(100_000);
    let long = format!("[{}]", "('a', 'i1'), ".repeat(100_000));
    for text in [
        "",
        " ",
        "<",
        ">",
        "bfloat16",
        "|T16",
        "T",
        "StringDType()",
        "i3",
        "f16",
        "<f16",
        "c32",
        "float128",
        "i4 ",
        " i4",
        "u",
        "INT8",
        "S-1",
        "S+5",
        "S 5",
        "S2147483648",
        "U536870912",
        "V99999999999999999999",
        "b8",
        "?1",
        "M8[",
        "M8[]",
        "M8[s",
        "M8[0s]",
        "M8[-3s]",
        "M8[2147483648s]",
        "M8[ns ]",
        "M8[B]",
        "M4",
        "M8s",
        "float65",
        "int12",
        "int8x",
        "<int8",
        "é",
        "<é",
        "str95",
        "i4,f8",
        "2i4",
        "[",
        "(",
        "{",
        "[('a',)]",
        "[('a', 'i4', (2,), 3)]",
        "['i4']",
        "[['a', 'i4']]",
        "[('a', 1)]",
        "[(1, 'i4')]",
        "[(('a',), 'i4')]",
        "[(('t', 'a', 'b'), 'i4')]",
        "[('a', 'i4'), ('a', 'i4')]",
        "[(('a', 'a'), 'i4')]",
        "[(('b', 'a'), 'i4'), ('b', 'i4')]",
        "[('a', 'i4', (-1,))]",
        "[('a', 'i4', (1.5,))]",
        "[('a', 'i4', 'x')]",
        "[('a', 'i4', (99999, 99999))]",
        "[('a', 'i4', (9999999999, 0))]",
        "[('a', 'V0', (99999, 99999))]",
        "[('a', 'V2147483647'), ('b', 'i1')]",
        "[('a', 'i4')",
        "[('a', 'i4'),,]",
        "[('a' 'i4')]",
        "[('a', 'i4')] x",
        "('i4',)",
        "('i4', (2,), 3)",
        "()",
        "(None, 2)",
        "None",
        "{}",
        "{'names': ['a']}",
        "{'names': ['a'], 'formats': []}",
        "{'names': 'a', 'formats': 'i'}",
        "{'names': ['a'], 'formats': ['i4'], 'offsets': [-1]}",
        "{'names': ['a'], 'formats': ['i4'], 'offsets': [9223372036854775807]}",
        "{'names': ['a'], 'formats': ['i4'], 'offsets': [2147483644]}",
        "{'names': ['a'], 'formats': ['i4'], 'itemsize': 3}",
        "{'names': ['a'], 'formats': ['i4'], 'itemsize': 2147483648}",
        "{'names': ['a', 'b'], 'formats': ['i1', 'f8'], 'offsets': [0, 1], 'aligned': True, 'itemsize': 16}",
        "{'names': ['a'], 'formats': ['f8'], 'aligned': True, 'itemsize': 9}",
        "{'names': [1], 'formats': ['f8']}",
        "{'names': ['a'], 'formats': ['f8'], 'titles': [1]}",
        "{'names' ['a'], 'formats': ['f8']}",
        "{'a': ('i4', 0)}",
        "[('a\\', 'i4')]",
        "[('\\ud800', 'i4')]",
        "[('\\N{DEGREE SIGN}', 'i4')]",
        "[('\\xz0', 'i4')]",
        "[('\\x+1', 'i4')]",
        "[('a\n', 'i4')]",
        "[('''a''', 'i4')]",
        "[(b'a', 'i4')]",
        "[('a', __import__('os'))]",
        "[('a', 'i4', 1e3)]",
        "[('a', 'i4', 0x10)]",
        "[('a', 'i4', 99999999999999999999)]",
        "[('a', 'i4', -)]",
    ] {
        let error = Dtype::parse(text).expect_err(text);
        assert!(matches!(error, Error::Syntax { .. } | Error::TooLarge { .. }), "{text}: {error}");
    }
    for text in [deep, parentheses, long] {
        assert!(Dtype::parse(&text).is_err());
    }
}

/// Every prefix, and every flip of one bit, of every text: an answer, and one that can be written and read again.
#[test]
fn damaged_texts_never_panic() {
    let check = |bytes: &[u8]| {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let Ok(dtype) = Dtype::parse(text) else { return };
        let _ = dtype.to_descr();
        assert_eq!(Dtype::parse(&dtype.to_text()).unwrap(), dtype, "{text}");
    };
    for row in rows() {
        let bytes = row[0].as_bytes();
        for len in 0..bytes.len() {
            check(&bytes[..len]);
        }
        let mut flipped = bytes.to_vec();
        for bit in 0..bytes.len() * 8 {
            flipped[bit / 8] ^= 1 << (bit % 8);
            check(&flipped);
            flipped[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn foreign_numbers_are_swapped_wherever_they_are() {
    let foreign = if ByteOrder::NATIVE == ByteOrder::Big { '<' } else { '>' };
    let parse = |text: &str| Dtype::parse(&text.replace('!', &foreign.to_string())).unwrap();
    let swapped = |text: &str, len: u8| {
        let mut items: Vec<u8> = (0..len).collect();
        parse(text).swap_to_native(&mut items).unwrap();
        items
    };
    assert_eq!(swapped("!i2", 5), [1, 0, 3, 2, 4]);
    assert_eq!(swapped("!c8", 8), [3, 2, 1, 0, 7, 6, 5, 4]);
    assert_eq!(swapped("!U2", 8), [3, 2, 1, 0, 7, 6, 5, 4]);
    assert_eq!(swapped("|S4", 4), [0, 1, 2, 3]);
    assert_eq!(
        swapped("[('a', 'i1'), ('b', '!i2', (2,)), ('c', [('d', '!i2')])]", 14),
        [0, 2, 1, 4, 3, 6, 5, 7, 9, 8, 11, 10, 13, 12]
    );
    let union = parse("{'names': ['a', 'b'], 'formats': ['!i4', '!i2'], 'offsets': [0, 0]}");
    assert!(matches!(union.swap_to_native(&mut [0; 4]), Err(Error::Unsupported { .. })));
}
