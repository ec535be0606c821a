//! Shapes that callers give, of whatever integers they have.

use crate::error::Error;
use crate::error::Result;

/// The lengths of the axes of an array, a chunk or a block, made of whatever integers the caller has.
///
/// Functions that take a shape take `impl Into<Shape>`: an array, a slice or a vector of `u64`, `usize`, `u32`, `i64` or
/// `i32`, one number for one axis, `()` for none. Literals without a suffix are `i32`: a longer axis is written as
/// `5_000_000_000u64`. A negative length is refused where the shape is used.
///
/// ```
/// use b2nd::{Dtype, Options};
/// let (rows, columns): (usize, usize) = (30, 40);
/// let a = Options::new().with_chunks([10, 40]).create_in_memory(Dtype::of::<f32>(), [rows, columns])?;
/// let like = Options::new().create_in_memory(Dtype::of::<f32>(), a.shape())?;
/// assert_eq!(like.shape(), [30, 40]);
/// assert_eq!(Options::new().create_in_memory(Dtype::of::<f32>(), 1000)?.shape(), [1000]);
/// assert_eq!(Options::new().create_in_memory(Dtype::of::<f32>(), ())?.ndim(), 0);
/// # Ok::<(), b2nd::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shape {
    lengths: Vec<u64>,
    /// The first negative length, with its axis.
    negative: Option<(usize, i64)>,
}

impl Shape {
    fn collect(lengths: impl Iterator<Item = std::result::Result<u64, i64>>) -> Self {
        let mut shape = Shape { lengths: Vec::new(), negative: None };
        for (axis, length) in lengths.enumerate() {
            if let Err(found) = length {
                shape.negative = shape.negative.or(Some((axis, found)));
            }
            shape.lengths.push(length.unwrap_or(0));
        }
        shape
    }

    /// The lengths.
    ///
    /// # Errors
    /// [`Error::Usage`] when one of them is negative.
    ///
    /// ```
    /// use b2nd::Shape;
    /// assert_eq!(Shape::from([3usize, 4]).lengths()?, [3, 4]);
    /// assert!(Shape::from([3, -4]).lengths().is_err());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn lengths(&self) -> Result<&[u64]> {
        match self.negative {
            None => Ok(&self.lengths),
            Some((axis, length)) => Err(Error::usage(format!(
                "axis {axis} of a shape has the length {length}: lengths are 0 or more"
            ))),
        }
    }
}

impl From<()> for Shape {
    fn from((): ()) -> Self {
        Shape { lengths: Vec::new(), negative: None }
    }
}

impl From<&Shape> for Shape {
    fn from(shape: &Shape) -> Self {
        shape.clone()
    }
}

/// Shapes of one kind of integers; `$length` turns one into a length, or into the negative number that it is.
macro_rules! from_lengths {
    ($($int:ty => $length:expr),* $(,)?) => {$(
        impl From<$int> for Shape {
            fn from(length: $int) -> Self {
                Shape::from([length])
            }
        }
        impl From<&[$int]> for Shape {
            fn from(lengths: &[$int]) -> Self {
                Shape::collect(lengths.iter().copied().map($length))
            }
        }
        impl<const N: usize> From<[$int; N]> for Shape {
            fn from(lengths: [$int; N]) -> Self {
                Shape::from(&lengths[..])
            }
        }
        impl<const N: usize> From<&[$int; N]> for Shape {
            fn from(lengths: &[$int; N]) -> Self {
                Shape::from(&lengths[..])
            }
        }
        impl From<Vec<$int>> for Shape {
            fn from(lengths: Vec<$int>) -> Self {
                Shape::from(&lengths[..])
            }
        }
        impl From<&Vec<$int>> for Shape {
            fn from(lengths: &Vec<$int>) -> Self {
                Shape::from(&lengths[..])
            }
        }
    )*};
}

from_lengths! {
    u32 => |n| Ok(u64::from(n)),
    u64 => Ok,
    usize => |n| Ok(n as u64),
    i32 => |n| u64::try_from(n).map_err(|_| i64::from(n)),
    i64 => |n| u64::try_from(n).map_err(|_| n),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_integers_makes_the_same_shape() {
        let due = Shape::from([3u64, 4]);
        assert_eq!(due.lengths().unwrap(), [3, 4]);
        for shape in [
            Shape::from([3, 4]),
            Shape::from(&[3usize, 4]),
            Shape::from(vec![3u32, 4]),
            Shape::from(&vec![3i64, 4]),
            Shape::from(&[3u64, 4][..]),
            Shape::from(&due),
        ] {
            assert_eq!(shape, due);
        }
        assert_eq!(Shape::from(5).lengths().unwrap(), [5]);
        assert!(Shape::from(()).lengths().unwrap().is_empty());
        assert_eq!(Shape::from([u64::MAX]).lengths().unwrap(), [u64::MAX]);
    }

    #[test]
    fn a_negative_length_is_refused_with_its_axis() {
        let error = Shape::from([7, 0, -1, -2]).lengths().unwrap_err().to_string();
        assert!(error.contains("axis 2") && error.contains("-1"), "{error}");
    }
}
