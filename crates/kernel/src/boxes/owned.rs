//! An output that its grid of cells owns, for results that are filled over several calls.

use super::grid::BoxGrid;
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// An output buffer with the [`BoxGrid`] that cuts it, in one value without a lifetime.
///
/// The grid refers to the heap memory of the buffer and of the orders. Invariant: that memory is neither moved, resized
/// nor freed while the grid exists, and nothing but the grid reaches the bytes of the output meanwhile.
pub struct OwnedGrid {
    grid: BoxGrid<'static>,
    /// The buffer, as raw parts: a `Vec` beside pointers into it would claim its bytes.
    out: *mut u8,
    len: usize,
    capacity: usize,
    /// Keeps the orders that the grid refers to.
    _orders: Vec<Option<Arc<[usize]>>>,
}

// SAFETY: the buffer and the orders are owned; the grid may be sent, as it is a borrow of them.
unsafe impl Send for OwnedGrid {}
// SAFETY: a shared `OwnedGrid` gives out a shared grid only, which threads may share.
unsafe impl Sync for OwnedGrid {}

impl OwnedGrid {
    /// Cuts `out` as [`BoxGrid::new`] does, with an order for each axis that has one as in [`BoxGrid::with_order`]
    /// (`orders` may be shorter than the axes).
    ///
    /// `None` when the numbers do not fit `out` or each other.
    pub fn new(
        out: Vec<u8>,
        itemsize: usize,
        shape: &[usize],
        cuts: Vec<Vec<usize>>,
        orders: Vec<Option<Arc<[usize]>>>,
    ) -> Option<Self> {
        let mut out = ManuallyDrop::new(out);
        let (start, len, capacity) = (out.as_mut_ptr(), out.len(), out.capacity());
        // SAFETY: `start` points to `len` initialised bytes of the buffer, which lives until `OwnedGrid` (or `reclaim` below)
        // frees it; the grid is the only way to them until then.
        let bytes: &'static mut [u8] = unsafe { std::slice::from_raw_parts_mut(start, len) };
        let mut grid = BoxGrid::new(bytes, itemsize, shape, cuts);
        for (axis, order) in orders.iter().enumerate() {
            let Some(order) = order else { continue };
            // SAFETY: the slice is on the heap and kept by `_orders` for as long as the grid exists; nothing writes to it.
            let order: &'static [usize] = unsafe { std::slice::from_raw_parts(order.as_ptr(), order.len()) };
            grid = grid.and_then(|grid| grid.with_order(axis, order));
        }
        let Some(grid) = grid else {
            drop(ManuallyDrop::into_inner(out));
            return None;
        };
        Some(OwnedGrid { grid, out: start, len, capacity, _orders: orders })
    }

    /// The grid.
    pub fn grid(&self) -> &BoxGrid<'_> {
        &self.grid
    }

    /// The output. No box of the grid is left by then, as boxes borrow it.
    pub fn into_output(self) -> Vec<u8> {
        let this = ManuallyDrop::new(self);
        // SAFETY: read once, from a value that is not dropped; the grid owns nothing of the output.
        let grid = unsafe { std::ptr::read(&raw const this.grid) };
        drop(grid);
        // SAFETY: read once, from a value that is not dropped.
        drop(unsafe { std::ptr::read(&raw const this._orders) });
        // SAFETY: the raw parts of the `Vec` that `new` took apart; nothing refers to them any more.
        unsafe { Vec::from_raw_parts(this.out, this.len, this.capacity) }
    }
}

impl Drop for OwnedGrid {
    fn drop(&mut self) {
        // SAFETY: the raw parts of the `Vec` that `new` took apart; the grid has no destructor that looks at the output.
        drop(unsafe { Vec::from_raw_parts(self.out, self.len, self.capacity) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_filled_over_several_calls_and_moves() {
        let order: Arc<[usize]> = Arc::from([2, 0, 1]);
        let grid = OwnedGrid::new(
            vec![0; 6],
            1,
            &[2, 3],
            vec![vec![0, 1, 2], vec![0, 1, 3]],
            vec![None, Some(order)],
        );
        let grid = grid.unwrap();
        grid.grid().take(&[0, 0]).unwrap().fill(&[1]);
        let moved = Box::new(grid);
        std::thread::scope(|scope| {
            scope.spawn(|| moved.grid().take(&[1, 1]).unwrap().fill(&[2]));
            scope.spawn(|| moved.grid().take(&[0, 1]).unwrap().fill(&[3]));
        });
        assert!(moved.grid().take(&[0, 0]).is_none(), "taken before it was moved");
        assert_eq!(moved.into_output(), [3, 3, 1, 2, 2, 0]);
    }

    #[test]
    fn what_does_not_fit_is_refused_and_freed() {
        assert!(OwnedGrid::new(vec![0; 5], 1, &[2, 3], vec![vec![0, 2], vec![0, 3]], Vec::new()).is_none());
        let order: Arc<[usize]> = Arc::from([0, 0]);
        assert!(OwnedGrid::new(vec![0; 2], 1, &[2], vec![vec![0, 2]], vec![Some(order)]).is_none());
        drop(OwnedGrid::new(vec![7; 2], 1, &[2], vec![vec![0, 2]], Vec::new()).unwrap());
    }
}
