//! Announces the next reads to a slow store, so that it fetches while blocks are decoded.

use super::chunk::{Wanted, locate, read_head, runs, wanted};
use super::misfit::has_blocks_of;
use super::visit::Visit;
use crate::array::Array;
use crate::chunk::Content;
use crate::schunk::Place;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Distance, in chunks, at which heads of chunks are announced: at least twice that of blocks, because the head
/// locates the blocks.
const HEADS: usize = 16;
/// How many chunks ahead blocks are announced: twice as many as there are threads, within these.
const BLOCKS: Range<usize> = 4..16;
/// The most bytes of one chunk that are announced.
const MOST: u64 = 8 << 20;

/// The chunks of a read, in turn.
pub(super) struct Ahead<'a, F> {
    array: &'a Array,
    chunks: usize,
    visit: &'a F,
    /// How many chunks ahead.
    blocks: usize,
    /// The first chunks of which nothing was announced yet.
    next_head: AtomicUsize,
    next_blocks: AtomicUsize,
}

impl<'a, V: Visit, F: Fn(usize) -> V> Ahead<'a, F> {
    pub(super) fn new(array: &'a Array, chunks: usize, threads: usize, visit: &'a F) -> Self {
        let blocks = threads.saturating_mul(2).clamp(BLOCKS.start, BLOCKS.end);
        Ahead {
            array,
            chunks,
            visit,
            blocks,
            next_head: AtomicUsize::new(0),
            next_blocks: AtomicUsize::new(0),
        }
    }

    /// The chunks behind chunk `n`, at most `most`, that were not announced yet; they are from here on.
    fn window(&self, mark: &AtomicUsize, n: usize, most: usize) -> Range<usize> {
        let end = self.chunks.min(n.saturating_add(most + 1));
        mark.fetch_max(end, Ordering::Relaxed).max(n + 1)..end
    }

    /// Announces the first bytes of the chunks that come after chunk `n`.
    pub(super) fn heads(&self, n: usize) {
        for next in self.window(&self.next_head, n, HEADS.max(2 * self.blocks)) {
            let chunk = (self.visit)(next).chunk();
            if let Ok(place @ Place::Stored { .. }) = self.array.schunk.place(chunk) {
                let len = self.array.schunk.first_fetch(self.array.grid.blocks_per_chunk());
                self.array.schunk.announce(place, 0..len as u64);
            }
        }
    }

    /// Announces the blocks of chunk `n` itself, where that was not done before, and of the chunks that come after it; `fetched` is for
    /// their headers.
    pub(super) fn blocks(&self, n: usize, place: Place, wanted: &[Wanted], fetched: &mut Vec<u8>) {
        if self.next_blocks.load(Ordering::Relaxed) <= n {
            self.runs(place, wanted);
        }
        for next in self.window(&self.next_blocks, n, self.blocks) {
            if self.array.schunk.exec().check_cancelled().is_err() {
                return;
            }
            self.chunk(&(self.visit)(next), fetched);
        }
    }

    /// What is wrong with the chunk is found when it is read.
    fn chunk(&self, visit: &V, fetched: &mut Vec<u8>) {
        let Ok(place @ Place::Stored { .. }) = self.array.schunk.place(visit.chunk()) else { return };
        let Ok(head) = read_head(self.array, visit.chunk(), place, fetched) else { return };
        if matches!(head.content(), Content::Repeat(_)) || !has_blocks_of(&head, &self.array.grid) {
            return;
        }
        if head.refers_to_first() {
            let span = head.block_span(0);
            self.array.schunk.announce(place, span.start as u64..span.end as u64);
        }
        let mut wanted = wanted(visit, 0..visit.blocks());
        locate(&mut wanted, &head);
        self.runs(place, &wanted);
    }

