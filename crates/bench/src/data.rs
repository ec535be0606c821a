//! What is compressed: generated items, and real arrays where they are at hand.

use b2nd_interop::{Outcome, real_data};
use b2nd_testkit::rng::Rng;

/// A kind of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A smooth field of 8-byte floats.
    Smooth,
    /// A random walk of integers, one for each part of the item.
    Walk,
    /// Random bytes.
    Noise,
    /// Zeros.
    Zeros,
    /// Words.
    Text,
    /// A real array, by the stem of its file, with the bytes of an item.
    Real(&'static str, u8),
}

/// The typesizes that are measured.
pub(crate) const TYPESIZES: [u8; 6] = [1, 2, 4, 8, 16, 12];

/// The kinds; the first eight are those of a quick run.
pub(crate) const KINDS: [Kind; 10] = [
    Kind::Smooth,
    Kind::Real("era_z_i2", 2),
    Kind::Real("era_u_f4", 4),
    Kind::Real("mri_4d_i2", 2),
    Kind::Walk,
    Kind::Noise,
    Kind::Zeros,
    Kind::Text,
    Kind::Real("disparity_f4", 4),
    Kind::Real("astronaut_u1", 1),
];

impl Kind {
    /// The name in the table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Smooth => "smooth f8",
            Kind::Walk => "walk",
            Kind::Noise => "noise",
            Kind::Zeros => "zeros",
            Kind::Text => "text",
            Kind::Real(stem, _) => stem,
        }
    }
    /// Whether there are items of this size.
    pub(crate) fn has(self, typesize: u8) -> bool {
        match self {
            Kind::Smooth => matches!(typesize, 8 | 16),
            Kind::Real(_, size) => size == typesize,
            _ => true,
        }
    }
    /// Whether there are chunks of any size.
    pub(crate) fn is_generated(self) -> bool {
        !matches!(self, Kind::Real(..))
    }
}

/// Items of a kind: `nbytes` of them, or as many as there are. The name, and the items.
pub(crate) fn source(kind: Kind, typesize: u8, nbytes: usize) -> Outcome<(String, Vec<u8>)> {
    let whole = nbytes / usize::from(typesize) * usize::from(typesize);
    let mut items = match kind {
        Kind::Smooth => smooth(nbytes),
        Kind::Walk => walk(typesize, nbytes),
        Kind::Noise => Rng::new(17).bytes(nbytes),
        Kind::Zeros => vec![0; nbytes],
        Kind::Text => text(nbytes),
        Kind::Real(stem, size) => match real(stem)? {
            Some(items) => items,
            None => return Ok((format!("stand-in for {stem}"), stand_in(size, nbytes))),
        },
    };
    if items.len() > whole {
        // From the middle of a real array: its edges are often masked.
        let from = (items.len() - whole) / 2 / usize::from(typesize) * usize::from(typesize);
        items.drain(..from);
        items.truncate(whole);
    }
    Ok((kind.name().into(), items))
}

fn smooth(nbytes: usize) -> Vec<u8> {
    let wave = |n: usize| {
        let (x, y) = ((n % 512) as f64, (n / 512) as f64);
        (x * 0.013).sin() * (y * 0.007).cos() * 20.0 + 273.15 + 0.001 * x
    };
    (0..nbytes / 8).flat_map(|n| wave(n).to_le_bytes()).collect()
}

/// Integers as wide as the typesize; of 12 and 16 bytes, structures of three and two.
fn walk(typesize: u8, nbytes: usize) -> Vec<u8> {
    let width = match typesize {
        12 => 4,
        16 => 8,
        width => usize::from(width),
    };
    let fields = usize::from(typesize) / width;
    let (mut rng, mut places) = (Rng::new(5), vec![0i64; fields]);
    let most = if width == 1 { 2 } else { 50 };
    let mut items = Vec::with_capacity(nbytes + 16);
    while items.len() < nbytes {
        for place in &mut places {
            *place = place.wrapping_add(rng.between(-most, most));
            items.extend_from_slice(&place.to_le_bytes()[..width]);
        }
    }
    items.truncate(nbytes);
    items
}

fn text(nbytes: usize) -> Vec<u8> {
    const WORDS: [&str; 24] = [
        "the",
        "of",
        "wind",
        "and",
        "temperature",
        "in",
        "a",
        "ocean",
        "station",
        "height",
        "is",
        "measured",
        "at",
        "metre",
        "pressure",
        "from",
        "surface",
        "salinity",
        "with",
        "hour",
        "north",
        "mean",
        "latitude",
        "cloud",
    ];
    let mut rng = Rng::new(23);
    let mut text = Vec::with_capacity(nbytes + 16);
    while text.len() < nbytes {
        // Words that come early in the list are frequent, as in a language.
        let place = rng.below(24).min(rng.below(24));
        text.extend_from_slice(WORDS[place as usize].as_bytes());
        text.push(if rng.chance(8) { b'\n' } else { b' ' });
    }
    text.truncate(nbytes);
    text
}

/// The items of a real array; `None` where it is not at hand.
fn real(stem: &str) -> Outcome<Option<Vec<u8>>> {
    let Some(root) = real_data::shared() else { return Ok(None) };
    let path = root.join("data").join(stem).with_extension("npy");
    path.is_file().then(|| Ok(real_data::read_npy(&path)?.items)).transpose()
}

/// A field with noise in its last bits, quantised as measurements are.
fn stand_in(typesize: u8, nbytes: usize) -> Vec<u8> {
    let mut rng = Rng::new(29);
    let mut items = Vec::with_capacity(nbytes + 8);
    let mut n = 0u32;
    while items.len() < nbytes {
        let (x, y) = ((n % 480) as f32, (n / 480) as f32);
        let value = (x * 0.021).sin() * 900.0 + (y * 0.017).cos() * 600.0 + rng.below(32) as f32;
        match typesize {
            1 => items.push((value / 16.0) as i8 as u8),
            2 => items.extend_from_slice(&(value as i16).to_le_bytes()),
            _ => items.extend_from_slice(&(value * 0.0625).to_le_bytes()),
        }
        n += 1;
    }
    items.truncate(nbytes);
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_have_whole_items_and_stay_the_same() -> Outcome {
        for kind in KINDS {
            for typesize in TYPESIZES.into_iter().filter(|&t| kind.has(t)) {
                let (name, items) = source(kind, typesize, 50_000)?;
                assert!(items.len() > 49_980 && items.len().is_multiple_of(usize::from(typesize)), "{name}");
                assert_eq!(source(kind, typesize, 50_000)?.1, items);
            }
        }
        assert_eq!(walk(12, 1000).len(), 1000);
        assert_eq!(stand_in(2, 999).len(), 999);
        Ok(())
    }
}
