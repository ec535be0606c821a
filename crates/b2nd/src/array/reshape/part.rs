//! Sources of the items along an axis when an array changes its shape. Pure arithmetic.

use crate::array::Axis;
use crate::error::Error;
use crate::error::Result;
use crate::limits::reserved;
use std::ops::Range;

/// What a stretch of an axis is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AxisSource {
    /// Items of the array as it was, from this index on.
    Old(u64),
    /// Items that come in, from source number `source`, from its index `at` on.
    New { source: usize, at: u64 },
}

impl AxisSource {
    fn skip(self, count: u64) -> Self {
        match self {
            AxisSource::Old(at) => AxisSource::Old(at + count),
            AxisSource::New { source, at } => AxisSource::New { source, at: at + count },
        }
    }
}

/// `count` items of the new axis, from index `start` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AxisPart {
    pub(super) start: u64,
    pub(super) count: u64,
    pub(super) from: AxisSource,
}

/// A whole axis, part by part in order, without gaps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct AxisParts {
    parts: Vec<AxisPart>,
    len: u64,
    /// The length that the axis had.
    old_len: u64,
}

/// How one chunk of the result is made along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChunkSource {
    /// Exactly the items of one chunk of the array as it was.
    Old(u64),
    /// Exactly the items of one chunk of an incoming source, were it cut into chunks of the same length.
    New { source: usize, chunk: u64 },
    /// Items of one incoming source that are no whole chunk of it.
    Within(usize),
    /// Items from several places.
    Mixed,
}

impl AxisParts {
    /// An axis that had `old_len` items, with no parts yet.
    pub(super) fn new(old_len: u64) -> Self {
        AxisParts { parts: Vec::new(), len: 0, old_len }
    }

