//! An array far away, read by a program that has a runtime.

use crate::location::Location;
use crate::opening::{self, Opened};
use crate::options::RemoteOptions;
use crate::pin::Pin;
use crate::schemes;
use crate::source::Source;
use b2nd::array::{ArraySnapshot, Reader};
use b2nd::{Array, Element, Error, Layout, Result, Selection};
use object_store::ObjectStore;
use object_store::path::Path;
use std::fmt;
use std::ops::Deref;
use std::path::Path as FilePath;
use std::sync::Arc;

/// An array far away: one state of it, read by ranges.
///
/// It is cheap to clone, and clones share the index. What is known without a request is asked of the [`Array`] that it
/// dereferences to: shape, dtype, chunks. That array has no store: its own methods that read return an error.
///
/// Reading runs on the runtime of the caller (tokio). Decoding runs on its threads for blocking work, so that no other task waits
/// for it. A read that is dropped ends its requests.
#[derive(Clone)]
pub struct AsyncArray {
    pub(crate) source: Arc<Source>,
    array: ArraySnapshot,
}

impl Deref for AsyncArray {
    type Target = Array;
    fn deref(&self) -> &Array {
        &self.array
    }
}

impl AsyncArray {
    /// Opens the array at a path of a store: one wave of two requests, of at most 68 KiB.
    ///
    /// Where the store cannot read the last bytes of an object, or the header is long, another wave follows; a sparse frame that
    /// is not said to be one takes one wave more.
    ///
    /// # Errors
    /// [`Error::Io`] with a [`RemoteError`](crate::RemoteError) when it cannot be fetched; [`Error::Format`] when it is damaged or
    /// no array; [`Error::Usage`] when a change of it could not be noticed (see [`Pin`]).
    pub async fn open(
        store: Arc<dyn ObjectStore>,
        path: impl Into<Path>,
        options: &RemoteOptions,
    ) -> Result<Self> {
        Self::open_at(&Location::new(store, path), options).await
    }

    /// Opens the array at a location, which may be a part of an object.
    ///
    /// # Errors
    /// As [`AsyncArray::open`].
    pub async fn open_at(location: &Location, options: &RemoteOptions) -> Result<Self> {
        let Opened { source, array, .. } = opening::open(location, options).await?;
        Ok(AsyncArray { source: Arc::new(source), array })
    }

    /// Opens the array at a URL: `http(s)://`, `s3://`, `gs://`, `az://`, `file://`, as the features of this crate have it.
    ///
    /// Credentials come from the usual environment variables and from [`RemoteOptions::with_store_option`].
    ///
    /// # Errors
    /// As [`AsyncArray::open`]; [`Error::Usage`] for a URL that this build cannot read.
    pub async fn open_url(url: &str, options: &RemoteOptions) -> Result<Self> {
        let (location, options) = schemes::location(url, options)?;
        Self::open_at(&location, &options).await
    }

    /// Reads a selection as bytes: C order, the dtype's own byte order.
    ///
    /// # Errors
    /// As [`Array::read_bytes`]; [`Error::Io`] with a [`RemoteError`](crate::RemoteError) when something cannot be fetched;
    /// [`Error::Changed`] when the object was replaced since it was opened.
    pub async fn read_bytes(&self, selection: impl Into<Selection>) -> Result<Vec<u8>> {
        self.run(self.array.reader(selection)?).await?.finish()
    }

    /// Reads a selection into items of a Rust type, C order; the shape is [`Array::selection_shape`].
    ///
    /// # Errors
    /// As [`AsyncArray::read_bytes`]; [`Error::DtypeMismatch`] when `T` does not stand for the dtype.
    pub async fn read_items<T: Element>(&self, selection: impl Into<Selection>) -> Result<Vec<T>> {
        // Before anything is fetched.
        self.array.items_of::<T>(&[])?;
        let bytes = self.read_bytes(selection).await?;
        self.array.items_of(&bytes)
    }

    /// Reads a selection into an array of the crate `ndarray`.
    ///
    /// # Errors
    /// As [`AsyncArray::read_items`].
    #[cfg(feature = "ndarray")]
    pub async fn read<T: Element>(&self, selection: impl Into<Selection>) -> Result<ndarray::ArrayD<T>> {
        let selection = selection.into();
        let shape = self.array.selection_shape(selection.clone())?;
        let items = self.read_items(selection).await?;
        let shape: Vec<usize> = shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
        ndarray::ArrayD::from_shape_vec(shape, items)
            .map_err(|_| Error::State("the result of a read has another shape than its selection".to_owned()))
    }

