//! What is damaged in a super-chunk, what another program has changed, and what cannot be told.

use super::handle::{Place, SChunk};
use crate::chunk;
use crate::error::{Error, Fault, Result};
use crate::frame::digests::State;

/// One damaged place, as [`SChunk::verify`] and [`Array::verify`](crate::Array::verify) find it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Damage {
    /// The number of the chunk.
    pub chunk: u64,
    /// The number of the block inside the chunk; `None` when nothing of the chunk can be read.
    pub block: Option<u32>,
    /// The first item of the array region that is lost, along each axis. Of a super-chunk that is no array: along its one row of
    /// items, or nothing where chunks differ in size.
    pub start: Vec<u64>,
    /// One past its last item, along each axis. Nothing is lost where it is not above `start` (padding).
    pub stop: Vec<u64>,
    /// What is wrong; [`FormatError::bytes`](crate::error::FormatError::bytes) has the bytes of the file where a checksum says so.
    pub error: Error,
}

/// What [`SChunk::verify`] and [`Array::verify`](crate::Array::verify) find.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Verified {
    /// What is damaged, in order.
    pub damage: Vec<Damage>,
    /// Chunks that do not match a checksum from before another program wrote to the frame, in order: its work, or damage.
    /// They can be decoded.
    pub stale: Vec<u64>,
    /// Stored chunks all of which matches its checksums.
    pub matching: u64,
    /// Stored chunks that no checksum tells anything about.
    pub unchecked: u64,
}

/// How a sound chunk stands to its checksums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Matching,
    Stale,
    Unchecked,
}

impl Verified {
    /// Whether nothing is damaged.
    pub fn is_sound(&self) -> bool {
        self.damage.is_empty()
    }
    /// Notes chunks that can be decoded.
    pub(crate) fn note(&mut self, standing: Standing, chunks: impl Iterator<Item = u64>) {
        match standing {
            Standing::Matching => self.matching = self.matching.saturating_add(chunks.count() as u64),
            Standing::Unchecked => self.unchecked = self.unchecked.saturating_add(chunks.count() as u64),
            Standing::Stale => self.stale.extend(chunks),
        }
    }
    pub(crate) fn sort(&mut self) {
        self.damage.sort_by_key(|damage| (damage.chunk, damage.block));
        self.stale.sort_unstable();
    }
}

impl SChunk {
    /// How chunk `n`, which reads have no fault to find with and whose bytes are `chunk`, stands to its checksums.
    pub(crate) fn standing(&self, n: u64, place: Place, chunk: &[u8]) -> Result<Standing> {
        Ok(match self.known_sums(n, place)? {
            // A read has checked it.
            Some((State::Sure, _)) if self.digests.check => Standing::Matching,
            Some((State::Doubtful, sums)) if sums.check_chunk(chunk).is_ok() => Standing::Matching,
            Some((State::Doubtful, _)) => Standing::Stale,
            _ => Standing::Unchecked,
        })
    }

    /// Decodes every chunk, and checks it where there are checksums.
    ///
    /// ```
    /// use b2nd::Params;
    /// use b2nd::schunk::{CreateOptions, OpenOptions, SChunk};
    /// let options = CreateOptions::new(Params::new(1)).with_checksums(true);
    /// let schunk = options.create_with(None, |t| t.append(b"what is kept"))?;
    /// let mut bytes = schunk.to_bytes()?;
    /// let at = bytes.windows(4).position(|w| w == b"kept").unwrap();
    /// bytes[at] ^= 1;
    /// let damaged = SChunk::from_bytes(bytes, &OpenOptions::new())?;
    /// let found = damaged.verify()?;
    /// assert_eq!((found.damage.len(), found.damage[0].chunk), (1, 0));
    /// assert!(damaged.decompress_chunk(0).is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// What is not the file's fault: [`Error::Cancelled`], [`Error::OutOfMemory`], [`Error::Limit`], and [`Error::Io`]
    /// unless a chunk file is missing or short.
    pub fn verify(&self) -> Result<Verified> {
        let mut found = Verified::default();
        for n in 0..self.nchunks() {
            self.exec.check_cancelled()?;
            match self.verify_chunk(n) {
                Ok(Some(standing)) => found.note(standing, std::iter::once(n)),
                Ok(None) => {}
                Err(error) if is_damage(&error) => {
                    let (start, stop) = self.items_of(n);
                    let block = match &error {
                        Error::Format(format) => format.block(),
                        _ => None,
                    };
                    found.damage.push(Damage { chunk: n, block, start, stop, error });
                }
                Err(error) => return Err(error),
            }
            self.exec.progress(u64::from(self.chunksize()));
        }
        Ok(found)
    }

    /// Decodes a chunk; `None` when it is only an offset.
    fn verify_chunk(&self, n: u64) -> Result<Option<Standing>> {
        let place = self.place(n)?;
        let Place::Stored { .. } = place else { return Ok(None) };
        let bytes = self.chunk(n)?;
        let decoded = chunk::decode(&bytes, &self.context, &self.exec.clone().without_progress());
        decoded.map_err(|error| self.located(error.in_chunk(n)))?;
        self.standing(n, place, &bytes).map(Some)
    }

    /// The items of a chunk, where all have the same size.
    pub(crate) fn items_of(&self, n: u64) -> (Vec<u64>, Vec<u64>) {
        let (size, typesize) = (u64::from(self.chunksize()), u64::from(self.header.params().typesize()));
        let start = n.saturating_mul(size) / typesize;
        let stop = start.saturating_add(size / typesize).min(self.nitems());
        if size == 0 { (Vec::new(), Vec::new()) } else { (vec![start], vec![stop]) }
    }
}

/// Whether an error is the file's: a chunk file that is missing or short counts.
pub(crate) fn is_damage(error: &Error) -> bool {
    match error {
        Error::Io { source, .. } => {
            matches!(source.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::UnexpectedEof)
        }
        other => other.fault() == Fault::File,
    }
}
