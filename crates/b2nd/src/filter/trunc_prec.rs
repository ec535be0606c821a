//! Truncated precision: clears low mantissa bits of floats. Only for writing, as its inverse is nothing.

use crate::error::Error;
use crate::error::Result;

/// How many mantissa bits are cleared for this meta byte (a signed number: bits to keep, or below 0 bits to clear).
pub(super) fn cleared_bits(typesize: usize, meta: u8) -> Result<u32> {
    let mantissa: i32 = match typesize {
        4 => 23,
        8 => 52,
        _ => {
            return Err(Error::usage(format!(
                "trunc_prec works on floats of 4 or 8 bytes, not on items of {typesize}"
            )));
        }
    };
    let precision = i32::from(i8::from_le_bytes([meta]));
    let cleared = if precision >= 0 { mantissa - precision } else { -precision };
    match u32::try_from(cleared) {
        Ok(bits) if cleared < mantissa => Ok(bits),
        _ => Err(Error::usage(format!(
            "trunc_prec:{precision} is out of range: 1 to {mantissa} keeps so many mantissa bits, -1 to {} clears so many",
            1 - mantissa
        ))),
    }
}

/// Copies `src` to `dst` with the low `cleared` bits of every float cleared. A tail shorter than an item is copied.
pub(super) fn truncate(typesize: usize, cleared: u32, src: &[u8], dst: &mut [u8]) {
    dst.copy_from_slice(src);
    if typesize == 4 {
        let mask = u32::MAX << cleared;
        let (items, _) = dst.as_chunks_mut::<4>();
        for item in items {
            *item = (u32::from_le_bytes(*item) & mask).to_le_bytes();
        }
    } else {
        let mask = u64::MAX << cleared;
        let (items, _) = dst.as_chunks_mut::<8>();
        for item in items {
            *item = (u64::from_le_bytes(*item) & mask).to_le_bytes();
        }
    }
}
