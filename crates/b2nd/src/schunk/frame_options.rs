//! The options that every builder of a handle or of a frame shares, each defined once.

use super::hooks::Processing;
use crate::exec::Exec;
use crate::frame::Durability;
use crate::io::B2Lock;
use crate::limits::Limits;
use crate::registry::{Context, Registry};
use std::time::Duration;

/// Options of a handle and its frame, which several builders share: threads, limits, locks, checksums, closures.
///
/// Every builder has these methods itself, as far as they have an effect on what it makes. A service that wants the same
/// for everything sets them here, and gives them to each builder with `with_frame_options`; methods that are called after
/// it replace single options.
///
/// ```
/// use b2nd::{Array, Dtype, Exec, FrameOptions, Limits, OpenOptions, Options};
/// let of_the_service = FrameOptions::new()
///     .with_exec(Exec::new(2))
///     .with_limits(Limits::default().with_max_chunk_bytes(16 << 20))
///     .with_block_cache(64 << 20);
/// let a = Options::new().with_frame_options(of_the_service.clone()).create_in_memory(Dtype::of::<f32>(), [1000])?;
/// let open = OpenOptions::new().with_frame_options(of_the_service).with_write(true);
/// assert_eq!(Array::from_bytes(a.to_bytes()?, &open)?.schunk().block_cache().capacity, 64 << 20);
/// # Ok::<(), b2nd::Error>(())
/// ```
///
/// | option | open, create | save | repair |
/// |---|---|---|---|
/// | `exec` | of the handle | of the copy; by default that of the handle, without its progress | of the repair |
/// | `limits` | of the handle | those of the handle | what the damaged frame may cost |
/// | `registry` | of the handle | chunks are copied as they are | to decode chunks |
/// | `durability` | of commits | of the copy | of the repaired frame |
/// | `checksums` | of commits | of the copy | of the repaired frame |
/// | `owner_lock` | of the handle | of the path that is replaced | of the path that is replaced |
/// | `checks`, `b2lock`, `lock_patience`, `block_cache`, closures | of the handle | no handle is made | no handle is made |
#[derive(Debug, Clone, Default)]
pub struct FrameOptions {
    pub(crate) exec: Exec,
    /// Whether `exec` was set.
    pub(crate) has_exec: bool,
    pub(crate) limits: Limits,
    pub(crate) registry: Option<Registry>,
    pub(crate) durability: Durability,
    pub(crate) checksums: Option<bool>,
    pub(crate) unchecked: bool,
    pub(crate) no_owner_lock: bool,
    pub(crate) b2lock: B2Lock,
    pub(crate) lock_patience: Option<Duration>,
    pub(crate) block_cache: u64,
    pub(crate) processing: Processing,
}

impl FrameOptions {
    /// All processors, default limits, full durability, locks and checks.
    pub fn new() -> Self {
        Self::default()
    }
    fn frame_mut(&mut self) -> &mut Self {
        self
    }

    /// Threads, cancellation and progress, where they were set.
    pub(crate) fn given_exec(&self) -> Option<&Exec> {
        self.has_exec.then_some(&self.exec)
    }
    /// The codecs and filters of the user.
    pub(crate) fn registry(&self) -> Registry {
        self.registry.clone().unwrap_or_default()
    }
    /// Uses the codecs and filters of another frame's registry if none was set.
    pub(crate) fn or_registry(mut self, other: &Registry) -> Self {
        self.registry.get_or_insert_with(|| other.clone());
        self
    }
    /// Whether reads are checked by the checksums.
    pub(crate) fn checks(&self) -> bool {
        !self.unchecked
    }
    /// Whether the owner lock is taken.
    pub(crate) fn owner_lock(&self) -> bool {
        !self.no_owner_lock
    }
    /// The same without what only a handle has, for work that makes none.
    pub(crate) fn without_handle(&self) -> Self {
        let processing = Processing::default();
        let mut common = FrameOptions { processing, block_cache: 0, lock_patience: None, ..self.clone() };
        (common.unchecked, common.b2lock) = (false, B2Lock::default());
        common
    }
    /// The context for chunks of a frame whose items have `typesize` bytes.
    pub(crate) fn context(&self, typesize: u32) -> Context {
        Context::new(self.limits.clone()).with_registry(self.registry()).with_typesize(typesize)
    }
}

