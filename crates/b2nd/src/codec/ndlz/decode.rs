//! The decoder: every place that a token names is checked to lie in the stream before it.

use super::EQUAL;
use super::HEAD;
use super::LITERAL;
use super::SAME;
use super::rows;
use crate::codec::error::broken;
use crate::error::Error;
use crate::error::Part;
use crate::error::Result;

/// Decodes `src`, which must fill `dst` exactly. `side`: of the cells, as the chunk says.
pub(crate) fn decode(side: u8, src: &[u8], dst: &mut [u8]) -> Result<()> {
    let side = match side {
        4 | 8 => usize::from(side),
        other => return Err(broken(format!("ndlz has cells of 4 or 8 items a side, not {other}"))),
    };
    let mut reader = CellReader { src, at: 0 };
    let axes = reader.take(1)?[0];
    let (rows, columns) = (reader.length()?, reader.length()?);
    if axes != 2 || rows.checked_mul(columns) != Some(dst.len()) {
        return Err(broken(format!(
            "the ndlz data is of {rows} × {columns} bytes in {axes} dimensions, not {} in 2",
            dst.len()
        )));
    }
    debug_assert_eq!(reader.at, HEAD);
    let mut cell = [0; 64];
    for top in (0..rows).step_by(side) {
        for left in (0..columns).step_by(side) {
            let (height, width) = (side.min(rows - top), side.min(columns - left));
            let cell = &mut cell[..height * width];
            reader.cell(side, cell)?;
            for (row, bytes) in cell.chunks_exact(width).enumerate() {
                dst[(top + row) * columns + left..][..width].copy_from_slice(bytes);
            }
        }
    }
    match reader.src.len() - reader.at {
        0 => Ok(()),
        left => Err(broken(format!("{left} bytes behind the last cell of the ndlz data"))),
    }
}

struct CellReader<'a> {
    src: &'a [u8],
    at: usize,
}

impl<'a> CellReader<'a> {
    fn wrong(&self, reason: impl Into<String>) -> Error {
        Error::format(Part::Stream, self.at as u64, reason)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let bytes = self.src.get(self.at..).and_then(|rest| rest.get(..len));
        let bytes = bytes.ok_or_else(|| self.wrong("the ndlz data is cut off"))?;
        self.at += len;
        Ok(bytes)
    }

    fn length(&mut self) -> Result<usize> {
        let bytes = self.take(4)?;
        let length = i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        match usize::try_from(length) {
            Ok(length) if length > 0 => Ok(length),
            _ => Err(self.wrong(format!("an ndlz block of length {length}"))),
        }
    }

    /// The `len` bytes at a distance that is read here, before the token at `token`.
    fn found(&mut self, token: usize, len: usize) -> Result<&'a [u8]> {
        let bytes = self.take(2)?;
        let distance = usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
        let start = token.checked_sub(distance);
        let found = start.and_then(|start| self.src[..token].get(start..)?.get(..len));
        found.ok_or_else(|| {
            self.wrong(format!(
                "a match of {len} bytes, {distance} bytes before the token at {token}, lies outside the data"
            ))
        })
    }

    /// One cell, of the length of `cell`.
    fn cell(&mut self, side: usize, cell: &mut [u8]) -> Result<()> {
        let place = self.at;
        match self.take(1)?[0] {
            LITERAL => cell.copy_from_slice(self.take(cell.len())?),
            EQUAL => cell.fill(self.take(1)?[0]),
            SAME => cell.copy_from_slice(self.found(place, cell.len())?),
            token => {
                let wrong = || {
                    Error::format(Part::Stream, place as u64, format!("{token} is not a valid token of ndlz"))
                };
                if cell.len() != side * side {
                    return Err(wrong());
                }
                let (first, second) = rows::found(side, token).ok_or_else(wrong)?;
                let mut missing = [true; 8];
                let one = self.found(place, first.len() * side)?;
                let two = if second.is_empty() { &[][..] } else { self.found(place, second.len() * side)? };
                let places = first.iter().chain(second);
                for (row, bytes) in places.zip(one.chunks_exact(side).chain(two.chunks_exact(side))) {
                    cell[row * side..][..side].copy_from_slice(bytes);
                    missing[*row] = false;
                }
                for row in (0..side).filter(|row| missing[*row]) {
                    cell[row * side..][..side].copy_from_slice(self.take(side)?);
                }
            }
        }
        Ok(())
    }
}
