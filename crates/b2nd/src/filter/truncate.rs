//! Truncation: clears low bits of floats (`trunc_prec`) or of integers (`int_trunc`). Only for writing, as its inverse is
//! nothing.

use crate::error::Error;
use crate::error::Result;

/// How many mantissa bits of a float are cleared for this meta byte.
pub(super) fn float_bits(typesize: usize, meta: u8) -> Result<u32> {
    match typesize {
        4 => cleared_bits("trunc_prec", "mantissa bits", 23, meta),
        8 => cleared_bits("trunc_prec", "mantissa bits", 52, meta),
        _ => Err(Error::compression(format!(
            "trunc_prec works on floats of 4 or 8 bytes, not on items of {typesize}"
        ))),
    }
}

/// How many bits of an integer are cleared for this meta byte.
pub(super) fn integer_bits(typesize: usize, meta: u8) -> Result<u32> {
    match typesize {
        1 => cleared_bits("int_trunc", "bits", 8, meta),
        2 => cleared_bits("int_trunc", "bits", 16, meta),
        4 => cleared_bits("int_trunc", "bits", 32, meta),
        8 => cleared_bits("int_trunc", "bits", 64, meta),
        _ => Err(Error::compression(format!(
            "int_trunc works on integers of 1, 2, 4 or 8 bytes, not on items of {typesize}"
        ))),
    }
}

/// The meta byte is a signed number: of the `whole` bits so many stay, or below 0 so many go.
fn cleared_bits(filter: &str, bits: &str, whole: i32, meta: u8) -> Result<u32> {
    let precision = i32::from(i8::from_le_bytes([meta]));
    let cleared = if precision >= 0 { whole - precision } else { -precision };
    match u32::try_from(cleared) {
        Ok(cleared) if precision != 0 && precision.abs() <= whole && cleared < whole.unsigned_abs() => {
            Ok(cleared)
        }
        _ => Err(Error::compression(format!(
            "{filter}:{precision} is out of range: 1 to {whole} is the number of {bits} to keep, -1 to {} the number to clear",
            1 - whole
        ))),
    }
}

/// Copies `src` to `dst` with the low `cleared` bits of every item cleared: fewer than it has. A tail shorter than an item
/// is copied.
pub(super) fn truncate(typesize: usize, cleared: u32, src: &[u8], dst: &mut [u8]) {
    dst.copy_from_slice(src);
    let mask = u64::MAX << cleared;
    match typesize {
        1 => dst.iter_mut().for_each(|item| *item &= mask.to_le_bytes()[0]),
        2 => clear(mask, dst, u16::from_le_bytes, |item, mask| (item & mask as u16).to_le_bytes()),
        4 => clear(mask, dst, u32::from_le_bytes, |item, mask| (item & mask as u32).to_le_bytes()),
        _ => clear(mask, dst, u64::from_le_bytes, |item, mask| (item & mask).to_le_bytes()),
    }
}

fn clear<const N: usize, T>(
    mask: u64,
    dst: &mut [u8],
    read: impl Fn([u8; N]) -> T,
    masked: impl Fn(T, u64) -> [u8; N],
) {
    let (items, _) = dst.as_chunks_mut::<N>();
    for item in items {
        *item = masked(read(*item), mask);
    }
}
