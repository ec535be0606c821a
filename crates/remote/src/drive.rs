//! Drives a reader: fetches what it asks for, many ranges at the same time, and decodes on threads for blocking work.

use crate::requests::{Piece, Requests};
use crate::source::Source;
use b2nd::array::Reader;
use b2nd::io::{RangeCosts, ReadBudget, Step};
use b2nd::{Error, Result};
use std::collections::VecDeque;
use tokio::task::JoinHandle;

/// Ranges of a read are joined over all its chunks, not in the reader; a chunk up to this length comes whole.
pub(crate) const COSTS: RangeCosts = RangeCosts::new(0, 4 << 20).with_whole(64 << 10);
/// The most ranges that are wanted at the same time: what they cost to keep.
const MOST_RANGES: usize = 1 << 16;

impl Source {
    /// How much a reader may ask for at a time.
    pub(crate) fn budget(&self) -> ReadBudget {
        ReadBudget::new(MOST_RANGES, self.fetcher.options().memory)
    }

    /// Fetches what `reader` asks for until it is done.
    pub(crate) async fn drive(&self, reader: Reader) -> Result<Reader> {
        let mut drive = Drive::new(self, reader.with_range_costs(COSTS));
        drive.decode();
        loop {
            tokio::select! {
                decoded = wait(&mut drive.decoding), if drive.decoding.is_some() => {
                    let (reader, step) = decoded?;
                    if let Some(reader) = drive.decoded(reader, step)? {
                        return Ok(reader);
                    }
                }
                Some(piece) = drive.requests.next() => drive.ready.push_back(piece?),
                else => return Err(Error::State("the read waits for nothing".to_owned())),
            }
            drive.decode();
        }
    }
}

/// A read that is under way.
struct Drive {
    budget: ReadBudget,
    requests: Requests,
    /// Bytes that have come and were not given to the reader.
    ready: VecDeque<Piece>,
    /// The reader, while nothing is decoded.
    idle: Option<Reader>,
    decoding: Option<JoinHandle<Result<(Reader, Step)>>>,
    /// Whether the reader was asked at all.
    begun: bool,
}

impl Drive {
    fn new(source: &Source, reader: Reader) -> Self {
        Drive {
            budget: source.budget(),
            requests: Requests::new(source),
            ready: VecDeque::new(),
            idle: Some(reader),
            decoding: None,
            begun: false,
        }
    }

    /// Gives what has come to the reader, on another thread.
    fn decode(&mut self) {
        if self.begun && self.ready.is_empty() {
            return;
        }
        let Some(mut reader) = self.idle.take() else { return };
        self.begun = true;
        let (pieces, budget) = (std::mem::take(&mut self.ready), self.budget);
        self.decoding = Some(tokio::task::spawn_blocking(move || {
            for (range, bytes) in pieces {
                reader.supply(&range, &bytes)?;
            }
            let step = reader.step(&budget)?;
            Ok((reader, step))
        }));
    }

    /// Takes the reader back; returns it when it is done.
    fn decoded(&mut self, reader: Reader, step: Step) -> Result<Option<Reader>> {
        self.decoding = None;
        match step {
            Step::Done => return Ok(Some(reader)),
            Step::Need(ranges) => self.requests.add(ranges),
        }
        self.idle = Some(reader);
        Ok(None)
    }
}

/// Waits for a thread that decodes.
async fn wait(task: &mut Option<JoinHandle<Result<(Reader, Step)>>>) -> Result<(Reader, Step)> {
    let Some(task) = task else { return std::future::pending().await };
    match task.await {
        Ok(result) => result,
        Err(failed) => match failed.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Error::Cancelled),
        },
    }
}
