//! Which chunk lies where: by the offsets, by checksums, or in the order of lying; and what takes the place of those that are
//! lost.

use super::fates::{Fate, Fates, RUN_BYTES, Reasons};
use super::header;
use super::judge::{Expected, LostBlocks, MOST_REASONS, Verdict, judge};
use super::options::RepairOptions;
use super::recognise::matches_all;
use super::report::Repaired;
use super::scan::Likeness;
use super::source::{CHUNK_HEADER, DamagedFrame};
use super::survey::{ChecksumTrust, Survey};
use crate::chunk;
use crate::chunk::{ChunkHeader, Context, Params, Special, Sums};
use crate::error::{Error, Part, Result};
use crate::exec::Scratch;
use crate::frame::digests::EntryTrust;
use crate::frame::{ChunkOffset, ChunkSizes, FrameHeader, Layout, Offsets};
use crate::limits::{Limits, reserved};
use crate::schunk::walk::each_run;
use crate::schunk::{ChecksumStatus, is_damage, most_listed};
use std::collections::BTreeMap;
use std::ops::Range;

/// Chunks that are lost, or blocks of the one chunk.
#[derive(Debug)]
pub(super) struct Loss {
    pub(super) chunks: Range<u64>,
    pub(super) blocks: Option<Range<u32>>,
    pub(super) error: Error,
}

/// Where all chunks are.
#[derive(Debug)]
pub(super) struct Placed {
    /// Positions in the frame file, those behind its end in `made`; or the numbers of chunk files.
    pub(super) offsets: Offsets,
    pub(super) made: Vec<u8>,
    pub(super) files: BTreeMap<u32, Vec<u8>>,
    /// What is lost, as far as it is listed, and how many chunks and blocks that are in all.
    pub(super) losses: Vec<Loss>,
    pub(super) lost: u64,
    pub(super) stale: BTreeMap<u64, Sums>,
    pub(super) nbytes: u64,
}

