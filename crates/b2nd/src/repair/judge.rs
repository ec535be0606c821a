//! What the bytes of one chunk are worth: held against its checksums, or decoded.

use crate::chunk;
use crate::chunk::{ChunkHead, ChunkHeader, Content, Context, Params, Sums, each_block};
use crate::codec::Codec;
use crate::error::{Error, Part, Result};
use crate::exec::{Exec, Scratch};
use crate::filter::{Filter, Pipeline};
use crate::limits::zeroed;
use crate::schunk::{ChecksumStatus, is_damage};
use std::ops::Range;

/// What the bytes of a chunk are worth.
#[derive(Debug)]
pub(super) enum Verdict {
    /// All of it can be had.
    Good(ChecksumStatus),
    /// All but these blocks.
    Partial(LostBlocks),
    /// Nothing.
    Bad(Error),
}

/// Blocks of a chunk that are lost, in ascending order.
#[derive(Debug, Default)]
pub(super) struct LostBlocks {
    runs: Vec<(Range<u32>, Option<Box<Error>>)>,
    count: u64,
    reasons: usize,
}

/// Lost blocks of one chunk of which it is said why: of the others it is said that they are lost.
pub(super) const MOST_REASONS: usize = 64;

impl LostBlocks {
    /// Adds blocks behind all that are there.
    fn push(&mut self, blocks: Range<usize>, reason: impl FnOnce() -> Error) -> Result<()> {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let blocks = number(blocks.start)..number(blocks.end);
        self.count = self.count.saturating_add(blocks.len() as u64);
        let more = self.reasons >= MOST_REASONS;
        match self.runs.last_mut() {
            Some((last, None)) if more && last.end == blocks.start => last.end = blocks.end,
            _ => {
                let bytes = (self.runs.len() as u64).saturating_mul(16);
                self.runs
                    .try_reserve(1)
                    .map_err(|_| Error::out_of_memory("the lost blocks of a chunk", bytes))?;
                self.reasons = self.reasons.saturating_add(1);
                self.runs.push((blocks, (!more).then(|| Box::new(reason()))));
            }
        }
        Ok(())
    }
    /// How many they are.
    pub(super) fn count(&self) -> u64 {
        self.count
    }
    /// Forgets why they are lost.
    pub(super) fn without_reasons(mut self) -> Self {
        self.runs.iter_mut().for_each(|(_, reason)| *reason = None);
        self
    }
    fn contains(&self, block: usize) -> bool {
        let after = self.runs.partition_point(|(blocks, _)| (blocks.start as usize) <= block);
        after
            .checked_sub(1)
            .and_then(|at| self.runs.get(at))
            .is_some_and(|(blocks, _)| block < blocks.end as usize)
    }
    /// The blocks, those that follow one another together, and why they are lost.
    pub(super) fn into_runs(self) -> impl Iterator<Item = (Range<u32>, Error)> {
        let unsaid =
            || Error::format(Part::Stream, None, "it does not match its checksum, or cannot be decoded");
        self.runs
            .into_iter()
            .map(move |(blocks, reason)| (blocks, reason.map_or_else(unsaid, |reason| *reason)))
    }
}

/// What a chunk is compared with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected<'a> {
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
    bytes: &[u8],
    expected: Expected<'_>,
    context: &Context,
    scratch: &mut Scratch,
) -> Result<Verdict> {
    match judged(bytes, expected, context, scratch) {
        Err(error) if is_damage(&error) => Ok(Verdict::Bad(error)),
        other => other,
    }
}

fn judged(bytes: &[u8], expected: Expected<'_>, context: &Context, scratch: &mut Scratch) -> Result<Verdict> {
    let header = ChunkHeader::parse(bytes)?;
    if expected.nbytes.is_some_and(|nbytes| nbytes != header.nbytes()) {
        let reason = format!("{} uncompressed bytes, which is no size of a chunk here", header.nbytes());
        return Err(Error::format(Part::ChunkHeader, 4, reason));
    }
    if header.nblocks() > bytes.len() && header.special().is_none() {
        let reason = format!("{} blocks, and the chunk has {} bytes", header.nblocks(), bytes.len());
        return Err(Error::format(Part::ChunkHeader, 8, reason));
    }
    match expected.sums {
        Some((sums, strict)) => by_sums(bytes, sums, strict, expected.params, context, scratch),
        None => by_decoding(bytes, expected.params, context, scratch),
    }
}

/// Header and block offsets of a chunk that may be cut off behind them.
fn head_of(bytes: &[u8], context: &Context) -> Result<ChunkHead> {
    let len = ChunkHeader::parse(bytes)?.cbytes();
    ChunkHead::parse(bytes, u64::from(len), context)
}

/// Why a block is lost whose bytes are not all there; `None` where they are.
fn cut(head: &ChunkHead, block: usize, there: usize) -> Option<Error> {
    (head.block_span(block).end > there)
        .then(|| Error::format(Part::Stream, None, format!("the chunk is cut off after {there} bytes")))
}

