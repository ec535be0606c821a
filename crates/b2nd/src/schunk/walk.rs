//! The chunks of a frame in the order of the index, each stored chunk decoded once, however many numbers it has.
//!
//! An index of a few bytes can claim millions of chunks. So what is found is kept by place, not by chunk: special values by their
//! kind, offsets outside of the data not at all, and stored chunks in a table that has no more entries than the data have bytes.

use super::snapshot::{FrameState, Place};
use super::verify::{ChecksumStatus, Damage, Verified, is_damage, most_listed};
use crate::chunk::{ChunkHead, Content, each_block};
use crate::error::{Error, Part, Result};
use crate::exec::{Exec, Scratch};
use crate::frame::{Layout, Offsets};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::mem::take;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Chunks that are decoded before the next part of the index is looked at.
const BATCH: usize = 256;
/// Runs of chunks that wait for them at most.
const MOST_WAITING: usize = 4096;
/// Damaged blocks of one chunk that are listed at most.
const MOST_BLOCKS: usize = 256;

/// A block of a chunk that cannot be decoded.
#[derive(Clone, Copy)]
pub(crate) struct DamagedBlock<'a> {
    pub(crate) number: u32,
    /// The head of its chunk.
    pub(crate) head: &'a ChunkHead,
}

impl DamagedBlock<'_> {
    /// The block as a range of blocks.
    pub(crate) fn range(self) -> Range<u32> {
        self.number..self.number.saturating_add(1)
    }
}

/// A super-chunk, or the array in one: what a check of its chunks has to know.
pub(crate) trait Chunks: Sync {
    fn schunk(&self) -> &FrameState;
    /// Uncompressed bytes that chunk `n` must have, where that is known.
    fn due(&self, n: u64) -> Option<u32>;
    /// About how many blocks a chunk has.
    fn nblocks(&self) -> usize;
    /// The damage of some chunks, or of a block of the one chunk.
    fn damage(&self, chunks: Range<u64>, block: Option<DamagedBlock<'_>>, error: Error) -> Damage;
}

/// Calls `work` with the offsets in their order: each value, and the chunks in a row that have it.
pub(crate) fn each_run(offsets: &Offsets, mut work: impl FnMut(i64, Range<u64>) -> Result<()>) -> Result<()> {
    if let Offsets::Uniform { raw, len } = offsets {
        return if *len > 0 { work(*raw, 0..*len) } else { Ok(()) };
    }
    // A run can go on in the next block of the index.
    let mut last: Option<(i64, Range<u64>)> = None;
    offsets.each_block(|first, block| {
        let mut first = first;
        for run in block.chunk_by(|one, other| one == other) {
            let (Some(raw), end) = (run.first().copied(), first.saturating_add(run.len() as u64)) else {
                continue;
            };
            match &mut last {
                Some((value, chunks)) if *value == raw => chunks.end = end,
                _ => {
                    if let Some((value, chunks)) = last.replace((raw, first..end)) {
                        work(value, chunks)?;
                    }
                }
            }
            first = end;
        }
        Ok(())
    })?;
    last.map_or(Ok(()), |(raw, chunks)| work(raw, chunks))
}

/// Decodes everything, and checks it where there are checksums.
pub(crate) fn verify(chunks: &impl Chunks) -> Result<Verified> {
    let schunk = chunks.schunk();
    let mut walk = ChunkWalk::new(chunks);
    let (mut runs, last) = (0u64, schunk.nchunks().saturating_sub(1));
    let apart = schunk.nchunks() > 1 && chunks.due(last) != chunks.due(0);
    each_run(schunk.offsets()?, |raw, run| {
        runs = runs.wrapping_add(1);
        if runs.is_multiple_of(1 << 16) {
            schunk.exec.check_cancelled()?;
        }
        if !(apart && run.contains(&last)) {
            return walk.take(raw, run);
        }
        // A shorter last chunk is no other chunk, wherever it lies.
        walk.take(raw, run.start..last)?;
        walk.settle_waiting()?;
        let found = judge(chunks, last, MOST_BLOCKS, &schunk.exec)?;
        walk.first(raw, last..last.saturating_add(1), found)
    })?;
    walk.settle_waiting()?;
    Ok(walk.found)
}

/// What is known of a place.
#[derive(Debug, Clone, Copy)]
enum KnownPlace {
    /// An offset that says all: nothing is stored.
    Special,
    /// An offset that names no place.
    Nowhere,
    Sound(ChecksumStatus),
    Damaged,
    /// It is decoded with the next batch, in which it has this number.
    Pending(u32),
}

/// A damaged place.
#[derive(Debug)]
struct Bad {
    /// The first chunk that is there.
    first: u64,
    /// What this build cannot read there, where that is all that is wrong.
    unsupported: Option<Arc<str>>,
}

/// What decoding a chunk has found.
#[derive(Debug, Default)]
struct JudgedChunk {
    damage: Vec<Damage>,
    damaged: u64,
    status: Option<ChecksumStatus>,
}

impl JudgedChunk {
    fn note(&mut self, most: usize, damage: impl FnOnce() -> Damage) {
        self.damaged = self.damaged.saturating_add(1);
        if self.damage.len() < most {
            self.damage.push(damage());
        }
    }
}

struct ChunkWalk<'a, C> {
    chunks: &'a C,
    found: Verified,
    /// The most entries of a list.
    most: usize,
    /// Offsets from this one on are outside of the data.
    end: u64,
    /// What is known of special values, by their highest byte.
    kinds: [Option<KnownPlace>; 256],
    places: HashMap<i64, KnownPlace, Keys>,
    bad: HashMap<i64, Bad, Keys>,
    /// The next batch: stored values, and the first chunk of each.
    pending: Vec<(i64, u64)>,
    /// Chunks in their order, whose places are known when the batch is decoded.
    waiting: Vec<(i64, Range<u64>, KnownPlace)>,
}

