//! A part of every item: all of it, or one field of a structure.

use crate::array::Array;
use crate::array::dtype::Dtype;
use crate::array::dtype::Field;
use crate::array::dtype::Kind;
use crate::array::grid::Grid;
use crate::array::read::Hooks;
use crate::array::read::Resolved;
use crate::array::read::visit::ItemPart;
use crate::array::selection::Selection;
use crate::error::Error;
use crate::error::Result;
use crate::exec::Exec;
use crate::limits::Limits;
use crate::limits::zeroed;

/// One field of the items of an array, as [`Array::field`] gives it: read like an array of its own dtype.
///
/// Only the bytes of the field are copied out of the decoded blocks.
#[derive(Debug, Clone, Copy)]
pub struct ArrayField<'a> {
    array: &'a Array,
    /// The axes that selections are from: the array's, or those of a view.
    grid: &'a Grid,
    dtype: &'a Dtype,
    /// The shape of the field's sub-array.
    inner: &'a [usize],
    part: ItemPart,
    /// Whether the closure for reading is left out.
    hooks: Hooks,
}

impl Array {
    /// A field of a structured dtype by its name or title; `"pos.x"` is the field `x` of the structure `pos`.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let dtype = Dtype::parse("[('id', '<u2'), ('pos', [('x', '|u1'), ('y', '|u1')])]")?;
    /// let mut a = Options::new().create_in_memory(dtype, [2])?;
    /// a.write_bytes(s![], &[1, 0, 10, 11, 2, 0, 20, 21])?;
    /// assert_eq!(a.field("id")?.read_items::<u16>(s![])?, [1, 2]);
    /// assert_eq!(a.field("pos.y")?.read_items::<u8>(s![..;-1])?, [21, 11]);
    /// assert!(a.field("pos.z").is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such field, or it lies in a sub-array of structures.
    pub fn field(&self, path: &str) -> Result<ArrayField<'_>> {
        let (field, offset) = find(self.dtype().fields(), path).ok_or_else(|| {
            Error::missing("field", path, format!("the dtype {} has no field '{path}'", self.dtype()))
        })?;
        Ok(ArrayField {
            array: self,
            grid: &self.grid,
            dtype: field.dtype(),
            inner: field.shape(),
            part: ItemPart { offset, size: field.size() },
            hooks: Hooks::Called,
        })
    }

    /// The items whole.
    pub(crate) fn items(&self) -> ArrayField<'_> {
        let part = ItemPart { offset: 0, size: self.grid.itemsize() };
        ArrayField {
            array: self,
            grid: &self.grid,
            dtype: self.dtype(),
            inner: &[],
            part,
            hooks: Hooks::Called,
        }
    }
}

/// The field that a path names, and where it lies in the item.
fn find<'d>(fields: &'d [Field], path: &str) -> Option<(&'d Field, usize)> {
    let named = |name: &str| fields.iter().find(|f| f.name() == name || f.title() == Some(name));
    if let Some(field) = named(path) {
        return Some((field, field.offset()));
    }
    // A field name may contain a dot, so every dot is tried as the separator.
    path.match_indices('.').find_map(|(dot, _)| {
        let outer = named(path.get(..dot)?)?;
        let inside = outer.dtype().kind() == Kind::Struct && outer.shape().is_empty();
        let (field, offset) = find(if inside { outer.dtype().fields() } else { &[] }, path.get(dot + 1..)?)?;
        Some((field, outer.offset() + offset))
    })
}

impl<'a> ArrayField<'a> {
    /// The same items, reached by another arrangement of the array's axes.
    pub(crate) fn arranged(self, grid: &'a Grid) -> Self {
        ArrayField { grid, ..self }
    }

    /// The same items as they are stored, unseen by the closure for reading.
    pub(crate) fn as_stored(self) -> Self {
        ArrayField { hooks: Hooks::LeftOut, ..self }
    }

