//! Hashes of a chunk: one entry for the bytes before its first block, and one for each block, so that a reader of
//! a block can check it.
//!
//! Independent of where entries are stored (`frame::digests`) and of which of them are trusted.

use super::blocks;
use super::head;
use super::header::ChunkHeader;
use crate::error::Error;
use crate::error::Part;
use crate::error::Result;
use std::ops::Range;
use std::sync::Arc;
use twox_hash::XxHash3_64;

/// Chunks up to this length have one entry for all of their bytes: a reader fetches as much at once.
const WHOLE_BYTES: u32 = 4 << 10;
/// The most blocks that have entries of their own.
const MOST_BLOCKS: usize = 1 << 24;

/// The hash of some bytes: XXH3, 64 bits.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// What binds entry `index` of chunk `chunk` to its place and to its array.
pub(crate) fn mix(identity: [u64; 2], chunk: u64, index: u64) -> u64 {
    let [first, second] = identity;
    let x = finish(first ^ chunk.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    finish((x ^ second).wrapping_add(index.wrapping_mul(0xd1b5_4a32_d192_ed03)))
}

/// The last step of MurmurHash3: every bit of the input reaches every bit of the result.
fn finish(mut x: u64) -> u64 {
    x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}

/// Whether one entry covers the whole chunk.
fn is_whole(header: &ChunkHeader) -> bool {
    header.cbytes() <= WHOLE_BYTES
        || header.special().is_some()
        || header.nblocks() > MOST_BLOCKS
        || (header.is_raw() && header.is_variable())
}

/// The number of entries of a chunk.
fn count(header: &ChunkHeader) -> usize {
    if is_whole(header) { 1 } else { header.nblocks().saturating_add(1) }
}

/// The entries of a chunk, not yet bound to its offset.
///
/// # Errors
/// [`Error::Format`] when it has no header, or ends before its first block; [`Error::OutOfMemory`].
pub(crate) fn hashes(chunk: &[u8]) -> Result<Vec<u64>> {
    let header = ChunkHeader::parse(chunk)?;
    let cut = || Error::format(Part::ChunkHeader, 12, "the chunk is cut off");
    let chunk = chunk.get(..header.cbytes() as usize).ok_or_else(cut)?;
    let mut entries = Vec::new();
    let bytes = (count(&header) as u64).saturating_mul(8);
    entries.try_reserve_exact(count(&header)).map_err(|_| Error::out_of_memory("checksums", bytes))?;
    if is_whole(&header) {
        entries.push(hash(chunk));
        return Ok(entries);
    }
    entries.push(hash(chunk.get(..head::needed(&header, chunk)?).ok_or_else(cut)?));
    if header.is_raw() {
        let body = chunk.get(header.header_len()..).unwrap_or_default();
        entries.extend(body.chunks((header.blocksize() as usize).max(1)).map(hash));
        return Ok(entries);
    }
    let words = chunk.get(header.header_len()..).and_then(|after| after.get(..4 * header.nblocks()));
    let (words, _) = words.ok_or_else(cut)?.as_chunks::<4>();
    let starts: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let sorted = blocks::ascending(&starts);
    let spans = (0..starts.len()).map(|n| blocks::span(&starts, sorted.as_deref(), n, header.cbytes()));
    entries.extend(spans.map(|span| hash(chunk.get(span).unwrap_or_default())));
    Ok(entries)
}

/// How many bytes from the start of the chunk its first entry is over, as far as `first` tells: ask again with as many bytes
/// until it says no more.
pub(crate) fn head_len(header: &ChunkHeader, first: &[u8]) -> Result<usize> {
    if is_whole(header) { Ok(header.cbytes() as usize) } else { head::needed(header, first) }
}

/// The stored entries of one chunk: the expected hashes of its bytes.
#[derive(Debug, Clone)]
pub(crate) struct Sums {
    /// Bytes that hold the entries, 64 bits each in little-endian order, from `at` on.
    pub(crate) entries: Arc<[u8]>,
    pub(crate) at: usize,
    pub(crate) count: usize,
    pub(crate) identity: [u64; 2],
    /// The number of the chunk that they are bound to.
    pub(crate) chunk: u64,
    /// Where the chunk starts in its file: for errors.
    pub(crate) offset: u64,
}

impl Sums {
    /// The expected hash of entry `index`.
    pub(crate) fn get(&self, index: usize) -> Option<u64> {
        let entry = self.entries.get(self.at..)?.get(index.checked_mul(8)?..)?.first_chunk::<8>();
        let bound = mix(self.identity, self.chunk, index as u64);
        entry.filter(|_| index < self.count).map(|entry| u64::from_le_bytes(*entry) ^ bound)
    }

    /// The entries as they are stored.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        let bytes = self.entries.get(self.at..).unwrap_or_default();
        bytes.as_chunks::<8>().0.iter().take(self.count).map(|word| u64::from_le_bytes(*word))
    }

    /// Checks the start of the chunk, of which `bytes` has at least what comes before the first block.
    pub(super) fn check_head(&self, header: &ChunkHeader, bytes: &[u8]) -> Result<()> {
        let len = head_len(header, bytes)?;
        let known = count(header) == self.count;
        if known && bytes.get(..len).is_some_and(|bytes| self.get(0) == Some(hash(bytes))) {
            return Ok(());
        }
        Err(self.mismatch(Part::ChunkHeader, 0..len))
    }

    /// The number of bytes at the start of the chunk that must be checked before they are used.
    pub(crate) fn wanted(&self, header: &ChunkHeader, needed: usize) -> usize {
        if is_whole(header) { needed.max(header.cbytes() as usize) } else { needed }
    }

    /// Checks a block, `span` of the chunk; `stream` starts with it.
    pub(super) fn check_block(&self, n: usize, span: Range<usize>, stream: &[u8]) -> Result<()> {
        let block = u32::try_from(n).unwrap_or(u32::MAX);
        // All of the chunk was checked with its head.
        if self.count == 1 {
            return Ok(());
        }
        let found = stream.get(..span.len()).map(hash);
        if found.is_some() && found == n.checked_add(1).and_then(|index| self.get(index)) {
            return Ok(());
        }
        Err(self.mismatch(Part::Stream, span).in_block(block))
    }

    fn mismatch(&self, part: Part, span: Range<usize>) -> Error {
        let place = |at: usize| self.offset.saturating_add(at as u64);
        Error::mismatch(part, place(span.start)..place(span.end))
    }

    /// Checks all of a chunk; `chunk` has no bytes more.
    pub(crate) fn check_chunk(&self, chunk: &[u8]) -> Result<()> {
        let found = hashes(chunk)?;
        let wrong = (0..found.len()).find(|index| self.get(*index) != found.get(*index).copied());
        if found.len() == self.count && wrong.is_none() {
            return Ok(());
        }
        let error = self.mismatch(Part::ChunkHeader, 0..chunk.len());
        match wrong.and_then(|index| index.checked_sub(1)) {
            Some(n) if found.len() == self.count => Err(error.in_block(u32::try_from(n).unwrap_or(u32::MAX))),
            _ => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{ChunkHead, Params, encode};
    use crate::codec::Codec;
    use crate::exec::Exec;
    use crate::limits::Limits;

    /// The published results of XXH3 for the same inputs, so that no other hash can take its place.
    #[test]
    fn the_hash_is_xxh3() {
        assert_eq!(hash(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(hash(b"a"), 0xe6c6_32b6_1e96_4e1f);
        assert_eq!(hash(b"abc"), 0x78af_5f94_892f_3950);
    }

    fn bound(entries: &[u64], chunk: u64) -> Sums {
        let identity = [1, 2];
        let bytes: Vec<u8> = (0..)
            .zip(entries)
            .flat_map(|(n, entry)| (entry ^ mix(identity, chunk, n)).to_le_bytes())
            .collect();
        Sums { entries: bytes.into(), at: 0, count: entries.len(), identity, chunk, offset: 1000 }
    }

    #[test]
    fn every_byte_of_a_chunk_is_in_one_entry() {
        let items: Vec<u8> = (0..60_000u32).flat_map(|n| (n * n / 7).to_le_bytes()).collect();
        for params in [
            Params::new(4).with_codec(Codec::Lz4).with_blocksize(Some(20_000)),
            Params::new(4).with_codec(Codec::Zstd).with_blocksize(Some(20_000)),
            Params::new(4).with_clevel(0).with_blocksize(Some(20_000)),
        ] {
            let chunk = encode(&items, &params, &Exec::new(1)).unwrap();
            let entries = hashes(&chunk).unwrap();
            assert_eq!(entries.len(), 13);
            let sums = bound(&entries, 5);
            sums.check_chunk(&chunk).unwrap();
            assert!(bound(&entries, 6).get(0) != Some(entries[1]));
            let context = crate::registry::Context::new(Limits::default());
            let head = ChunkHead::parse(&chunk, chunk.len() as u64, &context).unwrap();
            let head = head.with_sums(sums.clone(), &chunk).unwrap();
            head.check_blocks(&chunk).unwrap();
            for at in (0..chunk.len()).step_by(97) {
                let mut flipped = chunk.clone();
                flipped[at] ^= 1;
                assert!(sums.check_chunk(&flipped).is_err(), "byte {at}");
                let read = ChunkHead::parse(&flipped, chunk.len() as u64, &context)
                    .and_then(|head| head.with_sums(sums.clone(), &flipped))
                    .and_then(|head| head.check_blocks(&flipped));
                assert!(read.is_err(), "byte {at}");
            }
        }
    }

    #[test]
    fn short_and_special_chunks_have_one_entry() {
        for (items, params) in [
            (&[7; 1000][..], Params::new(1)),
            (&[0; 1_000_000], Params::new(1)),
            (&[9; 1_000_000], Params::new(1)),
            (b"hello", Params::new(1).with_clevel(0)),
        ] {
            let chunk = encode(items, &params, &Exec::new(1)).unwrap();
            let entries = hashes(&chunk).unwrap();
            assert_eq!(entries, [hash(&chunk)]);
            let wrong = bound(&entries, 0).check_chunk(&[&chunk[..chunk.len() - 1], &[77]].concat());
            let Err(Error::Format(error)) = wrong else { panic!("a wrong byte was not seen") };
            assert_eq!(error.bytes(), Some(1000..1000 + chunk.len() as u64));
        }
        assert!(hashes(b"").is_err() && hashes(&[5; 40]).is_err());
    }
}
