//! The plan of a read: the touched chunks and blocks, and where their items go. Pure: fetches nothing.

use crate::array::grid::Grid;
use crate::array::grid::Segment;
use crate::array::grid::unravel;
use crate::array::selection::List;
use crate::array::selection::Pick;
use crate::error::Error;
use crate::error::Result;
use crate::limits::Limits;
use crate::limits::MAX_NDIM;
use crate::limits::reserved;
use std::ops::Deref;
use std::ops::Range;

/// About what one segment costs: itself, a cut of the result, and its part of a run.
const SEGMENT_BYTES: u64 = 64;

/// A selection cut along the blocks of an array.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The segments of each axis.
    pub(crate) segments: Vec<Vec<Segment>>,
    /// For each axis the runs of segments that lie in one chunk.
    groups: Vec<Vec<Range<usize>>>,
    /// The number of runs along each axis: the grid of touched chunks.
    touched: Vec<u64>,
    /// The number of items taken along each axis.
    pub(crate) counts: Vec<usize>,
    /// How the items of a segment follow each other along each axis.
    pub(crate) steps: Vec<ItemSteps>,
}

/// How the items of a segment follow each other in their block, and in the result.
#[derive(Debug)]
pub(crate) enum ItemSteps {
    /// Evenly spaced from the first on, and in turn in the result.
    Every(i64),
    /// Items at listed places.
    At {
        /// The place of each in its block.
        inside: Vec<usize>,
        /// The index of each item in the result; `None` if they are in order.
        order: Option<Vec<usize>>,
    },
}

/// The blocks of one chunk that a plan touches.
#[derive(Debug, Clone)]
pub(crate) struct ChunkVisit {
    /// The number of the chunk.
    pub(crate) chunk: u64,
    /// The position of the chunk in the grid of chunks.
    pub(crate) position: Vec<u64>,
    /// For each axis the segments that lie in the chunk.
    pub(crate) runs: Vec<Range<usize>>,
}

/// The segment along each axis of a touched block: its cell in the grid of [`Plan::cuts`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputCell {
    at: [usize; MAX_NDIM],
    ndim: usize,
}

impl Deref for OutputCell {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.at[..self.ndim]
    }
}

impl Plan {
    /// Plans what `picks` touch. Files with tiny blocks cannot make the plan many times larger than `limits` allow.
    pub(crate) fn new(grid: &Grid, picks: Vec<Pick>, limits: &Limits) -> Result<Self> {
        let counts =
            picks.iter().map(|pick| usize::try_from(pick.count())).collect::<Result<Vec<_>, _>>().map_err(
                |_| Error::too_large(usize::MAX, "the selection does not fit the memory of this machine"),
            )?;
        let empty = counts.contains(&0);
        let most = picks.iter().enumerate().map(|(axis, pick)| grid.most_segments(axis, pick));
        let most = if empty { 0 } else { most.fold(0, u64::saturating_add).saturating_mul(SEGMENT_BYTES) };
        Limits::check("the plan of a selection", most, limits.max_index_bytes())?;
        let segments = picks
            .iter()
            .enumerate()
            .map(|(axis, pick)| if empty { Ok(Vec::new()) } else { grid.segments(axis, pick) })
            .collect::<Result<Vec<Vec<Segment>>>>()?;
        let groups: Vec<Vec<Range<usize>>> =
            segments.iter().map(|segments| runs_by_chunk(segments)).collect();
        let touched = groups.iter().map(|g| g.len() as u64).collect();
        let steps = picks.into_iter().enumerate().map(|(axis, pick)| ItemSteps::new(grid, axis, pick));
        let steps = steps.collect::<Result<Vec<ItemSteps>>>()?;
        Ok(Plan { segments, groups, touched, counts, steps })
    }

    /// Whether the items follow each other by steps along every axis.
    pub(crate) fn is_even(&self) -> bool {
        self.steps.iter().all(|steps| matches!(steps, ItemSteps::Every(_)))
    }

    /// The number of touched chunks.
    pub(crate) fn chunks(&self) -> usize {
        self.touched.iter().fold(1usize, |n, &t| n.saturating_mul(t as usize))
    }

    /// The cuts of the result along each axis, for a [`b2nd_kernel::boxes::BoxGrid`]: one cell for each touched block.
    pub(crate) fn cuts(&self) -> Vec<Vec<usize>> {
        let cut = |(segments, &count): (&Vec<Segment>, &usize)| {
            segments.iter().map(|s| s.out).chain([count]).collect()
        };
        self.segments.iter().zip(&self.counts).map(cut).collect()
    }

