//! How often each symbol of a table occurs, as a frame says it.

use super::{Refusal, Result};

/// Counts of symbols, which add up to a power of two; -1 is less than once.
pub(super) struct Counts {
    /// The binary logarithm of their sum.
    pub(super) log: u32,
    /// How many symbols there are, with the last that occurs.
    pub(super) len: usize,
    pub(super) counts: [i16; 64],
    /// Whether one of them is -1.
    pub(super) rare: bool,
}

const TOO_MANY: Refusal = Refusal::new("a table has more symbols than there are");

/// Reads the counts of at most `symbols` symbols that `src` begins with, and how many bytes they take.
#[inline(always)]
pub(super) fn read(src: &[u8], most: u32, symbols: usize) -> Result<(Counts, usize)> {
    let mut bits = Forward::new(src);
    let log = 5 + bits.take(4) as u32;
    if log > most {
        return Err(Refusal::new("a table is larger than the format allows"));
    }
    let mut found = Counts { log, len: 0, counts: [0; 64], rare: false };
    let mut rest = 1_u32 << log;
    while rest > 0 {
        if found.len >= symbols {
            return Err(TOO_MANY);
        }
        bits.refill();
        // A value up to `rest + 1`: the smallest take a bit less.
        let width = 32 - (rest + 1).leading_zeros();
        let spare = (1 << width) - 2 - rest;
        let all = bits.peek() as u32 & ((1 << width) - 1);
        let low = all & ((1 << (width - 1)) - 1);
        let short = low < spare;
        let long = if all >> (width - 1) == 0 { all } else { all - spare };
        let value = if short { low } else { long };
        bits.skip(width - u32::from(short));
        let count = value as i32 - 1;
        found.counts[found.len] = count as i16;
        found.len += 1;
        found.rare |= count < 0;
        rest = rest.checked_sub(count.unsigned_abs()).ok_or(Refusal::new("a table has too many counts"))?;
        if count == 0 {
            loop {
                bits.refill();
                let zeros = bits.take(2) as usize;
                found.len += zeros;
                if found.len > symbols {
                    return Err(TOO_MANY);
                }
                if zeros < 3 {
                    break;
                }
            }
        }
    }
    Ok((found, bits.finish()?))
}

/// Bits read from the beginning of bytes on.
struct Forward<'a> {
    src: &'a [u8],
    /// The byte that the next refill begins with.
    next: usize,
    word: u64,
    valid: u32,
}

impl<'a> Forward<'a> {
    fn new(src: &'a [u8]) -> Self {
        let mut bits = Forward { src, next: 0, word: 0, valid: 0 };
        bits.refill();
        bits
    }

    /// At least 56 bits; zeros behind the end.
    #[inline(always)]
    fn refill(&mut self) {
        if self.valid >= 16 {
            return;
        }
        let rest = self.src.get(self.next..).unwrap_or_default();
        let bytes = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut bytes = [0; 8];
            bytes.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            bytes
        });
        self.word |= u64::from_le_bytes(bytes) << self.valid;
        let taken = (63 - self.valid) / 8;
        self.next += taken as usize;
        self.valid += taken * 8;
        // What is above the valid bits is read again.
        self.word &= u64::MAX >> (64 - self.valid);
    }

    #[inline(always)]
    fn peek(&self) -> u64 {
        self.word
    }

    #[inline(always)]
    fn skip(&mut self, n: u32) {
        self.word >>= n;
        self.valid -= n;
    }

    fn take(&mut self, n: u32) -> u64 {
        let value = self.word & ((1 << n) - 1);
        self.skip(n);
        value
    }

    /// How many bytes the bits so far were in.
    fn finish(self) -> Result<usize> {
        let used = self.next - self.valid as usize / 8;
        if used > self.src.len() { Err(Refusal::new("a table is cut off")) } else { Ok(used) }
    }
}
