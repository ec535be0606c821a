//! Reading without a store: says which bytes a selection needs, and takes them from the caller in any order.

use super::asked::{Asked, Early, not_asked};
use super::chunk::{ChunkRead, special_item, wanted};
use super::targets::Targets;
use super::task::{Asks, ChunkTask, Need};
use super::visit::Visit;
use crate::array::handle::{Array, ArraySnapshot};
use crate::array::selection::{Selection, Taken};
use crate::error::{Error, Part, Result};
use crate::exec::Scratch;
use crate::io::{FileId, FileRange, Machine, Pieces, RangeCosts, ReadBudget, Step};
use crate::limits::zeroed;
use crate::schunk::Place;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// Reads a selection of an array from bytes that the caller fetches: from a file, an object store, a browser.
///
/// [`Reader::step`] names the ranges that are needed and not yet asked for, up to a budget; [`Reader::supply`] takes them, in
/// any order, joined or divided. Bytes are decoded as soon as their turn comes and not kept. A point of an array whose index is
/// known takes one wave of requests where chunks are small, two where they are large (start of the chunk, blocks).
///
/// The first read of an array takes one wave more, for index and trailer; all snapshots of the array share them. Of checksums that
/// take more than 64 KiB, a segment (those of 4096 chunks) is asked for together with the first chunk that needs it.
///
/// Memory: the result, the plan of the selection, and what is asked for and not yet decoded; besides, the index as it is stored
/// (twice while it is loaded), at most 8 MiB of it decoded, and the segments. An example is at
/// [`Opener`](crate::schunk::Opener).
pub struct Reader {
    array: ArraySnapshot,
    shapes: Vec<Vec<u64>>,
    work: Option<Work>,
    /// What was supplied of index and trailer.
    catalog: Pieces,
    /// Ranges of index and trailer that are needed and not asked for.
    catalog_needs: VecDeque<Range<u64>>,
    /// Number of catalog ranges that were requested.
    catalog_asked: usize,
    results: Vec<Vec<u8>>,
}

/// The part of a read that decodes.
struct Work {
    targets: Targets,
    costs: RangeCosts,
    active: BTreeMap<usize, Active>,
    /// Active chunks that may have new needs.
    changed: BTreeSet<usize>,
    /// The segments of the checksums that are asked for.
    segments: BTreeSet<usize>,
    /// Active chunks that wait for a segment, by its number.
    waiting: BTreeMap<usize, Vec<usize>>,
    asked: Asked,
    scratch: Scratch,
}

/// A chunk that is being read.
struct Active {
    task: ChunkTask,
    file: FileId,
    /// Where the chunk starts in its file.
    offset: u64,
    asks: Asks,
    /// Bytes supplied earlier than the chunk can use them.
    early: Vec<(usize, Vec<u8>)>,
    /// The segment of the checksums that it waits for, and its place in the frame file.
    segment: Option<(usize, Range<u64>)>,
}

/// A chunk, or another part of a frame, that asks for a range: the number of the chunk among those of the read, or one of these.
const CATALOG: usize = usize::MAX;
/// The segment with the highest number; the others are below.
const LAST_SEGMENT: usize = usize::MAX - 1;
/// No segment has a lower number.
const FIRST_SEGMENT: usize = usize::MAX / 2;

impl Array {
    /// A [`Reader`] of a selection: it asks for bytes instead of reading them from the store of the array.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] or [`Error::NdimMismatch`] when the selection does not fit the shape; [`Error::State`]
    /// while changes are not committed; [`Error::Limit`] when the result is larger than
    /// [`Limits::max_read_bytes`](crate::Limits::max_read_bytes).
    pub fn reader(&self, selection: impl Into<Selection>) -> Result<Reader> {
        self.reader_of([selection.into()])
    }

