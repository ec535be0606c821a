//! Dead bytes of a frame: found, written again, and told about.

use super::handle::SChunk;
use super::snapshot::CHUNK_HEADER;
use crate::chunk::ChunkHeader;
use crate::error::{Error, Result};
use crate::frame::plan::{FileId, WriteStep};
use crate::frame::{Layout, Offsets, Undo};
use crate::limits::zeroed;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// How many chunks a handle looks at for dead bytes that others have left, before its first change. What it makes itself,
/// it knows.
const SURVEY: usize = 512;
/// From so many percent of dead bytes on, chunks at the end move into holes before them.
const LOOSE: u64 = 15;
/// The least number of bytes that move with a commit of a loose frame; else four times those that it writes.
const MOVED: u64 = 256 << 10;
/// How many chunks at the end are looked at, and how many behind the largest holes.
const LOOKS: usize = 64;

impl SChunk {
    /// Before the first change of a transaction: what older commits referred to, and nobody can need any more, becomes free
    /// (see [`Space`](crate::frame::Space)).
    pub(super) fn open_space(&mut self) {
        let Some(file) = self.writer.changes.file_mut() else { return };
        if std::mem::replace(&mut file.space_is_open, true) || !file.space.reuses() {
            return;
        }
        if file.surveyed && !file.space.is_waiting() || !self.writer.store.is_alone() {
            return;
        }
        if !std::mem::replace(&mut file.surveyed, true) && !self.note_survey() {
            return;
        }
        if let Some(file) = self.writer.changes.file_mut() {
            file.space.release();
        }
    }

    /// Takes note of the dead bytes that others have left; whether they are on the medium.
    fn note_survey(&mut self) -> bool {
        let dead = self.survey();
        let Some(file) = self.writer.changes.file_mut() else { return false };
        match dead {
            Some(dead) => dead.into_iter().for_each(|dead| file.space.found(dead)),
            None => file.space.give_up(),
        }
        // What is there was perhaps committed a moment ago, by somebody who did not wait for it.
        let wait = self.writer.durability.orders() && file.space.is_unsynced();
        let synced = !wait || self.apply(&WriteStep::Sync { file: FileId::Frame }).is_ok();
        if let Some(file) = self.writer.changes.file_mut() {
            if synced { file.space.synced() } else { file.space.give_up() }
        }
        synced
    }

    /// The dead bytes between chunks: everywhere in a small frame, else at its end and somewhere before it. `None` where
    /// nothing can be told.
    fn survey(&self) -> Option<Vec<Range<u64>>> {
        let starts = self.stored_places().ok()?;
        let data = self.header.len()..self.header.len().saturating_add(self.header.cbytes());
        let mut dead = Vec::new();
        if self.header.nbytes() == 0 {
            return Some(dead);
        }
        // What is behind the data is no chunk: whoever made these offsets, nothing can be told from them.
        if starts.last().is_some_and(|last| *last >= data.end) {
            return None;
        }
        let (count, half) = (starts.len(), SURVEY / 2);
        let last = count.saturating_sub(half);
        let windows = if count <= SURVEY {
            [0..count, count..count]
        } else {
            // Another place whenever something has changed.
            let spread = self.header.frame_len().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
            let first = usize::try_from(spread).unwrap_or(0) % (last - half + 1);
            [first..first + half, last..count]
        };
        for window in windows {
            let mut end = match window.start {
                0 => data.start,
                start => starts.get(start).copied().unwrap_or(data.end),
            };
            for n in window {
                let start = starts.get(n).copied().unwrap_or(data.end);
                if start < end {
                    // Chunks inside others: what is dead of one may be alive of another.
                    return None;
                }
                dead.push(end..start);
                let next = starts.get(n + 1).copied().unwrap_or(data.end);
                // A chunk whose header makes no sense is thought to take all there is.
                let len = self.stored_len(start).unwrap_or(next.saturating_sub(start));
                end = end.max(start.saturating_add(len));
                if n + 1 == count && end < data.end {
                    dead.push(end..data.end);
                }
            }
        }
        if starts.is_empty() {
            dead.push(data);
        }
        Some(dead)
    }

