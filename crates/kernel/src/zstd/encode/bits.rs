//! Bits, written from the lowest on; they are read from the other end.

/// A stream of bits in `out` from a place on. What does not fit is noticed at the end.
pub(super) struct BitWriter<'a> {
    out: &'a mut [u8],
    at: usize,
    word: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    #[inline(always)]
    pub(super) fn new(out: &'a mut [u8], at: usize) -> Self {
        BitWriter { out, at, word: 0, count: 0 }
    }

    /// Adds the lowest `width` bits of `value`, which has no others. Between two flushes there is room for 56.
    #[inline(always)]
    pub(super) fn add(&mut self, value: u64, width: u32) {
        self.word |= value << (self.count & 63);
        self.count += width;
    }

    #[inline(always)]
    pub(super) fn flush(&mut self) {
        if let Some(place) = self.out.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut) {
            *place = self.word.to_le_bytes();
        }
        self.at += (self.count >> 3) as usize;
        self.word = self.word.unbounded_shr(self.count & 0x78);
        self.count &= 7;
    }

    /// Ends bits that are read from their beginning on; where the last byte is. `None` as of [`close`](Self::close).
    pub(super) fn end(mut self) -> Option<usize> {
        self.flush();
        let end = self.at + usize::from(self.count > 0);
        (self.at + 8 <= self.out.len()).then_some(end)
    }

    /// Ends the stream with the bit that says where it ends; where its last byte is. `None` where there is no room for it, and
    /// for eight bytes more.
    #[inline(always)]
    pub(super) fn close(mut self) -> Option<usize> {
        self.flush();
        self.add(1, 1);
        self.flush();
        let end = self.at + usize::from(self.count > 0);
        (self.at + 8 <= self.out.len()).then_some(end)
    }
}
