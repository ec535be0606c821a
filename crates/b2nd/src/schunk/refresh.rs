//! A frame that others have changed.

use super::frame_options::FrameOptions;
use super::handle::SChunk;
use super::options::OpenOptions;
use super::snapshot::FrameState;
use crate::error::Result;
use std::hash::Hasher;
use twox_hash::XxHash3_128;

/// A standard `Hasher` that keeps all 128 bits of the hash.
struct Hashed(XxHash3_128);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn finish(&self) -> u64 {
        self.0.finish_128() as u64
    }
}

impl SChunk {
    /// Options that reopen this frame in the same way.
    pub(super) fn own_options(&self) -> OpenOptions {
        let opening = self.writer.opening.unwrap_or_default();
        let (checksums, checks) = self.state.catalog.checking();
        let common = FrameOptions {
            exec: self.exec.clone(),
            has_exec: true,
            limits: self.limits().clone(),
            registry: Some(self.context.registry().clone()),
            durability: self.writer.durability,
            checksums,
            unchecked: !checks,
            block_cache: self.cache.usage().capacity,
            processing: self.processing.clone(),
            ..FrameOptions::new()
        };
        OpenOptions {
            write: self.writer.writable,
            offset: opening.offset,
            frame: None,
            mmap: opening.mmap,
            common: self.writer.locks.options(common),
        }
    }

    /// Takes over what another handle or process has committed since this one was opened or last refreshed; whether there was
    /// anything. What was not committed is forgotten. What is in memory, or in a store of the caller's, has no other handle.
    ///
    /// ```
    /// use b2nd::{OpenOptions, Params, SChunk};
    /// use b2nd::schunk::CreateOptions;
    /// # let path = std::env::temp_dir().join(format!("b2nd-doc-refresh-{}", std::process::id()));
    /// let mut writer = CreateOptions::new(Params::new(1)).create(&path)?;
    /// let mut reader = SChunk::open(&path, &OpenOptions::new())?;
    /// writer.append(b"new")?;
    /// assert_eq!(reader.nchunks(), 0);
    /// assert!(reader.refresh()?);
    /// assert_eq!(reader.nchunks(), 1);
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`SChunk::open`]; the handle then stays as it was.
    pub fn refresh(&mut self) -> Result<bool> {
        drop(self.transaction());
        let Some(now) = self.reopened()? else { return Ok(false) };
        *self = now;
        Ok(true)
    }

    /// The frame as it is now at its path, where it is no longer the one of the last commit through this handle.
    ///
    /// The path is opened again: an empty frame and a sparse one are replaced as a whole by a commit. What is in memory,
    /// or in a store of the caller's, has no path that could be.
    pub(crate) fn reopened(&self) -> Result<Option<SChunk>> {
        let (Some(path), Some(_)) = (self.path(), self.writer.opening) else { return Ok(None) };
        let now = SChunk::open_owned(path, &self.own_options(), self.writer.locks.owner.as_ref())?;
        // A writer also depends on the bytes after the frame, which decide where it may write.
        let same_end = !self.writer.writable || now.reach() == self.reach() && now.same_tail(self);
        let same = same_end
            && now.header.bytes() == self.header.bytes()
            && now.offsets()?.is_same_as(self.offsets()?)?;
        Ok((!same || now.trailer()? != self.trailer()?).then_some(now))
    }
}

impl FrameState {
    /// What tells this state of the frame from those of other commits: two handles that see the same have the same number, in other
    /// processes too.
    ///
    /// It hashes everything that a commit writes except the chunks. With checksums that depends on the content of the
    /// chunks; without, only on their offsets and lengths, so that foreign writes of other bytes at the same offsets
    /// are not detected.
    ///
    /// ```
    /// use b2nd::{Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [3])?;
    /// let before = a.schunk().state()?;
    /// assert_eq!(b2nd::Array::from_bytes(a.to_bytes()?, &Default::default())?.schunk().state()?, before);
    /// a.write_bytes((), &[1, 2, 3])?;
    /// assert_ne!(a.schunk().state()?, before);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) when the index of chunks is damaged.
    pub fn state(&self) -> Result<u128> {
        let mut hasher = XxHash3_128::new();
        hasher.write(self.header.bytes());
        let mut rest = Hashed(hasher);
        self.offsets()?.hash(&mut rest)?;
        self.trailer()?.hash(&mut rest);
        Ok(rest.0.finish_128())
    }
}