/// Defines the methods of a builder that has a field `common: FrameOptions`: those that are named, or all of them.
macro_rules! frame_builder {
    ($builder:ident: $($option:ident),+) => {
        impl $builder {
            fn frame_mut(&mut self) -> &mut $crate::schunk::FrameOptions {
                &mut self.common
            }
            /// Sets all options that builders share; those that were set before are replaced.
            #[must_use]
            pub fn with_frame_options(mut self, options: $crate::schunk::FrameOptions) -> Self {
                self.common = options;
                self
            }
        }
        $crate::schunk::frame_methods! { $builder: $($option),+ }
    };
}

/// Defines the named methods of a type with a method `frame_mut`.
macro_rules! frame_methods {
    ($builder:ident: all) => {
        $crate::schunk::frame_methods! {
            $builder: exec, limits, registry, durability, checksums, checks, owner_lock, b2lock, lock_patience,
            block_cache, preprocess, postprocess
        }
    };
    ($builder:ident: $($option:ident),+) => {
        impl $builder {
            $($crate::schunk::frame_options::frame_method! { $option })+
        }
    };
}

/// Defines one method. A builder must list only those that have an effect on what it makes.
macro_rules! frame_method {
    (exec) => {
        /// Sets threads, cancellation and progress; all processors by default.
        #[must_use]
        pub fn with_exec(mut self, exec: $crate::Exec) -> Self {
            let common = self.frame_mut();
            (common.exec, common.has_exec) = (exec, true);
            self
        }
    };
    (limits) => {
        /// Sets what the frame may cost to read.
        #[must_use]
        pub fn with_limits(mut self, limits: $crate::Limits) -> Self {
            self.frame_mut().limits = limits;
            self
        }
    };
    (registry) => {
        /// Sets the codecs and filters of the user, by which chunks are read and written besides those built in.
        ///
        /// A copy of a super-chunk without this knows those of the original.
        ///
        /// ```
        /// use b2nd::registry::{BlockFilter, BlockInfo, BlockResult};
        /// use b2nd::{Dtype, Filter, Options, Pipeline, Registry, s};
        ///
        /// struct Invert;
        /// impl BlockFilter for Invert {
        ///     fn apply(&self, _: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
        ///         dst.iter_mut().zip(src).for_each(|(to, from)| *to = !from);
        ///         Ok(())
        ///     }
        ///     fn undo(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
        ///         self.apply(info, src, dst)
        ///     }
        /// }
        /// let registry = Registry::new().with_filter(200, "invert", Invert)?;
        /// let filters = Pipeline::new().push(Filter::from_id(200).unwrap(), 0)?;
        /// let options = Options::new().with_registry(registry).with_filters(filters);
        /// let mut a = options.create_in_memory(Dtype::of::<u8>(), [1000])?;
        /// a.fill(s![], 7u8)?;
        /// assert_eq!(a.read_items::<u8>(s![..3])?, [7, 7, 7]);
        /// # Ok::<(), b2nd::Error>(())
        /// ```
        #[must_use]
        pub fn with_registry(mut self, registry: $crate::Registry) -> Self {
            self.frame_mut().registry = Some(registry);
            self
        }
    };
    (durability) => {
        /// Sets what commits and copies wait for: all of it on the medium, by default.
        #[must_use]
        pub fn with_durability(mut self, durability: $crate::Durability) -> Self {
            self.frame_mut().durability = durability;
            self
        }
    };
    (checksums) => {
        /// Whether checksums are written ([`SChunk::has_checksums`](crate::schunk::FrameState::has_checksums)).
        ///
        /// By default a new frame at a path has them and one in memory has not, a saved one has them, an open frame keeps
        /// what it has, and a repaired one has them where those of the damaged frame were found. Where they are added to an
        /// open frame, chunks that are there already stay without, until
        /// [`SChunk::renew_checksums`](crate::SChunk::renew_checksums) reads them.
        ///
        /// ```
        /// use b2nd::{Dtype, Options};
        /// let a = Options::new().with_checksums(true).create_in_memory(Dtype::of::<u8>(), [9])?;
        /// assert!(a.schunk().has_checksums()?);
        /// # Ok::<(), b2nd::Error>(())
        /// ```
        #[must_use]
        pub fn with_checksums(mut self, checksums: bool) -> Self {
            self.frame_mut().checksums = Some(checksums);
            self
        }
    };
    (checks) => {
        /// Whether what is read is checked by the checksums of the frame, where it has them: `true` by default.
        ///
        /// Without, a damaged file can be opened and read as far as its bytes make sense.
        #[must_use]
        pub fn with_checks(mut self, checks: bool) -> Self {
            self.frame_mut().unchecked = !checks;
            self
        }
    };
    (owner_lock) => {
        /// Whether the owner lock is taken, which keeps other writers of b2nd away: yes by default.
        ///
        /// The lock is a file beside the frame, `NAME.b2owner`, that says who writes, and which the system unlocks however
        /// the process ends. A handle for writing holds it until it is dropped; what makes a new frame at a path holds it
        /// from the start, so that a writer of the frame that is there is not replaced. Where files cannot be made beside the
        /// frame, opening it for writing is an error that says so. Without the lock, the commit of another writer is noticed
        /// before the next change and before the next commit.
        #[must_use]
        pub fn with_owner_lock(mut self, owner_lock: bool) -> Self {
            self.frame_mut().no_owner_lock = !owner_lock;
            self
        }
    };
    (b2lock) => {
        /// When C-Blosc2's lock file is taken: where it is there, by default.
        #[must_use]
        pub fn with_b2lock(mut self, when: $crate::B2Lock) -> Self {
            self.frame_mut().b2lock = when;
            self
        }
    };
    (lock_patience) => {
        /// How long C-Blosc2's lock is waited for, before [`Error::Locked`](crate::Error::Locked) says that it does not
        /// become free: 10 seconds by default.
        #[must_use]
        pub fn with_lock_patience(mut self, patience: std::time::Duration) -> Self {
            self.frame_mut().lock_patience = Some(patience);
            self
        }
    };
    (block_cache) => {
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
            self.frame_mut().block_cache = bytes;
            self
        }
    };
    (preprocess) => {
        /// Gives every block to a closure before it is compressed, to fill or change its bytes.
        ///
        /// The closure is told which block it is, and sees the items in the dtype's byte order, padding included. It runs on the
        /// threads of [`Exec`](crate::Exec), once for each block of a chunk that is written whole. What it leaves is what the
        /// file holds; an error that it returns is that of the write.
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
        /// the way there and back. Chunks that come compressed stay as they are; a copy of a super-chunk is made without the
        /// closure, which then belongs to the handle of the copy.
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
            hook: impl Fn(&$crate::BlockPlace<'_>, &mut [u8]) -> $crate::Result<()> + Send + Sync + 'static,
        ) -> Self {
            self.frame_mut().processing.pre = Some(std::sync::Arc::new(hook));
            self
        }
    };
    (postprocess) => {
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
            hook: impl Fn(&$crate::BlockPlace<'_>, &mut [u8]) -> $crate::Result<()> + Send + Sync + 'static,
        ) -> Self {
            self.frame_mut().processing.post = Some(std::sync::Arc::new(hook));
            self
        }
    };
}

pub(crate) use {frame_builder, frame_method, frame_methods};

frame_methods! { FrameOptions: all }
