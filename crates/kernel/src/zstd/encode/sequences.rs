//! The sequences of a block: codes for lengths and offsets, and the bits that follow these.

use super::super::codes;
use super::super::fse::{Entry, LITERAL_LOG, MATCH_LOG, OFFSET_LOG};
use super::bits::BitWriter;
use super::fse::{EncodeTable, Shares};
use super::tally::{PARTS, log2};

/// Literals, and a match.
#[derive(Debug, Clone, Copy)]
pub(super) struct MatchSequence {
    /// How many literals.
    pub(super) literals: u32,
    /// How long the match is, 3 at least.
    pub(super) len: u32,
    /// What the offset is written as: itself and 3, or 1 to 3 for one of the last.
    pub(super) offset: u32,
}

/// What a sequence is written as.
#[derive(Debug, Clone, Copy)]
struct SequenceCodes {
    /// The bits behind the codes, and how many they are: 49 at most.
    extra: u64,
    width: u32,
    literals: u8,
    len: u8,
    offset: u8,
}

impl MatchSequence {
    #[inline(always)]
    fn codes(self) -> SequenceCodes {
        let (n, m) = (self.literals, self.len - 3);
        let literals = if n < 64 { SHORT_LITERALS[n as usize & 63] } else { 19 + n.ilog2() as u8 };
        let len = if m < 128 { SHORT_MATCHES[m as usize & 127] } else { 36 + m.ilog2() as u8 };
        let offset = self.offset.ilog2();
        // What a code stands for is a multiple of what its bits can say.
        let low = |value: u32, width: u32| u64::from(value) & !(u64::MAX << width);
        let (a, b) = (LITERAL_WIDTHS[usize::from(literals) & 63], MATCH_WIDTHS[usize::from(len) & 63]);
        let (a, b) = (u32::from(a), u32::from(b));
        let extra = low(n, a) | low(m, b) << a | low(self.offset, offset) << (a + b);
        SequenceCodes { extra, width: a + b + offset, literals, len, offset: offset as u8 }
    }
}

/// How many bits are behind each code.
const fn widths<const M: usize>(entries: &[Entry; M]) -> [u8; 64] {
    let mut widths = [0; 64];
    let mut n = 0;
    while n < M {
        widths[n] = entries[n].widths as u8;
        n += 1;
    }
    widths
}

static LITERAL_WIDTHS: [u8; 64] = widths(&codes::LITERAL_LENGTHS);
static MATCH_WIDTHS: [u8; 64] = widths(&codes::MATCH_LENGTHS);

/// The codes of the lengths that have a code of their own, or share one with few: as `codes` says what they stand for.
const fn short<const N: usize, const M: usize>(least: u32, entries: &[Entry; M]) -> [u8; N] {
    let mut found = [0; N];
    let (mut n, mut code) = (0, 0);
    while n < N {
        while code + 1 < M && entries[code + 1].base <= n as u32 + least {
            code += 1;
        }
        found[n] = code as u8;
        n += 1;
    }
    found
}

static SHORT_LITERALS: [u8; 64] = short(0, &codes::LITERAL_LENGTHS);
static SHORT_MATCHES: [u8; 128] = short(3, &codes::MATCH_LENGTHS);

/// One of the three kinds of codes: the table for it, and the one that blocks use which have none.
#[derive(Debug)]
struct SymbolKind {
    most: u32,
    /// Fewer symbols are not worth a table of their own.
    few: usize,
    usual: EncodeTable,
    /// What a symbol costs with the usual table, in parts of a bit.
    costs: [i32; 64],
    own: EncodeTable,
}

/// How the table of a kind is stored.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Usual = 0,
    One = 1,
    Own = 2,
}

impl SymbolKind {
    fn new(most: u32, log: u32, usual: &[i16]) -> Self {
        let mut shares = Shares { log, shares: [0; 64], len: usual.len() };
        shares.shares[..usual.len()].copy_from_slice(usual);
        let mut table = EncodeTable::new();
        table.build(&shares);
        let cost = |share: i16| match share {
            // A symbol that the usual table lacks; none that occurs, as offsets are below 2^16.
            0 => 60_000,
            share => log as i32 * PARTS - log2(u32::from(share.unsigned_abs())),
        };
        SymbolKind {
            most,
            few: 1 << log,
            usual: table,
            costs: shares.shares.map(cost),
            own: EncodeTable::new(),
        }
    }

