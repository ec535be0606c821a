//! Checked reads and writes of the fields that frames are made of. Knows bytes, not what they mean.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod cursor;
pub(crate) mod msgpack;

pub(crate) use cursor::Cursor;
