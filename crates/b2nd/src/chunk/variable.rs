//! Chunks whose blocks have lengths of their own: encoded from a list of blocks, decoded whole or block by block.

use super::MAX_BLOCK_BYTES;
use super::MAX_CHUNK_BYTES;
use super::decoder::BlockDecoder;
use super::dictionary::Samples;
use super::head::ChunkHead;
use super::header;
use super::header::ChunkHeader;
use super::params::Params;
use super::streams::Coder;
use crate::codec::Engine;
use crate::error::Error;
use crate::error::Part;
use crate::error::Result;
use crate::exec::Exec;
use crate::exec::Scratch;
use crate::filter::Filter;
use crate::filter::Steps;
use crate::limits::zeroed;
use crate::registry::Context;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::PoisonError;

/// Compresses blocks of any lengths into one chunk, each to be read by itself, on the threads of `exec`.
///
/// The block size and the split mode of `params` play no part. C-Blosc2 reads such chunks since 3.0.
///
/// ```
/// use b2nd::{Exec, Limits, Params};
/// use b2nd::chunk::{Context, decode, decode_block, encode_blocks};
/// let context = Context::new(Limits::default());
/// let words = [&b"one"[..], b"twenty-one", b"two"];
/// let chunk = encode_blocks(&words, &Params::new(1), &context, &Exec::new(1))?;
/// assert_eq!(decode_block(&chunk, 1, &context, &Exec::new(1))?, b"twenty-one");
/// assert_eq!(decode(&chunk, &context, &Exec::new(1))?, b"onetwenty-onetwo");
/// # Ok::<(), b2nd::Error>(())
/// ```
///
/// # Errors
/// [`Error::Compression`] for the delta filter and for parameters that cannot be written; [`Error::Usage`] for no
/// blocks, empty ones, and more than a chunk holds.
pub fn encode_blocks(blocks: &[&[u8]], params: &Params, context: &Context, exec: &Exec) -> Result<Vec<u8>> {
    let header = new_header(blocks, params)?;
    let steps = params.check(context)?;
    let mut coder = Coder {
        engine: Engine::new(params.codec(), params.codec_meta(), u32::from(header.typesize), context),
        clevel: params.clevel(),
        runs: false,
    };
    let mut header = header;
    let dictionary = dictionary(blocks, params, &steps, exec)?;
    if let Some(dictionary) = &dictionary {
        coder.engine = coder.engine.writing_with(dictionary, params.clevel())?;
        header.set_dictionary(true);
    }
    let packed: Vec<Mutex<Vec<u8>>> = blocks.iter().map(|_| Mutex::default()).collect();
    let effort = params.codec().effort_to_write(params.clevel(), u64::from(header.nbytes));
    exec.run(blocks.len(), effort, |scratch, n| {
        let (Some(block), Some(slot)) = (blocks.get(n), packed.get(n)) else { return Ok(()) };
        let result = pack(block, &steps, &coder, scratch)?;
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = result;
        exec.progress(block.len() as u64);
        Ok(())
    })?;
    let packed = packed.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner));
    assemble(header, dictionary.as_deref(), &packed.collect::<Vec<_>>())
}

fn new_header(blocks: &[&[u8]], params: &Params) -> Result<ChunkHeader> {
    if params.short_header() {
        return Err(Error::compression("the 16-byte header of Blosc1 has no blocks of variable length"));
    }
    if params.pipeline().contains(Filter::Delta) {
        return Err(Error::compression(
            "C-Blosc2 does not read delta in blocks of variable length: leave it out",
        ));
    }
    if blocks.iter().any(|block| block.is_empty() || block.len() > MAX_BLOCK_BYTES as usize) {
        return Err(Error::usage(format!("a block has between 1 and {MAX_BLOCK_BYTES} bytes")));
    }
    let nbytes: u64 = blocks.iter().map(|block| block.len() as u64).sum();
    // With offsets and lengths the chunk may be longer than its data, and its own length is an `i32` too.
    let most = nbytes + 8 * blocks.len() as u64;
    if blocks.is_empty() || blocks.len() > MAX_BLOCK_BYTES as usize || most > u64::from(MAX_CHUNK_BYTES) {
        let n = blocks.len();
        return Err(Error::usage(format!("{n} blocks of {nbytes} bytes do not make a chunk")));
    }
    Ok(ChunkHeader {
        version: header::VERSION_VARIABLE,
        codec_version: 1,
        flags: header::flags(false, params.pipeline(), false, params.codec()),
        typesize: params.stored_typesize(),
        nbytes: nbytes as u32,
        blocksize: blocks.len() as u32,
        cbytes: 0,
        pipeline: *params.pipeline(),
        codec_id: params.codec().id(),
        codec_meta: params.codec_meta(),
        flags2: header::FLAG2_VARIABLE,
        blosc2_flags: 0,
    })
}

