//! Selections: ranges with steps, single indices, lists, masks, new axes and the ellipsis, as NumPy has them.

mod axis;
mod parse;
mod resolve;
#[cfg(test)]
mod tests;

pub use axis::{Axis, Ellipsis, NewAxis};
pub(crate) use resolve::{Line, List, Pick, Resolved};

use crate::error::Result;

/// Which items of an array: as NumPy's basic indexing, with lists and masks along single axes (orthogonal indexing).
/// Axes that are not named are taken whole.
///
/// Written with the [`s!`](crate::s) macro, parsed from text, or built from [`Axis`] values.
///
/// ```
/// use b2nd::{s, Selection};
/// assert_eq!(s![10..20, .., -5], Selection::parse("10:20, :, -5")?);
/// assert_eq!(s![..;2], Selection::parse("::2")?);
/// assert_eq!(s![.., [7, 0, -1]], Selection::parse(":, [7, 0, -1]")?);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Selection {
    axes: Vec<Axis>,
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
        Selection { axes: axes.into() }
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
        Selection { axes: axes.collect() }
    }

    /// The parts.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The selection against a shape: where each axis starts, how it steps, how many items it gives.
    pub(crate) fn resolve(&self, shape: &[u64]) -> Result<Resolved> {
        resolve::resolve(&self.axes, shape)
    }
}

impl From<()> for Selection {
    fn from((): ()) -> Self {
        Selection::all()
    }
}

impl std::fmt::Display for Selection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.axes.is_empty() {
            return f.write_str("...");
        }
        for (n, axis) in self.axes.iter().enumerate() {
            write!(f, "{}{axis}", if n == 0 { "" } else { ", " })?;
        }
        // As in Python, a comma tells one list along the first axis from brackets around indices.
        match &self.axes[..] {
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
        $crate::s!(@parts [$($done,)* $crate::Axis::from($range).with_step($step),] $($rest)+)
    };
    (@parts [$($done:expr,)*] $range:expr ; $step:expr $(,)?) => {
        $crate::s!(@parts [$($done,)* $crate::Axis::from($range).with_step($step),])
    };
    (@parts [$($done:expr,)*] $part:expr, $($rest:tt)+) => {
        $crate::s!(@parts [$($done,)* $crate::Axis::from($part),] $($rest)+)
    };
    (@parts [$($done:expr,)*] $part:expr $(,)?) => { $crate::s!(@parts [$($done,)* $crate::Axis::from($part),]) };
    () => { $crate::Selection::all() };
    ($($parts:tt)+) => { $crate::s!(@parts [] $($parts)+) };
}
