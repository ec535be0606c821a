//! One output cut into disjoint cells, which threads take and fill at the same time.
//!
//! Invariant: a byte of the output belongs to exactly one cell, and a cell is handed out at most once, so no two
//! [`BoxMut`] ever reach the same byte.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use super::geometry::{Along, Listed, MAX_AXES, Source};
use super::listed;
use super::walk::{self, Place};

/// A C-order output buffer cut by a grid into disjoint boxes, each of which may be taken once, from any thread.
///
/// Axis `d` is cut at `cuts[d]`: ascending positions from 0 to `shape[d]`, both included. Cell `c` (row-major over the
/// intervals) covers the product of its intervals. Handing out a cell twice is refused, so cells never alias.
pub struct BoxGrid<'a> {
    out: *mut u8,
    itemsize: usize,
    axes: usize,
    /// Bytes between neighbours along each axis.
    strides: [usize; MAX_AXES],
    cuts: Vec<Vec<usize>>,
    cells: usize,
    /// For each axis the order of its items in the output, if it is not their own; empty when no axis has an order.
    orders: Vec<Option<&'a [usize]>>,
    /// One bit per cell; empty when the output is empty, because cells without bytes cannot alias.
    taken: Vec<AtomicU64>,
    _out: PhantomData<&'a mut [u8]>,
}

// SAFETY: the pointer is the exclusive borrow of the output; moving it to another thread is moving a `&mut [u8]`.
unsafe impl Send for BoxGrid<'_> {}
// SAFETY: `take` is the only way to the output. It hands out each cell once (an atomic bit) and cells are disjoint.
unsafe impl Sync for BoxGrid<'_> {}

/// One taken box of a [`BoxGrid`].
pub struct BoxMut<'a> {
    start: *mut u8,
    itemsize: usize,
    axes: usize,
    shape: [usize; MAX_AXES],
    strides: [usize; MAX_AXES],
    /// The first item along each axis, before the orders.
    first: [usize; MAX_AXES],
    orders: &'a [Option<&'a [usize]>],
    _out: PhantomData<&'a mut [u8]>,
}

// SAFETY: a box is the only way to its bytes, like a `&mut [u8]`.
unsafe impl Send for BoxMut<'_> {}
// SAFETY: a shared box shows its shape, never its bytes.
unsafe impl Sync for BoxMut<'_> {}

impl<'a> BoxGrid<'a> {
    /// Cuts `out` (C order, `shape` items of `itemsize` bytes).
    ///
    /// `None` when the numbers do not fit `out` or each other: `out` has exactly the length of the items, an item has
    /// at least one byte, there are at most [`MAX_AXES`] axes, and the cuts of an axis strictly ascend (an axis of
    /// length 0 is cut as `[0]`, no interval, or `[0, 0]`, one empty interval).
    pub fn new(out: &'a mut [u8], itemsize: usize, shape: &[usize], cuts: Vec<Vec<usize>>) -> Option<Self> {
        let axes = shape.len();
        if itemsize == 0 || axes > MAX_AXES || cuts.len() != axes {
            return None;
        }
        let mut cells = 1_usize;
        for (&extent, cuts) in shape.iter().zip(&cuts) {
            cells = cells.checked_mul(intervals(extent, cuts)?)?;
        }
        let mut strides = [0; MAX_AXES];
        let empty = shape.contains(&0);
        let mut len = if empty { 0 } else { itemsize };
        for (stride, &extent) in strides[..axes].iter_mut().zip(shape).rev() {
            *stride = len;
            len = len.checked_mul(extent)?;
        }
        if out.len() != len {
            return None;
        }
        // Without an empty axis each cell has an item, so the bitmap is at most an eighth of the output.
        let words = if empty { 0 } else { cells.div_ceil(64) };
        let taken = (0..words).map(|_| AtomicU64::new(0)).collect();
        let out = out.as_mut_ptr();
        Some(BoxGrid {
            out,
            itemsize,
            axes,
            strides,
            cuts,
            cells,
            orders: Vec::new(),
            taken,
            _out: PhantomData,
        })
    }

    /// Sets the order of an axis: item `k` of the cells goes to index `order[k]` of the output.
    ///
    /// `None` when there is no such axis or `order` does not name each of its places once.
    pub fn with_order(mut self, axis: usize, order: &'a [usize]) -> Option<Self> {
        let cuts = self.cuts.get(axis)?;
        if !is_permutation(order, *cuts.last()?) {
            return None;
        }
        if self.orders.is_empty() {
            self.orders.resize(self.axes, None);
        }
        *self.orders.get_mut(axis)? = Some(order);
        Some(self)
    }

    /// The number of cells.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// Takes the cell whose interval along axis `d` is `index[d]`; `None` when it is out of range or taken already.
    ///
    /// Cells without items (of an output without items) may be taken again and again.
    pub fn take(&self, index: &[usize]) -> Option<BoxMut<'_>> {
        if index.len() != self.axes {
            return None;
        }
        let (mut cell, mut offset) = (0, 0);
        let (mut shape, mut first) = ([0; MAX_AXES], [0; MAX_AXES]);
        for (axis, (&at, cuts)) in index.iter().zip(&self.cuts).enumerate() {
            let end = *cuts.get(at.checked_add(1)?)?;
            let start = *cuts.get(at)?;
            shape[axis] = end - start;
            first[axis] = start;
            if self.orders.get(axis).copied().flatten().is_none() {
                offset += start * self.strides[axis];
            }
            cell = cell * (cuts.len() - 1) + at;
        }
        if !self.taken.is_empty() {
            // Relaxed: the bit publishes no data, and only the thread that sets it touches the cell.
            let bit = 1 << (cell % 64);
            let before = self.taken.get(cell / 64)?.fetch_or(bit, Ordering::Relaxed);
            if before & bit != 0 {
                return None;
            }
        }
        Some(BoxMut {
            start: self.out.wrapping_add(offset),
            itemsize: self.itemsize,
            axes: self.axes,
            shape,
            strides: self.strides,
            first,
            orders: &self.orders,
            _out: PhantomData,
        })
    }
}

