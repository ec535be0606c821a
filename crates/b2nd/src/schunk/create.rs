//! How a new super-chunk is made.

use super::frame_options::{FrameOptions, frame_builder};
use super::handle::SChunk;
use super::options::{FrameSpec, FrameTarget};
use super::transaction::FrameTransaction;
use crate::chunk::{MAX_CHUNK_BYTES, Params, Special};
use crate::error::{Error, Result};
use crate::frame::{ChunkSizes, Layout};
use std::path::Path;

/// How a new super-chunk is made.
///
/// ```
/// use b2nd::{Codec, Layout, Params};
/// use b2nd::schunk::CreateOptions;
/// let schunk = CreateOptions::new(Params::new(8).with_codec(Codec::Lz4))
///     .with_chunksize(1 << 20)
///     .with_metalayer("origin", *b"\xa7station")
///     .create_in_memory()?;
/// assert_eq!((schunk.nchunks(), schunk.layout()), (0, Layout::Contiguous));
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct CreateOptions {
    pub(super) common: FrameOptions,
    /// Without them only [`SChunk::copy`] has parameters: those of the original.
    pub(super) params: Option<Params>,
    pub(super) chunksize: Option<u32>,
    pub(super) layout: Layout,
    pub(super) overwrite: bool,
    pub(super) metalayers: Vec<(String, Vec<u8>)>,
    pub(super) vlmetalayers: Vec<(String, Vec<u8>)>,
}

frame_builder! { CreateOptions: all }

impl CreateOptions {
    /// Chunks that are compressed with these parameters, which also have the size of an item; a contiguous frame, all
    /// processors.
    pub fn new(params: Params) -> Self {
        CreateOptions { params: Some(params), ..Self::default() }
    }
    /// Sets how chunks are compressed. A copy without this takes the compressed chunks as they are.
    ///
    /// A super-chunk knows the size of its items and no dtype: lossy filters and codecs take items of that size as floats
    /// or integers and destroy others. Arrays refuse them; see [`Options::with_params`](crate::Options::with_params).
    #[must_use]
    pub fn with_params(mut self, params: Params) -> Self {
        self.params = Some(params);
        self
    }
    /// Sets the uncompressed bytes of a chunk; by default the first chunk decides.
    #[must_use]
    pub fn with_chunksize(mut self, bytes: u32) -> Self {
        self.chunksize = Some(bytes);
        self
    }
    /// Sets the layout: contiguous by default.
    #[must_use]
    pub fn with_layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }
    /// Replaces what exists at the path, once the new frame is whole; an error by default.
    #[must_use]
    pub fn with_overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }
    /// Adds a metalayer: fixed in size for the life of the frame. Names have up to 31 bytes.
    #[must_use]
    pub fn with_metalayer(mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.metalayers.push((name.into(), content.into()));
        self
    }
    /// Adds a vlmetalayer: may be changed, replaced and removed later.
    #[must_use]
    pub fn with_vlmetalayer(mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.vlmetalayers.push((name.into(), content.into()));
        self
    }

    /// Makes an empty super-chunk at `path`.
    ///
    /// # Errors
    /// [`Error::Compression`] or [`Error::Usage`] for parameters that do not fit together; [`Error::AlreadyExists`];
    /// [`Error::Io`] when it cannot be written. Then nothing remains.
    pub fn create(self, path: impl AsRef<Path>) -> Result<SChunk> {
        self.create_with(path, |_| Ok(()))
    }

    /// Makes an empty super-chunk in memory.
    ///
    /// # Errors
    /// [`Error::Compression`] or [`Error::Usage`] for parameters that do not fit together.
    pub fn create_in_memory(self) -> Result<SChunk> {
        self.create_with_in_memory(|_| Ok(()))
    }

    /// Makes a super-chunk that appears at `path` whole, with all that `fill` puts into it.
    ///
    /// ```
    /// use b2nd::Params;
    /// use b2nd::schunk::CreateOptions;
    /// let options = CreateOptions::new(Params::new(1)).with_chunksize(5);
    /// let schunk = options.create_with_in_memory(|t| t.extend(b"hello world"))?;
    /// assert_eq!(schunk.nchunks(), 3);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CreateOptions::create`], and those of `fill`. Then nothing remains.
    pub fn create_with(
        self,
        path: impl AsRef<Path>,
        fill: impl FnOnce(&mut FrameTransaction<'_>) -> Result<()>,
    ) -> Result<SChunk> {
        self.filled(Some(path.as_ref()), fill)
    }

    /// Makes a super-chunk in memory, with all that `fill` puts into it.
    ///
    /// # Errors
    /// As [`CreateOptions::create_in_memory`], and those of `fill`.
    pub fn create_with_in_memory(
        self,
        fill: impl FnOnce(&mut FrameTransaction<'_>) -> Result<()>,
    ) -> Result<SChunk> {
        self.filled(None, fill)
    }

    fn filled(
        self,
        path: Option<&Path>,
        fill: impl FnOnce(&mut FrameTransaction<'_>) -> Result<()>,
    ) -> Result<SChunk> {
        let params = self.params.clone().ok_or_else(|| Error::usage("a new super-chunk needs parameters"))?;
        let mut schunk = self.start(path, params)?;
        schunk.at_once(fill)?;
        Ok(schunk)
    }

    /// Starts a new frame, which is invisible until its first commit.
    pub(super) fn start(self, path: Option<&Path>, params: Params) -> Result<SChunk> {
        let typesize = params.typesize().max(1);
        let most = self.chunksize.unwrap_or(MAX_CHUNK_BYTES);
        if self
            .chunksize
            .is_some_and(|size| size == 0 || size > MAX_CHUNK_BYTES || !size.is_multiple_of(typesize))
        {
            return Err(Error::usage(format!("chunks of {most} bytes for items of {typesize}")));
        }
        // Chunks have blocks of whole items, and the header must say what they have.
        let whole = |size: u32| (size / typesize).max(1).saturating_mul(typesize).min(most);
        let blocksize = params.blocksize().map(whole);
        let spec = FrameSpec {
            layout: self.layout,
            params: params.with_blocksize(blocksize),
            chunksize: self.chunksize.unwrap_or(0),
            nchunks: 0,
            fill: Special::Zeros,
            metalayers: self.metalayers,
            vlmetalayers: self.vlmetalayers,
        };
        let target = match path {
            Some(path) => FrameTarget::Path { path, overwrite: self.overwrite },
            None => FrameTarget::Memory,
        };
        let mut schunk = SChunk::create(target, spec, &self.common)?;
        let sizes = self.chunksize.map_or(ChunkSizes::Undecided, ChunkSizes::Fixed);
        schunk.header_mut().set_chunk_sizes(sizes);
        Ok(schunk)
    }
}
