//! Bytes of items of every kind of content, made without the library.

use b2nd_testkit::rng::Rng;

/// What the items of an array are like.
pub const CONTENTS: [&str; 6] = ["random", "walk", "constant", "zeros", "nan", "runs"];

/// The items of a scalar dtype text: the letter, the bytes of a number in it, and whether they are big-endian.
struct Scalar {
    letter: u8,
    size: usize,
    big: bool,
}

impl Scalar {
    fn of(dtype: &str) -> Option<Self> {
        let (order, rest) = dtype.split_at_checked(1)?;
        let (letter, rest) = rest.split_at_checked(1)?;
        let size = rest.split('[').next()?.parse().unwrap_or(8);
        let letter = *letter.as_bytes().first()?;
        let big = order == ">";
        // A complex number is two floats.
        Some(if letter == b'c' {
            Scalar { letter: b'f', size: size / 2, big }
        } else {
            Scalar { letter, size, big }
        })
    }
    fn put(&self, out: &mut Vec<u8>, value: u64) {
        let bytes = value.to_le_bytes();
        let low = &bytes[..self.size.min(8)];
        if self.big { out.extend(low.iter().rev()) } else { out.extend(low) }
    }
    /// The bits of a float.
    fn float(&self, value: f64) -> u64 {
        match self.size {
            4 => (value as f32).to_bits().into(),
            8 => value.to_bits(),
            // Sign, five bits of exponent and ten of mantissa: enough of a half float for a test.
            _ if value.is_nan() => 0x7E00,
            _ => {
                (value.to_bits() >> 48 & 0x8000)
                    | (((value.abs() as f32).to_bits() >> 13).saturating_sub(0x1C000) as u64 & 0x7BFF)
            }
        }
    }
    fn is_number(&self) -> bool {
        matches!(self.letter, b'i' | b'u' | b'f')
    }
}

/// `nbytes` of items of this dtype and content.
pub fn make(rng: &mut Rng, dtype: &str, itemsize: usize, nbytes: usize, content: &str) -> Vec<u8> {
    let scalar = if dtype.starts_with('[') { None } else { Scalar::of(dtype) };
    match (content, scalar) {
        ("zeros", _) => vec![0; nbytes],
        ("constant", scalar) => random(rng, scalar.as_ref(), itemsize).repeat(nbytes / itemsize.max(1)),
        ("nan", Some(scalar)) if scalar.letter == b'f' => {
            let mut item = Vec::new();
            scalar.put(&mut item, scalar.float(f64::NAN));
            item.repeat(nbytes / scalar.size)
        }
        ("walk", Some(scalar)) if scalar.is_number() => walk(rng, &scalar, nbytes),
        ("random", scalar) => {
            let mut out = Vec::with_capacity(nbytes + itemsize);
            while out.len() < nbytes {
                out.extend(random(rng, scalar.as_ref(), itemsize));
            }
            out
        }
        (_, scalar) => {
            let mut out = Vec::with_capacity(nbytes + 40 * itemsize);
            while out.len() < nbytes {
                let times = 1 + rng.below(40) as usize;
                let item =
                    if rng.chance(30) { vec![0; itemsize] } else { random(rng, scalar.as_ref(), itemsize) };
                out.extend(item.repeat(times));
            }
            out.truncate(nbytes);
            out
        }
    }
}

fn walk(rng: &mut Rng, scalar: &Scalar, nbytes: usize) -> Vec<u8> {
    let (mut out, mut place) = (Vec::with_capacity(nbytes), 0i64);
    while out.len() < nbytes {
        place += rng.between(-3, 3);
        let bits =
            if scalar.letter == b'f' { scalar.float(place as f64 / 8.0) } else { place.cast_unsigned() };
        scalar.put(&mut out, bits);
    }
    out
}

fn random(rng: &mut Rng, scalar: Option<&Scalar>, itemsize: usize) -> Vec<u8> {
    match scalar {
        Some(s) if s.letter == b'b' => vec![u8::from(rng.chance(50))],
        Some(s) if s.letter == b'U' => {
            let points = Scalar { letter: b'U', size: 4, big: s.big };
            (0..itemsize / 4).fold(Vec::new(), |mut out, _| {
                points.put(&mut out, rng.between(32, 0x2FF).cast_unsigned());
                out
            })
        }
        _ => rng.bytes(itemsize),
    }
}

/// What truncation to `kept` mantissa bits (cleared ones when negative) leaves of floats of this size.
pub fn truncated(items: &[u8], itemsize: usize, kept: i8) -> Vec<u8> {
    let mantissa = if itemsize == 4 { 23 } else { 52 };
    let cleared =
        if kept >= 0 { mantissa - u32::from(kept.unsigned_abs()) } else { u32::from(kept.unsigned_abs()) };
    let mask = (u64::MAX << cleared).to_le_bytes();
    items.iter().enumerate().map(|(at, b)| b & mask[at % itemsize]).collect()
}
