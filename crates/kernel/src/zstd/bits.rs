//! Streams of bits that are read from their end towards their beginning.

use super::{Refusal, Result};

/// How many bytes before a stream have to be there: words are read that begin before it.
const BEFORE: usize = 8;

/// A stream within a frame. Places count the bits of the frame, so that words can be read across the beginning of the stream.
#[derive(Clone, Copy)]
pub(super) struct BitReader<'a> {
    frame: &'a [u8],
    /// Where the stream begins.
    pub(super) start: usize,
    /// Where the bits end that are yet to be read; before `start` when more were read than there are.
    pub(super) at: usize,
}

impl<'a> BitReader<'a> {
    /// The stream in the bytes from `begin` to `end`. The highest bit that is set is not part of it.
    #[inline(always)]
    pub(super) fn new(frame: &'a [u8], begin: usize, end: usize) -> Result<Self> {
        let stream = frame.get(begin..end).ok_or(Refusal::new("a stream of bits is cut off"))?;
        match stream.last() {
            Some(last @ 1..) if begin >= BEFORE => {
                Ok(BitReader { frame, start: begin * 8, at: end * 8 - 1 - last.leading_zeros() as usize })
            }
            _ => Err(Refusal::new("a stream of bits has no end")),
        }
    }

    /// The bytes that words are read from.
    pub(super) fn frame(&self) -> &'a [u8] {
        self.frame
    }

    /// The word that ends with the byte in which the bits end: so many of its lowest bits, 56 to 63, are yet to be read.
    #[inline(always)]
    pub(super) fn word(&self) -> (u64, u32) {
        let byte = self.at >> 3;
        let bytes = self.frame.get(byte.wrapping_sub(7)..).and_then(<[u8]>::first_chunk);
        (u64::from_le_bytes(*bytes.unwrap_or(&[0; 8])), 56 | (self.at & 7) as u32)
    }

    /// The next `n` bits, 56 at most.
    #[inline(always)]
    pub(super) fn take(&mut self, n: u32) -> Result<u64> {
        if self.at < self.start + n as usize {
            return Err(Refusal::new("a stream of bits is too short"));
        }
        let (word, valid) = self.word();
        self.at -= n as usize;
        Ok(word >> (valid - n) & !(u64::MAX << n))
    }

    /// Whether no more bits were read than there are.
    #[inline(always)]
    pub(super) fn is_sound(&self) -> bool {
        self.at >= self.start
    }

    /// Whether all bits were read, and no more.
    pub(super) fn is_finished(&self) -> bool {
        self.at == self.start
    }
}
