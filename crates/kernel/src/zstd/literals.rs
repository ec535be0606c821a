//! The literals of a block.

use super::bits::BitReader;
use super::frame::MOST;
use super::{Refusal, Result, huffman, weights};

/// How many bytes behind the literals can be read.
pub(super) const SLACK: usize = 64;

/// Where the literals of a block are, and how they are stored.
#[derive(Clone, Copy)]
pub(super) struct Header {
    kind: Kind,
    /// How many they are.
    pub(super) len: usize,
    /// Their bytes in the frame.
    begin: usize,
    pub(super) end: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Raw,
    Run,
    /// With a code, or with the last one; in one stream or in four.
    Huffman {
        new: bool,
        four: bool,
    },
}

const CUT_OFF: Refusal = Refusal::new("the literals of a block are cut off");

impl Header {
    /// The header at `begin` of a block that ends at `end`.
    #[inline(always)]
    pub(super) fn read(frame: &[u8], begin: usize, end: usize) -> Result<Self> {
        let src = frame.get(begin..end).ok_or(CUT_OFF)?;
        let mut bytes = [0; 8];
        let known = src.len().min(5);
        bytes[..known].copy_from_slice(&src[..known]);
        let word = u64::from_le_bytes(bytes);
        let format = word >> 2 & 3;
        let (kind, len, packed, header) = match word & 3 {
            kind @ (0 | 1) => {
                let (shift, bits, header) = match format {
                    1 => (4, 12, 2),
                    3 => (4, 20, 3),
                    _ => (3, 5, 1),
                };
                let len = (word >> shift) as usize & ((1 << bits) - 1);
                if kind == 0 { (Kind::Raw, len, len, header) } else { (Kind::Run, len, 1, header) }
            }
            kind => {
                let (bits, header) = match format {
                    0 | 1 => (10, 3),
                    2 => (14, 4),
                    _ => (18, 5),
                };
                let mask = (1 << bits) - 1;
                let (len, packed) = ((word >> 4) as usize & mask, (word >> (4 + bits)) as usize & mask);
                (Kind::Huffman { new: kind == 2, four: format != 0 }, len, packed, header)
            }
        };
        if header > known || packed > src.len() - header {
            return Err(CUT_OFF);
        }
        if len > MOST {
            return Err(Refusal::new("a block has more literals than the format allows"));
        }
        let begin = begin + header;
        Ok(Header { kind, len, begin, end: begin + packed })
    }

    /// The literals with [`SLACK`] behind them, in `room` if they are not so in the frame.
    #[inline(always)]
    pub(super) fn with_slack<'a>(
        &self,
        table: &mut huffman::HuffmanTable,
        frame: &'a [u8],
        room: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        if self.kind == Kind::Raw && frame.len() - self.end >= SLACK {
            return Ok(&frame[self.begin..self.end + SLACK]);
        }
        if room.len() < self.len + SLACK {
            grow(room, self.len + SLACK)?;
        }
        let room = &mut room[..self.len + SLACK];
        self.decode(table, frame, &mut room[..self.len])?;
        Ok(room)
    }

    /// Decodes the literals into `out`, which has as many bytes.
    #[inline(always)]
    pub(super) fn decode(
        &self,
        table: &mut huffman::HuffmanTable,
        frame: &[u8],
        out: &mut [u8],
    ) -> Result<()> {
        match self.kind {
            Kind::Raw => out.copy_from_slice(&frame[self.begin..self.end]),
            Kind::Run => out.fill(frame[self.begin]),
            Kind::Huffman { new, four } => {
                let mut begin = self.begin;
                if new {
                    let (weights, end) = weights::read(frame, begin, self.end)?;
                    table.build(&weights);
                    begin = end;
                }
                if table.log.is_none() {
                    return Err(Refusal::new("literals refer to a missing code"));
                }
                if four {
                    table.decode_four(streams(frame, begin, self.end)?, out)?;
                } else {
                    table.decode(BitReader::new(frame, begin, self.end)?, out)?;
                }
            }
        }
        Ok(())
    }
}

#[cold]
fn grow(room: &mut Vec<u8>, len: usize) -> Result<()> {
    let len = len.next_power_of_two().clamp(16 << 10, MOST + SLACK);
    room.try_reserve_exact(len - room.len())
        .map_err(|_| Refusal::new("memory for literals could not be allocated"))?;
    room.resize(len, 0);
    Ok(())
}

/// The four streams behind the lengths of three.
#[inline(always)]
fn streams(frame: &[u8], begin: usize, end: usize) -> Result<[BitReader<'_>; 4]> {
    let lengths: &[u8; 6] = frame.get(begin..end).and_then(<[u8]>::first_chunk).ok_or(CUT_OFF)?;
    let len = |n: usize| usize::from(u16::from_le_bytes([lengths[n], lengths[n + 1]]));
    let one = begin + 6;
    let two = one + len(0);
    let three = two + len(2);
    let four = three + len(4);
    if four >= end {
        return Err(CUT_OFF);
    }
    Ok([
        BitReader::new(frame, one, two)?,
        BitReader::new(frame, two, three)?,
        BitReader::new(frame, three, four)?,
        BitReader::new(frame, four, end)?,
    ])
}
