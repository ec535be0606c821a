//! The parser of frames: names the bytes that it needs and parses what the caller supplies; it does no I/O.

use super::Layout;
use super::header::{Dialect, FrameHeader};
use super::offsets;
use super::offsets::Offsets;
use super::trailer::{TAIL_LEN, Trailer, WithoutSegments, without_segments};
use crate::chunk;
use crate::error::{Error, Part, Result};
use crate::limits::Limits;
use std::ops::Range;

/// The next step of a parser.
#[derive(Debug)]
pub(crate) enum ParseStep {
    /// These bytes of the frame's file, through [`FrameParser::supply`].
    Need(Range<u64>),
    /// Parsing is complete: this is the frame.
    Done(Box<FrameIndex>),
}

/// All of a frame but its chunks.
#[derive(Debug, Clone)]
pub(crate) struct FrameIndex {
    pub(crate) header: FrameHeader,
    pub(crate) offsets: Offsets,
    pub(crate) trailer: Trailer,
    /// Hash of the stored offsets.
    pub(crate) offsets_hash: u64,
}

/// Progress of the parser.
#[derive(Debug)]
enum ParseStage {
    Prefix,
    Header(Dialect),
    Tail(FrameHeader),
    /// Needs the start of the trailer; these are its last bytes.
    TrailerStart(FrameHeader, Vec<u8>),
    Trailer(FrameHeader),
    IndexStart(FrameHeader, Trailer),
    Index(FrameHeader, Trailer),
    Done(Box<FrameIndex>),
    Spent,
}

/// Reads the header, trailer and chunk offsets of one frame from bytes that are supplied piece by piece.
#[derive(Debug)]
pub(crate) struct FrameParser {
    available: u64,
    layout: Layout,
    limits: Limits,
    stage: ParseStage,
    need: Range<u64>,
    /// Where the trailer starts (the end of the frame, where there is none).
    trailer_start: u64,
    /// Whether only header and end of the frame are looked at.
    outline: bool,
    /// Whether the segments of the checksums are left out, where the trailer is long.
    parts: bool,
}

/// Length of the first read: most headers are shorter.
const PREFIX: u64 = 1024;
/// Length of the read at the end: most trailers are shorter.
const TAIL: u64 = 512;
/// The longest trailer that is read whole in any case.
const WHOLE_TRAILER: u64 = 64 << 10;
/// What is asked for of a longer one first, besides a copy of the header and a list of segments.
const TRAILER_START: u64 = 4 << 10;
/// What the list of segments has for each: 32 bytes for 4096 chunks.
const CHUNKS_PER_LISTED_BYTE: u64 = 128;
/// The shortest frame: a header of beta.1.
const MIN_FRAME: u64 = 64;
/// The longest chunk header.
const CHUNK_HEADER: u64 = 32;
/// The shortest chunk header, and chunk.
const MIN_CHUNK: u64 = 16;

/// Bytes requested at the start of a long trailer.
fn first_of_trailer(header: &FrameHeader) -> u64 {
    let listed = header.nchunks().unwrap_or(0) / CHUNKS_PER_LISTED_BYTE;
    TRAILER_START.saturating_add(header.len()).saturating_add(listed)
}

impl FrameParser {
    /// A parser for the file of a frame, `available` bytes long, that must have this layout.
    pub(crate) fn new(available: u64, layout: Layout, limits: &Limits) -> Result<Self> {
        if available < MIN_FRAME {
            let reason = format!("{available} bytes are too few for a frame");
            return Err(Error::format(Part::FrameHeader, None, reason));
        }
        let need = 0..PREFIX.min(available);
        Ok(FrameParser {
            available,
            layout,
            limits: limits.clone(),
            stage: ParseStage::Prefix,
            need,
            trailer_start: 0,
            outline: false,
            parts: false,
        })
    }

    /// A parser for index and trailer of a frame whose header was parsed before. It leaves out the segments of long checksums.
    pub(crate) fn behind(header: FrameHeader, limits: &Limits) -> Result<Self> {
        let mut parser = FrameParser::new(header.frame_len(), header.layout(), limits)?;
        parser.parts = true;
        parser.after_header(header)?;
        Ok(parser)
    }

