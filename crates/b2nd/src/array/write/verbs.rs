//! The changes of an array, written once for all that make them.
//!
//! `Array` has each of them as a transaction of its own.

use super::transaction::{ArrayWriter, Transaction};
use crate::array::{Array, Axis, Element, Resize};
use crate::error::Result;
#[cfg(feature = "ndarray")]
use ndarray::{ArrayRef, Dimension};

/// Writes into selections, for types with `array()`, `selected_shape()` and `put()`.
macro_rules! writes {
    ($($owner:ty),+) => {$(
        impl $owner {
            /// Writes items in the dtype's byte order into a selection; see [`Array::write_bytes`].
            ///
            /// # Errors
            /// As [`Array::write_bytes`].
            pub fn write_bytes(&mut self, selection: impl Into<$crate::array::Selection>, items: &[u8]) -> $crate::error::Result<()> {
                self.put(&selection.into(), $crate::array::write::Given::Items(items))
            }

            /// Writes one item into every place of a selection; see [`Array::fill_bytes`].
            ///
            /// # Errors
            /// As [`Array::fill_bytes`].
            pub fn fill_bytes(&mut self, selection: impl Into<$crate::array::Selection>, item: &[u8]) -> $crate::error::Result<()> {
                self.put(&selection.into(), $crate::array::write::Given::One(item))
            }

            /// Writes items of a Rust type into a selection; see [`Array::write_items`].
            ///
            /// # Errors
            /// As [`Array::write_items`].
            pub fn write_items<T: $crate::array::Element>(
                &mut self,
                selection: impl Into<$crate::array::Selection>,
                items: &[T],
            ) -> $crate::error::Result<()> {
                let bytes = self.array().stored_items(items)?;
                self.put(&selection.into(), $crate::array::write::Given::Items(&bytes))
            }

            /// Writes one item of a Rust type into every place of a selection; see [`Array::fill`].
            ///
            /// # Errors
            /// As [`Array::fill`].
            pub fn fill<T: $crate::array::Element>(&mut self, selection: impl Into<$crate::array::Selection>, item: T) -> $crate::error::Result<()> {
                let item = [item];
                let bytes = self.array().stored_items(&item)?;
                self.put(&selection.into(), $crate::array::write::Given::One(&bytes))
            }

            /// Writes an `ndarray` array or view into a selection of its shape; see [`Array::write`].
            ///
            /// # Errors
            /// As [`Array::write`].
            #[cfg(feature = "ndarray")]
            pub fn write<T: $crate::array::Element, D: ::ndarray::Dimension>(
                &mut self,
                selection: impl Into<$crate::array::Selection>,
                items: &::ndarray::ArrayRef<T, D>,
            ) -> $crate::error::Result<()> {
                let selection = selection.into();
                let shape = selection.resolve(self.selected_shape())?.shape;
                $crate::array::ndarray::check_items(items, &shape)?;
                let standard = items.as_standard_layout();
                // Standard layout means a slice; an array without items may have none.
                self.write_items(selection, standard.as_slice().unwrap_or_default())
            }
        }
    )+};
}
pub(in crate::array) use writes;

