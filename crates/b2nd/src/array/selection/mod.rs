//! Selections: ranges with steps, single indices, lists, masks, new axes and the ellipsis, as NumPy has them; points.

mod axis;
mod parse;
mod points;
mod resolve;
mod resolved;
#[cfg(test)]
mod tests;

pub use axis::{Axis, Ellipsis, NewAxis};
pub use resolve::ResolvedSelection;
pub(crate) use resolve::{Line, List, Pick, Resolved, Taken};
pub use resolved::TakenAxis;

use crate::array::shape::Shape;
use crate::error::Result;
use crate::limits::MAX_NDIM;

/// Which items of an array: as NumPy's basic indexing, with lists and masks along single axes (orthogonal indexing).
/// Axes that are not named are taken whole.
///
/// Written with the [`s!`](crate::s) macro, parsed from text, or built from [`Axis`] values. Single items, one by one, are
/// selected by [`Selection::points`], [`Selection::coordinates`], [`Selection::flat`] or [`Selection::mask`]: their result
/// has one axis, in the order in which they are named.
///
/// Whatever it takes, a read decodes each touched block once and no other. In a write where an item is named more than
/// once, the last of what is given for it stays.
///
/// ```
/// use b2nd::{s, Selection};
/// assert_eq!(s![10..20, .., -5], Selection::parse("10:20, :, -5")?);
/// assert_eq!(s![..;2], Selection::parse("::2")?);
/// assert_eq!(s![.., [7, 0, -1]], Selection::parse(":, [7, 0, -1]")?);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Selection {
    kind: SelectionKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum SelectionKind {
    Axes(Vec<Axis>),
    Points(Vec<i64>),
    Coordinates(Vec<Vec<i64>>),
    Flat(Vec<i64>),
    Mask { shape: Shape, items: Vec<bool> },
}

impl Default for Selection {
    fn default() -> Self {
        Selection::new([])
    }
}

impl Selection {
    /// Everything.
    ///
    /// ```
    /// assert_eq!(b2nd::Selection::all().to_string(), "...");
    /// ```
    pub fn all() -> Self {
        Selection::default()
    }

    /// These parts, in the order of the axes.
    ///
    /// ```
    /// use b2nd::{Axis, Selection};
    /// assert_eq!(Selection::new([Axis::Index(3), Axis::from(..2)]).to_string(), "3, :2");
    /// ```
    pub fn new(axes: impl Into<Vec<Axis>>) -> Self {
        Selection { kind: SelectionKind::Axes(axes.into()) }
    }

    /// Every combination of one list of indices (or mask, or range) for each axis.
    ///
    /// ```
    /// use b2nd::{s, Selection};
    /// assert_eq!(Selection::orthogonal([vec![3, 1], vec![-1, 0]]), s![[3, 1], [-1, 0]]);
    /// ```
    pub fn orthogonal(lists: impl IntoIterator<Item: Into<Axis>>) -> Self {
        Selection::new(lists.into_iter().map(Into::into).collect::<Vec<Axis>>())
    }

