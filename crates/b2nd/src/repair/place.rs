//! Which chunk lies where: by the offsets, by checksums, or in the order of lying; and what takes the place of those that are
//! lost.

use super::header;
use super::judge::{Due, Verdict, judge};
use super::options::RepairOptions;
use super::recognise::matches_all;
use super::report::Repaired;
use super::scan::Likeness;
use super::source::Source;
use super::survey::{Faith, Survey};
use crate::chunk;
use crate::chunk::{ChunkHeader, Context, Params, Special, Sums};
use crate::error::{Error, Part, Result};
use crate::exec::Scratch;
use crate::frame::digests::State;
use crate::frame::{ChunkSizes, Entry, Header, Layout, Offsets};
use crate::limits::{Limits, reserved};
use crate::schunk::{Standing, is_damage};
use std::collections::BTreeMap;

/// A chunk that is lost, or a block of it.
#[derive(Debug)]
pub(super) struct Loss {
    pub(super) chunk: u64,
    pub(super) block: Option<u32>,
    pub(super) error: Error,
}

/// Where all chunks are.
#[derive(Debug)]
pub(super) struct Placed {
    /// Positions in the frame file, those behind its end in `made`; or the numbers of chunk files.
    pub(super) offsets: Offsets,
    pub(super) made: Vec<u8>,
    pub(super) files: BTreeMap<u32, Vec<u8>>,
    pub(super) losses: Vec<Loss>,
    pub(super) stale: BTreeMap<u64, Sums>,
    pub(super) nbytes: u64,
}

/// What is known of a chunk.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fate {
    Unknown,
    /// It is no more than this offset.
    Special(i64),
    /// At a position of the frame file, or in the file of this number.
    Stored(u64),
}

/// About what is kept for a chunk that is lost, its texts included.
const LOSS_BYTES: u64 = 512;

/// Finds out.
pub(super) struct Placing<'a> {
    pub(super) source: &'a Source,
    pub(super) survey: &'a Survey,
    pub(super) options: &'a RepairOptions,
    pub(super) report: &'a mut Repaired,
    pub(super) context: Context,
    pub(super) params: Params,
    pub(super) likeness: Likeness,
    pub(super) scratch: Scratch,
    pub(super) buffer: Vec<u8>,
    pub(super) strict: bool,
    pub(super) fates: Vec<Fate>,
    /// Chunks of which some blocks are lost, and where they are.
    pub(super) partial: BTreeMap<u64, (u64, Vec<(usize, Error)>)>,
    /// Why a chunk is not where it should be.
    pub(super) why: BTreeMap<u64, Error>,
    pub(super) stale: BTreeMap<u64, Sums>,
    /// What the last look at a place cost, in bytes.
    pub(super) cost: u64,
    /// Uncompressed bytes of all chunks.
    pub(super) total: u64,
    pub(super) matching: u64,
    /// Part of a chunk matches its checksums, though not all of it: they are checksums of this frame.
    pub(super) proven: bool,
}

/// Finds all chunks.
pub(super) fn place(
    source: &Source,
    survey: &mut Survey,
    options: &RepairOptions,
    report: &mut Repaired,
) -> Result<Placed> {
    if let Some(Offsets::Uniform { raw: raw @ ..0, len }) = survey.offsets
        && matches!(Entry::from_raw(raw), Ok(Entry::Special(kind)) if is_possible(&survey.header, kind))
    {
        // All of them special: nothing is to be looked at, however many they are.
        report.chunks = len;
        let (offsets, nbytes) = (Offsets::Uniform { raw, len }, survey.header.nbytes());
        let (losses, stale) = (Vec::new(), BTreeMap::new());
        return Ok(Placed { offsets, made: Vec::new(), files: BTreeMap::new(), losses, stale, nbytes });
    }
    let (guesses, restored) = (report.guesses.len(), report.restored.len());
    {
        let mut placing = Placing::new(source, survey, options, report, survey.faith != Faith::Foreign);
        placing.find()?;
        let believed = survey.faith != Faith::Broken || placing.is_proven() || !placing.is_missing();
        if believed || survey.layer.is_none() {
            return placing.finish();
        }
    }
    // Nothing matches: then it is the checksums that are damaged.
    report.guesses.truncate(guesses);
    report.restored.truncate(restored);
    report.guessed(
        Part::Checksums,
        "nothing matches them: they are damaged, and what can be decoded counts as right",
    );
    survey.layer = None;
    survey.offsets = survey.offsets.take().or_else(|| survey.hint.take());
    let mut placing = Placing::new(source, survey, options, report, false);
    placing.find()?;
    placing.finish()
}

/// Whether what is before the first block of a chunk matches its checksum; no where one checksum is over all of it.
fn is_head(sums: &Sums, bytes: &[u8]) -> bool {
    let head = ChunkHeader::parse(bytes).and_then(|header| chunk::head_len(&header, bytes));
    let head = head.ok().filter(|_| sums.get(1).is_some()).and_then(|len| bytes.get(..len));
    head.is_some_and(|head| sums.get(0) == Some(chunk::hash(head)))
}

