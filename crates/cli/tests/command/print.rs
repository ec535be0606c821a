//! The text of arrays is that of NumPy, byte for byte (`scripts/fixtures_print.py`).

use b2nd::Dtype;
use b2nd_cli::text::{self, Style};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            (_, Some('n')) => out.push('\n'),
            (_, Some('t')) => out.push('\t'),
            (_, Some('r')) => out.push('\r'),
            (_, Some(c)) => out.push(c),
            (c, None) => out.push(c),
        }
    }
    out
}

fn bytes(hex: &str) -> Outcome<Vec<u8>> {
    Ok((0..hex.len() / 2)
        .map(|n| u8::from_str_radix(&hex[2 * n..2 * n + 2], 16))
        .collect::<Result<_, _>>()?)
}

fn shape(text: &str) -> Outcome<Vec<u64>> {
    let axes = text.split(',').filter(|axis| !axis.is_empty());
    Ok(axes.map(str::parse).collect::<Result<_, _>>()?)
}

/// How many cases of a file there are; panics at the first that differs.
fn check(cases: &str) -> Outcome<usize> {
    for (n, line) in cases.split_terminator('\n').enumerate() {
        let [dtype, dims, hex, wanted] = line.split('\t').collect::<Vec<_>>()[..] else {
            return Err(format!("line {n} has other than four columns").into());
        };
        let found = text::format(&Dtype::parse(dtype)?, &shape(dims)?, &bytes(hex)?, Style::default())?;
        assert_eq!(found, unescaped(wanted), "line {}: {dtype} {dims} {hex:.200}", n + 1);
    }
    Ok(cases.split_terminator('\n').count())
}

#[test]
fn texts_are_those_of_numpy() {
    assert!(check(include_str!("../fixtures/print.tsv")).unwrap() >= 400);
}

#[test]
fn only_the_edges_of_large_arrays_are_needed() {
    let needed = |shape: &[u64]| format!("{:?}", text::needed(shape, Style::default()));
    assert_eq!(needed(&[1000]), "[[0..1000]]");
    assert_eq!(needed(&[1001]), "[[0..3, 998..1001]]");
    assert_eq!(needed(&[6, 10_000, 7]), "[[0..6], [0..3, 9997..10000], [0..3, 4..7]]");
    assert_eq!(text::edge_shape(&[6, u64::MAX, 7], Style::default()), [6, 6, 6]);
    assert_eq!(text::needed(&[u64::MAX, u64::MAX, 0], Style::default()).len(), 3);
    assert!(text::needed(&[], Style::default()).is_empty());
}

#[test]
fn bytes_that_do_not_fit_are_refused() {
    let dtype = Dtype::parse("<f8").unwrap();
    assert!(text::format(&dtype, &[2], &[0; 15], Style::default()).is_err());
    assert!(text::format(&dtype, &[], &[], Style::default()).is_err());
    assert!(text::format(&dtype, &[7; 64], &[], Style::default()).is_err());
    assert_eq!(text::format(&dtype, &[u64::MAX, 0], &[], Style::default()).unwrap(), "[]");
}

/// Times without a unit, codes beyond Unicode, bools that are neither: NumPy has no text for these, but there is one.
#[test]
fn items_that_numpy_cannot_print_have_a_text() {
    let text = |dtype: &str, dims: &[u64], bytes: &[u8]| {
        text::format(&Dtype::parse(dtype).unwrap(), dims, bytes, Style::default()).unwrap()
    };
    assert_eq!(text("<M8", &[1], &[5, 0, 0, 0, 0, 0, 0, 0]), "['5']");
    assert_eq!(text("<M8", &[], &[5, 0, 0, 0, 0, 0, 0, 0]), "5");
    assert_eq!(text("<U1", &[1], &[0xff; 4]), "['\\Uffffffff']");
    assert_eq!(text("<U1", &[], &[0, 0xd8, 0, 0]), "\\ud800");
    assert_eq!(text("|b1", &[2], &[2, 0]), "[ True False]");
    for extreme in [i64::MAX, i64::MIN + 1] {
        for unit in [
            "Y",
            "M",
            "W",
            "D",
            "h",
            "m",
            "s",
            "ms",
            "as",
            "2147483647Y",
            "2147483647M",
            "2147483647W",
            "2147483647as",
        ] {
            assert!(!text(&format!("<M8[{unit}]"), &[1], &extreme.to_le_bytes()).is_empty());
            assert!(!text(&format!("<m8[{unit}]"), &[], &extreme.to_le_bytes()).is_empty());
        }
    }
}
