//! Where a frame lies: a store, a path in it, and perhaps a part of that object.

use crate::shown::shown_url;
use b2nd::io::FileId;
use object_store::ObjectStore;
use object_store::path::Path;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use url::Url;

/// Where a frame lies: a store, the path of an object in it, and perhaps a part of that object.
///
/// A contiguous frame is an object, or a part of one, as inside an archive that does not compress it. A sparse frame is all
/// objects below its path.
///
/// ```
/// use b2nd_remote::Location;
/// use std::sync::Arc;
/// let store = Arc::new(object_store::memory::InMemory::new());
/// let inside = Location::new(store, "archive.zip").with_part(512, Some(9000));
/// assert_eq!(inside.to_string(), "archive.zip, from byte 512 on");
/// ```
#[derive(Clone)]
pub struct Location {
    store: Arc<dyn ObjectStore>,
    path: Path,
    offset: u64,
    len: Option<u64>,
    /// The URL without secrets, or the path.
    shown: String,
}

impl Location {
    /// The object or the sparse frame at a path of a store.
    pub fn new(store: Arc<dyn ObjectStore>, path: impl Into<Path>) -> Self {
        let path = path.into();
        let shown = path.to_string();
        Location { store, path, offset: 0, len: None, shown }
    }
    /// The same, shown as this URL.
    pub(crate) fn shown_as(mut self, url: &Url) -> Self {
        self.shown = shown_url(url);
        self
    }
    /// The frame starts `offset` bytes into the object, and has at most `len` bytes where that is known.
    #[must_use]
    pub fn with_part(mut self, offset: u64, len: Option<u64>) -> Self {
        (self.offset, self.len) = (offset, len);
        self
    }
    /// The store.
    pub fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }
    /// The path in the store.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// Where the frame starts in the object.
    pub fn offset(&self) -> u64 {
        self.offset
    }
    /// The most bytes that the frame has, where that was given.
    pub fn len(&self) -> Option<u64> {
        self.len
    }
    /// Whether the frame is known to have no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == Some(0)
    }
    /// The path of a file of a sparse frame.
    pub(crate) fn file_of_sparse(&self, file: FileId) -> Path {
        self.path.clone().join(file.name())
    }
    /// A range of the frame, counted from the start of the object.
    pub(crate) fn in_object(&self, range: &Range<u64>) -> Range<u64> {
        range.start.saturating_add(self.offset)..range.end.saturating_add(self.offset)
    }
    /// The object in words, without secrets.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }
    /// A file of a sparse frame in words, without secrets.
    pub(crate) fn shown_file(&self, file: FileId) -> String {
        let (main, query) = self.shown.split_once('?').map_or((&*self.shown, None), |(a, b)| (a, Some(b)));
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}/{}{query}", main.trim_end_matches('/'), file.name())
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            0 => f.write_str(&self.shown),
            offset => write!(f, "{}, from byte {offset} on", self.shown),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The store may hold secrets.
        write!(f, "Location({self})")
    }
}
