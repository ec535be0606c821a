//! From the filters that are named to the steps that are taken: what each needs to know, and which cannot be.

use super::Filter;
use super::Pipeline;
use super::bitshuffle::blosc1_leaves;
use super::cells::CellKind;
use super::cells::Cells;
use super::delta;
use super::steps::FilterStep;
use super::steps::Steps;
use super::truncate;
use crate::error::Error;
use crate::error::Result;
use crate::registry::BlockInfo;
use crate::registry::Context;
use crate::registry::filter_label;
use b2nd_kernel::cpu::Level;
use std::sync::Arc;

/// What id 165 was in a development version, in frames of its time only: `ndmean`.
const CATERVA_MEAN: u8 = 165;

impl Steps {
    /// What a reader has to undo in a chunk whose items have `typesize` bytes (at least 1). `blosc1`: by the rules of
    /// chunks of version 2 and before.
    pub(crate) fn for_reading(
        pipeline: &Pipeline,
        typesize: usize,
        blosc1: bool,
        context: &Context,
    ) -> Result<Self> {
        Self::resolve(pipeline, typesize, blosc1, context, |filter, info| match filter {
            Filter::TruncPrec | Filter::IntTrunc => Ok(None),
            Filter::NdCell => read_cells(CellKind::Items, info).map(Some),
            Filter::NdMean => read_cells(CellKind::Mean, info).map(Some),
            Filter::Other(CATERVA_MEAN) if context.is_caterva() => read_cells(CellKind::Mean, info).map(Some),
            Filter::OldByteDelta => Ok(Some(byte_delta(info, true))),
            other => Err(Error::unsupported(filter_label(other.id()))),
        })
    }

    /// What a writer has to do, or an [`Error::Compression`] when that cannot be done or would not be read back.
    pub(crate) fn for_writing(
        pipeline: &Pipeline,
        typesize: usize,
        blosc1: bool,
        context: &Context,
    ) -> Result<Self> {
        if pipeline.filters().filter(|(filter, _)| *filter == Filter::Delta).count() > 1 {
            return Err(Error::compression("two delta filters in one pipeline cannot be read back"));
        }
        Self::resolve(pipeline, typesize, blosc1, context, |filter, info| match filter {
            Filter::TruncPrec => Ok(truncated(typesize, truncate::float_bits(typesize, info.meta)?)),
            Filter::IntTrunc => Ok(truncated(typesize, truncate::integer_bits(typesize, info.meta)?)),
            Filter::NdCell => write_cells(CellKind::Items, info).map(Some),
            Filter::NdMean => write_cells(CellKind::Mean, info).map(Some),
            Filter::OldByteDelta => {
                Err(Error::compression("old_bytedelta is defective and can only be read: use bytedelta"))
            }
            other => Err(Error::compression(format!(
                "{} cannot be written: it is neither built in nor in the registry",
                filter_label(other.id())
            ))),
        })
    }

    /// `special`: filters that are not the same in both directions.
    fn resolve(
        pipeline: &Pipeline,
        typesize: usize,
        blosc1: bool,
        context: &Context,
        special: impl Fn(Filter, &BlockInfo<'_>) -> Result<Option<FilterStep>>,
    ) -> Result<Self> {
        // A type size comes from one byte of a chunk, or is 1.
        let setting = context.setting(typesize as u32);
        let mut steps = [const { None }; Pipeline::SLOTS];
        for (slot, (filter, meta)) in steps.iter_mut().zip(pipeline.filters()) {
            let info = setting.info(meta, 0);
            *slot = match filter {
                Filter::Shuffle => {
                    let width = if meta == 0 { typesize } else { usize::from(meta) };
                    (width > 1).then_some(FilterStep::Shuffle { width })
                }
                Filter::BitShuffle if blosc1 => Some(FilterStep::Blosc1BitShuffle { width: typesize }),
                Filter::BitShuffle => Some(FilterStep::BitShuffle { width: typesize }),
                Filter::Delta => Some(FilterStep::Delta { unit: delta::unit(typesize) }),
                Filter::ByteDelta => Some(byte_delta(&info, false)),
                Filter::Other(id) => match context.registry().filter(id) {
                    Some(filter) => Some(FilterStep::User { filter, meta }),
                    None => special(filter, &info)?,
                },
                _ => special(filter, &info)?,
            };
        }
        Ok(Steps { steps, setting, level: Level::detect() })
    }
}

impl Pipeline {
    /// The filters with which what these have left is stored again: those that are only read give way to ones of today that
    /// change no item. The means of cells are in the items already, and would be lossy a second time.
    pub(crate) fn to_write(self, context: &Context) -> Self {
        let successor = |id: u8| match Filter::from_id(id) {
            Some(Filter::OldByteDelta) => Filter::ByteDelta.id(),
            Some(Filter::Other(CATERVA_MEAN))
                if context.is_caterva() && context.registry().filter(CATERVA_MEAN).is_none() =>
            {
                Filter::NdCell.id()
            }
            _ => id,
        };
        Self::from_bytes(self.ids().map(successor), self.meta())
    }
}

impl FilterStep {
    /// Whether the step changes anything in a block of `len` bytes.
    pub(super) fn does(&self, len: usize) -> bool {
        match self {
            FilterStep::Blosc1BitShuffle { width } => !blosc1_leaves(*width, len),
            _ => true,
        }
    }
}

/// As many streams as the meta byte says, or as an item has bytes: its real number, above 255 too.
fn byte_delta(info: &BlockInfo<'_>, old: bool) -> FilterStep {
    let width = if info.meta == 0 { info.typesize as usize } else { usize::from(info.meta) };
    FilterStep::ByteDelta { width, old }
}

fn truncated(typesize: usize, cleared: u32) -> Option<FilterStep> {
    (cleared > 0).then_some(FilterStep::Truncate { typesize, cleared })
}

fn read_cells(kind: CellKind, info: &BlockInfo<'_>) -> Result<FilterStep> {
    let cells = Cells::for_reading(kind, info.meta, info.typesize as usize, info.block_shape)?;
    Ok(FilterStep::Cells(Arc::new(cells)))
}

fn write_cells(kind: CellKind, info: &BlockInfo<'_>) -> Result<FilterStep> {
    let cells = Cells::for_writing(kind, info.meta, info.typesize as usize, info.block_shape)?;
    Ok(FilterStep::Cells(Arc::new(cells)))
}
