//! Opening a frame without a store: says which bytes it needs, and takes them from the caller.

use super::catalog::CatalogState;
use super::options::OpenOptions;
use super::snapshot::{FrameSnapshot, FrameState};
use crate::error::{Error, Part, Result};
use crate::frame;
use crate::frame::{FrameHeader, FrameParser, Layout};
use crate::io::{FileId, FileRange, Pieces, Step};
use std::ops::Range;
use std::sync::Arc;

/// Opens a frame from bytes that the caller fetches: head and tail, in one wave where the length is known.
///
/// Neither attributes nor index nor checksums are asked for. What comes with the tail is kept, so that a small frame needs no
/// more than that. The frame is read through a [`Reader`](crate::array::Reader).
///
/// ```
/// use b2nd::io::{ReadBudget, Step};
/// use b2nd::schunk::Opener;
/// use b2nd::{Array, Dtype, Layout, OpenOptions, Options, s};
/// # let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [100])?;
/// # a.write_bytes(s![], &(0..100).collect::<Vec<u8>>())?;
/// let far_away = a.to_bytes()?;
/// let fetch = |range: &std::ops::Range<u64>| &far_away[range.start as usize..range.end as usize];
///
/// let mut opener = Opener::new(Some(far_away.len() as u64), Layout::Contiguous, &OpenOptions::new());
/// while let Step::Need(ranges) = opener.step()? {
///     for needed in ranges {
///         opener.supply(&needed, fetch(&needed.range))?;
///     }
/// }
/// let array = Array::from_snapshot(opener.finish()?)?;
///
/// let mut reader = array.reader(s![40..43])?;
/// while let Step::Need(ranges) = reader.step(&ReadBudget::default())? {
///     for needed in ranges {
///         reader.supply(&needed, fetch(&needed.range))?;
///     }
/// }
/// assert_eq!(reader.finish()?, [40, 41, 42]);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug)]
pub struct Opener {
    layout: Layout,
    options: OpenOptions,
    len: Option<u64>,
    pieces: Pieces,
    asked: Vec<FileRange>,
    /// The header, and where the trailer starts.
    opened: Option<(FrameHeader, u64)>,
}

/// Bytes requested at the start of a frame.
const HEAD: u64 = 4 << 10;

impl Opener {
    /// How many bytes of the end of a frame are asked for: a caller whose store reads suffixes may supply as many unasked, by
    /// [`Opener::supply_suffix`].
    pub const TAIL: u64 = 64 << 10;

    /// Opens a frame whose file has `len` bytes; `None` where that is not known.
    pub fn new(len: Option<u64>, layout: Layout, options: &OpenOptions) -> Self {
        let pieces = Pieces::new(len.unwrap_or(u64::MAX));
        Opener { layout, options: options.clone(), len, pieces, asked: Vec::new(), opened: None }
    }

    /// What is needed next.
    ///
    /// # Errors
    /// [`Error::Format`] when the frame is damaged or none; [`Error::Limit`]; [`Error::Unsupported`] for frames whose
    /// chunks differ in size, which only their index can count.
    pub fn step(&mut self) -> Result<Step> {
        if self.opened.is_some() {
            return Ok(Step::Done);
        }
        if !self.asked.is_empty() {
            return Ok(Step::Need(Vec::new()));
        }
        let head = 0..self.len.map_or(HEAD, |len| len.min(HEAD));
        if self.pieces.find(&head).is_none() && self.pieces.find(&(0..1)).is_none() {
            let mut ranges =
                vec![FileRange { may_be_short: self.len.is_none(), ..FileRange::new(FileId::Frame, head) }];
            if let Some(len) = self.len.filter(|len| *len > HEAD) {
                ranges.push(FileRange::new(FileId::Frame, len.saturating_sub(Self::TAIL).max(HEAD)..len));
            }
            self.asked.clone_from(&ranges);
            return Ok(Step::Need(ranges));
        }
        match self.parse()? {
            None => Ok(Step::Done),
            Some(range) => {
                let range = FileRange::new(FileId::Frame, range);
                self.asked.push(range.clone());
                Ok(Step::Need(vec![range]))
            }
        }
    }