/// The verdict where these blocks are lost.
fn some(lost: LostBlocks, head: &ChunkHead) -> Verdict {
    let hopeless = lost.count() == head.nblocks() as u64
        || head.header().is_variable()
        || (head.refers_to_first() && lost.contains(0));
    match lost.count() {
        0 => Verdict::Good(ChecksumStatus::Unchecked),
        _ if hopeless => {
            let gone = || Error::format(Part::Stream, None, "none of its blocks can be read");
            Verdict::Bad(lost.into_runs().next().map_or_else(gone, |(_, error)| error))
        }
        _ => Verdict::Partial(lost),
    }
}

fn by_sums(
    bytes: &[u8],
    sums: &Sums,
    strict: bool,
    params: &Params,
    context: &Context,
    scratch: &mut Scratch,
) -> Result<Verdict> {
    let Err(mismatch) = sums.check_chunk(bytes) else { return Ok(Verdict::Good(ChecksumStatus::Matching)) };
    if !strict {
        return Ok(match by_decoding(bytes, params, context, scratch)? {
            Verdict::Good(_) => Verdict::Good(ChecksumStatus::Stale),
            other => other,
        });
    }
    if !is_damage(&mismatch) {
        return Err(mismatch);
    }
    let head = match head_of(bytes, context) {
        Ok(head) => head.with_sums(sums.clone(), bytes)?,
        Err(_) => return Ok(Verdict::Bad(mismatch)),
    };
    let mut lost = LostBlocks::default();
    for n in 0..head.nblocks() {
        if let Err(error) = head.check_block(n, bytes.get(head.block_span(n)).unwrap_or_default()) {
            lost.push(n..n.saturating_add(1), || error)?;
        }
    }
    match some(lost, &head) {
        Verdict::Good(_) => Ok(Verdict::Bad(mismatch)),
        other => Ok(other),
    }
}

fn by_decoding(bytes: &[u8], params: &Params, context: &Context, scratch: &mut Scratch) -> Result<Verdict> {
    let header = ChunkHeader::parse(bytes)?;
    // No build reads measurements of a codec, or references to files, as chunks of a frame.
    header.check_supported()?;
    // What this build cannot read it cannot judge; but then the frame names it too.
    let named = header.codec() == Some(params.codec()) && header.pipeline() == params.pipeline();
    let head = match head_of(bytes, context) {
        Err(Error::Unsupported { .. }) if named => return Ok(Verdict::Good(ChecksumStatus::Unchecked)),
        head => head?,
    };
    let mut lost = LostBlocks::default();
    match head.content() {
        Content::Repeat(_) => return Ok(Verdict::Good(ChecksumStatus::Unchecked)),
        Content::Raw => {
            // Stored blocks are whole as far as there are bytes: nothing is to be looked at, however many they are.
            let body = bytes.len().saturating_sub(header.header_len());
            let whole = body.checked_div(header.blocksize() as usize).unwrap_or(0);
            if bytes.len() < header.cbytes() as usize && whole < head.nblocks() {
                let gone = || {
                    Error::format(
                        Part::Stream,
                        None,
                        format!("the chunk is cut off after {} bytes", bytes.len()),
                    )
                };
                lost.push(whole..head.nblocks(), gone)?;
            }
        }
        Content::Blocks => {
            each_block(&head, bytes, scratch, |n, decoded| match (decoded, cut(&head, n, bytes.len())) {
                (_, Some(gone)) => lost.push(n..n.saturating_add(1), || gone),
                (Err(Error::Unsupported { .. }), None) if named => Ok(()),
                (Ok(_), None) => Ok(()),
                (Err(error), None) if is_damage(&error) => lost.push(n..n.saturating_add(1), || error),
                (Err(error), None) => Err(error),
            })?;
        }
    }
    Ok(some(lost, &head))
}

/// Uncompressed bytes of a chunk of which blocks are lost that is made anew, however little of it is there.
const SALVAGED: u64 = 32 << 20;

/// The chunk with `fill` in the place of these blocks, the others as they were; compressed so that nothing more is lost.
pub(super) fn salvage(
    bytes: &[u8],
    lost: &LostBlocks,
    fill: &[u8],
    params: &Params,
    context: &Context,
    exec: &Exec,
    scratch: &mut Scratch,
) -> Result<Vec<u8>> {
    let head = head_of(bytes, context)?;
    let header = head.header();
    let most = SALVAGED.saturating_add((bytes.len() as u64).saturating_mul(32));
    if u64::from(header.nbytes()) > most {
        let reason = "blocks of it are lost, and it is too large beside what is there to be made anew";
        return Err(Error::format(Part::ChunkHeader, 4, reason));
    }
    let mut items = zeroed("a chunk", u64::from(header.nbytes()))?;
    let size = (header.blocksize() as usize).max(1);
    each_block(&head, bytes, scratch, |n, decoded| {
        let at = n.saturating_mul(size).min(items.len());
        let end = at.saturating_add(size).min(items.len());
        let part = items.get_mut(at..end).unwrap_or_default();
        match decoded {
            Ok(block) if !lost.contains(n) && block.len() == part.len() => part.copy_from_slice(block),
            Err(error) if !lost.contains(n) => return Err(error),
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
