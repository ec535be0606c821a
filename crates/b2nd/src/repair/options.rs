//! How a frame is repaired.

use crate::chunk::Special;
use crate::frame::Layout;
use crate::schunk::{FrameOptions, SaveOptions, frame_builder};

/// How a frame is repaired.
///
/// ```
/// use b2nd::RepairOptions;
/// use b2nd::chunk::Special;
/// let options = RepairOptions::new().with_fill(Special::Zeros).with_overwrite(true);
/// # let _ = options;
/// ```
///
/// A repair makes no handle: of [`FrameOptions`] it takes exec, limits, registry, durability, checksums, and the owner lock.
/// Progress counts the bytes that were looked at.
#[derive(Debug, Clone, Default)]
pub struct RepairOptions {
    pub(super) common: FrameOptions,
    pub(super) offset: u64,
    pub(super) fill: Option<Special>,
    pub(super) layout: Option<Layout>,
    pub(super) overwrite: bool,
    pub(super) renew: bool,
}

frame_builder! { RepairOptions: exec, limits, registry, durability, checksums, owner_lock }

impl RepairOptions {
    /// The layout that the frame has, nothing overwritten, default limits, all processors.
    pub fn new() -> Self {
        Self::default()
    }
    /// How the repaired frame is saved, where the damaged one has `layout`.
    pub(super) fn saving(&self, layout: Layout) -> SaveOptions {
        // The progress of a repair counts what is looked at.
        let exec = self.common.exec.clone().without_progress();
        let saving = SaveOptions::new().with_frame_options(self.common.without_handle()).with_exec(exec);
        saving.with_layout(self.layout.unwrap_or(layout))
    }
    /// Repairs the frame that starts at `offset` of its file, in bytes. What is before it has no part in it.
    #[must_use]
    pub fn with_offset(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }
    /// Sets what lost chunks hold: [`Special::Zeros`], [`Special::Uninit`], or [`Special::Nan`] for items of 4 or 8 bytes. By
    /// default NaN in arrays of such floats, and else not initialised, which reads as zeros.
    ///
    /// Blocks that are lost of a chunk whose others are not hold the same: NaN or zeros.
    #[must_use]
    pub fn with_fill(mut self, fill: Special) -> Self {
        self.fill = Some(fill);
        self
    }
    /// Sets the layout of the result: that of the damaged frame by default.
    #[must_use]
    pub fn with_layout(mut self, layout: Layout) -> Self {
        self.layout = Some(layout);
        self
    }
    /// Replaces what exists at the path of the result, once that is whole; an error by default. The damaged frame itself is never
    /// replaced: see [`repair_in_place`](crate::repair_in_place).
    #[must_use]
    pub fn with_overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }
    /// Makes all checksums anew, of what is there: what was stale is taken as right from then on, and a frame without checksums
    /// gets them. By default stale chunks stay so, and the result has checksums where those of the damaged frame were found.
    #[must_use]
    pub fn with_renewed_checksums(mut self, renew: bool) -> Self {
        self.renew = renew;
        self
    }
}
