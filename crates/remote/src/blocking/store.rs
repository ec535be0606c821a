//! A frame far away as a store of the library.

use super::{block_on, runtime};
use crate::requests::{Piece, Requests};
use crate::source::Source;
use b2nd::io::{FileId, FileRange, Machine, RangeCosts, ReadStore, Step};
use b2nd::{Error, Result};
use bytes::Bytes;
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::UnboundedReceiver;

/// The start of a chunk object, which is fetched with its length.
const CHUNK_START: u64 = 64 << 10;
/// The most bytes that are kept of what was fetched last.
const KEPT: usize = 16 << 20;

/// The files of a frame far away.
pub(super) struct RemoteStore {
    source: Arc<Source>,
    /// The length of the frame, which may end before its object.
    len: u64,
    shown: PathBuf,
    /// Head and end of the frame, from its opening.
    ends: Vec<Held>,
    recent: Mutex<Recent>,
}

/// Bytes of a file that are at hand.
struct Held {
    file: FileId,
    start: u64,
    bytes: Bytes,
}

/// What was fetched last, and the lengths of chunk objects.
#[derive(Default)]
struct Recent {
    pieces: VecDeque<Held>,
    bytes: usize,
}

impl Held {
    fn find(&self, file: FileId, range: &Range<u64>) -> Option<Bytes> {
        let from = usize::try_from(range.start.checked_sub(self.start)?).ok()?;
        let to = usize::try_from(range.end.checked_sub(self.start)?).ok()?;
        (self.file == file && to <= self.bytes.len() && from <= to).then(|| self.bytes.slice(from..to))
    }
}

impl Recent {
    fn keep(&mut self, piece: Held) {
        self.bytes = self.bytes.saturating_add(piece.bytes.len());
        self.pieces.push_front(piece);
        while self.bytes > KEPT
            && let Some(old) = self.pieces.pop_back()
        {
            self.bytes = self.bytes.saturating_sub(old.bytes.len());
        }
    }
}

impl RemoteStore {
    /// The files of the frame of `source`, which has `len` bytes; `ends` are parts of it that are at hand.
    pub(super) fn new(source: Arc<Source>, len: u64, ends: Vec<(u64, Bytes)>) -> Self {
        let shown = PathBuf::from(source.fetcher.location().shown());
        let piece = |(start, bytes)| Held { file: FileId::Frame, start, bytes };
        let ends = ends.into_iter().map(piece).collect();
        RemoteStore { source, len, shown, ends, recent: Mutex::default() }
    }

    fn at_hand(&self, file: FileId, range: &Range<u64>) -> Option<Bytes> {
        if let Some(found) = self.ends.iter().find_map(|piece| piece.find(file, range)) {
            return Some(found);
        }
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.pieces.iter().find_map(|piece| piece.find(file, range))
    }

    /// Fetches bytes of a file; of a chunk object as many as it has.
    fn fetch(&self, file: FileId, range: Range<u64>, may_be_short: bool) -> Result<(Bytes, u64)> {
        let (source, wanted) = (Arc::clone(&self.source), range.clone());
        let fetched = block_on(async move { source.get(file, &wanted, may_be_short).await });
        let (bytes, size) = fetched.map_err(|error| error.at_path(&self.shown))?;
        let piece = Held { file, start: range.start, bytes: bytes.clone() };
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).keep(piece);
        Ok((bytes, size))
    }
}

/// Fetches what is asked for until nobody asks.
async fn fetch_all(
    source: Arc<Source>,
    mut asked: UnboundedReceiver<Vec<FileRange>>,
    answer: Sender<Result<Piece>>,
) {
    let mut requests = Requests::new(&source);
    loop {
        tokio::select! {
            ranges = asked.recv() => match ranges {
                Some(ranges) => requests.add(ranges),
                None => return,
            },
            Some(piece) = requests.next() => {
                if answer.send(piece).is_err() {
                    return;
                }
            }
        }
    }
}

impl fmt::Debug for RemoteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteStore({:?})", self.source.fetcher.location())
    }
}

impl ReadStore for RemoteStore {
    fn len(&self, file: FileId) -> Result<u64> {
        match file {
            FileId::Frame => Ok(self.len),
            // With its length comes the start of a chunk object, which is read next.
            FileId::Chunk(_) => self.fetch(file, 0..CHUNK_START, true).map(|(_, size)| size),
        }
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        let range = offset..offset.saturating_add(buf.len() as u64);
        if range.is_empty() {
            return Ok(());
        }
        let found = match self.at_hand(file, &range) {
            Some(found) => found,
            None => self.fetch(file, range, false)?.0,
        };
        match found.get(..buf.len()) {
            Some(found) => buf.copy_from_slice(found),
            None => return Err(Error::State("fewer bytes were fetched than asked for".to_owned())),
        }
        Ok(())
    }
    /// For what is read range by range; requests of an answer are joined over all its chunks.
    fn range_costs(&self) -> RangeCosts {
        RangeCosts::new(16 << 10, 8 << 20)
    }
    fn answers(&self) -> bool {
        true
    }
    /// Requests run on the thread for them, decoding on that of the caller.
    fn answer(&self, machine: &mut dyn Machine) -> Result<()> {
        let (asks, asked) = tokio::sync::mpsc::unbounded_channel();
        let (answer, answers) = std::sync::mpsc::channel();
        // It ends when there is nothing more to ask, or nobody to answer.
        drop(runtime::handle()?.spawn(fetch_all(Arc::clone(&self.source), asked, answer)));
        let budget = self.source.budget();
        let ended = || Error::State("the thread for requests has ended".to_owned());
        while let Step::Need(ranges) = machine.step(&budget)? {
            if !ranges.is_empty() {
                asks.send(ranges).map_err(|_| ended())?;
            }
            let first = answers.recv().map_err(|_| ended())?;
            for piece in std::iter::once(first).chain(answers.try_iter()) {
                let (range, bytes) = piece.map_err(|error: Error| error.at_path(&self.shown))?;
                machine.supply(&range, &bytes)?;
            }
        }
        Ok(())
    }
    fn path(&self) -> Option<&Path> {
        Some(&self.shown)
    }
}
