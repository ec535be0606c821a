//! The items that differ: how many, where, and how far they are apart.

use std::fmt::Write;

use b2nd::Dtype;
use serde_json::{Value as Json, json};

use super::item;
use crate::failure::Result;
use crate::numeric::{self, Items, Tolerance};
use crate::report;
use crate::tiling::Region;

/// The items of one box on both sides.
pub(super) struct Pair<'a> {
    pub(super) left: Items<'a>,
    pub(super) right: Items<'a>,
}

/// The differences that were found.
#[derive(Debug, Default)]
pub(super) struct Differences {
    pub(super) count: u64,
    /// The first in C order: its index, and the two items.
    first: Option<(Vec<u64>, Vec<u8>, Vec<u8>)>,
    /// The smallest box with all of them.
    bounds: Option<Region>,
    /// The largest distance of two numbers that differ; `None` for items that are no numbers, and where each pair has a NaN.
    furthest: Option<f64>,
    /// How many pairs that differ have a NaN on one side or both.
    nans: u64,
}

impl Differences {
    /// Adds what differs in a box.
    pub(super) fn add(&mut self, region: &Region, pair: &Pair<'_>, tolerance: Option<Tolerance>) {
        let shape = region.shape();
        let size = |dtype: &Dtype| dtype.itemsize().max(1);
        let left = pair.left.bytes.chunks_exact(size(pair.left.dtype));
        let pairs = left.zip(pair.right.bytes.chunks_exact(size(pair.right.dtype)));
        for (n, (x, y)) in pairs.enumerate() {
            let (left, right) = (Items { bytes: x, ..pair.left }, Items { bytes: y, ..pair.right });
            let close = tolerance.and_then(|tolerance| tolerance.holds(left, right));
            if close.unwrap_or_else(|| x == y) {
                continue;
            }
            self.count += 1;
            match numeric::distance(left, right) {
                // It has no distance, and says nothing about how far the others are apart.
                Some(distance) if distance.is_nan() => self.nans += 1,
                Some(distance) => {
                    self.furthest = Some(self.furthest.map_or(distance, |most| most.max(distance)));
                }
                None => {}
            }
            let index = index_of(n as u64, &shape, &region.start);
            self.widen(&index);
            if self.first.as_ref().is_none_or(|(first, _, _)| index < *first) {
                self.first = Some((index, x.to_vec(), y.to_vec()));
            }
        }
    }

    /// Takes an index into the box of all differences.
    fn widen(&mut self, index: &[u64]) {
        let bounds =
            self.bounds.get_or_insert_with(|| Region { start: index.to_vec(), stop: index.to_vec() });
        for ((start, stop), &at) in bounds.start.iter_mut().zip(&mut bounds.stop).zip(index) {
            *start = (*start).min(at);
            *stop = (*stop).max(at + 1);
        }
    }

    /// Lines about the differences among `items` items, which have the dtypes `a` and `b`.
    pub(super) fn describe(&self, a: &Dtype, b: &Dtype, items: u64, text: &mut String) -> Result<()> {
        let percent = self.count as f64 / items.max(1) as f64 * 100.0;
        let _ = writeln!(text, "items: {} of {items} differ ({percent:.3} %)", self.count);
        if let Some((index, x, y)) = &self.first {
            let index: Vec<String> = index.iter().map(u64::to_string).collect();
            let (x, y) = (item(a, x)?, item(b, y)?);
            let _ = writeln!(text, "first: [{}]: {x} and {y}", index.join(", "));
        }
        if let Some(bounds) = &self.bounds {
            let _ = writeln!(text, "within: {}", report::region(&bounds.start, &bounds.stop));
        }
        if let Some(furthest) = self.furthest {
            let _ = writeln!(text, "largest difference: {furthest}");
        }
        if self.nans > 0 {
            let _ = writeln!(text, "NaN on one side or both: {}", report::count(self.nans, "item"));
        }
        Ok(())
    }

    pub(super) fn to_json(&self, a: &Dtype, b: &Dtype) -> Result<Json> {
        let first = match &self.first {
            Some((index, x, y)) => Some(json!({ "index": index, "a": item(a, x)?, "b": item(b, y)? })),
            None => None,
        };
        // JSON has no infinities.
        let furthest = self.furthest.map(|far| if far.is_finite() { json!(far) } else { json!("Infinity") });
        Ok(json!({
            "different": self.count,
            "first": first,
            "within": self.bounds.as_ref().map(|bounds| json!({ "start": bounds.start, "stop": bounds.stop })),
            "largest_difference": furthest,
            "nan": self.nans,
        }))
    }
}

fn index_of(mut n: u64, shape: &[u64], start: &[u64]) -> Vec<u64> {
    let mut index = start.to_vec();
    for (at, &len) in index.iter_mut().zip(shape).rev() {
        *at += n % len.max(1);
        n /= len.max(1);
    }
    index
}
