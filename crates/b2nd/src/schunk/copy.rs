//! Copies of a super-chunk: with other parameters, in another layout, in other chunks, or without gaps in its own place.

use super::array_layer;
use super::cache::BlockCache;
use super::create::CreateOptions;
use super::frame_options::FrameOptions;
use super::handle::SChunk;
use super::hooks::Processing;
use super::options::{FrameSpec, FrameTarget};
use super::snapshot::FrameState;
use crate::chunk;
use crate::chunk::{ChunkHeader, Params};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::frame::{ChunkSizes, Durability, FrameHeader, HeaderFields, Layout, Name, Trailer};
use crate::io;
use crate::io::OpenedStore;
use crate::limits::zeroed;
use std::path::Path;
use std::sync::Arc;

/// What is read at a time when chunks get another size, in bytes.
const SLAB_BYTES: u64 = 64 << 20;

impl SChunk {
    /// A copy at `path` with all metalayers and vlmetalayers, compact; it appears there whole.
    ///
    /// Options that are not set are those of the original. Without parameters the compressed chunks are copied as they are,
    /// so a sparse frame is packed into a contiguous one and back without compressing anything. With another chunk size
    /// the items are cut anew. Metalayers of the options come on top, and replace those of the same name.
    ///
    /// ```
    /// use b2nd::{Codec, Params};
    /// use b2nd::schunk::CreateOptions;
    /// let mut schunk = CreateOptions::new(Params::new(4)).create_in_memory()?;
    /// schunk.append(&[1; 4000])?;
    /// let fast = CreateOptions::default().with_params(Params::new(4).with_codec(Codec::Lz4));
    /// let copy = schunk.copy_in_memory(&fast)?;
    /// assert_eq!(copy.params().codec(), Codec::Lz4);
    /// assert_eq!(copy.decompress_chunk(0)?, schunk.decompress_chunk(0)?);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] for parameters of another typesize; [`Error::AlreadyExists`]; [`Error::Usage`] for
    /// another chunk size of an array, and where the path is the frame itself or inside it; [`Error::Format`] when a
    /// chunk that must be looked at is damaged; [`Error::Io`] when the copy cannot be written. Then nothing remains.
    pub fn copy(&self, path: impl AsRef<Path>, options: &CreateOptions) -> Result<SChunk> {
        self.copied(Some(path.as_ref()), options)
    }

    /// As [`SChunk::copy`], in memory.
    ///
    /// # Errors
    /// As [`SChunk::copy`].
    pub fn copy_in_memory(&self, options: &CreateOptions) -> Result<SChunk> {
        self.copied(None, options)
    }

    fn copied(&self, path: Option<&Path>, options: &CreateOptions) -> Result<SChunk> {
        let recompress = options.params.is_some();
        let params = options.params.clone().unwrap_or_else(|| self.params.clone());
        let typesize = self.header.params().typesize();
        if params.typesize() != typesize && recompress {
            let other = params.typesize();
            return Err(Error::length(
                typesize,
                other,
                format!("parameters for items of {other} bytes, and the frame has {typesize}"),
            ));
        }
        let (layout, chunksize, exec) = (options.layout, options.chunksize, options.common.exec.clone());
        if let (Some(path), Some(own)) = (path, self.path())
            && io::is_within(own, path)
        {
            let shown = path.display();
            return Err(Error::usage(format!("{shown}: a frame cannot be copied onto itself")));
        }
        let kept = |name: &&str| !options.metalayers.iter().any(|(other, _)| other == name);
        let arrays = ["b2nd", "caterva"]
            .into_iter()
            .find(|name| kept(name) && self.header.metalayers().any(|(other, _)| other.text() == *name));
        if let (Some(name), Some(_)) = (arrays, chunksize.filter(|size| *size != self.chunksize())) {
            return Err(Error::usage(format!(
                "metalayer `{name}` describes the chunks of an array: copy the frame as an array to change them"
            )));
        }
        let plain = FrameOptions { processing: Processing::default(), ..options.common.clone() };
        let start = CreateOptions {
            metalayers: Vec::new(),
            vlmetalayers: Vec::new(),
            common: plain.or_registry(self.context.registry()),
            ..options.clone()
        };
        let mut copy = start.start(path, params)?;
        let described = recompress.then(|| copy.params.clone());
        copy.become_like(self, layout, described.as_ref(), &options.metalayers)?;
        for (name, content) in &options.vlmetalayers {
            copy.stage_vlmetalayer(name, content)?;
        }
        match chunksize.filter(|size| *size != self.chunksize()) {
            Some(size) => {
                copy.header_mut().set_chunk_sizes(ChunkSizes::Fixed(size));
                copy.take_items(self, u64::from(size))?;
            }
            None => copy.take_chunks(self, recompress.then_some(&exec))?,
        }
        copy.commit()?;
        copy.state.processing = options.common.processing.clone();
        Ok(copy)
    }

