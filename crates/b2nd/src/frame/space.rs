//! Which bytes of a contiguous frame may be written: those past its end, and dead ones that nobody can need any more.
//!
//! Dead bytes are what commits stop referring to: replaced chunks, old offsets and trailers. They are written again only
//!
//! 1. after the header that stopped referring to them is on the medium (or the caller does without), as a crash brings
//!    back the header that is on the medium ([`Space::synced`]), and
//! 2. after a moment in which no reader held an older state than the current one ([`Space::release`]).
//!
//! Both hold for good once they hold, as nothing comes to refer to old bytes again. Knows numbers only, no file.

use super::extents::Extents;
use std::ops::Range;

/// The share of a frame that is left between its chunks and what follows them, for chunks to come: one part of so many.
const SLACK: u64 = 16;
/// So many dead bytes are nothing to do anything about.
const RESERVE: u64 = 16 << 10;
/// How many holes are looked at for a chunk that moves.
const LOOKS: usize = 128;
/// The most bytes that are left between the chunks and what follows them, for chunks to come.
const MAX_SLACK: u64 = 64 << 20;

/// The places of a contiguous frame, as its writer knows them.
#[derive(Debug, Default)]
pub(crate) struct Space {
    /// Whether dead bytes are written again.
    reuse: bool,
    /// May be written.
    free: Extents,
    /// Dead, and perhaps still read by somebody.
    waiting: Extents,
    /// Dead by a header that is perhaps not on the medium yet.
    unsynced: Extents,
    /// Written since the last commit, where it was free before.
    taken: Extents,
    /// Offsets and trailer of the last commit.
    tail: Range<u64>,
    /// Past everything in the file.
    end: u64,
    /// The same at the last commit.
    committed_end: u64,
}

impl Space {
    /// A frame whose offsets and trailer are `tail`, in a file of `end` bytes. What follows the frame there is dead.
    pub(crate) fn new(reuse: bool, tail: Range<u64>, end: u64) -> Self {
        let end = end.max(tail.end);
        let mut space = Space { reuse, end, committed_end: end, ..Space::default() };
        space.unsynced.insert(tail.end, end);
        space.tail = tail;
        space
    }
    /// Past everything in the file.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }
    /// The length of the file at the last commit.
    pub(crate) fn committed_end(&self) -> u64 {
        self.committed_end
    }
    /// Bytes that are known to be dead.
    pub(crate) fn dead(&self) -> u64 {
        self.free.total().saturating_add(self.waiting.total()).saturating_add(self.unsynced.total())
    }
    /// Whether dead bytes are written again.
    pub(crate) fn reuses(&self) -> bool {
        self.reuse
    }
    /// Whether there are dead bytes that somebody may still read.
    pub(crate) fn is_waiting(&self) -> bool {
        self.reuse && !self.waiting.is_empty()
    }
    /// What was written since the last commit, in bytes.
    pub(crate) fn written(&self) -> u64 {
        self.taken.total()
    }
    /// Whether there are dead bytes that may be written.
    pub(crate) fn has_room(&self) -> bool {
        !self.free.is_empty()
    }
    /// Whether the file goes on behind `end`, which may be changed.
    pub(crate) fn ends_behind(&self, end: u64) -> bool {
        self.reuse && self.end > end
    }
    /// Whether some of the dead bytes wait for a header to be on the medium.
    pub(crate) fn is_unsynced(&self) -> bool {
        !self.unsynced.is_empty()
    }
    /// Whether more than this share of the file (in percent of what is in use) is dead.
    pub(crate) fn is_loose(&self, percent: u64) -> bool {
        let dead = self.dead();
        dead > RESERVE && dead.saturating_mul(100) > self.end.saturating_sub(dead).saturating_mul(percent)
    }
    /// From now on dead bytes stay as they are: after something went wrong it is not known what a crash brings back.
    pub(crate) fn give_up(&mut self) {
        *self = Space { end: self.end, committed_end: self.committed_end, ..Space::default() };
    }
    /// Everything that was written by now is on the medium, the header of the last commit too.
    pub(crate) fn synced(&mut self) {
        self.waiting.absorb(&mut self.unsynced);
    }
    /// Nobody reads an older state than the current one.
    pub(crate) fn release(&mut self) {
        if self.reuse {
            self.free.absorb(&mut self.waiting);
        }
    }
    /// Bytes of the last commit that turn out to be dead.
    pub(crate) fn found(&mut self, dead: Range<u64>) {
        self.unsynced.insert(dead.start, dead.end);
    }

