//! Offsets, vlmetalayers and checksums of a frame, loaded when one of them is first needed.

use super::digests::Digests;
use super::drive::{drive_behind, header_of, parse_behind, part};
use super::frame_options::FrameOptions;
use super::snapshot::FrameState;
use crate::error::{Error, Result};
use crate::exec::ForkMutex;
use crate::frame::{FrameHeader, FrameIndex, FrameParser, Offsets, Trailer};
use crate::io::{FileId, Pieces, ReadStore};
use crate::limits::Limits;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Offsets, vlmetalayers and checksums of one state of a frame.
#[derive(Debug, Clone, Default)]
pub(super) struct Catalog {
    pub(super) offsets: Arc<Offsets>,
    pub(super) trailer: Arc<Trailer>,
    pub(super) digests: Arc<Digests>,
}

impl Catalog {
    /// Makes a catalog of the parsed index and trailer, and checks them by their checksums.
    ///
    /// # Errors
    /// [`Error::Format`] when header, offsets or trailer do not match their checksums, unless the options leave checks out.
    fn new(index: FrameIndex, options: &FrameOptions) -> Result<Self> {
        let digests = Arc::new(Digests::open(&index, options)?);
        Ok(Catalog { offsets: Arc::new(index.offsets), trailer: Arc::new(index.trailer), digests })
    }
}

/// The catalog of a snapshot: there, or still in the file.
#[derive(Debug, Clone, Default)]
pub(super) struct CatalogState {
    own: Option<Catalog>,
    /// Loaded once, for all clones of the snapshot.
    lazy: Option<Arc<LazyCatalog>>,
}

/// A catalog that is loaded on first use.
#[derive(Debug)]
pub(super) struct LazyCatalog {
    loaded: OnceLock<Catalog>,
    /// Held while it is loaded, so that threads do not load it at the same time.
    loading: ForkMutex<()>,
    trailer_start: u64,
    options: FrameOptions,
}

impl CatalogState {
    /// The catalog of a frame of which all was parsed.
    pub(super) fn of(index: FrameIndex, options: &FrameOptions) -> Result<Self> {
        Catalog::new(index, options).map(CatalogState::from)
    }
    /// A catalog that is still in the file, whose trailer starts at `trailer_start`.
    pub(super) fn lazy(trailer_start: u64, options: &FrameOptions) -> Self {
        let options = options.clone();
        let lazy =
            LazyCatalog { loaded: OnceLock::new(), loading: ForkMutex::default(), trailer_start, options };
        CatalogState { own: None, lazy: Some(Arc::new(lazy)) }
    }
    /// The catalog, if it is loaded.
    pub(super) fn loaded(&self) -> Option<&Catalog> {
        self.own.as_ref().or_else(|| self.lazy.as_ref()?.loaded.get())
    }
    /// What the caller said about writing checksums, and whether reads are checked by them.
    pub(super) fn checking(&self) -> (Option<bool>, bool) {
        match (self.loaded(), &self.lazy) {
            (Some(catalog), _) => (catalog.digests.asked, catalog.digests.check),
            (None, Some(lazy)) => (lazy.options.checksums, lazy.options.checks()),
            (None, None) => (None, true),
        }
    }
    /// The catalog, to be changed by a writer, which has loaded it.
    pub(super) fn own_mut(&mut self) -> &mut Catalog {
        if self.own.is_none() {
            debug_assert!(self.loaded().is_some(), "a writer loads the catalog before it changes it");
            self.own = self.loaded().cloned();
        }
        self.own.get_or_insert_default()
    }
}

impl From<Catalog> for CatalogState {
    fn from(catalog: Catalog) -> Self {
        CatalogState { own: Some(catalog), lazy: None }
    }
}

impl LazyCatalog {
    fn load(&self, store: &dyn ReadStore, header: &FrameHeader) -> Result<&Catalog> {
        // A forked child that inherited the lock as taken loads the catalog all the same.
        let _guard = self.loading.lock();
        if let Some(catalog) = self.loaded.get() {
            return Ok(catalog);
        }
        let read = || {
            // Uses the header that was opened: the file may have another one now, but what the old one refers to
            // still exists.
            let index = drive_behind(store, header.clone(), &self.options.limits)?;
            Catalog::new(index, &self.options)
        };
        // A writer without locks may have overwritten it.
        let catalog = read().map_err(|error| match is_replaced(store, header) {
            true => Error::changed("changed it"),
            false => error,
        })?;
        Ok(self.loaded.get_or_init(|| catalog))
    }
}

/// Whether the header in the file differs from the one that was read.
fn is_replaced(store: &dyn ReadStore, header: &FrameHeader) -> bool {
    header_of(store, header.len()).is_ok_and(|found| found != header.bytes())
}

