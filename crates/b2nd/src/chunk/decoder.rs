//! Decodes single blocks of a chunk from their streams, and keeps the first block where others refer to it.

use super::blocks::ItemRuns;
use super::head::ChunkHead;
use crate::error::{Error, Result};
use crate::exec::Scratch;
use crate::filter::grown;
use crate::limits::resize;
use std::borrow::Cow;
use std::mem::take;
use std::ops::{Deref, Range};

/// Decodes the blocks of one chunk, one at a time.
///
/// With the delta filter, all blocks refer to the first one, the reference block. It is decoded at most once: by
/// [`BlockDecoder::supply_reference`], when [`BlockDecoder::missing_reference`] names its bytes. Each block is checked against
/// its checksum, where the head has one, before it is decoded.
pub(crate) struct BlockDecoder<'r, H> {
    head: H,
    /// The decoded first block; empty while it is not decoded.
    reference: Cow<'r, [u8]>,
}

impl<'r, H: Deref<Target = ChunkHead>> BlockDecoder<'r, H> {
    /// A new decoder, without the reference block.
    pub(crate) fn new(head: H) -> Self {
        BlockDecoder { head, reference: Cow::Borrowed(&[]) }
    }

    /// A decoder for the blocks after the first, which is decoded already.
    pub(crate) fn with_reference(head: H, reference: &'r [u8]) -> Self {
        BlockDecoder { head, reference: Cow::Borrowed(reference) }
    }

    /// The head of the chunk.
    pub(crate) fn head(&self) -> &ChunkHead {
        &self.head
    }

    /// The bytes of the reference block, where block `n` refers to it and it was not supplied yet.
    pub(crate) fn missing_reference(&self, n: usize) -> Option<Range<usize>> {
        let missing = n > 0 && self.head.refers_to_first() && self.reference.is_empty();
        missing.then(|| self.head.block_span(0))
    }

    /// Decodes the reference block from its `stream`, into memory of `scratch` that [`BlockDecoder::release`] gives back.
    pub(crate) fn supply_reference(&mut self, stream: &[u8], scratch: &mut Scratch) -> Result<()> {
        let mut reference = take(&mut scratch.reference);
        let decoded = resize("the first block of a chunk", &mut reference, self.head.block_len(0))
            .and_then(|()| self.head.decode_block(0, stream, None, &mut reference, scratch));
        match decoded {
            Ok(()) => self.reference = Cow::Owned(reference),
            Err(_) => scratch.reference = reference,
        }
        decoded
    }

    /// The decoded reference block, if block `n` is it.
    pub(crate) fn decoded(&self, n: usize) -> Option<&[u8]> {
        (n == 0 && !self.reference.is_empty()).then_some(&*self.reference)
    }

    /// Decodes block `n` from `stream`, or copies it where it is the reference block.
    ///
    /// `stream` starts with the block and may be longer, except where blocks have lengths of their own. `dst` has
    /// [`ChunkHead::decoded_len`] bytes. Uses `front`, `back` and `codec` of `scratch`; the rest is the caller's.
    #[inline]
    pub(crate) fn decode(
        &self,
        n: usize,
        stream: &[u8],
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        if let Some(block) = self.decoded(n).filter(|block| block.len() == dst.len()) {
            dst.copy_from_slice(block);
            return Ok(());
        }
        let reference = (!self.reference.is_empty()).then_some(&*self.reference);
        self.head.decode_block(n, stream, reference, dst, scratch)
    }

    /// Decodes the bytes of block `n`, which has `len`, from `start` on into `dst`, as many as it has room for.
    ///
    /// Uses `block` of `scratch` too.
    pub(crate) fn decode_part(
        &self,
        n: usize,
        len: usize,
        stream: &[u8],
        start: usize,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        if start == 0 && dst.len() == len {
            return self.decode(n, stream, dst, scratch);
        }
        let outside = || {
            let (end, count) = (start.saturating_add(dst.len()), dst.len());
            Error::out_of_bounds(end, len, format!("{count} bytes from {start} on of a block of {len}"))
        };
        let range = start..start.checked_add(dst.len()).filter(|end| *end <= len).ok_or_else(outside)?;
        if let Some(part) = self.decoded(n).and_then(|block| block.get(range.clone())) {
            dst.copy_from_slice(part);
            return Ok(());
        }
        // The block leaves the scratch while the codecs use the rest of it.
        let mut whole = take(&mut scratch.block);
        let result = grown(&mut whole, len, "a block").and_then(|whole| {
            self.decode(n, stream, whole, scratch)?;
            dst.copy_from_slice(whole.get(range).unwrap_or_default());
            Ok(())
        });
        scratch.block = whole;
        result
    }

    /// Decodes single items of block `n`: see [`ChunkHead::decode_items`].
    #[inline]
    pub(crate) fn decode_items(
        &self,
        n: usize,
        stream: &[u8],
        items: ItemRuns<'_>,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<bool> {
        self.head.decode_items(n, stream, items, dst, scratch)
    }

    /// Decodes the start of block `n`: see [`ChunkHead::decode_start`].
    #[inline]
    pub(crate) fn decode_start(
        &self,
        n: usize,
        stream: &[u8],
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<bool> {
        self.head.decode_start(n, stream, dst, scratch)
    }

    /// Gives the memory of the reference block back.
    pub(crate) fn release(self, scratch: &mut Scratch) {
        if let Cow::Owned(reference) = self.reference {
            scratch.reference = reference;
        }
    }
}
