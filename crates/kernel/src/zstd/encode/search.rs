//! The search for matches: greedy, with one table of hashed words, and the last offset tried first.

use super::grow;
use super::sequences::MatchSequence;
use crate::wide::{common, load, store, word};
use std::hint::select_unpredictable;

/// How many bytes may be written behind the literals.
pub(super) const SLACK: usize = 32;
/// Bytes at the end of the input at which no match is looked for: the room that words need.
const TAIL: usize = 16;
/// Matches have as many bytes at least.
const SHORTEST: usize = 4;
/// The search takes steps one byte longer after each 2^`SKIP_LOG` bytes without a match.
const SKIP_LOG: u32 = 7;

/// What a block becomes: its literals, one after another, and its sequences.
#[derive(Debug, Default)]
pub(super) struct BlockParts {
    /// With [`SLACK`] behind them.
    literals: Vec<u8>,
    len: usize,
    pub(super) sequences: Vec<MatchSequence>,
}

impl BlockParts {
    pub(super) fn literals(&self) -> &[u8] {
        &self.literals[..self.len]
    }

    /// Forgets all, for an input of `len` bytes. `None` where there is no memory.
    fn clear(&mut self, len: usize) -> Option<()> {
        self.sequences.clear();
        self.len = 0;
        grow(&mut self.literals, len + SLACK)?;
        self.sequences.try_reserve_exact(len / SHORTEST).ok()
    }

    /// Takes the bytes from `anchor` to `end` as literals.
    #[inline(always)]
    fn take(&mut self, src: &[u8], anchor: usize, end: usize) {
        let len = end - anchor;
        if anchor + SLACK <= src.len() && self.len + SLACK <= self.literals.len() && len <= SLACK {
            // SAFETY: compared just now.
            let bytes = unsafe { load::<SLACK>(src, anchor) };
            // SAFETY: compared just now.
            unsafe { store(&mut self.literals, self.len, bytes) };
        } else {
            self.literals[self.len..self.len + len].copy_from_slice(&src[anchor..end]);
        }
        self.len += len;
    }
}

/// Where words were seen last: a table of 2^`log` places, by hashes.
#[derive(Debug)]
pub(super) struct Places {
    table: Box<[u16; 1 << MOST_LOG]>,
    log: u32,
    /// What a word is multiplied by; what does not count of it falls off.
    factor: u64,
}

const MOST_LOG: u32 = 14;

impl Places {
    pub(super) fn new() -> Self {
        Places { table: Box::new([0; 1 << MOST_LOG]), log: MOST_LOG, factor: 0 }
    }

    /// Forgets all, for an input of `len` bytes.
    fn clear(&mut self, len: usize) {
        let (log, shortest) = match len {
            0..=2048 => (11, 5),
            2049..=4096 => (12, 5),
            4097..=16_384 => (13, 5),
            _ => (MOST_LOG, 6),
        };
        // A prime near 2^64 divided by the golden ratio.
        (self.log, self.factor) = (log, 0x9E37_79B1_85EB_CA87 << (64 - 8 * shortest));
        self.table[..1 << log].fill(0);
    }

    /// Enters `at`, where `word` stands, and returns the position that stood there before. Nothing is as good as the start of the
    /// input, of which little comes again.
    #[inline(always)]
    fn replace(&mut self, at: usize, word: u64) -> usize {
        let hash = word.wrapping_mul(self.factor) >> (64 - self.log);
        // SAFETY: the hash has `log` bits, which are `MOST_LOG` at most.
        let place = unsafe { self.table.get_unchecked_mut(hash as usize) };
        usize::from(std::mem::replace(place, at as u16))
    }
}

/// The four bytes from `at` on.
///
/// # Safety
/// `at + 4 <= src.len()`.
#[inline(always)]
unsafe fn four(src: &[u8], at: usize) -> u32 {
    // SAFETY: the same contract.
    u32::from_le_bytes(unsafe { load(src, at) })
}

/// How many bytes from `a` on and from `b` on agree.
///
/// # Safety
/// `a < b` and `b <= src.len()`.
#[inline(always)]
unsafe fn forward(src: &[u8], a: usize, b: usize) -> usize {
    let mut len = 0;
    if b + 16 <= src.len() {
        // SAFETY: compared just now, and `a < b`.
        let early = unsafe { load::<16>(src, a) };
        // SAFETY: compared just now.
        let late = unsafe { load::<16>(src, b) };
        let differ = u128::from_le_bytes(early) ^ u128::from_le_bytes(late);
        let (low, high) = (differ as u64, (differ >> 64) as u64);
        if differ != 0 {
            // Without a jump: there is no telling how long a match is.
            let bits = select_unpredictable(low == 0, 64 + high.trailing_zeros(), low.trailing_zeros());
            return (bits >> 3) as usize;
        }
        len = 16;
    }
    // SAFETY: promised by the caller, and looked at above.
    len + unsafe { common(src, a + len, b + len, src.len()) }
}

