//! The BloscLZ encoder: a table of hashed 4-byte sequences, greedy at low levels, looking ahead at high ones.

use super::{FAR_BASE, LONG_MATCH, MAX_FAR, MAX_NEAR, MAX_RUN};

/// Shorter inputs gain nothing.
const MIN_INPUT: usize = 16;
/// Bytes at the end of the input that start no match: the room that wide reads need, and the final literals.
const TAIL: usize = 12;
/// From here on the offsets of the table start over.
pub(super) const MAX_OFFSET: u32 = 1 << 31;

/// What a level means.
struct Effort {
    /// Bits of the hash table.
    hash_log: u32,
    /// The search takes steps one byte longer after each 2^`skip_log` steps without a match.
    skip_log: u32,
    /// The shortest match worth its two or three bytes.
    min_near: usize,
    /// The shortest match worth its four or five bytes.
    min_far: usize,
    /// Whether a match waits for a better one at the next byte.
    lazy: bool,
    /// Whether all positions inside a match enter the table, not only its end.
    dense: bool,
}

impl Effort {
    fn of(clevel: u8) -> Self {
        match clevel {
            ..=1 => Effort { hash_log: 13, skip_log: 4, min_near: 5, min_far: 9, lazy: false, dense: false },
            2 => Effort { hash_log: 13, skip_log: 5, min_near: 5, min_far: 8, lazy: false, dense: false },
            3 => Effort { hash_log: 14, skip_log: 5, min_near: 5, min_far: 8, lazy: false, dense: false },
            4 => Effort { hash_log: 14, skip_log: 6, min_near: 4, min_far: 8, lazy: false, dense: false },
            5 => Effort { hash_log: 14, skip_log: 6, min_near: 4, min_far: 7, lazy: false, dense: false },
            6 => Effort { hash_log: 14, skip_log: 7, min_near: 4, min_far: 7, lazy: false, dense: true },
            7 => Effort { hash_log: 15, skip_log: 7, min_near: 4, min_far: 6, lazy: true, dense: false },
            8 => Effort { hash_log: 15, skip_log: 8, min_near: 4, min_far: 6, lazy: true, dense: true },
            _ => Effort { hash_log: 16, skip_log: 12, min_near: 4, min_far: 6, lazy: true, dense: true },
        }
    }
}

/// The hash table, kept between calls. Positions are stored with `offset` added, and `offset` grows with each
/// call: what earlier calls left behind is below it and counts as empty, without any clearing.
#[derive(Default)]
pub(in crate::codec) struct Encoder {
    table: Vec<u32>,
    offset: u32,
}

/// A match: `len` bytes at `start` that also stand `distance` before.
#[derive(Clone, Copy)]
struct Match {
    start: usize,
    distance: usize,
    len: usize,
}

impl Match {
    /// Bytes saved against literals.
    fn gain(self) -> isize {
        let cost = if self.distance <= MAX_NEAR { 2 } else { 4 } + usize::from(self.len >= LONG_MATCH);
        self.len as isize - cost as isize
    }
}

impl Encoder {
    /// Encodes `src` into `dst`; `None` where the result does not fit or there is nothing to gain.
    pub(in crate::codec) fn encode(&mut self, clevel: u8, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        if src.len() < MIN_INPUT {
            return None;
        }
        let mut effort = Effort::of(clevel);
        // A table larger than the input only costs cache.
        effort.hash_log = effort.hash_log.min(usize::BITS - (src.len() - 1).leading_zeros()).max(8);
        self.prepare(effort.hash_log, src.len());
        let table = self.table.get_mut(..1 << effort.hash_log)?;
        let mut search = Search { src, table, offset: self.offset, shift: 32 - effort.hash_log };
        let end = run(&mut search, &effort, dst);
        // One more than the length: position 0 with the new offset is above all that was stored.
        self.offset += src.len() as u32 + 1;
        end
    }

    /// An encoder whose table has seen this many bytes.
    #[cfg(test)]
    pub(super) fn start_at(&mut self, offset: u32) {
        self.offset = offset;
    }

    fn prepare(&mut self, hash_log: u32, len: usize) {
        if self.table.len() < 1 << hash_log {
            self.table.resize(1 << hash_log, 0);
        }
        // `len` is below 2^31 (see `codec::stream`), so the sum stays below 2^32.
        if self.offset == 0 || u64::from(self.offset) + len as u64 >= u64::from(MAX_OFFSET) {
            self.table.fill(0);
            self.offset = 1;
        }
    }
}

/// The input and the table over it.
struct Search<'a> {
    src: &'a [u8],
    table: &'a mut [u32],
    offset: u32,
    shift: u32,
}