/// All other changes, for types with `array()` and `stage()`.
macro_rules! changes {
    ($($owner:ty),+) => {$(
        impl $owner {
            /// Gives the array another shape; see [`Array::resize`].
            ///
            /// # Errors
            /// As [`Array::resize`]; after an error nothing else can be changed.
            pub fn resize(&mut self, resize: impl Into<Resize>) -> Result<()> {
                let resize = resize.into();
                self.stage(|array| array.stage_resize(&resize))
            }

            /// Appends items along an axis; see [`Array::append_bytes`].
            ///
            /// # Errors
            /// As [`Array::append_bytes`]; after an error nothing else can be changed.
            pub fn append_bytes(&mut self, axis: usize, items: &[u8]) -> Result<()> {
                self.stage(|array| array.stage_insert(axis, None, items, None))
            }

            /// Inserts items along an axis; see [`Array::insert_bytes`].
            ///
            /// # Errors
            /// As [`Array::insert_bytes`]; after an error nothing else can be changed.
            pub fn insert_bytes(&mut self, axis: usize, index: u64, items: &[u8]) -> Result<()> {
                self.stage(|array| array.stage_insert(axis, Some(index), items, None))
            }

            /// Appends items of a Rust type along an axis; see [`Array::append_items`].
            ///
            /// # Errors
            /// As [`Array::append_items`]; after an error of the array nothing else can be changed.
            pub fn append_items<T: Element>(&mut self, axis: usize, items: &[T]) -> Result<()> {
                let bytes = self.array().stored_items(items)?;
                self.append_bytes(axis, &bytes)
            }

            /// Inserts items of a Rust type along an axis before `index`; see [`Array::insert_items`].
            ///
            /// # Errors
            /// As [`Array::insert_items`]; after an error of the array nothing else can be changed.
            pub fn insert_items<T: Element>(&mut self, axis: usize, index: u64, items: &[T]) -> Result<()> {
                let bytes = self.array().stored_items(items)?;
                self.insert_bytes(axis, index, &bytes)
            }

            /// Appends an `ndarray` array or view along an axis; see [`Array::append`].
            ///
            /// # Errors
            /// As [`Array::append`]; after an error nothing else can be changed.
            #[cfg(feature = "ndarray")]
            pub fn append<T: Element, D: Dimension>(
                &mut self,
                axis: usize,
                items: &ArrayRef<T, D>,
            ) -> Result<()> {
                self.stage(|array| array.stage_slabs(axis, None, items))
            }

            /// Inserts an `ndarray` array or view along an axis before `index`; see [`Array::insert`].
            ///
            /// # Errors
            /// As [`Array::insert`]; after an error nothing else can be changed.
            #[cfg(feature = "ndarray")]
            pub fn insert<T: Element, D: Dimension>(
                &mut self,
                axis: usize,
                index: u64,
                items: &ArrayRef<T, D>,
            ) -> Result<()> {
                self.stage(|array| array.stage_slabs(axis, Some(index), items))
            }

            /// Deletes along an axis; see [`Array::delete`].
            ///
            /// # Errors
            /// As [`Array::delete`]; after an error nothing else can be changed.
            pub fn delete(&mut self, axis: usize, range: impl Into<Axis>) -> Result<()> {
                let range = range.into();
                self.stage(|array| array.stage_delete(axis, range))
            }

            /// Appends other arrays along an axis; see [`Array::extend`].
            ///
            /// # Errors
            /// As [`Array::extend`]; after an error nothing else can be changed.
            pub fn extend(&mut self, axis: usize, arrays: &[&Array]) -> Result<()> {
                self.stage(|array| array.stage_extend(axis, arrays))
            }

            /// Replaces the content of a metalayer of the user; see [`Array::set_metalayer`].
            ///
            /// # Errors
            /// As [`Array::set_metalayer`]; after an error nothing else can be changed.
            pub fn set_metalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
                self.stage(|array| array.stage_metalayer(name, content))
            }

            /// Adds or replaces a vlmetalayer; see [`Array::set_vlmetalayer`].
            ///
            /// # Errors
            /// As [`Array::set_vlmetalayer`]; after an error nothing else can be changed.
            pub fn set_vlmetalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
                self.stage(|array| array.schunk.stage_vlmetalayer(name, content))
            }

            /// Removes a vlmetalayer; whether there was one.
            ///
            /// # Errors
            /// As [`Array::remove_vlmetalayer`]; after an error nothing else can be changed.
            pub fn remove_vlmetalayer(&mut self, name: &str) -> Result<bool> {
                self.stage(|array| {
                    // The names load the catalog, which a handle for reading may not have.
                    let there = array.schunk.vlmetalayer_names()?.any(|other| other == name);
                    Ok(there && array.schunk.stage_removal(name)?)
                })
            }
        }
    )+};
}

writes!(Transaction<'_>, ArrayWriter);
changes!(Transaction<'_>, ArrayWriter);
