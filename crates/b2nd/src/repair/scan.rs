//! The search for chunks, at every byte where one may begin.

use super::header::FoundHeader;
use super::options::RepairOptions;
use super::source::{CHUNK_HEADER, DamagedFrame, Window};
use crate::chunk;
use crate::chunk::ChunkHeader;
use crate::error::Result;
use crate::frame::{ChunkSizes, FrameHeader, Layout};
use crate::schunk::is_damage;
use std::ops::Range;

/// What the chunks of a frame look like.
#[derive(Debug, Clone)]
pub(super) struct Likeness {
    typesize: Option<u8>,
    /// The sizes that chunks can have: the usual one, and that of the last; any where there is none.
    nbytes: Option<[u32; 2]>,
}

impl Likeness {
    /// What the chunks of a frame with this header look like.
    pub(super) fn of(header: &FrameHeader) -> Self {
        let typesize = u8::try_from(header.params().typesize()).unwrap_or(1);
        let nbytes = match header.chunk_sizes() {
            ChunkSizes::Fixed(size) => {
                let rest = header.nbytes().checked_rem(u64::from(size)).filter(|rest| *rest > 0);
                Some([size, rest.and_then(|rest| u32::try_from(rest).ok()).unwrap_or(size)])
            }
            ChunkSizes::Undecided | ChunkSizes::Variable => None,
        };
        Likeness { typesize: Some(typesize), nbytes }
    }

    /// Anything that may be a chunk.
    pub(super) fn any() -> Self {
        Likeness { typesize: None, nbytes: None }
    }

    /// The header of the chunk that may begin with these bytes.
    pub(super) fn header(&self, bytes: &[u8]) -> Option<ChunkHeader> {
        // The cheap looks first: this is asked at every byte of a file.
        let [version, _, _, typesize, n0, n1, n2, n3, ..] = *bytes else { return None };
        if !(1..=8).contains(&version) || self.typesize.is_some_and(|due| due != typesize) {
            return None;
        }
        let nbytes = u32::from_le_bytes([n0, n1, n2, n3]);
        if self.nbytes.is_some_and(|due| !due.contains(&nbytes)) {
            return None;
        }
        let header = ChunkHeader::parse(bytes).ok()?;
        // No writer makes a chunk that is longer than what it holds.
        let fits = u64::from(header.cbytes())
            <= u64::from(nbytes).saturating_add(2 * CHUNK_HEADER).saturating_add(4 * header.nblocks() as u64);
        let likely =
            self.nbytes.is_some() || (nbytes > 0 && header.codec_version() <= 2 && header.header_len() == 32);
        (fits && likely).then_some(header)
    }
}

/// Where chunks may begin, in the order of lying.
pub(super) struct ChunkSearch<'a> {
    window: Window<'a>,
    likeness: &'a Likeness,
    at: u64,
    end: u64,
    /// What may still be read for what turns out to be no chunk.
    budget: u64,
}

impl<'a> ChunkSearch<'a> {
    /// A search of these bytes of the frame file. What is no chunk costs no more than the file is long, a few times over.
    pub(super) fn new(source: &'a DamagedFrame, likeness: &'a Likeness, bytes: Range<u64>) -> Self {
        let budget = source.len.saturating_mul(8).saturating_add(64 << 20);
        ChunkSearch {
            window: Window::new(source),
            likeness,
            at: bytes.start,
            end: bytes.end.min(source.len),
            budget,
        }
    }

    /// The next place where a chunk may begin.
    pub(super) fn next(&mut self) -> Result<Option<(u64, ChunkHeader)>> {
        while self.at < self.end {
            let bytes = self.window.from(self.at, CHUNK_HEADER as usize)?;
            let last = bytes.len() <= CHUNK_HEADER as usize;
            // The last bytes may be the first of a header.
            let starts = if last { bytes.len() } else { bytes.len() - CHUNK_HEADER as usize };
            let found = (0..starts).find_map(|n| {
                let header = self.likeness.header(bytes.get(n..)?)?;
                Some((n, header))
            });
            match found {
                Some((n, header)) => {
                    self.at = self.at.saturating_add(n as u64);
                    return Ok(Some((self.at, header)).filter(|(at, _)| *at < self.end));
                }
                None => self.at = self.at.saturating_add(starts.max(1) as u64),
            }
        }
        Ok(None)
    }

