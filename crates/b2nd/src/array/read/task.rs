//! Reads one chunk as a state machine: it names the bytes of the chunk that it needs next, and decodes the bytes it gets.
//!
//! The synchronous path and [`Reader`](super::Reader) drive the same machine; only where the bytes come from differs.

use super::chunk::{ChunkOrigin, ChunkRead, Decoder, Encoded, Wanted, locate, runs};
use super::misfit::has_blocks_of;
use super::visit::Visit;
use crate::chunk::{ChunkHead, Content, Start, Sums};
use crate::error::Result;
use crate::exec::Scratch;
use crate::io::{Merged, RangeCosts};
use crate::schunk::Place;
use std::ops::Range;

/// The longest header of a chunk.
const CHUNK_HEADER: usize = 32;

/// What a chunk needs next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Need {
    /// The start of the chunk, as long as this: its header, block offsets, and perhaps all of it.
    Head(Range<usize>),
    /// Bytes of blocks.
    Blocks(Range<usize>),
}

/// Progress of the requests for a chunk.
#[derive(Debug, Default)]
pub(super) struct Asks {
    /// Requested bytes at its start.
    head: usize,
    /// Whether the reference block was, by itself.
    reference: bool,
    /// Number of requested blocks, in the order of their offsets.
    blocks: usize,
    /// Whether all of the chunk was.
    whole: bool,
}

enum TaskStage {
    /// The first bytes are wanted, this many.
    Head(usize),
    /// Needs the reference block, which may itself be wanted.
    Reference {
        decoder: Decoder,
        own: Option<Wanted>,
    },
    /// Needs the blocks from this one on, first those of the run.
    Blocks {
        decoder: Decoder,
        next: usize,
        run: Merged,
    },
    /// All of the chunk is wanted: its blocks are not those of the array.
    Whole(Box<ChunkHead>),
    Done,
}

/// Reads the wanted blocks of one stored chunk.
pub(super) struct ChunkTask {
    origin: ChunkOrigin,
    wanted: Vec<Wanted>,
    costs: RangeCosts,
    stage: TaskStage,
}

impl ChunkTask {
    /// Reads `wanted`, beginning with the first `start` bytes of the chunk.
    pub(super) fn new(origin: ChunkOrigin, wanted: Vec<Wanted>, start: usize, costs: RangeCosts) -> Self {
        let start = usize::try_from(origin.available).unwrap_or(usize::MAX).min(start.max(CHUNK_HEADER));
        let stage = if wanted.is_empty() { TaskStage::Done } else { TaskStage::Head(start) };
        ChunkTask { origin, wanted, costs, stage }
    }

    /// The bytes that are needed next; `None` when the chunk is read.
    pub(super) fn need(&self) -> Option<Need> {
        match &self.stage {
            TaskStage::Head(len) => Some(Need::Head(0..*len)),
            TaskStage::Reference { decoder, .. } => Some(Need::Blocks(decoder.head().block_span(0))),
            TaskStage::Blocks { run, .. } => Some(Need::Blocks(bytes_of(run))),
            TaskStage::Whole(head) => Some(Need::Blocks(0..head.header().cbytes() as usize)),
            TaskStage::Done => None,
        }
    }

    /// The next range that is known to be needed and was not requested yet; `asks` records it. Those of
    /// [`ChunkTask::need`] come first. Each byte is requested once, except a reference block that lies between the
    /// blocks of a later run.
    pub(super) fn next_ask(&self, asks: &mut Asks) -> Option<Need> {
        match &self.stage {
            TaskStage::Head(len) => {
                let asked = std::mem::replace(&mut asks.head, *len);
                (asked < *len).then_some(Need::Head(0..*len))
            }
            TaskStage::Reference { .. } if !std::mem::replace(&mut asks.reference, true) => self.need(),
            TaskStage::Reference { .. } => self.ask_run(asks.blocks, asks),
            TaskStage::Blocks { next, .. } => self.ask_run(asks.blocks.max(*next), asks),
            TaskStage::Whole(_) => match std::mem::replace(&mut asks.whole, true) {
                false => self.need(),
                true => None,
            },
            TaskStage::Done => None,
        }
    }

    /// The next run of wanted blocks, beginning with block `from` of them.
    fn ask_run(&self, from: usize, asks: &mut Asks) -> Option<Need> {
        let run = runs(self.wanted.get(from..).unwrap_or_default(), self.costs).next()?;
        asks.blocks = from.saturating_add(run.count);
        Some(Need::Blocks(bytes_of(&run)))
    }

    /// The file of the chunk ends after this many bytes.
    pub(super) fn ends_at(&mut self, len: usize) {
        self.origin.available = self.origin.available.min(len as u64);
        if let TaskStage::Head(wanted) = &mut self.stage {
            *wanted = (*wanted).min(len);
        }
    }

    /// Where the chunk is stored.
    pub(super) fn place(&self) -> Place {
        self.origin.place
    }

    /// Sets what the bytes of the chunk must match, before any of them are taken.
    pub(super) fn set_sums(&mut self, sums: Option<Sums>) {
        self.origin.sums = sums;
    }

    /// The wanted blocks, once their offsets are known.
    pub(super) fn wanted(&self) -> &[Wanted] {
        &self.wanted
    }

