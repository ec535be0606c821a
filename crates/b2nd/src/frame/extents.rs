//! Stretches of a file, as a set: never overlapping, never touching.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

/// A set of byte ranges of a file, found by offset and by length.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Extents {
    /// Start and length of each range.
    places: BTreeMap<u64, u64>,
    /// Lengths, and where the stretches of each start.
    lengths: BTreeSet<(u64, u64)>,
    total: u64,
}

impl Extents {
    /// Adds the bytes from `start` to `end`, whatever of them is there already, and joins what touches.
    pub(crate) fn insert(&mut self, start: u64, end: u64) {
        if end <= start {
            return;
        }
        let (mut from, mut to) = (start, end);
        while let Some((at, len)) = self.places.range(..=to).next_back().map(|(at, len)| (*at, *len)) {
            let stop = at.saturating_add(len);
            if stop < from {
                break;
            }
            (from, to) = (from.min(at), to.max(stop));
            self.drop_one(at, len);
        }
        self.add_one(from, to.saturating_sub(from));
    }
    /// Takes the bytes from `start` to `end` out, whatever of them is there.
    pub(crate) fn remove(&mut self, start: u64, end: u64) {
        while let Some((at, len)) = self.places.range(..end).next_back().map(|(at, len)| (*at, *len)) {
            let stop = at.saturating_add(len);
            if stop <= start || end <= start {
                break;
            }
            self.drop_one(at, len);
            self.add_one(at, start.saturating_sub(at));
            self.add_one(end, stop.saturating_sub(end));
        }
    }
    /// Removes what another set has between `start` and `end`.
    pub(crate) fn remove_common(&mut self, other: &Extents, start: u64, end: u64) {
        for (from, to) in other.from(start).take_while(|(from, _)| *from < end) {
            self.remove(from, to);
        }
    }
    /// Adds all of another set, and empties that.
    pub(crate) fn absorb(&mut self, other: &mut Extents) {
        for (start, end) in std::mem::take(other).iter() {
            self.insert(start, end);
        }
    }
    /// The start of the shortest stretch of at least `len` bytes; the first of these.
    pub(crate) fn best(&self, len: u64) -> Option<u64> {
        self.lengths.range((len, 0)..).next().map(|(_, start)| *start)
    }
    /// The starts of the `count` shortest stretches of at least `len` bytes.
    pub(crate) fn fitting(&self, len: u64, count: usize) -> impl Iterator<Item = u64> + '_ {
        self.lengths.range((len, 0)..).map(|(_, start)| *start).take(count)
    }
    /// All stretches, the longest first.
    pub(crate) fn largest(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.lengths.iter().rev().map(|(len, start)| (*start, start.saturating_add(*len)))
    }
    /// The stretch that ends at `end`.
    pub(crate) fn ending_at(&self, end: u64) -> Option<u64> {
        let (at, len) = self.places.range(..end).next_back()?;
        (at.saturating_add(*len) == end).then_some(*at)
    }
    /// The stretches from `floor` on, what is before it cut off.
    pub(crate) fn from(&self, floor: u64) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        let first = self.places.range(..floor).next_back().map(|(at, len)| (floor, at.saturating_add(*len)));
        let rest = self.places.range(floor..).map(|(at, len)| (*at, at.saturating_add(*len)));
        first.filter(|(_, end)| *end > floor).into_iter().chain(rest)
    }
    /// All stretches in order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.from(0)
    }
    /// All bytes.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    fn add_one(&mut self, start: u64, len: u64) {
        if len > 0 {
            self.places.insert(start, len);
            self.lengths.insert((len, start));
            self.total = self.total.saturating_add(len);
        }
    }
    fn drop_one(&mut self, start: u64, len: u64) {
        self.places.remove(&start);
        self.lengths.remove(&(len, start));
        self.total = self.total.saturating_sub(len);
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "a test may fail")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One flag for each byte.
    fn flags(set: &Extents) -> Vec<bool> {
        let mut all = vec![false; 400];
        for (start, end) in set.iter() {
            all[start as usize..end as usize].fill(true);
        }
        all
    }

    proptest! {
        #[test]
        fn a_set_of_stretches_is_a_set_of_bytes(
            steps in prop::collection::vec((any::<bool>(), 0u64..200, 0u64..200, 0u64..300), 1..60)
        ) {
            let (mut set, mut model) = (Extents::default(), vec![false; 400]);
            for (add, start, len, floor) in steps {
                let end = start + len;
                if add { set.insert(start, end) } else { set.remove(start, end) }
                model[start as usize..end as usize].fill(add);
                prop_assert_eq!(&flags(&set), &model);
                prop_assert_eq!(set.total(), model.iter().filter(|held| **held).count() as u64);
                // Never empty, never touching: so there is one way to write each set.
                let all: Vec<_> = set.iter().collect();
                prop_assert!(all.iter().all(|(start, end)| start < end));
                prop_assert!(all.windows(2).all(|pair| pair[0].1 < pair[1].0));
                let fits = |len: u64| all.iter().filter(move |(s, e)| e - s >= len);
                for len in [1, 5, 40] {
                    let best = fits(len).min_by_key(|(s, e)| (e - s, *s)).map(|(s, _)| *s);
                    prop_assert_eq!(set.best(len), best);
                }
                let mut above = model.clone();
                above[..floor as usize].fill(false);
                let cut: u64 = set.from(floor).map(|(s, e)| e - s).sum();
                prop_assert_eq!(cut, above.iter().filter(|held| **held).count() as u64);
                for end in 1..399usize {
                    let ends = model[end - 1] && !model[end];
                    prop_assert_eq!(set.ending_at(end as u64).is_some(), ends);
                }
            }
        }
    }
}