/// Finds out.
pub(super) struct Placing<'a> {
    pub(super) source: &'a DamagedFrame,
    pub(super) survey: &'a Survey,
    pub(super) options: &'a RepairOptions,
    pub(super) report: &'a mut Repaired,
    pub(super) context: Context,
    pub(super) params: Params,
    pub(super) likeness: Likeness,
    pub(super) scratch: Scratch,
    pub(super) buffer: Vec<u8>,
    pub(super) strict: bool,
    pub(super) fates: Fates,
    /// Chunks of which some blocks are lost, and where they are.
    pub(super) partial: BTreeMap<u64, (u64, LostBlocks)>,
    /// Why a chunk is not where it should be.
    pub(super) why: Reasons,
    /// The most entries of the list of what is lost.
    pub(super) most: usize,
    /// What may be kept on the word of the file, in bytes.
    pub(super) allowed: u64,
    /// The chunks that the layer of checksums may have entries for.
    listed: Vec<Range<u64>>,
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
    source: &DamagedFrame,
    survey: &mut Survey,
    options: &RepairOptions,
    report: &mut Repaired,
) -> Result<Placed> {
    if let Some(Offsets::Uniform { raw: raw @ ..0, len }) = survey.offsets
        && matches!(ChunkOffset::from_raw(raw), Ok(ChunkOffset::Special(kind)) if is_possible(&survey.header, kind))
    {
        // All of them special: nothing is to be looked at, however many they are.
        report.chunks = len;
        let (offsets, nbytes) = (Offsets::Uniform { raw, len }, survey.header.nbytes());
        let (losses, stale) = (Vec::new(), BTreeMap::new());
        return Ok(Placed {
            offsets,
            made: Vec::new(),
            files: BTreeMap::new(),
            losses,
            lost: 0,
            stale,
            nbytes,
        });
    }
    let (guesses, restored) = (report.guesses.len(), report.restored.len());
    {
        let mut placing =
            Placing::new(source, survey, options, report, survey.trust != ChecksumTrust::Foreign);
        placing.find()?;
        let believed = survey.trust != ChecksumTrust::Broken || placing.is_proven() || !placing.is_missing();
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

/// What a repair may keep on the word of the file, in bytes: [`Limits::max_index_bytes`], where the caller has set that; else in
/// proportion to the file.
fn allowance(source: &DamagedFrame, options: &RepairOptions) -> u64 {
    let listing = (source.listing.chunks.len() as u64).saturating_mul(CHUNK_HEADER);
    let file = source.len.saturating_add(listing).saturating_mul(16);
    match options.common.limits.max_index_bytes() {
        Limits::DEFAULT_MAX_INDEX_BYTES => file.saturating_add(64 << 20).min(Limits::DEFAULT_MAX_INDEX_BYTES),
        set => set,
    }
}

/// Whether what is before the first block of a chunk matches its checksum; no where one checksum is over all of it.
fn is_head(sums: &Sums, bytes: &[u8]) -> bool {
    let head = ChunkHeader::parse(bytes).and_then(|header| chunk::head_len(&header, bytes));
    let head = head.ok().filter(|_| sums.get(1).is_some()).and_then(|len| bytes.get(..len));
    head.is_some_and(|head| sums.get(0) == Some(chunk::hash(head)))
}

/// Whether a chunk of a frame can be an offset of this kind and no more.
pub(super) fn is_possible(header: &FrameHeader, kind: Special) -> bool {
    header.chunksize() > 0 && (kind != Special::Nan || matches!(header.params().typesize(), 4 | 8))
}

impl<'a> Placing<'a> {
    fn new(
        source: &'a DamagedFrame,
        survey: &'a Survey,
        options: &'a RepairOptions,
        report: &'a mut Repaired,
        strict: bool,
    ) -> Self {
        let header = &survey.header;
        let most = most_listed(&options.common.limits);
        let mut context = Context::new(options.common.limits.clone())
            .with_registry(options.common.registry())
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
            fates: Fates::default(),
            partial: BTreeMap::new(),
            why: Reasons::new(most),
            most,
            allowed: allowance(source, options),
            listed: survey.layer.as_ref().map(|layer| layer.listed().collect()).unwrap_or_default(),
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
        Limits::check(
            "the chunk offsets",
            n.saturating_mul(8),
            self.options.common.limits.max_index_bytes(),
        )?;
        if n > Offsets::MAX_CHUNKS {
            let reason = format!("{n} chunks, which no frame has");
            return Err(Error::format(Part::FrameHeader, None, reason));
        }
        self.fates = Fates::new(n);
        let size = u64::from(self.survey.header.chunksize());
        if size > 0 && self.total.div_ceil(size) != n {
            self.total = size.saturating_mul(n);
        }
        Ok(())
    }

    pub(super) fn is_missing(&self) -> bool {
        self.fates.missing().next().is_some()
    }

    /// Missing chunks that the layer of checksums may have entries for.
    pub(super) fn missing_listed(&self) -> impl Iterator<Item = u64> {
        self.listed.iter().flat_map(|listed| {
            let both = move |run: Range<u64>| run.start.max(listed.start)..run.end.min(listed.end);
            self.fates.missing().flat_map(both)
        })
    }

    /// Sets what is known of some chunks.
    ///
    /// # Errors
    /// [`Error::Limit`] when they differ more often than the file may cost.
    pub(super) fn set_fate(&mut self, chunks: Range<u64>, fate: Fate) -> Result<()> {
        self.fates.set(chunks, fate);
        let bytes = self.fates.count().saturating_mul(RUN_BYTES);
        Limits::check("the places of the chunks", bytes, self.allowed)
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
        Some((sums, self.strict && state == EntryTrust::Sure))
    }

    /// Looks at chunk `n`, whose bytes are in the buffer.
    pub(super) fn look(&mut self, n: u64, place: u64) -> Result<Verdict> {
        let sums = self.sums(n, place);
        let sums = sums.as_ref().map(|(sums, strict)| (sums, *strict));
        let expected = Expected { nbytes: self.nbytes(n), params: &self.params, sums };
        let verdict = judge(&self.buffer, expected, &self.context, &mut self.scratch)?;
        if let (Some((sums, true)), Verdict::Partial(_) | Verdict::Bad(_)) = (sums, &verdict) {
            let proven = matches!(verdict, Verdict::Partial(_)) || is_head(sums, &self.buffer);
            self.proven |= proven;
        }
        Ok(verdict)
    }

    pub(super) fn settle(&mut self, n: u64, place: u64, verdict: Verdict) -> Result<()> {
        match verdict {
            Verdict::Good(status) => {
                self.set_fate(n..n.saturating_add(1), Fate::Stored(place))?;
                match status {
                    ChecksumStatus::Matching => self.matching = self.matching.saturating_add(1),
                    ChecksumStatus::Stale => {
                        self.stale.extend(self.sums(n, place).map(|(sums, _)| (n, sums)));
                    }
                    ChecksumStatus::Unchecked => {}
                }
                self.partial.remove(&n);
                Ok(())
            }
            Verdict::Partial(blocks) => {
                // Reasons for more than are listed would cost memory for nothing.
                let listed = self.partial.len().saturating_mul(MOST_REASONS) < self.most;
                let blocks = if listed { blocks } else { blocks.without_reasons() };
                self.partial.entry(n).or_insert((place, blocks));
                Ok(())
            }
            Verdict::Bad(error) => {
                let start = match self.source.layout {
                    Layout::Contiguous => place.saturating_sub(self.survey.base),
                    Layout::Sparse => 0,
                };
                let len = ChunkHeader::parse(&self.buffer).map_or(16, |header| u64::from(header.cbytes()));
                let bytes = start..start.saturating_add(len);
                self.why.note(n..n.saturating_add(1), || error.in_bytes(bytes));
                Ok(())
            }
        }
    }

    /// The chunks that are where the offsets say.
    fn by_offsets(&mut self) -> Result<()> {
        let Some(offsets) = &self.survey.offsets else { return Ok(()) };
        let (mut runs, allowed) = (Vec::new(), self.allowed);
        // The last chunk may be shorter than others: it is no other chunk, wherever it lies.
        let last = offsets.len().saturating_sub(1);
        each_run(offsets, |raw, run| {
            let bytes = (runs.len() as u64).saturating_mul(size_of::<(i64, Range<u64>)>() as u64);
            Limits::check("the places of the chunks", bytes, allowed)?;
            runs.try_reserve(2).map_err(|_| Error::out_of_memory("the places of the chunks", bytes))?;
            let cut = if run.contains(&last) { last } else { run.end };
            runs.extend(
                [(raw, run.start..cut), (raw, cut..run.end)].into_iter().filter(|(_, run)| !run.is_empty()),
            );
            Ok(())
        })?;
        runs.sort_unstable_by_key(|(raw, run)| (*raw, run.start));
        for group in runs.chunk_by(|(one, _), (other, _)| one == other) {
            self.options.common.exec.check_cancelled()?;
            let Some((raw, _)) = group.first() else { continue };
            match ChunkOffset::from_raw(*raw) {
                Ok(ChunkOffset::Special(kind)) if is_possible(&self.survey.header, kind) => {
                    for (_, run) in group {
                        self.set_fate(run.clone(), Fate::Special(*raw))?;
                    }
                }
                Ok(ChunkOffset::Stored(relative)) => {
                    let place = match self.source.layout {
                        Layout::Contiguous => {
                            let start = self.survey.base.saturating_add(self.survey.header.len());
                            start.saturating_add(relative)
                        }
                        Layout::Sparse => relative,
                    };
                    self.look_at_group(place, group)?;
                }
                Ok(ChunkOffset::Special(_)) | Err(_) => {
                    for (_, run) in group {
                        let error = || Error::format(Part::Offsets, None, "the offset is impossible");
                        self.why.note(run.clone(), error);
                    }
                }
            }
        }
        Ok(())
    }

    /// Looks at chunks that are said to lie in the same place.
    fn look_at_group(&mut self, place: u64, group: &[(i64, Range<u64>)]) -> Result<()> {
        let Some(first) = group.first().map(|(_, run)| run.start) else { return Ok(()) };
        let others = group.iter().map(|(_, run)| run.start.max(first.saturating_add(1))..run.end);
        if !self.fetch(place, first)? {
            for run in others {
                self.why.note(run, || Error::format(Part::Offsets, None, format!("as chunk {first}")));
            }
            return Ok(());
        }
        let verdict = self.look(first, place)?;
        let decoded = match &verdict {
            Verdict::Good(status) if *status != ChecksumStatus::Stale => Some(*status),
            _ => None,
        };
        self.options.common.exec.progress(self.buffer.len() as u64);
        self.settle(first, place, verdict)?;
        let mut entries = None;
        for run in others.filter(|run| !run.is_empty()) {
            let fits = decoded.is_some() && self.nbytes(run.start) == self.nbytes(first);
            let mut from = run.start;
            for listed in self.listed_in(&run)? {
                self.share(place, first, from..listed.start, fits)?;
                for n in listed.clone() {
                    let all = entries.get_or_insert_with(|| chunk::hashes(&self.buffer).unwrap_or_default());
                    match self.sums(n, place) {
                        Some((sums, _)) if matches_all(&sums, all) => {
                            self.settle(n, place, Verdict::Good(ChecksumStatus::Matching))?;
                        }
                        None => self.share(place, first, n..n.saturating_add(1), fits)?,
                        Some(_) => self.share(place, first, n..n.saturating_add(1), false)?,
                    }
                }
                from = listed.end;
            }
            self.share(place, first, from..run.end, fits)?;
        }
        Ok(())
    }

    /// The parts of a run of chunks that the layer of checksums may have entries for.
    fn listed_in(&self, run: &Range<u64>) -> Result<Vec<Range<u64>>> {
        let after = self.listed.partition_point(|listed| listed.end <= run.start);
        let listed = self.listed.iter().skip(after).take_while(|listed| listed.start < run.end);
        let mut found = reserved("the places of the chunks", listed.clone().count())?;
        found.extend(listed.map(|listed| listed.start.max(run.start)..listed.end.min(run.end)));
        Ok(found)
    }

    /// Chunks without checksums that lie where chunk `first` does, which can be had where that `fits` them.
    fn share(&mut self, place: u64, first: u64, chunks: Range<u64>, fits: bool) -> Result<()> {
        if fits {
            return self.set_fate(chunks, Fate::Stored(place));
        }
        self.why.note(chunks, || Error::format(Part::Offsets, None, format!("not where chunk {first} is")));
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