    /// Accepts the bytes that [`ChunkTask::need`] requested, or more of the chunk from there on, and decodes as
    /// much as they allow. `at` is their offset in the chunk.
    pub(super) fn accept<V: Visit + ?Sized>(
        &mut self,
        read: &ChunkRead<'_, V>,
        at: usize,
        bytes: &[u8],
        block: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        while let Some(Need::Head(range) | Need::Blocks(range)) = self.need() {
            let from = range.start.checked_sub(at);
            let found = from.and_then(|from| bytes.get(from..from.checked_add(range.len())?));
            let Some(found) = found else { return Ok(()) };
            self.take(read, found, block, scratch)?;
        }
        Ok(())
    }

    /// Takes exactly the bytes that are needed next.
    fn take<V: Visit + ?Sized>(
        &mut self,
        read: &ChunkRead<'_, V>,
        bytes: &[u8],
        block: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.stage = match std::mem::replace(&mut self.stage, TaskStage::Done) {
            TaskStage::Head(_) => match self.head(read, bytes)? {
                Start::Head(head) => self.after_head(read, head, block, scratch)?,
                Start::Longer(len) => TaskStage::Head(len),
            },
            TaskStage::Reference { mut decoder, own } => {
                decoder.supply_reference(bytes, scratch)?;
                if let Some(wanted) = own {
                    self.decode(read, &decoder, &wanted, bytes, block, scratch)?;
                }
                self.next_run(0, decoder, scratch)
            }
            TaskStage::Blocks { mut decoder, next, run } => {
                let start = bytes_of(&run).start;
                let stream = |span: &Range<usize>| {
                    let (from, to) = (span.start.wrapping_sub(start), span.end.wrapping_sub(start));
                    bytes.get(from..to).unwrap_or_default()
                };
                if next == 0
                    && let Some(span) = self.missing_reference(&decoder)
                {
                    decoder.supply_reference(stream(&span), scratch)?;
                }
                for wanted in self.wanted.get(next..).unwrap_or_default().iter().take(run.count) {
                    self.decode(read, &decoder, wanted, stream(&wanted.span), block, scratch)?;
                }
                self.next_run(next.saturating_add(run.count), decoder, scratch)
            }
            TaskStage::Whole(head) => {
                read.misfit(bytes, &head)?;
                TaskStage::Done
            }
            TaskStage::Done => TaskStage::Done,
        };
        Ok(())
    }

    /// Parses the start of the chunk.
    fn head<V: Visit + ?Sized>(&self, read: &ChunkRead<'_, V>, bytes: &[u8]) -> Result<Start> {
        let ChunkOrigin { available, due, sums, .. } = &self.origin;
        ChunkHead::from_start(bytes, *available, Some(*due), sums.as_ref(), read.array.schunk.context())
    }

    fn after_head<V: Visit + ?Sized>(
        &mut self,
        read: &ChunkRead<'_, V>,
        head: ChunkHead,
        block: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<TaskStage> {
        if let Content::Repeat(value) = head.content() {
            read.repeat(value, self.wanted.iter().map(|w| w.index), block)?;
            return Ok(TaskStage::Done);
        }
        if !has_blocks_of(&head, read.grid()) {
            // The chunk is decoded once for all parts, not once for each thread.
            return Ok(if read.last { TaskStage::Whole(Box::new(head)) } else { TaskStage::Done });
        }
        locate(&mut self.wanted, &head);
        let decoder = Decoder::new(Box::new(head));
        if let Some(span) = self.missing_reference(&decoder)
            && !runs(&self.wanted, self.costs).next().is_some_and(|run| holds(&run, &span))
        {
            let own = self.wanted.iter().position(|w| w.block == 0);
            let own = own.map(|at| self.wanted.remove(at));
            return Ok(TaskStage::Reference { decoder, own });
        }
        Ok(self.next_run(0, decoder, scratch))
    }

    /// The byte range of the reference block, if a wanted block needs it.
    fn missing_reference(&self, decoder: &Decoder) -> Option<Range<usize>> {
        self.wanted.iter().find_map(|wanted| decoder.missing_reference(wanted.block))
    }

    /// The run of blocks that begins with the wanted block `next`.
    fn next_run(&self, next: usize, decoder: Decoder, scratch: &mut Scratch) -> TaskStage {
        let run = runs(self.wanted.get(next..).unwrap_or_default(), self.costs).next();
        if let Some(run) = run {
            return TaskStage::Blocks { decoder, next, run };
        }
        decoder.release(scratch);
        TaskStage::Done
    }

    /// Decodes a block from its stream.
    fn decode<V: Visit + ?Sized>(
        &self,
        read: &ChunkRead<'_, V>,
        decoder: &Decoder,
        wanted: &Wanted,
        stream: &[u8],
        block: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let source = Encoded { place: self.origin.place, decoder, wanted, stream };
        read.decode(&source, block, scratch).map_err(|error| error.in_block(wanted.number()))
    }
}

/// A run of blocks, whose places in the chunk are numbers in memory.
fn bytes_of(run: &Merged) -> Range<usize> {
    run.range.start as usize..run.range.end as usize
}

/// Whether a run has these bytes of the chunk.
fn holds(run: &Merged, span: &Range<usize>) -> bool {
    let run = bytes_of(run);
    run.start <= span.start && span.end <= run.end
}
