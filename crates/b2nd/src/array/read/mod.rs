//! Reading a selection: each touched block is decoded once and its items go straight to their place in the result.

pub(crate) mod chunk;
pub(crate) mod plan;

use crate::array::Array;
use crate::array::selection::Resolved;
use crate::array::selection::Selection;
use crate::error::Error;
use crate::error::Result;
use crate::exec::Exec;
use crate::limits::Limits;
use crate::limits::zeroed;
use b2nd_kernel::boxes::BoxGrid;
use plan::Plan;

impl Array {
    /// The shape that reading `selection` gives.
    ///
    /// ```
    /// use b2nd::{s, Array, Dtype, NewAxis, Options};
    /// let a = Options::new().create(None, Dtype::parse("<f4")?, &[10, 20])?;
    /// assert_eq!(a.selection_shape(s![3, ..;2])?, [10]);
    /// assert_eq!(a.selection_shape(s![..5, NewAxis])?, [5, 1, 20]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] when the selection does not fit the shape.
    pub fn selection_shape(&self, selection: impl Into<Selection>) -> Result<Vec<u64>> {
        Ok(selection.into().resolve(self.shape())?.shape)
    }

    /// Reads a selection as bytes: C order, the dtype's own byte order.
    ///
    /// ```
    /// use b2nd::{s, Array, Dtype, Options};
    /// let mut a = Options::new().create(None, Dtype::parse("|u1")?, &[2, 3])?;
    /// a.write_bytes(s![], &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(a.read_bytes(s![.., ..;-1])?, [3, 2, 1, 6, 5, 4]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] when the selection does not fit the shape, [`Error::Limit`] when the result is larger than
    /// [`Limits::max_read_bytes`], [`Error::Format`] where the file is damaged.
    pub fn read_bytes(&self, selection: impl Into<Selection>) -> Result<Vec<u8>> {
        let resolved = selection.into().resolve(self.shape())?;
        let bytes = self.result_bytes(&resolved)?;
        Limits::check("the result of the read", bytes, self.schunk.limits().max_read_bytes())?;
        let mut out = zeroed("the result of the read", bytes)?;
        self.read_resolved(&resolved, &mut out)?;
        Ok(out)
    }

    /// As [`Array::read_bytes`], into a buffer of exactly the right size.
    ///
    /// # Errors
    /// As [`Array::read_bytes`], and [`Error::Usage`] when the buffer has another size. After an error its content is
    /// undefined.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let a = Options::new().create(None, Dtype::parse("<i2")?, &[4])?;
    /// let mut out = [9; 4];
    /// a.read_bytes_into(s![1..3], &mut out)?;
    /// assert_eq!(out, [0; 4]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn read_bytes_into(&self, selection: impl Into<Selection>, out: &mut [u8]) -> Result<()> {
        let resolved = selection.into().resolve(self.shape())?;
        self.read_resolved(&resolved, out)
    }

    /// The bytes of a result.
    pub(crate) fn result_bytes(&self, resolved: &Resolved) -> Result<u64> {
        let items = resolved.items()?;
        items
            .checked_mul(self.grid.itemsize() as u64)
            .ok_or_else(|| Error::usage("the selection has more than 2^64 bytes"))
    }

    /// Reads the box of `counts` items from `start` on, with threads of the caller's choice.
    pub(crate) fn read_box(&self, start: &[u64], counts: &[u64], out: &mut [u8], exec: &Exec) -> Result<()> {
        let stop: Vec<u64> = start.iter().zip(counts).map(|(&at, &n)| at.saturating_add(n)).collect();
        self.read_resolved_with(&Selection::from_box(start, &stop).resolve(self.shape())?, out, exec)
    }

    /// Reads a resolved selection into a buffer of its size.
    pub(crate) fn read_resolved(&self, resolved: &Resolved, out: &mut [u8]) -> Result<()> {
        self.read_resolved_with(resolved, out, self.schunk.exec())
    }

    fn read_resolved_with(&self, resolved: &Resolved, out: &mut [u8], exec: &Exec) -> Result<()> {
        let bytes = self.result_bytes(resolved)?;
        if bytes != out.len() as u64 {
            return Err(Error::usage(format!(
                "the buffer has {} bytes, and the selection gives {bytes}: shape {:?} of {}",
                out.len(),
                resolved.shape,
                self.dtype()
            )));
        }
        if bytes == 0 {
            return Ok(());
        }
        let plan = Plan::new(&self.grid, &resolved.lines, self.schunk.limits())?;
        let cells = BoxGrid::new(out, self.grid.itemsize(), &plan.counts, plan.cuts())
            .ok_or_else(|| Error::usage("the selection does not fit the memory of this machine"))?;
        let chunks = plan.chunks();
        // Few chunks are cut into parts, so that every thread has work; a part fetches only its own blocks.
        let parts =
            if chunks >= 4 * exec.threads() { 1 } else { (4 * exec.threads()).div_ceil(chunks.max(1)) };
        let parts = if exec.threads() == 1 { 1 } else { parts };
        exec.run(chunks.saturating_mul(parts), bytes, |scratch, task| {
            let visit = plan.visit(&self.grid, task / parts);
            let (blocks, part) = (visit.blocks(), task % parts);
            let range = blocks * part / parts..blocks * (part + 1) / parts;
            if range.is_empty() {
                return Ok(());
            }
            chunk::ChunkRead {
                array: self,
                plan: &plan,
                visit: &visit,
                cells: &cells,
                last: part + 1 == parts,
            }
            .run(range, scratch)
            .map_err(|error| error.in_chunk(visit.chunk).at(self.schunk.path()))
        })
    }
}
