//! Ranges that are wanted and not asked for yet, joined into requests when there is room for one.

use crate::pace::StorePace;
use b2nd::io::{FileId, FileRange};
use std::collections::BTreeMap;
use std::ops::Range;

/// Joined ranges are read along with at most one unwanted byte for this many wanted ones.
const WANTED_FOR_UNWANTED: u64 = 5;
/// Gaps of more bytes are never read along.
const LARGEST_GAP: u64 = 512 << 10;
/// Requests are not made shorter than this to share work between connections.
const SHORTEST: u64 = 256 << 10;
/// Requests are not joined beyond this.
const LONGEST: u64 = 32 << 20;

/// One request for bytes of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) file: FileId,
    pub(crate) range: Range<u64>,
    /// The ranges that it answers, by their start.
    pub(crate) wanted: Vec<FileRange>,
    /// Whether the file may end inside.
    pub(crate) may_be_short: bool,
}

/// What is wanted and not asked for.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    ranges: BTreeMap<(FileId, u64, u64), FileRange>,
    bytes: u64,
}

impl Wanted {
    pub(crate) fn add(&mut self, ranges: impl IntoIterator<Item = FileRange>) {
        for range in ranges {
            self.bytes = self.bytes.saturating_add(range.len());
            self.ranges.insert((range.file, range.range.start, range.range.end), range);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The next request, where `free` of `slots` connections have none.
    pub(crate) fn next(&mut self, free: usize, slots: usize, pace: StorePace) -> Option<Request> {
        // Equal shares for those that are free; the last bytes are left to several.
        let parts = free.max(slots / 2).max(1) as u64;
        let share = self.bytes.div_ceil(parts);
        let most = share.clamp(SHORTEST, LONGEST);
        let gap = (pace.bytes_of_latency() / 8).min(LARGEST_GAP);
        let first = self.take()?;
        let may_be_short = first.may_be_short;
        let mut request =
            Request { file: first.file, range: first.range.clone(), wanted: vec![first], may_be_short };
        let mut unwanted = 0u64;
        while let Some((_, next)) = self.ranges.first_key_value() {
            let (range, wide) = (&request.range, next.range.end.max(request.range.end));
            let between = next.range.start.saturating_sub(range.end);
            let len = wide.saturating_sub(range.start);
            let loss = unwanted.saturating_add(between);
            let fits = next.file == request.file
                && next.may_be_short == request.may_be_short
                && between <= gap
                && len <= most
                && loss.saturating_mul(WANTED_FOR_UNWANTED) <= len.saturating_sub(loss);
            if !fits {
                break;
            }
            (request.range.end, unwanted) = (wide, loss);
            request.wanted.extend(self.take());
        }
        Some(request)
    }

    fn take(&mut self) -> Option<FileRange> {
        let (_, range) = self.ranges.pop_first()?;
        self.bytes = self.bytes.saturating_sub(range.len());
        Some(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const PACE: StorePace = StorePace::new(Duration::from_millis(40), 50_000_000);

    /// Start and end of each request.
    fn requests(ranges: &[Range<u64>], slots: usize) -> Vec<(u64, u64)> {
        let mut wanted = Wanted::default();
        wanted.add(ranges.iter().map(|range| FileRange::new(FileId::Frame, range.clone())));
        let mut found = Vec::new();
        while let Some(request) = wanted.next(slots.saturating_sub(found.len()), slots, PACE) {
            assert!(request.wanted.is_sorted_by_key(|wanted| wanted.range.start));
            assert!(
                request.wanted.iter().all(|one| {
                    request.range.start <= one.range.start && one.range.end <= request.range.end
                })
            );
            found.push((request.range.start, request.range.end));
        }
        found
    }

    #[test]
    fn neighbours_are_one_request_and_few_bytes_between_them_are_read_along() {
        assert_eq!(requests(&[10_000..20_000, 0..10_000], 8), [(0, 20_000)]);
        assert_eq!(requests(&[0..10_000, 11_000..21_000], 8), [(0, 21_000)]);
        assert_eq!(requests(&[0..10_000, 15_000..25_000], 8), [(0, 10_000), (15_000, 25_000)]);
        assert_eq!(requests(&[0..100_000, 50_000..60_000], 8), [(0, 100_000)]);
    }

    #[test]
    fn long_reads_are_shared_between_connections() {
        let chunks: Vec<_> = (0..800u64).map(|n| n * 10_000..(n + 1) * 10_000).collect();
        let found = requests(&chunks, 8);
        assert!((8..=14).contains(&found.len()), "{}", found.len());
        assert!(found.iter().all(|(start, end)| end - start <= 1_010_000));
    }

    #[test]
    fn ranges_of_other_files_stay_alone() {
        let mut wanted = Wanted::default();
        let short = |n| {
            let mut range = FileRange::new(FileId::Chunk(n), 0..100);
            range.may_be_short = true;
            range
        };
        wanted.add([short(1), short(2), FileRange::new(FileId::Chunk(1), 100..200)]);
        let found: Vec<_> = std::iter::from_fn(|| wanted.next(4, 4, PACE)).collect();
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|request| request.wanted.len() == 1));
        let mut later = short(1);
        later.range = 101..300;
        wanted.add([later, short(1)]);
        let joined = wanted.next(4, 4, PACE).unwrap();
        assert!(joined.may_be_short && joined.wanted.len() == 2);
    }
}