    /// Reads a selection into a slice of exactly its size, C order.
    ///
    /// # Errors
    /// As [`AsyncArray::read_items`], and [`Error::Usage`] when the slice has another length.
    pub async fn read_into<T: Element>(&self, selection: impl Into<Selection>, out: &mut [T]) -> Result<()> {
        let selection = selection.into();
        let items: u64 = self.array.selection_shape(selection.clone())?.iter().product();
        if items != out.len() as u64 {
            let message = format!("{} items of memory for a selection of {items}", out.len());
            return Err(Error::Usage(message));
        }
        out.copy_from_slice(&self.read_items::<T>(selection).await?);
        Ok(())
    }

    /// Reads several selections in one set of waves, each as [`AsyncArray::read_bytes`] gives it. Chunks that they share are
    /// fetched once.
    ///
    /// # Errors
    /// As [`AsyncArray::read_bytes`].
    pub async fn read_boxes(
        &self,
        selections: impl IntoIterator<Item = impl Into<Selection>>,
    ) -> Result<Vec<Vec<u8>>> {
        self.run(self.array.reader_of(selections)?).await?.finish_each()
    }

    /// Loads index, attributes and checksums, so that [`Array::attrs`] and its like can be asked of the array itself.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// use b2nd::{Dtype, Options};
    /// use b2nd_remote::{AsyncArray, RemoteOptions};
    /// use object_store::{ObjectStoreExt, memory::InMemory, path::Path};
    /// use std::sync::Arc;
    /// let store = Arc::new(InMemory::new());
    /// let array = Options::new().with_attr("unit", "K").create_in_memory(Dtype::of::<f32>(), [10])?;
    /// store.put(&Path::from("a.b2nd"), array.to_bytes()?.into()).await?;
    ///
    /// let far = AsyncArray::open(store, "a.b2nd", &RemoteOptions::new()).await?;
    /// far.load_index().await?;
    /// assert_eq!(far.attrs()?.get("unit")?, Some("K".into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`AsyncArray::read_bytes`].
    pub async fn load_index(&self) -> Result<()> {
        let none: [Selection; 0] = [];
        self.run(self.array.reader_of(none)?).await.map(|_| ())
    }

    /// Fetches what a reader asks for until it is done.
    pub(crate) async fn run(&self, reader: Reader) -> Result<Reader> {
        let at = FilePath::new(self.source.fetcher.location().shown());
        self.source.drive(reader).await.map_err(|error| error.at_path(at))
    }

    /// Opens the array anew where the object was replaced; whether it was.
    ///
    /// # Errors
    /// As [`AsyncArray::open`]. After an error the array is what it was.
    pub async fn refresh(&mut self) -> Result<bool> {
        let fetcher = &self.source.fetcher;
        let options = fetcher.options().clone().with_layout(self.source.layout);
        let Opened { source, array, .. } = opening::open(fetcher.location(), &options).await?;
        let changed = source.pin != self.source.pin;
        if changed {
            (self.source, self.array) = (Arc::new(source), array);
        }
        Ok(changed)
    }

    /// Where the frame lies.
    pub fn location(&self) -> &Location {
        self.source.fetcher.location()
    }
    /// The version that is read, and how others are told from it.
    pub fn pin(&self) -> &Pin {
        &self.source.pin
    }
    /// Contiguous or sparse.
    pub fn layout(&self) -> Layout {
        self.source.layout
    }
    /// How fast the store is, as far as was measured or given.
    pub fn pace(&self) -> crate::StorePace {
        self.source.fetcher.pace()
    }
    /// The state that is open, to plan reads of one's own.
    pub fn snapshot(&self) -> &ArraySnapshot {
        &self.array
    }
}

impl fmt::Debug for AsyncArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncArray")
            .field("location", self.location())
            .field("shape", &self.array.shape())
            .field("dtype", &self.array.dtype().to_string())
            .field("pin", self.pin())
            .finish()
    }
}
