//! One block of a chunk, with no more fetched than it takes.

use super::snapshot::{FrameState, Place};
use crate::chunk;
use crate::error::{Error, Result};
use crate::limits::copied;
use std::borrow::Cow;
use std::ops::Range;

impl FrameState {
    /// The uncompressed bytes of block `block` of chunk `n`, fetching little more of a stored chunk than that. For chunks whose
    /// blocks have lengths of their own as well; [`ChunkHeader::nblocks`](chunk::ChunkHeader::nblocks) says how many there are.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().with_chunks([8]).with_blocks([4]).create_in_memory(Dtype::parse("|u1")?, [8])?;
    /// a.write_bytes(s![], &[1, 2, 3, 4, 5, 6, 7, 8])?;
    /// assert_eq!(a.schunk().decompress_block(0, 1)?, [5, 6, 7, 8]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] where there is no such chunk or block, [`Error::Format`] where it is damaged.
    pub fn decompress_block(&self, n: u64, block: usize) -> Result<Vec<u8>> {
        let place = self.place(n)?;
        let read = || match place {
            Place::Special(_) => chunk::decode_block(&self.chunk(n)?, block, &self.context, &self.exec),
            Place::Stored { .. } => {
                let head = self.read_head(n, place, self.chunk_nbytes(n), 0, &mut Vec::new())?;
                let mut fetch = |span: Range<usize>| {
                    let mut buffer = Vec::new();
                    let bytes = self.fetch(place, span.start as u64, span.len(), &mut buffer)?;
                    copied("a block", bytes).map(Cow::Owned)
                };
                chunk::decode_one(&head, block, &self.exec, &mut fetch)
            }
        };
        let mut bytes = read().map_err(|error: Error| self.located(error.in_chunk(n)))?;
        if let Some(post) = self.post() {
            self.give_block(post, n, block, self.old_cuts(n)?.range(block), &mut bytes)?;
        }
        Ok(bytes)
    }
}
