//! The bytes of items to the byte order of this machine.

use crate::array::dtype::layout::{Dtype, Kind, Repr, Scalar, Struct};
use crate::error::{Error, Result};

impl Dtype {
    /// Reverses the bytes of every number in `items` that is not in the byte order of this machine.
    ///
    /// Bytes after the last whole item stay as they are.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for structures with such numbers in overlapping fields.
    ///
    /// ```
    /// use b2nd::Dtype;
    /// let mut items = 258u16.to_be_bytes();
    /// Dtype::parse(">u2")?.swap_to_native(&mut items)?;
    /// assert_eq!(items, 258u16.to_ne_bytes());
    /// # Ok::<(), b2nd::Error>(())
    /// ```
    pub fn swap_to_native(&self, items: &mut [u8]) -> Result<()> {
        if self.is_native() || self.itemsize() == 0 {
            return Ok(());
        }
        match &self.repr {
            Repr::Scalar(scalar) => {
                let whole = items.len() - items.len() % scalar.size;
                swap(unit_size(scalar), items.get_mut(..whole).unwrap_or_default());
                Ok(())
            }
            Repr::Sub(sub) => sub.base.swap_to_native(items),
            Repr::Struct(s) => swap_fields(s, items),
        }
    }
}

/// The bytes of one number: half a complex, one code point.
fn unit_size(scalar: &Scalar) -> usize {
    match scalar.kind {
        Kind::Complex => scalar.size / 2,
        Kind::Str => 4,
        _ => scalar.size,
    }
}

fn swap(unit: usize, bytes: &mut [u8]) {
    for number in bytes.chunks_exact_mut(unit.max(1)) {
        number.reverse();
    }
}

fn swap_fields(s: &Struct, items: &mut [u8]) -> Result<()> {
    let mut foreign: Vec<_> = s.fields.iter().filter(|f| !f.dtype.is_native()).collect();
    foreign.sort_by_key(|f| f.offset);
    if foreign.windows(2).any(|pair| pair[1].offset < pair[0].offset + pair[0].size()) {
        return Err(Error::unsupported("dtype with overlapping fields in the byte order of another machine"));
    }
    for item in items.chunks_exact_mut(s.itemsize) {
        for field in &foreign {
            if let Some(bytes) = item.get_mut(field.offset..field.offset + field.size()) {
                field.dtype.swap_to_native(bytes)?;
            }
        }
    }
    Ok(())
}
