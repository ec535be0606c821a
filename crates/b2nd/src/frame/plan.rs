//! Writes as data: an ordered list of steps, so that a crash can be replayed at every one of them.

use std::borrow::Cow;

/// A file of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileId {
    /// The frame itself: the whole of a contiguous one, `chunks.b2frame` of a sparse one.
    Frame,
    /// A numbered chunk file of a sparse frame.
    Chunk(u32),
}

/// One step of a write plan.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum WriteStep<'a> {
    /// Writes bytes at an offset, growing the file where needed.
    WriteAt {
        /// The file.
        file: FileId,
        /// Where, in bytes.
        offset: u64,
        /// What.
        bytes: Cow<'a, [u8]>,
    },
    /// Makes or replaces a whole file: a temporary name, then a rename.
    Put {
        /// The file.
        file: FileId,
        /// Its content.
        bytes: Cow<'a, [u8]>,
    },
    /// Sets the length of a file.
    SetLen {
        /// The file.
        file: FileId,
        /// The length in bytes.
        len: u64,
    },
    /// Waits until everything written so far to the file is on the medium.
    Sync {
        /// The file.
        file: FileId,
    },
    /// Removes a chunk file that nothing refers to any more; a missing one is no error.
    Remove {
        /// The file.
        file: FileId,
    },
}