impl FrameState {
    /// Offsets, vlmetalayers and checksums; read from the store at the first call.
    ///
    /// # Errors
    /// [`Error::Format`] when they are damaged, [`Error::Changed`] when another writer has replaced them.
    pub(super) fn catalog(&self) -> Result<&Catalog> {
        match (self.catalog.loaded(), &self.catalog.lazy) {
            (Some(catalog), _) => Ok(catalog),
            (None, Some(lazy)) => {
                lazy.load(self.store.as_ref(), &self.header).map_err(|error| self.located(error))
            }
            (None, None) => Err(Error::usage("the frame has no index")),
        }
    }
    /// The bytes of the frame file that the catalog needs besides those in `pieces`, and takes it from there for all clones of
    /// the snapshot once none are missing.
    ///
    /// The first answer is the index and the trailer; of a long trailer the start, without the segments of the checksums. Further
    /// answers are what those turn out to lack.
    ///
    /// # Errors
    /// [`Error::Limit`] when they are more than the limits allow; [`Error::Format`] when they are damaged.
    pub(crate) fn missing_catalog(&self, pieces: &Pieces) -> Result<Vec<Range<u64>>> {
        let (None, Some(lazy)) = (self.catalog.loaded(), &self.catalog.lazy) else { return Ok(Vec::new()) };
        let find = |range: &Range<u64>| {
            pieces.find(range).or_else(|| self.store.slice(FileId::Frame, range.clone()))
        };
        let header = FrameHeader::clone(&self.header);
        let missing = match parse_behind(find, header, &lazy.options.limits)? {
            Ok(index) => {
                let catalog = Catalog::new(index, &lazy.options)?;
                lazy.loaded.get_or_init(|| catalog);
                return Ok(Vec::new());
            }
            Err(range) if !pieces.is_empty() => vec![range],
            Err(_) => {
                let mut ranges = FrameParser::ranges_behind(&self.header, lazy.trailer_start);
                ranges.retain(|range| find(range).is_none());
                ranges
            }
        };
        let bytes = missing.iter().map(|range| range.end.saturating_sub(range.start));
        let most = self.limits().max_index_bytes().saturating_add(self.limits().max_meta_bytes());
        Limits::check("index and trailer", bytes.fold(0, u64::saturating_add), most)?;
        Ok(missing)
    }
    /// The segment of the checksums that has those of chunk `n` and its place in the frame file, unless it is at hand or not asked
    /// for.
    pub(crate) fn missing_segment(&self, n: u64) -> Result<Option<(usize, Range<u64>)>> {
        let catalog = self.catalog()?;
        if !catalog.digests.check {
            return Ok(None);
        }
        let raw = catalog.offsets.raw(n)?;
        Ok(catalog
            .digests
            .missing_segment(n, raw)
            .map(|(at, range)| (at, self.segment_range(catalog, range))))
    }
    fn segment_range(&self, catalog: &Catalog, range: Range<usize>) -> Range<u64> {
        let start = catalog.trailer.layer_start(self.header.frame_len()).unwrap_or(u64::MAX);
        start.saturating_add(range.start as u64)..start.saturating_add(range.end as u64)
    }
    /// Takes the segment that [`FrameState::missing_segment`] named, for all clones of the snapshot.
    pub(crate) fn supply_segment(&self, at: usize, bytes: &[u8]) -> Result<()> {
        self.digests()?.supply_segment(at, bytes)
    }
    /// Reads the segment of the checksums that has those of chunk `n`, unless it is at hand.
    pub(super) fn fetch_segment(&self, n: u64, raw: i64) -> Result<()> {
        let catalog = self.catalog()?;
        let Some((at, range)) = catalog.digests.missing_segment(n, raw) else { return Ok(()) };
        let range = self.segment_range(catalog, range);
        let mut buffer = Vec::new();
        let len = range.end.saturating_sub(range.start);
        let bytes = part(self.store.as_ref(), range.start, len, &mut buffer)?;
        // A writer without locks may have overwritten it.
        let taken = catalog.digests.supply_segment(at, bytes);
        taken.map_err(|error| match is_replaced(self.store.as_ref(), &self.header) {
            true => Error::changed("changed it"),
            false => error,
        })
    }
    /// The offsets of the chunks.
    pub(super) fn offsets(&self) -> Result<&Arc<Offsets>> {
        self.catalog().map(|catalog| &catalog.offsets)
    }
    /// The vlmetalayers.
    pub(super) fn trailer(&self) -> Result<&Arc<Trailer>> {
        self.catalog().map(|catalog| &catalog.trailer)
    }
    /// The checksums.
    pub(super) fn digests(&self) -> Result<&Arc<Digests>> {
        self.catalog().map(|catalog| &catalog.digests)
    }
}

#[cfg(test)]
mod tests {
    use crate::Params;
    use crate::schunk::{CreateOptions, SChunk};
    use std::sync::Arc;

    #[test]
    fn a_forked_child_that_inherits_the_lock_loads_the_catalog() {
        let path = std::env::temp_dir().join(format!("b2nd-forked-catalog-{}", std::process::id()));
        CreateOptions::new(Params::new(1)).create_with(&path, |t| t.append(b"items")).unwrap();
        let mut schunk = SChunk::open(&path, &crate::schunk::OpenOptions::new()).unwrap();
        let lazy = schunk.state.catalog.lazy.as_mut().unwrap();
        Arc::get_mut(lazy).unwrap().loading.pretend_forked();
        let lazy = Arc::clone(lazy);
        let held = lazy.loading.lock();
        std::thread::scope(|scope| {
            let read = scope.spawn(|| schunk.decompress_chunk(0).unwrap());
            assert_eq!(read.join().unwrap(), b"items");
        });
        assert!(held.is_some() && lazy.loaded.get().is_some());
        std::fs::remove_file(&path).unwrap();
    }
}