    /// A [`Reader`] of several selections at once: each chunk that they share is asked for once.
    ///
    /// Index and trailer of the frame are loaded in any case, also where no selection takes anything.
    ///
    /// ```
    /// use b2nd::io::{FileId, ReadBudget, Step};
    /// use b2nd::{Array, Dtype, OpenOptions, Options, s};
    /// # let mut made = Options::new().create_in_memory(Dtype::parse("|u1")?, [100])?;
    /// # made.write_bytes(s![], &(0..100).collect::<Vec<u8>>())?;
    /// let far_away = made.to_bytes()?;
    /// let a = Array::from_bytes(far_away.clone(), &OpenOptions::new())?;
    ///
    /// let mut reader = a.reader_of([s![7], s![40..43]])?;
    /// while let Step::Need(ranges) = reader.step(&ReadBudget::default())? {
    ///     for needed in ranges {
    ///         let bytes = &far_away[needed.range.start as usize..needed.range.end as usize];
    ///         reader.supply(&needed, bytes)?;
    ///     }
    /// }
    /// assert_eq!(reader.finish_each()?, [vec![7], vec![40, 41, 42]]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::reader`]; the limit is for all results together.
    pub fn reader_of(&self, selections: impl IntoIterator<Item = impl Into<Selection>>) -> Result<Reader> {
        let array = self.snapshot()?;
        let selections = selections.into_iter().map(Into::into).collect();
        let (targets, shapes) = Targets::new(&array, selections)?;
        let costs = array.schunk.range_costs();
        Ok(Reader::new(array, shapes, Work::new(targets, costs)))
    }
}

impl Array {
    /// Reads what a selection takes, into a buffer of its size, by a store that answers reads as a whole.
    pub(super) fn read_answered(&self, taken: Taken, out: &mut [u8]) -> Result<()> {
        let array = self.snapshot()?;
        let targets = Targets::of_one(&array, taken, out.len() as u64)?;
        let work = Work::new(targets, array.schunk.range_costs());
        let mut reader = Reader::new(array, vec![Vec::new()], work);
        self.schunk.answer(&mut reader)?;
        let found = reader.finish()?;
        match found.len() == out.len() {
            true => out.copy_from_slice(&found),
            false => return Err(Error::state("the result of the read has another length")),
        }
        Ok(())
    }
}

impl Machine for Reader {
    fn step(&mut self, budget: &ReadBudget) -> Result<Step> {
        Reader::step(self, budget)
    }
    fn supply(&mut self, range: &FileRange, bytes: &[u8]) -> Result<()> {
        Reader::supply(self, range, bytes)
    }
}

impl Work {
    fn new(targets: Targets, costs: RangeCosts) -> Self {
        Work {
            targets,
            costs,
            active: BTreeMap::new(),
            changed: BTreeSet::new(),
            segments: BTreeSet::new(),
            waiting: BTreeMap::new(),
            asked: Asked::default(),
            scratch: Scratch::default(),
        }
    }

    /// Calls `work` with touched chunk `n`.
    fn visit<R>(&self, array: &Array, n: usize, work: impl FnOnce(&dyn Visit) -> Result<R>) -> Result<R> {
        let gone = || Error::usage("the read has no such chunk");
        self.targets.visit(array, n, |visit| work(visit.ok_or_else(gone)?))
    }