impl Search<'_> {
    #[inline(always)]
    fn word(&self, at: usize) -> u32 {
        match self.src.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
            Some(bytes) => u32::from_le_bytes(*bytes),
            None => 0,
        }
    }

    /// Enters `at` into the table and returns what stood there: an earlier position with (perhaps) the same bytes.
    #[inline(always)]
    fn replace(&mut self, at: usize, word: u32) -> Option<usize> {
        let slot = (word.wrapping_mul(2_654_435_761) >> self.shift) as usize;
        let before = std::mem::replace(self.table.get_mut(slot)?, self.offset + at as u32);
        before.checked_sub(self.offset).map(|before| before as usize)
    }

    /// The match at `at`, at least 4 bytes long, if there is one that is worth coding.
    #[inline(always)]
    fn find(&mut self, at: usize, effort: &Effort) -> Option<Match> {
        let word = self.word(at);
        let before = self.replace(at, word)?;
        let distance = at - before;
        if distance > MAX_FAR || self.word(before) != word {
            return None;
        }
        let len = 4 + self.common(before + 4, at + 4);
        let least = if distance <= MAX_NEAR { effort.min_near } else { effort.min_far };
        (len >= least).then_some(Match { start: at, distance, len })
    }

    /// How many bytes agree from `a` and from `b` (after it) on, leaving the last byte of the input out.
    #[inline(always)]
    fn common(&self, a: usize, b: usize) -> usize {
        let limit = self.src.len() - 1;
        let (Some(late), Some(early)) = (self.src.get(b..limit), self.src.get(a..)) else { return 0 };
        let mut len = 0;
        for (x, y) in late.chunks_exact(8).zip(early.chunks_exact(8)) {
            let (Some(x), Some(y)) = (x.first_chunk::<8>(), y.first_chunk::<8>()) else { break };
            let differ = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
            if differ != 0 {
                return len + (differ.trailing_zeros() / 8) as usize;
            }
            len += 8;
        }
        let rest = late.get(len..).unwrap_or_default().iter().zip(early.get(len..).unwrap_or_default());
        len + rest.take_while(|(x, y)| x == y).count()
    }

    /// The match, grown towards the front over bytes that are not coded yet.
    #[inline(always)]
    fn grow_back(&self, mut found: Match, anchor: usize) -> Match {
        while found.start > anchor && found.start > found.distance {
            let last = found.start - 1;
            if self.src.get(last) != self.src.get(last - found.distance) {
                break;
            }
            found.start = last;
            found.len += 1;
        }
        found
    }
}

/// The whole encoding. `None` where `dst` is too short.
fn run(search: &mut Search<'_>, effort: &Effort, dst: &mut [u8]) -> Option<usize> {
    let src = search.src;
    let last_start = src.len() - TAIL;
    let mut out = 0;
    let mut anchor = 0; // first byte that is not coded yet
    let mut at = 1; // a stream starts with a literal
    let mut misses = 1_usize << effort.skip_log;
    search.replace(0, search.word(0));
    while at < last_start {
        let Some(mut found) = search.find(at, effort) else {
            at += misses >> effort.skip_log;
            misses += 1;
            continue;
        };
        misses = 1 << effort.skip_log;
        if effort.lazy {
            while found.start + 1 < last_start {
                match search.find(found.start + 1, effort) {
                    Some(next) if next.gain() > found.gain() + 1 => found = next,
                    _ => break,
                }
            }
        }
        let entered = found.start + 1;
        let found = search.grow_back(found, anchor.max(1));
        out = write_literals(src, anchor..found.start, dst, out)?;
        out = write_match(dst, out, found)?;
        anchor = found.start + found.len;
        at = anchor;
        let first = if effort.dense { entered } else { anchor - 2 };
        for inside in first.max(entered)..anchor.min(last_start) {
            search.replace(inside, search.word(inside));
        }
    }
    out = write_literals(src, anchor..src.len(), dst, out)?;
    *dst.first_mut()? |= 32;
    Some(out)
}

/// Writes the bytes of `range` as runs of literals; the new end of the output.
#[inline(always)]
fn write_literals(
    src: &[u8],
    range: std::ops::Range<usize>,
    dst: &mut [u8],
    mut out: usize,
) -> Option<usize> {
    let mut at = range.start;
    while at < range.end {
        let run = (range.end - at).min(MAX_RUN);
        *dst.get_mut(out)? = (run - 1) as u8;
        out += 1;
        match (src.get(at..at + MAX_RUN), dst.get_mut(out..out + MAX_RUN)) {
            // Bytes beyond the run are written too: what follows overwrites them.
            (Some(from), Some(to)) => to.copy_from_slice(from),
            _ => dst.get_mut(out..out + run)?.copy_from_slice(src.get(at..at + run)?),
        }
        at += run;
        out += run;
    }
    Some(out)
}

/// Writes one match; the new end of the output.
#[inline(always)]
fn write_match(dst: &mut [u8], mut out: usize, found: Match) -> Option<usize> {
    let near = found.distance <= MAX_NEAR;
    let code = if near { found.distance - 1 } else { 0x1fff };
    let high = (code >> 8) as u8;
    if found.len < LONG_MATCH {
        *dst.get_mut(out)? = ((found.len - 2) as u8) << 5 | high;
        out += 1;
    } else {
        *dst.get_mut(out)? = 7 << 5 | high;
        out += 1;
        let more = found.len - LONG_MATCH;
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