/// Whether a chunk of a frame can be an offset of this kind and no more.
pub(super) fn is_possible(header: &Header, kind: Special) -> bool {
    header.chunksize() > 0 && (kind != Special::Nan || matches!(header.params().typesize(), 4 | 8))
}

impl<'a> Placing<'a> {
    fn new(
        source: &'a Source,
        survey: &'a Survey,
        options: &'a RepairOptions,
        report: &'a mut Repaired,
        strict: bool,
    ) -> Self {
        let header = &survey.header;
        let mut context = Context::new(options.limits.clone())
            .with_registry(options.registry.clone())
            .with_typesize(header.params().typesize());
        if let Some(grid) = header::grid(header) {
            context = context.with_block_shape(&grid.block_shape());
        }
        Placing {
            source,
            survey,
            options,
            report,
            context,
            params: header.params().clone(),
            likeness: Likeness::of(header),
            scratch: Scratch::default(),
            buffer: Vec::new(),
            strict,
            fates: Vec::new(),
            partial: BTreeMap::new(),
            why: BTreeMap::new(),
            stale: BTreeMap::new(),
            cost: 0,
            total: header.nbytes(),
            matching: 0,
            proven: false,
        }
    }

    fn find(&mut self) -> Result<()> {
        let known = match (&self.survey.offsets, header::nchunks(&self.survey.header), &self.survey.layer) {
            (Some(offsets), ..) => Some(offsets.len()),
            (None, Some(n), _) if self.survey.header.nbytes() > 0 => Some(n),
            (None, _, Some(layer)) => Some(layer.nchunks),
            (None, ..) => None,
        };
        if let Some(n) = known {
            self.make_room(n)?;
            self.by_offsets()?;
            self.by_checksums()?;
            self.by_proof()?;
        }
        if !self.is_proven() && (known.is_none() || self.is_missing()) {
            self.by_order(known)?;
        }
        Ok(())
    }

    /// Whether anything matches the checksums, which are then right.
    fn is_proven(&self) -> bool {
        self.matching > 0 || self.proven
    }

    /// Whether chunk `n` has checksums that it must match: none that does not is taken for it, wherever it lies.
    pub(super) fn is_judged(&self, n: u64) -> bool {
        matches!(self.sums(n, 0), Some((_, true)))
    }

    /// Room for so many chunks.
    pub(super) fn make_room(&mut self, n: u64) -> Result<()> {
        let bytes = n.saturating_mul(size_of::<Fate>() as u64);
        Limits::check("the places of the chunks", bytes, self.options.limits.max_index_bytes())?;
        if n > Offsets::MAX_CHUNKS {
            let reason = format!("{n} chunks, which no frame has");
            return Err(Error::format(Part::FrameHeader, None, reason));
        }
        self.fates = reserved("the places of the chunks", usize::try_from(n).unwrap_or(usize::MAX))?;
        self.fates.resize(usize::try_from(n).unwrap_or(usize::MAX), Fate::Unknown);
        let size = u64::from(self.survey.header.chunksize());
        if size > 0 && self.total.div_ceil(size) != n {
            self.total = size.saturating_mul(n);
        }
        Ok(())
    }

    pub(super) fn is_missing(&self) -> bool {
        self.fates.iter().any(|fate| matches!(fate, Fate::Unknown))
    }

    pub(super) fn missing(&self) -> impl Iterator<Item = u64> {
        (0..).zip(&self.fates).filter(|(_, fate)| matches!(fate, Fate::Unknown)).map(|(n, _)| n)
    }

    /// Uncompressed bytes of chunk `n`, where all have the same.
    pub(super) fn nbytes(&self, n: u64) -> Option<u32> {
        let ChunkSizes::Fixed(size) = self.survey.header.chunk_sizes() else { return None };
        let rest = self.total.checked_sub(n.checked_mul(u64::from(size))?)?;
        u32::try_from(rest.min(u64::from(size))).ok()
    }

    /// The checksums of chunk `n`, which may start at `place`, and whether what does not match them is damaged.
    pub(super) fn sums(&self, n: u64, place: u64) -> Option<(Sums, bool)> {
        let start = match self.source.layout {
            Layout::Contiguous => place.saturating_sub(self.survey.base),
            Layout::Sparse => 0,
        };
        let (state, sums) = self.survey.layer.as_ref()?.sums(n, start).ok()??;
        Some((sums, self.strict && state == State::Sure))
    }

    /// Looks at chunk `n`, whose bytes are in the buffer.
    pub(super) fn look(&mut self, n: u64, place: u64) -> Result<Verdict> {
        let sums = self.sums(n, place);
        let sums = sums.as_ref().map(|(sums, strict)| (sums, *strict));
        let due = Due { nbytes: self.nbytes(n), params: &self.params, sums };
        let verdict = judge(&mut self.buffer, due, &self.context, &mut self.scratch)?;
        if let (Some((sums, true)), Verdict::Partial(_) | Verdict::Bad(_)) = (sums, &verdict) {
            let proven = matches!(verdict, Verdict::Partial(_)) || is_head(sums, &self.buffer);
            self.proven |= proven;
        }
        Ok(verdict)
    }