    /// Appends a part.
    pub(super) fn push(&mut self, count: u64, from: AxisSource) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let len = self.len.checked_add(count).filter(|&len| len <= i64::MAX as u64);
        let len = len.ok_or_else(|| {
            Error::too_large(i64::MAX as u64, "an axis would be longer than the format allows")
        })?;
        match self.parts.last_mut() {
            // A part that continues the last one is merged with it.
            Some(last) if last.from.skip(last.count) == from => last.count += count,
            _ => {
                let bytes = (self.parts.len() as u64).saturating_mul(size_of::<AxisPart>() as u64);
                let refused = |_| Error::out_of_memory("the parts of an axis", bytes);
                self.parts.try_reserve(1).map_err(refused)?;
                self.parts.push(AxisPart { start: self.len, count, from });
            }
        }
        self.len = len;
        Ok(())
    }

    /// An axis that stays as it is.
    pub(super) fn kept(len: u64) -> Result<Self> {
        AxisParts::spliced(len, len..len, 0)
    }

    /// An axis whose items `removed` give way to `inserted` new ones of source 0.
    pub(super) fn spliced(old_len: u64, removed: Range<u64>, inserted: u64) -> Result<Self> {
        let mut axis = AxisParts::new(old_len);
        axis.push(removed.start, AxisSource::Old(0))?;
        axis.push(inserted, AxisSource::New { source: 0, at: 0 })?;
        axis.push(old_len.saturating_sub(removed.end), AxisSource::Old(removed.end))?;
        Ok(axis)
    }

    /// An axis without the items at these indices, which do not descend.
    pub(super) fn without(old_len: u64, removed: impl Iterator<Item = u64>) -> Result<Self> {
        let (mut axis, mut at) = (AxisParts::new(old_len), 0);
        for index in removed {
            axis.push(index.saturating_sub(at), AxisSource::Old(at))?;
            at = index.saturating_add(1);
        }
        axis.push(old_len.saturating_sub(at), AxisSource::Old(at))?;
        Ok(axis)
    }

    /// The length that the axis gets.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Whether nothing changes.
    pub(super) fn is_kept(&self) -> bool {
        self.len == self.old_len && self.parts.iter().all(|part| part.from == AxisSource::Old(part.start))
    }

    /// The parts of the indices `range` of the new axis, cut to it.
    pub(super) fn within(&self, range: Range<u64>) -> impl Iterator<Item = AxisPart> + Clone + '_ {
        let first = self.parts.partition_point(|part| part.start + part.count <= range.start);
        let touched = self.parts[first..].iter().take_while(move |part| part.start < range.end);
        touched.map(move |part| {
            let skipped = range.start.saturating_sub(part.start);
            let start = part.start + skipped;
            let count = (part.start + part.count).min(range.end) - start;
            AxisPart { start, count, from: part.from.skip(skipped) }
        })
    }

    /// Where the indices `range` of the new axis were, to be read from the axis as it was; `None` where some are new.
    pub(super) fn old(&self, range: Range<u64>) -> Result<Option<Axis>> {
        let mut parts = self.within(range.clone()).map(|part| match part.from {
            AxisSource::Old(at) => Some(at..at + part.count),
            AxisSource::New { .. } => None,
        });
        if let (Some(Some(only)), None) = (parts.next(), parts.next()) {
            return Ok(Some(Axis::from(only)));
        }
        // A chunk has fewer than 2^31 items.
        let mut list = reserved("the indices of a chunk", (range.end - range.start) as usize)?;
        for part in self.within(range) {
            let AxisSource::Old(at) = part.from else { return Ok(None) };
            list.extend((at..at + part.count).map(u64::cast_signed));
        }
        Ok(Some(Axis::List(list)))
    }

    /// What becomes of chunk `chunk` of the new axis; `source_len` tells how long an incoming source is.
    pub(super) fn fate(&self, chunk: u64, chunk_len: u64, source_len: impl Fn(usize) -> u64) -> ChunkSource {
        let start = chunk * chunk_len;
        let range = start..(start + chunk_len).min(self.len);
        let count = range.end - range.start;
        let mut parts = self.within(range);
        let (Some(part), None) = (parts.next(), parts.next()) else { return ChunkSource::Mixed };
        // A chunk at an edge is the same only where the edge is: what lies past it is padding.
        let whole = |at: u64, len: u64| at.is_multiple_of(chunk_len) && (len - at).min(chunk_len) == count;
        match part.from {
            AxisSource::Old(at) if whole(at, self.old_len) => ChunkSource::Old(at / chunk_len),
            AxisSource::Old(_) => ChunkSource::Mixed,
            AxisSource::New { source, at } if whole(at, source_len(source)) => {
                ChunkSource::New { source, chunk: at / chunk_len }
            }
            AxisSource::New { source, .. } => ChunkSource::Within(source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The new axis item by item: `Ok(old index)` or `Err((source, index))`.
    fn items(axis: &AxisParts, range: Range<u64>) -> Vec<Result<u64, (usize, u64)>> {
        let mut items = Vec::new();
        for part in axis.within(range.clone()) {
            assert_eq!(part.start, range.start + items.len() as u64);
            items.extend((0..part.count).map(|n| match part.from.skip(n) {
                AxisSource::Old(at) => Ok(at),
                AxisSource::New { source, at } => Err((source, at)),
            }));
        }
        items
    }

    proptest! {
        #[test]
        fn a_splice_is_a_vecs_splice(
            len in 0u64..40, from in 0u64..40, removed in 0u64..40, inserted in 0u64..40, chunk in 1u64..12,
        ) {
            let start = from.min(len);
            let end = (start + removed).min(len);
            let axis = AxisParts::spliced(len, start..end, inserted).unwrap();
            let mut naive: Vec<_> = (0..len).map(Ok).collect();
            naive.splice(start as usize..end as usize, (0..inserted).map(|at| Err((0, at))));
            prop_assert_eq!(axis.len(), naive.len() as u64);
            prop_assert_eq!(items(&axis, 0..axis.len()), naive.clone());
            prop_assert_eq!(axis.is_kept(), naive.len() as u64 == len && naive.iter().zip(0..).all(|(&item, n)| item == Ok(n)));
            for (n, due) in naive.chunks(chunk as usize).enumerate() {
                let n = n as u64;
                let range = n * chunk..(n * chunk + due.len() as u64);
                prop_assert_eq!(items(&axis, range), due);
                let old = |c: u64| (c * chunk..((c + 1) * chunk).min(len)).map(Ok).collect::<Vec<_>>();
                let new = |c: u64| (c * chunk..((c + 1) * chunk).min(inserted)).map(|at| Err((0, at))).collect::<Vec<_>>();
                match axis.fate(n, chunk, |_| inserted) {
                    ChunkSource::Old(c) => prop_assert_eq!(due, old(c)),
                    ChunkSource::New { source: 0, chunk: c } => prop_assert_eq!(due, new(c)),
                    ChunkSource::Within(0) => prop_assert!(due.iter().all(Result::is_err)),
                    ChunkSource::Mixed => {
                        let wholes = (0..len.div_ceil(chunk)).map(old).chain((0..inserted.div_ceil(chunk)).map(new));
                        prop_assert!(wholes.into_iter().all(|whole| whole != due));
                        prop_assert!(due.iter().any(Result::is_ok));
                    }
                    other => prop_assert!(false, "{:?}", other),
                }
            }
        }
    }

    #[test]
    fn what_is_left_is_read_from_where_it_was() {
        let axis = AxisParts::without(9, [1, 1, 2, 5].into_iter()).unwrap();
        assert_eq!((axis.len(), axis.is_kept()), (6, false));
        assert_eq!(axis.old(0..6).unwrap(), Some(Axis::from([0, 3, 4, 6, 7, 8])));
        assert_eq!(axis.old(3..5).unwrap(), Some(Axis::from(6..8)));
        assert_eq!(AxisParts::spliced(4, 2..2, 1).unwrap().old(1..4).unwrap(), None);
        assert_eq!(AxisParts::spliced(4, 2..2, 1).unwrap().old(2..3).unwrap(), None);
        assert!(AxisParts::without(3, std::iter::empty()).unwrap().is_kept());
    }

    #[test]
    fn nothing_in_between_cuts_nothing() {
        let axis = AxisParts::spliced(2, 1..1, 0).unwrap();
        assert_eq!((axis.is_kept(), axis.fate(0, 2, |_| 0)), (true, ChunkSource::Old(0)));
    }

    #[test]
    fn an_axis_does_not_outgrow_the_format() {
        assert!(AxisParts::spliced(i64::MAX as u64, 0..0, 1).is_err());
        assert!(AxisParts::spliced(5, 0..5, u64::MAX).is_err());
    }
}
