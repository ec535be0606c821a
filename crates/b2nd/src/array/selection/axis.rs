//! One part of a selection, and what converts into it.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// One part of a [`Selection`](super::Selection).
///
/// ```
/// use b2nd::Axis;
/// assert_eq!(Axis::from(2..8).with_step(3), Axis::Range { start: Some(2), stop: Some(8), step: 3 });
/// assert_eq!(Axis::from([4, -1, 4]), Axis::List(vec![4, -1, 4]));
/// assert_eq!(Axis::from([true, false]), Axis::Mask(vec![true, false]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Axis {
    /// One index, negative from the end; the axis disappears from the result.
    Index(i64),
    /// A range as in Python: `start:stop:step`, negative numbers from the end, ends out of range clipped.
    Range {
        /// First index; `None` for the open end.
        start: Option<i64>,
        /// One past the last index; `None` for the open end.
        stop: Option<i64>,
        /// The step: not 0; negative to walk backwards.
        step: i64,
    },
    /// These indices, in this order, negative from the end; an index may occur more than once. Lists along several axes
    /// take every combination of their indices (orthogonal indexing).
    List(Vec<i64>),
    /// The indices where it is true: as many as the axis has items.
    Mask(Vec<bool>),
    /// A new axis of length 1 in the result.
    NewAxis,
    /// All the axes that the other parts leave over, whole.
    Ellipsis,
}

/// A new axis of length 1, in [`s!`](crate::s).
///
/// ```
/// assert_eq!(b2nd::s![b2nd::NewAxis, ..].to_string(), "None, :");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct NewAxis;

/// All the axes that the other parts leave over, in [`s!`](crate::s).
///
/// ```
/// assert_eq!(b2nd::s![b2nd::Ellipsis, 0].to_string(), "..., 0");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Ellipsis;

impl Axis {
    /// The same range with another step; other parts stay as they are.
    #[must_use]
    pub fn with_step(self, step: i64) -> Self {
        match self {
            Axis::Range { start, stop, .. } => Axis::Range { start, stop, step },
            other => other,
        }
    }
}

impl std::fmt::Display for Axis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bound = |b: &Option<i64>| b.map_or(String::new(), |b| b.to_string());
        match self {
            Axis::Index(index) => write!(f, "{index}"),
            Axis::Range { start, stop, step: 1 } => write!(f, "{}:{}", bound(start), bound(stop)),
            Axis::Range { start, stop, step } => write!(f, "{}:{}:{step}", bound(start), bound(stop)),
            Axis::List(list) => write_list(f, list.iter()),
            Axis::Mask(mask) => write_list(f, mask.iter().map(|&m| if m { "True" } else { "False" })),
            Axis::NewAxis => f.write_str("None"),
            Axis::Ellipsis => f.write_str("..."),
        }
    }
}

fn write_list(
    f: &mut std::fmt::Formatter<'_>,
    items: impl Iterator<Item = impl std::fmt::Display>,
) -> std::fmt::Result {
    f.write_str("[")?;
    for (n, item) in items.enumerate() {
        write!(f, "{}{item}", if n == 0 { "" } else { ", " })?;
    }
    f.write_str("]")
}

impl From<NewAxis> for Axis {
    fn from(_: NewAxis) -> Self {
        Axis::NewAxis
    }
}

impl From<Ellipsis> for Axis {
    fn from(_: Ellipsis) -> Self {
        Axis::Ellipsis
    }
}

impl From<RangeFull> for Axis {
    fn from(_: RangeFull) -> Self {
        Axis::Range { start: None, stop: None, step: 1 }
    }
}

/// A bound as `i64`: what does not fit lies beyond every axis and is clipped there.
fn bound<T: TryInto<i64>>(value: T) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}

/// One past an inclusive end. −1, the last item, has no such number: its end is open.
fn past<T: TryInto<i64>>(last: T) -> Option<i64> {
    match bound(last) {
        -1 => None,
        last => Some(last.saturating_add(1)),
    }
}

/// What a list of `$item` becomes, for everything that borrows as a list.
macro_rules! from_lists {
    ($item:ty, $list:ident => $made:expr) => {
        impl From<&[$item]> for Axis {
            fn from($list: &[$item]) -> Self {
                $made
            }
        }
        impl<const N: usize> From<[$item; N]> for Axis {
            fn from(list: [$item; N]) -> Self {
                Axis::from(&list[..])
            }
        }
        impl<const N: usize> From<&[$item; N]> for Axis {
            fn from(list: &[$item; N]) -> Self {
                Axis::from(&list[..])
            }
        }
        impl From<Vec<$item>> for Axis {
            fn from(list: Vec<$item>) -> Self {
                Axis::from(&list[..])
            }
        }
        impl From<&Vec<$item>> for Axis {
            fn from(list: &Vec<$item>) -> Self {
                Axis::from(&list[..])
            }
        }
    };
}

from_lists!(bool, mask => Axis::Mask(mask.to_vec()));

macro_rules! from_integers {
    ($($int:ty),*) => {$(
        from_lists!($int, list => Axis::List(list.iter().map(|&index| bound(index)).collect()));
        impl From<$int> for Axis {
            fn from(index: $int) -> Self {
                Axis::Index(bound(index))
            }
        }
        impl From<Range<$int>> for Axis {
            fn from(range: Range<$int>) -> Self {
                Axis::Range { start: Some(bound(range.start)), stop: Some(bound(range.end)), step: 1 }
            }
        }
        impl From<RangeInclusive<$int>> for Axis {
            fn from(range: RangeInclusive<$int>) -> Self {
                Axis::Range { start: Some(bound(*range.start())), stop: past(*range.end()), step: 1 }
            }
        }
        impl From<RangeFrom<$int>> for Axis {
            fn from(range: RangeFrom<$int>) -> Self {
                Axis::Range { start: Some(bound(range.start)), stop: None, step: 1 }
            }
        }
        impl From<RangeTo<$int>> for Axis {
            fn from(range: RangeTo<$int>) -> Self {
                Axis::Range { start: None, stop: Some(bound(range.end)), step: 1 }
            }
        }
        impl From<RangeToInclusive<$int>> for Axis {
            fn from(range: RangeToInclusive<$int>) -> Self {
                Axis::Range { start: None, stop: past(range.end), step: 1 }
            }
        }
    )*};
}

from_integers!(i32, i64, u32, u64, usize);
