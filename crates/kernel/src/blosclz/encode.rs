//! The encoder: greedy, with one table of hashed sequences.

use super::probe::{Probe, Sketch};
use super::{FAR_BASE, LONG_MATCH, MAX_FAR, MAX_NEAR, MAX_RUN};
use crate::wide::{common, load, store, word};

/// Shorter inputs gain nothing.
const MIN_INPUT: usize = 16;
/// Bytes at the end of the input where no match starts: reads of whole words need them, and the stream ends with literals.
const TAIL: usize = 12;
/// The largest offset: above it the table is cleared, and the offset starts at 1 again.
const MAX_OFFSET: u32 = 1 << 31;
/// The longest step of the search, so that compressible data after noise is found within a few bytes.
const MAX_STEP: usize = 8;
/// Larger tables would only cost cache.
const MAX_LOG: u32 = 16;

/// How hard to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Bits of the hash table, 8 to 16.
    pub hash_log: u32,
    /// The search takes steps one byte longer after each 2^`skip_log` steps without a match.
    pub skip_log: u32,
    /// The shortest match to look for, 4 to 8 bytes.
    pub shortest: u32,
    /// The shortest far match to use: its code takes four or five bytes.
    pub shortest_far: usize,
    /// Whether two positions of a match are entered into the table instead of one.
    pub dense: bool,
}

/// The hash table, kept between calls. Positions are stored with `offset` added, and `offset` grows with each
/// call. Entries of earlier calls are below `offset` and count as empty, so the table is never cleared.
#[derive(Debug, Default)]
pub struct Encoder {
    table: Vec<u32>,
    offset: u32,
    sketch: Sketch,
}

impl Encoder {
    /// Encodes `src`, of less than 2 GiB, into `dst`; `None` if the result does not fit or is not smaller.
    ///
    /// The result depends on the arguments only, not on earlier calls.
    ///
    /// ```
    /// use b2nd_kernel::blosclz::{Effort, Encoder, decode};
    /// let effort = Effort { hash_log: 12, skip_log: 6, shortest: 5, shortest_far: 8, dense: false };
    /// let (text, mut stream) = ("again and ".repeat(50), [0; 100]);
    /// let len = Encoder::default().encode(&effort, text.as_bytes(), &mut stream).unwrap();
    /// let mut back = [0; 500];
    /// decode(&stream[..len], &mut back).unwrap();
    /// assert_eq!(back, text.as_bytes());
    /// ```
    pub fn encode(&mut self, effort: &Effort, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        if src.len() < MIN_INPUT {
            return None;
        }
        let hash_log = effort.hash_log.clamp(8, MAX_LOG);
        let shortest = effort.shortest.clamp(4, 8);
        let mut search = self.search(src, hash_log, 64 - 8 * shortest)?;
        run(&mut search, effort, dst)
    }

    /// Whether compressing `src` is likely to give the ratio that `probe` asks for.
    pub fn pays(&mut self, probe: &Probe, src: &[u8]) -> bool {
        probe.pays(src, &mut self.sketch)
    }

    /// Sets the offset, for tests of its overflow.
    #[doc(hidden)]
    pub fn start_at(&mut self, offset: u32) {
        self.table.fill(0);
        self.offset = offset;
    }

    /// Prepares the table for `src`: earlier entries count as empty.
    fn search<'a>(&'a mut self, src: &'a [u8], hash_log: u32, left: u32) -> Option<Search<'a>> {
        let len = u32::try_from(src.len()).ok().filter(|len| *len < MAX_OFFSET)?;
        if self.table.len() < 1 << hash_log {
            self.table.resize(1 << hash_log, 0);
        }
        if self.offset == 0 || self.offset >= MAX_OFFSET - len {
            self.table.fill(0);
            self.offset = 1;
        }
        let offset = self.offset;
        // One more than the length, so that position 0 with the new offset is above all stored entries.
        self.offset += len + 1;
        Some(Search { src, table: self.table.get_mut(..1 << hash_log)?, offset, left, right: 64 - hash_log })
    }
}

/// The input and its hash table, whose length is a power of two.
pub(super) struct Search<'a> {
    pub(super) src: &'a [u8],
    table: &'a mut [u32],
    offset: u32,
    /// Left shift of a word before hashing, which drops the bytes that do not count.
    left: u32,
    /// Right shift of a hash, which leaves an index into the table.
    right: u32,
}

impl Search<'_> {
    /// Enters position `at` of `word` into the table, and returns the earlier entry, or 0.
    #[inline(always)]
    pub(super) fn replace(&mut self, at: usize, word: u64) -> usize {
        // A prime near 2^64 divided by the golden ratio.
        let hash = (word << self.left).wrapping_mul(0x9E37_79B1_85EB_CA87) >> self.right;
        let place = &mut self.table[hash as usize & (self.table.len() - 1)];
        let before = std::mem::replace(place, self.offset + at as u32);
        // An empty entry reads as position 0, the start of the input; a false candidate there costs little.
        before.saturating_sub(self.offset) as usize
    }

    /// Enters a position inside a match, without looking up the earlier entry.
    ///
    /// # Safety
    /// `at + 8 <= src.len()`.
    #[inline(always)]
    unsafe fn enter(&mut self, at: usize) {
        // SAFETY: the same contract.
        let word = unsafe { word(self.src, at) };
        self.replace(at, word);
    }

    /// The next match from `at` on, before `end`.
    ///
    /// # Safety
    /// `end + 8 < src.len()`.
    #[inline(always)]
    unsafe fn next(&mut self, mut at: usize, end: usize, effort: &Effort) -> Option<Match> {
        let last = self.src.len() - 1;
        let mut misses = 1_usize << effort.skip_log;
        while at < end {
            // SAFETY: `at < end`.
            let late = unsafe { word(self.src, at) };
            let before = self.replace(at, late);
            // SAFETY: positions in the table are those of earlier calls for this input, so `before < at`, or 0.
            let early = unsafe { word(self.src, before) };
            let differ = late ^ early;
            if differ << self.left == 0 && at - before <= MAX_FAR {
                let (start, distance) = (at, at - before);
                let mut len = 8;
                // A predicted branch costs less than waiting for the count of zeros.
                if differ << 8 != 0 {
                    len = if differ << 16 != 0 { (differ.trailing_zeros() / 8) as usize } else { 6 };
                } else if differ != 0 {
                    len = 7;
                } else {
                    // SAFETY: `before < at < end`, and `end + 8` is before the last byte, which is left out.
                    len += unsafe { common(self.src, before + 8, at + 8, last) };
                }
                if distance <= MAX_NEAR || len >= effort.shortest_far {
                    return Some(Match { start, distance, len });
                }
            }
            at += (misses >> effort.skip_log).min(MAX_STEP);
            misses += 1;
        }
        None
    }
}

