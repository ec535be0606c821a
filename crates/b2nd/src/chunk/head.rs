//! The head of a chunk, needed before single blocks are read: its header and the offsets of its blocks.
//!
//! Holds no block data, so the blocks may come from anywhere: a slice, a file, a partial fetch.

use super::blocks;
use super::blocks::Blocks;
use super::blocks::ItemRuns;
use super::cuts::Cuts;
use super::digest::Sums;
use super::header::ChunkHeader;
use super::special;
use crate::error::Error;
use crate::error::Part;
use crate::error::Result;
use crate::exec::Scratch;
use crate::limits::Limits;
use crate::registry::Context;
use std::ops::Range;

/// What the body of a chunk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content<'a> {
    /// These bytes repeated over the whole chunk: a stored value, a NaN, or one zero byte (zeros, uninitialised).
    ///
    /// Their number divides that of the chunk and may be another than the size of an item.
    Repeat(&'a [u8]),
    /// Raw bytes after the header: block `n` is at [`ChunkHead::block_span`], nothing to decode.
    Raw,
    /// Compressed blocks.
    Blocks,
}

/// The header and block offsets of a chunk, checked; all that must be known before single blocks are read.
#[derive(Debug, Clone)]
pub(crate) struct ChunkHead {
    header: ChunkHeader,
    body: Body,
    /// The expected hashes of the chunk, if known.
    sums: Option<Sums>,
}

/// Result of parsing the first bytes of a chunk.
pub(crate) enum Start {
    Head(ChunkHead),
    /// The head takes this many bytes.
    Longer(usize),
}

#[derive(Debug, Clone)]
enum Body {
    Repeat(Vec<u8>),
    Raw,
    Blocks(Box<Blocks>),
}

impl ChunkHead {
    /// The number of bytes from the start of the chunk that [`ChunkHead::parse`] needs, as far as its first bytes tell: at
    /// least 32 (or all, when it is shorter). Before `first` holds the length of a dictionary it is not known: ask again with
    /// as many bytes as this says, until it says no more. `available` bytes are there for the chunk at most.
    pub(crate) fn needed(first: &[u8], available: u64, context: &Context) -> Result<usize> {
        needed(&checked_header(first, available, context)?, first)
    }

    /// Parses and checks header and block offsets; `bytes` has at least [`ChunkHead::needed`] bytes.
    pub(crate) fn parse(bytes: &[u8], available: u64, context: &Context) -> Result<Self> {
        let header = checked_header(bytes, available, context)?;
        let head = bytes.get(..needed(&header, bytes)?).ok_or_else(|| {
            Error::format(Part::BlockOffsets, bytes.len() as u64, "the chunk ends before its first block")
        })?;
        let after = &head[header.header_len()..];
        let body = if let Some(kind) = header.special() {
            Body::Repeat(special::repeated(kind, header.typesize(), after).to_vec())
        } else if header.is_raw() {
            Body::Raw
        } else {
            Body::Blocks(Box::new(Blocks::parse(&header, after, context)?))
        };
        Ok(ChunkHead { header, body, sums: None })
    }

    /// Parses the head from the first bytes of a chunk, or says how many of them that takes.
    ///
    /// `due`: the uncompressed bytes that the chunk must have, where that is known. With `sums`, the bytes are checked.
    pub(crate) fn from_start(
        bytes: &[u8],
        available: u64,
        due: Option<u32>,
        sums: Option<&Sums>,
        context: &Context,
    ) -> Result<Start> {
        // A chunk of another size is damage, whatever it would cost: so this comes before the limits.
        let header = ChunkHeader::parse(bytes)?;
        let found = header.nbytes();
        if let Some(due) = due.filter(|due| *due != found) {
            let reason = format!("a chunk of {found} bytes where {due} are due");
            return Err(Error::format(Part::ChunkHeader, 4, reason));
        }
        let needed = ChunkHead::needed(bytes, available, context)?;
        let wanted = sums.map_or(needed, |sums| sums.wanted(&header, needed));
        if wanted > bytes.len() {
            return Ok(Start::Longer(wanted));
        }
        let head = ChunkHead::parse(bytes, available, context)?;
        match sums {
            Some(sums) => head.with_sums(sums.clone(), bytes),
            None => Ok(head),
        }
        .map(Start::Head)
    }

    /// The same, whose blocks are checked before they are decoded; `bytes` are those that it was parsed from, or more, and
    /// are checked now.
    pub(crate) fn with_sums(mut self, sums: Sums, bytes: &[u8]) -> Result<Self> {
        sums.check_head(&self.header, bytes)?;
        self.sums = Some(sums);
        Ok(self)
    }