    /// What [`FrameParser::behind`] asks for in the end, as far as it can be told: the end of the frame apart from the index and
    /// the start of the trailer, which begins at `trailer_start`.
    pub(crate) fn ranges_behind(header: &FrameHeader, trailer_start: u64) -> Vec<Range<u64>> {
        let end = header.frame_len();
        let data = match header.layout() {
            Layout::Contiguous => header.cbytes(),
            Layout::Sparse => 0,
        };
        let start = header.len().saturating_add(data).min(end);
        let trailer = end.saturating_sub(trailer_start);
        let first = first_of_trailer(header).min(trailer);
        let (tail, middle) = (end.saturating_sub(TAIL.min(trailer)), trailer_start.saturating_add(first));
        let cut = trailer > WHOLE_TRAILER && middle < tail;
        let first = start..if cut { middle } else { end };
        std::iter::once(first).chain(cut.then_some(tail..end)).collect()
    }

    /// Where the trailer starts (the end of the frame, where there is none), once that was parsed.
    pub(crate) fn trailer_start(&self) -> u64 {
        self.trailer_start
    }

    /// A parser that stops when header and end of the frame have been seen: without vlmetalayers and offsets.
    pub(crate) fn outline(available: u64, limits: &Limits) -> Result<Self> {
        Self::outline_of(available, Layout::Contiguous, limits)
    }

    /// As [`FrameParser::outline`], for a frame of this layout.
    pub(crate) fn outline_of(available: u64, layout: Layout, limits: &Limits) -> Result<Self> {
        Ok(FrameParser { outline: true, ..FrameParser::new(available, layout, limits)? })
    }

    /// The next step. Must not be called again after `Done`.
    pub(crate) fn step(&mut self) -> ParseStep {
        match std::mem::replace(&mut self.stage, ParseStage::Spent) {
            ParseStage::Done(index) => ParseStep::Done(index),
            stage => {
                self.stage = stage;
                ParseStep::Need(self.need.clone())
            }
        }
    }

    /// Supplies the bytes that the last [`FrameParser::step`] requested.
    pub(crate) fn supply(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() as u64 != self.need.end.saturating_sub(self.need.start) {
            return Err(Error::usage("the parser of frames was given other bytes than it requested"));
        }
        match std::mem::replace(&mut self.stage, ParseStage::Spent) {
            ParseStage::Prefix => self.prefix(bytes),
            ParseStage::Header(dialect) => self.header(bytes, dialect),
            ParseStage::Tail(header) => self.tail(bytes, header),
            ParseStage::TrailerStart(header, tail) => self.trailer_start_of(bytes, header, tail),
            ParseStage::Trailer(header) => self.trailer(bytes, header),
            ParseStage::IndexStart(header, trailer) => self.index_start(bytes, header, trailer),
            ParseStage::Index(header, trailer) => self.index(bytes, header, trailer),
            ParseStage::Done(_) | ParseStage::Spent => {
                Err(Error::usage("the parser of frames was given bytes that it did not request"))
            }
        }
    }

    fn ask(&mut self, need: Range<u64>, stage: ParseStage) -> Result<()> {
        self.need = need;
        self.stage = stage;
        Ok(())
    }

    fn prefix(&mut self, bytes: &[u8]) -> Result<()> {
        let (dialect, len) = FrameHeader::measure(bytes, self.available)?;
        Limits::check("the frame header", len, self.limits.max_meta_bytes())?;
        match usize::try_from(len).ok().and_then(|len| bytes.get(..len)) {
            Some(header) => self.header(header, dialect),
            None => self.ask(0..len, ParseStage::Header(dialect)),
        }
    }

    fn header(&mut self, bytes: &[u8], dialect: Dialect) -> Result<()> {
        let header = FrameHeader::parse(bytes, dialect)?;
        let frame_len = header.frame_len();
        if frame_len < header.len() || frame_len > self.available {
            let reason =
                format!("a frame length of {frame_len} in {} bytes: cut off or damaged", self.available);
            return Err(Error::format(Part::FrameHeader, 15, reason));
        }
        if header.layout() != self.layout {
            let found = match header.layout() {
                Layout::Contiguous => "a contiguous frame inside a directory",
                Layout::Sparse => "the frame file of a sparse frame, which opens by its directory",
            };
            return Err(Error::format(Part::FrameHeader, 26, found));
        }
        self.after_header(header)
    }

    /// Goes on with a header that was parsed before.
    fn after_header(&mut self, header: FrameHeader) -> Result<()> {
        let frame_len = header.frame_len();
        if header.dialect == Dialect::Beta1 {
            self.trailer_start = frame_len;
            if self.outline {
                return self.without_offsets(header, Trailer::default());
            }
            return self.ask_for_index(header, Trailer::default());
        }
        let room = frame_len.saturating_sub(header.len());
        if room < TAIL_LEN as u64 {
            return Err(Error::format(Part::Trailer, None, "there is no room for a trailer"));
        }
        self.ask(frame_len.saturating_sub(TAIL.min(room))..frame_len, ParseStage::Tail(header))
    }

