//! What the bytes of one chunk are worth: held against its checksums, or decoded.

use crate::chunk;
use crate::chunk::{ChunkHead, ChunkHeader, Content, Context, Params, Sums, each_block};
use crate::codec::Codec;
use crate::error::{Error, Part, Result};
use crate::exec::{Exec, Scratch};
use crate::filter::{Filter, Pipeline};
use crate::limits::zeroed;
use crate::schunk::{Standing, is_damage};

/// What the bytes of a chunk are worth.
#[derive(Debug)]
pub(super) enum Verdict {
    /// All of it can be had.
    Good(Standing),
    /// All but these blocks.
    Partial(Vec<(usize, Error)>),
    /// Nothing.
    Bad(Error),
}

/// What a chunk is held against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due<'a> {
    /// Its uncompressed size, where that is known.
    pub(super) nbytes: Option<u32>,
    /// How chunks of the frame are compressed.
    pub(super) params: &'a Params,
    /// Its checksums, and whether what does not match them is damaged.
    pub(super) sums: Option<(&'a Sums, bool)>,
}

/// Looks at the bytes of a chunk, which may be cut off.
///
/// # Errors
/// What is not the file's fault.
pub(super) fn judge(
    bytes: &mut Vec<u8>,
    due: Due<'_>,
    context: &Context,
    scratch: &mut Scratch,
) -> Result<Verdict> {
    match judged(bytes, due, context, scratch) {
        Err(error) if is_damage(&error) => Ok(Verdict::Bad(error)),
        other => other,
    }
}

fn judged(bytes: &mut Vec<u8>, due: Due<'_>, context: &Context, scratch: &mut Scratch) -> Result<Verdict> {
    let header = ChunkHeader::parse(bytes)?;
    if due.nbytes.is_some_and(|nbytes| nbytes != header.nbytes()) {
        let reason = format!("{} uncompressed bytes, which is no size of a chunk here", header.nbytes());
        return Err(Error::format(Part::ChunkHeader, 4, reason));
    }
    let (there, len) = (bytes.len(), header.cbytes() as usize);
    if there < len {
        let most =
            (header.nbytes() as usize).saturating_add(header.nblocks().saturating_mul(8)).saturating_add(64);
        if len > most {
            return Err(Error::format(Part::ChunkHeader, 12, format!("{len} bytes, and {there} are there")));
        }
        // What is not there is no stream of any length, so that blocks that are there can be told from those that are not.
        let refused = |_| Error::out_of_memory("a chunk", len as u64);
        bytes.try_reserve_exact(len - there).map_err(refused)?;
        bytes.resize(len, 0x7f);
    }
    let verdict = match due.sums {
        Some((sums, strict)) => by_sums(bytes, sums, strict, (due.params, context), scratch)?,
        None => by_decoding(bytes, (due.params, context), scratch)?,
    };
    Ok(if there < len { cut(verdict, bytes, there, context)? } else { verdict })
}

/// A chunk that is cut off after `there` bytes: blocks that reach beyond are lost, whatever they seem to be.
fn cut(verdict: Verdict, bytes: &[u8], there: usize, context: &Context) -> Result<Verdict> {
    let mut blocks = match verdict {
        Verdict::Good(_) => Vec::new(),
        Verdict::Partial(blocks) => blocks,
        bad @ Verdict::Bad(_) => return Ok(bad),
    };
    let head = ChunkHead::parse(bytes, bytes.len() as u64, context)?;
    let gone = || Error::format(Part::Stream, None, format!("the chunk is cut off after {there} bytes"));
    for n in (0..head.nblocks()).filter(|n| head.block_span(*n).end > there) {
        if !blocks.iter().any(|(block, _)| *block == n) {
            blocks.push((n, gone()));
        }
    }
    blocks.sort_by_key(|(block, _)| *block);
    Ok(if matches!(head.content(), Content::Repeat(_)) { Verdict::Bad(gone()) } else { some(blocks, &head) })
}

/// The verdict where these blocks are lost.
fn some(mut blocks: Vec<(usize, Error)>, head: &ChunkHead) -> Verdict {
    let hopeless = blocks.len() == head.nblocks()
        || head.header().is_variable()
        || (head.refers_to_first() && blocks.iter().any(|(block, _)| *block == 0));
    match blocks.first() {
        None => Verdict::Good(Standing::Unchecked),
        Some(_) if hopeless => Verdict::Bad(blocks.swap_remove(0).1),
        Some(_) => Verdict::Partial(blocks),
    }
}

