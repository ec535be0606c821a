//! Conversions against NumPy's, and what has none.

use super::*;

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|n| u8::from_str_radix(&text[2 * n..2 * n + 2], 16).unwrap()).collect()
}

#[test]
fn every_dtype_becomes_every_other_as_in_numpy() {
    // Made by scripts/fixtures_astype.py.
    let lines = include_str!("../../../tests/fixtures/astype.txt").lines();
    let mut source = None;
    let mut looked = 0;
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (dtype, bytes) = (Dtype::parse(words[0]).unwrap(), unhex(words.get(1).unwrap_or(&"")));
        if !line.starts_with(' ') {
            source = Some((dtype, bytes));
            continue;
        }
        let (from, items) = source.clone().unwrap();
        let made = match Cast::new(&from, &dtype).unwrap() {
            Some(cast) => cast.items(items.clone()).unwrap(),
            None => items.clone(),
        };
        let (size, old) = (dtype.itemsize(), from.itemsize());
        for (n, (made, due)) in made.chunks(size).zip(bytes.chunks(size)).enumerate() {
            let item = &items[n * old..(n + 1) * old];
            assert!(
                same(&dtype, made, due),
                "{from} {item:x?} to {dtype}: {made:x?}, and NumPy has {due:x?}"
            );
        }
        assert_eq!(made.len(), bytes.len());
        looked += 1;
    }
    assert!(looked > 200, "{looked}");
}

/// The same bytes; of not-a-number any, as its sign and payload are nobody's promise.
fn same(dtype: &Dtype, a: &[u8], b: &[u8]) -> bool {
    let nan = |bytes: &[u8]| {
        let mut part = bytes.to_vec();
        if dtype.byte_order() == crate::array::ByteOrder::Big {
            part.reverse();
        }
        match part[..] {
            [a, b] => half::f16::from_le_bytes([a, b]).is_nan(),
            [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).is_nan(),
            [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]).is_nan(),
            _ => false,
        }
    };
    let part = match dtype.kind() {
        Kind::Float => dtype.itemsize(),
        Kind::Complex => dtype.itemsize() / 2,
        _ => return a == b,
    };
    a.chunks(part).zip(b.chunks(part)).all(|(a, b)| a == b || (nan(a) && nan(b)))
}

#[test]
fn what_has_no_conversion_says_so() {
    let dtype = |text: &str| Dtype::parse(text).unwrap();
    let point = "[('x', '<f4'), ('y', '<f4')]";
    let pairs = [("<M8[s]", "<m8[s]"), (point, "<f4"), ("<f4", point), ("<M8[s]", "<M8[ms]"), ("|S3", "<i4")];
    for (from, to) in pairs.into_iter().chain([("<f8", "|S3"), ("<U3", "|S3"), ("<M8[s]", "<f8")]) {
        assert!(
            matches!(Cast::new(&dtype(from), &dtype(to)), Err(Error::DtypeMismatch { .. })),
            "{from} to {to}"
        );
    }
    assert!(Cast::new(&dtype(point), &dtype(point)).unwrap().is_none());
    assert!(Cast::new(&dtype("<f4"), &dtype("<f4")).unwrap().is_none());
}