    pub(super) fn settle(&mut self, n: u64, place: u64, verdict: Verdict) -> Result<()> {
        match verdict {
            Verdict::Good(standing) => {
                if let Some(fate) = usize::try_from(n).ok().and_then(|n| self.fates.get_mut(n)) {
                    *fate = Fate::Stored(place);
                }
                match standing {
                    Standing::Matching => self.matching = self.matching.saturating_add(1),
                    Standing::Stale => self.stale.extend(self.sums(n, place).map(|(sums, _)| (n, sums))),
                    Standing::Unchecked => {}
                }
                self.partial.remove(&n);
                self.why.remove(&n);
                Ok(())
            }
            Verdict::Partial(blocks) => {
                let more = self.lossy().saturating_add(blocks.len() as u64);
                self.check_list(more)?;
                self.partial.entry(n).or_insert((place, blocks));
                Ok(())
            }
            Verdict::Bad(error) => {
                self.check_list(self.lossy().saturating_add(1))?;
                let start = match self.source.layout {
                    Layout::Contiguous => place.saturating_sub(self.survey.base),
                    Layout::Sparse => 0,
                };
                let len = ChunkHeader::parse(&self.buffer).map_or(16, |header| u64::from(header.cbytes()));
                self.why.entry(n).or_insert(error.in_bytes(start..start.saturating_add(len)));
                Ok(())
            }
        }
    }

    pub(super) fn lossy(&self) -> u64 {
        (self.partial.len().saturating_add(self.why.len())) as u64
    }

    /// An error when a list of `len` losses costs more than the index of chunks may.
    pub(super) fn check_list(&self, len: u64) -> Result<()> {
        let most = self.options.limits.max_index_bytes();
        Limits::check("the list of what is lost", len.saturating_mul(LOSS_BYTES), most)
    }

    /// The chunks that are where the offsets say.
    fn by_offsets(&mut self) -> Result<()> {
        let Some(offsets) = &self.survey.offsets else { return Ok(()) };
        let groups = offsets.groups()?;
        for group in 0..groups.len() {
            self.options.exec.check_cancelled()?;
            let Some((first, others)) = groups.get(group) else { continue };
            let raw = offsets.raw(first)?;
            match Entry::from_raw(raw) {
                Ok(Entry::Special(kind)) if is_possible(&self.survey.header, kind) => {
                    for n in std::iter::once(first).chain(others.iter()) {
                        if let Some(fate) = usize::try_from(n).ok().and_then(|n| self.fates.get_mut(n)) {
                            *fate = Fate::Special(raw);
                        }
                    }
                }
                Ok(Entry::Stored(relative)) => {
                    let place = match self.source.layout {
                        Layout::Contiguous => {
                            let start = self.survey.base.saturating_add(self.survey.header.len());
                            start.saturating_add(relative)
                        }
                        Layout::Sparse => relative,
                    };
                    self.look_at_group(place, first, others.iter())?;
                }
                Ok(Entry::Special(_)) | Err(_) => {
                    let error = || Error::format(Part::Offsets, None, "the offset is none that there can be");
                    for n in std::iter::once(first).chain(others.iter()) {
                        self.check_list(self.lossy().saturating_add(1))?;
                        self.why.insert(n, error());
                    }
                }
            }
        }
        Ok(())
    }

    /// Looks at chunks that are said to lie in the same place.
    fn look_at_group(&mut self, place: u64, first: u64, others: impl Iterator<Item = u64>) -> Result<()> {
        if !self.fetch(place, first)? {
            for n in others {
                self.check_list(self.lossy().saturating_add(1))?;
                self.why.insert(n, Error::format(Part::Offsets, None, format!("as chunk {first}")));
            }
            return Ok(());
        }
        let verdict = self.look(first, place)?;
        let decoded = match &verdict {
            Verdict::Good(standing) if *standing != Standing::Stale => Some(*standing),
            _ => None,
        };
        self.options.exec.progress(self.buffer.len() as u64);
        self.settle(first, place, verdict)?;
        let mut entries = None;
        for n in others {
            let all = entries.get_or_insert_with(|| chunk::hashes(&self.buffer).unwrap_or_default());
            let fits = self.nbytes(n) == self.nbytes(first);
            let verdict = match self.sums(n, place) {
                Some((sums, _)) if matches_all(&sums, all) => Verdict::Good(Standing::Matching),
                None if fits && decoded.is_some() => Verdict::Good(Standing::Unchecked),
                _ => Verdict::Bad(Error::format(Part::Offsets, None, format!("not where chunk {first} is"))),
            };
            self.settle(n, place, verdict)?;
        }
        Ok(())
    }

    /// Reads the chunk at a place into the buffer; whether there is one for chunk `n`.
    fn fetch(&mut self, place: u64, n: u64) -> Result<bool> {
        match self.source.chunk(place, &mut self.buffer) {
            Ok(_) => Ok(true),
            Err(error) if is_damage(&error) => {
                self.buffer.clear();
                self.settle(n, place, Verdict::Bad(error)).map(|()| false)
            }
            Err(error) => Err(error),
        }
    }
}
