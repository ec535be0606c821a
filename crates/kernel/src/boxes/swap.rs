//! Reverses the byte order of items in place.

/// Reverses the bytes of every item of `unit` bytes; what follows the last whole item stays.
///
/// Meant for units of 2, 4, 8 and 16 bytes; other units are reversed as well, more slowly, and units 0 and 1 change
/// nothing.
pub fn swap_bytes(unit: usize, data: &mut [u8]) {
    match unit {
        0 | 1 => {}
        2 => swap_fixed::<2>(data),
        4 => swap_fixed::<4>(data),
        8 => swap_fixed::<8>(data),
        16 => swap_fixed::<16>(data),
        _ => data.chunks_exact_mut(unit).for_each(<[u8]>::reverse),
    }
}

fn swap_fixed<const N: usize>(data: &mut [u8]) {
    for item in data.as_chunks_mut::<N>().0 {
        item.reverse();
    }
}
