//! The items of a block cell by cell: small boxes, so that what is near in the array is near in the stream.
//!
//! Cells go in C order over the grid that they make of the block, items in C order inside their cell; cells at the upper
//! edges are cut off by the block. Either the items themselves are stored so, or in their place their cell's mean.

use crate::error::Error;
use crate::error::Part;
use crate::error::Result;

/// The most axes that the format has.
const MAX_DIM: usize = 16;
/// The most axes that other readers take.
const WRITABLE_DIM: usize = 8;

/// What becomes of the items of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CellKind {
    /// They are kept.
    Items,
    /// Their mean is stored in the place of each.
    Mean,
}

impl CellKind {
    fn name(self) -> &'static str {
        match self {
            CellKind::Items => "ndcell",
            CellKind::Mean => "ndmean",
        }
    }
}

/// The cells of all blocks of an array.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    kind: CellKind,
    typesize: usize,
    /// The block in items: one axis at least.
    shape: Vec<usize>,
    /// A cell in items.
    sides: Vec<usize>,
    /// The bytes of a block.
    nbytes: usize,
}

/// One cell: where it begins and how long it is, along each axis.
struct Cell {
    start: [usize; MAX_DIM],
    len: [usize; MAX_DIM],
}

impl Cells {
    /// The cells of side `meta` in blocks of that shape. The error is a reason.
    fn new(
        kind: CellKind,
        meta: u8,
        typesize: usize,
        block_shape: Option<&[u32]>,
    ) -> std::result::Result<Self, String> {
        let name = kind.name();
        let Some(block_shape) = block_shape else {
            return Err(format!("{name} needs the shape of the blocks, which only an array has"));
        };
        let most = if kind == CellKind::Mean { 127 } else { 255 };
        if meta == 0 || meta > most {
            return Err(format!("{name}:{meta} is out of range: the side of a cell is 1 to {most}"));
        }
        if block_shape.len() > MAX_DIM {
            return Err(format!("{name} in {} dimensions", block_shape.len()));
        }
        let mut shape: Vec<usize> = block_shape.iter().map(|&length| length as usize).collect();
        if shape.is_empty() {
            shape.push(1);
        }
        let nbytes = shape.iter().try_fold(typesize, |bytes, &length| bytes.checked_mul(length));
        let nbytes = nbytes.ok_or_else(|| format!("{name} in blocks larger than memory"))?;
        let side = usize::from(meta);
        let sides = shape.iter().map(|&length| side.min(length).max(1)).collect();
        Ok(Cells { kind, typesize, shape, sides, nbytes })
    }

    /// The cells that a reader puts back into blocks; `meta` is from the chunk.
    pub(super) fn for_reading(
        kind: CellKind,
        meta: u8,
        typesize: usize,
        block_shape: Option<&[u32]>,
    ) -> Result<Self> {
        let wrong = |reason| match block_shape {
            Some(_) => Error::format(Part::ChunkHeader, None, reason),
            None => Error::unsupported(reason),
        };
        Self::new(kind, meta, typesize, block_shape).map_err(wrong)
    }

    /// The cells of a writer, where other readers take them.
    pub(super) fn for_writing(
        kind: CellKind,
        meta: u8,
        typesize: usize,
        block_shape: Option<&[u32]>,
    ) -> Result<Self> {
        let cells = Self::new(kind, meta, typesize, block_shape).map_err(Error::compression)?;
        let (name, side) = (kind.name(), usize::from(meta));
        let axes = cells.shape.len();
        if axes > WRITABLE_DIM {
            return Err(Error::compression(format!(
                "{name} works in up to {WRITABLE_DIM} dimensions, not in {axes}"
            )));
        }
        if kind == CellKind::Items {
            let items = cells.shape.iter().fold(1_usize, |items, &length| items.saturating_mul(length));
            let cell = (0..axes).fold(1_usize, |cell, _| cell.saturating_mul(side));
            if cell > items {
                return Err(Error::compression(format!(
                    "ndcell:{side}: a cell has {cell} items and a block only {items}: take a smaller side or larger blocks"
                )));
            }
            return Ok(cells);
        }
        if typesize != 4 && typesize != 8 {
            return Err(Error::compression(format!(
                "ndmean works on floats of 4 or 8 bytes, not on items of {typesize}"
            )));
        }
        // Other readers take the side along the first axis for all axes with more than one cell.
        let mut several = cells.shape.iter().zip(&cells.sides).filter(|(length, side)| length > side);
        if several.any(|(_, side)| Some(side) != cells.sides.first()) {
            return Err(Error::compression(format!(
                "ndmean:{side}: the blocks are shorter than {side} along the first axis: take a smaller side or other blocks"
            )));
        }
        Ok(cells)
    }

