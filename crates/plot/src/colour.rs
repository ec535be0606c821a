//! The colour maps and what a terminal can show of them.
//!
//! The map for most pictures is viridis (dedicated to the public domain under CC0 by its makers): dark blue to yellow, with
//! even steps of perceived lightness, so that a picture printed in grey still orders the values rightly.
//! 25 of its colours are kept and a cubic runs through them; the result is within 1/255 of the whole table.

/// A colour: red, green, blue.
pub(crate) type Rgb = [u8; 3];

/// A colour map: from a value's place between the ends, 0 to 1, to a colour.
///
/// ```
/// use b2nd_plot::Map;
/// assert_eq!(Map::from_name("viridis"), Some(Map::default()));
/// assert_eq!(Map::from_name("grey_r").map(|map| map.colour(0.0)), Some([255, 255, 255]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Map {
    kind: Kind,
    reversed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    #[default]
    Viridis,
    Grey,
    Heat,
    Diverging,
}

/// The name of each map, and that of its reverse.
const NAMES: [(&str, &str, Kind); 4] = [
    ("viridis", "viridis_r", Kind::Viridis),
    ("grey", "grey_r", Kind::Grey),
    ("heat", "heat_r", Kind::Heat),
    ("diverging", "diverging_r", Kind::Diverging),
];

/// Black, red, yellow, white.
const HEAT: [Rgb; 5] = [[0, 0, 0], [110, 10, 20], [215, 60, 10], [250, 175, 40], [255, 255, 240]];
/// Blue to red through white: for values on both sides of a middle.
const DIVERGING: [Rgb; 5] = [[22, 60, 140], [110, 160, 215], [244, 244, 242], [225, 135, 105], [140, 20, 35]];

impl Map {
    /// The names of all maps; those that end in `_r` are reversed.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.into_iter().flat_map(|(name, reverse, _)| [name, reverse])
    }

    /// The map of a name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let (_, reverse, kind) =
            NAMES.into_iter().find(|(plain, reverse, _)| [*plain, *reverse].contains(&name))?;
        Some(Self { kind, reversed: name == reverse })
    }

    /// The colour at `t`, 0 to 1; what lies outside takes the nearest end.
    #[must_use]
    pub fn colour(self, t: f64) -> [u8; 3] {
        let t = if self.reversed { 1.0 - t } else { t };
        match self.kind {
            Kind::Viridis => viridis(t),
            Kind::Grey => [(t.clamp(0.0, 1.0) * 255.0).round() as u8; 3],
            Kind::Heat => between(&HEAT, t),
            Kind::Diverging => between(&DIVERGING, t),
        }
    }
}

/// The colour at `t` of a line through colours at even distances.
fn between(points: &[Rgb], t: f64) -> Rgb {
    let last = points.len().saturating_sub(1);
    let along = t.clamp(0.0, 1.0) * last as f64;
    let segment = (along as usize).min(last.saturating_sub(1));
    let f = along - segment as f64;
    let at = |i: usize, channel: usize| points.get(i).map_or(0.0, |point| f64::from(point[channel]));
    std::array::from_fn(|channel| {
        (at(segment, channel) * (1.0 - f) + at(segment + 1, channel) * f).round() as u8
    })
}

/// How many colours the terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColourDepth {
    /// 24-bit colour.
    True,
    /// The 256 colours of xterm.
    Ansi256,
    /// No escape sequences at all: a ramp of characters.
    None,
}

/// What stands for a missing value (NaN).
pub(crate) const MISSING: Rgb = [160, 160, 160];
/// What stands for plus infinity.
pub(crate) const ABOVE: Rgb = [214, 214, 214];
/// What stands for minus infinity.
pub(crate) const BELOW: Rgb = [96, 96, 96];

/// Colours of viridis at 0/24, 1/24, … 24/24 of its length.
const POINTS: [Rgb; 25] = [
    [68, 1, 84],
    [71, 17, 99],
    [72, 31, 113],
    [71, 45, 123],
    [68, 58, 131],
    [64, 70, 136],
    [59, 82, 139],
    [53, 93, 141],
    [49, 104, 142],
    [44, 114, 142],
    [40, 124, 142],
    [36, 134, 142],
    [33, 144, 140],
    [31, 154, 138],
    [32, 164, 134],
    [40, 174, 128],
    [53, 183, 121],
    [71, 192, 111],
    [93, 201, 99],
    [117, 208, 84],
    [143, 215, 68],
    [171, 220, 50],
    [199, 224, 32],
    [227, 228, 24],
    [253, 231, 37],
];