    /// Begins the next chunk; a special chunk is completed immediately.
    fn begin(&mut self, array: &Array) -> Result<()> {
        let Some(n) = self.targets.begin(array) else { return Ok(()) };
        let mut block = std::mem::take(&mut self.scratch.block);
        let begun = self.visit(array, n, |visit| {
            let chunk = visit.chunk();
            let read = chunk_read(array, visit);
            let place = array.schunk.place_in_index(chunk)?;
            match place {
                Place::Special(kind) => {
                    let item = special_item(kind, array.grid.itemsize(), array.schunk.limits())?;
                    read.repeat(&item, 0..visit.blocks(), &mut block).map(|()| None)
                }
                Place::Stored { file, offset, .. } => {
                    let costs = self.costs;
                    let first = array.schunk.first_fetch(array.grid.blocks_per_chunk());
                    // A chunk that is short or mostly wanted is read whole, without reading its head first.
                    let most =
                        visit.blocks().saturating_mul(4) >= array.grid.blocks_per_chunk().saturating_mul(3);
                    let bound = array.schunk.length_bound(chunk).filter(|len| most || *len <= costs.whole);
                    let start = bound.map_or(first, |len| usize::try_from(len).unwrap_or(first));
                    let segment = array.schunk.missing_segment(chunk)?;
                    let sums = match segment {
                        Some(_) => None,
                        None => array.schunk.sums(chunk, place)?,
                    };
                    let blocks = wanted(visit, 0..visit.blocks());
                    let task = ChunkTask::new(read.origin(place, sums), blocks, start, costs);
                    let (asks, early) = (Asks::default(), Vec::new());
                    Ok(Some(Active { task, file, offset, asks, early, segment }))
                }
            }
            .map_err(|error: Error| error.in_chunk(chunk))
        });
        self.scratch.block = block;
        if let Some(active) = begun? {
            if let Some((segment, _)) = &active.segment {
                self.waiting.entry(*segment).or_default().push(n);
            }
            self.changed.insert(n);
            self.active.insert(n, active);
        }
        Ok(())
    }

    /// Names what active chunks need and was not asked for, within the budget.
    fn ask(&mut self, budget: &ReadBudget, ranges: &mut Vec<FileRange>) {
        while let Some(n) = self.changed.first().copied() {
            if !self.ask_of(n, budget, ranges) {
                return;
            }
            self.changed.remove(&n);
        }
    }

    /// Names what chunk `n` needs; whether the budget had room for all of it.
    fn ask_of(&mut self, n: usize, budget: &ReadBudget, ranges: &mut Vec<FileRange>) -> bool {
        let Some(active) = self.active.get_mut(&n) else { return true };
        if let Some((segment, range)) = &active.segment
            && !self.segments.contains(segment)
        {
            if !self.asked.has_room(budget) {
                return false;
            }
            let wanted = FileRange::new(FileId::Frame, range.clone());
            if self.asked.add(LAST_SEGMENT.saturating_sub(*segment), &wanted) {
                ranges.push(wanted);
            }
            self.segments.insert(*segment);
        }
        loop {
            if !self.asked.has_room(budget) {
                return false;
            }
            let Some(Need::Head(range) | Need::Blocks(range)) = active.task.next_ask(&mut active.asks) else {
                return true;
            };
            let at = |at: usize| active.offset.saturating_add(at as u64);
            // The length of a chunk file is not in the index.
            let may_be_short = matches!(active.file, FileId::Chunk(_));
            let wanted = FileRange { file: active.file, range: at(range.start)..at(range.end), may_be_short };
            if self.asked.add(n, &wanted) {
                ranges.push(wanted);
            }
        }
    }

    /// Gives bytes to a chunk; `ended`: its file ends with them.
    fn deliver(
        &mut self,
        array: &Array,
        n: usize,
        range: &FileRange,
        bytes: &[u8],
        ended: bool,
    ) -> Result<()> {
        let Some(mut active) = self.active.remove(&n) else { return Ok(()) };
        let at = usize::try_from(range.range.start.saturating_sub(active.offset)).unwrap_or(usize::MAX);
        let end = at.saturating_add(bytes.len());
        if ended {
            active.task.ends_at(end);
        }
        self.go_on(array, n, active, |active, read, block, scratch| {
            active.take(read, at, bytes, block, scratch)?;
            match active.task.need() {
                Some(Need::Head(range) | Need::Blocks(range)) if ended && range.end > end => {
                    let reason = format!("the chunk file ends after {end} bytes");
                    Err(Error::format(Part::ChunkHeader, 12, reason))
                }
                _ => Ok(()),
            }
        })
    }

