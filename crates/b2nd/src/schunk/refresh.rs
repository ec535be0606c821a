//! A frame that others have changed.

use super::handle::SChunk;
use super::options::OpenOptions;
use crate::error::Result;

impl SChunk {
    /// The options that open this frame again as it is open now.
    pub(super) fn own_options(&self) -> OpenOptions {
        let opening = self.opening.unwrap_or_default();
        OpenOptions {
            write: self.writable,
            offset: opening.offset,
            frame: None,
            mmap: opening.mmap,
            limits: self.limits().clone(),
            registry: self.context.registry().clone(),
            exec: self.exec.clone(),
            block_cache: self.cache.usage().capacity,
            processing: self.processing.clone(),
            durability: self.durability,
            checksums: self.digests.asked,
            unchecked: !self.digests.check,
        }
    }

    /// The frame as it is now at its path, where it is no longer the one of the last commit through this handle.
    ///
    /// The path is opened again: an empty frame and a sparse one are replaced as a whole by a commit. What is in memory,
    /// or in a store of the caller's, has no path that could be.
    pub(crate) fn reopened(&self) -> Result<Option<SChunk>> {
        let (Some(path), Some(_)) = (self.path(), self.opening) else { return Ok(None) };
        let now = SChunk::open(path, &self.own_options())?;
        let same = now.header.bytes() == self.header.bytes() && now.offsets == self.offsets;
        Ok((!same || now.trailer != self.trailer).then_some(now))
    }
}