/// A dictionary of the filtered blocks, if one is requested and there are enough of them.
fn dictionary(blocks: &[&[u8]], params: &Params, steps: &Steps, exec: &Exec) -> Result<Option<Vec<u8>>> {
    // The least number of samples in C-Blosc2.
    const MIN_BLOCKS: usize = 8;
    let nbytes = blocks.iter().map(|block| block.len()).sum();
    if !params.dictionary() || params.clevel() == 0 || blocks.len() < MIN_BLOCKS {
        return Ok(None);
    }
    let Some(mut samples) = Samples::of_blocks(params.codec(), nbytes) else { return Ok(None) };
    let stride = samples.stride(blocks.len(), nbytes);
    exec.with_scratch(|scratch| {
        for block in blocks.iter().step_by(stride) {
            let Scratch { front, back, .. } = scratch;
            samples.add(steps.apply(block, None, front, back)?)?;
            if samples.is_enough() {
                break;
            }
        }
        samples.train()
    })
}

/// Filters and compresses one block: its length, then the stream.
fn pack(block: &[u8], steps: &Steps, coder: &Coder, scratch: &mut Scratch) -> Result<Vec<u8>> {
    let Scratch { front, back, codec, .. } = scratch;
    let filtered = steps.apply(block, None, front, back)?;
    let mut packed = zeroed("a compressed block", 4 + block.len() as u64)?;
    let (length, stream) = packed.split_at_mut(4);
    length.copy_from_slice(&(block.len() as u32).to_le_bytes());
    // A stream as long as the data would be read as the data itself.
    let (fits, _) = stream.split_at_mut(block.len() - 1);
    let len = match coder.engine.compress(coder.clevel, filtered, fits, codec)? {
        Some(len) if len > 0 => len,
        _ => {
            stream.copy_from_slice(filtered);
            block.len()
        }
    };
    packed.truncate(4 + len);
    packed.shrink_to_fit();
    Ok(packed)
}

fn assemble(mut header: ChunkHeader, dictionary: Option<&[u8]>, packed: &[Vec<u8>]) -> Result<Vec<u8>> {
    let before = header::LONG + 4 * packed.len() + dictionary.map_or(0, |bytes| 4 + bytes.len());
    let total = packed.iter().fold(before, |total, block| total + block.len());
    header.cbytes = u32::try_from(total).ok().filter(|n| *n <= i32::MAX as u32).ok_or_else(|| {
        Error::above(
            i32::MAX.unsigned_abs(),
            total,
            format!("a chunk of {total} compressed bytes is too long"),
        )
    })?;
    let mut chunk = Vec::new();
    chunk.try_reserve_exact(total).map_err(|_| Error::out_of_memory("a chunk", total as u64))?;
    chunk.extend_from_slice(&header.to_bytes().0);
    let mut start = before;
    for block in packed {
        chunk.extend_from_slice(&(start as u32).to_le_bytes());
        start += block.len();
    }
    if let Some(dictionary) = dictionary {
        chunk.extend_from_slice(&(dictionary.len() as u32).to_le_bytes());
        chunk.extend_from_slice(dictionary);
    }
    packed.iter().for_each(|block| chunk.extend_from_slice(block));
    Ok(chunk)
}

/// Decompresses block `n` of a chunk of any kind, touching nothing but it (and the first block, where others refer to that).
///
/// ```
/// use b2nd::{Exec, Limits, Params};
/// use b2nd::chunk::{decode_block, encode};
/// let chunk = encode(&[5; 1000], &Params::new(1).with_blocksize(Some(300)), &Exec::new(1))?;
/// assert_eq!(decode_block(&chunk, 3, &Limits::default(), &Exec::new(1))?, [5; 100]);
/// # Ok::<(), b2nd::Error>(())
/// ```
///
/// # Errors
/// [`Error::OutOfBounds`] where there is no such block, and all that [`decode`](super::decode) has.
pub fn decode_block(chunk: &[u8], n: usize, context: impl Into<Context>, exec: &Exec) -> Result<Vec<u8>> {
    let head = ChunkHead::parse(chunk, chunk.len() as u64, &context.into())?;
    head.check_has_block(n)?;
    let stream = |span: Range<usize>| {
        let cut_off = || Error::format(Part::Stream, chunk.len() as u64, "the chunk is cut off");
        chunk.get(span).ok_or_else(cut_off)
    };
    exec.with_scratch(|scratch| {
        let mut decoder = BlockDecoder::new(&head);
        if let Some(span) = decoder.missing_reference(n) {
            decoder.supply_reference(stream(span)?, scratch)?;
        }
        let stream = stream(head.block_span(n))?;
        let mut block = zeroed("a block", head.decoded_len(n, stream)? as u64)?;
        decoder.decode(n, stream, &mut block, scratch)?;
        decoder.release(scratch);
        Ok(block)
    })
}