/// A match: the `len` bytes at `start` equal those `distance` bytes before.
#[derive(Clone, Copy)]
struct Match {
    start: usize,
    distance: usize,
    len: usize,
}

impl Match {
    /// Extends the match backwards to `anchor` at most, or cuts it where it begins before `anchor`.
    #[inline(always)]
    fn fitted(mut self, src: &[u8], anchor: usize) -> Match {
        if self.start < anchor {
            self.len -= anchor - self.start;
            self.start = anchor;
        }
        while self.start > anchor && self.start > self.distance {
            let last = self.start - 1;
            if src[last] != src[last - self.distance] {
                break;
            }
            self.start = last;
            self.len += 1;
        }
        self
    }
}

/// Encodes the whole input. `None` if `dst` is too short.
fn run(search: &mut Search<'_>, effort: &Effort, dst: &mut [u8]) -> Option<usize> {
    let src = search.src;
    let end = src.len() - TAIL;
    let mut out = 0;
    let mut anchor = 0; // first byte that is not coded yet
    let mut at = 1; // a stream starts with a literal
    // SAFETY: `src` has more than 8 bytes, as `MIN_INPUT` says.
    unsafe { search.enter(0) };
    // SAFETY: `TAIL` is more than 8.
    while let Some(found) = unsafe { search.next(at, end, effort) } {
        let found = found.fitted(src, anchor.max(1));
        out = write_literals(src, anchor, found.start, dst, out)?;
        out = write_match(dst, out, found)?;
        anchor = found.start + found.len;
        // The word across the end of a match often repeats together with what follows it, and
        // searching from the last byte of this match finds that.
        at = anchor - 1;
        if anchor < end {
            // SAFETY: before `end`.
            unsafe { search.enter(anchor - 3) };
            if effort.dense {
                // SAFETY: before `end`.
                unsafe { search.enter(anchor - 2) };
            }
        }
    }
    out = write_literals(src, anchor, src.len(), dst, out)?;
    *dst.first_mut()? |= 32;
    Some(out)
}

/// Writes the bytes from `at` to `end` as runs of literals; the new end of the output.
#[inline(always)]
fn write_literals(src: &[u8], mut at: usize, end: usize, dst: &mut [u8], mut out: usize) -> Option<usize> {
    while at < end {
        let run = (end - at).min(MAX_RUN);
        if at + MAX_RUN <= src.len() && out + 1 + MAX_RUN <= dst.len() {
            // SAFETY: the condition above has checked the room.
            let literals = unsafe { load::<MAX_RUN>(src, at) };
            // SAFETY: the condition above has checked the room.
            unsafe { store(dst, out, [(run - 1) as u8]) };
            // Bytes past the run are written too; the next write overwrites them.
            // SAFETY: the condition above has checked the room.
            unsafe { store(dst, out + 1, literals) };
        } else {
            *dst.get_mut(out)? = (run - 1) as u8;
            dst.get_mut(out + 1..out + 1 + run)?.copy_from_slice(&src[at..at + run]);
        }
        at += run;
        out += 1 + run;
    }
    Some(out)
}

/// Writes one match; the new end of the output.
#[inline(always)]
fn write_match(dst: &mut [u8], mut out: usize, found: Match) -> Option<usize> {
    let near = found.distance <= MAX_NEAR;
    let code = if near { found.distance - 1 } else { 0x1fff };
    let high = (code >> 8) as u8;
    let more = found.len.wrapping_sub(LONG_MATCH);
    if near && out + 3 <= dst.len() {
        if found.len < LONG_MATCH {
            // SAFETY: the condition above has checked the room.
            unsafe { store(dst, out, [((found.len - 2) as u8) << 5 | high, code as u8]) };
            return Some(out + 2);
        }
        if more < 255 {
            // SAFETY: the condition above has checked the room.
            unsafe { store(dst, out, [7 << 5 | high, more as u8, code as u8]) };
            return Some(out + 3);
        }
    }
    if found.len < LONG_MATCH {
        *dst.get_mut(out)? = ((found.len - 2) as u8) << 5 | high;
        out += 1;
    } else {
        *dst.get_mut(out)? = 7 << 5 | high;
        out += 1;
        let full = more / 255;
        dst.get_mut(out..out + full)?.fill(255);
        out += full;
        *dst.get_mut(out)? = (more % 255) as u8;
        out += 1;
    }
    *dst.get_mut(out)? = (code & 255) as u8;
    out += 1;
    if !near {
        let far = (found.distance - FAR_BASE) as u16;
        dst.get_mut(out..out + 2)?.copy_from_slice(&far.to_be_bytes());
        out += 2;
    }
    Some(out)
}
