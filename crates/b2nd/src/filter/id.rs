//! The ids of filters. Knows names and numbers, not what a filter does.

/// A filter, by the id that chunks and frames store.
///
/// ```
/// use b2nd::Filter;
/// assert_eq!(Filter::from_id(2), Some(Filter::BitShuffle));
/// assert_eq!(Filter::from_name("trunc_prec"), Some(Filter::TruncPrec));
/// assert_eq!(Filter::from_id(35), Some(Filter::ByteDelta));
/// assert_eq!(Filter::Other(200).name(), "filter-200");
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
    /// Items cell by cell (id 32), in arrays only: its meta byte is the side of a cell, in items.
    NdCell,
    /// The mean of each cell in the place of its items (id 33), in arrays of floats only: lossy. Its meta byte is the side of
    /// a cell, in items, up to 127.
    NdMean,
    /// Byte differences as the first releases wrote them (id 34): only read.
    OldByteDelta,
    /// Byte differences (id 35), meant to follow a shuffle. Its meta byte is the number of streams, 0 for the typesize.
    ByteDelta,
    /// Truncated integers (id 36): lossy when writing, nothing to do when reading.
    ///
    /// Its meta byte is a signed number: how many bits to keep, or, below 0, how many low bits to clear.
    IntTrunc,
    /// Any other id: kept through every rewrite, and one of the [`Registry`](crate::Registry) where data is decoded.
    Other(u8),
}

impl Filter {
    /// All that are built in, with their ids and names.
    const BUILT_IN: [(Filter, u8, &'static str); 9] = [
        (Filter::Shuffle, 1, "shuffle"),
        (Filter::BitShuffle, 2, "bitshuffle"),
        (Filter::Delta, 3, "delta"),
        (Filter::TruncPrec, 4, "trunc_prec"),
        (Filter::NdCell, 32, "ndcell"),
        (Filter::NdMean, 33, "ndmean"),
        (Filter::OldByteDelta, 34, "old_bytedelta"),
        (Filter::ByteDelta, 35, "bytedelta"),
        (Filter::IntTrunc, 36, "int_trunc"),
    ];

    /// The filter that has this id; `None` for id 0, an empty slot.
    pub fn from_id(id: u8) -> Option<Self> {
        let built_in = Self::BUILT_IN.into_iter().find(|known| known.1 == id);
        (id != 0).then(|| built_in.map_or(Filter::Other(id), |known| known.0))
    }
    /// The id.
    pub fn id(self) -> u8 {
        match self {
            Filter::Other(id) => id,
            built_in => Self::BUILT_IN.iter().find(|known| known.0 == built_in).map_or(0, |known| known.1),
        }
    }
    /// The name, as the command spells it: `shuffle`, `bitshuffle`, `delta`, `trunc_prec`, `ndcell`, `ndmean`, `old_bytedelta`,
    /// `bytedelta`, `int_trunc`; others `filter-200`.
    pub fn name(self) -> std::borrow::Cow<'static, str> {
        match Self::BUILT_IN.iter().find(|known| known.0 == self) {
            Some(known) => known.2.into(),
            None => format!("filter-{}", self.id()).into(),
        }
    }
    /// The filter of that name, for those built in; `-` and `_` are the same.
    ///
    /// ```
    /// use b2nd::Filter;
    /// assert_eq!(Filter::from_name("int-trunc"), Some(Filter::IntTrunc));
    /// assert_eq!(Filter::from_name("lzma"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.replace('-', "_");
        Self::BUILT_IN.into_iter().find(|known| known.2 == name).map(|known| known.0)
    }
    /// Whether its meta byte is a signed number.
    pub(super) fn has_signed_meta(self) -> bool {
        matches!(self, Filter::TruncPrec | Filter::IntTrunc)
    }
}