    /// Where in the file stored chunks start, each place once, in order.
    fn stored_places(&self) -> Result<Vec<u64>> {
        let mut all = stored(&self.work().offsets)?;
        all.sort_unstable();
        all.dedup();
        let header = self.header.len();
        Ok(all.into_iter().filter_map(|raw| u64::try_from(raw).ok()?.checked_add(header)).collect())
    }

    /// The length of the chunk that is stored at `start` of a contiguous frame, where there is one.
    fn stored_len(&self, start: u64) -> Option<u64> {
        let mut head = [0; CHUNK_HEADER];
        self.store.read_at(FileId::Frame, start, &mut head).ok()?;
        let header = ChunkHeader::parse(&head).ok()?;
        let end = start.checked_add(u64::from(header.cbytes()))?;
        (end <= self.data_end()).then(|| u64::from(header.cbytes()))
    }

    /// Where the last of the chunks ends.
    pub(super) fn chunks_end(&self) -> u64 {
        let last = match self.work().offsets.max_stored() {
            Ok(Some(last)) => last,
            Ok(None) => return self.header.len(),
            Err(_) => return self.data_end(),
        };
        let start = self.header.len().saturating_add(last);
        self.stored_len(start).map_or_else(|| self.data_end(), |len| start.saturating_add(len))
    }

    /// The offsets of chunks that were replaced or removed since the last commit, each once, in order.
    fn gone(&self) -> Result<Vec<i64>> {
        let mut gone = Vec::new();
        let no_room =
            |_| Error::out_of_memory("the places of replaced chunks", self.nchunks().saturating_mul(8));
        for change in &self.writer.changes.undo {
            match change {
                Undo::Replace(_, raw) | Undo::Insert(_, raw) if *raw >= 0 => {
                    gone.try_reserve(1).map_err(no_room)?;
                    gone.push(*raw);
                }
                Undo::All(before) => {
                    let mut before = stored(before)?;
                    gone.try_reserve(before.len()).map_err(no_room)?;
                    gone.append(&mut before);
                }
                _ => {}
            }
        }
        gone.sort_unstable();
        gone.dedup();
        Ok(gone)
    }

    /// The places of chunks that were replaced or removed since the last commit, as far as nothing else lies there: the header
    /// of a damaged chunk, which somebody has just made good, may say any length.
    pub(super) fn dead_chunks(&self) -> Result<Vec<Range<u64>>> {
        let gone = self.gone()?;
        let mut dead = Vec::new();
        if gone.is_empty() {
            return Ok(dead);
        }
        let refused = |_| Error::out_of_memory("the places of replaced chunks", (gone.len() as u64) * 32);
        dead.try_reserve_exact(gone.len()).map_err(refused)?;
        // Of each the offsets that are in use and nearest: the last one that is no higher, the first one that is.
        let mut near: Vec<(i64, i64)> = Vec::new();
        near.try_reserve_exact(gone.len()).map_err(refused)?;
        near.resize(gone.len(), (-1, i64::MAX));
        for raw in stored(&self.work().offsets)? {
            let above = gone.partition_point(|gone| *gone < raw);
            if let Some((before, _)) = near.get_mut(above) {
                *before = raw.max(*before);
            }
            if let Some((_, next)) = above.checked_sub(1).and_then(|below| near.get_mut(below)) {
                *next = raw.min(*next);
            }
        }
        let mut last = -1;
        for (before, _) in &mut near {
            last = last.max(*before);
            *before = last;
        }
        let mut first = i64::MAX;
        for (_, next) in near.iter_mut().rev() {
            first = first.min(*next);
            *next = first;
        }
        let end_of = |raw: i64| Some((self.place_of(raw)?, self.stored_len(self.place_of(raw)?)?));
        let mut before_end = (-1, 0);
        for (raw, (before, next)) in gone.iter().zip(near) {
            if before == *raw {
                continue;
            }
            if before >= 0 && before != before_end.0 {
                let end = end_of(before).map_or(u64::MAX, |(start, len)| start.saturating_add(len));
                before_end = (before, end);
            }
            let Some((start, len)) = end_of(*raw) else { continue };
            if before >= 0 && before_end.1 > start {
                continue;
            }
            let next = self.place_of(next).unwrap_or(u64::MAX);
            dead.push(start..start.saturating_add(len).min(next));
        }
        Ok(dead)
    }