    /// Takes a segment of the checksums; the chunks that wait for it go on.
    fn deliver_segment(&mut self, array: &Array, segment: usize, bytes: &[u8]) -> Result<()> {
        array.schunk.supply_segment(segment, bytes)?;
        self.segments.remove(&segment);
        for n in self.waiting.remove(&segment).unwrap_or_default() {
            let Some(mut active) = self.active.remove(&n) else { continue };
            active.segment = None;
            self.go_on(array, n, active, |active, read, block, scratch| {
                active.task.set_sums(array.schunk.sums(read.visit.chunk(), active.task.place())?);
                active.take_early(read, block, scratch)
            })?;
        }
        Ok(())
    }

    /// Advances a chunk as far as its bytes allow; keeps it active if it needs more.
    fn go_on(
        &mut self,
        array: &Array,
        n: usize,
        mut active: Active,
        work: impl FnOnce(&mut Active, &ChunkRead<'_, dyn Visit + '_>, &mut Vec<u8>, &mut Scratch) -> Result<()>,
    ) -> Result<()> {
        let early = active.early_bytes();
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut block = std::mem::take(&mut scratch.block);
        let done = self.visit(array, n, |visit| {
            let done = work(&mut active, &chunk_read(array, visit), &mut block, &mut scratch);
            done.map_err(|error| error.in_chunk(visit.chunk()))
        });
        scratch.block = block;
        self.scratch = scratch;
        done?;
        self.asked.release(early);
        if active.task.need().is_some() {
            self.asked.hold(active.early_bytes());
            self.changed.insert(n);
            self.active.insert(n, active);
        }
        Ok(())
    }
}

fn chunk_read<'a>(array: &'a Array, visit: &'a dyn Visit) -> ChunkRead<'a, dyn Visit + 'a> {
    let post = array.schunk.processing().post.as_ref();
    ChunkRead { array, visit, last: true, cached: false, post }
}

impl Active {
    /// The ranges that were supplied early.
    fn early_bytes(&self) -> Early {
        let bytes = self.early.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        Early { bytes, ranges: self.early.len() }
    }

    /// Decodes what these bytes and early ones allow; stores them if other bytes are needed first.
    fn take(
        &mut self,
        read: &ChunkRead<'_, dyn Visit + '_>,
        at: usize,
        bytes: &[u8],
        block: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        if !self.is_next(at, bytes.len()) {
            let mut copy = zeroed("bytes that came early", bytes.len() as u64)?;
            copy.copy_from_slice(bytes);
            self.early.push((at, copy));
            return Ok(());
        }
        self.task.accept(read, at, bytes, block, scratch)?;
        self.take_early(read, block, scratch)
    }

    /// Decodes what early bytes allow.
    fn take_early(
        &mut self,
        read: &ChunkRead<'_, dyn Visit + '_>,
        block: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        while let Some(n) = self.early.iter().position(|(at, bytes)| self.is_next(*at, bytes.len())) {
            let (at, bytes) = self.early.swap_remove(n);
            self.task.accept(read, at, &bytes, block, scratch)?;
        }
        Ok(())
    }

    /// Whether these bytes of the chunk have all that is needed next.
    fn is_next(&self, at: usize, len: usize) -> bool {
        match self.task.need() {
            _ if self.segment.is_some() => false,
            Some(Need::Head(range) | Need::Blocks(range)) => {
                at <= range.start && range.end <= at.saturating_add(len)
            }
            None => false,
        }
    }
}

impl Reader {
    fn new(array: ArraySnapshot, shapes: Vec<Vec<u64>>, work: Work) -> Self {
        Reader {
            array,
            shapes,
            work: Some(work),
            catalog: Pieces::default(),
            catalog_needs: VecDeque::new(),
            catalog_asked: 0,
            results: Vec::new(),
        }
    }

    /// Sets what ranges of one chunk are worth joining, and which chunks come whole; by default what the store of the array
    /// says.
    ///
    /// Ranges of different chunks are for the caller to join.
    #[must_use]
    pub fn with_range_costs(mut self, costs: RangeCosts) -> Self {
        if let Some(work) = &mut self.work {
            work.costs = costs;
        }
        self
    }

    /// The shape of the result; of several selections, that of the first.
    pub fn shape(&self) -> &[u64] {
        self.shapes.first().map(Vec::as_slice).unwrap_or_default()
    }

