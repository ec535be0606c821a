//! Arguments of a reduction: its axes, its items, and the shape of its result.

use crate::array::grid::named_axes;
use crate::array::selection::Selection;
use crate::error::Result;

/// Arguments of a reduction: axes as NumPy counts them (negative ones from the end), and which items take part.
///
/// `()` means all axes, a number one axis, and an array, slice or vector of numbers several.
///
/// ```
/// use b2nd::{s, Dtype, Options, Over};
/// let mut a = Options::new().create_in_memory(Dtype::of::<i32>(), [2, 3])?;
/// a.write_items(s![], &[1, 2, 3, 4, 5, 6])?;
/// assert_eq!(a.sum(())?.item::<i64>()?, 21);
/// assert_eq!(a.sum(0)?.items::<i64>()?, [5, 7, 9]);
/// assert_eq!(a.sum(Over::axes([-1]).keeping_axes())?.shape(), [2, 1]);
/// assert_eq!(a.max(Over::all().within(s![.., ..2]))?.item::<i32>()?, 5);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Over {
    axes: Option<Vec<i64>>,
    keep: bool,
    selection: Selection,
}

impl Over {
    /// All axes: the result is one item.
    pub fn all() -> Self {
        Over::default()
    }
    /// These axes; negative ones count from the end. No axes at all gives a result for each item.
    pub fn axes(axes: impl IntoIterator<Item = i64>) -> Self {
        Over { axes: Some(axes.into_iter().collect()), ..Over::default() }
    }
    /// Leaves the reduced axes in the shape of the result, with the length 1 (NumPy's `keepdims`).
    #[must_use]
    pub fn keeping_axes(mut self) -> Self {
        self.keep = true;
        self
    }
    /// Takes only the items of a selection: ranges with steps. It has as many axes as the array, so an index is written as
    /// a range of one.
    #[must_use]
    pub fn within(mut self, selection: impl Into<Selection>) -> Self {
        self.selection = selection.into();
        self
    }

    pub(super) fn keeps_axes(&self) -> bool {
        self.keep
    }
    pub(super) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// For each axis whether it is reduced.
    pub(super) fn reduced(&self, ndim: usize) -> Result<Vec<bool>> {
        let Some(axes) = &self.axes else { return Ok(vec![true; ndim]) };
        let mut reduced = vec![false; ndim];
        named_axes(axes, ndim)?.into_iter().for_each(|axis| reduced[axis] = true);
        Ok(reduced)
    }
}

impl From<()> for Over {
    fn from((): ()) -> Self {
        Over::all()
    }
}

impl From<i64> for Over {
    fn from(axis: i64) -> Self {
        Over::axes([axis])
    }
}

impl<const N: usize> From<[i64; N]> for Over {
    fn from(axes: [i64; N]) -> Self {
        Over::axes(axes)
    }
}

impl From<&[i64]> for Over {
    fn from(axes: &[i64]) -> Self {
        Over::axes(axes.iter().copied())
    }
}

impl From<Vec<i64>> for Over {
    fn from(axes: Vec<i64>) -> Self {
        Over::axes(axes)
    }
}