/// The colour at `t` of the map, 0 to 1; what lies outside takes the nearest end.
pub(crate) fn viridis(t: f64) -> Rgb {
    let last = POINTS.len() - 1;
    let along = t.clamp(0.0, 1.0) * last as f64;
    let segment = (along as usize).min(last - 1);
    let f = along - segment as f64;
    std::array::from_fn(|channel| {
        let at = |i: usize| POINTS.get(i).map_or(0.0, |point| f64::from(point[channel]));
        let (p1, p2) = (at(segment), at(segment + 1));
        // Beyond the ends the curve goes straight on.
        let p0 = if segment == 0 { 2.0 * p1 - p2 } else { at(segment - 1) };
        let p3 = if segment + 2 > last { 2.0 * p2 - p1 } else { at(segment + 2) };
        let cubic = 3.0 * (p1 - p2) + p3 - p0;
        let square = 2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3;
        (p1 + 0.5 * f * (p2 - p0 + f * (square + f * cubic))).round().clamp(0.0, 255.0) as u8
    })
}

/// The nearest of xterm's colours 16 to 255: a cube of 6×6×6 and 24 greys.
pub(crate) fn nearest_256(colour: Rgb) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let nearest = |v: u8| {
        let steps = (0u8..).zip(LEVELS);
        steps.min_by_key(|&(_, level)| v.abs_diff(level)).unwrap_or_default()
    };
    let cube = colour.map(nearest);
    let cube_colour = cube.map(|(_, level)| level);
    let mean = colour.iter().map(|&v| u16::from(v)).sum::<u16>() / 3;
    let grey = (mean.saturating_sub(3) / 10).min(23) as u8;
    if distance(colour, [8 + 10 * grey; 3]) < distance(colour, cube_colour) {
        return 232 + grey;
    }
    16 + cube.iter().fold(0, |index, &(step, _)| index * 6 + step)
}

fn distance(a: Rgb, b: Rgb) -> u32 {
    a.iter().zip(b).map(|(&a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries of the published 256-colour table, most of them far from the 25 points kept here.
    const PUBLISHED: [(u8, Rgb); 20] = [
        (0, [68, 1, 84]),
        (5, [70, 8, 92]),
        (17, [72, 26, 108]),
        (34, [71, 47, 125]),
        (37, [70, 51, 127]),
        (51, [65, 68, 135]),
        (68, [57, 86, 140]),
        (91, [46, 110, 142]),
        (102, [42, 120, 142]),
        (119, [35, 136, 142]),
        (136, [31, 152, 139]),
        (143, [31, 159, 136]),
        (153, [34, 168, 132]),
        (170, [53, 183, 121]),
        (187, [84, 197, 104]),
        (199, [110, 206, 88]),
        (221, [165, 219, 54]),
        (238, [210, 226, 27]),
        (243, [223, 227, 24]),
        (255, [253, 231, 37]),
    ];

    #[test]
    fn the_map_is_viridis() {
        for (entry, published) in PUBLISHED {
            let ours = viridis(f64::from(entry) / 255.0);
            for (ours, published) in ours.iter().zip(published) {
                assert!(ours.abs_diff(published) <= 1, "entry {entry}: {ours} for {published}");
            }
        }
    }

    #[test]
    fn every_map_has_its_name_and_its_reverse() {
        for name in Map::names() {
            let map = Map::from_name(name).unwrap();
            let reverse = match name.strip_suffix("_r") {
                Some(plain) => Map::from_name(plain).unwrap(),
                None => Map::from_name(&format!("{name}_r")).unwrap(),
            };
            for t in [0.0, 0.25, 0.5, 1.0] {
                assert_eq!(map.colour(t), reverse.colour(1.0 - t), "{name} {t}");
            }
        }
        assert_eq!(Map::from_name("jet"), None);
        let light =
            |t: f64| Map::from_name("heat").unwrap().colour(t).iter().map(|&c| u32::from(c)).sum::<u32>();
        assert!((1..=100).all(|i| light(f64::from(i) / 100.0) >= light(f64::from(i - 1) / 100.0)));
    }

    #[test]
    fn outside_the_map_are_its_ends() {
        assert_eq!(viridis(-3.0), viridis(0.0));
        assert_eq!(viridis(f64::INFINITY), viridis(1.0));
        viridis(f64::NAN);
    }

    #[test]
    fn xterm_colours_that_exist_map_to_themselves() {
        assert_eq!(nearest_256([0, 0, 0]), 16);
        assert_eq!(nearest_256([255, 255, 255]), 231);
        assert_eq!(nearest_256([95, 135, 175]), 16 + 36 + 2 * 6 + 3);
        assert_eq!(nearest_256([8, 8, 8]), 232);
        assert_eq!(nearest_256([128, 128, 128]), 244);
        assert_eq!(nearest_256([238, 238, 238]), 255);
    }
}
