//! Where the bytes of a frame live: memory or files. The only place that uses `std::fs`.

use crate::error::Result;
use crate::frame::plan::FileId;
use crate::frame::plan::WriteStep;
use std::fmt::Debug;
use std::path::Path;

/// The files of one frame: the frame itself and, in a sparse frame, the numbered chunk files.
pub trait Store: Send + Sync + Debug {
    /// The length of a file in bytes.
    fn len(&self, file: FileId) -> Result<u64>;
    /// Fills `buf` from `offset` on; an end of file before that is an error.
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()>;
    /// The whole file where it is in memory.
    fn slice(&self, file: FileId) -> Option<&[u8]>;
    /// Applies one step of a write plan.
    fn apply(&mut self, step: &WriteStep<'_>) -> Result<()>;
    /// The path of the frame, where it has one.
    fn path(&self) -> Option<&Path>;
}
