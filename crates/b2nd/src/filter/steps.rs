//! A pipeline resolved for the items of one chunk, and its two directions over a block.
//!
//! Works on the caller's two buffers, so that nothing is allocated for a block. Steps that move bytes (the shuffles) go
//! from one buffer to the other; the deltas work where the data is. The last move of a reader writes straight to the
//! destination.

use super::Pipeline;
use super::bytedelta;
use super::cells::Cells;
use super::grown;
use super::truncate;
use crate::error::Error;
use crate::error::Result;
use crate::registry::Setting;
use crate::registry::UserFilter;
use b2nd_kernel::bitshuffle;
use b2nd_kernel::cpu::Level;
use b2nd_kernel::runs;
use b2nd_kernel::shuffle;
use std::mem::swap;
use std::ops::Range;
use std::sync::Arc;

/// One filter with all that it needs to know, the data aside.
#[derive(Debug, Clone)]
pub(super) enum FilterStep {
    Shuffle { width: usize },
    BitShuffle { width: usize },
    Blosc1BitShuffle { width: usize },
    Delta { unit: usize },
    Truncate { typesize: usize, cleared: u32 },
    ByteDelta { width: usize, old: bool },
    Cells(Arc<Cells>),
    User { filter: UserFilter, meta: u8 },
}

/// A pipeline resolved for one chunk: in the order of writing, without filters that do nothing.
#[derive(Debug, Clone)]
pub(crate) struct Steps {
    pub(super) steps: [Option<FilterStep>; Pipeline::SLOTS],
    /// What filters of the user are told.
    pub(super) setting: Setting,
    pub(super) level: Level,
}

impl Steps {
    fn iter(&self) -> impl DoubleEndedIterator<Item = &FilterStep> {
        self.steps.iter().flatten()
    }

    /// Whether blocks after the first are stored relative to it.
    pub(crate) fn has_delta(&self) -> bool {
        self.iter().any(|step| matches!(step, FilterStep::Delta { .. }))
    }

    /// Whether reading may give something else than what was written.
    pub(crate) fn is_lossy(&self) -> bool {
        self.iter().any(|step| match step {
            FilterStep::Truncate { .. } | FilterStep::User { .. } => true,
            FilterStep::Cells(cells) => cells.is_lossy(),
            _ => false,
        })
    }

    /// Whether a block of zeros comes out as it is.
    fn keep_zeros(&self) -> bool {
        self.iter().all(|step| {
            !matches!(step, FilterStep::Delta { .. } | FilterStep::Cells(_) | FilterStep::User { .. })
        })
    }

    /// Whether undoing the steps on a block of `len` bytes needs a second place; when not, it is done in place.
    pub(crate) fn moves(&self, len: usize) -> bool {
        self.iter().any(|step| step.moves_back(len))
    }

    /// Whether there is no step for a block of `len` bytes, or one shuffle: the width of its items (0 for none).
    pub(crate) fn only_shuffle(&self, len: usize) -> Option<usize> {
        let mut steps = self.iter().filter(|step| step.does(len));
        match (steps.next(), steps.next()) {
            (None, _) => Some(0),
            (Some(FilterStep::Shuffle { width }), None) => Some(*width),
            _ => None,
        }
    }

    /// Undoes the shuffle of [`Steps::only_shuffle`] on the first items of a block, whose bytes stand in `src` as if they were
    /// all.
    pub(crate) fn unshuffle_start(&self, width: usize, src: &[u8], dst: &mut [u8]) {
        shuffle::unshuffle(self.level, width, src, dst);
    }

    /// Takes items out of the start of a block that [`Steps::only_shuffle`] shuffled, whose bytes stand in `src` as if they were
    /// all.
    pub(crate) fn take_items(&self, width: usize, src: &[u8], dst: &mut [u8], runs: &[Range<u32>]) {
        shuffle::take(self.level, width, src, dst, runs);
    }

