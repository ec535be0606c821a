//! The result of a reduction: items with their dtype and shape.

use crate::array::Dtype;
use crate::array::Element;
use crate::error::Error;
use crate::error::Result;

/// The result of a reduction: items in C order, in the byte order of this machine.
///
/// ```
/// use b2nd::{Dtype, Options};
/// let a = Options::new().create_in_memory(Dtype::parse(">f4")?, [3, 4])?;
/// let sums = a.sum(1)?;
/// assert_eq!((sums.dtype().itemsize(), sums.shape()), (4, &[3][..]));
/// assert_eq!(sums.items::<f32>()?, [0.0; 3]);
/// assert!(sums.items::<f64>().is_err());
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reduced {
    dtype: Dtype,
    shape: Vec<u64>,
    bytes: Vec<u8>,
}

impl Reduced {
    pub(super) fn new(dtype: Dtype, shape: Vec<u64>, bytes: Vec<u8>) -> Self {
        Reduced { dtype, shape, bytes }
    }
    /// The dtype of the result, as NumPy chooses it.
    pub fn dtype(&self) -> &Dtype {
        &self.dtype
    }
    /// The lengths of the axes that are left; none when all were reduced.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }
    /// The items as bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    /// The items as bytes, without a copy.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The items as a Rust type.
    ///
    /// # Errors
    /// [`Error::DtypeMismatch`] when `T` does not stand for the dtype ([`Element::reads`]), [`Error::OutOfMemory`].
    pub fn items<T: Element>(&self) -> Result<Vec<T>> {
        if !T::reads(&self.dtype) {
            return Err(Error::dtype(
                &self.dtype,
                T::dtype(),
                format!("the result is {}, and {} was requested", self.dtype, T::dtype()),
            ));
        }
        let mut items = T::zeroed(self.bytes.len() / self.dtype.itemsize().max(1))?;
        T::fill_from(&mut items, |bytes| {
            bytes.copy_from_slice(&self.bytes);
            Ok(())
        })?;
        Ok(items)
    }

    /// The one item of a result with one.
    ///
    /// # Errors
    /// As [`Reduced::items`], and [`Error::LengthMismatch`] when there is not exactly one.
    ///
    /// ```
    /// let a = b2nd::Options::new().create_in_memory(b2nd::Dtype::of::<u8>(), [3, 4])?;
    /// assert!(!a.any(())?.item::<bool>()?);
    /// assert!(a.any(0)?.item::<bool>().is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn item<T: Element>(&self) -> Result<T> {
        match self.items::<T>()?.as_slice() {
            [item] => Ok(*item),
            items => Err(Error::length(
                1u64,
                items.len(),
                format!("the result has {} items, not one", items.len()),
            )),
        }
    }

    /// The items as an `ndarray` array.
    ///
    /// # Errors
    /// As [`Reduced::items`].
    ///
    /// ```
    /// let a = b2nd::Options::new().create_in_memory(b2nd::Dtype::of::<f64>(), [3, 4])?;
    /// assert_eq!(a.mean(0)?.to_ndarray::<f64>()?, ndarray::array![0.0, 0.0, 0.0, 0.0].into_dyn());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    #[cfg(feature = "ndarray")]
    pub fn to_ndarray<T: Element>(&self) -> Result<::ndarray::ArrayD<T>> {
        let shape: Vec<usize> = self.shape.iter().map(|&n| n as usize).collect();
        ::ndarray::ArrayD::from_shape_vec(::ndarray::IxDyn(&shape), self.items()?).map_err(|_| {
            Error::too_large(
                isize::MAX as u64,
                format!("a result of shape {shape:?} is more than ndarray can hold"),
            )
        })
    }
}