    fn runs(&self, place: Place, wanted: &[Wanted]) {
        let mut left = MOST;
        for run in runs(wanted, self.array.schunk.range_costs()) {
            let end = run.range.end.min(run.range.start.saturating_add(left));
            self.array.schunk.announce(place, run.range.start..end);
            left = left.saturating_sub(end.saturating_sub(run.range.start));
            if left == 0 {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::{Dtype, Options};
    use crate::error::Result;
    use crate::exec::Exec;
    use crate::frame::Layout;
    use crate::io::{FileId, OpenedStore, ReadStore};
    use crate::s;
    use crate::schunk::{OpenOptions, SChunk};
    use std::ops::Range;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    #[derive(Debug, Clone, PartialEq)]
    enum Event {
        Announced(Range<u64>),
        Read(Range<u64>),
    }

    /// A frame that makes its readers wait, and remembers what it was told and asked.
    #[derive(Debug)]
    struct Far {
        bytes: Vec<u8>,
        events: Arc<Mutex<Vec<Event>>>,
    }

    impl ReadStore for Far {
        fn len(&self, _: FileId) -> Result<u64> {
            Ok(self.bytes.len() as u64)
        }
        fn read_at(&self, _: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
            let end = offset + buf.len() as u64;
            self.events.lock().unwrap().push(Event::Read(offset..end));
            std::thread::sleep(Duration::from_micros(500));
            buf.copy_from_slice(&self.bytes[offset as usize..end as usize]);
            Ok(())
        }
        fn reads_ahead(&self) -> bool {
            true
        }
        fn will_read(&self, _: FileId, offset: u64, len: u64) {
            self.events.lock().unwrap().push(Event::Announced(offset..offset + len));
        }
    }

    const CHUNKS: u64 = 40;
    const BLOCK: usize = 32 << 10;

    /// Noise in chunks of 4 blocks of 32 KiB, each chunk one row.
    fn far(threads: usize) -> (Array, Vec<u8>, Arc<Mutex<Vec<Event>>>) {
        let items = b2nd_testkit::rng::Rng::new(3).bytes(CHUNKS as usize * 4 * BLOCK);
        let shape = [CHUNKS, 4 * BLOCK as u64];
        let options = Options::new().with_chunks([1, shape[1]]).with_blocks([1, BLOCK as u64]);
        let mut array = options.create_in_memory(Dtype::parse("|u1").unwrap(), shape).unwrap();
        array.write_bytes(s![], &items).unwrap();
        let events = Arc::default();
        let store = Far { bytes: array.to_bytes().unwrap(), events: Arc::clone(&events) };
        let options = OpenOptions::new().with_exec(Exec::new(threads));
        let schunk = SChunk::load(OpenedStore::Read(Arc::new(store)), Layout::Contiguous, &options).unwrap();
        (Array::from_schunk(schunk).unwrap(), items, events)
    }

    #[test]
    fn blocks_are_announced_before_they_are_read_and_no_others() {
        for threads in [1, 3] {
            let (array, items, events) = far(threads);
            let column = 2 * BLOCK as u64 + 100;
            // The header and the block of the first read find out that the store is slow.
            array.read_bytes(s![0, 0]).unwrap();
            events.lock().unwrap().clear();
            let column_read = array.read_bytes(s![.., column..column + 9]).unwrap();
            let rows = items.chunks(4 * BLOCK).flat_map(|row| &row[column as usize..][..9]);
            assert!(column_read.iter().eq(rows));
            let events = events.lock().unwrap().clone();
            // Several threads come to chunks as it happens: some before they are announced.
            let late = if threads == 1 { 0 } else { CHUNKS as usize / 2 };
            let (mut heads, mut blocks) = (0, 0);
            for n in 0..CHUNKS {
                let place = array.schunk.place(n).unwrap();
                let Place::Stored { offset, .. } = place else { panic!("stored") };
                let head = read_head(&array, n, place, &mut Vec::new()).unwrap();
                let in_time = |(said, read): (Option<usize>, Option<usize>)| said.is_some() && said < read;
                heads += usize::from(n == 0 || in_time(found(&events, offset)));
                for block in 0..4 {
                    let times = found(&events, offset + head.block_span(block).end as u64 - 1);
                    if block == 2 {
                        assert!(times.1.is_some(), "chunk {n} on {threads} threads");
                        blocks += usize::from(in_time(times));
                    } else {
                        assert_eq!(times, (None, None), "block {block} of chunk {n}");
                    }
                }
            }
            let least = CHUNKS as usize - late;
            assert!(
                heads >= least && blocks >= least,
                "{heads} heads and {blocks} blocks on {threads} threads"
            );
        }
    }

    /// When a byte was first announced and first read.
    fn found(events: &[Event], byte: u64) -> (Option<usize>, Option<usize>) {
        let announced = |e: &Event| matches!(e, Event::Announced(range) if range.contains(&byte));
        let read = |e: &Event| matches!(e, Event::Read(range) if range.contains(&byte));
        (events.iter().position(announced), events.iter().position(read))
    }
}