    /// Single items by their indices, one point after the other: `ndim` numbers each, negative from the end.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options, Selection};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [2, 3])?;
    /// a.write_bytes(s![], &[0, 1, 2, 10, 11, 12])?;
    /// let corners = Selection::points([[1, 2], [0, 0], [1, -1]].as_flattened());
    /// assert_eq!(a.read_bytes(corners)?, [12, 0, 12]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn points(coordinates: impl Into<Vec<i64>>) -> Self {
        Selection { kind: SelectionKind::Points(coordinates.into()) }
    }

    /// Single items by one list of indices for each axis, all of the same length (Zarr's `vindex`).
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options, Selection};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [2, 3])?;
    /// let (rows, columns) = (vec![1, 0, 1], vec![2, 0, 0]);
    /// a.write_bytes(Selection::coordinates([rows, columns]), &[7, 8, 9])?;
    /// assert_eq!(a.read_bytes(s![])?, [8, 0, 0, 9, 0, 7]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn coordinates(lists: impl Into<Vec<Vec<i64>>>) -> Self {
        Selection { kind: SelectionKind::Coordinates(lists.into()) }
    }

    /// Single items by their positions in C order, negative from the end.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options, Selection};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [2, 3])?;
    /// a.write_bytes(s![], &[0, 1, 2, 10, 11, 12])?;
    /// assert_eq!(a.read_bytes(Selection::flat([4, -1, 4]))?, [11, 12, 11]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn flat(positions: impl Into<Vec<i64>>) -> Self {
        Selection { kind: SelectionKind::Flat(positions.into()) }
    }

    /// The items where a mask of the array's own shape is true, in C order.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options, Selection};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("|u1")?, [2, 2])?;
    /// a.write_bytes(s![], &[5, 6, 7, 8])?;
    /// let odd = Selection::mask([2, 2], [true, false, true, false]);
    /// assert_eq!(a.read_bytes(odd.clone())?, [5, 7]);
    /// a.fill_bytes(odd, &[0])?;
    /// assert_eq!(a.read_bytes(s![])?, [0, 6, 0, 8]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn mask(shape: impl Into<Shape>, items: impl Into<Vec<bool>>) -> Self {
        Selection { kind: SelectionKind::Mask { shape: shape.into(), items: items.into() } }
    }

    /// These indices along one axis (negative: counted from the last), all other axes whole.
    ///
    /// ```
    /// use b2nd::Selection;
    /// assert_eq!(Selection::take([3, 0], 1).to_string(), ":, [3, 0]");
    /// assert_eq!(Selection::take([3, 0], -2).to_string(), "..., [3, 0], :");
    /// ```
    pub fn take(indices: impl Into<Vec<i64>>, axis: i64) -> Self {
        let list = std::iter::once(Axis::List(indices.into()));
        // More than any array has, where the number is out of range: that is said when the shape is known.
        let whole = |count: u64| std::iter::repeat_n(Axis::from(..), count.min(MAX_NDIM as u64) as usize);
        Selection::new(if axis >= 0 {
            whole(axis.unsigned_abs()).chain(list).collect::<Vec<_>>()
        } else {
            let after = whole(axis.unsigned_abs() - 1);
            std::iter::once(Axis::Ellipsis).chain(list).chain(after).collect()
        })
    }

    /// The box `start[d]..stop[d]` along every axis.
    ///
    /// ```
    /// use b2nd::Selection;
    /// assert_eq!(Selection::from_box(&[0, 5], &[2, 9]).to_string(), "0:2, 5:9");
    /// ```
    pub fn from_box(start: &[u64], stop: &[u64]) -> Self {
        let bound = |index: u64| Some(i64::try_from(index).unwrap_or(i64::MAX));
        let axes =
            start.iter().zip(stop).map(|(&a, &b)| Axis::Range { start: bound(a), stop: bound(b), step: 1 });
        Selection::new(axes.collect::<Vec<_>>())
    }

    /// The parts along the axes; `None` for single items.
    ///
    /// ```
    /// use b2nd::{s, Axis, Selection};
    /// assert_eq!(s![4].axes(), Some(&[Axis::Index(4)][..]));
    /// assert_eq!(Selection::flat([4]).axes(), None);
    /// ```
    pub fn axes(&self) -> Option<&[Axis]> {
        match &self.kind {
            SelectionKind::Axes(axes) => Some(axes),
            _ => None,
        }
    }

    /// The selection against the shape of an array: all its numbers absolute and checked.
    ///
    /// ```
    /// use b2nd::s;
    /// let resolved = s![.., -3..].resolve(&[5, 100])?;
    /// assert_eq!(resolved.shape(), [5, 3]);
    /// assert!(s![7].resolve(&[5, 100]).is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfBounds`](crate::Error::OutOfBounds) or [`Error::NdimMismatch`](crate::Error::NdimMismatch) when
    /// the selection does not fit the shape.
    pub fn resolve(&self, shape: &[u64]) -> Result<ResolvedSelection> {
        match &self.kind {
            SelectionKind::Axes(axes) => resolve::resolve(axes, shape),
            SelectionKind::Points(coordinates) => points::points(coordinates, shape),
            SelectionKind::Coordinates(lists) => points::coordinates(lists, shape),
            SelectionKind::Flat(positions) => points::flat(positions, shape),
            SelectionKind::Mask { shape: own, items } => points::mask(items, own.lengths()?, shape),
        }
    }
}