    /// Chooses a table for symbols that occur as often as `counts` says, and writes it at `at`; where it ends.
    #[inline(always)]
    fn choose(
        &mut self,
        counts: &[u32; 64],
        total: usize,
        out: &mut [u8],
        at: usize,
    ) -> Option<(Mode, usize)> {
        if total < self.few && counts.iter().all(|count| (*count as usize) < total) {
            return Some((Mode::Usual, at));
        }
        let (mut usual, mut own, mut kinds) = (0, 0, 0);
        let whole = log2(total as u32);
        for (count, cost) in counts.iter().zip(&self.costs) {
            let count = *count as i32;
            usual += count * cost;
            own += count * (whole - log2(count as u32));
            kinds += i32::from(count > 0);
        }
        let last = counts.iter().rposition(|count| *count > 0).unwrap_or_default();
        if kinds == 1 && usual > 8 * PARTS {
            self.own.fill(last);
            *out.get_mut(at)? = last as u8;
            return Some((Mode::One, at + 1));
        }
        // About what the shares take: some bits for each that occurs, two for runs of others.
        let header = (kinds * 5 + last as i32) * PARTS;
        if kinds == 1 || usual <= own + header {
            return Some((Mode::Usual, at));
        }
        let shares = Shares::new(counts, total, self.most);
        let end = shares.write(out, at)?;
        self.own.build(&shares);
        Some((Mode::Own, end))
    }

    fn table(&self, mode: Mode) -> &EncodeTable {
        if mode == Mode::Usual { &self.usual } else { &self.own }
    }
}

/// The tables of sequences, and room for their codes.
#[derive(Debug)]
pub(super) struct EncodeTables {
    literals: SymbolKind,
    offsets: SymbolKind,
    matches: SymbolKind,
    codes: Vec<SequenceCodes>,
}

impl EncodeTables {
    pub(super) fn new() -> Self {
        EncodeTables {
            literals: SymbolKind::new(LITERAL_LOG, 6, &codes::LITERAL_LENGTH_COUNTS),
            offsets: SymbolKind::new(OFFSET_LOG, 5, &codes::OFFSET_COUNTS),
            matches: SymbolKind::new(MATCH_LOG, 6, &codes::MATCH_LENGTH_COUNTS),
            codes: vec![],
        }
    }

    /// Writes the sequences at `at`; where they end. `None` where there is no room.
    #[inline(always)]
    pub(super) fn write(&mut self, sequences: &[MatchSequence], out: &mut [u8], at: usize) -> Option<usize> {
        let count = sequences.len();
        // From 0x7f00 on in three bytes; but 64 KiB have no more than 16,384 matches.
        let (bytes, width) = match count {
            0..128 => ([count as u8, 0], 1),
            _ => ([(count >> 8) as u8 + 128, count as u8], 2),
        };
        out.get_mut(at..at + width)?.copy_from_slice(&bytes[..width]);
        let at = at + width;
        if count == 0 {
            return Some(at);
        }
        let mut counts = [[0_u32; 64]; 3];
        self.codes.clear();
        self.codes.try_reserve_exact(count).ok()?;
        self.codes.extend(sequences.iter().map(|sequence| {
            let codes = sequence.codes();
            counts[0][usize::from(codes.literals) & 63] += 1;
            counts[1][usize::from(codes.offset) & 63] += 1;
            counts[2][usize::from(codes.len) & 63] += 1;
            codes
        }));
        let (literals, end) = self.literals.choose(&counts[0], count, out, at + 1)?;
        let (offsets, end) = self.offsets.choose(&counts[1], count, out, end)?;
        let (matches, end) = self.matches.choose(&counts[2], count, out, end)?;
        *out.get_mut(at)? = (literals as u8) << 6 | (offsets as u8) << 4 | (matches as u8) << 2;
        let tables =
            [self.literals.table(literals), self.offsets.table(offsets), self.matches.table(matches)];
        coded(tables, &self.codes, BitWriter::new(out, end))
    }
}

/// The bits of all sequences, from the last on.
#[inline(always)]
fn coded(
    [literals, offsets, matches]: [&EncodeTable; 3],
    codes: &[SequenceCodes],
    mut bits: BitWriter<'_>,
) -> Option<usize> {
    let (last, codes) = codes.split_last()?;
    let mut states = (literals.begin(last.literals), offsets.begin(last.offset), matches.begin(last.len));
    bits.add(last.extra, last.width);
    bits.flush();
    for code in codes.iter().rev() {
        // 26 bits at most.
        offsets.step(&mut states.1, code.offset, &mut bits);
        matches.step(&mut states.2, code.len, &mut bits);
        literals.step(&mut states.0, code.literals, &mut bits);
        if code.width > 24 {
            bits.flush();
        }
        bits.add(code.extra, code.width);
        bits.flush();
    }
    matches.end(states.2, &mut bits);
    offsets.end(states.1, &mut bits);
    literals.end(states.0, &mut bits);
    bits.close()
}