    /// Parses the supplied bytes; returns the missing range, if any.
    fn parse(&mut self) -> Result<Option<Range<u64>>> {
        // If the length is unknown, it comes from the header.
        let available = self.len.unwrap_or(u64::MAX);
        let mut parser = FrameParser::outline_of(available, self.layout, &self.options.common.limits)?;
        loop {
            let range = match parser.step() {
                frame::ParseStep::Done(index) => {
                    let header = index.header;
                    if header.nchunks().is_none() {
                        return Err(Error::unsupported(
                            "opening a frame whose chunks differ in size without a store",
                        ));
                    }
                    self.pieces.set_len(header.frame_len());
                    self.opened = Some((header, parser.trailer_start()));
                    return Ok(None);
                }
                frame::ParseStep::Need(range) => range,
            };
            match self.pieces.find(&range) {
                Some(bytes) => parser.supply(bytes)?,
                // The end of the frame: as much of it as is worth a request.
                None if range.start > 0 => {
                    return Ok(Some(range.end.saturating_sub(Self::TAIL).min(range.start)..range.end));
                }
                None => return Ok(Some(range)),
            }
        }
    }

    /// Takes bytes that [`Opener::step`] asked for, or a part of a range that it asked for.
    ///
    /// # Errors
    /// [`Error::Usage`] for bytes that were not asked for; [`Error::LengthMismatch`] for fewer or more than asked
    /// for; [`Error::OutOfMemory`].
    pub fn supply(&mut self, range: &FileRange, bytes: &[u8]) -> Result<()> {
        let at = self.asked.iter().position(|asked| asked.file == range.file && asked.range == range.range);
        let Some(at) = at else { return Err(Error::usage("the opener did not request these bytes")) };
        let short =
            self.asked.get(at).is_some_and(|asked| asked.may_be_short) && (bytes.len() as u64) < range.len();
        if bytes.len() as u64 != range.len() && !short {
            let (found, due) = (bytes.len(), range.len());
            return Err(Error::length(
                due,
                found,
                format!("{found} bytes are supplied for a range of {due} bytes"),
            ));
        }
        self.asked.remove(at);
        if short {
            self.len = Some(range.range.start.saturating_add(bytes.len() as u64));
        }
        self.pieces.add(range.range.start, bytes)
    }

    /// Takes the last bytes of a file of `len` bytes, asked for or not: for stores that read suffixes.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] when the file has fewer bytes than the suffix, or another length than was said;
    /// [`Error::OutOfMemory`].
    pub fn supply_suffix(&mut self, len: u64, bytes: &[u8]) -> Result<()> {
        let start = len.checked_sub(bytes.len() as u64);
        let Some(start) = start.filter(|_| self.len.is_none_or(|known| known == len)) else {
            return Err(Error::length(
                len,
                bytes.len(),
                format!("{} bytes are not a suffix of a file of {len} bytes", bytes.len()),
            ));
        };
        self.len = Some(len);
        self.pieces.add(start, bytes)
    }

    /// The frame: its snapshot has no store, and is read through a [`Reader`](crate::array::Reader).
    ///
    /// # Errors
    /// [`Error::State`] before [`Opener::step`] was [`Step::Done`].
    pub fn finish(self) -> Result<FrameSnapshot> {
        let Some((header, trailer_start)) = self.opened else {
            return Err(Error::state("the frame is not open yet: its opener needs more bytes"));
        };
        let Some(nchunks) = header.nchunks() else {
            return Err(Error::format(Part::FrameHeader, None, "the number of chunks is not known"));
        };
        let catalog = CatalogState::lazy(trailer_start, &self.options.common);
        let state = FrameState::new(Arc::new(self.pieces), header, nchunks, catalog, &self.options.common);
        Ok(FrameSnapshot::of(state))
    }
}
