//! The unit of the delta filter: the width of the integers that are combined by XOR.

/// The unit for items of `typesize` bytes: the items themselves where they are as wide as an integer, else their
/// 8-byte words where they consist of such, else bytes.
pub(super) fn unit(typesize: usize) -> usize {
    match typesize {
        1 | 2 | 4 | 8 => typesize,
        _ if typesize.is_multiple_of(8) => 8,
        _ => 1,
    }
}
