//! Detects runs of one byte, as in special chunks and "repeated" streams.

/// Number of bytes compared before each test whether to stop.
const STRIDE: usize = 256;

/// `Some(b)` when there is at least one byte and all bytes equal `b`.
///
/// Compares the first few bytes first, so that most other data is rejected at once.
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
