//! Tables that turn states into symbols and tell which states come next ("tabled asymmetric numerals").

use super::codes;
use super::counts::Counts;
use super::{Refusal, Result};

/// The largest tables, as powers of two.
pub(super) const LITERAL_LOG: u32 = 9;
pub(super) const MATCH_LOG: u32 = 9;
pub(super) const OFFSET_LOG: u32 = 8;

/// What a state stands for.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Entry {
    /// From its lowest bit on: the count of bits that follow the code (8), the count of bits of the next state (8), what these
    /// are added to (16).
    pub(super) widths: u32,
    /// What the bits after the code are added to.
    pub(super) base: u32,
}

impl Entry {
    /// A code that stands for `base` and the bits that follow.
    pub(super) const fn code(base: u32, extra: u32) -> Self {
        Entry { widths: extra, base }
    }
}

/// The tables of a frame.
#[derive(Debug)]
pub(super) struct FseTables {
    pub(super) literals: FseTable<{ 1 << LITERAL_LOG }>,
    pub(super) offsets: FseTable<{ 1 << OFFSET_LOG }>,
    pub(super) matches: FseTable<{ 1 << MATCH_LOG }>,
    pub(super) usual: Usual,
}

/// The tables of blocks that have none.
#[derive(Debug)]
pub(super) struct Usual {
    pub(super) literals: [Entry; 64],
    pub(super) offsets: [Entry; 32],
    pub(super) matches: [Entry; 64],
}

impl FseTables {
    pub(super) fn new() -> Self {
        let mut usual = Usual { literals: [NONE; 64], offsets: [NONE; 32], matches: [NONE; 64] };
        let counts = |log, from: &[i16]| {
            let mut counts = [0; 64];
            counts[..from.len()].copy_from_slice(from);
            Counts { log, len: from.len(), counts, rare: true }
        };
        build(&mut usual.literals, &counts(6, &codes::LITERAL_LENGTH_COUNTS), &codes::LITERAL_LENGTHS);
        // The last code is one of an offset that is refused; see `OFFSETS`.
        let mut offsets = [NONE; 29];
        offsets[..28].copy_from_slice(&codes::OFFSETS);
        offsets[28] = TOO_FAR;
        build(&mut usual.offsets, &counts(5, &codes::OFFSET_COUNTS), &offsets);
        build(&mut usual.matches, &counts(6, &codes::MATCH_LENGTH_COUNTS), &codes::MATCH_LENGTHS);
        FseTables { literals: FseTable::new(), offsets: FseTable::new(), matches: FseTable::new(), usual }
    }

    /// Forgets the tables of another frame.
    pub(super) fn reset(&mut self) {
        (self.literals.log, self.offsets.log, self.matches.log) = (None, None, None);
    }
}

/// The offset of 256 MiB: before all that there is.
const TOO_FAR: Entry = Entry::code(1 << 28, 28);

const NONE: Entry = Entry::code(0, 0);

/// A table with room for `N` states.
#[derive(Debug)]
pub(super) struct FseTable<const N: usize> {
    pub(super) entries: [Entry; N],
    /// The binary logarithm of the count of states; `None` before the first table of a frame.
    pub(super) log: Option<u32>,
}

impl<const N: usize> FseTable<N> {
    fn new() -> Self {
        FseTable { entries: [NONE; N], log: None }
    }

    /// The table of a block that has none.
    pub(super) fn copy(&mut self, usual: &[Entry]) {
        self.entries[..usual.len()].copy_from_slice(usual);
        self.log = Some(usual.len().ilog2());
    }

    /// A table of one symbol.
    pub(super) fn fill(&mut self, symbol: u8, codes: &[Entry]) -> Result<()> {
        self.entries[0] =
            *codes.get(usize::from(symbol)).ok_or(Refusal::new("a symbol is not in its table"))?;
        self.log = Some(0);
        Ok(())
    }

    pub(super) fn build(&mut self, counts: &Counts, codes: &[Entry]) {
        build(&mut self.entries, counts, codes);
        self.log = Some(counts.log);
    }
}

/// Builds the table of symbols that occur as often as `counts` says, each of which begins with its entry in `codes`.
#[inline(always)]
pub(super) fn build(entries: &mut [Entry], counts: &Counts, codes: &[Entry]) {
    let size = 1_usize << counts.log;
    let mask = size - 1;
    // How many states of each symbol there are, and then the count of the next one.
    let mut next = [0_u16; 64];
    let mut order = [0_u8; ORDER];
    let step = (size >> 1) + (size >> 3) + 3;
    let stride = if counts.rare {
        scattered(&mut order, &mut next, counts, step, mask);
        1
    } else {
        in_line(&mut order, &mut next, counts);
        // Back from a state to its place in the line.
        inverse(step)
    };
    let mut place = 0_usize;
    for entry in &mut entries[..size] {
        let symbol = usize::from(order[place & mask] & 63);
        place = place.wrapping_add(stride);
        let number = u32::from(next[symbol]);
        next[symbol] = (number + 1) as u16;
        let bits = (counts.log + number.leading_zeros()).wrapping_sub(31) & 15;
        let base = (number << bits).wrapping_sub(size as u32) & 0xffff;
        let Entry { widths, base: value } = codes.get(symbol).copied().unwrap_or_default();
        *entry = Entry { widths: widths | bits << 8 | base << 16, base: value };
    }
}

/// Room for the symbols of all states, and to write a few more.
const ORDER: usize = 512 + 32;

/// Each symbol as often as it occurs, one after another.
#[inline(always)]
fn in_line(order: &mut [u8; ORDER], next: &mut [u16; 64], counts: &Counts) {
    let mut at = 0;
    for (symbol, (count, next)) in counts.counts.iter().zip(next).enumerate().take(counts.len) {
        let count = *count as usize & 1023;
        *next = count as u16;
        let mut from = at;
        at += count;
        while from < at {
            if let Some(place) = order.get_mut(from..).and_then(<[u8]>::first_chunk_mut::<32>) {
                *place = [symbol as u8; 32];
            }
            from += 32;
        }
    }
}

/// The symbols by state, where some occur less than once: those have the last states.
#[cold]
fn scattered(order: &mut [u8; ORDER], next: &mut [u16; 64], counts: &Counts, step: usize, mask: usize) {
    let mut end = mask + 1;
    for (symbol, count) in counts.counts.iter().enumerate().take(counts.len) {
        next[symbol] = count.unsigned_abs();
        if *count < 0 {
            end -= 1;
            order[end & 511] = symbol as u8;
        }
    }
    let mut at = 0;
    for (symbol, count) in counts.counts.iter().enumerate().take(counts.len) {
        for _ in 0..*count {
            order[at & 511] = symbol as u8;
            at = (at + step) & mask;
            while at >= end {
                at = (at + step) & mask;
            }
        }
    }
}

/// What an odd number has to be multiplied by to become 1, modulo a power of two.
pub(super) fn inverse(odd: usize) -> usize {
    // Right in the lowest three bits; each step doubles how many are.
    let mut found = odd;
    for _ in 0..3 {
        found = found.wrapping_mul(2_usize.wrapping_sub(odd.wrapping_mul(found)));
    }
    found
}
