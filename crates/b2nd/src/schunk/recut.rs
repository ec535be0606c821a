//! Sets the chunk size of a frame without chunks.

use super::handle::SChunk;
use crate::chunk::Params;
use crate::error::{Error, Result};
use crate::frame::{FrameHeader, HeaderFields, Name};

impl SChunk {
    /// Gives a frame without chunks another size of chunks, with the parameters that go with it. Visible at the next
    /// commit; a rollback takes the size back.
    ///
    /// # Errors
    /// [`Error::State`] when the frame has chunks.
    pub(crate) fn set_chunksize(&mut self, chunksize: u32, params: &Params) -> Result<()> {
        if self.nchunks() > 0 {
            return Err(Error::state("the chunk size of a frame that has chunks cannot change"));
        }
        let fields = HeaderFields { layout: self.layout(), params, chunksize, nbytes: 0 };
        let metalayers: Vec<(&[u8], &[u8])> =
            self.header.metalayers().map(|(name, content): (&Name, &[u8])| (name.bytes(), content)).collect();
        let mut header = FrameHeader::build(&fields, &metalayers)?;
        if header.len() != self.header.len() {
            // Data that the committed header refers to would be overwritten.
            return Err(Error::unsupported(
                "this empty frame has a header of another length and cannot grow: convert it first",
            ));
        }
        header.set_lengths(self.header.frame_len(), self.header.cbytes(), self.work().trailer.is_there());
        self.begin()?;
        self.keep_old();
        self.state.header = std::sync::Arc::new(header);
        Ok(())
    }
}
