//! A frame that others have changed.

use super::handle::SChunk;
use super::options::OpenOptions;
use crate::error::Result;
use crate::io;

impl SChunk {
    /// The frame as it is now at its path, where it is no longer the one of the last commit through this handle.
    ///
    /// The path is opened again: an empty frame and a sparse one are replaced as a whole by a commit.
    pub(crate) fn reopened(&self) -> Result<Option<SChunk>> {
        let Some(path) = self.path() else { return Ok(None) };
        let options =
            OpenOptions { write: self.writable, limits: self.limits.clone(), exec: self.exec.clone() };
        let opened =
            io::open(path, self.writable).and_then(|(store, layout)| SChunk::load(store, layout, &options));
        let now = opened.map_err(|error| error.at_path(path))?;
        let same = now.header.bytes() == self.header.bytes() && now.offsets == self.offsets;
        Ok((!same || now.trailer.encode()? != self.trailer.encode()?).then_some(now))
    }
}
