//! Joins ranges that are cheaper to read together than one by one.

use super::RangeCosts;
use std::ops::Range;

/// Wanted ranges that are read as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Merged {
    /// How many of the wanted ranges it joins.
    pub(crate) count: usize,
    /// From the lowest start to the highest end of them.
    pub(crate) range: Range<u64>,
}

impl Merged {
    /// The start and the length of the range, for a buffer.
    pub(crate) fn start_and_len(&self) -> (u64, usize) {
        let len = self.range.end.saturating_sub(self.range.start);
        (self.range.start, usize::try_from(len).unwrap_or(usize::MAX))
    }
}

/// Joins neighbours among `spans` as `costs` allow, and yields the joined ranges in the same order.
///
/// A span joins the range before it where no more than the gap lies between them, and the range does not become longer than the
/// most bytes. Sorted spans give sorted ranges. Spans in another order are joined where neighbours in that order lie close together.
pub(crate) fn merge_ranges<I: Iterator<Item = Range<u64>>>(spans: I, costs: RangeCosts) -> MergeRanges<I> {
    MergeRanges { spans, next: None, costs }
}

/// The iterator of [`merge_ranges`].
pub(crate) struct MergeRanges<I: Iterator<Item = Range<u64>>> {
    spans: I,
    /// A span that did not fit the range before it.
    next: Option<Range<u64>>,
    costs: RangeCosts,
}

impl<I: Iterator<Item = Range<u64>>> Iterator for MergeRanges<I> {
    type Item = Merged;

    #[inline]
    fn next(&mut self) -> Option<Merged> {
        let mut range = self.next.take().or_else(|| self.spans.next())?;
        let mut count = 1;
        for span in self.spans.by_ref() {
            let joined = range.start.min(span.start)..range.end.max(span.end);
            let between = span.start.saturating_sub(range.end).max(range.start.saturating_sub(span.end));
            let long = joined.end.saturating_sub(joined.start) > self.costs.most;
            // A span of any length is read, with those that lie inside it.
            if between > self.costs.gap || long && joined != range && joined != span {
                self.next = Some(span);
                break;
            }
            (range, count) = (joined, count + 1);
        }
        Some(Merged { count, range })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn merged(spans: &[Range<u64>], gap: u64, most: u64) -> Vec<Merged> {
        merge_ranges(spans.iter().cloned(), RangeCosts::new(gap, most)).collect()
    }

    /// Whether one range holds all of `spans` at these costs, by looking at each byte between them.
    fn fits(spans: &[Range<u64>], gap: u64, most: u64) -> bool {
        let start = spans.iter().map(|span| span.start).min().unwrap();
        let end = spans.iter().map(|span| span.end).max().unwrap();
        let (mut unwanted, mut longest) = (0, 0);
        for byte in start..end {
            let wanted = spans.iter().any(|span| span.contains(&byte));
            unwanted = if wanted { 0 } else { unwanted + 1 };
            longest = longest.max(unwanted);
        }
        let alone = spans.contains(&(start..end));
        longest <= gap && (alone || end - start <= most)
    }

    fn spans() -> impl Strategy<Value = Vec<Range<u64>>> {
        proptest::collection::vec((0u64..400, 1u64..40).prop_map(|(start, len)| start..start + len), 0..30)
    }

    proptest! {
        #[test]
        fn sorted_spans_become_the_longest_ranges_that_the_costs_allow(
            mut spans in spans(), gap in 0u64..30, most in 1u64..200,
        ) {
            spans.sort_unstable_by_key(|span| (span.start, span.end));
            let (ranges, mut rest) = (merged(&spans, gap, most), &spans[..]);
            for Merged { count, range } in &ranges {
                let (now, later) = rest.split_at(*count);
                prop_assert!(now.iter().all(|span| range.start <= span.start && span.end <= range.end));
                prop_assert_eq!(range.start, now[0].start);
                prop_assert_eq!(range.end, now.iter().map(|span| span.end).max().unwrap());
                prop_assert!(fits(now, gap, most), "{:?} are not one range", now);
                if !later.is_empty() {
                    prop_assert!(!fits(&rest[..count + 1], gap, most), "{:?} could be one range", &rest[..count + 1]);
                }
                rest = later;
            }
            prop_assert!(rest.is_empty());
            prop_assert!(ranges.is_sorted_by_key(|merged| merged.range.start));
        }

        #[test]
        fn spans_in_any_order_are_covered_in_that_order(
            spans in spans(), gap in 0u64..30, most in 1u64..200,
        ) {
            let mut rest = &spans[..];
            for Merged { count, range } in merged(&spans, gap, most) {
                let (now, later) = rest.split_at(count);
                prop_assert!(now.iter().all(|span| range.start <= span.start && span.end <= range.end));
                prop_assert!(fits(now, gap, most), "{:?} are not one range", now);
                rest = later;
            }
            prop_assert!(rest.is_empty());
        }
    }

    #[test]
    fn the_gap_and_the_most_bytes_are_allowed() {
        let spans = [0..10, 14..20, 25..30, 30..40];
        let starts = |gap, most| merged(&spans, gap, most).iter().map(|m| m.range.start).collect::<Vec<_>>();
        assert_eq!(starts(5, 40), [0]);
        assert_eq!(starts(4, 40), [0, 25]);
        assert_eq!(starts(5, 39), [0, 30]);
        assert_eq!(starts(0, 1), [0, 14, 25, 30]);
        assert_eq!(merged(&spans, 4, 40)[1].start_and_len(), (25, 15));
        assert_eq!(merged(&[], 4, 40), []);
    }

    #[test]
    fn blocks_that_were_written_in_another_order_are_one_range() {
        let swapped = [20..30, 10..20, 0..10, 30..40];
        assert_eq!(merged(&swapped, 0, 100), [Merged { count: 4, range: 0..40 }]);
    }
}
