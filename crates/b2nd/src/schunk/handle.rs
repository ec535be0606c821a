//! An open frame: a snapshot that is read, and a writer that changes it.

use super::cache::BlockCache;
use super::catalog::{Catalog, CatalogState};
use super::changes::Changes;
use super::digests::Digests;
use super::foreign::Locks;
use super::options::OpenOptions;
use super::recover;
use super::recover::ParsedFrame;
use super::snapshot::{FrameSnapshot, FrameState};
use crate::chunk::Params;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::frame::Durability;
use crate::frame::Layout;
use crate::frame::{FrameHeader, Offsets, Trailer};
use crate::io::{MemoryStore, OpenedStore, Opening, ReadStore, WriteStep};
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

/// An open frame.
///
/// It reads what the frame was when it was opened (or last committed through this handle): the header and the offsets
/// of all chunks are in memory. Writers of this library leave alone what they refer to for as long as the handle is open,
/// in this process and in others, where the file system has locks; C-Blosc2 does not.
///
/// ```no_run
/// use b2nd::{OpenOptions, SChunk};
/// let frame = SChunk::open("data.b2frame", &OpenOptions::new())?;
/// for n in 0..frame.nchunks() {
///     println!("chunk {n}: {} bytes", frame.chunk(n)?.len());
/// }
/// # Ok::<(), b2nd::Error>(())
/// ```
pub struct SChunk {
    /// The state that reads use: the last commit plus uncommitted changes.
    pub(super) state: FrameState,
    pub(super) writer: FrameWriter,
}

/// What changes a frame: its store, its locks, and what is not committed.
#[derive(Debug)]
pub(super) struct FrameWriter {
    pub(super) store: OpenedStore,
    /// Whether it was opened for writing.
    pub(super) writable: bool,
    pub(super) changes: Changes,
    /// How the path was opened; `None` in memory and in a store of the caller's.
    pub(super) opening: Option<Opening>,
    pub(super) durability: Durability,
    pub(super) locks: Locks,
    /// Whether the bytes of the frame are borrowed for the time of a call.
    pub(super) lent: bool,
}

/// Reading goes through the snapshot.
impl Deref for SChunk {
    type Target = FrameState;
    fn deref(&self) -> &FrameState {
        &self.state
    }
}

impl SChunk {
    /// Parses the frame that a store has.
    pub(crate) fn load(store: OpenedStore, layout: Layout, options: &OpenOptions) -> Result<Self> {
        let (store, found) = recover::parse(store, layout, options)?;
        let state = match found {
            ParsedFrame::All(index) => {
                let (header, nchunks) = (index.header.clone(), index.offsets.len());
                FrameState::new(
                    store.reader(),
                    header,
                    nchunks,
                    CatalogState::of(*index, &options.common)?,
                    &options.common,
                )
            }
            ParsedFrame::Outline { header, nchunks, trailer_start } => {
                let common = &options.common;
                let catalog = CatalogState::lazy(trailer_start, common);
                FrameState::new(store.reader(), *header, nchunks, catalog, common)
            }
        };
        let writer = FrameWriter {
            store,
            writable: options.write,
            changes: Changes::default(),
            opening: None,
            durability: options.common.durability,
            locks: Locks::new(&options.common),
            lent: false,
        };
        let mut schunk = SChunk { state, writer };
        if options.write {
            schunk.prepare_writing(options.offset > 0)?;
            schunk.check_last(options.offset > 0)?;
        }
        Ok(schunk)
    }

    /// A handle that reads a snapshot.
    pub(crate) fn of_snapshot(snapshot: FrameSnapshot) -> Self {
        let state = snapshot.into_state();
        let store = OpenedStore::Read(Arc::clone(&state.store));
        let writer = FrameWriter {
            store,
            writable: false,
            changes: Changes::default(),
            opening: None,
            durability: Durability::default(),
            locks: Locks::default(),
            lent: false,
        };
        SChunk { state, writer }
    }

    /// The state of the last commit. It stays as it is when this handle changes the frame.
    ///
    /// # Errors
    /// [`Error::State`] while a transaction has changes that are not committed, and in
    /// [`SChunk::with_borrowed`](crate::SChunk::with_borrowed).
    pub fn snapshot(&self) -> Result<FrameSnapshot> {
        if self.has_changes() {
            return Err(Error::state("the frame has changes that are not committed: commit them first"));
        }
        if self.writer.lent {
            return Err(Error::state(
                "the bytes of this frame are borrowed, and a snapshot could outlive them: open a copy, or bytes that are shared",
            ));
        }
        let mut snapshot = self.state.share();
        // A new cache, because keys are chunk offsets and the handle may reuse the same offsets later: dead bytes in
        // memory, and everything in a file that replaces this one.
        snapshot.cache = Arc::new(BlockCache::new(self.cache.usage().capacity));
        Ok(FrameSnapshot::of(snapshot))
    }

    /// The frame with what is staged and not committed: what the threads of a write read.
    pub(crate) fn working_state(&self) -> FrameState {
        self.state.share()
    }

    /// Applies one step of a write plan to the store.
    pub(super) fn apply(&mut self, step: &WriteStep<'_>) -> Result<()> {
        // A store in memory copies what a snapshot refers to: the handle's own reference must not count.
        self.state.store = no_store();
        let applied = self.writer.store.apply(step);
        self.state.store = self.writer.store.reader();
        applied
    }

    /// Changes how new chunks are compressed, for this handle.
    pub fn set_params(&mut self, params: Params) {
        self.state.params = params;
    }
    /// Changes threads, cancellation and progress.
    pub fn set_exec(&mut self, exec: Exec) {
        self.state.exec = exec;
    }
    /// Tells codecs and filters the shape of the blocks, and whether the array is of the time of `caterva`.
    pub(crate) fn set_block_shape(&mut self, block_shape: &[u32], caterva: bool) {
        self.state.context = self.context.clone().with_block_shape(block_shape).with_caterva(caterva);
    }
    pub(super) fn header_mut(&mut self) -> &mut FrameHeader {
        Arc::make_mut(&mut self.state.header)
    }
    /// The catalog, which is loaded in a handle for writing.
    pub(super) fn work(&self) -> &Catalog {
        static NONE: LazyLock<Catalog> = LazyLock::new(Catalog::default);
        self.state.catalog.loaded().unwrap_or(&NONE)
    }
    /// Makes sure that the catalog is loaded, to be changed.
    pub(super) fn load_catalog(&mut self) -> Result<()> {
        let catalog = self.state.catalog()?.clone();
        self.state.catalog = catalog.into();
        Ok(())
    }
    pub(super) fn offsets_mut(&mut self) -> &mut Offsets {
        Arc::make_mut(&mut self.state.catalog.own_mut().offsets)
    }
    pub(super) fn trailer_mut(&mut self) -> &mut Trailer {
        Arc::make_mut(&mut self.state.catalog.own_mut().trailer)
    }
    pub(super) fn digests_mut(&mut self) -> &mut Digests {
        Arc::make_mut(&mut self.state.catalog.own_mut().digests)
    }
}

/// An empty store, a placeholder while the real one is being written to.
pub(super) fn no_store() -> Arc<dyn ReadStore> {
    static NONE: LazyLock<Arc<MemoryStore>> = LazyLock::new(Arc::default);
    Arc::<MemoryStore>::clone(&NONE)
}
