//! The closures of the user that change the bytes of blocks, and what they are told.

use crate::error::Result;
use std::sync::Arc;

/// Which block a closure is given: see [`OpenOptions::with_preprocess`](crate::OpenOptions::with_preprocess).
///
/// A super-chunk without an array has one axis: the items of the chunk, counted from its start, because chunks may move.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct BlockPlace<'a> {
    /// The number of the chunk (in a stream along another axis than the first: in the order in which chunks come).
    pub chunk: u64,
    /// The number of the block in its chunk.
    pub block: usize,
    /// Where the block is in the uncompressed chunk, in bytes.
    pub offset: usize,
    /// The first item of the array (without an array: of the chunk) in the block, along each axis.
    pub start: &'a [u64],
    /// One past the last item along each axis; if that is less than the block's length, the rest is padding.
    pub stop: &'a [u64],
    /// The block shape: the bytes hold this box of items, in C order.
    pub shape: &'a [u64],
    /// The bytes of an item.
    pub typesize: usize,
}

/// A closure on blocks.
pub(crate) type Hook = Arc<dyn Fn(&BlockPlace<'_>, &mut [u8]) -> Result<()> + Send + Sync>;

/// The closures of a handle.
#[derive(Clone, Default)]
pub(crate) struct Processing {
    /// Before compression.
    pub(crate) pre: Option<Hook>,
    /// After decompression.
    pub(crate) post: Option<Hook>,
}

impl std::fmt::Debug for Processing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (pre, post) = (self.pre.is_some(), self.post.is_some());
        f.debug_struct("Processing").field("pre", &pre).field("post", &post).finish()
    }
}