    /// A place for a chunk: the dead bytes that it fills best, else past the end.
    pub(crate) fn allocate(&mut self, len: u64) -> u64 {
        let start = self.free.best(len).unwrap_or_else(|| {
            let start = self.past_end();
            // With the offsets and trailer before it, a free end makes a hole for the next one like this.
            let joins = self.tail.end == start && self.end.saturating_sub(self.tail.start) >= len;
            if joins { self.end } else { start }
        });
        self.take(start, len);
        start
    }
    /// A place among dead bytes before `limit`, for a chunk that is to move there from behind it; still to be taken.
    pub(crate) fn place_before(&self, len: u64, limit: u64) -> Option<u64> {
        // Of many holes that are too small none is looked at.
        self.free.fitting(len, LOOKS).find(|start| start.saturating_add(len) <= limit)
    }
    /// The longest stretches that may be written, at most `count`.
    pub(crate) fn largest_free(&self, count: usize) -> Vec<(u64, u64)> {
        self.free.largest().take(count).collect()
    }
    /// A place for offsets and trailer, which stand behind all chunks: these end at `floor`. Still to be taken.
    ///
    /// They change places between two or three stretches at the end of the file, as far behind as there is room, or, where
    /// chunks have moved `inwards` or there is much room, as near. Where chunks come and the end of the file has to move, room is left between
    /// them and the end, for chunks to come: else each commit would leave a hole in which no chunk fits. Not in a new
    /// frame (`first`).
    pub(crate) fn place_for_tail(&self, len: u64, floor: u64, first: bool, inwards: bool) -> u64 {
        let fits = |(start, end): &(u64, u64)| end.saturating_sub(*start) >= len;
        let loose = self
            .free
            .from(floor)
            .fold(0u64, |sum, (start, end)| sum.saturating_add(end.saturating_sub(start)));
        let place = if inwards || loose > self.much() {
            self.free.from(floor).find(fits).map(|(start, _)| start)
        } else {
            self.free.from(floor).rfind(fits).map(|(_, end)| end.saturating_sub(len))
        };
        place.unwrap_or_else(|| {
            let start = self.past_end().max(floor);
            start.saturating_add(if first { 0 } else { self.slack() })
        })
    }
    /// How much room is left for chunks to come: for at least as many bytes as came with this commit.
    fn slack(&self) -> u64 {
        let came = self.taken.total();
        let slack = (self.end.saturating_sub(self.dead()) / SLACK).min(MAX_SLACK);
        if self.reuse && came > 0 && came <= slack { slack } else { 0 }
    }
    fn past_end(&self) -> u64 {
        self.free.ending_at(self.end).unwrap_or(self.end)
    }
    /// These bytes are about to be written.
    pub(crate) fn take(&mut self, start: u64, len: u64) {
        let stop = start.saturating_add(len);
        if start > self.end {
            // Nobody has ever written there.
            self.free.insert(self.end, start);
        }
        self.taken.insert(start, stop);
        self.free.remove(start, stop);
        self.end = self.end.max(stop);
    }