    /// The touched chunk `number`, in C order.
    pub(crate) fn visit(&self, grid: &Grid, number: usize) -> ChunkVisit {
        let at = unravel(number as u64, &self.touched);
        let runs: Vec<Range<usize>> =
            self.groups.iter().zip(&at).map(|(g, &n)| g[n as usize].clone()).collect();
        let position: Vec<u64> = runs.iter().zip(&self.segments).map(|(run, s)| s[run.start].chunk).collect();
        ChunkVisit { chunk: grid.chunk_number(position.iter().copied()), position, runs }
    }
}

impl ItemSteps {
    fn new(grid: &Grid, axis: usize, pick: Pick) -> Result<Self> {
        let List { indices, order } = match pick {
            Pick::Line(line) => return Ok(ItemSteps::Every(line.step)),
            Pick::List(list) => list,
        };
        let mut inside = reserved("the plan of a selection", indices.len())?;
        // A block has fewer than 2^31 items.
        inside.extend(indices.iter().map(|&index| grid.split(axis, index).2 as usize));
        Ok(ItemSteps::At { inside, order })
    }

    /// The last place of a segment in its block.
    pub(crate) fn last(&self, segment: Segment) -> usize {
        match self {
            ItemSteps::Every(step) if *step < 0 => segment.first,
            ItemSteps::Every(step) => {
                let steps = segment.count.saturating_sub(1).saturating_mul(*step as usize);
                segment.first.saturating_add(steps)
            }
            ItemSteps::At { .. } => {
                self.inside(segment).and_then(|all| all.iter().max()).copied().unwrap_or(0)
            }
        }
    }

    /// The places of a segment in its block, where they are not evenly spaced.
    pub(crate) fn inside(&self, segment: Segment) -> Option<&[usize]> {
        match self {
            ItemSteps::Every(_) => None,
            ItemSteps::At { inside, .. } => inside.get(segment.out..segment.out + segment.count),
        }
    }

    /// The indices in the result of all items of the axis, if they are not in order.
    pub(crate) fn order(&self) -> Option<&[usize]> {
        match self {
            ItemSteps::At { order: Some(order), .. } => Some(order),
            _ => None,
        }
    }

    /// The distance between neighbours in a block whose items along the axis are `stride` bytes apart.
    ///
    /// With a second item in the block the step is shorter than the block; without one it does not matter.
    pub(crate) fn stride(&self, stride: usize, count: usize) -> isize {
        match self {
            ItemSteps::Every(step) if count > 1 => (*step as isize).wrapping_mul(stride as isize),
            ItemSteps::Every(_) => 0,
            ItemSteps::At { .. } => stride as isize,
        }
    }
}

fn runs_by_chunk(segments: &[Segment]) -> Vec<Range<usize>> {
    let mut start = 0;
    segments
        .chunk_by(|a, b| a.chunk == b.chunk)
        .map(|run| {
            let range = start..start + run.len();
            start = range.end;
            range
        })
        .collect()
}

impl ChunkVisit {
    /// The number of touched blocks.
    pub(crate) fn blocks(&self) -> usize {
        self.runs.iter().map(ExactSizeIterator::len).product()
    }

    /// The number in its chunk of the touched block `index`, which counts in C order of the segments.
    pub(crate) fn block(&self, plan: &Plan, grid: &Grid, index: usize) -> usize {
        let cell = self.cell(index);
        grid.block_number(cell.iter().zip(&plan.segments).map(|(&at, segments)| segments[at].block))
    }

    /// The cell of the touched block `index`.
    pub(crate) fn cell(&self, mut index: usize) -> OutputCell {
        let mut cell = OutputCell { at: [0; MAX_NDIM], ndim: self.runs.len() };
        for (at, run) in cell.at[..self.runs.len()].iter_mut().zip(&self.runs).rev() {
            *at = run.start + index % run.len();
            index /= run.len();
        }
        cell
    }

    /// The segments of a cell.
    pub(crate) fn segments<'p>(
        &self,
        plan: &'p Plan,
        cell: &'p [usize],
    ) -> impl Iterator<Item = Segment> + Clone + 'p {
        cell.iter().zip(&plan.segments).map(|(&at, segments)| segments[at])
    }
}
