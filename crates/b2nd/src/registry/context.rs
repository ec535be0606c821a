//! What a chunk cannot say of itself: what it may cost, whose codecs there are, and what its frame knows of it.

use super::block::BlockInfo;
use super::table::Registry;
use crate::limits::{Limits, MAX_NDIM};

/// What surrounds a chunk: limits, the user's codecs and filters, and what its frame and array know of its items.
///
/// Cloning is cheap. [`Limits`] alone make one that knows nothing else.
///
/// ```
/// use b2nd::chunk::Context;
/// use b2nd::Limits;
/// let context = Context::new(Limits::default()).with_typesize(1000).with_block_shape(&[4, 8]);
/// assert_eq!(context.typesize(), Some(1000));
/// assert_eq!(context.block_shape(), Some(&[4, 8][..]));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Context {
    limits: Limits,
    registry: Registry,
    typesize: Option<u32>,
    block_shape: Option<BlockShape>,
    caterva: bool,
}

impl Context {
    /// These limits, and nothing known of the frame.
    pub fn new(limits: Limits) -> Self {
        Context { limits, ..Context::default() }
    }
    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
    /// Sets the codecs and filters of the user.
    #[must_use]
    pub fn with_registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }
    /// Sets the size of an item in bytes, as the frame knows it: a chunk itself says 1 where it is more than 255.
    #[must_use]
    pub fn with_typesize(mut self, typesize: u32) -> Self {
        self.typesize = Some(typesize);
        self
    }
    /// Sets the shape of the array's blocks, in items along each axis; one of more than 16 axes, which no array has, counts as
    /// not known.
    #[must_use]
    pub fn with_block_shape(mut self, block_shape: &[u32]) -> Self {
        self.block_shape = BlockShape::new(block_shape);
        self
    }
    /// What a chunk may cost.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }
    /// The codecs and filters of the user.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }
    /// The size of an item in bytes, where the frame is known.
    pub fn typesize(&self) -> Option<u32> {
        self.typesize
    }
    /// Items of a block along each axis, where the array is known.
    pub fn block_shape(&self) -> Option<&[u32]> {
        self.block_shape.as_ref().map(BlockShape::lengths)
    }
    /// Says that the frame is of the time of `caterva`, when some ids meant something else.
    pub(crate) fn with_caterva(mut self, caterva: bool) -> Self {
        self.caterva = caterva;
        self
    }
    /// Whether the frame is of the time of `caterva`.
    pub(crate) fn is_caterva(&self) -> bool {
        self.caterva
    }

    /// What codecs and filters are told of the blocks of a chunk that says `typesize` itself.
    pub(crate) fn setting(&self, typesize: u32) -> Setting {
        Setting { typesize: self.typesize.unwrap_or(typesize), block_shape: self.block_shape }
    }
}

impl From<&Limits> for Context {
    fn from(limits: &Limits) -> Self {
        Context::new(limits.clone())
    }
}

impl From<&Context> for Context {
    fn from(context: &Context) -> Self {
        context.clone()
    }
}

/// Items of a block along each axis, in place: each chunk head that is read takes a copy along, and a count that threads share
/// would have them wait for each other.
#[derive(Debug, Clone, Copy)]
struct BlockShape {
    ndim: u8,
    lengths: [u32; MAX_NDIM],
}

impl BlockShape {
    fn new(shape: &[u32]) -> Option<Self> {
        let mut lengths = [0; MAX_NDIM];
        lengths.get_mut(..shape.len())?.copy_from_slice(shape);
        Some(BlockShape { ndim: u8::try_from(shape.len()).ok()?, lengths })
    }
    fn lengths(&self) -> &[u32] {
        self.lengths.get(..usize::from(self.ndim)).unwrap_or_default()
    }
}

/// What codecs and filters are told of all blocks of a chunk.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    typesize: u32,
    block_shape: Option<BlockShape>,
}

impl Setting {
    /// What is said to a codec or filter with this meta byte; `clevel` is 0 for a reader.
    pub(crate) fn info(&self, meta: u8, clevel: u8) -> BlockInfo<'_> {
        BlockInfo {
            typesize: self.typesize,
            meta,
            clevel,
            block_shape: self.block_shape.as_ref().map(BlockShape::lengths),
        }
    }
}
