//! Filters: typed ids, and the pipeline of up to six slots.

/// A filter, by the id that chunks and frames store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Filter {
    /// Byte shuffle (id 1).
    Shuffle,
    /// Bit shuffle (id 2).
    BitShuffle,
    /// XOR with the item before, or with the first block (id 3).
    Delta,
    /// Truncated precision of floats (id 4): lossy when writing, nothing to do when reading.
    TruncPrec,
    /// Any other id: kept through every rewrite, refused when data must be decoded.
    Other(u8),
}

impl Filter {
    /// The filter that has this id; `None` for id 0, an empty slot.
    pub fn from_id(id: u8) -> Option<Self> {
        match id {
            0 => None,
            1 => Some(Filter::Shuffle),
            2 => Some(Filter::BitShuffle),
            3 => Some(Filter::Delta),
            4 => Some(Filter::TruncPrec),
            other => Some(Filter::Other(other)),
        }
    }
    /// The id.
    pub fn id(self) -> u8 {
        match self {
            Filter::Shuffle => 1,
            Filter::BitShuffle => 2,
            Filter::Delta => 3,
            Filter::TruncPrec => 4,
            Filter::Other(other) => other,
        }
    }
    /// The name, as the command spells it: `shuffle`, `bitshuffle`, `delta`, `trunc_prec`; others `filter-35`.
    pub fn name(self) -> std::borrow::Cow<'static, str> {
        match self {
            Filter::Shuffle => "shuffle".into(),
            Filter::BitShuffle => "bitshuffle".into(),
            Filter::Delta => "delta".into(),
            Filter::TruncPrec => "trunc_prec".into(),
            Filter::Other(id) => format!("filter-{id}").into(),
        }
    }
    /// The filter of that name, for the four built in.
    pub fn from_name(name: &str) -> Option<Self> {
        [Filter::Shuffle, Filter::BitShuffle, Filter::Delta, Filter::TruncPrec]
            .into_iter()
            .find(|f| f.name() == name)
    }
}

/// Six slots of filters with a meta byte each, applied from slot 0 on when writing and backwards when reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pipeline {
    ids: [u8; 6],
    meta: [u8; 6],
}

impl Pipeline {
    /// The pipeline that these bytes store.
    pub fn from_bytes(ids: [u8; 6], meta: [u8; 6]) -> Self {
        Pipeline { ids, meta }
    }
    /// The filter ids, slot by slot; 0 is an empty slot.
    pub fn ids(&self) -> [u8; 6] {
        self.ids
    }
    /// The meta bytes, slot by slot.
    pub fn meta(&self) -> [u8; 6] {
        self.meta
    }
}
