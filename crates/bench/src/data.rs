//! What is compressed: a smooth field, an integer random walk, and the real arrays where they are at hand.

use b2nd_interop::Outcome;
use b2nd_interop::real_data;
use b2nd_testkit::rng::Rng;

/// Items to compress.
#[derive(Debug)]
pub(crate) struct Source {
    /// Name in the table.
    pub(crate) name: String,
    /// Bytes of an item.
    pub(crate) typesize: u32,
    /// The items.
    pub(crate) items: Vec<u8>,
}

/// A smooth field of 8-byte floats.
pub(crate) fn smooth(nbytes: usize) -> Source {
    let wave = |n: usize| {
        let (x, y) = ((n % 512) as f64, (n / 512) as f64);
        (x * 0.013).sin() * (y * 0.007).cos() * 20.0 + 273.15 + 0.001 * x
    };
    let items = (0..nbytes / 8).flat_map(|n| wave(n).to_le_bytes()).collect();
    Source { name: "smooth f8".into(), typesize: 8, items }
}

/// A random walk of 4-byte integers.
pub(crate) fn walk(nbytes: usize) -> Source {
    let (mut rng, mut place) = (Rng::new(5), 0i32);
    let mut step = || {
        place = place.wrapping_add(rng.between(-50, 50) as i32);
        place.to_le_bytes()
    };
    Source { name: "walk i4".into(), typesize: 4, items: (0..nbytes / 4).flat_map(|_| step()).collect() }
}

/// The real arrays, at most `nbytes` of each; none where the folder is absent.
pub(crate) fn real(nbytes: usize) -> Outcome<Vec<Source>> {
    let Some(root) = real_data::shared() else { return Ok(vec![]) };
    let mut sources = Vec::new();
    for file in real_data::arrays(&root)? {
        let mut npy = real_data::read_npy(&file)?;
        let typesize = npy.dtype.get(2..).unwrap_or_default().parse()?;
        npy.items.truncate(nbytes / typesize as usize * typesize as usize);
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        sources.push(Source { name, typesize, items: npy.items });
    }
    Ok(sources)
}