    /// Goes on behind a chunk.
    pub(super) fn skip(&mut self, to: u64) {
        self.at = to.max(self.at.saturating_add(1));
    }
    /// Goes on at the next byte; `cost` bytes were read for nothing. Whether there is any going on.
    pub(super) fn wasted(&mut self, cost: u64) -> bool {
        self.at = self.at.saturating_add(1);
        self.budget = self.budget.saturating_sub(cost.saturating_add(1));
        self.budget > 0
    }
    /// How far it has come.
    pub(super) fn place(&self) -> u64 {
        self.at
    }
}

/// What it costs to find that a chunk cannot be decoded.
pub(super) fn cost(header: &ChunkHeader, source: &DamagedFrame) -> u64 {
    u64::from(header.cbytes()).min(source.len).saturating_add(u64::from(header.nbytes()))
}

/// The header of the first chunk of a frame.
pub(super) fn first(
    source: &DamagedFrame,
    found: &FoundHeader,
    options: &RepairOptions,
) -> Result<Option<ChunkHeader>> {
    let mut buffer = Vec::new();
    let place = match source.layout {
        Layout::Contiguous => Some(found.base.saturating_add(found.header.len())),
        Layout::Sparse => source.listing.chunks.first().map(|n| u64::from(*n)),
    };
    let Some(place) = place else { return Ok(None) };
    match source.chunk(place, &mut buffer) {
        Ok(header) if u64::from(header.cbytes()) == buffer.len() as u64 => {
            options.common.exec.progress(u64::from(header.cbytes()));
            Ok(Some(header))
        }
        Ok(_) => Ok(None),
        Err(error) if is_damage(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Some chunk that can be decoded, and whether those that follow have other sizes: for frames of which nothing else is left.
pub(super) fn any(source: &DamagedFrame, options: &RepairOptions) -> Result<Option<(ChunkHeader, bool)>> {
    let context = chunk::Context::new(options.common.limits.clone()).with_registry(options.common.registry());
    let mut buffer = Vec::new();
    let mut headers: Vec<ChunkHeader> = Vec::new();
    let mut look = |place: u64| -> Result<Option<ChunkHeader>> {
        match source.chunk(place, &mut buffer).and_then(|header| {
            chunk::decode(&buffer, &context, &options.common.exec.clone().without_progress()).map(|_| header)
        }) {
            Ok(header) if header.nbytes() > 0 => Ok(Some(header)),
            Ok(_) => Ok(None),
            Err(error) if is_damage(&error) => Ok(None),
            Err(error) => Err(error),
        }
    };
    if source.layout == Layout::Sparse {
        for number in source.listing.chunks.iter().take(3) {
            headers.extend(look(u64::from(*number))?);
        }
    } else {
        let likeness = Likeness::any();
        let mut search = ChunkSearch::new(source, &likeness, 0..source.len);
        while headers.len() < 3
            && let Some((at, claimed)) = search.next()?
        {
            match look(at)? {
                Some(header) => {
                    search.skip(at.saturating_add(u64::from(header.cbytes())));
                    headers.push(header);
                }
                None if !search.wasted(cost(&claimed, source)) => break,
                None => {}
            }
        }
    }
    let Some(first) = headers.first().cloned() else { return Ok(None) };
    // The last of a frame may be shorter, so two alike are enough.
    let variable = headers.get(1).is_some_and(|second| second.nbytes() != first.nbytes());
    Ok(Some((first, variable)))
}
