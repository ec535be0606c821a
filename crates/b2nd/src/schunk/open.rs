//! Opening a frame, wherever it is: files, memory that is owned, shared or borrowed, a store of the caller's.

use super::foreign::PATIENCE;
use super::frames;
use super::handle::SChunk;
use super::options::OpenOptions;
use crate::error::{Error, Fault, Result};
use crate::frame::Layout;
use crate::io;
use crate::io::{MemoryStore, OpenedStore, Opening, Owner, ReadStore, WriteStore};
use b2nd_kernel::lend::lend;
use std::path::Path;
use std::sync::Arc;

/// How often a sparse frame that changes while it is opened is opened again.
const ATTEMPTS: u32 = 100;

/// Whether an error may come from reading a half-written state.
fn may_be_torn(error: &Error) -> bool {
    matches!(error.fault(), Fault::File | Fault::Limit)
        || matches!(error, Error::Changed { .. } | Error::Io { .. })
}

impl SChunk {
    /// Opens a contiguous frame (a file) or a sparse one (a directory).
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be read; [`Error::Format`] when it is damaged or no frame; [`Error::NotFound`] or
    /// [`Error::OutOfBounds`] when the options ask for a place that is not there; [`Error::Usage`] to write where
    /// something follows in the file; [`Error::Locked`] to write where another has it open for that, and where
    /// C-Blosc2's lock does not become free.
    pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let path = path.as_ref();
        let owner = match options.write && options.common.owner_lock() && !options.mmap {
            true => Some(Arc::new(Owner::of_existing(path)?)),
            false => None,
        };
        Self::open_owned(path, options, owner.as_ref())
    }

    /// Like [`SChunk::open`], for a caller that already has the owner lock if one is needed.
    ///
    /// If another program changes a sparse frame meanwhile, opens it again.
    pub(super) fn open_owned(path: &Path, options: &OpenOptions, owner: Option<&Arc<Owner>>) -> Result<Self> {
        for _ in 0..ATTEMPTS {
            let before = io::Stamp::of(path);
            match Self::open_once(path, options, owner.cloned()) {
                Err(error) if may_be_torn(&error) && before.is_some() && before != io::Stamp::of(path) => {}
                opened => return opened,
            }
        }
        Err(Error::changed("changed it").at_path(path))
    }

    fn open_once(path: &Path, options: &OpenOptions, owner: Option<Arc<Owner>>) -> Result<Self> {
        let opening = |offset| Opening { write: options.write, offset, mmap: options.mmap };
        let (mut store, layout) = io::open(path, opening(options.offset))?;
        if layout == Layout::Sparse && options.frame.is_some() {
            let shown = path.display();
            return Err(Error::usage(format!(
                "{shown}: a sparse frame is a directory, not a file of frames"
            )));
        }
        // While C-Blosc2 changes it in its place, a frame is not whole.
        let patience = options.common.lock_patience.unwrap_or(PATIENCE);
        let peer_lock = io::LockFile::find(path, layout, options.common.b2lock, false, patience)?;
        let _shared = peer_lock.as_ref().map(io::LockFile::shared).transpose()?;
        let found = frames::resolve(store.as_read(), options).map_err(|error| error.at_path(path))?;
        if found.offset != options.offset {
            store = io::open(path, opening(found.offset))?.0;
        }
        let mut schunk = Self::load(store, layout, &found).map_err(|error| error.at_path(path))?;
        schunk.writer.opening = Some(opening(found.offset));
        schunk.writer.locks.owner = owner;
        if options.write {
            schunk.note_tail();
        }
        Ok(schunk)
    }

    /// Opens a contiguous frame in memory; bytes past the end of the frame are ignored.
    ///
    /// ```
    /// use b2nd::{OpenOptions, SChunk};
    /// let error = SChunk::from_bytes(vec![0; 100], &OpenOptions::new()).unwrap_err();
    /// assert_eq!(error.fault(), b2nd::Fault::File);
    /// ```
    ///
    /// # Errors
    /// As [`SChunk::open`].
    pub fn from_bytes(bytes: Vec<u8>, options: &OpenOptions) -> Result<Self> {
        Self::in_memory(MemoryStore::from_bytes(bytes), options)
    }

    /// Opens a contiguous frame in memory that is shared: `Arc<[u8]>`, `&'static [u8]`, a mapped file of the caller's, the
    /// bytes of any crate. Nothing is copied; what is written is kept beside them.
    ///
    /// ```
    /// use b2nd::{Dtype, OpenOptions, Options, SChunk};
    /// use std::sync::Arc;
    /// let array = Options::new().create_in_memory(Dtype::parse("<i4")?, [1000])?;
    /// let bytes: Arc<[u8]> = array.to_bytes()?.into();
    /// let frame = SChunk::from_shared(Arc::clone(&bytes), &OpenOptions::new())?;
    /// assert_eq!(frame.nbytes(), 4000);
    /// assert_eq!(Arc::strong_count(&bytes), 2); // it reads these
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SChunk::open`].
    pub fn from_shared(
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
        options: &OpenOptions,
    ) -> Result<Self> {
        Self::in_memory(MemoryStore::shared(bytes), options)
    }

    /// Opens a contiguous frame in borrowed bytes for the time of a call, without a copy. For reading only.
    ///
    /// A frame that lived as long as its bytes would put a lifetime into the type of every frame and array; so it lives
    /// inside `reader`. Where the bytes can be owned or shared, see [`SChunk::from_bytes`] and [`SChunk::from_shared`].
    ///
    /// ```
    /// use b2nd::{Dtype, OpenOptions, Options, SChunk};
    /// let bytes = Options::new().create_in_memory(Dtype::parse("<i4")?, [1000])?.to_bytes()?;
    /// let nbytes = SChunk::with_borrowed(&bytes, &OpenOptions::new(), |frame| Ok(frame.nbytes()))?;
    /// assert_eq!(nbytes, 4000);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SChunk::open`]; [`Error::Usage`] when the options ask for writing; what `reader` returns.
    pub fn with_borrowed<R>(
        bytes: &[u8],
        options: &OpenOptions,
        reader: impl FnOnce(&SChunk) -> Result<R>,
    ) -> Result<R> {
        Self::lent(bytes, options, |schunk| reader(&schunk))
    }

    /// As [`SChunk::with_borrowed`]; `reader` must drop what it is given, or the process ends.
    pub(crate) fn lent<R>(
        bytes: &[u8],
        options: &OpenOptions,
        reader: impl FnOnce(SChunk) -> Result<R>,
    ) -> Result<R> {
        if options.write {
            return Err(Error::usage("borrowed bytes are read-only: give owned or shared bytes to write"));
        }
        lend(bytes, |lent| {
            let mut schunk = Self::in_memory(MemoryStore::shared(lent), options)?;
            schunk.writer.lent = true;
            reader(schunk)
        })
    }

    fn in_memory(store: MemoryStore, options: &OpenOptions) -> Result<Self> {
        if options.mmap {
            return Err(Error::usage(
                "only files can be mapped into memory, and this frame is in memory already",
            ));
        }
        let store = store.at(options.offset)?;
        let found = frames::resolve(&store, options)?;
        Self::load(OpenedStore::Write(Box::new(store.at(found.offset)?)), Layout::Contiguous, &found)
    }

    /// Opens a frame in a [`ReadStore`] of the caller's, for reading.
    ///
    /// Where the frame starts is the store's business: offset, number and mapping of `options` have no place here.
    ///
    /// ```
    /// use b2nd::io::{FileId, ReadStore};
    /// use b2nd::{Dtype, Error, Layout, OpenOptions, Options, Result, SChunk};
    /// use std::sync::Arc;
    ///
    /// /// Bytes behind a web server, say: here they are only counted.
    /// #[derive(Debug)]
    /// struct Remote(Vec<u8>);
    ///
    /// impl ReadStore for Remote {
    ///     fn len(&self, _: FileId) -> Result<u64> {
    ///         Ok(self.0.len() as u64)
    ///     }
    ///     fn read_at(&self, _: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
    ///         let found = self.0.get(offset as usize..).and_then(|rest| rest.get(..buf.len()));
    ///         let gone = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into();
    ///         let failed = |source| Error::Io { action: "cannot fetch", path: None, source };
    ///         buf.copy_from_slice(found.ok_or_else(gone).map_err(failed)?);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let bytes = Options::new().create_in_memory(Dtype::parse("<i4")?, [1000])?.to_bytes()?;
    /// let frame = SChunk::open_store(Arc::new(Remote(bytes)), Layout::Contiguous, &OpenOptions::new())?;
    /// assert_eq!(frame.nbytes(), 4000);
    /// let array = b2nd::Array::from_schunk(frame)?;
    /// assert_eq!(array.shape(), [1000]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SChunk::open`], and what the store returns; [`Error::Usage`] when the options ask for writing.
    pub fn open_store(store: Arc<dyn ReadStore>, layout: Layout, options: &OpenOptions) -> Result<Self> {
        if options.write {
            return Err(Error::usage("this store is read-only: to write, open one with open_store_mut"));
        }
        Self::open_opened(OpenedStore::Read(store), layout, options)
    }

    /// Opens a frame in a [`WriteStore`] of the caller's, for writing too where the options say so.
    ///
    /// # Errors
    /// As [`SChunk::open_store`].
    pub fn open_store_mut(store: Box<dyn WriteStore>, layout: Layout, options: &OpenOptions) -> Result<Self> {
        Self::open_opened(OpenedStore::Write(store), layout, options)
    }

    fn open_opened(store: OpenedStore, layout: Layout, options: &OpenOptions) -> Result<Self> {
        if options.offset > 0 || options.frame.is_some() || options.mmap {
            return Err(Error::usage(
                "the frame of a store starts at its first byte: leave out offset, frame number and mapping",
            ));
        }
        let path = store.as_read().path().map(Path::to_path_buf);
        Self::load(store, layout, options).map_err(|error| error.at(path.as_deref()))
    }
}
