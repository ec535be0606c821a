//! The codecs and filters that the user brings along, by id.

use super::block::{BlockCodec, BlockFilter, BlockInfo, BlockResult};
use super::known;
use crate::error::{Error, Part, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Codecs and filters of the user, by the ids that chunks and frames store. Cloning is cheap.
///
/// Ids from 160 on are free for anybody; those from 32 to 159 are registered with C-Blosc2, and any of them that is not built
/// in may be brought along as well.
///
/// ```
/// use b2nd::Registry;
/// use b2nd::registry::{BlockFilter, BlockInfo, BlockResult};
/// struct Invert;
/// impl BlockFilter for Invert {
///     fn apply(&self, _: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
///         dst.iter_mut().zip(src).for_each(|(to, from)| *to = !from);
///         Ok(())
///     }
///     fn undo(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> BlockResult<()> {
///         self.apply(info, src, dst)
///     }
/// }
/// let registry = Registry::new().with_filter(200, "invert", Invert)?;
/// let options = b2nd::OpenOptions::new().with_registry(registry);
/// # let _ = options;
/// assert!(Registry::new().with_filter(1, "shuffle", Invert).is_err());
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Registry(Option<Arc<Tables>>);

#[derive(Clone, Default)]
struct Tables {
    codecs: BTreeMap<u8, UserCodec>,
    filters: BTreeMap<u8, UserFilter>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tables = self.0.as_deref();
        let codecs: Vec<_> = tables.into_iter().flat_map(|t| t.codecs.values()).map(|c| &c.label).collect();
        let filters: Vec<_> = tables.into_iter().flat_map(|t| t.filters.values()).map(|x| &x.label).collect();
        f.debug_struct("Registry").field("codecs", &codecs).field("filters", &filters).finish()
    }
}

impl Registry {
    /// Nothing but what is built in.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a codec, or replaces the one that has this id here. `name` is for messages.
    ///
    /// # Errors
    /// [`Error::Usage`] for ids below 32 and those of codecs that are built in.
    pub fn with_codec(mut self, id: u8, name: &str, codec: impl BlockCodec + 'static) -> Result<Self> {
        if known::codec_is_taken(id) {
            return Err(taken("codec", id));
        }
        let label = format!("codec {id} ({name})").into();
        self.tables().codecs.insert(id, UserCodec { label, codec: Arc::new(codec) });
        Ok(self)
    }

    /// Adds a filter, or replaces the one that has this id here. `name` is for messages.
    ///
    /// # Errors
    /// [`Error::Usage`] for ids below 32 and those of filters that are built in.
    pub fn with_filter(mut self, id: u8, name: &str, filter: impl BlockFilter + 'static) -> Result<Self> {
        if known::filter_is_taken(id) {
            return Err(taken("filter", id));
        }
        let label = format!("filter {id} ({name})").into();
        self.tables().filters.insert(id, UserFilter { label, filter: Arc::new(filter) });
        Ok(self)
    }

    fn tables(&mut self) -> &mut Tables {
        Arc::make_mut(self.0.get_or_insert_default())
    }

    /// Whether a codec with this id was added.
    pub fn has_codec(&self, id: u8) -> bool {
        self.0.as_ref().is_some_and(|tables| tables.codecs.contains_key(&id))
    }

    /// Whether a filter with this id was added.
    pub fn has_filter(&self, id: u8) -> bool {
        self.0.as_ref().is_some_and(|tables| tables.filters.contains_key(&id))
    }

    pub(crate) fn codec(&self, id: u8) -> Option<UserCodec> {
        self.0.as_ref()?.codecs.get(&id).cloned()
    }

    pub(crate) fn filter(&self, id: u8) -> Option<UserFilter> {
        self.0.as_ref()?.filters.get(&id).cloned()
    }
}

fn taken(kind: &str, id: u8) -> Error {
    Error::usage(format!("{kind} {id} is built in or reserved for the format: choose an id from 160 to 255"))
}

/// A codec of the user, with the name for its messages.
#[derive(Clone)]
pub(crate) struct UserCodec {
    label: Arc<str>,
    codec: Arc<dyn BlockCodec>,
}

impl fmt::Debug for UserCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

impl UserCodec {
    pub(crate) fn compress(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> Result<Option<usize>> {
        let room = dst.len();
        match writing(&self.label, self.codec.compress(info, src, dst))? {
            Some(len) if len > room => Err(Error::usage(format!(
                "{}: it reports {len} bytes written into a buffer of {room}",
                self.label
            ))),
            len => Ok(len),
        }
    }

    pub(crate) fn decompress(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> Result<()> {
        reading(&self.label, self.codec.decompress(info, src, dst))
    }
}

/// A filter of the user, with the name for its messages.
#[derive(Clone)]
pub(crate) struct UserFilter {
    label: Arc<str>,
    filter: Arc<dyn BlockFilter>,
}

impl fmt::Debug for UserFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

impl UserFilter {
    pub(crate) fn apply(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> Result<()> {
        writing(&self.label, self.filter.apply(info, src, dst))
    }

    pub(crate) fn undo(&self, info: &BlockInfo<'_>, src: &[u8], dst: &mut [u8]) -> Result<()> {
        reading(&self.label, self.filter.undo(info, src, dst))
    }
}

fn writing<T>(label: &str, result: BlockResult<T>) -> Result<T> {
    result.map_err(|error| match error.downcast::<Error>() {
        Ok(ours) => *ours,
        Err(other) => Error::compression(format!("{label}: {other}")),
    })
}

fn reading<T>(label: &str, result: BlockResult<T>) -> Result<T> {
    result.map_err(|error| match error.downcast::<Error>() {
        Ok(ours) => *ours,
        Err(other) => Error::format(Part::Stream, None, format!("{label}: {other}")),
    })
}