    /// Where in the frame an offset leads.
    fn place_of(&self, raw: i64) -> Option<u64> {
        u64::try_from(raw).ok()?.checked_add(self.header.len())
    }

    /// Before a commit of a frame that has become loose, moves some chunks into holes before them: the last ones, so that the
    /// frame gets shorter, and those behind the largest holes, so that these grow together. Whether it has moved any.
    pub(super) fn tighten(&mut self) -> Result<bool> {
        let Some(file) = self.writer.changes.file() else { return Ok(false) };
        if !file.space.is_loose(LOOSE) || !file.space.has_room() {
            return Ok(false);
        }
        let mut budget = file.space.written().saturating_mul(4).max(MOVED);
        let mut moved = false;
        // Two more than are looked at: a chunk is held against its neighbours.
        let chunks = last_chunks(&self.work().offsets, LOOKS.saturating_add(2));
        for n in (0..chunks.len()).rev().take(LOOKS) {
            moved |= self.move_chunk(&chunks, n, true, &mut budget)?;
        }
        let holes = self.writer.changes.file().map(|file| file.space.largest_free(LOOKS)).unwrap_or_default();
        let offset_of = |end: u64| i64::try_from(end.checked_sub(self.header.len())?).ok();
        let ends: Vec<i64> = holes.iter().filter_map(|(_, end)| offset_of(*end)).collect();
        let chunks = chunks_at(&self.work().offsets, &ends);
        let behind = |raw: &i64| chunks.binary_search_by_key(raw, |(raw, _)| *raw).ok();
        for n in ends.iter().filter_map(behind) {
            moved |= self.move_chunk(&chunks, n, true, &mut budget)?;
        }
        if !moved {
            // No hole takes any of them: they make room for others where they are.
            for n in ends.iter().filter_map(behind).take(2) {
                self.move_chunk(&chunks, n, false, &mut budget)?;
            }
        }
        Ok(moved)
    }

    /// Moves the `n`th of some chunks, in the order of their offsets and with their neighbours, into a hole before it or (not
    /// `inwards`) to any place, where there is one and it costs no more than the budget; whether.
    fn move_chunk(
        &mut self,
        chunks: &[(i64, u64)],
        n: usize,
        inwards: bool,
        budget: &mut u64,
    ) -> Result<bool> {
        let Some((raw, chunk)) = chunks.get(n).copied() else { return Ok(false) };
        let same =
            |other: Option<usize>| other.and_then(|n| chunks.get(n)).is_some_and(|(other, _)| *other == raw);
        // One place for several chunks stays one; and it may have moved a moment ago.
        if same(n.checked_sub(1)) || same(n.checked_add(1)) || self.work().offsets.raw(chunk)? != raw {
            return Ok(false);
        }
        let start = self.header.len().saturating_add(raw.unsigned_abs());
        let Some(len) = self.stored_len(start).filter(|len| len <= budget) else { return Ok(false) };
        let next = n.checked_add(1).and_then(|n| chunks.get(n)).and_then(|(next, _)| self.place_of(*next));
        if next.is_some_and(|next| start.saturating_add(len) > next) {
            return Ok(false);
        }
        let place = self.writer.changes.file().and_then(|file| file.space.place_before(len, start));
        if inwards && place.is_none() {
            return Ok(false);
        }
        *budget = budget.saturating_sub(len);
        let mut bytes = zeroed("a compressed chunk", len)?;
        self.store.read_at(FileId::Frame, start, &mut bytes)?;
        // What is damaged stays where it is, so that `verify` finds it.
        if !self.is_as_hashed(chunk, raw, &bytes) {
            return Ok(false);
        }
        let Some(file) = self.writer.changes.file_mut() else { return Ok(false) };
        let place = match place.filter(|_| inwards) {
            Some(place) => {
                file.space.take(place, len);
                place
            }
            None => file.space.allocate(len),
        };
        let new = self.write_into(place, &bytes)?;
        self.note_moved(chunk, raw, new, &bytes)?;
        self.replace_offset(chunk, raw, new)?;
        Ok(true)
    }