    /// Rewrites the frame without the gaps that changes have left. A file is replaced by a new one in one step,
    /// and readers of the old one keep it. In a sparse frame every chunk is a file, and there are no gaps:
    /// unreferenced files are removed, unless a reader has an older state.
    ///
    /// ```
    /// use b2nd::Params;
    /// use b2nd::schunk::CreateOptions;
    /// let mut schunk = CreateOptions::new(Params::new(1)).create_in_memory()?;
    /// schunk.append(b"some bytes that will be gone soon")?;
    /// schunk.update(0, b"short")?;
    /// let before = schunk.frame_len();
    /// schunk.compact()?;
    /// assert!(schunk.frame_len() < before);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; [`Error::Format`] when a chunk is damaged; [`Error::Io`] when
    /// the file cannot be replaced. The frame is unchanged then.
    pub fn compact(&mut self) -> Result<()> {
        drop(self.transaction());
        self.begin()?;
        self.rollback()?;
        if self.layout() == Layout::Sparse {
            self.remove_kept();
            return Ok(());
        }
        let store = self.writer.store.successor()?.ok_or_else(|| {
            Error::unsupported(
                "this store cannot replace a frame, so it cannot be compacted: save a copy instead",
            )
        })?;
        let common = FrameOptions::new()
            .with_limits(self.limits().clone())
            .with_exec(self.exec.clone())
            // The new file must be on the medium before it replaces the old one.
            .with_durability(self.writer.durability.max(Durability::Ordered));
        let spec = FrameSpec {
            layout: Layout::Contiguous,
            params: self.params.clone(),
            chunksize: 0,
            nchunks: 0,
            fill: chunk::Special::Zeros,
            metalayers: Vec::new(),
            vlmetalayers: Vec::new(),
        };
        let mut compact = SChunk::create(FrameTarget::Memory, spec, &common)?;
        compact.state.store = store.reader();
        compact.writer.store = OpenedStore::Write(store);
        compact.state.context = self.context.clone();
        compact.writer.opening = self.writer.opening;
        if self.writer.opening.is_some_and(|opening| opening.offset > 0)
            && let Some(file) = compact.writer.changes.file_mut()
        {
            file.space.give_up();
        }
        compact.state.cache = Arc::new(BlockCache::new(self.cache.usage().capacity));
        compact.state.processing = self.processing.clone();
        compact.digests_mut().succeed(&self.work().digests);
        compact.become_like(self, Layout::Contiguous, None, &[])?;
        compact.take_chunks(self, None)?;
        compact.writer.locks = self.writer.locks.handed_on();
        {
            // Checks for changes by other writers during the copy, so that none is lost.
            self.look_for_peer_lock()?;
            let peer_lock = self.peer_lock();
            let _alone = peer_lock.as_ref().map(|peer_lock| peer_lock.alone()).transpose()?;
            self.check_unchanged()?;
            compact.commit()?;
        }
        compact.writer.durability = self.writer.durability;
        *self = compact;
        Ok(())
    }

