//! The ids of filters. Knows names and numbers, not what a filter does.

/// A filter, by the id that chunks and frames store.
///
/// ```
/// use b2nd::Filter;
/// assert_eq!(Filter::from_id(2), Some(Filter::BitShuffle));
/// assert_eq!(Filter::from_name("trunc_prec"), Some(Filter::TruncPrec));
/// assert_eq!(Filter::Other(35).name(), "filter-35");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Filter {
    /// Byte shuffle (id 1). Its meta byte is the width of an item, 0 for the typesize.
    Shuffle,
    /// Bit shuffle (id 2).
    BitShuffle,
    /// XOR with the item before, or with the first block (id 3).
    Delta,
    /// Truncated precision of floats (id 4): lossy when writing, nothing to do when reading.
    ///
    /// Its meta byte is a signed number: how many mantissa bits to keep, or, below 0, how many to clear.
    TruncPrec,
    /// Any other id: kept through every rewrite, refused when data must be decoded.
    Other(u8),
}

impl Filter {
    const BUILT_IN: [Filter; 4] = [Filter::Shuffle, Filter::BitShuffle, Filter::Delta, Filter::TruncPrec];

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
        Self::BUILT_IN.into_iter().find(|f| f.name() == name)
    }
}