    /// Whether blocks are checked, and so have to be fetched whole.
    pub(crate) fn has_sums(&self) -> bool {
        self.sums.is_some()
    }

    /// Checks the bytes of block `n`, if there are checksums; `stream` begins with the block and may be
    /// longer.
    pub(crate) fn check_block(&self, n: usize, stream: &[u8]) -> Result<()> {
        match &self.sums {
            Some(sums) => sums.check_block(n, self.block_span(n), stream),
            None => Ok(()),
        }
    }

    /// Checks the bytes of all blocks; `chunk` is all of it.
    pub(crate) fn check_blocks(&self, chunk: &[u8]) -> Result<()> {
        let blocks = if self.sums.is_some() { self.nblocks() } else { 0 };
        (0..blocks).try_for_each(|n| self.check_block(n, chunk.get(self.block_span(n)).unwrap_or_default()))
    }

    pub(crate) fn header(&self) -> &ChunkHeader {
        &self.header
    }

    pub(crate) fn content(&self) -> Content<'_> {
        match &self.body {
            Body::Repeat(item) => Content::Repeat(item),
            Body::Raw => Content::Raw,
            Body::Blocks(_) => Content::Blocks,
        }
    }

    /// The number of blocks (also of raw and special chunks, by their block size).
    pub(crate) fn nblocks(&self) -> usize {
        self.header.nblocks()
    }

    /// Refuses the number of a block that the chunk does not have.
    pub(crate) fn check_has_block(&self, n: usize) -> Result<()> {
        if n < self.nblocks() {
            return Ok(());
        }
        Err(Error::out_of_bounds(n, self.nblocks(), format!("block {n} of a chunk of {}", self.nblocks())))
    }

    /// Where blocks are in the uncompressed chunk. `chunk` is all of it: blocks of variable length say themselves how long
    /// they are.
    pub(crate) fn cuts(&self, chunk: &[u8]) -> Result<Cuts> {
        if !self.header.is_variable() {
            return Ok(Cuts::regular(self.header.nbytes, self.header.blocksize));
        }
        let lengths = (0..self.nblocks()).map(|n| self.variable_len(n, chunk.get(self.block_span(n))));
        Cuts::variable(self.header.nbytes, self.nblocks(), lengths)
    }

    /// Uncompressed bytes of block `n`, whose `stream` says it where blocks have lengths of their own.
    pub(crate) fn decoded_len(&self, n: usize, stream: &[u8]) -> Result<usize> {
        if self.header.is_variable() { self.variable_len(n, Some(stream)) } else { Ok(self.block_len(n)) }
    }

    fn variable_len(&self, n: usize, stream: Option<&[u8]>) -> Result<usize> {
        let len = blocks::variable_len(stream.unwrap_or_default());
        let len = len.and_then(|len| match len <= self.header.nbytes as usize {
            true => Ok(len),
            false => {
                let reason = format!("a block of {len} bytes in a chunk of {}", self.header.nbytes);
                Err(Error::format(Part::Stream, 0, reason))
            }
        });
        len.map_err(|error| error.in_block(u32::try_from(n).unwrap_or(u32::MAX)))
    }

    /// Uncompressed bytes of block `n` (the last may be shorter); 0 where there is no such block. Not for blocks of variable
    /// length: see [`ChunkHead::decoded_len`].
    pub(crate) fn block_len(&self, n: usize) -> usize {
        self.block_range(n).len()
    }

    /// Where block `n` is in the uncompressed chunk; empty where there is no such block. Not for blocks of variable length:
    /// see [`ChunkHead::cuts`].
    pub(crate) fn block_range(&self, n: usize) -> Range<usize> {
        if self.header.is_variable() {
            return 0..0;
        }
        Cuts::regular(self.header.nbytes, self.header.blocksize).range(n)
    }

    /// Where in the chunk the bytes of block `n` are: exact for raw chunks; for compressed ones from its start to the next
    /// start above it (or the chunk's end), which holds the block unless blocks overlap.
    pub(crate) fn block_span(&self, n: usize) -> Range<usize> {
        match &self.body {
            Body::Repeat(_) => 0..0,
            Body::Raw => {
                let block = self.block_range(n);
                let header = self.header.header_len();
                header + block.start..header + block.end
            }
            Body::Blocks(blocks) => blocks.span(n, self.header.cbytes),
        }
    }

    /// Whether blocks after the first need the decoded first block (delta).
    pub(crate) fn refers_to_first(&self) -> bool {
        matches!(&self.body, Body::Blocks(blocks) if blocks.refers_to_first())
    }

    /// Decodes block `n` from `stream`, which starts at the block's start and may be longer than the block.
    ///
    /// `dst` has [`ChunkHead::decoded_len`] bytes; where that is not [`ChunkHead::block_len`], `stream` is the whole
    /// [`ChunkHead::block_span`]. `first` is the decoded block 0, needed when `n > 0` and
    /// [`ChunkHead::refers_to_first`]. Raw chunks copy. Not for [`Content::Repeat`].
    ///
    /// Uses `front`, `back` and `codec` of `scratch`; the rest is the caller's.
    pub(super) fn decode_block(
        &self,
        n: usize,
        stream: &[u8],
        first: Option<&[u8]>,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        if n >= self.nblocks() || (dst.len() != self.block_len(n) && !self.header.is_variable()) {
            return Err(Error::usage(format!(
                "block {n} has {} bytes, not {}",
                self.block_len(n),
                dst.len()
            )));
        }
        self.check_block(n, stream)?;
        let result = match &self.body {
            Body::Repeat(item) => {
                special::fill(dst, item, self.block_range(n).start);
                Ok(())
            }
            Body::Raw => match stream.get(..dst.len()) {
                Some(stream) => {
                    dst.copy_from_slice(stream);
                    Ok(())
                }
                None => Err(Error::format(Part::Stream, stream.len() as u64, "the stored block is cut off")),
            },
            Body::Blocks(blocks) => {
                let full = dst.len() == self.header.blocksize as usize;
                let first = first.filter(|_| n > 0 && blocks.refers_to_first());
                if n > 0 && first.is_none() && blocks.refers_to_first() {
                    return Err(Error::usage("the first block is needed to decode the others"));
                }
                blocks.decode(full, stream, first, dst, scratch)
            }
        };
        result.map_err(|error| error.in_block(u32::try_from(n).unwrap_or(u32::MAX)))
    }
}

