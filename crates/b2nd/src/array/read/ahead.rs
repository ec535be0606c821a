//! What a read will ask for next, announced where the store makes it wait: the disk works while blocks are decoded.

use super::chunk::{fetch_run, has_blocks_of, locate, read_head, wanted};
use super::visit::Visit;
use crate::array::Array;
use crate::chunk::Content;
use crate::schunk::Place;

/// How many chunks ahead the first bytes of one are announced: their header says where the blocks are.
const HEADS: usize = 16;
/// How many chunks ahead their blocks are announced.
const BLOCKS: usize = 4;
/// The most bytes of one chunk that are announced.
const MOST: u64 = 8 << 20;

/// The chunks of a read, in turn.
pub(super) struct Ahead<'a, F> {
    array: &'a Array,
    chunks: usize,
    visit: &'a F,
    blocks: usize,
}

impl<'a, V: Visit, F: Fn(usize) -> V> Ahead<'a, F> {
    pub(super) fn new(array: &'a Array, chunks: usize, threads: usize, visit: &'a F) -> Self {
        Ahead { array, chunks, visit, blocks: BLOCKS.max(2 * threads) }
    }

    /// Announces the first bytes of the chunks that come after chunk `n`: of the first all, then of one each time.
    pub(super) fn heads(&self, n: usize) {
        let most = HEADS.max(2 * self.blocks);
        let first = if n == 0 { 1 } else { n.saturating_add(most) };
        for next in first..self.chunks.min(n.saturating_add(most + 1)) {
            let chunk = (self.visit)(next).chunk();
            if let Ok(place @ Place::Stored { .. }) = self.array.schunk.place(chunk) {
                let len = self.array.schunk.first_fetch(self.array.grid.blocks_per_chunk());
                self.array.schunk.announce(place, 0..len as u64);
            }
        }
    }

    /// Announces the blocks of the chunks that come after chunk `n`, with the first its own; `fetched` is for their headers.
    pub(super) fn blocks(&self, n: usize, fetched: &mut Vec<u8>) {
        let first = if n == 0 { 0 } else { n.saturating_add(self.blocks) };
        for next in first..self.chunks.min(n.saturating_add(self.blocks + 1)) {
            self.announce(&(self.visit)(next), fetched);
        }
    }

    /// What is wrong with the chunk is found when it is read.
    fn announce(&self, visit: &V, fetched: &mut Vec<u8>) {
        let Ok(place @ Place::Stored { .. }) = self.array.schunk.place(visit.chunk()) else { return };
        let Ok(head) = read_head(self.array, visit.chunk(), place, fetched) else { return };
        if matches!(head.content(), Content::Repeat(_)) || !has_blocks_of(&head, &self.array.grid) {
            return;
        }
        let mut wanted = wanted(visit, 0..visit.blocks());
        locate(&mut wanted, &head);
        let (mut rest, mut said) = (&wanted[..], 0);
        while !rest.is_empty() && said < MOST {
            let (_, bytes, after) = fetch_run(rest);
            self.array.schunk.announce(place, bytes.start as u64..bytes.end as u64);
            said += bytes.len() as u64;
            rest = after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::{Dtype, Options};
    use crate::error::{Error, Result};
    use crate::exec::Exec;
    use crate::frame::Layout;
    use crate::io::{FileId, Store, WriteStep};
    use crate::s;
    use crate::schunk::{OpenOptions, SChunk};
    use std::ops::Range;
    use std::path::Path;
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

    impl Store for Far {
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
        fn will_read(&self, _: FileId, offset: u64, len: u64) {
            self.events.lock().unwrap().push(Event::Announced(offset..offset + len));
        }
        fn slice(&self, _: FileId) -> Option<&[u8]> {
            None
        }
        fn apply(&mut self, _: &WriteStep<'_>) -> Result<()> {
            Err(Error::usage("only read here"))
        }
        fn path(&self) -> Option<&Path> {
            None
        }
    }

    const CHUNKS: u64 = 40;
    const BLOCK: usize = 32 << 10;

    /// Noise in chunks of 4 blocks of 32 KiB, each chunk one row.
    fn far(threads: usize) -> (Array, Vec<u8>, Arc<Mutex<Vec<Event>>>) {
        let items = b2nd_testkit::rng::Rng::new(3).bytes(CHUNKS as usize * 4 * BLOCK);
        let shape = [CHUNKS, 4 * BLOCK as u64];
        let options = Options::new().with_chunks([1, shape[1]]).with_blocks([1, BLOCK as u64]);
        let mut array = options.create(None, Dtype::parse("|u1").unwrap(), &shape).unwrap();
        array.write_bytes(s![], &items).unwrap();
        let events = Arc::default();
        let store = Far { bytes: array.to_bytes().unwrap(), events: Arc::clone(&events) };
        let options = OpenOptions::new().with_exec(Exec::new(threads));
        let schunk = SChunk::load(Box::new(store), Layout::Contiguous, &options).unwrap();
        (Array::from_schunk(schunk).unwrap(), items, events)
    }

    #[test]
    fn blocks_are_announced_before_they_are_read_and_no_others() {
        for threads in [1, 3] {
            let (array, items, events) = far(threads);
            let column = 2 * BLOCK as u64 + 100;
            // The first read finds out that the store is slow.
            array.read_bytes(s![0, 0]).unwrap();
            events.lock().unwrap().clear();
            let found = array.read_bytes(s![.., column..column + 9]).unwrap();
            let rows = items.chunks(4 * BLOCK).flat_map(|row| &row[column as usize..][..9]);
            assert!(found.iter().eq(rows));
            let events = events.lock().unwrap().clone();
            for n in 0..CHUNKS {
                let Place::Stored { offset, .. } = array.schunk.place(n).unwrap() else { panic!("stored") };
                let head = read_head(&array, n, array.schunk.place(n).unwrap(), &mut Vec::new()).unwrap();
                for block in 0..4 {
                    let last = offset + head.block_span(block).end as u64 - 1;
                    let read = events.iter().position(|e| matches!(e, Event::Read(r) if r.contains(&last)));
                    let said =
                        events.iter().position(|e| matches!(e, Event::Announced(r) if r.contains(&last)));
                    if block == 2 {
                        // Several threads may come to one of the first chunks before it was announced.
                        let in_time = said.is_some() && said < read;
                        assert!(in_time || threads > 1, "chunk {n}");
                        assert!(said.is_some() && read.is_some(), "chunk {n} on {threads} threads");
                    } else {
                        assert_eq!((said, read), (None, None), "block {block} of chunk {n}");
                    }
                }
            }
        }
    }
}
