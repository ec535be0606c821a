//! Items of one dtype as items of another: NumPy's `astype` with `casting='unsafe'`, for numbers, bools and times, and for
//! texts and raw bytes of other lengths.

mod number;
#[cfg(test)]
mod tests;

use crate::array::dtype::Dtype;
use crate::array::dtype::Kind;
use crate::error::Error;
use crate::error::Result;
use crate::limits::zeroed;
use number::Convert;
use number::NumberType;

/// Converts items of one dtype to another.
#[derive(Debug, Clone)]
pub(crate) struct Cast {
    from: Dtype,
    to: Dtype,
    way: Way,
}

#[derive(Debug, Clone, Copy)]
enum Way {
    /// Numbers of native byte order to numbers of native byte order.
    Numbers(Convert),
    /// Cut off, or filled up with zero bytes.
    Bytes,
}

impl Cast {
    /// The conversion; `None` when the bytes are the same.
    ///
    /// # Errors
    /// [`Error::DtypeMismatch`] for a pair that has no conversion, in NumPy or here.
    pub(crate) fn new(from: &Dtype, to: &Dtype) -> Result<Option<Self>> {
        if from == to {
            return Ok(None);
        }
        let numbers = || {
            let one = |dtype: &Dtype| NumberType { kind: number_kind(dtype.kind()), size: dtype.itemsize() };
            number::convert(one(from), one(to)).map(Way::Numbers).ok_or_else(|| unsupported(from, to))
        };
        let way = match (class(from), class(to)) {
            (Class::Number, Class::Number) => numbers()?,
            (Class::Time, Class::Time) if from.kind() != to.kind() => {
                let reason =
                    format!("items of {from} cannot become {to}: a point in time is no length of time");
                return Err(Error::dtype(to, from, reason));
            }
            (Class::Time, Class::Time) if from.unit() != to.unit() => {
                return Err(Error::dtype(
                    to,
                    from,
                    format!("times of {from} cannot be converted to another unit, {to}"),
                ));
            }
            (Class::Time, Class::Time) => Way::Bytes,
            (Class::Time, Class::Number) | (Class::Number, Class::Time) => {
                let number = if class(from) == Class::Time { to } else { from };
                if !matches!(number.kind(), Kind::Int | Kind::Uint | Kind::Bool) {
                    return Err(Error::dtype(
                        to,
                        from,
                        format!("items of {from} cannot become {to}: take integers between"),
                    ));
                }
                numbers()?
            }
            (Class::Text, Class::Text) if from.kind() == to.kind() => Way::Bytes,
            (Class::Compound, _) | (_, Class::Compound) => {
                return Err(Error::dtype(
                    to,
                    from,
                    format!("items of {from} cannot become {to}: read a field instead"),
                ));
            }
            _ => return Err(unsupported(from, to)),
        };
        Ok(Some(Cast { from: from.clone(), to: to.clone(), way }))
    }

    /// The items converted. Zero bytes stay zero bytes, whatever the dtypes.
    pub(crate) fn items(&self, mut items: Vec<u8>) -> Result<Vec<u8>> {
        let count = items.len() / self.from.itemsize().max(1);
        let bytes = (count as u64).saturating_mul(self.to.itemsize() as u64);
        let mut out = zeroed("converted items", bytes)?;
        self.items_into(&mut items, &mut out)?;
        Ok(out)
    }

    /// Converts items into zeroed room for as many of the other dtype; their own bytes get the byte order of this machine.
    pub(crate) fn items_into(&self, items: &mut [u8], out: &mut [u8]) -> Result<()> {
        self.from.swap_to_native(items)?;
        match self.way {
            Way::Numbers(convert) => convert(items, out),
            Way::Bytes => {
                let (old, new) = (self.from.itemsize(), self.to.itemsize());
                let common = old.min(new);
                for (from, to) in items.chunks_exact(old.max(1)).zip(out.chunks_exact_mut(new.max(1))) {
                    to[..common].copy_from_slice(&from[..common]);
                }
            }
        }
        // Reversing bytes is its own inverse.
        self.to.swap_to_native(out)
    }
}

fn unsupported(from: &Dtype, to: &Dtype) -> Error {
    Error::dtype(to, from, format!("items of {from} cannot be converted to {to}"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Number,
    Time,
    Text,
    Compound,
}

fn class(dtype: &Dtype) -> Class {
    match dtype.kind() {
        Kind::Bool | Kind::Int | Kind::Uint | Kind::Float | Kind::Complex => Class::Number,
        Kind::Datetime | Kind::Timedelta => Class::Time,
        Kind::Bytes | Kind::Str => Class::Text,
        Kind::Void if dtype.subarray().is_none() => Class::Text,
        Kind::Void | Kind::Struct => Class::Compound,
    }
}

/// Times are counted in 64-bit integers.
fn number_kind(kind: Kind) -> Kind {
    if matches!(kind, Kind::Datetime | Kind::Timedelta) { Kind::Int } else { kind }
}
