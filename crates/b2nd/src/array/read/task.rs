//! One chunk of a read as a state machine: it says which bytes of the chunk it needs next, and decodes what it is given.
//!
//! The synchronous path and [`Reader`](super::Reader) drive the same machine; only where the bytes come from differs.

use super::chunk::{ChunkRead, Encoded, Wanted, has_blocks_of, locate, runs};
use super::visit::Visit;
use crate::chunk::{ChunkHead, ChunkHeader, Content, Sums};
use crate::error::{Error, Part, Result};
use crate::exec::Scratch;
use crate::io::{Merged, RangeCosts};
use crate::limits::resize;
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

/// What was asked for of a chunk.
#[derive(Debug, Default)]
pub(super) struct Asks {
    /// Bytes of its start.
    head: usize,
    /// Whether the first block was, by itself.
    first: bool,
    /// Wanted blocks, in the order in which they lie in the chunk.
    blocks: usize,
    /// Whether all of the chunk was.
    whole: bool,
}

/// Where a chunk is, and what its bytes must match.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    pub(super) place: Place,
    /// At most this many bytes of the file belong to the chunk.
    pub(super) available: u64,
    pub(super) sums: Option<Sums>,
    /// Uncompressed bytes that the chunk must have.
    pub(super) due: u32,
}

enum Stage {
    /// The first bytes are wanted, this many.
    Head(usize),
    /// The first block is wanted, which the others refer to.
    First(Box<ChunkHead>),
    /// Blocks are wanted, from this one on, and first those of the run.
    Blocks {
        head: Box<ChunkHead>,
        next: usize,
        run: Merged,
        first: Vec<u8>,
    },
    /// All of the chunk is wanted: its blocks are not those of the array.
    Whole(Box<ChunkHead>),
    Done,
}

/// The reading of the wanted blocks of one stored chunk.
pub(super) struct ChunkTask {
    origin: Origin,
    wanted: Vec<Wanted>,
    costs: RangeCosts,
    stage: Stage,
}

impl ChunkTask {
    /// Reads `wanted`, beginning with the first `start` bytes of the chunk.
    pub(super) fn new(origin: Origin, wanted: Vec<Wanted>, start: usize, costs: RangeCosts) -> Self {
        let start = usize::try_from(origin.available).unwrap_or(usize::MAX).min(start.max(CHUNK_HEADER));
        let stage = if wanted.is_empty() { Stage::Done } else { Stage::Head(start) };
        ChunkTask { origin, wanted, costs, stage }
    }

    /// The bytes that are needed next; `None` when the chunk is read.
    pub(super) fn need(&self) -> Option<Need> {
        match &self.stage {
            Stage::Head(len) => Some(Need::Head(0..*len)),
            Stage::First(head) => Some(Need::Blocks(head.block_span(0))),
            Stage::Blocks { run, .. } => Some(Need::Blocks(bytes_of(run))),
            Stage::Whole(head) => Some(Need::Blocks(0..head.header().cbytes() as usize)),
            Stage::Done => None,
        }
    }