    /// The dtype of the field, or of the items of its sub-array.
    pub fn dtype(&self) -> &'a Dtype {
        self.dtype
    }

    /// The shape of the field's sub-array, which comes last in every result; empty for a plain field.
    pub fn inner_shape(&self) -> &'a [usize] {
        self.inner
    }

    /// The shape that reading `selection` gives.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] or [`Error::NdimMismatch`] when the selection does not fit the shape of the array, or
    /// of the view.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let dtype = Dtype::parse("[('id', '<u2'), ('pos', '<f4', (3,))]")?;
    /// let a = Options::new().create_in_memory(dtype, [10, 20])?;
    /// assert_eq!(a.field("pos")?.selection_shape(s![4])?, [20, 3]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn selection_shape(&self, selection: impl Into<Selection>) -> Result<Vec<u64>> {
        Ok(self.resolve(selection)?.shape)
    }

    /// Reads a selection as bytes; see [`Array::read_bytes`].
    ///
    /// # Errors
    /// As [`Array::read_bytes`].
    pub fn read_bytes(&self, selection: impl Into<Selection>) -> Result<Vec<u8>> {
        let resolved = self.resolve(selection)?;
        let mut out = zeroed("the result of the read", self.allowed_bytes(&resolved)?)?;
        self.read_resolved(resolved, &mut out)?;
        Ok(out)
    }

    /// As [`ArrayField::read_bytes`], into a buffer of exactly the right size; see [`Array::read_bytes_into`].
    ///
    /// # Errors
    /// As [`Array::read_bytes_into`].
    pub fn read_bytes_into(&self, selection: impl Into<Selection>, out: &mut [u8]) -> Result<()> {
        self.read_resolved(self.resolve(selection)?, out)
    }

    /// The selection against the shape of the array; the result has the axes of the sub-array too.
    pub(crate) fn resolve(&self, selection: impl Into<Selection>) -> Result<Resolved> {
        let mut resolved = selection.into().resolve(self.grid.shape())?;
        resolved.shape.extend(self.inner.iter().map(|&n| n as u64));
        Ok(resolved)
    }

    /// The bytes of a result.
    pub(crate) fn result_bytes(&self, resolved: &Resolved) -> Result<u64> {
        let items = resolved.items()?;
        items
            .checked_mul(self.part.size as u64)
            .ok_or_else(|| Error::too_large(u64::MAX, "the selection has more than 2^64 bytes"))
    }

    /// The size of a result, checked against the limit for allocation.
    pub(crate) fn allowed_bytes(&self, resolved: &Resolved) -> Result<u64> {
        let bytes = self.result_bytes(resolved)?;
        Limits::check("the result of the read", bytes, self.array.schunk.limits().max_read_bytes())?;
        Ok(bytes)
    }

    /// Reads the box of `counts` items from `start` on, with threads of the caller's choice.
    pub(crate) fn read_box(&self, start: &[u64], counts: &[u64], out: &mut [u8], exec: &Exec) -> Result<()> {
        let stop: Vec<u64> = start.iter().zip(counts).map(|(&at, &n)| at.saturating_add(n)).collect();
        self.read_resolved_with(Selection::from_box(start, &stop).resolve(self.grid.shape())?, out, exec)
    }

    /// Reads a resolved selection into a buffer of its size.
    pub(crate) fn read_resolved(&self, resolved: Resolved, out: &mut [u8]) -> Result<()> {
        self.read_resolved_with(resolved, out, self.array.schunk.exec())
    }

    /// As [`ArrayField::read_resolved`], with threads of the caller's choice.
    pub(crate) fn read_resolved_with(&self, resolved: Resolved, out: &mut [u8], exec: &Exec) -> Result<()> {
        let bytes = self.result_bytes(&resolved)?;
        if bytes != out.len() as u64 {
            return Err(Error::length(
                bytes,
                out.len(),
                format!(
                    "the buffer has {} bytes, and the selection needs {bytes}: shape {:?} of {}",
                    out.len(),
                    resolved.shape,
                    self.dtype
                ),
            ));
        }
        if bytes == 0 {
            Ok(())
        } else {
            self.array.read_taken(self.grid, resolved.taken, self.part, self.hooks, out, exec)
        }
    }
}