fn by_sums(
    bytes: &[u8],
    sums: &Sums,
    strict: bool,
    (params, context): (&Params, &Context),
    scratch: &mut Scratch,
) -> Result<Verdict> {
    let Err(mismatch) = sums.check_chunk(bytes) else { return Ok(Verdict::Good(Standing::Matching)) };
    if !strict {
        return Ok(match by_decoding(bytes, (params, context), scratch)? {
            Verdict::Good(_) => Verdict::Good(Standing::Stale),
            other => other,
        });
    }
    if !is_damage(&mismatch) {
        return Err(mismatch);
    }
    let head = match ChunkHead::parse(bytes, bytes.len() as u64, context) {
        Ok(head) => head.with_sums(sums.clone(), bytes)?,
        Err(_) => return Ok(Verdict::Bad(mismatch)),
    };
    let check = |n: usize| head.check_block(n, bytes.get(head.block_span(n)).unwrap_or_default());
    let wrong = (0..head.nblocks()).filter_map(|n| check(n).err().map(|error| (n, error)));
    match some(wrong.collect(), &head) {
        Verdict::Good(_) => Ok(Verdict::Bad(mismatch)),
        other => Ok(other),
    }
}

fn by_decoding(
    bytes: &[u8],
    (params, context): (&Params, &Context),
    scratch: &mut Scratch,
) -> Result<Verdict> {
    let header = ChunkHeader::parse(bytes)?;
    // No build reads measurements of a codec, or references to files, as chunks of a frame.
    header.check_supported()?;
    // What this build cannot read it cannot judge; but then the frame names it too.
    let named = header.codec() == Some(params.codec()) && header.pipeline() == params.pipeline();
    let head = match ChunkHead::parse(bytes, bytes.len() as u64, context) {
        Err(Error::Unsupported { .. }) if named => return Ok(Verdict::Good(Standing::Unchecked)),
        head => head?,
    };
    if matches!(head.content(), Content::Repeat(_)) {
        return Ok(Verdict::Good(Standing::Unchecked));
    }
    let mut blocks = Vec::new();
    each_block(&head, bytes, scratch, |n, decoded| match decoded {
        Err(Error::Unsupported { .. }) if named => Ok(()),
        Ok(_) => Ok(()),
        Err(error) if is_damage(&error) => {
            blocks.push((n, error));
            Ok(())
        }
        Err(error) => Err(error),
    })?;
    Ok(some(blocks, &head))
}

/// The chunk with `fill` in the place of these blocks, the others as they were; compressed so that nothing more is lost.
pub(super) fn salvage(
    bytes: &[u8],
    lost: &[(usize, Error)],
    fill: &[u8],
    (params, context): (&Params, &Context),
    exec: &Exec,
    scratch: &mut Scratch,
) -> Result<Vec<u8>> {
    let head = ChunkHead::parse(bytes, bytes.len() as u64, context)?;
    let header = head.header();
    let mut items = zeroed("a chunk", u64::from(header.nbytes()))?;
    let size = (header.blocksize() as usize).max(1);
    let mut parts: Vec<&mut [u8]> = items.chunks_mut(size).collect();
    let is_lost = |n: usize| lost.binary_search_by_key(&n, |(block, _)| *block).is_ok();
    each_block(&head, bytes, scratch, |n, decoded| {
        let Some(part) = parts.get_mut(n) else { return Ok(()) };
        match decoded {
            Ok(block) if !is_lost(n) && block.len() == part.len() => part.copy_from_slice(block),
            Err(error) if !is_lost(n) => return Err(error),
            _ => part.chunks_mut(fill.len().max(1)).for_each(|to| {
                to.iter_mut().zip(fill).for_each(|(to, from)| *to = *from);
            }),
        }
        Ok(())
    })?;
    let params = exact(params).with_blocksize(Some(header.blocksize()));
    chunk::encode_with(&items, &params, context, &exec.clone().without_progress())
}

/// The parameters without what changes items that were read.
fn exact(params: &Params) -> Params {
    let built_in =
        matches!(params.codec(), Codec::BloscLz | Codec::Lz4 | Codec::Lz4Hc | Codec::Zlib | Codec::Zstd);
    let kept = [None, Some(Filter::Shuffle), Some(Filter::BitShuffle), Some(Filter::Delta)];
    let filters = params.pipeline().ids().iter().all(|id| kept.contains(&Filter::from_id(*id)));
    let params =
        if built_in { params.clone() } else { params.clone().with_codec(Codec::Zstd).with_codec_meta(0) };
    let params = params.with_dictionary(false);
    if filters { params } else { params.with_pipeline(Pipeline::new()) }
}
