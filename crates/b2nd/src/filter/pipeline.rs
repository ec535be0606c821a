//! The pipeline as users write it and headers store it: six slots of an id and a meta byte.

use super::Filter;
use crate::error::Error;
use crate::error::Result;
use std::fmt;
use std::str::FromStr;

/// Six slots of filters with a meta byte each, applied from slot 0 on when writing and backwards when reading.
///
/// The default is a shuffle (in the last slot, where other writers of Blosc2 have it).
///
/// ```
/// use b2nd::{Filter, Pipeline};
/// let pipeline = Pipeline::new().push(Filter::Delta, 0)?.push(Filter::Shuffle, 0)?;
/// assert_eq!(pipeline, "delta,shuffle".parse()?);
/// assert_eq!(pipeline.filters().count(), 2);
/// assert_eq!(Pipeline::default().to_string(), "shuffle");
/// assert!(Pipeline::none().is_empty());
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pipeline {
    ids: [u8; Self::SLOTS],
    meta: [u8; Self::SLOTS],
}

impl Default for Pipeline {
    fn default() -> Self {
        Pipeline { ids: [0, 0, 0, 0, 0, Filter::Shuffle.id()], meta: [0; Self::SLOTS] }
    }
}

impl Pipeline {
    /// How many filters a pipeline has room for.
    pub const SLOTS: usize = 6;

    /// An empty pipeline, to [`push`](Pipeline::push) to.
    pub const fn new() -> Self {
        Pipeline { ids: [0; Self::SLOTS], meta: [0; Self::SLOTS] }
    }
    /// No filter at all: the same as [`Pipeline::new`], for where nothing is pushed.
    pub const fn none() -> Self {
        Self::new()
    }
    /// Puts a filter behind those that are there; `meta` is its parameter, 0 for filters that have none.
    ///
    /// ```
    /// use b2nd::{Filter, Pipeline};
    /// // Keep ten bits of the mantissa, then shuffle.
    /// let pipeline = Pipeline::new().push(Filter::TruncPrec, 10)?.push(Filter::Shuffle, 0)?;
    /// assert_eq!(pipeline.ids(), [4, 1, 0, 0, 0, 0]);
    /// assert_eq!(pipeline.meta(), [10, 0, 0, 0, 0, 0]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn push(mut self, filter: Filter, meta: u8) -> Result<Self> {
        if filter.id() == 0 {
            return Err(Error::compression("filter id 0 is an empty slot, not a filter"));
        }
        let slot = self.ids.iter().rposition(|&id| id != 0).map_or(0, |last| last + 1);
        match (self.ids.get_mut(slot), self.meta.get_mut(slot)) {
            (Some(id), Some(old)) => (*id, *old) = (filter.id(), meta),
            _ => {
                return Err(Error::compression(format!(
                    "no slot behind the last filter is free for {}: a pipeline has {}",
                    filter.name(),
                    Self::SLOTS
                )));
            }
        }
        Ok(self)
    }
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
    /// The filters and their meta bytes in the order of writing, without the empty slots.
    pub fn filters(&self) -> impl DoubleEndedIterator<Item = (Filter, u8)> {
        let (ids, meta) = (self.ids, self.meta);
        ids.into_iter().zip(meta).filter_map(|(id, meta)| Some((Filter::from_id(id)?, meta)))
    }
    /// Whether there is no filter.
    pub fn is_empty(&self) -> bool {
        self.ids == [0; Self::SLOTS]
    }
    /// Whether `filter` is in any slot.
    pub fn contains(&self, filter: Filter) -> bool {
        filter.id() != 0 && self.ids.contains(&filter.id())
    }
}

impl fmt::Display for Pipeline {
    /// As [`Pipeline::from_str`] reads it, the slots aside: `trunc_prec:10,bitshuffle`, `none`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        for (n, (filter, meta)) in self.filters().enumerate() {
            let comma = if n > 0 { "," } else { "" };
            write!(f, "{comma}{}", filter.name())?;
            match (filter, meta) {
                (filter, _) if filter.has_signed_meta() => write!(f, ":{}", i8::from_le_bytes([meta]))?,
                (_, 0) => {}
                (_, _) => write!(f, ":{meta}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Pipeline {
    type Err = Error;

    /// Parses a list in the order of writing: `shuffle`, `delta,shuffle`, `trunc_prec:10,bitshuffle`, `shuffle,bytedelta`, `none`.
    ///
    /// The number behind a colon is the meta byte, -128 to 255; the filters fill the slots from the first on.
    ///
    /// ```
    /// use b2nd::Pipeline;
    /// let pipeline: Pipeline = "trunc_prec:-10,bitshuffle".parse()?;
    /// assert_eq!(pipeline.meta()[0], (-10i8) as u8);
    /// assert!("shufle".parse::<Pipeline>().is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    fn from_str(text: &str) -> Result<Self> {
        if text.trim() == "none" {
            return Ok(Self::none());
        }
        text.split(',').try_fold(Self::new(), |pipeline, part| {
            let (name, meta) = part.split_once(':').unwrap_or((part, "0"));
            pipeline.push(parse_filter(name.trim())?, parse_meta(meta.trim())?)
        })
    }
}

fn parse_filter(name: &str) -> Result<Filter> {
    let other = || match name.strip_prefix("filter-")?.parse() {
        Ok(id) => Filter::from_id(id),
        Err(_) => None,
    };
    Filter::from_name(name).or_else(other).ok_or_else(|| {
        Error::syntax(name, format!(
            "no filter is called {name:?}: there are shuffle, bitshuffle, delta, bytedelta, trunc_prec:<bits>, \
             int_trunc:<bits>, ndcell:<side>, ndmean:<side>, or none"
        ))
    })
}

fn parse_meta(text: &str) -> Result<u8> {
    let wrong = || {
        Error::syntax(text, format!("{text:?} is not a filter parameter: it is a number from -128 to 255"))
    };
    let number: i16 = text.parse().map_err(|_| wrong())?;
    let signed = i8::try_from(number).map(|n| n.to_le_bytes()[0]);
    signed.or_else(|_| u8::try_from(number)).map_err(|_| wrong())
}