    /// The next range that is known to be needed and was not asked for, which `asks` remembers. Those of [`ChunkTask::need`] come
    /// first, and each byte is asked for once: but for a first block that the others refer to and that is in a later run.
    pub(super) fn next_ask(&self, asks: &mut Asks) -> Option<Need> {
        match &self.stage {
            Stage::Head(len) => {
                let asked = std::mem::replace(&mut asks.head, *len);
                (asked < *len).then_some(Need::Head(0..*len))
            }
            Stage::First(head) if asks.blocks == 0 => {
                let first = head.block_span(0);
                let in_run = runs(&self.wanted, self.costs).next().is_some_and(|run| {
                    let run = bytes_of(&run);
                    run.start <= first.start && first.end <= run.end
                });
                if !in_run && !std::mem::replace(&mut asks.first, true) {
                    return Some(Need::Blocks(first));
                }
                self.ask_run(0, asks)
            }
            Stage::First(_) => self.ask_run(asks.blocks, asks),
            Stage::Blocks { next, .. } => self.ask_run(asks.blocks.max(*next), asks),
            Stage::Whole(_) => match std::mem::replace(&mut asks.whole, true) {
                false => self.need(),
                true => None,
            },
            Stage::Done => None,
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
        if let Stage::Head(wanted) = &mut self.stage {
            *wanted = (*wanted).min(len);
        }
    }

    /// Where the chunk is.
    pub(super) fn place(&self) -> Place {
        self.origin.place
    }

    /// Sets what the bytes of the chunk must match, before any of them are taken.
    pub(super) fn set_sums(&mut self, sums: Option<Sums>) {
        self.origin.sums = sums;
    }

    /// The wanted blocks, where they are known to lie.
    pub(super) fn wanted(&self) -> &[Wanted] {
        &self.wanted
    }

    /// Takes the bytes that [`ChunkTask::need`] asked for, or the chunk from there on as far as it is at hand, and decodes as
    /// much as they allow. `at` is where in the chunk they start.
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
        self.stage = match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::Head(len) => match self.head(read, len, bytes)? {
                Ok(head) => self.after_head(read, head, block, scratch)?,
                Err(longer) => Stage::Head(longer),
            },
            Stage::First(head) => {
                let mut first = std::mem::take(&mut scratch.reference);
                resize("a block", &mut first, head.block_len(0))?;
                head.decode_block(0, bytes, None, &mut first, scratch).map_err(|e| e.in_block(0))?;
                self.from(0, head, first, scratch)
            }
            Stage::Blocks { head, next, run, first } => {
                self.blocks(read, (&head, next, &run, &first), bytes, block, scratch)?;
                self.from(next.saturating_add(run.count), head, first, scratch)
            }
            Stage::Whole(head) => {
                read.misfit(bytes, &head)?;
                Stage::Done
            }
            Stage::Done => Stage::Done,
        };
        Ok(())
    }

    /// Parses the start of the chunk; or says how many bytes of it that takes.
    fn head<V: Visit + ?Sized>(
        &self,
        read: &ChunkRead<'_, V>,
        len: usize,
        bytes: &[u8],
    ) -> Result<Result<ChunkHead, usize>> {
        let (available, context) = (self.origin.available, read.array.schunk.context());
        // A chunk of another size is damage, whatever it would cost: so this comes before the limits.
        let header = ChunkHeader::parse(bytes)?;
        let found = header.nbytes();
        if found != self.origin.due {
            let reason = format!("a chunk of {found} bytes where {} are due", self.origin.due);
            return Err(Error::format(Part::ChunkHeader, 4, reason));
        }
        let needed = ChunkHead::needed(bytes, available, context)?;
        let wanted = self.origin.sums.as_ref().map_or(needed, |sums| sums.wanted(&header, needed));
        if wanted > len {
            return Ok(Err(wanted));
        }
        let head = ChunkHead::parse(bytes, available, context)?;
        Ok(Ok(match &self.origin.sums {
            Some(sums) => head.with_sums(sums.clone(), bytes)?,
            None => head,
        }))
    }

    fn after_head<V: Visit + ?Sized>(
        &mut self,
        read: &ChunkRead<'_, V>,
        head: ChunkHead,
        block: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Stage> {
        if let Content::Repeat(value) = head.content() {
            read.repeat(value, self.wanted.iter().map(|w| w.index), block)?;
            return Ok(Stage::Done);
        }
        if !has_blocks_of(&head, read.grid()) {
            // Decoded once for all parts: one copy of the chunk, not one for each thread.
            return Ok(if read.last { Stage::Whole(Box::new(head)) } else { Stage::Done });
        }
        locate(&mut self.wanted, &head);
        let head = Box::new(head);
        Ok(if head.refers_to_first() && self.wanted.iter().any(Wanted::is_after_first) {
            Stage::First(head)
        } else {
            self.from(0, head, Vec::new(), scratch)
        })
    }

    /// The run of blocks that begins with the wanted block `next`.
    fn from(&self, next: usize, head: Box<ChunkHead>, first: Vec<u8>, scratch: &mut Scratch) -> Stage {
        let run = runs(self.wanted.get(next..).unwrap_or_default(), self.costs).next();
        if let Some(run) = run {
            return Stage::Blocks { head, next, run, first };
        }
        if !first.is_empty() {
            scratch.reference = first;
        }
        Stage::Done
    }

    /// Decodes a run of blocks from its `bytes`.
    fn blocks<V: Visit + ?Sized>(
        &self,
        read: &ChunkRead<'_, V>,
        (head, next, run, first): (&ChunkHead, usize, &Merged, &[u8]),
        bytes: &[u8],
        block: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let start = bytes_of(run).start;
        for wanted in self.wanted.get(next..).unwrap_or_default().iter().take(run.count) {
            let (from, to) = (wanted.span.start.wrapping_sub(start), wanted.span.end.wrapping_sub(start));
            let source = Encoded {
                place: self.origin.place,
                head,
                stream: bytes.get(from..to).unwrap_or_default(),
                first: (!first.is_empty()).then_some(first),
            };
            read.decode(&source, wanted, block, scratch).map_err(|e| e.in_block(wanted.number()))?;
        }
        Ok(())
    }
}

/// A run of blocks, whose places in the chunk are numbers in memory.
fn bytes_of(run: &Merged) -> Range<usize> {
    run.range.start as usize..run.range.end as usize
}