impl From<()> for Selection {
    fn from((): ()) -> Self {
        Selection::all()
    }
}

/// NumPy's notation, which [`Selection::parse`] reads; single items have none and are counted.
impl std::fmt::Display for Selection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let axes = match &self.kind {
            SelectionKind::Axes(axes) => axes,
            SelectionKind::Points(numbers) => return write!(f, "points of {} indices", numbers.len()),
            SelectionKind::Coordinates(lists) => {
                return write!(f, "{} points", lists.first().map_or(0, Vec::len));
            }
            SelectionKind::Flat(positions) => return write!(f, "{} flat positions", positions.len()),
            SelectionKind::Mask { shape, .. } => {
                return write!(f, "a mask of shape {:?}", shape.lengths().unwrap_or_default());
            }
        };
        if axes.is_empty() {
            return f.write_str("...");
        }
        for (n, axis) in axes.iter().enumerate() {
            write!(f, "{}{axis}", if n == 0 { "" } else { ", " })?;
        }
        // As in Python, a comma tells one list along the first axis from brackets around indices.
        match &axes[..] {
            [Axis::List(_) | Axis::Mask(_)] => f.write_str(","),
            _ => Ok(()),
        }
    }
}

/// Writes a [`Selection`]: `s![0..31, .., -1, ..;2]`, with [`NewAxis`] and [`Ellipsis`] where they are wanted.
///
/// A range takes its step behind a semicolon; as in Python a negative step walks backwards: `s![..;-1]` reverses an axis.
/// Arrays, slices and vectors of indices are lists; those of `bool` are masks.
///
/// ```
/// use b2nd::{s, Ellipsis, NewAxis};
/// assert_eq!(s![NewAxis, 1..5;2, Ellipsis, 0].to_string(), "None, 1:5:2, ..., 0");
/// let rows = vec![9, 3, 3];
/// assert_eq!(s![rows, [true, false], 2].to_string(), "[9, 3, 3], [True, False], 2");
/// ```
#[macro_export]
macro_rules! s {
    (@parts [$($done:expr,)*]) => { $crate::Selection::new(vec![$($done,)*] as Vec<$crate::Axis>) };
    (@parts [$($done:expr,)*] $range:expr ; $step:expr, $($rest:tt)+) => {
        $crate::s!(@parts [$($done,)* $crate::s!(@stepped $range, $step),] $($rest)+)
    };
    (@parts [$($done:expr,)*] $range:expr ; $step:expr $(,)?) => {
        $crate::s!(@parts [$($done,)* $crate::s!(@stepped $range, $step),])
    };
    (@parts [$($done:expr,)*] $part:expr, $($rest:tt)+) => {
        $crate::s!(@parts [$($done,)* $crate::Axis::from($part),] $($rest)+)
    };
    (@parts [$($done:expr,)*] $part:expr $(,)?) => { $crate::s!(@parts [$($done,)* $crate::Axis::from($part),]) };
    (@stepped $range:expr, $step:expr) => {{
        #[allow(clippy::reversed_empty_ranges, reason = "a negative step walks from the greater to the smaller")]
        let range = $range;
        $crate::Axis::from(range).with_step($step)
    }};
    () => { $crate::Selection::all() };
    ($($parts:tt)+) => { $crate::s!(@parts [] $($parts)+) };
}
