//! Finds out which blocks of a chunk can be decoded.

use super::decoder::BlockDecoder;
use super::head::{ChunkHead, Content};
use crate::error::Result;
use crate::exec::{Exec, Scratch};
use crate::limits::{Limits, resize};
use crate::registry::Context;
use std::mem::take;

/// Decodes every block of a chunk that is stored or compressed, and hands each to `visit` with its number: its bytes, or why it
/// cannot be read. Where no other block can be decoded without the first, and that cannot be read, no others come.
///
/// # Errors
/// What `visit` returns; [`Error::Format`](crate::Error::Format) where blocks of variable length do not make up the chunk.
pub(crate) fn each_block(
    head: &ChunkHead,
    chunk: &[u8],
    scratch: &mut Scratch,
    mut visit: impl FnMut(usize, Result<&[u8]>) -> Result<()>,
) -> Result<()> {
    // That blocks of variable length have as many bytes as the chunk is no matter of any one block.
    head.cuts(chunk)?;
    let mut decoder = BlockDecoder::new(head);
    if let Some(span) = decoder.missing_reference(head.nblocks().saturating_sub(1))
        && let Err(error) = decoder.supply_reference(chunk.get(span).unwrap_or_default(), scratch)
    {
        return visit(0, Err(error));
    }
    let mut block = take(&mut scratch.block);
    for n in 0..head.nblocks() {
        let decoded = match decoder.decoded(n) {
            Some(reference) => Ok(reference),
            None => {
                let stream = chunk.get(head.block_span(n)).unwrap_or_default();
                let decoded = head.decoded_len(n, stream).and_then(|len| {
                    resize("a block", &mut block, len)?;
                    decoder.decode(n, stream, &mut block, scratch)
                });
                decoded.map(|()| &block[..])
            }
        };
        visit(n, decoded)?;
    }
    scratch.block = block;
    decoder.release(scratch);
    Ok(())
}

/// Decodes the blocks of a chunk one after another and keeps none, in the memory of one block of at most `most` bytes.
///
/// # Errors
/// [`Error::Format`](crate::Error::Format) where a block cannot be decoded; [`Error::Limit`](crate::Error::Limit) where one is
/// longer than `most`.
pub(crate) fn check(chunk: &[u8], context: &Context, most: u64, exec: &Exec) -> Result<()> {
    let head = ChunkHead::parse(chunk, chunk.len() as u64, context)?;
    if head.content() != Content::Blocks {
        return Ok(());
    }
    let mut longest = head.header().blocksize() as usize;
    if head.header().is_variable() {
        longest = 0;
        for n in 0..head.nblocks() {
            longest = longest.max(head.decoded_len(n, chunk.get(head.block_span(n)).unwrap_or_default())?);
        }
    }
    Limits::check("a block", longest as u64, most)?;
    exec.with_scratch(|scratch| {
        each_block(&head, chunk, scratch, |_, decoded| {
            exec.check_cancelled()?;
            decoded.map(drop)
        })
    })
}
