//! Writing LZ4 in safe Rust.

use crate::error::Result;
use lz4_flex::block::{
    CompressTable, compress_into_with_dict, compress_into_with_table, get_maximum_output_size,
};

/// The hash table and a buffer for results: the encoder wants room for the worst case, and the caller gives less.
#[derive(Default)]
pub(in crate::codec) struct Lz4Context {
    table: CompressTable,
    buffer: Vec<u8>,
}

impl Lz4Context {
    pub(in crate::codec) fn compress_fast(
        &mut self,
        _clevel: u8,
        dictionary: Option<&[u8]>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Option<usize>> {
        let worst = get_maximum_output_size(src.len());
        if self.buffer.len() < worst {
            self.buffer = crate::limits::zeroed("an LZ4 result", worst as u64)?;
        }
        let packed = match dictionary {
            // It has no use for so short ones.
            Some(dictionary) if dictionary.len() >= 4 => {
                compress_into_with_dict(src, &mut self.buffer, dictionary)
            }
            _ => compress_into_with_table(src, &mut self.buffer, &mut self.table),
        };
        let Ok(len) = packed else { return Ok(None) };
        let (Some(from), Some(to)) = (self.buffer.get(..len), dst.get_mut(..len)) else { return Ok(None) };
        to.copy_from_slice(from);
        Ok(Some(len))
    }

    pub(in crate::codec) fn compress_high(
        &mut self,
        clevel: u8,
        dictionary: Option<&[u8]>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<Option<usize>> {
        self.compress_fast(clevel, dictionary, src, dst)
    }
}
