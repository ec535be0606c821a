//! A frame assembled from pieces, for reading: a repair makes it of a damaged frame.

use super::FileId;
use super::ReadStore;
use crate::error::Result;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Bytes before and behind those of another store, and chunk files beside its own.
#[derive(Debug, Clone)]
pub(crate) struct Pieced {
    pub(crate) front: Vec<u8>,
    pub(crate) source: Arc<dyn ReadStore>,
    /// How much of the source's frame file stands between front and back.
    pub(crate) middle: u64,
    pub(crate) back: Arc<Vec<u8>>,
    /// Chunk files that replace those of the source, or are added to them.
    pub(crate) files: Arc<BTreeMap<u32, Vec<u8>>>,
}

impl ReadStore for Pieced {
    fn len(&self, file: FileId) -> Result<u64> {
        match file {
            FileId::Frame => {
                let ends = self.front.len().saturating_add(self.back.len()) as u64;
                Ok(self.middle.saturating_add(ends))
            }
            FileId::Chunk(n) => match self.files.get(&n) {
                Some(bytes) => Ok(bytes.len() as u64),
                None => self.source.len(file),
            },
        }
    }
    fn read_at(&self, file: FileId, offset: u64, buf: &mut [u8]) -> Result<()> {
        if let FileId::Chunk(n) = file {
            return match self.files.get(&n) {
                Some(bytes) => super::copy_out(bytes, offset, buf),
                None => self.source.read_at(file, offset, buf),
            };
        }
        let middle = self.front.len() as u64;
        let back = middle.saturating_add(self.middle);
        let until =
            |end: u64| usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX).min(buf.len());
        let (first, last) = (until(middle), until(back));
        let (rest, in_back) = buf.split_at_mut(last);
        let (in_front, in_middle) = rest.split_at_mut(first.min(last));
        if !in_front.is_empty() {
            super::copy_out(&self.front, offset, in_front)?;
        }
        if !in_middle.is_empty() {
            self.source.read_at(FileId::Frame, offset.max(middle) - middle, in_middle)?;
        }
        if !in_back.is_empty() {
            super::copy_out(&self.back, offset.max(back) - back, in_back)?;
        }
        Ok(())
    }
    fn path(&self) -> Option<&Path> {
        self.source.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::MemoryStore;

    #[test]
    fn every_range_reads_as_the_pieces_lie() {
        let source: Arc<dyn ReadStore> = Arc::new(MemoryStore::from_bytes(b"defgh".to_vec()));
        let files = Arc::new(BTreeMap::from([(7, b"xyz".to_vec())]));
        let pieced =
            Pieced { front: b"abc".to_vec(), source, middle: 4, back: Arc::new(b"ijk".to_vec()), files };
        let whole = b"abcdefgijk";
        assert_eq!(pieced.len(FileId::Frame).unwrap(), 10);
        for start in 0..=10 {
            for end in start..=10 {
                let mut found = vec![0; end - start];
                pieced.read_at(FileId::Frame, start as u64, &mut found).unwrap();
                assert_eq!(found, whole[start..end], "{start}..{end}");
            }
        }
        assert!(pieced.read_at(FileId::Frame, 9, &mut [0; 2]).is_err());
        let mut file = [0; 2];
        pieced.read_at(FileId::Chunk(7), 1, &mut file).unwrap();
        assert_eq!(&file, b"yz");
    }
}
