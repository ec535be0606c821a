//! NDLZ: blocks of bytes in two dimensions, cut into cells of 4 × 4 or 8 × 8. Own encoder and decoder.
//!
//! ```text
//! u8 2 | i32 rows | i32 columns | cells in C order, those at the upper edges cut off
//!
//! 0x00          the bytes of the cell                     0x40  one byte, all over the cell
//! 0xC0          u16: the cell is found so many bytes before this token
//! of 4 × 4 only, cells that are not cut off:
//! 224 … 255     u16: three rows are found there; the fourth follows
//! 128 … 191     u16: two rows are found there; the others follow
//! 40 … 63       u16, u16: row 0 and another are found there, the other two there
//! of 8 × 8 only:
//! 168 + r       u16: three rows from r on are found there; the others follow
//! 136 + r       u16: two rows from r on are found there; the others follow
//! ```
//!
//! What is found lies in the stream before the token. Knows neither filters nor how a block became bytes.

mod decode;
mod encode;
mod rows;
#[cfg(test)]
mod tests;

pub(super) use decode::decode;
pub(super) use encode::NdlzEncoder;
pub(super) use encode::check;

/// The length of what comes before the first cell.
const HEAD: usize = 9;
const LITERAL: u8 = 0x00;
const EQUAL: u8 = 0x40;
const SAME: u8 = 0xC0;