/// How many bytes before `a` and before `b` agree, of those from `anchor` to `b`.
///
/// # Safety
/// `a < b`, `anchor <= b`, and `b <= src.len()`.
#[inline(always)]
unsafe fn backward(src: &[u8], a: usize, b: usize, anchor: usize) -> usize {
    let most = a.min(b - anchor);
    let mut len = 0;
    if a >= 8 {
        // SAFETY: `8 <= a < b`, which is not behind the end.
        let early = unsafe { word(src, a - 8) };
        // SAFETY: as above.
        let late = unsafe { word(src, b - 8) };
        len = ((early ^ late).leading_zeros() >> 3) as usize;
        if len < 8 {
            return len.min(most);
        }
    }
    while len < most && src[a - 1 - len] == src[b - 1 - len] {
        len += 1;
    }
    len.min(most)
}

/// The last two offsets.
struct Recent {
    one: usize,
    two: usize,
}

impl Recent {
    /// What an offset behind so many literals is written as: the last two have short names; without literals the last one has none,
    /// and the other that of the last.
    #[inline(always)]
    fn name(&mut self, offset: usize, literals: usize) -> u32 {
        let is_bare = literals == 0;
        let is_last = offset == self.one && !is_bare;
        let name = select_unpredictable(offset == self.two, 2 - usize::from(is_bare), offset + 3);
        self.two = select_unpredictable(is_last, self.two, self.one);
        self.one = offset;
        select_unpredictable(is_last, 1, name) as u32
    }
}

/// Looks for a match at `at` and behind it, and at the third place for one with the last offset: where it begins, and where the same
/// four bytes were before.
///
/// # Safety
/// `at + 9 <= src.len()`, no place from `at` on is in the table, and the last offset is 1 to `at + 2`.
#[inline(always)]
unsafe fn find(src: &[u8], at: usize, last: usize, places: &mut Places) -> Option<(usize, usize)> {
    // SAFETY: promised by the caller.
    let first = unsafe { word(src, at) };
    // SAFETY: promised by the caller.
    let second = unsafe { word(src, at + 1) };
    let (before, between) = (places.replace(at, first), places.replace(at + 1, second));
    // SAFETY: in front of the third place.
    let again = unsafe { four(src, at + 2 - last) };
    // SAFETY: in front of `at`.
    let found = unsafe { four(src, before) };
    // SAFETY: in front of `at + 1`.
    let beside = unsafe { four(src, between) };
    let (is_again, is_found) = (again == (first >> 16) as u32, found == first as u32);
    if !(is_again | is_found | (beside == second as u32)) {
        return None;
    }
    // Without jumps, as far as it goes: there is no telling what comes.
    let start = at + select_unpredictable(is_found, 0, 1);
    let from = select_unpredictable(is_found, before, between);
    Some((select_unpredictable(is_again, at + 2, start), select_unpredictable(is_again, at + 2 - last, from)))
}

/// Divides the input, of at most 64 KiB, into literals and matches with what came before. `None` where there is no memory.
#[inline(always)]
pub(super) fn divide(src: &[u8], places: &mut Places, parts: &mut BlockParts) -> Option<()> {
    parts.clear(src.len())?;
    places.clear(src.len());
    let mut anchor = 0; // first byte that is in no sequence yet
    let end = src.len().saturating_sub(TAIL);
    // As a frame begins. The second is no more than what lies in front of it from the first match on.
    let mut recent = Recent { one: 1, two: 4 };
    let mut at = 1;
    while at < end {
        // SAFETY: `TAIL` is more than 9; places in the table are in front of `at`; the last offset is one from a place before the end of
        // the last match, or 1.
        let Some((start, from)) = (unsafe { find(src, at, recent.one, places) }) else {
            at += 2 + ((at - anchor) >> SKIP_LOG);
            continue;
        };
        // SAFETY: `from < start`, and `start + SHORTEST` is before the end.
        let stop = start + SHORTEST + unsafe { forward(src, from + SHORTEST, start + SHORTEST) };
        // SAFETY: `from < start`, and `anchor <= start`.
        let begin = start - unsafe { backward(src, from, start, anchor) };
        parts.take(src, anchor, begin);
        let literals = begin - anchor;
        let offset = recent.name(start - from, literals);
        parts.sequences.push(MatchSequence { literals: literals as u32, len: (stop - begin) as u32, offset });
        at = stop;
        if at < end {
            // SAFETY: before `end`.
            let here = unsafe { word(src, at - 2) };
            places.replace(at - 2, here);
        }
        // What was found before the last match often goes on behind it.
        while at < end {
            // SAFETY: before `end`.
            let here = unsafe { word(src, at) };
            // SAFETY: `at` is behind the first match, so no less than the offset.
            if unsafe { four(src, at - recent.two) } != here as u32 {
                break;
            }
            places.replace(at, here);
            let next = at + SHORTEST;
            // SAFETY: before `end`, which is more than `SHORTEST` bytes before the last.
            let len = SHORTEST + unsafe { forward(src, next - recent.two, next) };
            let offset = recent.name(recent.two, 0);
            parts.sequences.push(MatchSequence { literals: 0, len: len as u32, offset });
            at += len;
        }
        anchor = at;
    }
    parts.take(src, anchor, src.len());
    Some(())
}