    fn tail(&mut self, bytes: &[u8], header: FrameHeader) -> Result<()> {
        let end = header.frame_len();
        let len = Trailer::measure(bytes, end.saturating_sub(header.len()))?;
        self.trailer_start = end.saturating_sub(len);
        if self.outline {
            return self.without_offsets(header, Trailer::default());
        }
        Limits::check("the trailer", len, self.limits.max_meta_bytes())?;
        let start = usize::try_from(len).ok().and_then(|len| bytes.len().checked_sub(len));
        match start.and_then(|start| bytes.get(start..)) {
            Some(trailer) => self.trailer(trailer, header),
            None if self.parts && len > WHOLE_TRAILER => {
                let first = self.trailer_start.saturating_add(first_of_trailer(&header).min(len));
                let tail = bytes.get(bytes.len().saturating_sub(TAIL_LEN)..).unwrap_or_default().to_vec();
                self.ask(self.trailer_start..first, ParseStage::TrailerStart(header, tail))
            }
            None => self.ask(self.trailer_start..end, ParseStage::Trailer(header)),
        }
    }

    /// The start of a long trailer: the segments of its checksums are left out.
    fn trailer_start_of(&mut self, bytes: &[u8], header: FrameHeader, tail: Vec<u8>) -> Result<()> {
        let (start, end) = (self.trailer_start, header.frame_len());
        let len = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
        if let WithoutSegments::First(wanted) = without_segments(bytes, &header)
            && wanted < len
        {
            let Some(first) = bytes.get(..wanted) else {
                let more = start..start.saturating_add(wanted as u64);
                return self.ask(more, ParseStage::TrailerStart(header, tail));
            };
            if let Some(trailer) = Trailer::parse_start(first, &tail, len)? {
                return self.ask_for_index(header, trailer);
            }
        }
        self.ask(start..end, ParseStage::Trailer(header))
    }

    fn trailer(&mut self, bytes: &[u8], header: FrameHeader) -> Result<()> {
        let trailer = Trailer::parse(bytes, header.dialect)?;
        self.ask_for_index(header, trailer)
    }

    fn ask_for_index(&mut self, header: FrameHeader, trailer: Trailer) -> Result<()> {
        if header.nbytes() == 0 {
            return self.without_offsets(header, trailer);
        }
        let data = match header.layout() {
            Layout::Contiguous => header.cbytes(),
            Layout::Sparse => 0,
        };
        let start = header.len().checked_add(data);
        let room = start.and_then(|start| self.trailer_start.checked_sub(start));
        match (start, room) {
            (Some(start), Some(room)) if room >= MIN_CHUNK => {
                let end = start.saturating_add(room.min(CHUNK_HEADER));
                self.ask(start..end, ParseStage::IndexStart(header, trailer))
            }
            _ => {
                let reason = format!("a compressed size of {data} leaves no room for the chunk offsets");
                Err(Error::format(Part::FrameHeader, 38, reason))
            }
        }
    }

    fn index_start(&mut self, bytes: &[u8], header: FrameHeader, trailer: Trailer) -> Result<()> {
        let chunk = offsets::measure(bytes, header.nchunks(), &self.limits)?;
        let len = u64::from(chunk.cbytes());
        let start = self.need.start;
        let end = start.saturating_add(len);
        if len < MIN_CHUNK || end > self.trailer_start {
            let reason = format!("a chunk of {len} bytes does not end before the trailer");
            return Err(Error::format(Part::Offsets, 12, reason));
        }
        match usize::try_from(len).ok().and_then(|len| bytes.get(..len)) {
            Some(chunk) => self.index(chunk, header, trailer),
            None => self.ask(start..end, ParseStage::Index(header, trailer)),
        }
    }

    fn index(&mut self, bytes: &[u8], header: FrameHeader, trailer: Trailer) -> Result<()> {
        let offsets = Offsets::decode(bytes, header.nchunks(), &self.limits)?;
        self.done(FrameIndex { header, trailer, offsets, offsets_hash: chunk::hash(bytes) })
    }

    fn without_offsets(&mut self, header: FrameHeader, trailer: Trailer) -> Result<()> {
        self.done(FrameIndex { header, trailer, offsets: Offsets::none(), offsets_hash: chunk::hash(&[]) })
    }

    fn done(&mut self, index: FrameIndex) -> Result<()> {
        self.stage = ParseStage::Done(Box::new(index));
        Ok(())
    }
}