impl<'a, C: Chunks> ChunkWalk<'a, C> {
    fn new(chunks: &'a C) -> Self {
        let schunk = chunks.schunk();
        let end = match schunk.layout() {
            Layout::Contiguous => schunk.data_end().saturating_sub(schunk.header.len()),
            Layout::Sparse => 1 << 32,
        };
        let keys = Keys::new();
        ChunkWalk {
            chunks,
            found: Verified::default(),
            most: most_listed(schunk.limits()),
            end,
            kinds: [None; 256],
            places: HashMap::with_hasher(keys),
            bad: HashMap::with_hasher(keys),
            pending: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// Takes the next chunks, all of which have this offset.
    fn take(&mut self, raw: i64, run: Range<u64>) -> Result<()> {
        if run.is_empty() {
            return Ok(());
        }
        let known = self.look_up(raw, run.start)?;
        if self.waiting.is_empty() && !matches!(known, KnownPlace::Pending(_)) {
            return self.settle(raw, run, known);
        }
        self.waiting.push((raw, run, known));
        if self.pending.len() >= BATCH || self.waiting.len() >= MOST_WAITING {
            self.settle_waiting()?;
        }
        Ok(())
    }

    /// What is known of the offset of chunk `n`; a place that is new goes into the batch.
    fn look_up(&mut self, raw: i64, n: u64) -> Result<KnownPlace> {
        let [.., kind] = raw.to_le_bytes();
        match u64::try_from(raw) {
            Err(_) => {
                let schunk = self.chunks.schunk();
                let look = || match schunk.place(n) {
                    Ok(_) => KnownPlace::Special,
                    Err(_) => KnownPlace::Nowhere,
                };
                Ok(self
                    .kinds
                    .get_mut(usize::from(kind))
                    .map_or(KnownPlace::Nowhere, |k| *k.get_or_insert_with(look)))
            }
            Ok(place) if place >= self.end => Ok(KnownPlace::Nowhere),
            Ok(_) => {
                if let Some(known) = self.places.get(&raw) {
                    return Ok(*known);
                }
                let known = KnownPlace::Pending(u32::try_from(self.pending.len()).unwrap_or(u32::MAX));
                self.pending.push((raw, n));
                put(&mut self.places, raw, known)?;
                Ok(known)
            }
        }
    }

    /// Decodes the batch, and goes through the chunks that wait for it.
    fn settle_waiting(&mut self) -> Result<()> {
        let (pending, waiting) = (take(&mut self.pending), take(&mut self.waiting));
        let results: Vec<Mutex<JudgedChunk>> = pending.iter().map(|_| Mutex::default()).collect();
        let (chunks, most) = (self.chunks, self.most.min(MOST_BLOCKS));
        chunks.schunk().exec.run(pending.len(), u64::MAX, |scratch, at| {
            let (Some((_, n)), Some(result)) = (pending.get(at), results.get(at)) else { return Ok(()) };
            let judged = judge_with(chunks, *n, most, scratch)?;
            *result.lock().unwrap_or_else(PoisonError::into_inner) = judged;
            Ok(())
        })?;
        for (raw, run, known) in waiting {
            let KnownPlace::Pending(at) = known else {
                self.settle(raw, run, known)?;
                continue;
            };
            let at = at as usize;
            let first = pending.get(at).is_some_and(|(_, n)| *n == run.start);
            match results.get(at).filter(|_| first) {
                Some(result) => {
                    let judged = take(&mut *result.lock().unwrap_or_else(PoisonError::into_inner));
                    self.first(raw, run, judged)?;
                }
                None => {
                    let known = self.places.get(&raw).copied().unwrap_or(KnownPlace::Special);
                    self.settle(raw, run, known)?;
                }
            }
        }
        Ok(())
    }

    /// Notes what was found at a place: the first chunk of `run` is the first that is there.
    fn first(&mut self, raw: i64, run: Range<u64>, mut judged: JudgedChunk) -> Result<()> {
        let known = match (judged.damaged, judged.status) {
            (0, Some(status)) => KnownPlace::Sound(status),
            (0, None) => KnownPlace::Special,
            _ => KnownPlace::Damaged,
        };
        put(&mut self.places, raw, known)?;
        if judged.damaged == 0 {
            return self.settle(raw, run, known);
        }
        let next = run.start.saturating_add(1);
        self.progress(1);
        let unsupported = unsupported(&judged.damage).filter(|_| self.has_room());
        put(&mut self.bad, raw, Bad { first: run.start, unsupported })?;
        self.found.damaged = self.found.damaged.saturating_add(judged.damaged);
        let room = self.most.saturating_sub(self.found.damage.len());
        judged.damage.truncate(room);
        self.found.damage.append(&mut judged.damage);
        if next < run.end { self.settle(raw, next..run.end, known) } else { Ok(()) }
    }

    /// Notes chunks whose place is known.
    fn settle(&mut self, raw: i64, run: Range<u64>, known: KnownPlace) -> Result<()> {
        let count = run.end.saturating_sub(run.start);
        self.progress(count);
        let error = match known {
            KnownPlace::Special | KnownPlace::Pending(_) => return Ok(()),
            KnownPlace::Sound(status) => {
                self.found.note(status, run, self.most);
                return Ok(());
            }
            KnownPlace::Nowhere | KnownPlace::Damaged => {
                self.found.damaged = self.found.damaged.saturating_add(count);
                if !self.has_room() {
                    return Ok(());
                }
                match known {
                    KnownPlace::Nowhere => self.chunks.schunk().place(run.start).err(),
                    _ => self.bad.get(&raw).map(same_damage),
                }
            }
        };
        self.found.damage.extend(error.map(|error| self.chunks.damage(run, None, error)));
        Ok(())
    }

    fn has_room(&self) -> bool {
        self.found.damage.len() < self.most
    }

    fn progress(&self, count: u64) {
        let schunk = self.chunks.schunk();
        if schunk.exec.has_progress() {
            schunk.exec.progress(u64::from(schunk.chunksize()).saturating_mul(count));
        }
    }
}

/// Puts an entry into a table, which grows fallibly.
fn put<V>(table: &mut HashMap<i64, V, Keys>, raw: i64, value: V) -> Result<()> {
    let bytes = (table.len() as u64).saturating_mul(size_of::<(i64, V)>() as u64);
    table.try_reserve(1).map_err(|_| Error::out_of_memory("the places of the chunks", bytes))?;
    table.insert(raw, value);
    Ok(())
}

/// Why a chunk cannot be read that is stored in the same place as a damaged one; what needs something that this build does not
/// have is no damage of the file.
fn same_damage(bad: &Bad) -> Error {
    let first = bad.first;
    match &bad.unsupported {
        Some(what) => Error::unsupported(format!(
            "{what} (the same as for chunk {first}, which is stored in the same place)"
        )),
        None => Error::format(Part::Offsets, None, format!("the same as chunk {first}, which is damaged")),
    }
}

/// What cannot be read of a chunk, when nothing else is wrong with it.
fn unsupported(damage: &[Damage]) -> Option<Arc<str>> {
    let only = damage.iter().all(|damage| matches!(damage.error, Error::Unsupported { .. }));
    match damage.first().map(|damage| &damage.error) {
        Some(Error::Unsupported { what, .. }) if only => Some(what.as_str().into()),
        _ => None,
    }
}

fn judge(chunks: &impl Chunks, n: u64, most: usize, exec: &Exec) -> Result<JudgedChunk> {
    exec.with_scratch(|scratch| judge_with(chunks, n, most, scratch))
}

/// Decodes a chunk. At most `most` damaged blocks of it are listed.
fn judge_with(chunks: &impl Chunks, n: u64, most: usize, scratch: &mut Scratch) -> Result<JudgedChunk> {
    let mut judged = JudgedChunk::default();
    let mut fetched = take(&mut scratch.fetched);
    let result = decode(chunks, n, &mut fetched, scratch, |block, head, error| {
        judged.note(most, || {
            chunks.damage(n..n.saturating_add(1), Some(DamagedBlock { number: block, head }), error)
        });
    });
    scratch.fetched = fetched;
    match result {
        Err(error) if is_damage(&error) => {
            judged.note(most.max(1), || chunks.damage(n..n.saturating_add(1), None, error));
        }
        other => judged.status = other?,
    }
    Ok(judged)
}

/// Decodes a chunk, and says how it stands to its checksums where it is more than an offset; `bad` gets its damaged blocks.
fn decode(
    chunks: &impl Chunks,
    n: u64,
    fetched: &mut Vec<u8>,
    scratch: &mut Scratch,
    mut bad: impl FnMut(u32, &ChunkHead, Error),
) -> Result<Option<ChecksumStatus>> {
    let schunk = chunks.schunk();
    let place = schunk.place(n)?;
    let Place::Stored { .. } = place else { return Ok(None) };
    let head = schunk.read_head(n, place, chunks.due(n), chunks.nblocks(), fetched)?;
    let chunk = schunk.fetch(place, 0, head.header().cbytes() as usize, fetched)?;
    let status = schunk.checksum_status(n, place, chunk)?;
    let number = |block: usize| u32::try_from(block).unwrap_or(u32::MAX);
    match head.content() {
        Content::Repeat(_) => {}
        Content::Raw if !head.has_sums() => {}
        Content::Raw => {
            for block in 0..head.nblocks() {
                let stream = chunk.get(head.block_span(block)).unwrap_or_default();
                if let Err(error) = head.check_block(block, stream) {
                    bad(number(block), &head, error);
                }
            }
        }
        Content::Blocks => each_block(&head, chunk, scratch, |block, decoded| match decoded {
            Err(error) if is_damage(&error) => {
                bad(number(block), &head, error);
                Ok(())
            }
            other => other.map(drop),
        })?,
    }
    Ok(Some(status))
}

/// Hashes offsets, by a factor that no file knows.
#[derive(Debug, Clone, Copy)]
struct Keys {
    factor: u64,
    state: u64,
}

impl Keys {
    fn new() -> Self {
        Keys { factor: RandomState::new().hash_one(0u64) | 1, state: 0 }
    }
}

impl BuildHasher for Keys {
    type Hasher = Keys;
    fn build_hasher(&self) -> Keys {
        *self
    }
}

impl Hasher for Keys {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }
    fn write_i64(&mut self, n: i64) {
        self.write_u64(n.cast_unsigned());
    }
    fn write_u64(&mut self, n: u64) {
        let product =
            u128::from(n ^ self.state ^ self.factor.rotate_left(32)).wrapping_mul(u128::from(self.factor));
        self.state = product as u64 ^ (product >> 64) as u64;
    }
    fn finish(&self) -> u64 {
        self.state
    }
}
