//! Tables of states that turn symbols into bits ("tabled asymmetric numerals"), and the counts that say how they are made.

use super::super::fse::inverse;
use super::bits::BitWriter;
use super::tally::table_log;

/// How often each symbol has a state: they add up to 2^`log`. -1 is less than once.
#[derive(Clone)]
pub(super) struct Shares {
    pub(super) log: u32,
    pub(super) shares: [i16; 64],
    /// How many symbols there are, with the last that occurs.
    pub(super) len: usize,
}

impl Shares {
    /// Of symbols that occur as often as `counts` says, `total` in all, two at least; in at most 2^`most` states.
    #[inline(always)]
    pub(super) fn new(counts: &[u32; 64], total: usize, most: u32) -> Shares {
        let len = 64 - counts.iter().rev().take_while(|count| **count == 0).count();
        let log = table_log(most, total, len.saturating_sub(1), 2);
        let size = 1_i32 << log;
        let mut found = Shares { log, shares: [0; 64], len };
        let mut rest = size;
        // One division for all.
        let part = ((1_u64 << (log + 24)) + total as u64 / 2) / total as u64;
        for (share, count) in found.shares.iter_mut().zip(counts) {
            let exact = (u64::from(*count) * part + (1 << 23)) >> 24;
            *share = exact.max(u64::from(*count > 0)) as i16;
            rest -= i32::from(*share);
        }
        let most = (0..64).max_by_key(|n| found.shares[*n]).unwrap_or_default();
        // What rounding took or gave goes to the one with most, unless that would hurt it.
        let first = &mut found.shares[most];
        if i32::from(*first) + rest > i32::from(*first) * 3 / 4 {
            *first += rest as i16;
            return found;
        }
        while rest < 0 {
            let most = found.shares.iter_mut().max().filter(|share| **share > 1);
            if let Some(share) = most {
                *share -= 1;
            }
            rest += 1;
        }
        found
    }

    /// Writes the shares at `at`; where they end. `None` where there is no room.
    #[inline(always)]
    pub(super) fn write(&self, out: &mut [u8], at: usize) -> Option<usize> {
        let mut bits = BitWriter::new(out, at);
        bits.add(u64::from(self.log - 5), 4);
        let mut rest = 1_u32 << self.log;
        let mut n = 0;
        while rest > 0 {
            let share = *self.shares.get(n)?;
            n += 1;
            // A value up to `rest + 1`: the smallest take a bit less.
            let value = (share + 1) as u32;
            let width = 32 - (rest + 1).leading_zeros();
            let spare = (1 << width) - 2 - rest;
            if value < spare {
                bits.add(u64::from(value), width - 1);
            } else if value < 1 << (width - 1) {
                bits.add(u64::from(value), width);
            } else {
                bits.add(u64::from(value + spare), width);
            }
            rest -= u32::from(share.unsigned_abs());
            if share == 0 {
                let mut zeros = self.shares.get(n..)?.iter().take_while(|share| **share == 0).count();
                n += zeros;
                while zeros >= 3 {
                    bits.add(3, 2);
                    bits.flush();
                    zeros -= 3;
                }
                bits.add(zeros as u64, 2);
            }
            bits.flush();
        }
        bits.end()
    }
}

/// How a symbol becomes bits.
#[derive(Debug, Clone, Copy, Default)]
struct Symbol {
    /// Added to a state, how many bits it gives: in the upper half.
    bits: u32,
    /// Added to what is left of the state, where the next one is.
    find: i32,
}

/// A table that symbols are written with.
#[derive(Debug)]
pub(super) struct EncodeTable {
    log: u32,
    states: [u16; 512],
    symbols: [Symbol; 64],
}

impl EncodeTable {
    pub(super) fn new() -> Self {
        EncodeTable { log: 0, states: [0; 512], symbols: [Symbol::default(); 64] }
    }

    /// The table of one symbol, which takes no bits.
    pub(super) fn fill(&mut self, symbol: usize) {
        self.log = 0;
        self.states[0] = 0;
        self.symbols[symbol & 63] = Symbol::default();
    }

    #[inline(always)]
    pub(super) fn build(&mut self, shares: &Shares) {
        let size = 1_usize << shares.log;
        self.log = shares.log;
        let mut order = [0_u8; 512 + 64];
        let mut next = [0_u16; 64];
        let mut sum = 0_usize;
        for (n, share) in shares.shares[..shares.len].iter().enumerate() {
            let count = usize::from(share.unsigned_abs());
            next[n & 63] = sum as u16;
            let widest = shares.log - (count.max(2) - 1).ilog2() * u32::from(count > 1);
            self.symbols[n & 63] = Symbol {
                bits: (widest << 16).wrapping_sub((count as u32) << widest),
                find: sum as i32 - count as i32,
            };
            // One after another, 64 at a time.
            let mut at = sum;
            sum += count;
            while at < sum {
                if let Some(place) = order.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<64>) {
                    *place = [n as u8; 64];
                }
                at += 64;
            }
        }
        let step = (size >> 1) + (size >> 3) + 3;
        if shares.shares.iter().any(|share| *share < 0) {
            scatter(&mut order, shares, step);
        }
        let stride = if shares.shares.iter().any(|share| *share < 0) { 1 } else { inverse(step) };
        let mut place = 0_usize;
        for n in 0..size {
            let symbol = order[place & (size - 1)];
            place = place.wrapping_add(stride);
            let next = &mut next[usize::from(symbol) & 63];
            self.states[usize::from(*next) & 511] = (size + n) as u16;
            *next += 1;
        }
    }

    /// The state that stands for `symbol` as the last one: the one that costs the next one least.
    #[inline(always)]
    pub(super) fn begin(&self, symbol: u8) -> u32 {
        let Symbol { bits, find } = self.symbols[usize::from(symbol) & 63];
        let width = bits.wrapping_add(1 << 15) >> 16;
        let state = (width << 16).wrapping_sub(bits);
        self.state(state >> width, find)
    }

    /// Writes the bits of `state` that tell it from others that lead to `symbol`, and goes on to that.
    #[inline(always)]
    pub(super) fn step(&self, state: &mut u32, symbol: u8, bits: &mut BitWriter<'_>) {
        let symbol = self.symbols[usize::from(symbol) & 63];
        let width = state.wrapping_add(symbol.bits) >> 16;
        bits.add(u64::from(*state & ((1 << (width & 31)) - 1)), width);
        *state = self.state(*state >> (width & 31), symbol.find);
    }

    /// Writes the state behind all symbols, with which reading begins.
    #[inline(always)]
    pub(super) fn end(&self, state: u32, bits: &mut BitWriter<'_>) {
        bits.add(u64::from(state & ((1 << self.log) - 1)), self.log);
    }

    #[inline(always)]
    fn state(&self, rest: u32, find: i32) -> u32 {
        u32::from(self.states[(rest as i32).wrapping_add(find) as usize & 511])
    }
}

/// The symbols by state, where some occur less than once: those have the last states.
#[cold]
fn scatter(order: &mut [u8], shares: &Shares, step: usize) {
    let mask = (1 << shares.log) - 1;
    let mut end = mask + 1;
    for (n, _) in shares.shares.iter().enumerate().filter(|(_, share)| **share < 0) {
        end -= 1;
        order[end] = n as u8;
    }
    let mut at = 0;
    for (n, share) in shares.shares.iter().enumerate() {
        for _ in 0..*share {
            order[at] = n as u8;
            at = (at + step) & mask;
            while at >= end {
                at = (at + step) & mask;
            }
        }
    }
}
