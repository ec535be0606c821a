//! Huffman codes for bytes: lengths that are close to the best, found without a tree.
//!
//! The ideal length of a code is a logarithm. Lengths are rounded up from it after all are moved by one same part of a bit: by the
//! least with which they are a code, found by halving; what room is left goes to those that were rounded up most. Nearly all of that
//! are passes over arrays of 256 numbers, many at once and without a jump; it costs some thousandths against Huffman's tree.

use super::super::weights::LONGEST;
use super::bits::BitWriter;
use super::tally::{PARTS, log2, table_log};

/// The code of each byte.
pub(super) struct Code {
    codes: [u16; 256],
    /// The length of each code; 0 for bytes without one.
    pub(super) lengths: [u8; 256],
    /// How many codes have each length.
    pub(super) ranks: [u32; 16],
    /// The length of the longest code.
    pub(super) log: u32,
    /// The last byte with a code.
    pub(super) last: usize,
    /// How many bits it takes to write all bytes that were counted.
    pub(super) bits: u64,
}

/// The ideal length of a byte that does not occur: more than any code has.
const NONE: i16 = 16_000;

impl Code {
    /// A code for bytes that occur as often as `counts` says, `total` in all; two different ones at least.
    #[inline(always)]
    pub(super) fn new(counts: &[u32; 256], total: usize) -> Code {
        let last = counts.iter().rposition(|count| *count > 0).unwrap_or_default();
        let most = table_log(LONGEST, total, last, 1);
        let lengths = lengths(counts, log2(total as u32), most);
        let bits = counts.iter().zip(&lengths).map(|(count, len)| count * u32::from(*len)).sum::<u32>();
        let mut code = Code { codes: [0; 256], lengths, ranks: [0; 16], log: 0, last, bits: u64::from(bits) };
        code.number();
        code
    }

    /// Codes in the order of the format: the longest first, and those of a length in the order of their bytes.
    #[inline(always)]
    fn number(&mut self) {
        // By quarters of the bytes, so that one needs not wait for the other.
        let quarters = self.lengths.as_chunks::<64>().0;
        let mut next = [[0_u16; 4]; 16];
        for (len, next) in (1..=LONGEST as u8).zip(&mut next[1..]) {
            for (next, quarter) in next.iter_mut().zip(quarters) {
                // 64 fit into a byte, and 64 bytes are added at once.
                *next = u16::from(quarter.iter().map(|other| u8::from(*other == len)).sum::<u8>());
            }
            self.ranks[usize::from(len)] = next.iter().map(|count| u32::from(*count)).sum();
            if self.ranks[usize::from(len)] > 0 {
                self.log = u32::from(len);
            }
        }
        let mut at = 0;
        for len in (1..=self.log).rev() {
            at >>= 1;
            for next in &mut next[len as usize & 15] {
                at += std::mem::replace(next, at);
            }
        }
        for n in 0..64 {
            for quarter in 0..4 {
                let byte = quarter * 64 + n;
                let next = &mut next[usize::from(self.lengths[byte] & 15)][quarter];
                self.codes[byte] = *next;
                *next = next.wrapping_add(1);
            }
        }
    }

    /// Writes `bytes` as a stream at `at`; where it ends. `None` where there is no room.
    #[inline(always)]
    pub(super) fn write(&self, bytes: &[u8], out: &mut [u8], at: usize) -> Option<usize> {
        let mut bits = BitWriter::new(out, at);
        let (rest, groups) = bytes.as_rchunks::<5>();
        // The last byte comes first. Five codes of 11 bits are less than what a word has room for.
        for group in groups.iter().rev() {
            for byte in group.iter().rev() {
                self.add(*byte, &mut bits);
            }
            bits.flush();
        }
        for byte in rest.iter().rev() {
            self.add(*byte, &mut bits);
        }
        bits.close()
    }

    #[inline(always)]
    fn add(&self, byte: u8, bits: &mut BitWriter<'_>) {
        let (code, len) = (self.codes[usize::from(byte)], self.lengths[usize::from(byte)]);
        bits.add(u64::from(code), u32::from(len));
    }
}

/// The length that an ideal one becomes.
#[inline(always)]
fn rounded(ideal: i16, moved: i16, most: u32) -> i16 {
    ((ideal + moved + PART - 1) >> PART.ilog2()).clamp(1, most as i16)
}

/// [`PARTS`], for numbers of which many are worked on at once.
const PART: i16 = PARTS as i16;

/// How much of 2^`most` the codes take whose lengths are moved by so much, and those of bytes that do not occur, 1 each.
#[inline(always)]
fn room(ideals: &[i16; 256], moved: i16, most: u32) -> u32 {
    // Eight of 2^10 at most are added up in each.
    let mut sums = [0_u16; 32];
    for ideals in ideals.as_chunks::<32>().0 {
        for (sum, ideal) in sums.iter_mut().zip(ideals) {
            *sum += 1 << (most as i16 - rounded(*ideal, moved, most));
        }
    }
    sums.iter().map(|sum| u32::from(*sum)).sum()
}

