//! Runs of one byte: what special chunks and "repeated" streams are made of.

/// Bytes looked at between two chances to stop.
const STRIDE: usize = 256;

/// `Some(b)` when there is at least one byte and all bytes equal `b`.
///
/// Looks at the first few bytes first: data that differs is turned down at once.
pub fn uniform(bytes: &[u8]) -> Option<u8> {
    let first = *bytes.first()?;
    let (head, rest) = bytes.split_at(bytes.len().min(16));
    if differs(head, first) {
        return None;
    }
    let (strides, tail) = rest.as_chunks::<STRIDE>();
    for stride in strides {
        if differs(stride, first) {
            return None;
        }
    }
    if differs(tail, first) { None } else { Some(first) }
}

#[inline(always)]
fn differs(bytes: &[u8], value: u8) -> bool {
    bytes.iter().fold(0, |seen, byte| seen | (byte ^ value)) != 0
}
