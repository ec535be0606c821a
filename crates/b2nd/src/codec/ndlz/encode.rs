//! The encoder: remembers where literal rows of the stream are, and looks cells and their rows up there.

use super::EQUAL;
use super::LITERAL;
use super::SAME;
use super::rows::THREE_OF_EIGHT;
use super::rows::THREE_OF_FOUR;
use super::rows::TWO_OF_EIGHT;
use super::rows::TWO_OF_FOUR;
use super::rows::TWO_PAIRS;
use crate::error::Error;
use crate::error::Result;

/// Entries of the table.
const SLOTS: usize = 1 << 13;
/// The longest distance, as two bytes have room for it.
const REACH: usize = u16::MAX as usize;

/// Whether blocks of that shape can be written: an [`Error::Compression`] says why not.
pub(crate) fn check(meta: u8, block_shape: Option<&[u32]>) -> Result<(usize, usize, usize)> {
    let side = match meta {
        4 | 8 => usize::from(meta),
        other => {
            return Err(Error::compression(format!(
                "ndlz has cells of 4 or 8 items a side: its codec meta is not {other}"
            )));
        }
    };
    match block_shape {
        Some(&[rows, columns]) => Ok((side, rows as usize, columns as usize)),
        Some(other) => {
            Err(Error::compression(format!("ndlz works in two dimensions, not in {}", other.len())))
        }
        None => Err(Error::compression("ndlz needs the shape of the blocks, which only an array has")),
    }
}

/// Reusable memory: where in the stream bytes with a hash value were last seen, plus 1.
#[derive(Default)]
pub(crate) struct NdlzEncoder {
    table: Vec<u32>,
}

impl NdlzEncoder {
    /// Compresses a block of `rows` × `columns` bytes. `None`: it does not fit.
    pub(crate) fn encode(
        &mut self,
        meta: u8,
        block_shape: Option<&[u32]>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Option<usize>> {
        let (side, rows, columns) = check(meta, block_shape)?;
        if rows.checked_mul(columns) != Some(src.len()) {
            return Err(Error::compression(format!(
                "ndlz works on {rows} × {columns} bytes, not on {}: items of more than one byte have to be shuffled and split",
                src.len()
            )));
        }
        if self.table.is_empty() {
            self.table
                .try_reserve_exact(SLOTS)
                .map_err(|_| Error::out_of_memory("ndlz", 4 * SLOTS as u64))?;
            self.table.resize(SLOTS, 0);
        }
        self.table.fill(0);
        let mut writer = Writer { table: &mut self.table, dst, at: 0 };
        Ok(writer.block(side, rows, columns, src).map(|()| writer.at))
    }
}

struct Writer<'a> {
    table: &'a mut [u32],
    dst: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    fn block(&mut self, side: usize, rows: usize, columns: usize, src: &[u8]) -> Option<()> {
        self.put(&[2])?;
        self.put(&i32::try_from(rows).ok()?.to_le_bytes())?;
        self.put(&i32::try_from(columns).ok()?.to_le_bytes())?;
        let mut cell = [0; 64];
        for top in (0..rows).step_by(side) {
            for left in (0..columns).step_by(side) {
                let (height, width) = (side.min(rows - top), side.min(columns - left));
                let cell = &mut cell[..height * width];
                for (row, bytes) in cell.chunks_exact_mut(width).enumerate() {
                    bytes.copy_from_slice(&src[(top + row) * columns + left..][..width]);
                }
                self.cell(side, cell)?;
            }
        }
        Some(())
    }

    fn cell(&mut self, side: usize, cell: &[u8]) -> Option<()> {
        if let Some(byte) = b2nd_kernel::runs::uniform(cell) {
            return self.put(&[EQUAL, byte]);
        }
        if let Some(distance) = self.find(cell) {
            self.put(&[SAME])?;
            return self.put(&distance);
        }
        let whole = cell.len() == side * side;
        let written = match side {
            4 if whole => self.rows_of_four(cell)?,
            8 if whole => self.rows_of_eight(cell)?,
            _ => false,
        };
        if !written {
            let start = self.at + 1;
            self.put(&[LITERAL])?;
            self.put(cell)?;
            self.remember(start, cell.len(), if whole { side } else { cell.len() });
        }
        Some(())
    }

