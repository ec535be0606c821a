//! What is to be reached: the table "Targets" of the plan for speed, as [docs/PERFORMANCE.md] repeats it.

use crate::groups::name;

/// The target of a row of the table, which may span groups.
#[derive(Debug)]
pub(crate) struct Target {
    /// What the row is called.
    pub(crate) title: &'static str,
    /// Its groups.
    pub(crate) groups: &'static [&'static str],
    /// The least ratio of a cell.
    pub(crate) floor: Option<f64>,
    /// The least geometric mean of its cells.
    pub(crate) mean: Option<f64>,
    /// The least ratio of cells whose name contains both texts; it replaces the floor.
    pub(crate) special: &'static [(&'static str, &'static str, f64)],
}

impl Target {
    /// The least ratio of a cell of this name.
    pub(crate) fn floor_of(&self, cell: &str) -> Option<f64> {
        let special = self.special.iter().find(|(one, other, _)| cell.contains(one) && cell.contains(other));
        special.map(|(_, _, floor)| *floor).or(self.floor)
    }
}

const fn target(
    title: &'static str,
    groups: &'static [&'static str],
    floor: Option<f64>,
    mean: Option<f64>,
) -> Target {
    Target { title, groups, floor, mean, special: &[] }
}

/// The rows. What has none is no race: sizes, other durability than the rival's, b2nd against itself.
pub(crate) const TARGETS: &[Target] = &[
    target("decompression of chunks", &[name::DECOMPRESSION], Some(1.0), Some(1.3)),
    target(
        "compression of chunks, at an equal or smaller size (within 1 %)",
        &[name::COMPRESSION],
        Some(1.0),
        Some(1.15),
    ),
    target("filters alone", &[name::FILTERS], Some(1.0), Some(1.3)),
    Target {
        title: "shuffle and bitshuffle next to a memory copy, at 1 GiB",
        groups: &[name::COPY],
        floor: None,
        mean: None,
        special: &[("shuffle", "1 GiB", 0.8)],
    },
    target("whole-array read and write", &[name::WHOLE], Some(1.2), Some(1.8)),
    target("hyperplanes, boxes, items, selections", &[name::PARTS, name::SELECTIONS], Some(1.3), Some(2.5)),
    // The plan names no floor for these two: like any cell, theirs must not be below the noise.
    target("overwriting a slice of an array, and appending along axis 0", &[name::UPDATE], None, None),
    target("growth with size and threads", &[name::GROWTH], None, None),
    Target {
        title: "overwrite in a 1 GB file",
        groups: &[name::OVERWRITE],
        floor: None,
        mean: None,
        special: &[
            ("first chunk,", " 1 GB", 20.0),
            ("middle chunk,", " 1 GB", 10.0),
            ("last chunk,", " 1 GB", 1.2),
        ],
    },
    Target {
        title: "append one chunk to a 1 GB file",
        groups: &[name::APPEND],
        floor: None,
        mean: None,
        special: &[("append", " 1 GB", 1.2)],
    },
    Target {
        title: "open 10^6 chunks, read an item, and read all in order",
        groups: &[name::OPEN],
        floor: Some(1.0),
        mean: None,
        special: &[("and read an item", "", 1.0), ("open 1000000 chunks of noise", "", 5.0)],
    },
    target("two threads on one handle, against one", &[name::SHARED], Some(1.8), None),
    Target {
        title: "peak memory of reads (rival over b2nd)",
        groups: &[name::MEMORY],
        floor: None,
        mean: Some(1.3),
        special: &[("read", "", 1.0)],
    },
];