    /// Cuts off what nothing refers to at the end of the file, where it is more than `least` bytes.
    fn cut_end(&mut self, least: u64) {
        let Some(len) = self.writer.changes.file().and_then(|file| file.space.loose_end(least)) else {
            return;
        };
        // Who is just opening the frame looks at the end of the file; and a file that stays longer does no harm.
        if self.writer.store.is_alone()
            && self.apply(&WriteStep::SetLen { file: FileId::Frame, len }).is_ok()
            && let Some(file) = self.writer.changes.file_mut()
        {
            file.space.cut(len);
        }
    }

    /// After a commit: what it has left free at the end of the file, where that is much.
    pub(super) fn cut_much(&mut self) {
        if let Some(much) = self.writer.changes.file().map(|file| file.space.much()) {
            self.cut_end(much);
        }
    }

    /// What the files of the frame hold: bytes that it refers to, and dead ones. Reads the header of every chunk.
    ///
    /// Dead are the places of chunks that were replaced, old offsets and trailers, room that is left for chunks to come, in a
    /// sparse frame chunk files that nothing refers to. A writer fills them again, when no reader needs them any more;
    /// [`SChunk::compact`] gives them back.
    ///
    /// ```
    /// use b2nd::Params;
    /// use b2nd::schunk::CreateOptions;
    /// let mut schunk = CreateOptions::new(Params::new(1)).create_in_memory()?;
    /// schunk.append(&(0..200).collect::<Vec<u8>>())?;
    /// schunk.update(0, &(1..201).collect::<Vec<u8>>())?;
    /// assert!(schunk.space()?.dead() > 200);
    /// schunk.compact()?;
    /// assert_eq!(schunk.space()?.dead(), 0);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Format`] when an offset or the header of a chunk is damaged; [`Error::Io`] when it cannot be read.
    pub fn space(&self) -> Result<SpaceUse> {
        let groups = self.same_chunks()?;
        let mut used = 0u64;
        for (n, _) in (0..groups.len()).filter_map(|group| groups.get(group)) {
            used = used.saturating_add(u64::from(self.chunk_info(n)?.cbytes));
        }
        let (mut tail, mut stored) = (self.header.len(), self.store.len(FileId::Frame)?);
        if stored > self.header.frame_len() && self.is_followed(self.header.frame_len())? {
            stored = self.header.frame_len();
        }
        if self.layout() == Layout::Sparse {
            tail = self.header.frame_len();
            for number in self.store.chunk_files()? {
                stored = stored.saturating_add(self.store.len(FileId::Chunk(number))?);
            }
        } else if self.header.nbytes() == 0 {
            tail = self.header.frame_len();
        } else {
            let end = self.header.len().saturating_add(self.header.cbytes());
            tail = tail.saturating_add(self.header.frame_len().saturating_sub(end));
        }
        let (chunks, used) = (used, used.saturating_add(tail));
        Ok(SpaceUse { stored: stored.max(used), used, chunks })
    }
}

/// What the files of a frame hold, as [`SChunk::space`] tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpaceUse {
    /// All bytes, from the start of the frame to the end of its file (of the frame, where another follows), or of all files.
    pub stored: u64,
    /// The bytes that the frame refers to: header, chunks, offsets, trailer.
    pub used: u64,
    /// The bytes of the chunks among them; a chunk that the index names several times counts once.
    pub chunks: u64,
}

