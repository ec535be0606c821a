//! Which axes a view has, and where each is in the array. Pure.

use crate::array::grid::Grid;
use crate::array::grid::named_axes;
use crate::array::selection::Line;
use crate::array::selection::Pick;
use crate::error::Error;
use crate::error::Result;
use crate::limits::MAX_NDIM;

/// The axes of an array in another order, without some of length 1, with others of length 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arrangement {
    /// The array's grid under these axes.
    grid: Grid,
    /// For each axis which of the array's it is; `None` for a new one.
    axes: Vec<Option<usize>>,
}

impl Arrangement {
    /// The axes as they are.
    pub(crate) fn of(grid: &Grid) -> Self {
        Arrangement { grid: grid.clone(), axes: (0..grid.ndim()).map(Some).collect() }
    }

    pub(crate) fn grid(&self) -> &Grid {
        &self.grid
    }

    pub(super) fn axes(&self) -> &[Option<usize>] {
        &self.axes
    }

    /// These axes of this arrangement, or new ones, in turn.
    fn rearranged(&self, order: &[Option<usize>]) -> Self {
        let axes = order.iter().map(|axis| axis.and_then(|d| self.axes.get(d).copied().flatten()));
        Arrangement { grid: self.grid.arranged(order), axes: axes.collect() }
    }

    /// The axes but for those `left_out`.
    fn without(&self, left_out: impl Fn(usize) -> bool) -> Self {
        let kept = (0..self.grid.ndim()).filter(|&axis| !left_out(axis)).map(Some);
        self.rearranged(&kept.collect::<Vec<_>>())
    }

    pub(super) fn squeeze(&self) -> Self {
        self.without(|axis| self.grid.shape()[axis] == 1)
    }

    pub(super) fn squeeze_axes(&self, axes: &[i64]) -> Result<Self> {
        let named = named_axes(axes, self.grid.ndim())?;
        if let Some(&axis) = named.iter().find(|&&axis| self.grid.shape()[axis] != 1) {
            return Err(Error::length(
                1u64,
                self.grid.shape()[axis],
                format!(
                    "axis {axis} has {} items: only axes of length 1 can be left out of the shape {:?}",
                    self.grid.shape()[axis],
                    self.grid.shape()
                ),
            ));
        }
        Ok(self.without(|axis| named.contains(&axis)))
    }

    pub(super) fn expand_dims(&self, axes: &[i64]) -> Result<Self> {
        let ndim = self.grid.ndim().saturating_add(axes.len());
        if ndim > MAX_NDIM {
            return Err(Error::above(
                MAX_NDIM,
                ndim,
                format!("a view has at most {MAX_NDIM} axes, and this one would have {ndim}"),
            ));
        }
        let new = named_axes(axes, ndim)?;
        let mut own = 0..self.grid.ndim();
        let order = (0..ndim).map(|axis| if new.contains(&axis) { None } else { own.next() });
        Ok(self.rearranged(&order.collect::<Vec<_>>()))
    }

    pub(super) fn transpose(&self) -> Self {
        self.rearranged(&(0..self.grid.ndim()).rev().map(Some).collect::<Vec<_>>())
    }

    pub(super) fn permute(&self, axes: &[i64]) -> Result<Self> {
        let ndim = self.grid.ndim();
        let order = named_axes(axes, ndim)?;
        if order.len() != ndim {
            return Err(Error::ndim(
                ndim,
                order.len(),
                format!("the order of axes {axes:?} names {} of {ndim}", order.len()),
            ));
        }
        Ok(self.rearranged(&order.into_iter().map(Some).collect::<Vec<_>>()))
    }

    /// What is taken along the axes of an array of `ndim`, where `picks` are taken along these axes, and the items of the
    /// result, none of whose axes is empty, are `strides` apart: picks, strides, and where the first item is.
    ///
    /// Along a new axis one item may be taken more than once; the last of them counts.
    pub(crate) fn to_array(
        &self,
        picks: Vec<Pick>,
        strides: &[usize],
        ndim: usize,
    ) -> (Vec<Pick>, Vec<usize>, usize) {
        let only = Pick::Line(Line { start: 0, step: 1, count: 1 });
        let (mut found, mut apart, mut first) = (vec![only; ndim], vec![0; ndim], 0);
        for ((pick, &stride), axis) in picks.into_iter().zip(strides).zip(&self.axes) {
            match axis {
                Some(d) => (found[*d], apart[*d]) = (pick, stride),
                None => first += (pick.count().saturating_sub(1) as usize).saturating_mul(stride),
            }
        }
        (found, apart, first)
    }
}
