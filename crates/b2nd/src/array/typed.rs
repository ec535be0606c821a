//! Reading into and writing from Rust types, in the byte order of this machine.

use crate::array::Array;
use crate::array::ArrayField;
use crate::array::Dtype;
use crate::array::Element;
use crate::array::Selection;
use crate::array::StreamWriter;
use crate::array::cast::Cast;
use crate::array::selection::Resolved;
use crate::error::Error;
use crate::error::Result;
use crate::limits::Limits;
use std::borrow::Cow;

impl Array {
    /// Reads a selection into items of a Rust type, C order, whatever the byte order of the file.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse(">i4")?, [2, 2])?;
    /// a.write_items(s![], &[1i32, 2, 3, 4])?;
    /// let mut column = [0i32; 2];
    /// a.read_into(s![.., 1], &mut column)?;
    /// assert_eq!(column, [2, 4]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::read_bytes_into`], and [`Error::DtypeMismatch`] when `T` does not stand for the dtype
    /// ([`Element::reads`]).
    pub fn read_into<T: Element>(&self, selection: impl Into<Selection>, out: &mut [T]) -> Result<()> {
        self.items().read_into(selection, out)
    }

    /// Items of a Rust type out of the bytes of a read: what [`Reader::finish`](crate::array::Reader::finish) returned, say.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse(">i4")?, [2])?;
    /// a.write_items(s![], &[1i32, 2])?;
    /// assert_eq!(a.items_of::<i32>(&a.read_bytes(s![])?)?, [1, 2]);
    /// assert!(a.items_of::<i32>(&[0; 6]).is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::DtypeMismatch`] when `T` does not stand for the dtype; [`Error::NotWhole`] when the bytes are no whole number
    /// of items.
    pub fn items_of<T: Element>(&self, bytes: &[u8]) -> Result<Vec<T>> {
        check_element::<T>(self.dtype())?;
        let size = self.dtype().itemsize().max(1);
        if !bytes.len().is_multiple_of(size) {
            let found = bytes.len();
            return Err(Error::not_whole(size, found, format!("{found} bytes are no items of {size} bytes")));
        }
        let mut items = T::zeroed(bytes.len() / size)?;
        T::fill_from(&mut items, |out| {
            out.copy_from_slice(bytes);
            self.dtype().swap_to_native(out)
        })?;
        Ok(items)
    }

    /// As [`Array::read_into`], into a new vector; the shape is [`Array::selection_shape`].
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let a = Options::new().create_in_memory(Dtype::parse("<f8")?, [5, 5])?;
    /// assert_eq!(a.read_items::<f64>(s![1, ..3])?, [0.0; 3]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::read_into`], and [`Error::Limit`] when the result is larger than
    /// [`Limits::max_read_bytes`](crate::Limits::max_read_bytes).
    pub fn read_items<T: Element>(&self, selection: impl Into<Selection>) -> Result<Vec<T>> {
        self.items().read_items(selection)
    }

    /// Reads a selection into items of a Rust type, C order, converted from whatever numbers the file has: as
    /// [`Options::astype`](crate::Options::astype) converts, so an integer may lose high bits and a float its fraction.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::of::<i16>(), [3])?;
    /// a.write_items(s![], &[-1i16, 0, 300])?;
    /// assert_eq!(a.read_items_cast::<f64>(s![..;2])?, [-1.0, 300.0]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::read_items`], and [`Error::DtypeMismatch`] for items that are no numbers. Both the items as they
    /// are stored and the result count towards [`Limits::max_read_bytes`](crate::Limits::max_read_bytes), each by
    /// itself.
    pub fn read_items_cast<T: Element>(&self, selection: impl Into<Selection>) -> Result<Vec<T>> {
        if T::reads(self.dtype()) {
            return self.read_items(selection);
        }
        let Some(cast) = Cast::new(self.dtype(), &T::dtype())? else { return self.read_items(selection) };
        let mut stored = self.read_bytes(selection)?;
        let count = stored.len() / self.dtype().itemsize().max(1);
        let bytes = count.saturating_mul(size_of::<T>()) as u64;
        Limits::check("the result of the read", bytes, self.schunk().limits().max_read_bytes())?;
        let mut items = T::zeroed(count)?;
        T::fill_from(&mut items, |out| cast.items_into(&mut stored, out))?;
        Ok(items)
    }

