//! A frame whose header is torn, read as if the old header were still there.

use super::FileId;
use super::{RangeCosts, ReadStore};
use crate::error::Result;
use std::path::Path;
use std::sync::Arc;

/// A store with another header than the one that is there, for reading.
#[derive(Debug)]
pub(crate) struct Mended {
    store: Arc<dyn ReadStore>,
    header: Vec<u8>,
}

impl Mended {
    /// The same frame with this header.
    pub(crate) fn new(store: Arc<dyn ReadStore>, header: Vec<u8>) -> Self {
        Mended { store, header }
    }
}

/// Puts the bytes of a header in the place of those that were read from `offset` on.
pub(crate) fn mend(header: &[u8], offset: u64, buf: &mut [u8]) {
    let rest = usize::try_from(offset).ok().and_then(|offset| header.get(offset..)).unwrap_or_default();
    buf.iter_mut().zip(rest).for_each(|(byte, old)| *byte = *old);
}

impl ReadStore for Mended {
    fn len(&self, file: FileId) -> Result<u64> {
        self.store.len(file)
    }
    fn start(&self) -> u64 {
        self.store.start()
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.store.read_at(file, offset, buf)?;
        if file == FileId::Frame {
            mend(&self.header, offset, buf);
        }
        Ok(())
    }
    fn reads_ahead(&self) -> bool {
        self.store.reads_ahead()
    }
    fn will_read(&self, file: FileId, offset: u64, len: u64) {
        self.store.will_read(file, offset, len);
    }
    fn range_costs(&self) -> RangeCosts {
        self.store.range_costs()
    }
    fn path(&self) -> Option<&Path> {
        self.store.path()
    }
}
