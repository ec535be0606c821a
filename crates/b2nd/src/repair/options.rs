//! How a frame is repaired.

use crate::chunk::Special;
use crate::exec::Exec;
use crate::frame::{Durability, Layout};
use crate::limits::Limits;
use crate::registry::Registry;

/// How a frame is repaired.
///
/// ```
/// use b2nd::RepairOptions;
/// use b2nd::chunk::Special;
/// let options = RepairOptions::new().with_fill(Special::Zeros).with_overwrite(true);
/// # let _ = options;
/// ```
#[derive(Debug, Clone, Default)]
pub struct RepairOptions {
    pub(super) limits: Limits,
    pub(super) exec: Exec,
    pub(super) registry: Registry,
    pub(super) offset: u64,
    pub(super) fill: Option<Special>,
    pub(super) layout: Option<Layout>,
    pub(super) overwrite: bool,
    pub(super) renew: bool,
    pub(super) durability: Durability,
}

impl RepairOptions {
    /// The layout that the frame has, nothing overwritten, default limits, all processors.
    pub fn new() -> Self {
        Self::default()
    }
    /// Sets what the damaged file may cost.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
    /// Sets threads, cancellation and progress (bytes that were looked at).
    #[must_use]
    pub fn with_exec(mut self, exec: Exec) -> Self {
        self.exec = exec;
        self
    }
    /// Sets the codecs and filters of the user.
    #[must_use]
    pub fn with_registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
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
    /// Sets what is waited for: all of the result on the medium, by default.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }
}