    /// Writes one item of a Rust type into every place of a selection, and commits.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options, Selection};
    /// let mut a = Options::new().create_in_memory(Dtype::parse(">f4")?, [2, 2])?;
    /// a.fill(Selection::mask([2, 2], [true, false, false, true]), 1.5f32)?;
    /// assert_eq!(a.read_items::<f32>(s![])?, [1.5, 0.0, 0.0, 1.5]);
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::write_items`].
    pub fn fill<T: Element>(&mut self, selection: impl Into<Selection>, item: T) -> Result<()> {
        self.at_once(|t| t.fill(selection, item))
    }

    /// The bytes of items of a Rust type, as the array stores them.
    pub(in crate::array) fn stored_items<'a, T: Element>(&self, items: &'a [T]) -> Result<Cow<'a, [u8]>> {
        check_element::<T>(self.dtype())?;
        stored_bytes(self.dtype(), items)
    }

    /// Writes items of a Rust type into a selection, and commits: as many as the selection takes, in C order.
    ///
    /// # Errors
    /// As [`Array::write_bytes`], and [`Error::DtypeMismatch`] when `T` does not stand for the dtype.
    ///
    /// ```
    /// use b2nd::{s, Dtype, Options};
    /// let mut a = Options::new().create_in_memory(Dtype::parse("<u2")?, [3])?;
    /// a.write_items(s![1..], &[5u16, 6])?;
    /// assert_eq!(a.read_items::<u16>(s![])?, [0, 5, 6]);
    /// assert!(a.write_items(s![], &[1.0f32; 3]).is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn write_items<T: Element>(&mut self, selection: impl Into<Selection>, items: &[T]) -> Result<()> {
        self.at_once(|t| t.write_items(selection, items))
    }
}

impl ArrayField<'_> {
    /// Reads a selection into items of a Rust type; see [`Array::read_into`].
    ///
    /// # Errors
    /// As [`Array::read_into`].
    pub fn read_into<T: Element>(&self, selection: impl Into<Selection>, out: &mut [T]) -> Result<()> {
        self.check_element::<T>()?;
        self.read_items_into(self.resolve(selection)?, out)
    }

    /// Reads a selection into a new vector of items of a Rust type; see [`Array::read_items`].
    ///
    /// # Errors
    /// As [`Array::read_items`].
    pub fn read_items<T: Element>(&self, selection: impl Into<Selection>) -> Result<Vec<T>> {
        self.read_resolved_items(self.resolve(selection)?)
    }

    pub(crate) fn read_resolved_items<T: Element>(&self, resolved: Resolved) -> Result<Vec<T>> {
        self.check_element::<T>()?;
        let bytes = self.allowed_bytes(&resolved)?;
        // A field may hold many of them.
        let count = usize::try_from(bytes / T::dtype().itemsize().max(1) as u64)
            .map_err(|_| Error::out_of_memory("the result of the read", bytes))?;
        let mut items = T::zeroed(count)?;
        self.read_items_into(resolved, &mut items)?;
        Ok(items)
    }

    fn read_items_into<T: Element>(&self, resolved: Resolved, out: &mut [T]) -> Result<()> {
        T::fill_from(out, |bytes| {
            self.read_resolved(resolved, bytes)?;
            self.dtype().swap_to_native(bytes)
        })
    }

    fn check_element<T: Element>(&self) -> Result<()> {
        check_element::<T>(self.dtype())
    }
}

impl StreamWriter {
    /// Appends a slab of items of a Rust type; see [`StreamWriter::push_bytes`].
    ///
    /// # Errors
    /// As [`StreamWriter::push_bytes`], and [`Error::DtypeMismatch`] when `T` does not stand for the dtype.
    pub fn push_items<T: Element>(&mut self, items: &[T]) -> Result<()> {
        check_element::<T>(self.dtype())?;
        let bytes = stored_bytes(self.dtype(), items)?;
        self.push_bytes(&bytes)
    }
}

fn check_element<T: Element>(dtype: &Dtype) -> Result<()> {
    if T::reads(dtype) {
        return Ok(());
    }
    Err(Error::dtype(dtype, T::dtype(), format!("the items are {dtype}, and {} was requested", T::dtype())))
}

/// The bytes of items in the byte order of `dtype`.
pub(in crate::array) fn stored_bytes<'a, T: Element>(dtype: &Dtype, items: &'a [T]) -> Result<Cow<'a, [u8]>> {
    let native = T::as_bytes(items);
    if dtype.is_native() {
        return Ok(Cow::Borrowed(native));
    }
    let mut swapped = native.to_vec();
    // Reversing bytes is its own inverse.
    dtype.swap_to_native(&mut swapped)?;
    Ok(Cow::Owned(swapped))
}
