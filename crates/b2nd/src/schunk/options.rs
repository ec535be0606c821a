//! How a frame is opened, and what a new one is.

use super::process::{BlockPlace, Processing};
use crate::chunk::Params;
use crate::chunk::Special;
use crate::error::Result;
use crate::exec::Exec;
use crate::frame::Durability;
use crate::frame::Layout;
use crate::io::B2Lock;
use crate::limits::Limits;
use crate::registry::Context;
use crate::registry::Registry;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How a frame is opened: for reading by default.
///
/// ```
/// use b2nd::{Exec, Limits};
/// use b2nd::schunk::OpenOptions;
/// let options = OpenOptions::new()
///     .with_write(true)
///     .with_limits(Limits::default().with_max_index_bytes(1 << 20))
///     .with_exec(Exec::new(2));
/// # let _ = options;
/// ```
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    pub(crate) write: bool,
    pub(crate) offset: u64,
    pub(crate) frame: Option<u64>,
    pub(crate) mmap: bool,
    pub(crate) limits: Limits,
    pub(crate) registry: Registry,
    pub(crate) exec: Exec,
    pub(crate) block_cache: u64,
    pub(crate) processing: Processing,
    pub(crate) durability: Durability,
    pub(crate) checksums: Option<bool>,
    pub(crate) unchecked: bool,
    pub(crate) no_owner_lock: bool,
    pub(crate) b2lock: B2Lock,
    pub(crate) lock_patience: Option<Duration>,
}