/// The lengths of the codes, none above `most`, that make a complete code.
#[inline(always)]
fn lengths(counts: &[u32; 256], whole: i32, most: u32) -> [u8; 256] {
    let mut ideals = [0; 256];
    for (ideal, count) in ideals.iter_mut().zip(counts) {
        *ideal = if *count > 0 { (whole - log2(*count)).max(0) as i16 } else { NONE };
    }
    let absent = counts.iter().map(|count| u32::from(*count == 0)).sum::<u32>();
    let most_room = (1 << most) + absent;
    // By halving: with `moved` the lengths leave room, or none; one less and they need more than there is.
    let (mut low, mut moved) = (-PART, 0);
    if room(&ideals, low, most) <= most_room {
        (low, moved) = (-PART * 16, low);
    } else if room(&ideals, moved, most) > most_room {
        (low, moved) = (moved, PART * 16);
    }
    while moved - low > 1 {
        let middle = (low + moved) >> 1;
        if room(&ideals, middle, most) <= most_room { moved = middle } else { low = middle }
    }
    let mut lengths = [0; 256];
    for (len, ideal) in lengths.iter_mut().zip(&ideals) {
        *len = if *ideal < NONE { rounded(*ideal, moved, most) as u8 } else { 0 };
    }
    let rest = most_room - room(&ideals, moved, most);
    fill(&mut lengths, &ideals, moved, most, rest);
    lengths
}

/// Shortens codes until they take all of the room, of which there is `rest`: first those that were rounded up most.
#[inline(always)]
fn fill(lengths: &mut [u8; 256], ideals: &[i16; 256], moved: i16, most: u32, mut rest: u32) {
    // How far an ideal is above the next shorter length. There is always one that fits in the end: what is missing is a multiple of
    // what the longest code takes.
    for near in [PART / 8, PART / 3, i16::MAX, i16::MAX, i16::MAX].into_iter().cycle() {
        if rest == 0 {
            return;
        }
        let mut wanted = [0_u8; 256];
        for ((wanted, len), ideal) in wanted.iter_mut().zip(&*lengths).zip(ideals) {
            let above = ideal + moved - PART * (i16::from(*len) - 1);
            *wanted = u8::from(*len > 1) & u8::from(above <= near);
        }
        for (n, word) in wanted.as_chunks::<8>().0.iter().enumerate() {
            let mut places = u64::from_le_bytes(*word);
            while places != 0 {
                let len = &mut lengths[(n * 8 + (places.trailing_zeros() >> 3) as usize) & 255];
                places &= places - 1;
                let more = 1 << (most - u32::from(*len));
                if more <= rest {
                    *len -= 1;
                    rest -= more;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Code, LONGEST};

    /// The bits of the best code, of any length.
    fn best(counts: &[u32; 256]) -> u64 {
        let mut heap: Vec<u64> = counts.iter().filter(|n| **n > 0).map(|n| u64::from(*n)).collect();
        let mut bits = 0;
        while heap.len() > 1 {
            heap.sort_unstable_by(|a, b| b.cmp(a));
            let pair = heap.pop().unwrap_or_default() + heap.pop().unwrap_or_default();
            bits += pair;
            heap.push(pair);
        }
        bits
    }

    #[test]
    fn codes_are_complete_and_close_to_the_best() {
        let (mut ours, mut least) = (0, 0);
        let mut seed = 1_u64;
        let mut next = |below: u32| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as u32 % below
        };
        for round in 0..3000_u32 {
            let mut counts = [0; 256];
            let symbols = 2 + next(255);
            let steep = 1 + next(40);
            for n in 0..symbols {
                let byte = if round % 2 == 0 { n } else { next(256) };
                counts[byte as usize] = 1 + next(2000) / (1 + n * n / steep);
            }
            counts[0] += 1;
            counts[255] += round % 3;
            if counts.iter().filter(|n| **n > 0).count() < 2 {
                continue;
            }
            let total = counts.iter().sum::<u32>();
            let code = Code::new(&counts, total as usize);
            assert!(code.log <= LONGEST);
            let room: u32 = code
                .lengths
                .iter()
                .filter(|len| **len > 0)
                .map(|len| 1 << (code.log - u32::from(*len)))
                .sum();
            assert_eq!(room, 1 << code.log, "{counts:?}");
            assert!(counts.iter().zip(code.lengths).all(|(count, len)| (*count > 0) == (len > 0)));
            ours += code.bits;
            least += best(&counts);
        }
        // Within a hundredth in the mean, and that with lengths that have a limit.
        assert!(ours >= least && ours * 100 < least * 101, "{ours} {least}");
    }
}
