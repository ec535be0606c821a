//! A pipeline resolved for the items of one chunk, and its two directions over a block.
//!
//! Works on the caller's two buffers, so that nothing is allocated for a block. Steps that move bytes (the shuffles) go
//! from one buffer to the other; delta works where the data is. The last move of a reader writes straight to the
//! destination.

use super::Filter;
use super::Pipeline;
use super::bitshuffle::blosc1_leaves;
use super::delta;
use super::grown;
use super::trunc_prec;
use crate::error::Error;
use crate::error::Result;
use crate::registry::Context;
use crate::registry::Setting;
use crate::registry::UserFilter;
use crate::registry::filter_label;
use b2nd_kernel::bitshuffle;
use b2nd_kernel::cpu::Level;
use b2nd_kernel::shuffle;
use std::mem::swap;

/// One filter with all that it needs to know, the data aside.
#[derive(Debug, Clone)]
enum Step {
    Shuffle { width: usize },
    BitShuffle { width: usize },
    Blosc1BitShuffle { width: usize },
    Delta { unit: usize },
    TruncPrec { typesize: usize, cleared: u32 },
    User { filter: UserFilter, meta: u8 },
}

/// A pipeline resolved for one chunk: in the order of writing, without filters that do nothing.
#[derive(Debug, Clone)]
pub(crate) struct Steps {
    steps: [Option<Step>; Pipeline::SLOTS],
    /// What filters of the user are told.
    setting: Setting,
    level: Level,
}

impl Steps {
    /// What a reader has to undo in a chunk whose items have `typesize` bytes (at least 1). `blosc1`: by the rules of
    /// chunks of version 2 and before.
    pub(crate) fn for_reading(
        pipeline: &Pipeline,
        typesize: usize,
        blosc1: bool,
        context: &Context,
    ) -> Result<Self> {
        Self::resolve(pipeline, typesize, blosc1, context, |filter, _| match filter {
            Filter::TruncPrec => Ok(None),
            other => Err(Error::unsupported(filter_label(other.id()))),
        })
    }

    /// What a writer has to do, or an [`Error::Usage`] when that cannot be done or would not be read back.
    pub(crate) fn for_writing(
        pipeline: &Pipeline,
        typesize: usize,
        blosc1: bool,
        context: &Context,
    ) -> Result<Self> {
        if pipeline.filters().filter(|(filter, _)| *filter == Filter::Delta).count() > 1 {
            return Err(Error::usage("two delta filters in one pipeline cannot be read back"));
        }
        Self::resolve(pipeline, typesize, blosc1, context, |filter, meta| match filter {
            Filter::TruncPrec => {
                let cleared = trunc_prec::cleared_bits(typesize, meta)?;
                Ok((cleared > 0).then_some(Step::TruncPrec { typesize, cleared }))
            }
            other => Err(Error::usage(format!(
                "{} cannot be written: it is neither built in nor in the registry",
                filter_label(other.id())
            ))),
        })
    }

    fn resolve(
        pipeline: &Pipeline,
        typesize: usize,
        blosc1: bool,
        context: &Context,
        one_way: impl Fn(Filter, u8) -> Result<Option<Step>>,
    ) -> Result<Self> {
        let mut steps = [const { None }; Pipeline::SLOTS];
        for (slot, (filter, meta)) in steps.iter_mut().zip(pipeline.filters()) {
            *slot = match filter {
                Filter::Shuffle => {
                    let width = if meta == 0 { typesize } else { usize::from(meta) };
                    (width > 1).then_some(Step::Shuffle { width })
                }
                Filter::BitShuffle if blosc1 => Some(Step::Blosc1BitShuffle { width: typesize }),
                Filter::BitShuffle => Some(Step::BitShuffle { width: typesize }),
                Filter::Delta => Some(Step::Delta { unit: delta::unit(typesize) }),
                Filter::Other(id) => match context.registry().filter(id) {
                    Some(filter) => Some(Step::User { filter, meta }),
                    None => one_way(filter, meta)?,
                },
                Filter::TruncPrec => one_way(filter, meta)?,
            };
        }
        // A type size comes from one byte of a chunk, or is 1.
        let setting = context.setting(typesize as u32);
        Ok(Steps { steps, setting, level: Level::detect() })
    }

    fn iter(&self) -> impl DoubleEndedIterator<Item = &Step> {
        self.steps.iter().flatten()
    }

    /// Whether blocks after the first are stored relative to it.
    pub(crate) fn has_delta(&self) -> bool {
        self.iter().any(|step| matches!(step, Step::Delta { .. }))
    }

    /// Whether reading may give something else than what was written.
    pub(crate) fn is_lossy(&self) -> bool {
        self.iter().any(|step| matches!(step, Step::TruncPrec { .. } | Step::User { .. }))
    }

    /// Whether undoing the steps on a block of `len` bytes needs a second place; when not, it is done in place.
    pub(crate) fn moves(&self, len: usize) -> bool {
        self.iter().any(|step| step.moves_back(len))
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

impl Step {
    /// Whether the step changes anything in a block of `len` bytes.
    fn does(&self, len: usize) -> bool {
        match self {
            Step::Blosc1BitShuffle { width } => !blosc1_leaves(*width, len),
            _ => true,
        }
    }

    /// Whether undoing the step moves bytes to other places.
    fn moves_back(&self, len: usize) -> bool {
        !matches!(self, Step::Delta { .. } | Step::TruncPrec { .. }) && self.does(len)
    }

    fn apply(&self, steps: &Steps, src: &[u8], first: Option<&[u8]>, dst: &mut [u8]) -> Result<()> {
        let level = steps.level;
        match *self {
            Step::Shuffle { width } => shuffle::shuffle(level, width, src, dst),
            Step::BitShuffle { width } | Step::Blosc1BitShuffle { width } => {
                bitshuffle::shuffle(level, width, src, dst);
            }
            Step::Delta { unit } => match first {
                None => b2nd_kernel::delta::encode_first(level, unit, src, dst),
                Some(first) => {
                    dst.copy_from_slice(src);
                    b2nd_kernel::delta::xor_reference(level, unit, dst, reference(first, src.len())?);
                }
            },
            Step::TruncPrec { typesize, cleared } => trunc_prec::truncate(typesize, cleared, src, dst),
            Step::User { ref filter, meta } => filter.apply(&steps.setting.info(meta, 0), src, dst)?,
        }
        Ok(())
    }

    fn undo(&self, steps: &Steps, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let level = steps.level;
        match *self {
            Step::Shuffle { width } => shuffle::unshuffle(level, width, src, dst),
            Step::BitShuffle { width } | Step::Blosc1BitShuffle { width } => {
                bitshuffle::unshuffle(level, width, src, dst);
            }
            Step::Delta { .. } | Step::TruncPrec { .. } => dst.copy_from_slice(src),
            Step::User { ref filter, meta } => filter.undo(&steps.setting.info(meta, 0), src, dst)?,
        }
        Ok(())
    }

    fn undo_in_place(&self, level: Level, block: &mut [u8], first: Option<&[u8]>) -> Result<()> {
        if let Step::Delta { unit } = *self {
            match first {
                None => b2nd_kernel::delta::decode_first(level, unit, block),
                Some(first) => {
                    let first = reference(first, block.len())?;
                    b2nd_kernel::delta::xor_reference(level, unit, block, first);
                }
            }
        }
        Ok(())
    }
}

/// The part of the first block that a block of `len` bytes refers to.
fn reference(first: &[u8], len: usize) -> Result<&[u8]> {
    first.get(..len).ok_or_else(|| Error::usage("the first block is shorter than one that refers to it"))
}