impl OpenOptions {
    /// Read only, default limits, all processors.
    pub fn new() -> Self {
        Self::default()
    }
    /// Opens for writing too.
    #[must_use]
    pub fn with_write(mut self, write: bool) -> Self {
        self.write = write;
        self
    }
    /// Opens the frame that starts `offset` bytes into the file (or into the bytes), as python-blosc2's `offset=` does.
    ///
    /// For writing it must be the last thing in its file: see [`OpenOptions::with_frame`].
    #[must_use]
    pub fn with_offset(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }
    /// Opens frame `number` of a file that holds several, as [`frames`](super::frames) lists them, from 0 on.
    ///
    /// Only the last frame of a file can be opened for writing: a frame grows at its end, over what follows there. A
    /// frame that is neither the first nor has a given place (offset 0, no number) may have bytes after it that are no frame,
    /// such as an interrupted commit leaves: those are written over. Any other frame must end where its file ends.
    #[must_use]
    pub fn with_frame(mut self, number: u64) -> Self {
        self.frame = Some(number);
        self
    }
    /// Maps the file into memory instead of reading it: blocks are decoded from where they are, without a copy. For
    /// contiguous frames, for reading only, with the feature `mmap`.
    ///
    /// Nobody may cut or change the file meanwhile. A read of bytes that another process cut off ends this process
    /// (SIGBUS on Unix, an exception on Windows), where a file that is read gives an error: so this is never the default.
    #[must_use]
    pub fn with_mmap(mut self, mmap: bool) -> Self {
        self.mmap = mmap;
        self
    }
    /// Sets what commits wait for: all of it on the medium, by default.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }
    /// Whether commits through this handle write checksums ([`SChunk::has_checksums`](crate::schunk::FrameState::has_checksums)): by default
    /// if the frame has them. Where they are added, chunks that are there already stay without, until
    /// [`SChunk::renew_checksums`](super::SChunk::renew_checksums) reads them.
    #[must_use]
    pub fn with_checksums(mut self, checksums: bool) -> Self {
        self.checksums = Some(checksums);
        self
    }
    /// Whether what is read is checked by the checksums of the frame, where it has them: `true` by default.
    ///
    /// Without, a damaged file can be opened and read as far as its bytes make sense.
    #[must_use]
    pub fn with_checks(mut self, checks: bool) -> Self {
        self.unchecked = !checks;
        self
    }
    /// Whether a handle for writing takes the owner lock, which keeps other writers of b2nd away until it is dropped: yes by
    /// default.
    ///
    /// The lock is a file beside the frame, `NAME.b2owner`, that says who writes, and which the system unlocks however the
    /// process ends. Where files cannot be made beside the frame, opening it for writing is an error that says so. Without
    /// the lock, the commit of another writer is noticed before the next change and before the next commit.
    #[must_use]
    pub fn with_owner_lock(mut self, owner_lock: bool) -> Self {
        self.no_owner_lock = !owner_lock;
        self
    }
    /// When C-Blosc2's lock file is taken: where it is there, by default.
    #[must_use]
    pub fn with_b2lock(mut self, when: B2Lock) -> Self {
        self.b2lock = when;
        self
    }
    /// How long C-Blosc2's lock is waited for, before [`Error::Locked`](crate::Error::Locked) says that it does not become
    /// free: 10 seconds by default.
    #[must_use]
    pub fn with_lock_patience(mut self, patience: Duration) -> Self {
        self.lock_patience = Some(patience);
        self
    }
    /// Sets what the file may cost.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
    /// Sets the codecs and filters of the user, by which its chunks are read and written besides those built in.
    #[must_use]
    pub fn with_registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }
    /// What surrounds the chunks of a frame whose items have `typesize` bytes.
    pub(crate) fn context(&self, typesize: u32) -> Context {
        let context = Context::new(self.limits.clone()).with_registry(self.registry.clone());
        context.with_typesize(typesize)
    }
    /// Sets threads, cancellation and progress of the operations on it.
    #[must_use]
    pub fn with_exec(mut self, exec: Exec) -> Self {
        self.exec = exec;
        self
    }
    /// Keeps decompressed blocks of which a read takes a part, up to `bytes` in all; 0, the default: none.
    ///
    /// For many small reads near each other: those that find their block decode nothing. The bound counts the blocks and
    /// 256 bytes for each; every thread that reads may hold one block more. A read that touches more blocks than fit
    /// leaves the cache alone, and so does a block that is read whole, but for taking it where it is there.
    ///
    /// ```
    /// use b2nd::{s, Array, Dtype, OpenOptions, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("<u4")?, [1000])?;
    /// a.write_items(s![], &(0..1000u32).collect::<Vec<_>>())?;
    /// let options = OpenOptions::new().with_block_cache(1 << 20);
    /// let a = Array::from_bytes(a.to_bytes()?, &options)?;
    /// assert_eq!((a.read_items::<u32>(s![5])?, a.read_items::<u32>(s![900])?), (vec![5], vec![900]));
    /// assert_eq!(a.schunk().block_cache().hits, 1);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    #[must_use]
    pub fn with_block_cache(mut self, bytes: u64) -> Self {
        self.block_cache = bytes;
        self
    }
    /// Gives every block to a closure before it is compressed, to fill or change its bytes.
    ///
    /// The closure is told which block it is, and sees the items in the dtype's byte order, padding included. It runs on the
    /// threads of [`Exec`], once for each block of a chunk that is written whole. What it leaves is what the file holds; an
    /// error that it returns is that of the write.
    ///
    /// In a chunk that is written in part it is given only the blocks that the write touches, and nothing is processed
    /// twice: with a closure for reading, which should undo this one, the block is post-processed, changed,
    /// and pre-processed; without one, only the items of the write are taken from what the closure leaves, and all others
    /// stay as they are stored. Fills are not pre-processed: no items were given for them.
    ///
    /// It is the same where an array changes its shape: items that come in are processed, and those that were there only
    /// with a way back. Chunks that keep all their items stay as they are stored, also where they move: closures that go by
    /// the place of a block do not suit an array in which something is inserted or deleted.
    ///
    /// Super-chunks that are no arrays go by the same rules, but that in a chunk that is written in part all blocks make
    /// the way there and back. Chunks that come compressed stay as they are.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new()
    ///     .with_preprocess(|place, bytes| Ok(bytes.iter_mut().for_each(|b| *b += place.start[0] as u8)))
    ///     .with_blocks([2])
    ///     .create_in_memory(Dtype::parse("|u1")?, [4])?;
    /// a.write_bytes(s![], &[1, 1, 1, 1])?;
    /// assert_eq!(a.read_bytes(s![])?, [1, 1, 3, 3]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    #[must_use]
    pub fn with_preprocess(
        mut self,
        hook: impl Fn(&BlockPlace<'_>, &mut [u8]) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.processing.pre = Some(Arc::new(hook));
        self
    }
    /// Gives every block that is read to a closure after it was decompressed, to change its bytes.
    ///
    /// The closure sees the blocks that a read touches, each whole and once for a read, those of special chunks (which
    /// store no bytes) too. The block cache keeps what it leaves, so a hit is not processed again. An error that it
    /// returns is that of the read. It has no part in `verify`, and none in what copies a frame as it is
    /// (`save`, `to_bytes` and `copy` of [`SChunk`](crate::SChunk)); arrays that are made of others
    /// ([`Options::copy`](crate::Options::copy) and the like) get the items that a reader sees. A super-chunk that is no array
    /// gathers single items range by range, and a block may be part of several.
    ///
    /// ```
    /// use b2nd::{s, Array, Dtype, OpenOptions, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("|u1")?, [3])?;
    /// let options = OpenOptions::new().with_postprocess(|_, bytes| Ok(bytes.iter_mut().for_each(|b| *b += 7)));
    /// assert_eq!(Array::from_bytes(a.to_bytes()?, &options)?.read_bytes(s![])?, [7, 7, 7]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    #[must_use]
    pub fn with_postprocess(
        mut self,
        hook: impl Fn(&BlockPlace<'_>, &mut [u8]) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.processing.post = Some(Arc::new(hook));
        self
    }
}

/// How a frame is saved: as one file, and not over an existing one, by default.
///
/// ```
/// use b2nd::schunk::{Layout, SaveOptions};
/// let options = SaveOptions::new().with_layout(Layout::Sparse).with_overwrite(true);
/// # let _ = options;
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct SaveOptions {
    pub(crate) layout: Layout,
    pub(crate) overwrite: bool,
    pub(crate) durability: Durability,
    pub(crate) checksums: Option<bool>,
    pub(crate) no_owner_lock: bool,
}

impl SaveOptions {
    /// One file; a path that exists is an error.
    pub fn new() -> Self {
        Self::default()
    }
    /// Sets the layout: one file, or a directory with a file for each chunk.
    #[must_use]
    pub fn with_layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }
    /// Sets what is waited for: all of it on the medium, by default.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }
    /// Whether the copy has checksums: as [`SChunk::save`](crate::schunk::FrameState::save) makes a file, by default it has.
    #[must_use]
    pub fn with_checksums(mut self, checksums: bool) -> Self {
        self.checksums = Some(checksums);
        self
    }
    /// Whether what is at the path is held while the copy is made, so that a writer of it is not replaced: yes by default; see
    /// [`OpenOptions::with_owner_lock`].
    #[must_use]
    pub fn with_owner_lock(mut self, owner_lock: bool) -> Self {
        self.no_owner_lock = !owner_lock;
        self
    }
    /// Replaces what exists at the path, once the copy is whole.
    #[must_use]
    pub fn with_overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }
}

/// Where a new frame goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target<'p> {
    /// Memory.
    Memory,
    /// A path; it appears there, whole, at the first commit. An existing one is an error unless `overwrite`.
    Path { path: &'p Path, overwrite: bool },
}

/// What a new frame holds.
#[derive(Debug, Clone)]
pub(crate) struct FrameSpec {
    pub(crate) layout: Layout,
    pub(crate) params: Params,
    /// Uncompressed bytes of every chunk; the real block size is in `params`.
    pub(crate) chunksize: u32,
    /// The number of chunks, all of them special at first.
    pub(crate) nchunks: u64,
    /// What the chunks are at first (`Value` is not allowed: put real chunks).
    pub(crate) fill: Special,
    pub(crate) metalayers: Vec<(String, Vec<u8>)>,
    /// Names with uncompressed contents.
    pub(crate) vlmetalayers: Vec<(String, Vec<u8>)>,
}