impl SpaceUse {
    /// The bytes that nothing refers to.
    pub fn dead(&self) -> u64 {
        self.stored.saturating_sub(self.used)
    }
    /// The share of dead bytes, from 0 to 1.
    pub fn dead_share(&self) -> f64 {
        self.dead() as f64 / self.stored.max(1) as f64
    }
}

impl Drop for SChunk {
    fn drop(&mut self) {
        // The end of a file whose last commit stands before it: whoever takes the file for the frame, finds the frame.
        let ours =
            self.writer.writable && self.writer.opening.is_some() && self.writer.changes.is_own_process();
        let end = self.state.header.frame_len();
        if !ours || self.has_changes() {
            return;
        }
        let Some(file) = self.writer.changes.file_mut() else { return };
        if !file.surveyed || !file.space.ends_behind(end) {
            return;
        }
        file.space_is_open = false;
        // Where C-Blosc2 writes too, its turn is not waited for.
        if self.look_for_peer_lock().is_ok() && self.peer_lock().is_none() && self.check_unchanged().is_ok() {
            self.open_space();
            self.cut_end(0);
        }
    }
}

/// The chunks with the highest offsets, with their numbers, in order. Not all are sorted: there may be millions.
pub(super) fn last_chunks(offsets: &Offsets, count: usize) -> Vec<(i64, u64)> {
    let Offsets::Each(all) = offsets else { return Vec::new() };
    let mut last = BinaryHeap::new();
    // From the end, where most of them are.
    for (n, raw) in all.iter().copied().enumerate().rev().filter(|(_, raw)| *raw >= 0) {
        let goes = last.len() >= count;
        if goes && last.peek().is_some_and(|Reverse((least, _))| raw <= *least) {
            continue;
        }
        last.push(Reverse((raw, n as u64)));
        if goes {
            last.pop();
        }
    }
    let mut last: Vec<_> = last.into_iter().map(|Reverse(chunk)| chunk).collect();
    last.sort_unstable();
    last
}

/// The chunks at these offsets, and from each the next ones behind it, with their numbers, in order.
pub(super) fn chunks_at(offsets: &Offsets, wanted: &[i64]) -> Vec<(i64, u64)> {
    let Offsets::Each(all) = offsets else { return Vec::new() };
    let mut wanted = wanted.to_vec();
    wanted.sort_unstable();
    // Three from each on: two of the same offset, and the next.
    let mut near = vec![[(i64::MAX, 0); 3]; wanted.len()];
    for (raw, n) in all.iter().copied().zip(0..).filter(|(raw, _)| *raw >= 0) {
        let from = wanted.partition_point(|wanted| *wanted <= raw).checked_sub(1);
        let Some(near) = from.and_then(|from| near.get_mut(from)) else { continue };
        let mut chunk = (raw, n);
        for known in near {
            if chunk < *known {
                std::mem::swap(known, &mut chunk);
            }
        }
    }
    let mut near: Vec<_> = near.into_iter().flatten().filter(|(raw, _)| *raw != i64::MAX).collect();
    near.sort_unstable();
    near
}

/// The stored offsets of a list that are places, one for a list of the same.
fn stored(offsets: &Offsets) -> Result<Vec<i64>> {
    let mut found = Vec::new();
    if let Offsets::Uniform { raw, len } = offsets {
        found.extend(Some(*raw).filter(|raw| *len > 0 && *raw >= 0));
        return Ok(found);
    }
    let len = usize::try_from(offsets.len()).unwrap_or(usize::MAX);
    found
        .try_reserve_exact(len)
        .map_err(|_| Error::out_of_memory("the chunk offsets", offsets.len().saturating_mul(8)))?;
    offsets.each_stored(|_, raw| {
        found.push(raw);
        Ok(())
    })?;
    Ok(found)
}