    /// Applies all steps to a block. `first` is the first block, decoded, for the blocks after it.
    ///
    /// The result is `src` itself, or one of the two buffers.
    pub(crate) fn apply<'a>(
        &self,
        src: &'a [u8],
        first: Option<&[u8]>,
        front: &'a mut Vec<u8>,
        back: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        let mut steps = self.iter().filter(|step| step.does(src.len()));
        let Some(step) = steps.next() else { return Ok(src) };
        if self.keep_zeros() && runs::uniform(src) == Some(0) {
            return Ok(src);
        }
        let mut here = grown(front, src.len(), "the filters of a block")?;
        step.apply(self, src, first, here)?;
        let Some(step) = steps.next() else { return Ok(here) };
        let mut there = grown(back, src.len(), "the filters of a block")?;
        step.apply(self, here, first, there)?;
        for step in steps {
            swap(&mut here, &mut there);
            step.apply(self, here, first, there)?;
        }
        Ok(there)
    }

    /// Undoes all steps where the block is; only where [`Steps::moves`] is false.
    pub(crate) fn undo_in_place(&self, block: &mut [u8], first: Option<&[u8]>) -> Result<()> {
        self.iter().rev().try_for_each(|step| step.undo_in_place(self.level, block, first))
    }

    /// Undoes all steps from `src` to `dst`, which have the length of `src`; only where [`Steps::moves`] is true.
    ///
    /// `src` and `spare` are working memory.
    pub(crate) fn undo<'a>(
        &self,
        mut src: &'a mut [u8],
        spare: &'a mut Vec<u8>,
        dst: &mut [u8],
        first: Option<&[u8]>,
    ) -> Result<()> {
        let len = src.len();
        let mut moves = self.iter().filter(|step| step.moves_back(len)).count();
        let mut spare = if moves > 1 { grown(spare, len, "the filters of a block")? } else { &mut [] };
        for step in self.iter().rev() {
            match (step.moves_back(len), moves) {
                (false, 0) => step.undo_in_place(self.level, dst, first)?,
                (false, _) => step.undo_in_place(self.level, src, first)?,
                (true, 0 | 1) => {
                    step.undo(self, src, dst)?;
                    moves = 0;
                }
                (true, _) => {
                    step.undo(self, src, spare)?;
                    swap(&mut src, &mut spare);
                    moves -= 1;
                }
            }
        }
        Ok(())
    }
}

impl FilterStep {
    /// Whether undoing the step moves bytes to other places.
    fn moves_back(&self, len: usize) -> bool {
        !matches!(self, FilterStep::Delta { .. } | FilterStep::Truncate { .. } | FilterStep::ByteDelta { .. })
            && self.does(len)
    }

    fn apply(&self, steps: &Steps, src: &[u8], first: Option<&[u8]>, dst: &mut [u8]) -> Result<()> {
        let level = steps.level;
        match *self {
            FilterStep::Shuffle { width } => shuffle::shuffle(level, width, src, dst),
            FilterStep::BitShuffle { width } | FilterStep::Blosc1BitShuffle { width } => {
                bitshuffle::shuffle(level, width, src, dst);
            }
            FilterStep::Delta { unit } => match first {
                None => b2nd_kernel::delta::encode_first(level, unit, src, dst),
                Some(first) => {
                    dst.copy_from_slice(src);
                    b2nd_kernel::delta::xor_reference(level, unit, dst, reference(first, src.len())?);
                }
            },
            FilterStep::Truncate { typesize, cleared } => truncate::truncate(typesize, cleared, src, dst),
            FilterStep::ByteDelta { width, .. } => bytedelta::encode(level, width, src, dst),
            FilterStep::Cells(ref cells) => cells.apply(src, dst)?,
            FilterStep::User { ref filter, meta } => filter.apply(&steps.setting.info(meta, 0), src, dst)?,
        }
        Ok(())
    }

    fn undo(&self, steps: &Steps, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let level = steps.level;
        match *self {
            FilterStep::Shuffle { width } => shuffle::unshuffle(level, width, src, dst),
            FilterStep::BitShuffle { width } | FilterStep::Blosc1BitShuffle { width } => {
                bitshuffle::unshuffle(level, width, src, dst);
            }
            FilterStep::Delta { .. } | FilterStep::Truncate { .. } | FilterStep::ByteDelta { .. } => {
                dst.copy_from_slice(src);
            }
            FilterStep::Cells(ref cells) => cells.undo(src, dst)?,
            FilterStep::User { ref filter, meta } => filter.undo(&steps.setting.info(meta, 0), src, dst)?,
        }
        Ok(())
    }

    fn undo_in_place(&self, level: Level, block: &mut [u8], first: Option<&[u8]>) -> Result<()> {
        match (self, first) {
            (FilterStep::Delta { unit }, None) => b2nd_kernel::delta::decode_first(level, *unit, block),
            (FilterStep::Delta { unit }, Some(first)) => {
                let first = reference(first, block.len())?;
                b2nd_kernel::delta::xor_reference(level, *unit, block, first);
            }
            (FilterStep::ByteDelta { width, old }, _) => bytedelta::decode(level, *width, *old, block),
            _ => {}
        }
        Ok(())
    }
}

/// The part of the first block that a block of `len` bytes refers to.
fn reference(first: &[u8], len: usize) -> Result<&[u8]> {
    first.get(..len).ok_or_else(|| Error::usage("the first block is shorter than a block that refers to it"))
}