    /// Takes the items of another frame as they are stored, cut into chunks of `size` bytes.
    fn take_items(&mut self, other: &SChunk, size: u64) -> Result<()> {
        let typesize = u64::from(other.header.params().typesize());
        let slab = (SLAB_BYTES / size).max(1).saturating_mul(size) / typesize;
        let mut at = 0;
        while at < other.nitems() {
            let end = at.saturating_add(slab).min(other.nitems());
            let mut items = zeroed("the items", (end - at).saturating_mul(typesize))?;
            other.read_span(at, &mut items, false)?;
            self.stage_extend(&items)?;
            at = end;
        }
        Ok(())
    }

    /// Copies header and metalayers of another frame into this one, which has no chunks yet.
    fn become_like(
        &mut self,
        other: &SChunk,
        layout: Layout,
        params: Option<&Params>,
        extra: &[(String, Vec<u8>)],
    ) -> Result<()> {
        self.state.header = Arc::new(other.header_for(layout, params, extra)?);
        self.header_mut().set_nbytes(0)?;
        for (name, stored) in other.trailer()?.entries() {
            other.check_vlmetalayer(name.text(), stored)?;
        }
        *self.trailer_mut() = Trailer::clone(other.trailer()?);
        let start = self.header.len();
        self.writer.changes.restart(start);
        Ok(())
    }

    /// Copies the chunks of another frame of the same sizes, recompressed if `recompress` is set.
    fn take_chunks(&mut self, other: &SChunk, recompress: Option<&Exec>) -> Result<()> {
        let (params, context) = (self.params.clone(), self.context.clone());
        let mut buffer = Vec::new();
        let offsets = other.copy_chunks(|bytes| {
            let bytes = match recompress {
                None => bytes,
                Some(exec) => {
                    buffer = chunk::encode_with(
                        &chunk::decode(bytes, &other.context, exec)?,
                        &params,
                        &context,
                        exec,
                    )?;
                    &buffer
                }
            };
            self.write_chunk(bytes, &ChunkHeader::parse(bytes)?)
        })?;
        self.begin()?;
        self.replace_all(offsets)?;
        self.header_mut().set_nbytes(other.nbytes())
    }
}

impl FrameState {
    /// The header of a copy, without its lengths. If only the layout changes, unknown fields are kept.
    pub(super) fn header_for(
        &self,
        layout: Layout,
        params: Option<&Params>,
        extra: &[(String, Vec<u8>)],
    ) -> Result<FrameHeader> {
        if self.header.is_current() && params.is_none() && extra.is_empty() {
            let mut header = FrameHeader::clone(&self.header);
            header.set_layout(layout);
            return Ok(header);
        }
        let fields = HeaderFields {
            layout,
            params: params.unwrap_or(self.header.params()),
            chunksize: self.chunksize(),
            nbytes: self.nbytes(),
        };
        let replaced = |name: &Name| extra.iter().any(|(other, _)| other.as_bytes() == name.bytes());
        let array =
            self.new_array_layer()?.filter(|_| !extra.iter().any(|(name, _)| name == array_layer::NAME));
        let mut metalayers: Vec<(&[u8], &[u8])> = Vec::new();
        for (name, content) in self.header.metalayers() {
            match &array {
                _ if replaced(name) => {}
                Some((old, new)) if name.bytes() == old.as_bytes() => {
                    metalayers.push((array_layer::NAME.as_bytes(), new));
                }
                _ => metalayers.push((name.bytes(), content)),
            }
        }
        for (name, content) in extra {
            Name::new(name)?;
            if metalayers.iter().any(|(other, _)| *other == name.as_bytes()) {
                return Err(Error::usage(format!("two metalayers are named `{name}`")));
            }
            metalayers.push((name.as_bytes(), content));
        }
        let mut header = FrameHeader::build(&fields, &metalayers)?;
        header.set_chunk_sizes(self.header.chunk_sizes());
        // Recompressed chunks have blocks of one size.
        header.set_vl_blocks(self.header.has_vl_blocks() && params.is_none());
        Ok(header)
    }
}