    /// The commit is done: `dead` are the stretches that it stopped referring to, besides the old offsets and trailer, and
    /// `synced` says that its header is on the medium (or that nobody cares).
    pub(crate) fn commit(&mut self, tail: Range<u64>, dead: &[Range<u64>], synced: bool) {
        let old = std::mem::replace(&mut self.tail, tail);
        for range in dead.iter().chain([&old]) {
            // A chunk that lies about its length may reach into what is there already, and would make it free twice.
            let mut gone = Extents::default();
            gone.insert(range.start, range.end);
            gone.remove(self.tail.start, self.tail.end);
            for known in [&self.free, &self.waiting, &self.unsynced] {
                gone.remove_common(known, range.start, range.end);
            }
            let list = if synced { &mut self.waiting } else { &mut self.unsynced };
            list.absorb(&mut gone);
        }
        self.taken = Extents::default();
        self.committed_end = self.end;
    }
    /// The file has so many bytes: a write has failed.
    pub(crate) fn reaches(&mut self, len: u64) {
        self.end = len.max(self.committed_end);
    }
    /// What was written since the last commit is forgotten, and the file as long as it was.
    pub(crate) fn rollback(&mut self) {
        self.end = self.committed_end;
        self.free.absorb(&mut self.taken);
        self.free.remove(self.end, u64::MAX);
    }
    /// More dead bytes than this at the end of the file go.
    pub(crate) fn much(&self) -> u64 {
        (self.end / 8).max(RESERVE)
    }
    /// The length to which the file can be cut, where that takes more than `least` bytes: nothing behind it is in use.
    pub(crate) fn loose_end(&self, least: u64) -> Option<u64> {
        let start = self.free.ending_at(self.end)?.max(self.tail.end);
        (self.end.saturating_sub(start) > least).then_some(start)
    }
    /// The file was cut to a length that [`Space::loose_end`] said.
    pub(crate) fn cut(&mut self, len: u64) {
        self.free.remove(len, self.end);
        (self.end, self.committed_end) = (len, len);
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "a test may fail")]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[derive(Debug, Clone)]
    enum Op {
        Put { chunk: usize, len: u64 },
        Commit { tail: u64, synced: bool },
        Rollback,
        Synced,
        Release,
        Cut,
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![
            6 => (0usize..12, 1u64..300).prop_map(|(chunk, len)| Op::Put { chunk, len }),
            5 => (1u64..120, any::<bool>()).prop_map(|(tail, synced)| Op::Commit { tail, synced }),
            1 => Just(Op::Rollback),
            2 => Just(Op::Synced),
            3 => Just(Op::Release),
            1 => Just(Op::Cut),
        ]
    }

    /// What one header refers to.
    type State = Vec<Range<u64>>;

    fn meets(state: &State, range: &Range<u64>) -> bool {
        state.iter().any(|held| held.start < range.end && range.start < held.end)
    }

    proptest! {
        #[test]
        fn nothing_is_written_over_that_a_header_or_a_reader_may_need(ops in prop::collection::vec(op(), 1..200)) {
            let first = 100..150;
            let mut space = Space::new(true, first.clone(), 150);
            let mut chunks: BTreeMap<usize, Range<u64>> = BTreeMap::new();
            let mut before = chunks.clone();
            // States that a crash may bring back, and those that readers may hold; the last is the current one.
            let (mut media, mut readers): (Vec<State>, Vec<State>) = (vec![vec![first.clone()]], vec![vec![first]]);
            let (mut written, mut dead): (State, State) = (Vec::new(), Vec::new());
            let check = |range: &Range<u64>, written: &State, media: &[State], readers: &[State]| {
                assert!(range.start >= 100 && !meets(written, range));
                assert!(!media.iter().chain(readers).any(|state| meets(state, range)), "{range:?}");
            };
            for op in ops {
                match op {
                    Op::Put { chunk, len } => {
                        let start = space.allocate(len);
                        check(&(start..start + len), &written, &media, &readers);
                        written.push(start..start + len);
                        dead.extend(chunks.insert(chunk, start..start + len));
                    }
                    Op::Commit { tail, synced } => {
                        let floor = chunks.values().map(|range| range.end).max().unwrap_or(100);
                        let start = space.place_for_tail(tail, floor, false, tail % 2 == 0);
                        space.take(start, tail);
                        let tail = start..start + tail;
                        assert!(tail.start >= floor);
                        check(&tail, &written, &media, &readers);
                        space.commit(tail.clone(), &dead, synced);
                        let state: State = chunks.values().cloned().chain([tail]).collect();
                        assert!(state.iter().all(|range| range.end <= space.end()));
                        if synced { media.clear(); }
                        media.push(state.clone());
                        readers.push(state);
                        before.clone_from(&chunks);
                        (written, dead) = (Vec::new(), Vec::new());
                    }
                    Op::Rollback => {
                        space.rollback();
                        chunks.clone_from(&before);
                        (written, dead) = (Vec::new(), Vec::new());
                        assert_eq!(space.end(), space.committed_end());
                    }
                    Op::Synced => {
                        space.synced();
                        media = media.pop().into_iter().collect();
                    }
                    Op::Release => {
                        space.release();
                        readers = readers.pop().into_iter().collect();
                    }
                    Op::Cut if written.is_empty() => if let Some(len) = space.loose_end(20) {
                        space.cut(len);
                        let held = media.iter().chain(&readers).flatten();
                        assert!(held.into_iter().all(|range| range.end <= len));
                    },
                    Op::Cut => {}
                }
            }
        }
    }
}
