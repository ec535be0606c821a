//! Copies of N-dimensional boxes, and one output shared by many threads in disjoint boxes.

/// A C-order output buffer cut by a grid into disjoint boxes, each of which may be taken once, from any thread.
///
/// Axis `d` is cut at `cuts[d]`: ascending positions from 0 to `shape[d]`, both included. Cell `c` (row-major over the
/// intervals) covers the product of its intervals. Handing out a cell twice is refused, so cells never alias.
pub struct BoxGrid<'a> {
    _out: std::marker::PhantomData<&'a mut [u8]>,
}

/// One taken box of a [`BoxGrid`].
pub struct BoxMut<'a> {
    _out: std::marker::PhantomData<&'a mut [u8]>,
}

/// Where the items of a box come from: `offset` bytes into a source, then `strides` bytes along each axis.
///
/// Strides may be negative or zero (one item repeated).
#[derive(Debug, Clone, Copy)]
pub struct Source<'s> {
    /// The bytes.
    pub bytes: &'s [u8],
    /// The position of the first item, in bytes.
    pub offset: usize,
    /// The distance between neighbours along each axis, in bytes.
    pub strides: &'s [isize],
}

impl<'a> BoxGrid<'a> {
    /// Cuts `out` (C order, `shape` items of `itemsize` bytes). `None` when the numbers do not fit `out` or each other.
    pub fn new(out: &'a mut [u8], itemsize: usize, shape: &[usize], cuts: Vec<Vec<usize>>) -> Option<Self> {
        let _ = (out, itemsize, shape, cuts);
        todo!()
    }
    /// The number of cells.
    pub fn cells(&self) -> usize {
        todo!()
    }
    /// Takes the cell whose interval along axis `d` is `index[d]`; `None` when it is out of range or taken already.
    pub fn take(&self, index: &[usize]) -> Option<BoxMut<'_>> {
        let _ = index;
        todo!()
    }
}

impl BoxMut<'_> {
    /// The number of items along each axis.
    pub fn shape(&self) -> &[usize] {
        todo!()
    }
    /// Copies a box of this shape from `source`, by whole rows where both sides are contiguous.
    ///
    /// Returns `false`, with nothing written, when an item would lie outside the source.
    pub fn copy_from(&mut self, source: Source<'_>) -> bool {
        let _ = source;
        todo!()
    }
    /// Fills the box with one item (of `itemsize` bytes).
    pub fn fill(&mut self, item: &[u8]) {
        let _ = item;
        todo!()
    }
}

/// Copies a box of `shape` items of `itemsize` bytes between two strided buffers.
///
/// Returns `false`, with nothing written, when an item would lie outside either buffer or two items of the
/// destination could overlap.
pub fn copy_box(
    itemsize: usize,
    shape: &[usize],
    dst: &mut [u8],
    dst_offset: usize,
    dst_strides: &[usize],
    source: Source<'_>,
) -> bool {
    let _ = (itemsize, shape, dst, dst_offset, dst_strides, source);
    todo!()
}