impl BoxMut<'_> {
    /// The number of items along each axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape[..self.axes]
    }

    /// How the items of the box follow each other in the output, where some axis has an order.
    fn listed(&self) -> Option<[Along<'_>; MAX_AXES]> {
        if self.orders.is_empty() {
            return None;
        }
        let mut axes = [Along::default(); MAX_AXES];
        for (axis, along) in axes[..self.axes].iter_mut().enumerate() {
            let order = self.orders.get(axis).copied().flatten();
            // The cuts end where the order does.
            let list = order.map(|order| &order[self.first[axis]..self.first[axis] + self.shape[axis]]);
            *along = Along { stride: self.strides[axis].cast_signed(), list };
        }
        Some(axes)
    }

    /// The bytes of the box if they are contiguous in the output, so that a block can be decoded into them.
    pub fn contiguous(&mut self) -> Option<&mut [u8]> {
        if !self.orders.is_empty() {
            return None;
        }
        let mut len = self.itemsize;
        for (&extent, &stride) in self.shape[..self.axes].iter().zip(&self.strides).rev() {
            if extent > 1 && stride != len {
                return None;
            }
            // No overflow: while the strides agree, the product is a length inside the output.
            len *= extent;
        }
        // SAFETY: the items lie one after the other in the output, and the cell is ours alone while it is borrowed.
        Some(unsafe { std::slice::from_raw_parts_mut(self.start, len) })
    }

    /// Copies a box of this shape from `source`, by whole rows where both sides are contiguous.
    ///
    /// Returns `false`, with nothing written, when an item would lie outside the source or the number of strides is
    /// not the number of axes. A box without items is always copied.
    pub fn copy_from(&mut self, source: Source<'_>) -> bool {
        let (shape, strides) = (&self.shape[..self.axes], &self.strides[..self.axes]);
        if source.strides.len() != self.axes {
            return false;
        }
        if !self.orders.is_empty() {
            let mut axes = [Along::default(); MAX_AXES];
            for (along, &stride) in axes.iter_mut().zip(source.strides) {
                along.stride = stride;
            }
            let axes = &axes[..self.axes];
            return self.copy_listed(Listed { bytes: source.bytes, offset: source.offset, axes });
        }
        if shape.contains(&0) {
            return true;
        }
        let inside = source.fits(self.itemsize, shape);
        if inside {
            // SAFETY: the cell lies inside the output and is ours alone; the items of the source were just checked.
            unsafe { walk::copy(self.itemsize, shape, self.start, strides, source, Place::Far) };
        }
        inside
    }

    /// As [`BoxMut::copy_from`], from a source that has lists along some axes.
    ///
    /// Returns `false`, with nothing written, also when a list does not have the length of its axis.
    pub fn copy_listed(&mut self, source: Listed<'_>) -> bool {
        let shape = &self.shape[..self.axes];
        if source.axes.len() != self.axes {
            return false;
        }
        if shape.contains(&0) {
            return true;
        }
        let inside = source.fits(self.itemsize, shape);
        if inside {
            let mut plain = [Along::default(); MAX_AXES];
            for (along, &stride) in plain.iter_mut().zip(&self.strides[..self.axes]) {
                along.stride = stride.cast_signed();
            }
            let to = self.listed().unwrap_or(plain);
            let from = source.bytes.as_ptr().wrapping_add(source.offset);
            // SAFETY: an order names places of its axis only, so the cell lies inside the output, and it is ours alone;
            // the items of the source were just checked.
            unsafe { listed::copy(self.itemsize, shape, self.start, &to[..self.axes], from, source.axes) };
        }
        inside
    }

    /// Fills the box with one item.
    ///
    /// # Panics
    /// When `item` does not have the size of an item.
    pub fn fill(&mut self, item: &[u8]) {
        assert_eq!(item.len(), self.itemsize, "a box is filled with a whole item");
        let (shape, strides) = (&self.shape[..self.axes], &self.strides[..self.axes]);
        if shape.contains(&0) {
            return;
        }
        match self.listed() {
            None => {
                // SAFETY: the cell lies inside the output and is ours alone.
                unsafe { walk::fill(item, shape, self.start, strides) };
            }
            Some(to) => {
                let still = [Along::default(); MAX_AXES];
                let (to, from) = (&to[..self.axes], &still[..self.axes]);
                // SAFETY: as in `copy_listed`; without strides every item comes from the one that is there.
                unsafe { listed::copy(self.itemsize, shape, self.start, to, item.as_ptr(), from) };
            }
        }
    }
}

/// Whether `order` names each number below `len` once.
fn is_permutation(order: &[usize], len: usize) -> bool {
    let mut seen = vec![0_u64; len.div_ceil(64)];
    order.len() == len
        && order.iter().all(|&place| {
            let bit = 1 << (place % 64);
            let word = if place < len { seen.get_mut(place / 64) } else { None };
            word.is_some_and(|word| {
                let fresh = *word & bit == 0;
                *word |= bit;
                fresh
            })
        })
}

/// The number of intervals between the cuts of one axis; `None` when they are not cuts of `extent`.
fn intervals(extent: usize, cuts: &[usize]) -> Option<usize> {
    let ends = cuts.first() == Some(&0) && cuts.last() == Some(&extent);
    let ascending = cuts == [0, 0] || cuts.is_sorted_by(|a, b| a < b);
    (ends && ascending).then(|| cuts.len() - 1)
}