    /// The shapes of the results of all selections.
    pub fn shapes(&self) -> &[Vec<u64>] {
        &self.shapes
    }

    /// What is needed next: ranges that were not named before, with at most `budget` asked for and not supplied.
    ///
    /// # Errors
    /// [`Error::Format`] when the index is damaged; [`Error::Limit`]; [`Error::OutOfMemory`]. After an error the
    /// reader is of no use.
    pub fn step(&mut self, budget: &ReadBudget) -> Result<Step> {
        let Some(work) = &mut self.work else { return Ok(Step::Done) };
        if self.catalog_needs.is_empty() && self.catalog_asked == 0 {
            self.catalog_needs.extend(self.array.schunk.missing_catalog(&self.catalog)?);
        }
        let mut ranges = Vec::new();
        while work.asked.has_room(budget)
            && let Some(range) = self.catalog_needs.pop_front()
        {
            let wanted = FileRange::new(FileId::Frame, range);
            work.asked.add(CATALOG, &wanted);
            self.catalog_asked = self.catalog_asked.saturating_add(1);
            ranges.push(wanted);
        }
        if self.catalog_asked > 0 {
            return Ok(Step::Need(ranges));
        }
        self.catalog = Pieces::default();
        loop {
            work.ask(budget, &mut ranges);
            if work.targets.all_begun() || !work.asked.has_room(budget) {
                break;
            }
            self.array.schunk.exec().check_cancelled()?;
            work.begin(&self.array)?;
        }
        if work.active.is_empty() && work.targets.all_begun() {
            if let Some(work) = self.work.take() {
                self.results = work.targets.into_results(self.shapes.len());
            }
            return Ok(Step::Done);
        }
        Ok(Step::Need(ranges))
    }

    /// Supplies requested bytes: one range, a part of one, or several together with the bytes between them.
    ///
    /// For a range that may be short, supply all bytes up to the end of the file.
    ///
    /// # Errors
    /// [`Error::Usage`] for bytes that were not asked for; [`Error::LengthMismatch`] for fewer or more than the range
    /// has; [`Error::Format`] when they are damaged. After an error the reader cannot be used.
    pub fn supply(&mut self, range: &FileRange, bytes: &[u8]) -> Result<()> {
        let Some(work) = &mut self.work else { return Err(not_asked(range)) };
        for (n, answer) in work.asked.supply(range, bytes)? {
            let (answered, bytes, ended) = answer.parts(range, bytes);
            match n {
                CATALOG => {
                    self.catalog.add(answered.range.start, bytes)?;
                    self.catalog_asked = self.catalog_asked.saturating_sub(1);
                }
                FIRST_SEGMENT..=LAST_SEGMENT => {
                    work.deliver_segment(&self.array, LAST_SEGMENT.saturating_sub(n), bytes)?;
                }
                _ => work.deliver(&self.array, n, &answered, bytes, ended)?,
            }
        }
        Ok(())
    }

    /// The items: C order, the dtype's own byte order; those of several selections one after the other.
    ///
    /// # Errors
    /// [`Error::State`] before [`Reader::step`] was [`Step::Done`].
    pub fn finish(self) -> Result<Vec<u8>> {
        let mut results = self.finish_each()?;
        match results.len() {
            1 => Ok(results.pop().unwrap_or_default()),
            _ => Ok(results.concat()),
        }
    }

    /// The items of each selection, as [`Reader::finish`] gives those of one.
    ///
    /// # Errors
    /// [`Error::State`] before [`Reader::step`] was [`Step::Done`].
    pub fn finish_each(self) -> Result<Vec<Vec<u8>>> {
        match self.work {
            Some(_) => Err(Error::state("the read is not complete: its reader needs more bytes")),
            None => Ok(self.results),
        }
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (begun, chunks) = self.work.as_ref().map_or((0, 0), |work| work.targets.progress());
        write!(f, "Reader({:?}, {begun} of {chunks} chunks begun)", self.shapes)
    }
}