    /// Whether reading gives something else than what was written.
    pub(super) fn is_lossy(&self) -> bool {
        self.kind == CellKind::Mean
    }

    /// The cells of a block one after another.
    pub(super) fn apply(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        if src.len() != self.nbytes {
            return Err(Error::length(self.nbytes, src.len(), self.wrong_length(src.len())));
        }
        let mut at = 0;
        match (self.kind, self.typesize) {
            (CellKind::Items, _) => self.for_each_cell(|cell| {
                self.for_each_row(cell, |start, len| {
                    dst[at..at + len].copy_from_slice(&src[start..start + len]);
                    at += len;
                });
            }),
            (CellKind::Mean, 4) => {
                self.means(src, dst, f32::from_le_bytes, |sum: f32, items| {
                    (sum / items as f32).to_le_bytes()
                });
            }
            (CellKind::Mean, _) => {
                self.means(src, dst, f64::from_le_bytes, |sum: f64, items| {
                    (sum / items as f64).to_le_bytes()
                });
            }
        }
        Ok(())
    }

    /// The mean of each cell as often as it has items.
    fn means<const N: usize, T: Copy + Default + std::ops::Add<Output = T>>(
        &self,
        src: &[u8],
        dst: &mut [u8],
        read: impl Fn([u8; N]) -> T,
        mean: impl Fn(T, usize) -> [u8; N],
    ) {
        let (mut places, _) = dst.as_chunks_mut::<N>();
        self.for_each_cell(|cell| {
            let (mut sum, mut count) = (T::default(), 0);
            self.for_each_row(cell, |start, len| {
                let (items, _) = src[start..start + len].as_chunks::<N>();
                sum = items.iter().fold(sum, |sum, item| sum + read(*item));
                count += items.len();
            });
            let (here, rest) = std::mem::take(&mut places).split_at_mut(count);
            here.fill(mean(sum, count));
            places = rest;
        });
    }

    /// Puts what was stored cell by cell back into its places.
    pub(super) fn undo(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        if src.len() != self.nbytes {
            return Err(Error::format(Part::Stream, None, self.wrong_length(src.len())));
        }
        let mut at = 0;
        self.for_each_cell(|cell| {
            self.for_each_row(cell, |start, len| {
                dst[start..start + len].copy_from_slice(&src[at..at + len]);
                at += len;
            });
        });
        Ok(())
    }

    fn wrong_length(&self, found: usize) -> String {
        format!("{} in a block of {found} bytes instead of {}", self.kind.name(), self.nbytes)
    }

    /// Visits the cells in C order.
    fn for_each_cell(&self, mut visit: impl FnMut(&Cell)) {
        let axes = self.shape.len();
        let mut cell = Cell { start: [0; MAX_DIM], len: [0; MAX_DIM] };
        loop {
            for axis in 0..axes {
                cell.len[axis] = self.sides[axis].min(self.shape[axis] - cell.start[axis]);
            }
            visit(&cell);
            let more = (0..axes).rev().any(|axis| {
                cell.start[axis] += self.sides[axis];
                let inside = cell.start[axis] < self.shape[axis];
                if !inside {
                    cell.start[axis] = 0;
                }
                inside
            });
            if !more {
                return;
            }
        }
    }

    /// Visits the rows of a cell in C order: the first byte of each in the block, and how many it has.
    fn for_each_row(&self, cell: &Cell, mut visit: impl FnMut(usize, usize)) {
        let axes = self.shape.len();
        let bytes = cell.len[axes - 1] * self.typesize;
        let mut place = [0; MAX_DIM];
        loop {
            let item =
                (0..axes).fold(0, |item, axis| item * self.shape[axis] + cell.start[axis] + place[axis]);
            visit(item * self.typesize, bytes);
            let more = (0..axes - 1).rev().any(|axis| {
                place[axis] += 1;
                let inside = place[axis] < cell.len[axis];
                if !inside {
                    place[axis] = 0;
                }
                inside
            });
            if !more {
                return;
            }
        }
    }
}