    /// The shortest form of a cell of 4 × 4 of which rows are known; false where none are.
    fn rows_of_four(&mut self, cell: &[u8]) -> Option<bool> {
        for (token, rows) in THREE_OF_FOUR {
            if let Some(distance) = self.find(&gathered::<12>(cell, 4, &rows)) {
                return self.some_rows(token, distance, cell, 4, &rows);
            }
        }
        for (token, rows) in TWO_PAIRS {
            let (one, two) = rows.split_at(2);
            if let Some(first) = self.find(&gathered::<8>(cell, 4, one))
                && let Some(second) = self.find(&gathered::<8>(cell, 4, two))
            {
                self.put(&[token])?;
                self.put(&first)?;
                self.put(&second)?;
                return Some(true);
            }
        }
        for (token, rows) in TWO_OF_FOUR {
            if let Some(distance) = self.find(&gathered::<8>(cell, 4, &rows)) {
                return self.some_rows(token, distance, cell, 4, &rows);
            }
        }
        Some(false)
    }

    /// The same for a cell of 8 × 8.
    fn rows_of_eight(&mut self, cell: &[u8]) -> Option<bool> {
        for (token, count) in [(THREE_OF_EIGHT, 3), (TWO_OF_EIGHT, 2)] {
            for first in 0..=8 - count {
                if let Some(distance) = self.find(&cell[8 * first..8 * (first + count)]) {
                    let rows = [first, first + 1, first + 2];
                    return self.some_rows(token + first as u8, distance, cell, 8, &rows[..count]);
                }
            }
        }
        Some(false)
    }

    /// A cell whose `rows` are found at a distance, with the others behind it.
    fn some_rows(
        &mut self,
        token: u8,
        distance: [u8; 2],
        cell: &[u8],
        side: usize,
        rows: &[usize],
    ) -> Option<bool> {
        self.put(&[token])?;
        self.put(&distance)?;
        for (row, bytes) in cell.chunks_exact(side).enumerate() {
            if !rows.contains(&row) {
                self.put(bytes)?;
            }
        }
        Some(true)
    }

    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        self.dst.get_mut(self.at..)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
        self.at += bytes.len();
        Some(())
    }

    /// How far before the token that comes next these bytes are, as it is stored.
    fn find(&self, bytes: &[u8]) -> Option<[u8; 2]> {
        let start = self.table[hash(bytes)].checked_sub(1)? as usize;
        let distance = self.at.checked_sub(start).filter(|distance| *distance <= REACH)?;
        let there = self.dst[..self.at].get(start..)?.get(..bytes.len())?;
        (there == bytes).then(|| (distance as u16).to_le_bytes())
    }

    /// Remembers a literal cell, and the two and three rows of `row` bytes that lie side by side in it.
    fn remember(&mut self, start: usize, len: usize, row: usize) {
        for (count, first) in [2, 3].into_iter().flat_map(|count| (0..8).map(move |first| (count, first))) {
            if (first + count) * row <= len {
                self.remember_one(start + first * row, count * row);
            }
        }
        self.remember_one(start, len);
    }

    fn remember_one(&mut self, start: usize, len: usize) {
        if let Some(bytes) = self.dst.get(start..start + len) {
            self.table[hash(bytes)] = start as u32 + 1;
        }
    }
}

/// These rows of a cell, one after another.
fn gathered<const N: usize>(cell: &[u8], side: usize, rows: &[usize]) -> [u8; N] {
    let mut out = [0; N];
    for (to, row) in out.chunks_exact_mut(side).zip(rows) {
        to.copy_from_slice(&cell[row * side..][..side]);
    }
    out
}

fn hash(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<4>();
    let rest = rest.iter().fold(bytes.len() as u32, |sum, byte| sum << 8 | u32::from(*byte));
    let mix = |sum: u32, word: u32| (sum ^ word).wrapping_mul(0x9E37_79B1).rotate_left(13);
    let sum = words.iter().fold(mix(0, rest), |sum, word| mix(sum, u32::from_le_bytes(*word)));
    sum as usize % SLOTS
}