impl ChunkHead {
    /// Whether single items of `itemsize` bytes can be taken out of the chunk's blocks by [`BlockDecoder::decode_items`](super::BlockDecoder::decode_items).
    pub(crate) fn takes_items_of(&self, itemsize: usize) -> bool {
        let Body::Blocks(blocks) = &self.body else { return false };
        blocks.takes_items_of(itemsize, self.header.blocksize as usize)
    }

    /// Decodes some items of block `n` from `stream`, one behind the other. Whether it did: only where [`ChunkHead::takes_items_of`] and the block is full. Damage in the rest of the
    /// block may not be seen.
    pub(super) fn decode_items(
        &self,
        n: usize,
        stream: &[u8],
        items: ItemRuns<'_>,
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<bool> {
        let whole = self.block_len(n);
        match &self.body {
            Body::Blocks(blocks) if whole == self.header.blocksize as usize => {
                self.check_block(n, stream)?;
                let result = blocks.decode_items(whole, stream, items, dst, scratch);
                result.map_err(|error| error.in_block(u32::try_from(n).unwrap_or(u32::MAX)))?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Decodes the start of block `n` from `stream`, as much as `dst` has room for, where that is less work than all of the
    /// block; whether it did. Damage in the rest of the block is not seen.
    pub(super) fn decode_start(
        &self,
        n: usize,
        stream: &[u8],
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<bool> {
        let whole = self.block_len(n);
        match &self.body {
            Body::Blocks(blocks) if whole == self.header.blocksize as usize && dst.len() < whole => {
                self.check_block(n, stream)?;
                blocks
                    .decode_start(whole, stream, dst, scratch)
                    .map_err(|error| error.in_block(u32::try_from(n).unwrap_or(u32::MAX)))
            }
            _ => Ok(false),
        }
    }
}

/// The header of a chunk that this library decodes, checked against the space it has and the limits.
fn checked_header(first: &[u8], available: u64, context: &Context) -> Result<ChunkHeader> {
    let header = ChunkHeader::parse(first)?;
    if u64::from(header.cbytes) > available {
        return Err(Error::format(
            Part::ChunkHeader,
            12,
            format!("a chunk of {} bytes in {available}", header.cbytes),
        ));
    }
    header.check_supported()?;
    Limits::check("a decompressed chunk", u64::from(header.nbytes), context.limits().max_chunk_bytes())?;
    Ok(header)
}

/// The number of bytes before the first block, as far as `first` tells.
pub(super) fn needed(header: &ChunkHeader, first: &[u8]) -> Result<usize> {
    if header.special().is_some() {
        return Ok(header.cbytes as usize);
    }
    if header.is_raw() {
        return Ok(header.header_len());
    }
    Blocks::needed(header, first)
}
