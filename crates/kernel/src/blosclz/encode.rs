//! The encoder: greedy, with one table of hashed sequences.

use super::probe::{Probe, Sketch};
use super::{FAR_BASE, LONG_MATCH, MAX_FAR, MAX_NEAR, MAX_RUN};
use crate::wide::{common, load, store, word};

/// Shorter inputs gain nothing.
const MIN_INPUT: usize = 16;
/// Bytes at the end of the input that start no match: the room that words need, and the final literals.
const TAIL: usize = 12;
/// From here on the positions in the table start over.
const MAX_OFFSET: u32 = 1 << 31;
/// The longest step of the search: behind noise, what compresses is found again within a few bytes.
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
    /// The length from which matches are found, 4 to 8.
    pub shortest: u32,
    /// The length from which a far match, which takes four bytes or five, is worth them.
    pub shortest_far: usize,
    /// Whether two positions of a match enter the table, not one.
    pub dense: bool,
}

/// The hash table, kept between calls. Positions are stored with `offset` added, and `offset` grows with each
/// call: what earlier calls left behind is below it and counts as empty, without any clearing.
#[derive(Debug, Default)]
pub struct Encoder {
    table: Vec<u32>,
    offset: u32,
    sketch: Sketch,
}

impl Encoder {
    /// Encodes `src`, of less than 2 GiB, into `dst`; `None` where the result does not fit or there is nothing to gain.
    ///
    /// The result depends on nothing but the arguments.
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

    /// An encoder whose table has seen this many bytes: for tests of what happens when it has seen too many.
    #[doc(hidden)]
    pub fn start_at(&mut self, offset: u32) {
        self.table.fill(0);
        self.offset = offset;
    }

    /// The table as an empty one for `src`.
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
        // One more than the length: position 0 with the new offset is above all that was stored.
        self.offset += len + 1;
        Some(Search { src, table: self.table.get_mut(..1 << hash_log)?, offset, left, right: 64 - hash_log })
    }
}

/// The input and the table over it, which has a power of two of places.
pub(super) struct Search<'a> {
    pub(super) src: &'a [u8],
    table: &'a mut [u32],
    offset: u32,
    /// Bits by which a word moves up, so that what does not count falls off.
    left: u32,
    /// Bits by which a hash moves down.
    right: u32,
}

impl Search<'_> {
    /// Enters `at`, where `word` stands, into the table and returns the position that stood there before, or 0.
    #[inline(always)]
    pub(super) fn replace(&mut self, at: usize, word: u64) -> usize {
        // A prime near 2^64 divided by the golden ratio.
        let hash = (word << self.left).wrapping_mul(0x9E37_79B1_85EB_CA87) >> self.right;
        let place = &mut self.table[hash as usize & (self.table.len() - 1)];
        let before = std::mem::replace(place, self.offset + at as u32);
        // An empty place is as good as one with the start of the input, of which little comes again.
        before.saturating_sub(self.offset) as usize
    }

    /// As [`Search::replace`], at a place that is in the middle of a match.
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
                // Branches that are foreseen cost less than waiting for the count of zeros.
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

/// A match: `len` bytes at `start` that also stand `distance` before.
#[derive(Clone, Copy)]
struct Match {
    start: usize,
    distance: usize,
    len: usize,
}

impl Match {
    /// The match, grown towards the front over bytes that are not coded yet, or cut where one is.
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

/// The whole encoding. `None` where `dst` is too short.
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
        // Where a match ends, something new begins: the word across the edge often comes again with what follows, and
        // that match is found from the last byte of this one.
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
            // SAFETY: compared just now.
            let literals = unsafe { load::<MAX_RUN>(src, at) };
            // SAFETY: compared just now.
            unsafe { store(dst, out, [(run - 1) as u8]) };
            // Bytes beyond the run are written too: what follows overwrites them.
            // SAFETY: compared just now.
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
            // SAFETY: compared just now.
            unsafe { store(dst, out, [((found.len - 2) as u8) << 5 | high, code as u8]) };
            return Some(out + 2);
        }
        if more < 255 {
            // SAFETY: compared just now.
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
