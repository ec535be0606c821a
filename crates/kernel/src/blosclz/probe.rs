//! Estimates from a part of the input whether compressing it is worthwhile.

use super::MAX_NEAR;
use crate::wide::{common, word};

/// The part that is examined, and the ratio that it must reach.
///
/// The guess counts what an encoder would write that takes matches of at least seven bytes, as the guess of C-Blosc2's
/// encoder does. So both give up on nearly the same streams, and their speeds and sizes can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// The part is the last 1/`divisor` of the input, or the start of that.
    pub divisor: usize,
    /// The longest part, at most 16384 bytes.
    pub most: usize,
    /// The ratio to be reached, in hundredths.
    pub percent: usize,
}

/// Shorter parts are too short for an estimate.
const MIN_PART: usize = 32;
/// Longer parts would not fit the table's numbers.
const MAX_PART: usize = 1 << 14;
/// Bytes at the end of the part that start no match.
const TAIL: usize = 12;
/// The shortest match that counts.
const SHORTEST: usize = 7;
/// The most bits of the table: small enough to stay in the nearest cache.
const MAX_LOG: u32 = 13;
/// After 2^this steps without a match, steps become one byte longer,
const SKIP_LOG: u32 = 9;
/// up to this length.
const MAX_STEP: usize = 4;

/// The table of a probe: where a hashed word was last seen, or 0. Kept between calls for its memory alone.
pub(super) type Sketch = Vec<u16>;

impl Probe {
    /// Whether a part of `src` makes it likely that the ratio is reached.
    pub(super) fn pays(&self, src: &[u8], sketch: &mut Sketch) -> bool {
        let len = src.len() / self.divisor.max(1);
        let start = src.len() - len;
        let part = &src[start..start + len.min(self.most).min(MAX_PART)];
        if part.len() < MIN_PART {
            return true;
        }
        let log = part.len().ilog2().min(MAX_LOG);
        sketch.clear();
        sketch.resize(1 << log, 0);
        self.reached(&mut Part { src: part, table: sketch, shift: 32 - log })
    }

    /// The estimate for at least [`MIN_PART`] bytes.
    fn reached(&self, part: &mut Part<'_>) -> bool {
        let last = part.src.len() - 1;
        // The most bytes of output that still reach the ratio.
        let most = (last * 100).div_ceil(self.percent.max(1)) + 1;
        // `run` is the number of literals since the last match or, of 32 each, the last control byte.
        let (mut anchor, mut out, mut run) = (0, 5, 4);
        while let Some(Found { at, distance, differ }) = part.next(anchor, most.saturating_sub(out)) {
            let literals = run + at - anchor;
            // A match after no literals gives back the control byte reserved for literals.
            out = out + (at - anchor) + literals / 32 - usize::from(literals % 32 == 0);
            let len = if differ != 0 {
                SHORTEST
            } else {
                // SAFETY: `at + 8` is before the last byte, and `distance <= at`.
                8 + unsafe { common(part.src, at - distance + 8, at + 8, last) }
            };
            // That encoder leaves out the last byte of a match, and counts lengths from 2.
            anchor = (at + len + 1).min(last) - 2;
            let coded = anchor - 2 - at;
            out += 1 + if distance <= MAX_NEAR { 2 } else { 4 };
            if coded >= 7 {
                out += (coded - 7) / 255 + 1;
            }
            run = 0;
            part.enter(anchor - 2);
            let left = last - anchor.min(last);
            if out + left + left / 32 + 2 < most {
                return true;
            }
        }
        let literals = part.src.len() - anchor.min(part.src.len());
        part.src.len() * 100 >= (out + literals + literals / 32) * self.percent
    }
}

/// A match of [`SHORTEST`] bytes, or more.
struct Found {
    at: usize,
    distance: usize,
    /// XOR of the first 8 bytes of both places.
    differ: u64,
}

/// The bytes that are examined, and their hash table.
struct Part<'a> {
    src: &'a [u8],
    table: &'a mut [u16],
    shift: u32,
}

impl Part<'_> {
    /// Enters position `at` of `word`, and returns the earlier entry, or 0.
    #[inline(always)]
    fn replace(&mut self, at: usize, word: u64) -> usize {
        // Hashes the first four bytes. The factor is a prime near 2^32 divided by the golden ratio.
        let hash = (word as u32).wrapping_mul(0x9E37_79B1) >> self.shift;
        usize::from(std::mem::replace(&mut self.table[hash as usize & (self.table.len() - 1)], at as u16))
    }

    /// Enters a position without looking up the earlier entry.
    #[inline(always)]
    fn enter(&mut self, at: usize) {
        if at + 8 <= self.src.len() {
            // SAFETY: compared just now.
            let word = unsafe { word(self.src, at) };
            self.replace(at, word);
        }
    }

    /// The next match from `at` on; `None` where there is none within `most` bytes.
    #[inline(always)]
    fn next(&mut self, at: usize, most: usize) -> Option<Found> {
        let end = (self.src.len() - TAIL).min(at + most);
        let mut at = at.max(1);
        let mut step = 1;
        while at < end {
            let stop = end.min(at + (step << SKIP_LOG));
            while at < stop {
                // SAFETY: `at < end`, behind which there are `TAIL` bytes.
                let late = unsafe { word(self.src, at) };
                let before = self.replace(at, late);
                // SAFETY: the table has earlier places of this part, or 0.
                let early = unsafe { word(self.src, before) };
                let differ = late ^ early;
                if differ << (64 - 8 * SHORTEST) == 0 {
                    return Some(Found { at, distance: at - before, differ });
                }
                at += step;
            }
            step = (step + 1).min(MAX_STEP);
        }
        None
    }
}
