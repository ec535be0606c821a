//! A chunk in which some blocks are replaced: the others keep their compressed bytes.

use super::decoder::BlockDecoder;
use super::encode::EncodePlan;
use super::head::ChunkHead;
use super::head::Content;
use super::header::ChunkHeader;
use super::params::Params;
use super::streams::Sink;
use crate::codec::Codec;
use crate::error::Error;
use crate::error::Result;
use crate::exec::Exec;
use crate::exec::Scratch;
use crate::registry::Context;
use std::sync::{Mutex, PoisonError};

/// Replaces blocks of one chunk.
pub(crate) struct Splice<'a> {
    head: &'a ChunkHead,
    old: &'a [u8],
    plan: EncodePlan,
    codec: Codec,
    clevel: u8,
}

/// Blocks of one chunk, and their uncompressed bytes.
pub(crate) struct DecodedBlocks<'a> {
    /// The numbers of the blocks, in ascending order.
    pub(crate) numbers: &'a [usize],
    /// The bytes of the blocks, one after the other. All blocks have the same length.
    pub(crate) bytes: &'a mut [u8],
}

impl DecodedBlocks<'_> {
    /// Each block with its number.
    fn each(&mut self) -> impl Iterator<Item = (usize, &mut [u8])> {
        let len = (self.bytes.len() / self.numbers.len().max(1)).max(1);
        self.numbers.iter().copied().zip(self.bytes.chunks_exact_mut(len))
    }
}

impl<'a> Splice<'a> {
    /// `None` where the blocks of the chunk `old` cannot stand beside ones that are compressed with `params`: they have other
    /// filters or another codec, or depend on each other.
    pub(crate) fn new(
        old: &'a [u8],
        head: &'a ChunkHead,
        params: &Params,
        context: &Context,
    ) -> Result<Option<Self>> {
        if head.content() != Content::Blocks || head.refers_to_first() || params.dictionary() {
            return Ok(None);
        }
        let header = head.header();
        let plan = EncodePlan::new(header.nbytes() as usize, params, context)?;
        // A dictionary, or blocks of variable length, would show in the flags.
        let alike = ChunkHeader { cbytes: header.cbytes, ..plan.header().clone() } == *header;
        let (codec, clevel) = (params.codec(), params.clevel());
        Ok(alike.then_some(Splice { head, old, plan, codec, clevel }))
    }

    /// Decodes blocks as they were, on all threads of `exec` where that pays.
    pub(crate) fn decode(&self, mut blocks: DecodedBlocks<'_>, exec: &Exec) -> Result<()> {
        let effort = self.codec.effort_to_read(blocks.bytes.len() as u64);
        let decoder = BlockDecoder::new(self.head);
        let decode = |block: usize, to: &mut [u8], scratch: &mut Scratch| {
            let stream = self.old.get(self.head.block_span(block)).unwrap_or_default();
            decoder.decode(block, stream, to, scratch)
        };
        let call = exec.call(blocks.numbers.len(), effort);
        if !call.is_shared() {
            return exec.with_scratch(|scratch| {
                blocks.each().try_for_each(|(block, to)| {
                    exec.check_cancelled()?;
                    decode(block, to, scratch)
                })
            });
        }
        let places: Vec<_> = blocks.each().map(Mutex::new).collect();
        call.run(places.len(), |scratch, n| {
            let Some(place) = places.get(n) else { return Ok(()) };
            let (block, to) = &mut *place.lock().unwrap_or_else(PoisonError::into_inner);
            decode(*block, to, scratch)
        })
    }

    /// Replaces the contents of `out` by the new chunk, with the blocks of `changed`, on all threads of `exec` if
    /// that pays. Returns `false` if the result is not smaller than raw, or all zeros: then the chunk must be encoded
    /// from scratch.
    pub(crate) fn encode(
        &self,
        mut changed: DecodedBlocks<'_>,
        exec: &Exec,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let mut sink = Sink::over(out);
        let numbers = changed.numbers;
        let call =
            exec.call(numbers.len(), self.codec.effort_to_write(self.clevel, changed.bytes.len() as u64));
        let result = if call.is_shared() {
            let coded: Vec<_> = changed.each().map(|(_, block)| Mutex::new((&*block, Vec::new()))).collect();
            call.run(coded.len(), |scratch, n| {
                let Some(slot) = coded.get(n) else { return Ok(()) };
                let (block, to) = &mut *slot.lock().unwrap_or_else(PoisonError::into_inner);
                self.plan.encode_block(block, None, &mut Sink::over(to), scratch).map(|_| ())
            })
            .and_then(|()| {
                let mut coded = coded.into_iter();
                self.blocks(numbers, &mut sink, |sink| {
                    let slot = coded.next().ok_or_else(missing)?;
                    let (_, coded) = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
                    sink.put(&coded).map(|()| true)
                })
            })
        } else {
            exec.with_scratch(|scratch| {
                let mut blocks = changed.each();
                self.blocks(numbers, &mut sink, |sink| {
                    exec.check_cancelled()?;
                    let (_, block) = blocks.next().ok_or_else(missing)?;
                    self.plan.encode_block(block, None, sink, scratch)
                })
            })
        };
        if let Ok(true) = result {
            let cbytes = sink.end() as u32;
            sink.patch(12, &cbytes.to_le_bytes());
        } else {
            sink.rewind();
        }
        result
    }

    /// Puts all blocks in order; `put` puts the next changed one, and returns whether it fitted.
    fn blocks(
        &self,
        changed: &[usize],
        sink: &mut Sink<'_>,
        mut put: impl FnMut(&mut Sink<'_>) -> Result<bool>,
    ) -> Result<bool> {
        let plan = &self.plan;
        plan.put_head(sink)?;
        let body = sink.end();
        sink.set_limit(body + plan.no_gain_from());
        let mut changed = changed.iter().copied().peekable();
        for n in 0..plan.nblocks() {
            plan.note_block(n, sink.end(), sink);
            if changed.next_if_eq(&n).is_some() {
                if !put(sink)? {
                    return Ok(false);
                }
            } else {
                // A forged chunk may have overlapping blocks; the check below stops when they are too long in all.
                sink.put(self.old.get(self.head.block_span(n)).unwrap_or_default())?;
            }
            if sink.end() - body >= plan.no_gain_from() {
                return Ok(false);
            }
        }
        Ok(!plan.is_all_zeros(sink.end() - body))
    }
}

fn missing() -> Error {
    Error::usage("fewer blocks are decoded than are changed")
}
