//! What is known about each chunk without decompressing it, and all chunks in turn.

use super::snapshot::{FrameState, Place};
use crate::chunk::{ChunkHeader, Special};
use crate::error::Result;
use crate::frame::plan::FileId;

/// Where the bytes of a chunk are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChunkPlace {
    /// Not stored: the index says what the chunk contains.
    Index,
    /// In the file of the frame, this many bytes from its start.
    Offset(u64),
    /// In the chunk file of this number, of a sparse frame.
    File(u32),
}

/// What is known about a chunk without decompressing it; see [`FrameState::chunk_info`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkInfo {
    /// The number of the chunk in the frame.
    pub number: u64,
    /// Uncompressed bytes.
    pub nbytes: u32,
    /// Compressed bytes, the header included; 0 for a chunk that is nowhere.
    pub cbytes: u32,
    /// Uncompressed bytes of a block; `None` where blocks differ in size or there are none.
    pub blocksize: Option<u32>,
    /// The value of all items, if the chunk is a special chunk.
    pub special: Option<Special>,
    /// Where the chunk is stored.
    pub place: ChunkPlace,
}

impl ChunkInfo {
    /// Uncompressed bytes divided by compressed bytes; infinite for a chunk that is not stored.
    pub fn ratio(&self) -> f64 {
        f64::from(self.nbytes) / f64::from(self.cbytes)
    }
}

impl FrameState {
    /// What is known about chunk `n` without decompressing it; reads its header.
    ///
    /// ```
    /// use b2nd::Params;
    /// use b2nd::chunk::Special;
    /// use b2nd::schunk::{ChunkPlace, CreateOptions};
    /// let mut schunk = CreateOptions::new(Params::new(1)).with_chunksize(100).create_in_memory()?;
    /// schunk.fill(Special::Zeros, &[], 100)?;
    /// schunk.append(&[7; 100])?;
    /// let info = schunk.chunk_infos().collect::<b2nd::Result<Vec<_>>>()?;
    /// assert_eq!((info[0].special, info[0].place), (Some(Special::Zeros), ChunkPlace::Index));
    /// assert!(info[1].ratio() > 1.5 && info[1].cbytes < 100);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfBounds`](crate::Error::OutOfBounds) where there is no such chunk;
    /// [`Error::Format`](crate::Error::Format) when its offset or header is damaged.
    pub fn chunk_info(&self, n: u64) -> Result<ChunkInfo> {
        let place = self.place(n)?;
        match place {
            Place::Special(kind) => Ok(ChunkInfo {
                number: n,
                nbytes: self.nbytes_of_chunk(n)?,
                cbytes: 0,
                blocksize: None,
                special: Some(kind),
                place: ChunkPlace::Index,
            }),
            Place::Stored { file, offset, .. } => {
                let header = self.chunk_header(n, place)?;
                Ok(ChunkInfo {
                    number: n,
                    nbytes: header.nbytes(),
                    cbytes: header.cbytes(),
                    blocksize: Some(header.blocksize()).filter(|_| !header.is_variable()),
                    special: header.special(),
                    place: match file {
                        FileId::Frame => ChunkPlace::Offset(offset),
                        FileId::Chunk(number) => ChunkPlace::File(number),
                    },
                })
            }
        }
    }

    /// The names of the vlmetalayers and the lengths of their contents in bytes, in stored order; no length where the header of the
    /// content is damaged. Nothing is decompressed, so a length is what the file says.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) when the trailer is damaged, [`Error::Io`](crate::Error::Io) when it
    /// cannot be read.
    pub fn vlmetalayer_lengths(&self) -> Result<impl Iterator<Item = (&str, Option<u64>)>> {
        Ok(self.trailer()?.entries().map(|(name, stored)| {
            let header = ChunkHeader::parse(stored).ok();
            let whole = header.filter(|header| u64::from(header.cbytes()) == stored.len() as u64);
            (name.text(), whole.map(|header| u64::from(header.nbytes())))
        }))
    }

    /// [`FrameState::chunk_info`] of all chunks in turn.
    pub fn chunk_infos(&self) -> impl Iterator<Item = Result<ChunkInfo>> {
        (0..self.nchunks()).map(|n| self.chunk_info(n))
    }

    /// Iterates over all chunks, decompressed.
    ///
    /// ```
    /// use b2nd::Params;
    /// use b2nd::schunk::CreateOptions;
    /// let mut schunk = CreateOptions::new(Params::new(1)).with_chunksize(2).create_in_memory()?;
    /// schunk.extend(b"abcde")?;
    /// let chunks = schunk.decompressed_chunks().collect::<b2nd::Result<Vec<_>>>()?;
    /// assert_eq!(chunks, [b"ab".to_vec(), b"cd".to_vec(), b"e".to_vec()]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn decompressed_chunks(&self) -> impl Iterator<Item = Result<Vec<u8>>> {
        (0..self.nchunks()).map(|n| self.decompress_chunk(n))
    }
}
